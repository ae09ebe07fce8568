//! Deletion of an account with everything that is its own.

use super::accounts::account_id;
use super::spaces::enter_space;
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};

/// Extent of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountRemoval {
    /// Number of log records of the private space.
    pub commits: u64,
    /// Number of tokens and grants that can still be used.
    pub tokens: u64,
}

impl Database {
    /// Returns what the deletion of an account would remove. Rejects one that leaves a shared space
    /// without an owner.
    pub fn plan_account_removal(&self, name: &str) -> DatabaseResult<AccountRemoval> {
        self.transact(|transaction| {
            let account = account_id(transaction, name)?;
            let unowned = "select string_agg(s.name, ', ' order by s.name) from memoranda.members m \
                           join memoranda.spaces s on s.space = m.space and s.kind = 'shared' \
                           where m.account = $1 and m.role = 'owner' and not exists (\
                           select 1 from memoranda.members o where o.space = m.space \
                           and o.role = 'owner' and o.account <> m.account)";
            let unowned: Option<String> = transaction.query_one(unowned, &[&account])?.get(0);
            if let Some(spaces) = unowned {
                return Err(DatabaseError::Refused(format!(
                    "{name} is the only owner of {spaces}; make another member an owner first"
                )));
            }
            let count = "select coalesce((select sum(h.head)::bigint from memoranda.members m \
                         join memoranda.spaces s on s.space = m.space and s.kind = 'private' \
                         join memoranda.heads h on h.space = m.space where m.account = $1), 0), \
                         (select count(*) from memoranda.tokens \
                         where account = $1 and revoked_at is null) + \
                         (select count(*) from memoranda.oauth_grants \
                         where account = $1 and revoked_at is null)";
            let row = transaction.query_one(count, &[&account])?;
            let number = |column| row.get::<_, i64>(column) as u64;
            Ok(AccountRemoval { commits: number(0), tokens: number(1) })
        })
    }

    /// Deletes an account for good: its private space with the history, its tokens, grants and
    /// identities. What it wrote into shared spaces stays.
    pub fn delete_account(&self, actor: &str, name: &str) -> DatabaseResult<AccountRemoval> {
        let removal = self.plan_account_removal(name)?;
        self.transact(|transaction| {
            let account = account_id(transaction, name)?;
            let private = "select s.space from memoranda.members m \
                           join memoranda.spaces s on s.space = m.space and s.kind = 'private' \
                           where m.account = $1";
            let spaces: Vec<i64> =
                transaction.query(private, &[&account])?.iter().map(|row| row.get(0)).collect();
            for space in spaces {
                enter_space(transaction, space)?;
                // The head goes first: its lock waits for a write that is being made.
                for table in [
                    "heads",
                    "commits",
                    "contents",
                    "image_parts",
                    "images",
                    "proposals",
                    "members",
                    "spaces",
                ] {
                    let delete = format!("delete from memoranda.{table} where space = $1");
                    transaction.execute(&delete, &[&space])?;
                }
            }
            for table in ["members", "tokens", "accounts"] {
                let delete = format!("delete from memoranda.{table} where account = $1");
                transaction.execute(&delete, &[&account])?;
            }
            record_audit(transaction, actor, "account delete", name)
        })?;
        Ok(removal)
    }
}
