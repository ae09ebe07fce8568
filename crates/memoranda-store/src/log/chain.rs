//! Links between records: the number and clock of a record, what it had seen of other devices, and
//! a hash chain over the records of a device.
//!
//! The chain covers a salted digest of each file, of the message and of the folders, never their
//! texts. A purge removes a text and its salt and keeps the digest. The chain then still proves the
//! order and number of records, and a digest without its salt reveals no short text.

use jiff::Timestamp;

use super::fields::{put_field, put_number, put_varint};
use super::record::{LogRecord, SaltedText};
use super::record_fields;
use crate::clock;

/// A salted digest, or the hash of a record.
pub(crate) type Digest = [u8; 32];
/// Random bytes that keep a digest from being guessed.
pub(crate) type Salt = [u8; 8];

/// Bits of a hybrid clock below its milliseconds.
const COUNTER_BITS: u32 = 16;
/// Limit on how far other devices' clocks can push a clock ahead of this machine's time.
const MAX_AHEAD_MS: u64 = 24 * 3_600_000;

/// The place of a record among those of its device and of other devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordLink {
    /// Number of the record in its device's log, from 1; 0 in records of format 1.
    pub(crate) seq: u64,
    /// Hybrid clock: milliseconds since 1970 and a counter of 16 bits. Greater than every clock that
    /// the device had seen.
    pub(crate) clock: u64,
    /// Devices with new records since this device's previous record, each with the number of its
    /// last seen record.
    pub(crate) seen: Vec<(String, u64)>,
    /// Hash of the device's previous record; zeros before the first record of format 2.
    pub(crate) previous: Digest,
    /// Number of records before this one that were written together with it. They are acknowledged
    /// together: if one of them is torn, none was.
    pub(crate) batch_index: u64,
}

/// The last record of a device's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    pub(crate) seq: u64,
    pub(crate) clock: u64,
    pub(crate) hash: Digest,
}

/// The records of other devices that a device has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeenDevices {
    /// Devices with more seen records than the last record states.
    pub(crate) changed: Vec<(String, u64)>,
    /// Greatest clock in the records of all other devices.
    pub(crate) clock: u64,
}

impl ChainEnd {
    /// Returns the end of a chain whose last record is of format 2.
    pub(super) fn of(record: &LogRecord) -> Self {
        Self { seq: record.link.seq, clock: record.link.clock, hash: record.chain_hash() }
    }

    /// Returns the end of the chain after a record of any format. Records of format 1 are counted,
    /// and have no hash.
    pub(crate) fn after(self, record: &LogRecord) -> Self {
        let hash = if record.link.seq > 0 { record.chain_hash() } else { Digest::default() };
        Self { hash, ..self.advanced_by(record) }
    }

    /// Returns number and clock after a record of any format; the hash is not computed.
    pub(crate) fn advanced_by(self, record: &LogRecord) -> Self {
        if record.link.seq > 0 {
            return Self { seq: record.link.seq, clock: record.link.clock, hash: self.hash };
        }
        let clock = clock_of(record.commit.time.as_millisecond()).max(self.clock);
        Self { seq: self.seq + 1, clock, hash: self.hash }
    }

    /// Returns the link of the next record, given the time of its commit.
    pub(super) fn next_link(&self, seen: &SeenDevices, time: Timestamp) -> RecordLink {
        RecordLink {
            seq: self.seq + 1,
            clock: next_clock(clock_of(time.as_millisecond()), self.clock, seen.clock),
            seen: seen.changed.clone(),
            previous: self.hash,
            batch_index: 0,
        }
    }
}

/// Returns the hybrid clock of a time in milliseconds since 1970.
pub(crate) fn clock_of(time_ms: i64) -> u64 {
    u64::try_from(time_ms).unwrap_or(0) << COUNTER_BITS
}

/// Returns the milliseconds of a hybrid clock, since 1970.
pub(crate) fn milliseconds_of(clock: u64) -> i64 {
    (clock >> COUNTER_BITS).cast_signed()
}

/// Returns the clock of the next record. It is later than the device's own last record. It is later
/// than those of other devices, too, by a millisecond at least, unless their clocks are more than a
/// day ahead: so milliseconds alone are an order of records that have seen each other.
fn next_clock(now: u64, own: u64, others: u64) -> u64 {
    let limit = now.saturating_add(MAX_AHEAD_MS << COUNTER_BITS);
    let after_others = ((others >> COUNTER_BITS).saturating_add(1) << COUNTER_BITS).min(limit);
    now.max(after_others).max(own.saturating_add(1))
}

