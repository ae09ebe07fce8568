//! Codes and tokens of grants. The database has only their digests.
//!
//! A code and a refresh token work once. One that comes a second time was stolen, or its thief was
//! faster; so the whole grant is revoked, with every token that came from it.

use postgres::{Row, Transaction};

use super::stats::record_audit;
use super::tokens::{new_secret, token_digest};
use super::{Database, DatabaseResult};
use crate::directory::TokenAccess;
use crate::oauth::{
    AuthorizationRequest, CodeExchange, IssuedTokens, RefreshExchange, TokenRefusal,
};

/// First characters of an access token.
pub(super) const ACCESS_PREFIX: &str = "mem_oat_";
/// First characters of a refresh token.
const REFRESH_PREFIX: &str = "mem_ort_";
/// First characters of a code.
const CODE_PREFIX: &str = "mem_code_";
/// Seconds for which an access token is valid.
const ACCESS_SECONDS: u32 = 3_600;
/// Seconds for which a refresh token is valid.
const REFRESH_SECONDS: u32 = 30 * 24 * 3_600;
/// Seconds for which a code is valid.
const CODE_SECONDS: u32 = 60;

/// A code or a token with its grant.
struct StoredSecret {
    grant_id: i64,
    redirect_uri: Option<String>,
    challenge: Option<Vec<u8>>,
    client_id: String,
    access: TokenAccess,
    audience: String,
    /// Account and name of the grant.
    owner: String,
    is_used: bool,
    is_valid: bool,
}

impl Database {
    /// Exchanges a code for tokens, once.
    pub(super) fn redeem_code(
        &self,
        exchange: &CodeExchange<'_>,
    ) -> DatabaseResult<Result<IssuedTokens, TokenRefusal>> {
        let digest = token_digest(exchange.code);
        let verifier = token_digest(exchange.verifier);
        self.transact(|transaction| {
            let found = find_secret(transaction, &digest, "code", exchange.client_id)?;
            let Some(code) = found else { return Ok(Err(TokenRefusal::InvalidGrant)) };
            if code.challenge.as_deref() != Some(verifier.as_slice()) {
                return Ok(Err(TokenRefusal::WrongVerifier));
            }
            if exchange.redirect_uri.is_some()
                && exchange.redirect_uri != code.redirect_uri.as_deref()
            {
                return Ok(Err(TokenRefusal::WrongRedirectUri));
            }
            redeem(transaction, &digest, &code, exchange.resource)
        })
    }

    /// Exchanges a refresh token for new tokens, once.
    pub(super) fn redeem_refresh_token(
        &self,
        exchange: &RefreshExchange<'_>,
    ) -> DatabaseResult<Result<IssuedTokens, TokenRefusal>> {
        let digest = token_digest(exchange.token);
        self.transact(|transaction| {
            let found = find_secret(transaction, &digest, "refresh", exchange.client_id)?;
            let Some(token) = found else { return Ok(Err(TokenRefusal::InvalidGrant)) };
            redeem(transaction, &digest, &token, exchange.resource)
        })
    }

    /// Revokes the grant of a token of a client.
    pub(super) fn revoke_grant_of(&self, token: &str, client_id: &str) -> DatabaseResult<()> {
        let digest = token_digest(token);
        self.transact(|transaction| {
            let select = "select g.grant_id, a.name, g.name from memoranda.oauth_secrets o \
                          join memoranda.oauth_grants g on g.grant_id = o.grant_id \
                          join memoranda.accounts a on a.account = g.account \
                          where o.sha256 = $1 and g.client_id = $2 and g.revoked_at is null";
            let row = transaction.query_opt(select, &[&digest.as_slice(), &client_id])?;
            let Some(row) = row else { return Ok(()) };
            revoke_grant(transaction, row.get(0))?;
            let (account, name): (String, String) = (row.get(1), row.get(2));
            record_audit(transaction, &account, "token revoke", &format!("{account}: {name}"))
        })
    }
}

