//! Requests of programs on their way through sign-in and consent, by the digest of their ticket.

use postgres::{Row, Transaction};

use super::oauth_secrets::insert_code;
use super::stats::record_audit;
use super::tokens::{new_secret, token_digest};
use super::{Database, DatabaseResult};
use crate::directory::{SpaceKind, SpaceRole, TokenAccess};
use crate::oauth::{
    AuthorizationRequest, AuthorizationTicket, Consent, ConsentedSpaces, PendingAuthorization,
    SpaceChoice,
};

/// Columns of a request, in the order of [`request_of`].
const COLUMNS: &str =
    "client_id, client_name, redirect_uri, challenge, access, resource, state, request";

fn request_of(row: &Row) -> AuthorizationRequest {
    let challenge: &[u8] = row.get(3);
    AuthorizationRequest {
        client_id: row.get(0),
        client_name: row.get(1),
        redirect_uri: row.get(2),
        challenge: challenge.try_into().unwrap_or_default(),
        access: TokenAccess::parse(row.get(4)),
        resource: row.get(5),
        state: row.get(6),
    }
}

impl Database {
    /// Keeps a request for ten minutes, and forgets what has expired.
    pub(super) fn add_request(
        &self,
        request: &AuthorizationRequest,
    ) -> DatabaseResult<AuthorizationTicket> {
        let secret = new_secret("");
        let digest = token_digest(&secret);
        let number = self.transact(|transaction| {
            let old = "delete from memoranda.oauth_requests where expires_at < now()";
            transaction.execute(old, &[])?;
            let old = "delete from memoranda.oauth_secrets \
                       where expires_at < now() - interval '1 day'";
            transaction.execute(old, &[])?;
            let insert = "insert into memoranda.oauth_requests (sha256, client_id, client_name, \
                          redirect_uri, challenge, access, resource, state, expires_at) \
                          values ($1, $2, $3, $4, $5, $6, $7, $8, now() + interval '10 minutes') \
                          returning request";
            let row = transaction.query_one(
                insert,
                &[
                    &digest.as_slice(),
                    &request.client_id,
                    &request.client_name,
                    &request.redirect_uri,
                    &request.challenge.as_slice(),
                    &request.access.name(),
                    &request.resource,
                    &request.state,
                ],
            )?;
            Ok(row.get::<_, i64>(0))
        })?;
        Ok(AuthorizationTicket { secret, number })
    }

    /// Returns the request of a ticket, and the issuer that its person went to.
    pub(super) fn request_of_ticket(
        &self,
        ticket: &str,
    ) -> DatabaseResult<Option<(PendingAuthorization, Option<String>)>> {
        let digest = token_digest(ticket);
        let row = self.read(|client| {
            let select = format!(
                "select {COLUMNS}, (select a.name from memoranda.accounts a \
                 where a.account = r.account and a.disabled_at is null), r.issuer \
                 from memoranda.oauth_requests r where sha256 = $1 and expires_at > now()"
            );
            client.query_opt(&select, &[&digest.as_slice()])
        })?;
        Ok(row.map(|row| {
            let pending = PendingAuthorization {
                number: row.get(7),
                request: request_of(&row),
                account: row.get(8),
            };
            (pending, row.get(9))
        }))
    }

    /// Records to which issuer the person of a ticket goes. False if the ticket is unknown.
    pub(super) fn set_request_issuer(&self, ticket: &str, issuer: &str) -> DatabaseResult<bool> {
        let digest = token_digest(ticket);
        let updated = self.read(|client| {
            let update = "update memoranda.oauth_requests set issuer = $2 \
                          where sha256 = $1 and expires_at > now()";
            client.execute(update, &[&digest.as_slice(), &issuer])
        })?;
        Ok(updated > 0)
    }

    /// Lists the spaces of the account that signed in with a ticket.
    pub(super) fn spaces_of_request(&self, ticket: &str) -> DatabaseResult<Vec<SpaceChoice>> {
        let digest = token_digest(ticket);
        let rows = self.read(|client| {
            let select = "select s.name, s.kind, m.role from memoranda.oauth_requests r \
                          join memoranda.members m on m.account = r.account \
                          join memoranda.spaces s on s.space = m.space \
                          where r.sha256 = $1 and r.expires_at > now() order by s.kind, s.name";
            client.query(select, &[&digest.as_slice()])
        })?;
        let choice = |row: &Row| SpaceChoice {
            name: row.get(0),
            kind: SpaceKind::parse(row.get(1)),
            role: SpaceRole::parse(row.get(2)),
        };
        Ok(rows.iter().map(choice).collect())
    }

