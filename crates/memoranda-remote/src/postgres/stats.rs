//! Figures and the audit, for the operator.

use postgres::Transaction;

use super::{Database, DatabaseResult};
use crate::self_service::AuditRow;

/// Figures of the whole database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseStats {
    /// Version of the server.
    pub server_version: String,
    /// Number of accounts that can be used.
    pub accounts: u64,
    /// Number of spaces.
    pub spaces: u64,
    /// Number of tokens that are valid.
    pub tokens: u64,
    /// Number of log records.
    pub commits: u64,
    /// Size of all logs, in bytes.
    pub log_bytes: u64,
    /// Size of the database, in bytes.
    pub database_bytes: u64,
}

impl Database {
    /// Returns the figures.
    pub fn stats(&self) -> DatabaseResult<DatabaseStats> {
        let row = self.read(|client| {
            client.query_one(
                "select current_setting('server_version'), \
                 (select count(*) from memoranda.accounts where disabled_at is null), \
                 (select count(*) from memoranda.spaces), \
                 (select count(*) from memoranda.tokens where revoked_at is null \
                 and (expires_at is null or expires_at > now())), \
                 (select coalesce(sum(head), 0)::bigint from memoranda.heads), \
                 (select coalesce(sum(bytes), 0)::bigint from memoranda.heads), \
                 pg_database_size(current_database())",
                &[],
            )
        })?;
        let count = |n| row.get::<_, i64>(n) as u64;
        Ok(DatabaseStats {
            server_version: row.get(0),
            accounts: count(1),
            spaces: count(2),
            tokens: count(3),
            commits: count(4),
            log_bytes: count(5),
            database_bytes: count(6),
        })
    }

    /// Lists the newest entries of the audit, the newest first.
    pub fn audit(&self, limit: u32) -> DatabaseResult<Vec<AuditRow>> {
        let rows = self.read(|client| {
            let select = "select at, actor, action, target from memoranda.audit \
                          order by entry desc limit $1";
            client.query(select, &[&i64::from(limit)])
        })?;
        let entry = |row: &postgres::Row| AuditRow {
            at: row.get(0),
            actor: row.get(1),
            action: row.get(2),
            target: row.get(3),
        };
        Ok(rows.iter().map(entry).collect())
    }
}

/// Adds an entry to the audit, in the transaction of what it records.
pub(super) fn record_audit(
    transaction: &mut Transaction<'_>,
    actor: &str,
    action: &str,
    target: &str,
) -> DatabaseResult<()> {
    let insert = "insert into memoranda.audit (actor, action, target) values ($1, $2, $3)";
    transaction.execute(insert, &[&actor, &action, &target])?;
    Ok(())
}
