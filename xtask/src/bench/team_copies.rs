//! Further spaces of equal content, to measure whether a server is as fast among many.

use super::team_database::BenchDatabase;
use crate::Result;

/// Copies the log of a space into further ones, in the database: 1,000 spaces of 1,000 notes are a
/// million.
pub(super) fn copy_space(database: &BenchDatabase, space: &str, copies: usize) -> Result<String> {
    /// Number of spaces that one statement makes.
    const BATCH: usize = 50;
    for first in (0..copies).step_by(BATCH) {
        let last = (first + BATCH).min(copies) - 1;
        database.sql(
            "bench",
            &format!(
                "with origin as (select space from memoranda.spaces where name = '{space}'), \
                 made as (insert into memoranda.spaces (name, kind, device) \
                 select 'copy-' || n, 'shared', 'c' || lpad(n::text, 12, '0') \
                 from generate_series({first}, {last}) n returning space), \
                 owned as (insert into memoranda.members (space, account, role) \
                 select made.space, a.account, 'owner' from made, memoranda.accounts a \
                 where a.name = 'anna'), \
                 headed as (insert into memoranda.heads (space, epoch, head, bytes) \
                 select made.space, h.epoch, h.head, h.bytes from made, memoranda.heads h, origin \
                 where h.space = origin.space), \
                 logged as (insert into memoranda.commits (space, seq, id, at, frame) \
                 select made.space, c.seq, c.id, c.at, c.frame from made, memoranda.commits c, origin \
                 where c.space = origin.space) \
                 insert into memoranda.contents (space, hash, seq, at, stored, raw) \
                 select made.space, c.hash, c.seq, c.at, c.stored, c.raw \
                 from made, memoranda.contents c, origin where c.space = origin.space"
            ),
        )?;
    }
    database.sql("bench", "vacuum analyze")?;
    database.sql("bench", "select pg_size_pretty(pg_database_size('bench'))")
}
