//! The log of one space in PostgreSQL.

use std::time::{Duration, Instant};

use memoranda_core::id::{CommitId, ContentHash};
use memoranda_store::remote::{
    AppendOutcome, FrameContent, ImageHead, RemoteError, RemoteFrame, RemoteHead, RemoteLog,
    RemoteResult, StoredContent,
};
use postgres::Row;
use postgres::types::Type;

use super::connection::StatementRepeat;
use super::{Database, DatabaseError};

/// Maximum time to find out whether a commit was made whose answer was lost.
const LOST_ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two tries to find that out.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of frames that are read at once.
const MAX_ROWS: i64 = 2_000;
/// A follower looks at the head this often, also if no notice arrives.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The log of one space.
pub struct PostgresLog {
    pub(super) database: Database,
    pub(super) space: i64,
    device: String,
}

impl PostgresLog {
    /// Returns the log of a space. Nothing is read yet.
    pub fn new(database: Database, space: i64, device: impl Into<String>) -> Self {
        Self { database, space, device: device.into() }
    }
}

impl From<DatabaseError> for RemoteError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Away { reason, .. } => Self::Unavailable { reason },
            error => Self::Refused { reason: error.to_string() },
        }
    }
}

impl RemoteLog for PostgresLog {
    fn device(&self) -> &str {
        &self.device
    }

    fn head(&self) -> RemoteResult<RemoteHead> {
        let row = self.database.read(|client| {
            // With the types named, a statement takes one round trip.
            let select = "select epoch, head from memoranda.heads where space = $1";
            client.query_typed(select, &[(&self.space, Type::INT8)])
        })?;
        row.first().map(|row| head_of(row, 0)).ok_or_else(no_space)
    }

    fn read_after(&self, seq: u64, max_bytes: usize) -> RemoteResult<Vec<RemoteFrame>> {
        let (after, max_bytes) = (seq as i64, i64::try_from(max_bytes).unwrap_or(i64::MAX));
        let rows = self.database.read(|client| {
            let select = "select seq, id, frame from memoranda.space_frames($1, $2, $3, $4)";
            client.query_typed(
                select,
                &[
                    (&self.space, Type::INT8),
                    (&after, Type::INT8),
                    (&max_bytes, Type::INT8),
                    (&MAX_ROWS, Type::INT8),
                ],
            )
        })?;
        rows.iter().map(frame_of).collect()
    }

