//! Authorization of a request: its token is looked up in the directory on every request.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use memoranda_engine::{clock, hash};
use memoranda_remote::directory::{DirectoryError, TokenGrant};

use super::TeamState;
use crate::http_error::HttpError;

/// Header with the space of a request whose token opens several.
pub(crate) const SPACE_HEADER: &str = "memoranda-space";
/// Time for which a token opens what it opened last while the directory cannot be reached.
const AWAY_PATIENCE: Duration = Duration::from_secs(15 * 60);
/// Maximum number of tokens that are known for that time.
const MAX_KNOWN_TOKENS: usize = 10_000;
/// Time after which the use of a token is recorded again.
const USE_INTERVAL: Duration = Duration::from_secs(60);

/// Access of a token when it was last used.
pub(crate) struct KnownToken {
    grant: Arc<TokenGrant>,
    seen: Instant,
    seen_at: Timestamp,
    /// Time at which its use was recorded.
    recorded: Option<Instant>,
}

/// Authorization of a request.
pub(crate) struct RequestAuthorization {
    pub(crate) grant: Arc<TokenGrant>,
    /// Time to which the spaces are known; `None` if the directory was asked just now.
    pub(crate) as_of: Option<Timestamp>,
}

impl TeamState {
    /// Asks the directory what the token of a request opens. A token that is valid elsewhere is
    /// worth nothing here. Blocks.
    pub(crate) fn authorize(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<RequestAuthorization, HttpError> {
        let authorized = self.look_up(headers)?;
        if authorized.as_of.is_none()
            && let Err(wait) = self.limiter.take(authorized.grant.token_id, Instant::now())
        {
            self.metrics.count_rate_limited();
            return Err(too_many(wait));
        }
        self.check_audience(path, authorized)
    }

    /// Asks again for a request that goes on, which counts for no limit. Blocks.
    pub(crate) fn authorize_again(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<RequestAuthorization, HttpError> {
        self.check_audience(path, self.look_up(headers)?)
    }

    fn check_audience(
        &self,
        path: &str,
        authorized: RequestAuthorization,
    ) -> Result<RequestAuthorization, HttpError> {
        let is_covered = match (&authorized.grant.audience, &self.oauth) {
            (None, _) => true,
            (Some(audience), Some(oauth)) => oauth.public.covers(audience, path),
            (Some(_), None) => false,
        };
        if is_covered { Ok(authorized) } else { Err(no_token()) }
    }

    fn look_up(&self, headers: &HeaderMap) -> Result<RequestAuthorization, HttpError> {
        let secret = bearer(headers).ok_or_else(no_token)?;
        // A digest of its own: the directory's is its own matter.
        let key = hash(secret.as_bytes()).0;
        match self.directory.authorize(secret) {
            Ok(Some(grant)) => {
                let grant = Arc::new(grant);
                if self.remember_token(key, &grant) {
                    self.directory.record_token_use(grant.token_id).ok();
                }
                Ok(RequestAuthorization { grant, as_of: None })
            }
            Ok(None) => {
                self.known_tokens().remove(&key);
                Err(no_token())
            }
            Err(error) => {
                tracing::warn!(%error, "the directory cannot be asked");
                self.metrics.count_directory_failure();
                let is_away = matches!(error, DirectoryError::Away(_));
                let known = self.known_tokens();
                match known.get(&key).filter(|known| known.seen.elapsed() < AWAY_PATIENCE) {
                    Some(known) if is_away => Ok(RequestAuthorization {
                        grant: Arc::clone(&known.grant),
                        as_of: Some(known.seen_at),
                    }),
                    _ => Err(unavailable()),
                }
            }
        }
    }

    /// Remembers what a token opens. Returns true if its use should be recorded.
    fn remember_token(&self, key: [u8; 32], grant: &Arc<TokenGrant>) -> bool {
        let mut known = self.known_tokens();
        if known.len() >= MAX_KNOWN_TOKENS && !known.contains_key(&key) {
            known.retain(|_, token| token.seen.elapsed() < AWAY_PATIENCE);
            if known.len() >= MAX_KNOWN_TOKENS {
                known.clear();
            }
        }
        let recorded = known.get(&key).and_then(|token| token.recorded);
        let is_due = recorded.is_none_or(|recorded| recorded.elapsed() > USE_INTERVAL);
        let (seen, seen_at) = (Instant::now(), clock::now());
        let recorded = if is_due { Some(seen) } else { recorded };
        known.insert(key, KnownToken { grant: Arc::clone(grant), seen, seen_at, recorded });
        is_due
    }

    fn known_tokens(
        &self,
    ) -> std::sync::MutexGuard<'_, std::collections::HashMap<[u8; 32], KnownToken>> {
        self.known_tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the error for a directory that cannot be asked.
pub(crate) fn unavailable() -> HttpError {
    let message = "The database of this server cannot be reached at the moment. Try again soon.";
    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, message).with("retry_after", 2)
}

/// Returns the error for a token that is used too often.
fn too_many(wait: Duration) -> HttpError {
    let seconds = wait.as_secs() + 1;
    let message = format!("This token is used too often. Try again in {seconds} s.");
    HttpError::coded(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", message)
        .with("retry_after", seconds)
}

/// Returns the error for a missing, unknown, expired or revoked token: one for all.
fn no_token() -> HttpError {
    let message = "Send a valid token: Authorization: Bearer mem_pat_…. An administrator makes one \
                   with `memoranda admin token add`.";
    HttpError::new(StatusCode::UNAUTHORIZED, message)
}

/// Returns the space that a request names by its header; an error if the header is no text or comes
/// twice, because the second one may be the limit that a proxy adds.
pub(crate) fn named_in(headers: &HeaderMap) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(SPACE_HEADER).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(name), None) => name.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_named_once_or_not_at_all() {
        let headers = |values: &[&[u8]]| -> HeaderMap {
            let value = |value: &&[u8]| (SPACE_HEADER.parse().unwrap(), value.to_vec());
            let values = values.iter().map(value);
            values.map(|(name, value)| (name, value.try_into().unwrap())).collect()
        };
        assert_eq!(named_in(&headers(&[])), Ok(None));
        assert_eq!(named_in(&headers(&[b"acme"])), Ok(Some("acme")));
        assert_eq!(named_in(&headers(&[b"acme", b"anna"])), Err(()));
        assert_eq!(named_in(&headers(&[b"acm\xe9"])), Err(()));
    }

    #[test]
    fn only_one_bearer_token_counts() {
        let headers = |values: &[&'static str]| -> HeaderMap {
            values.iter().map(|value| (AUTHORIZATION, value.parse().unwrap())).collect()
        };
        assert_eq!(bearer(&headers(&["Bearer mem_pat_x"])), Some("mem_pat_x"));
        assert_eq!(bearer(&headers(&["bearer  mem_pat_x "])), Some("mem_pat_x"));
        for wrong in
            [&[][..], &["mem_pat_x"], &["Basic abc"], &["Bearer "], &["Bearer a", "Bearer b"]]
        {
            assert_eq!(bearer(&headers(wrong)), None, "{wrong:?}");
        }
    }
}
