//! Personal access tokens. The database has only their digests; a token is shown once.

use memoranda_store::clock;
use sha2::{Digest as _, Sha256};

use super::accounts::account_id;
use super::spaces::space_id;
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::TokenAccess;
use crate::self_service::{NewToken, TokenRow};

/// First characters of every personal access token, by which secret scanners recognise it.
pub const TOKEN_PREFIX: &str = "mem_pat_";

/// Digits of the random part: letters and digits alone, so that a double click selects it.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Number of characters of a hint, the random part's first ones.
const HINT_CHARS: usize = 4;

impl Database {
    /// Makes a token and returns it. Nobody can see it again.
    pub fn create_token(&self, actor: &str, token: &NewToken) -> DatabaseResult<String> {
        let secret = new_secret(TOKEN_PREFIX);
        let digest = token_digest(&secret);
        let hint = &secret[..TOKEN_PREFIX.len() + HINT_CHARS];
        check_token_name(&token.name)?;
        self.transact(|transaction| {
            let account = account_id(transaction, &token.account)?;
            let mut ids = Vec::new();
            for name in &token.spaces {
                let (space, _) = space_id(transaction, name)?;
                let select = "select 1 from memoranda.members where space = $1 and account = $2";
                if transaction.query_opt(select, &[&space, &account])?.is_none() {
                    return Err(DatabaseError::Refused(format!(
                        "{} is no member of {name}",
                        token.account
                    )));
                }
                ids.push(space);
            }
            let default = ids.first().copied();
            let spaces = Some(ids).filter(|ids| !ids.is_empty());
            let days = token.days.map(f64::from);
            let insert = "insert into memoranda.tokens \
                          (account, name, sha256, hint, access, spaces, default_space, expires_at) \
                          values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 day') \
                          on conflict (account, name) do nothing";
            let access = token.access.name();
            let digest = digest.as_slice();
            let inserted = transaction.execute(
                insert,
                &[&account, &token.name, &digest, &hint, &access, &spaces, &default, &days],
            )?;
            if inserted == 0 {
                return Err(DatabaseError::Refused(format!(
                    "{} has a token {:?} already, revoked ones included; choose another name",
                    token.account, token.name
                )));
            }
            let target = format!("{}: {}", token.account, token.name);
            record_audit(transaction, actor, "token add", &target)
        })?;
        Ok(secret)
    }

    /// Revokes a token at once.
    pub fn revoke_token(&self, actor: &str, account: &str, name: &str) -> DatabaseResult<()> {
        self.transact(|transaction| {
            let account_number = account_id(transaction, account)?;
            let update = "update memoranda.tokens set revoked_at = coalesce(revoked_at, now()) \
                          where account = $1 and name = $2";
            let grants = "update memoranda.oauth_grants set revoked_at = coalesce(revoked_at, now()) \
                          where account = $1 and name = $2";
            let revoked = transaction.execute(update, &[&account_number, &name])?
                + transaction.execute(grants, &[&account_number, &name])?;
            if revoked == 0 {
                return Err(DatabaseError::Refused(format!("{account} has no token {name:?}")));
            }
            record_audit(transaction, actor, "token revoke", &format!("{account}: {name}"))
        })
    }

    /// Lists the tokens of an account, or of all, and what people allowed programs by consent.
    pub fn tokens(&self, account: Option<&str>) -> DatabaseResult<Vec<TokenRow>> {
        let rows = self.read(|client| {
            client.query(
                "select a.name, t.name, t.hint, t.access, t.created_at, t.expires_at, t.used_at, \
                 t.revoked_at, coalesce((select array_agg(s.name order by s.name) \
                 from memoranda.spaces s where s.space = any(t.spaces)), '{}') from (\
                 select account, name, hint, access, spaces, created_at, expires_at, used_at, \
                 revoked_at from memoranda.tokens union all \
                 select account, name, client_id, access, spaces, created_at, null, used_at, \
                 revoked_at from memoranda.oauth_grants) t \
                 join memoranda.accounts a on a.account = t.account \
                 where $1::text is null or a.name = $1 order by a.name, t.name",
                &[&account],
            )
        })?;
        let token = |row: &postgres::Row| TokenRow {
            account: row.get(0),
            name: row.get(1),
            hint: row.get(2),
            access: TokenAccess::parse(row.get(3)),
            created_at: row.get(4),
            expires_at: row.get(5),
            used_at: row.get(6),
            revoked_at: row.get(7),
            spaces: row.get(8),
        };
        Ok(rows.iter().map(token).collect())
    }
}

/// Returns the digest by which a token is found.
pub fn token_digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Makes a secret: a prefix, and 256 random bits in 43 digits.
pub(super) fn new_secret(prefix: &str) -> String {
    let mut random = clock::secret();
    let mut secret = prefix.to_owned();
    for _ in 0..43 {
        // Long division of the random number by 62; the remainder is the next digit.
        let mut remainder = 0u32;
        for byte in &mut random {
            let value = remainder << 8 | u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        secret.push(char::from(DIGITS[remainder as usize]));
    }
    secret
}

/// Rejects a name that a line of the history cannot show.
fn check_token_name(name: &str) -> DatabaseResult<()> {
    let is_good = !name.trim().is_empty()
        && name.chars().count() <= 60
        && !name.chars().any(char::is_control);
    if is_good {
        return Ok(());
    }
    Err(DatabaseError::Refused("a token needs a name of 1 to 60 visible characters".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_a_prefix_and_are_never_equal() {
        let secrets: std::collections::HashSet<String> =
            (0..200).map(|_| new_secret(TOKEN_PREFIX)).collect();
        assert_eq!(secrets.len(), 200);
        for secret in &secrets {
            let random = secret.strip_prefix(TOKEN_PREFIX).unwrap();
            assert_eq!(random.len(), 43);
            assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{secret}");
        }
    }

    #[test]
    fn names_of_tokens_are_one_line() {
        for (name, is_good) in
            [("laptop", true), ("Anna's phone", true), ("", false), ("a\nb", false)]
        {
            assert_eq!(check_token_name(name).is_ok(), is_good, "{name:?}");
        }
        assert!(check_token_name(&"x".repeat(61)).is_err());
    }
}