    fn append(
        &self,
        expected: RemoteHead,
        frames: &[RemoteFrame],
        contents: &[FrameContent],
    ) -> RemoteResult<AppendOutcome> {
        let (epoch, head) = (expected.epoch as i32, expected.seq as i64);
        let ids: Vec<&str> = frames.iter().map(|frame| frame.commit.as_str()).collect();
        let bytes: Vec<&[u8]> = frames.iter().map(|frame| &*frame.bytes).collect();
        let ContentColumns { hashes, seqs, offsets, stored, raw } = ContentColumns::of(contents);
        let mut lost_at: Option<Instant> = None;
        let rows = loop {
            let called = self.database.run(StatementRepeat::Harmless, |client| {
                client.query_typed(
                    "select outcome, epoch, head from memoranda.append_commits(\
                     $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                    &[
                        (&self.space, Type::INT8),
                        (&epoch, Type::INT4),
                        (&head, Type::INT8),
                        (&ids, Type::TEXT_ARRAY),
                        (&bytes, Type::BYTEA_ARRAY),
                        (&hashes, Type::BYTEA_ARRAY),
                        (&seqs, Type::INT8_ARRAY),
                        (&offsets, Type::INT8_ARRAY),
                        (&stored, Type::INT8_ARRAY),
                        (&raw, Type::INT8_ARRAY),
                    ],
                )
            });
            match called {
                Ok(rows) => break rows,
                // The call may have been executed. It finds its own commit when it is repeated.
                Err(DatabaseError::Away { may_be_done: true, .. }) if lost_at.is_none() => {
                    lost_at = Some(Instant::now());
                }
                Err(DatabaseError::Away { reason, .. }) => match lost_at {
                    None => return Err(RemoteError::Unavailable { reason }),
                    Some(lost_at) if lost_at.elapsed() > LOST_ANSWER_PATIENCE => {
                        return Err(RemoteError::Unknown { reason });
                    }
                    Some(_) => std::thread::sleep(RETRY_PAUSE),
                },
                Err(error) => return Err(error.into()),
            }
        };
        let Some(row) = rows.first() else { return Err(no_space()) };
        match row.get::<_, &str>(0) {
            "appended" => {
                self.database.notify_change(self.space);
                Ok(AppendOutcome::Appended)
            }
            "behind" => Ok(AppendOutcome::Behind(head_of(row, 1))),
            "full" => Err(RemoteError::Refused {
                reason: "the quota of this space is used up; nothing was written. Its owner can \
                         raise it"
                    .to_owned(),
            }),
            _ => Err(no_space()),
        }
    }

    fn content(&self, hash: ContentHash) -> RemoteResult<Option<StoredContent>> {
        let rows = self.database.read(|client| {
            let select = "select bytes, raw from memoranda.space_content($1, $2)";
            let hash = hash.0.as_slice();
            client.query_typed(select, &[(&self.space, Type::INT8), (&hash, Type::BYTEA)])
        })?;
        let content =
            |row: &Row| StoredContent { bytes: row.get(0), raw_bytes: row.get::<_, i64>(1) as u64 };
        Ok(rows.first().map(content))
    }

    fn follow(&self, seen: RemoteHead, timeout: Duration) -> RemoteResult<RemoteHead> {
        let until = Instant::now() + timeout;
        loop {
            let noticed = self.database.changes_noticed(self.space);
            let head = self.head()?;
            let left = until.saturating_duration_since(Instant::now());
            if head != seen || left.is_zero() {
                return Ok(head);
            }
            self.database.await_change(self.space, noticed, left.min(POLL_INTERVAL));
        }
    }

    fn find_image(&self, format: &str) -> RemoteResult<Option<ImageHead>> {
        self.newest_image(format)
    }

    fn image_part(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
    ) -> RemoteResult<Option<Vec<u8>>> {
        self.part_of_image(format, image, part)
    }

    fn claim_image(&self, format: &str, log_bytes: u64) -> RemoteResult<bool> {
        self.claim(format, log_bytes)
    }

    fn put_image_part(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
        bytes: &[u8],
    ) -> RemoteResult<()> {
        self.put_part(format, image, part, bytes)
    }

    fn finish_image(&self, format: &str, image: ImageHead) -> RemoteResult<()> {
        self.replace_image(format, image)
    }
}

/// Locations of contents, as columns of a statement that inserts all of them.
pub(super) struct ContentColumns<'c> {
    pub(super) hashes: Vec<&'c [u8]>,
    pub(super) seqs: Vec<i64>,
    pub(super) offsets: Vec<i64>,
    pub(super) stored: Vec<i64>,
    pub(super) raw: Vec<i64>,
}

impl<'c> ContentColumns<'c> {
    pub(super) fn of(contents: &'c [FrameContent]) -> Self {
        let numbers = |number: fn(&FrameContent) -> u64| {
            contents.iter().map(|at| number(at) as i64).collect()
        };
        Self {
            hashes: contents.iter().map(|at| at.hash.0.as_slice()).collect(),
            seqs: numbers(|at| at.seq),
            offsets: numbers(|at| at.offset),
            stored: numbers(|at| at.stored_bytes),
            raw: numbers(|at| at.raw_bytes),
        }
    }
}

fn head_of(row: &Row, first: usize) -> RemoteHead {
    let (epoch, seq) = (row.get::<_, i32>(first), row.get::<_, i64>(first + 1));
    RemoteHead { epoch: epoch as u32, seq: seq as u64 }
}

fn frame_of(row: &Row) -> RemoteResult<RemoteFrame> {
    let seq = row.get::<_, i64>(0) as u64;
    let damaged = || RemoteError::Damaged { reason: format!("number {seq} has no commit id") };
    let commit = CommitId::parse(row.get(1)).ok_or_else(damaged)?;
    Ok(RemoteFrame { seq, commit, bytes: row.get(2) })
}

fn no_space() -> RemoteError {
    RemoteError::Refused { reason: "this space does not exist any more".to_owned() }
}
