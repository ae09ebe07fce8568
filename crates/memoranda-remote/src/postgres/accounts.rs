//! Accounts: people and programs that may hold spaces and tokens.

use jiff::Timestamp;
use memoranda_store::clock;

use super::spaces::{insert_member, insert_space};
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::{SpaceKind, SpaceRole};

/// An account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountRow {
    /// Name, which is also the name of its private space.
    pub name: String,
    /// E-mail address, if it was given.
    pub email: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time since which it cannot be used; `None` if it can.
    pub disabled_at: Option<Timestamp>,
}

impl Database {
    /// Creates an account with its private space.
    pub fn create_account(
        &self,
        actor: &str,
        name: &str,
        email: Option<&str>,
    ) -> DatabaseResult<()> {
        check_name(name)?;
        let device = new_device();
        self.transact(|transaction| {
            let insert = "insert into memoranda.accounts (name, email) values ($1, $2) \
                          on conflict do nothing returning account";
            let row = transaction.query_opt(insert, &[&name, &email])?;
            let taken = || DatabaseError::Refused(format!("there is an account {name} already"));
            let account: i64 = row.ok_or_else(taken)?.get(0);
            let space = insert_space(transaction, name, SpaceKind::Private, &device)?;
            insert_member(transaction, space, account, SpaceRole::Owner)?;
            record_audit(transaction, actor, "account add", name)
        })
    }

    /// Disables an account: its tokens stop at once. What it wrote stays.
    pub fn disable_account(&self, actor: &str, name: &str) -> DatabaseResult<()> {
        self.transact(|transaction| {
            let update = "update memoranda.accounts set disabled_at = coalesce(disabled_at, now()) \
                          where name = $1";
            if transaction.execute(update, &[&name])? == 0 {
                return Err(no_account(name));
            }
            record_audit(transaction, actor, "account disable", name)
        })
    }

    /// Enables an account again.
    pub fn enable_account(&self, actor: &str, name: &str) -> DatabaseResult<()> {
        self.transact(|transaction| {
            let update = "update memoranda.accounts set disabled_at = null where name = $1";
            if transaction.execute(update, &[&name])? == 0 {
                return Err(no_account(name));
            }
            record_audit(transaction, actor, "account enable", name)
        })
    }

    /// Lists all accounts by name.
    pub fn accounts(&self) -> DatabaseResult<Vec<AccountRow>> {
        let rows = self.read(|client| {
            let select = "select name, email, created_at, disabled_at from memoranda.accounts \
                          order by name";
            client.query(select, &[])
        })?;
        let account = |row: &postgres::Row| AccountRow {
            name: row.get(0),
            email: row.get(1),
            created_at: row.get(2),
            disabled_at: row.get(3),
        };
        Ok(rows.iter().map(account).collect())
    }
}

/// Returns the number of an account.
pub(super) fn account_id(
    transaction: &mut postgres::Transaction<'_>,
    name: &str,
) -> DatabaseResult<i64> {
    let select = "select account from memoranda.accounts where name = $1";
    let row = transaction.query_opt(select, &[&name])?;
    Ok(row.ok_or_else(|| no_account(name))?.get(0))
}

fn no_account(name: &str) -> DatabaseError {
    DatabaseError::Refused(format!("there is no account {name}"))
}

/// Returns a new name of a space as a device of the log.
pub(super) fn new_device() -> String {
    format!("s{}", clock::new_commit_id())
}

/// Rejects a name that is not one of accounts and spaces.
pub(super) fn check_name(name: &str) -> DatabaseResult<()> {
    let is_edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    let is_name = (1..=40).contains(&bytes.len())
        && bytes.iter().all(|byte| is_edge(*byte) || *byte == b'-')
        && is_edge(bytes[0])
        && is_edge(bytes[bytes.len() - 1]);
    if is_name {
        return Ok(());
    }
    Err(DatabaseError::Refused(format!(
        "{name:?} cannot be a name: 1 to 40 lower-case letters, digits and hyphens, no hyphen at \
         an end"
    )))
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_are_short_words() {
        let long = "a".repeat(41);
        for (name, is_good) in [
            ("anna", true),
            ("a", true),
            ("team-7", true),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("Anna", false),
            ("a b", false),
            ("a/b", false),
            ("ä", false),
            (long.as_str(), false),
        ] {
            assert_eq!(check_name(name).is_ok(), is_good, "{name}");
        }
    }
}
