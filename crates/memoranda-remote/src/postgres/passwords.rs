//! Passwords of accounts, for teams without an issuer. The database has only their Argon2id hashes.

use std::sync::OnceLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

use super::stats::record_audit;
use super::tokens::new_secret;
use super::{Database, DatabaseError, DatabaseResult};

/// Minimum number of characters of a password.
const MIN_PASSWORD_CHARS: usize = 12;
/// Maximum number of bytes of a password, so that hashing stays cheap.
const MAX_PASSWORD_BYTES: usize = 1_000;

impl Database {
    /// Makes a random password for an account and returns it. Nobody can see it again.
    pub fn make_password(&self, actor: &str, account: &str) -> DatabaseResult<String> {
        let password: String = new_secret("").chars().take(24).collect();
        self.set_password(actor, account, &password)?;
        Ok(password)
    }

    /// Sets the password of an account.
    pub fn set_password(&self, actor: &str, account: &str, password: &str) -> DatabaseResult<()> {
        if password.chars().count() < MIN_PASSWORD_CHARS || password.len() > MAX_PASSWORD_BYTES {
            return Err(DatabaseError::Refused(format!(
                "a password needs {MIN_PASSWORD_CHARS} or more characters, and at most \
                 {MAX_PASSWORD_BYTES} bytes"
            )));
        }
        let hash = hash(password)?;
        self.transact(|transaction| {
            let update = "update memoranda.accounts set password_hash = $2 where name = $1";
            if transaction.execute(update, &[&account, &hash])? == 0 {
                return Err(DatabaseError::Refused(format!("there is no account {account}")));
            }
            record_audit(transaction, actor, "account password", account)
        })
    }

    /// Returns the number of an account if the password is its own. It takes the same time without
    /// such an account.
    pub(super) fn check_password(
        &self,
        account: &str,
        password: &str,
    ) -> DatabaseResult<Option<i64>> {
        let row = self.read(|client| {
            let select = "select account, password_hash from memoranda.accounts \
                          where (name = $1 or lower(email) = lower($1)) \
                          and password_hash is not null and disabled_at is null limit 2";
            client.query(select, &[&account])
        })?;
        static NOBODY: OnceLock<String> = OnceLock::new();
        let (number, stored) = match row.as_slice() {
            [row] => (Some(row.get::<_, i64>(0)), row.get::<_, String>(1)),
            _ => (None, NOBODY.get_or_init(|| hash("nobody").unwrap_or_default()).clone()),
        };
        let is_right = password.len() <= MAX_PASSWORD_BYTES
            && PasswordHash::new(&stored).is_ok_and(|stored| {
                Argon2::default().verify_password(password.as_bytes(), &stored).is_ok()
            });
        Ok(number.filter(|_| is_right))
    }
}

fn hash(password: &str) -> DatabaseResult<String> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed
        .map(|hash| hash.to_string())
        .map_err(|error| DatabaseError::Failed(format!("the password cannot be hashed: {error}")))
}
