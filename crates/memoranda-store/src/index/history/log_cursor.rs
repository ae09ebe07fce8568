//! Positions up to which the index has read each device's log, and what devices saw of each other.

use memoranda_core::id::CommitId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::log::chain::SeenDevices;
use crate::log::{LogPosition, LoggedRecord};

/// Position up to which a device's log was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogCursor {
    pub(crate) position: LogPosition,
    pub(crate) logical_ms: i64,
    /// Number of the last record, and its hybrid clock.
    pub(crate) seq: u64,
    pub(crate) clock: u64,
}

/// Returns the position up to which the index has read a device's log.
pub(crate) fn read_to(db: &Connection, device: &str) -> Result<LogCursor> {
    let found = db
        .prepare_cached(
            "SELECT segment, offset, logical_ms, seq, clock FROM positions WHERE device = ?",
        )?
        .query_row([device], |row| {
            let segment = row.get::<_, i64>(0)? as u64;
            let position = LogPosition { segment, offset: row.get::<_, i64>(1)? as u64 };
            let seq = row.get::<_, i64>(3)?.cast_unsigned();
            let clock = row.get::<_, i64>(4)?.cast_unsigned();
            Ok(LogCursor { position, logical_ms: row.get(2)?, seq, clock })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Returns the devices whose logs the index has read.
pub(crate) fn read_devices(db: &Connection) -> Result<Vec<String>> {
    let mut devices = db.prepare_cached("SELECT device FROM positions ORDER BY device")?;
    let devices = devices.query_map([], |row| row.get(0))?;
    Ok(devices.collect::<std::result::Result<_, _>>()?)
}

/// Returns the commit of a device that was read last, and its location in the device's log.
pub(crate) fn last_read(db: &Connection, device: &str) -> Result<Option<(CommitId, LogPosition)>> {
    let found = db
        .prepare_cached(
            "SELECT id, segment, offset FROM commits WHERE device = ? ORDER BY rowid DESC LIMIT 1",
        )?
        .query_row([device], |row| {
            let segment = row.get::<_, i64>(1)? as u64;
            let position = LogPosition { segment, offset: row.get::<_, i64>(2)? as u64 };
            Ok((row.get::<_, String>(0)?, position))
        })
        .optional()?;
    Ok(found.and_then(|(id, at)| Some((CommitId::parse(&id)?, at))))
}

/// Stores the position up to which the index has read a device's log.
pub(crate) fn set_read_to(db: &Connection, device: &str, to: LogCursor) -> Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO positions (device, segment, offset, logical_ms, seq, clock) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        device,
        to.position.segment as i64,
        to.position.offset as i64,
        to.logical_ms,
        to.seq.cast_signed(),
        to.clock.cast_signed()
    ])?;
    Ok(())
}

/// Adds what a record had seen of other devices.
pub(super) fn add_seen(db: &Connection, device: &str, placed: &LoggedRecord) -> Result<()> {
    for (other, seq) in &placed.record.link.seen {
        db.prepare_cached("INSERT OR REPLACE INTO seen (device, other, seq) VALUES (?, ?, ?)")?
            .execute(params![device, other, seq.cast_signed()])?;
    }
    Ok(())
}

/// Returns what a device has seen of other devices' logs since its last record.
pub(crate) fn seen_devices(db: &Connection, device: &str) -> Result<SeenDevices> {
    let mut seen = SeenDevices::default();
    let mut query = db.prepare_cached(
        "SELECT p.device, p.seq, p.clock, s.seq FROM positions p \
         LEFT JOIN seen s ON s.device = ?1 AND s.other = p.device WHERE p.device <> ?1",
    )?;
    let mut rows = query.query([device])?;
    while let Some(row) = rows.next()? {
        let (other, seq): (String, i64) = (row.get(0)?, row.get(1)?);
        seen.clock = seen.clock.max(row.get::<_, i64>(2)?.cast_unsigned());
        if row.get::<_, Option<i64>>(3)?.is_none_or(|known| known < seq) && seq > 0 {
            seen.changed.push((other, seq.cast_unsigned()));
        }
    }
    Ok(seen)
}
