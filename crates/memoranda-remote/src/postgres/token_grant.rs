//! Access of a token: one query per request, which also returns the head of each space.

use memoranda_store::remote::RemoteHead;

use super::oauth_secrets::ACCESS_PREFIX;
use super::tokens::{TOKEN_PREFIX, token_digest};
use super::{Database, DatabaseResult};
use crate::directory::{SpaceGrant, SpaceKind, SpaceRole, TokenAccess, TokenGrant};

impl Database {
    /// Returns what a token opens. `None` if it is unknown, revoked or expired, or if its account
    /// is disabled or has no space left that the token names.
    pub(super) fn token_grant(&self, secret: &str) -> DatabaseResult<Option<TokenGrant>> {
        let is_of_grant = secret.starts_with(ACCESS_PREFIX);
        if !is_of_grant && !secret.starts_with(TOKEN_PREFIX) {
            // No token of ours: a flood of them costs the database nothing.
            return Ok(None);
        }
        let digest = token_digest(secret);
        let function = if is_of_grant { "access_token_spaces" } else { "personal_token_spaces" };
        let select = format!("select * from memoranda.{function}($1)");
        let rows = self.read(|client| {
            client.query_typed(&select, &[(&digest.as_slice(), postgres::types::Type::BYTEA)])
        })?;
        let Some(first) = rows.first() else { return Ok(None) };
        let limit = TokenAccess::parse(first.get(3));
        let space = |row: &postgres::Row| {
            let role = SpaceRole::parse(row.get(8));
            SpaceGrant {
                id: row.get(4),
                name: row.get(5),
                kind: SpaceKind::parse(row.get(6)),
                device: row.get(7),
                role,
                access: limit.min(role.access()),
                head: RemoteHead {
                    epoch: row.get::<_, i32>(9) as u32,
                    seq: row.get::<_, i64>(10) as u64,
                },
            }
        };
        Ok(Some(TokenGrant {
            account: first.get(0),
            token: first.get(1),
            token_id: first.get(2),
            audience: first.get(11),
            spaces: rows.iter().map(space).collect(),
        }))
    }

    /// Records that a token or a grant was used, at most once a minute.
    pub fn note_token_use(&self, token_id: i64) -> DatabaseResult<()> {
        self.read(|client| {
            for update in [
                "update memoranda.tokens set used_at = now() where token = $1 \
                 and (used_at is null or used_at < now() - interval '1 minute')",
                "update memoranda.oauth_grants set used_at = now() where grant_id = $1 \
                 and (used_at is null or used_at < now() - interval '1 minute')",
            ] {
                client.execute(update, &[&token_id])?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
