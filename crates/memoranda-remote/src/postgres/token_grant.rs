//! Access of a token: one query per request, which also returns the head of each space.

use memoranda_store::remote::RemoteHead;

use super::oauth_secrets::ACCESS_PREFIX;
use super::tokens::token_digest;
use super::{Database, DatabaseResult};
use crate::directory::{SpaceGrant, SpaceKind, SpaceRole, TokenAccess, TokenGrant};

/// The personal access token of a digest.
const PERSONAL_TOKENS: &str = "select account, name, token, access, spaces, default_space, \
     coalesce(expires_at, 'infinity') as expires_at, revoked_at, null::text as audience \
     from memoranda.tokens where sha256 = $1";
/// The access token of a digest, with what its person consented to.
const GRANT_TOKENS: &str = "select g.account, g.name, g.grant_id as token, g.access, g.spaces, \
     g.default_space, o.expires_at, g.revoked_at, g.audience from memoranda.oauth_secrets o \
     join memoranda.oauth_grants g on g.grant_id = o.grant_id \
     where o.sha256 = $1 and o.kind = 'access'";

impl Database {
    /// Returns what a token opens. `None` if it is unknown, revoked or expired, or if its account
    /// is disabled or has no space left that the token names.
    pub(super) fn token_grant(&self, secret: &str) -> DatabaseResult<Option<TokenGrant>> {
        let digest = token_digest(secret);
        let tokens = if secret.starts_with(ACCESS_PREFIX) { GRANT_TOKENS } else { PERSONAL_TOKENS };
        let select = format!(
            "select a.name, t.name, t.token, t.access, s.space, s.name, s.kind, s.device, \
             m.role, h.epoch, h.head, t.audience from ({tokens}) t \
             join memoranda.accounts a on a.account = t.account \
             join memoranda.members m on m.account = t.account \
             join memoranda.spaces s on s.space = m.space \
             join memoranda.heads h on h.space = m.space \
             where t.expires_at > now() and t.revoked_at is null and a.disabled_at is null \
             and (t.spaces is null or m.space = any(t.spaces)) \
             order by t.default_space is distinct from m.space, s.kind, s.name"
        );
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