    /// Turns a request into a grant with a code.
    pub(super) fn approve_request(
        &self,
        ticket: &str,
        consent: &Consent,
    ) -> DatabaseResult<Option<(String, AuthorizationRequest)>> {
        let digest = token_digest(ticket);
        self.transact(|transaction| {
            let select = format!(
                "select {COLUMNS}, r.account, a.name from memoranda.oauth_requests r \
                 join memoranda.accounts a on a.account = r.account and a.disabled_at is null \
                 where r.sha256 = $1 and r.expires_at > now() for update of r"
            );
            let Some(row) = transaction.query_opt(&select, &[&digest.as_slice()])? else {
                return Ok(None);
            };
            let (request, account, person) =
                (request_of(&row), row.get::<_, i64>(8), row.get::<_, String>(9));
            let spaces = match &consent.spaces {
                ConsentedSpaces::All => None,
                ConsentedSpaces::Named { names, default } => {
                    let chosen = "select s.space from memoranda.members m \
                                  join memoranda.spaces s on s.space = m.space \
                                  where m.account = $1 and s.name = any($2) \
                                  order by s.name is distinct from $3, s.kind, s.name";
                    let rows = transaction.query(chosen, &[&account, names, default])?;
                    let spaces: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
                    if spaces.is_empty() {
                        return Ok(None);
                    }
                    Some(spaces)
                }
            };
            let default = spaces.as_ref().and_then(|spaces| spaces.first());
            let delete = "delete from memoranda.oauth_requests where sha256 = $1";
            transaction.execute(delete, &[&digest.as_slice()])?;
            let name = free_grant_name(transaction, account, &request.client_name)?;
            let access = consent.access.min(request.access);
            let insert = "insert into memoranda.oauth_grants (account, client_id, name, access, \
                          spaces, default_space, audience) values ($1, $2, $3, $4, $5, $6, $7) \
                          returning grant_id";
            let row = transaction.query_one(
                insert,
                &[
                    &account,
                    &request.client_id,
                    &name,
                    &access.name(),
                    &spaces,
                    &default,
                    &request.resource,
                ],
            )?;
            let code = insert_code(transaction, row.get(0), &request)?;
            let target = format!("{person}: {name} may {}", access.name());
            record_audit(transaction, &person, "consent", &target)?;
            Ok(Some((code, request)))
        })
    }

    /// Ends a request without consent.
    pub(super) fn deny_request(
        &self,
        ticket: &str,
    ) -> DatabaseResult<Option<AuthorizationRequest>> {
        let digest = token_digest(ticket);
        let row = self.transact(|transaction| {
            let delete = format!(
                "delete from memoranda.oauth_requests where sha256 = $1 returning {COLUMNS}"
            );
            Ok(transaction.query_opt(&delete, &[&digest.as_slice()])?)
        })?;
        Ok(row.map(|row| request_of(&row)))
    }
}

/// Lets the account of a ticket be signed in, under a new ticket: one that was known before the
/// sign-in is worth nothing after it.
pub(super) fn sign_in_request(
    transaction: &mut Transaction<'_>,
    ticket: &str,
    account: i64,
) -> DatabaseResult<Option<String>> {
    let renewed = new_secret("");
    let update = "update memoranda.oauth_requests set sha256 = $2, account = $3 \
                  where sha256 = $1 and expires_at > now()";
    let (old, new) = (token_digest(ticket), token_digest(&renewed));
    let updated = transaction.execute(update, &[&old.as_slice(), &new.as_slice(), &account])?;
    Ok((updated > 0).then_some(renewed))
}

/// Returns a name for a grant that no token and no grant of the account has.
fn free_grant_name(
    transaction: &mut Transaction<'_>,
    account: i64,
    client: &str,
) -> DatabaseResult<String> {
    let taken = "select name from memoranda.tokens where account = $1 \
                 union all select name from memoranda.oauth_grants where account = $1";
    let rows = transaction.query(taken, &[&account])?;
    let taken: std::collections::HashSet<String> = rows.iter().map(|row| row.get(0)).collect();
    let numbered = (2u64..).map(|number| format!("{client} {number}"));
    let mut names = std::iter::once(client.to_owned()).chain(numbered);
    Ok(names.find(|name| !taken.contains(name)).unwrap_or_default())
}
