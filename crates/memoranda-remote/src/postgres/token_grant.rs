//! What a token opens: one query a request, which also tells how far each space has come.

use memoranda_store::remote::RemoteHead;

use super::spaces::{SpaceKind, SpaceRole};
use super::tokens::token_digest;
use super::{Database, DatabaseResult};

/// What a token may do at most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TokenAccess {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

impl TokenAccess {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        if text == "write" { Self::Write } else { Self::Read }
    }
}

/// What a valid token opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenGrant {
    /// Name of the account.
    pub account: String,
    /// Name of the token.
    pub token: String,
    /// Number of the token.
    pub token_id: i64,
    /// The spaces, the one that is meant without a name first.
    pub spaces: Vec<SpaceGrant>,
}

/// A space that a token opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceGrant {
    /// Number, the key of its log.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpaceKind,
    /// Name as a device of the log.
    pub device: String,
    /// Role of the account.
    pub role: SpaceRole,
    /// What both the role and the token allow.
    pub access: TokenAccess,
    /// End of its log at the time of the query.
    pub head: RemoteHead,
}

impl TokenGrant {
    /// Returns a space by its name, or without a name the first one.
    pub fn space(&self, name: Option<&str>) -> Option<&SpaceGrant> {
        match name {
            Some(name) => self.spaces.iter().find(|space| space.name == name),
            None => self.spaces.first(),
        }
    }
}

impl Database {
    /// Returns what a token opens. `None` if it is unknown, revoked or expired, or if its account
    /// is disabled or has no space left that the token names.
    pub fn authorize(&self, secret: &str) -> DatabaseResult<Option<TokenGrant>> {
        let digest = token_digest(secret);
        let rows = self.read(|client| {
            client.query_typed(
                "select a.name, t.name, t.token, t.access, s.space, s.name, s.kind, s.device, \
                 m.role, h.epoch, h.head from memoranda.tokens t \
                 join memoranda.accounts a on a.account = t.account \
                 join memoranda.members m on m.account = t.account \
                 join memoranda.spaces s on s.space = m.space \
                 join memoranda.heads h on h.space = m.space \
                 where t.sha256 = $1 and t.revoked_at is null \
                 and (t.expires_at is null or t.expires_at > now()) and a.disabled_at is null \
                 and (t.spaces is null or m.space = any(t.spaces)) \
                 order by t.default_space is distinct from m.space, s.kind, s.name",
                &[(&digest.as_slice(), postgres::types::Type::BYTEA)],
            )
        })?;
        let Some(first) = rows.first() else { return Ok(None) };
        let limit = TokenAccess::parse(first.get(3));
        let space = |row: &postgres::Row| {
            let role = SpaceRole::parse(row.get(8));
            let of_role = if role.may_write() { TokenAccess::Write } else { TokenAccess::Read };
            SpaceGrant {
                id: row.get(4),
                name: row.get(5),
                kind: SpaceKind::parse(row.get(6)),
                device: row.get(7),
                role,
                access: limit.min(of_role),
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
            spaces: rows.iter().map(space).collect(),
        }))
    }

    /// Records that a token was used, at most once a minute.
    pub fn note_token_use(&self, token_id: i64) -> DatabaseResult<()> {
        self.read(|client| {
            let update = "update memoranda.tokens set used_at = now() where token = $1 \
                          and (used_at is null or used_at < now() - interval '1 minute')";
            client.execute(update, &[&token_id])
        })?;
        Ok(())
    }
}