/// Adds a code to a grant.
pub(super) fn insert_code(
    transaction: &mut Transaction<'_>,
    grant_id: i64,
    request: &AuthorizationRequest,
) -> DatabaseResult<String> {
    let code = new_secret(CODE_PREFIX);
    let insert = "insert into memoranda.oauth_secrets \
                  (sha256, grant_id, kind, redirect_uri, challenge, expires_at) \
                  values ($1, $2, 'code', $3, $4, now() + $5 * interval '1 second')";
    transaction.execute(
        insert,
        &[
            &token_digest(&code).as_slice(),
            &grant_id,
            &request.redirect_uri,
            &request.challenge.as_slice(),
            &f64::from(CODE_SECONDS),
        ],
    )?;
    Ok(code)
}

/// Finds a code or a token of a client, and locks it. One of another client does not exist.
fn find_secret(
    transaction: &mut Transaction<'_>,
    digest: &[u8; 32],
    kind: &str,
    client_id: &str,
) -> DatabaseResult<Option<StoredSecret>> {
    let select = "select o.grant_id, o.redirect_uri, o.challenge, g.client_id, g.access, \
                  g.audience, a.name || ': ' || g.name, o.used_at is not null, \
                  o.expires_at > now() and g.revoked_at is null and a.disabled_at is null \
                  from memoranda.oauth_secrets o \
                  join memoranda.oauth_grants g on g.grant_id = o.grant_id \
                  join memoranda.accounts a on a.account = g.account \
                  where o.sha256 = $1 and o.kind = $2 for update of o, g";
    let row = transaction.query_opt(select, &[&digest.as_slice(), &kind])?;
    let stored = |row: &Row| StoredSecret {
        grant_id: row.get(0),
        redirect_uri: row.get(1),
        challenge: row.get(2),
        client_id: row.get(3),
        access: TokenAccess::parse(row.get(4)),
        audience: row.get(5),
        owner: row.get(6),
        is_used: row.get(7),
        is_valid: row.get(8),
    };
    Ok(row.as_ref().map(stored).filter(|secret| secret.client_id == client_id))
}

/// Uses a code or a refresh token, and issues tokens.
fn redeem(
    transaction: &mut Transaction<'_>,
    digest: &[u8; 32],
    secret: &StoredSecret,
    resource: Option<&str>,
) -> DatabaseResult<Result<IssuedTokens, TokenRefusal>> {
    if secret.is_used {
        revoke_grant(transaction, secret.grant_id)?;
        record_audit(transaction, &secret.client_id, "token replay", &secret.owner)?;
        return Ok(Err(TokenRefusal::InvalidGrant));
    }
    if !secret.is_valid {
        return Ok(Err(TokenRefusal::InvalidGrant));
    }
    if resource.is_some_and(|resource| resource != secret.audience) {
        return Ok(Err(TokenRefusal::WrongResource));
    }
    let update = "update memoranda.oauth_secrets set used_at = now() where sha256 = $1";
    transaction.execute(update, &[&digest.as_slice()])?;
    let mut issue = |prefix: &str, kind: &str, seconds: u32| -> DatabaseResult<String> {
        let token = new_secret(prefix);
        let insert = "insert into memoranda.oauth_secrets (sha256, grant_id, kind, expires_at) \
                      values ($1, $2, $3, now() + $4 * interval '1 second')";
        let (digest, seconds) = (token_digest(&token), f64::from(seconds));
        transaction.execute(insert, &[&digest.as_slice(), &secret.grant_id, &kind, &seconds])?;
        Ok(token)
    };
    Ok(Ok(IssuedTokens {
        access_token: issue(ACCESS_PREFIX, "access", ACCESS_SECONDS)?,
        refresh_token: issue(REFRESH_PREFIX, "refresh", REFRESH_SECONDS)?,
        expires_in: u64::from(ACCESS_SECONDS),
        access: secret.access,
    }))
}

fn revoke_grant(transaction: &mut Transaction<'_>, grant_id: i64) -> DatabaseResult<()> {
    let update = "update memoranda.oauth_grants set revoked_at = coalesce(revoked_at, now()) \
                  where grant_id = $1";
    transaction.execute(update, &[&grant_id])?;
    Ok(())
}