impl SaltedText {
    /// Returns the digest of the text, or the one that a purge left in its place.
    pub(super) fn digest_of(&self, context: &str, text: &[u8]) -> Digest {
        match self {
            Self::Purged(digest) => *digest,
            Self::Salted(salt) => salted_digest(context, salt, text),
        }
    }
}

fn salted_digest(context: &str, salt: &Salt, text: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(context.as_bytes()).update(salt).update(text);
    *hasher.finalize().as_bytes()
}

impl LogRecord {
    /// Returns the hash of this record for the chain. A purge does not change it.
    pub(crate) fn chain_hash(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"memoranda record 2");
        hasher.update(&self.link.previous);
        let mut lasting = Vec::new();
        record_fields::put_lasting_fields(&mut lasting, self);
        hasher.update(&lasting);
        let mut digests: Vec<Digest> = self.purged_files.clone();
        digests.extend((0..self.commit.files.len()).map(|n| self.file_digest(n)));
        // The order of the files may change when some are purged.
        digests.sort_unstable();
        for digest in digests {
            hasher.update(&digest);
        }
        for digest in [self.message_digest(), self.folders_digest()] {
            hasher.update(&digest.unwrap_or_default());
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the salted digest of the n-th file.
    pub(super) fn file_digest(&self, n: usize) -> Digest {
        let (Some(file), Some(note)) = (self.commit.files.get(n), self.notes.get(n)) else {
            return Digest::default();
        };
        let mut fields = Vec::new();
        record_fields::put_file_text(&mut fields, file, note);
        note.salted.digest_of("memoranda file 2", &fields)
    }

    /// Returns the salted digest of the message; `None` if there never was one.
    pub(super) fn message_digest(&self) -> Option<Digest> {
        let salted = self.message_salt?;
        let text = self.commit.message.as_deref().unwrap_or_default();
        Some(salted.digest_of("memoranda message 2", text.as_bytes()))
    }

    /// Returns the salted digest of the created and removed folders; `None` if there never were any.
    pub(super) fn folders_digest(&self) -> Option<Digest> {
        let salted = self.folders_salt?;
        let mut fields = Vec::new();
        record_fields::put_folders(&mut fields, self);
        Some(salted.digest_of("memoranda folders 2", &fields))
    }

    /// Gives the record its place in the chain, and its texts their salts.
    pub(super) fn seal(&mut self, link: RecordLink) {
        self.link = link;
        let secret = clock::secret();
        // Each text has its own salt, because each is purged by itself. The secret is not kept.
        let salt_of = |n: u64| {
            let mut salt = Salt::default();
            let derived = blake3::keyed_hash(&secret, &n.to_le_bytes());
            salt.copy_from_slice(&derived.as_bytes()[..8]);
            SaltedText::Salted(salt)
        };
        self.message_salt = self.commit.message.as_ref().map(|_| salt_of(0));
        self.folders_salt = self.commit.folders.as_ref().map(|_| salt_of(1));
        for (n, note) in self.notes.iter_mut().enumerate() {
            note.salted = salt_of(2 + n as u64);
        }
    }
}

/// Appends the fields of a link.
pub(super) fn put_link(out: &mut Vec<u8>, link: &RecordLink) {
    use record_fields::record_tags as tags;
    put_number(out, tags::SEQ, link.seq);
    put_field(out, tags::CLOCK, &link.clock.to_le_bytes());
    for (device, seq) in &link.seen {
        let mut value = Vec::new();
        put_varint(&mut value, device.len() as u64);
        value.extend_from_slice(device.as_bytes());
        put_varint(&mut value, *seq);
        put_field(out, tags::SEEN, &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_rises_and_nobody_pushes_it_more_than_a_day_ahead() {
        let at = |ms: i64| clock_of(ms);
        let day = 24 * 3_600_000;
        for (now, own, others, expected) in [
            (at(1_000), 0, 0, at(1_000)),
            (at(1_000), at(1_000), 0, at(1_000) + 1),
            (at(1_000), 0, at(5_000) + 3, at(5_001)),
            (at(1_000), at(1_001), at(1_001), at(1_002)),
            (at(1_000), 0, at(1_000 + 2 * day), at(1_000 + day)),
            // A clock that was set back never lets the records of one device go back.
            (at(1_000), at(9_000 + day), 0, at(9_000 + day) + 1),
        ] {
            assert_eq!(next_clock(now, own, others), expected, "{now} {own} {others}");
        }
    }
}
