//! The next epoch of a space: its log is replaced as a whole, by a purge.

use jiff::Timestamp;
use memoranda_store::remote::RemoteHead;

use super::log::ContentColumns;
use super::spaces::{enter_space, space_id};
use super::stats::record_audit;
use super::{Database, DatabaseResult};
use crate::staged_log::StagedFrames;

/// Number of frames that are inserted by one statement.
const CHUNK_FRAMES: usize = 500;

/// A log that replaces another.
pub struct LogReplacement<'a> {
    /// Name of the space.
    pub space: &'a str,
    /// End of the log that is replaced. If it is another one by now, nothing is changed.
    pub expected: RemoteHead,
    /// The frames of the next epoch.
    pub next: &'a StagedFrames,
    /// Calls of proposers that were decided before this time go too: they contain texts.
    pub decided_before: Timestamp,
    /// Line of the audit.
    pub audit: &'a str,
}

impl Database {
    /// Replaces the log of a space, in one transaction. Returns false if the space was written to
    /// since. Every copy of the log belongs to an earlier epoch then, and is thrown away.
    pub fn replace_log(&self, actor: &str, by: &LogReplacement<'_>) -> DatabaseResult<bool> {
        let is_replaced = self.transact(|transaction| {
            // The largest space takes longer than a statement of a server may.
            transaction.batch_execute("set local statement_timeout = 0")?;
            let (space, _) = space_id(transaction, by.space)?;
            enter_space(transaction, space)?;
            let head = "select epoch, head from memoranda.heads where space = $1 for update";
            let row = transaction.query_one(head, &[&space])?;
            let found =
                RemoteHead { epoch: row.get::<_, i32>(0) as u32, seq: row.get::<_, i64>(1) as u64 };
            if found != by.expected {
                return Ok(false);
            }
            for table in ["contents", "commits", "image_parts", "images"] {
                let delete = format!("delete from memoranda.{table} where space = $1");
                transaction.execute(&delete, &[&space])?;
            }
            let decided = "delete from memoranda.proposals where space = $1 \
                           and state in ('approved', 'rejected') and decided_at < $2";
            transaction.execute(decided, &[&space, &by.decided_before])?;
            for frames in by.next.frames.chunks(CHUNK_FRAMES) {
                let seqs: Vec<i64> = frames.iter().map(|frame| frame.seq as i64).collect();
                let ids: Vec<&str> = frames.iter().map(|frame| frame.commit.as_str()).collect();
                let bytes: Vec<&[u8]> = frames.iter().map(|frame| &*frame.bytes).collect();
                let insert = "insert into memoranda.commits (space, seq, id, frame) \
                              select $1, n.seq, n.id, n.frame \
                              from unnest($2::bigint[], $3::text[], $4::bytea[]) \
                              as n (seq, id, frame)";
                transaction.execute(insert, &[&space, &seqs, &ids, &bytes])?;
            }
            for contents in by.next.contents.chunks(CHUNK_FRAMES) {
                let ContentColumns { hashes, seqs, offsets, stored, raw } =
                    ContentColumns::of(contents);
                let insert = "insert into memoranda.contents (space, hash, seq, at, stored, raw) \
                              select $1, n.hash, n.seq, n.at, n.stored, n.raw from unnest(\
                              $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) \
                              as n (hash, seq, at, stored, raw) on conflict do nothing";
                transaction.execute(insert, &[&space, &hashes, &seqs, &offsets, &stored, &raw])?;
            }
            let (last, bytes) = by.next.frames.iter().fold((0, 0), |(last, bytes), frame| {
                (last.max(frame.seq as i64), bytes + frame.bytes.len() as i64)
            });
            let update = "update memoranda.heads set epoch = epoch + 1, head = $2, bytes = $3 \
                          where space = $1";
            transaction.execute(update, &[&space, &last, &bytes])?;
            record_audit(transaction, actor, "space vacuum", by.audit)?;
            Ok(true)
        })?;
        if is_replaced {
            // Rows that were deleted leave their pages; the database uses the room again.
            for table in ["commits", "contents", "image_parts", "proposals"] {
                self.read(|client| client.batch_execute(&format!("vacuum memoranda.{table}")))?;
            }
        }
        Ok(is_replaced)
    }

    /// Lists the spaces as devices of the log, with the epoch of each.
    pub(super) fn epochs(&self) -> DatabaseResult<Vec<(String, u32)>> {
        let rows = self.read(|client| {
            let select = "select s.device, h.epoch from memoranda.spaces s \
                          join memoranda.heads h on h.space = s.space";
            client.query(select, &[])
        })?;
        Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i32>(1) as u32)).collect())
    }
}
