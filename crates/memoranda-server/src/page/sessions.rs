//! Sessions of the page: one-time codes, and session keys that are derived from the token.
//!
//! A key contains the time of its making and random bytes, and a keyed hash of both. The hash key
//! is derived from the server's token, so that a restart ends no session, and a new token ends all.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use memoranda_engine::clock;

use crate::config::BearerToken;
use crate::http_error::HttpError;

/// Time in which a one-time code can be used.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(60);
/// Time for which a used or expired code is remembered, so that its second use has a clear answer.
const CODE_MEMORY: Duration = Duration::from_secs(3600);
/// Maximum number of remembered codes.
const MAX_CODES: usize = 256;
/// Maximum age of a session, in seconds.
const SESSION_SECONDS: i64 = 30 * 24 * 3600;
/// Start of every session key, by which people and scanners recognise one.
const SESSION_PREFIX: &str = "memoranda_page_";
/// Context of the key derivation.
const KEY_CONTEXT: &str = "memoranda 2026-11 page session";

/// Issues codes and checks session keys.
pub(crate) struct PageSessions {
    key: [u8; 32],
    token: Option<BearerToken>,
    codes: Mutex<Vec<OneTimeCode>>,
}

struct OneTimeCode {
    text: String,
    issued: Instant,
    is_used: bool,
}

impl PageSessions {
    /// Derives the session key from the token. Without a token, sessions end with the process.
    pub(crate) fn new(token: Option<BearerToken>) -> Self {
        let key = match &token {
            Some(token) => blake3::derive_key(KEY_CONTEXT, token.secret_bytes()),
            None => clock::secret(),
        };
        Self { key, token, codes: Mutex::default() }
    }

    /// Issues a one-time code of 128 random bits.
    pub(crate) fn issue_code(&self) -> String {
        let text = hex(clock::secret().get(..16).unwrap_or_default());
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.issued.elapsed() < CODE_MEMORY);
        if codes.len() >= MAX_CODES {
            codes.remove(0);
        }
        codes.push(OneTimeCode { text: text.clone(), issued: Instant::now(), is_used: false });
        text
    }

    /// Exchanges a code for a session key. A code works once.
    pub(crate) fn redeem_code(&self, sent: &str) -> Result<String, HttpError> {
        let refuse = |code, message: &str| {
            Err(HttpError::coded(StatusCode::FORBIDDEN, code, message.to_owned()))
        };
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(code) = codes.iter_mut().find(|code| code.text == sent) else {
            return refuse(
                "code-unknown",
                "This link is not known here: `memoranda open` makes a new one.",
            );
        };
        if code.is_used {
            return refuse(
                "code-used",
                "This link was used before. If that was not you, somebody else has opened the \
                 page: delete the token file and restart the server. `memoranda open` makes a \
                 new link.",
            );
        }
        if code.issued.elapsed() > CODE_LIFETIME {
            return refuse(
                "code-expired",
                "This link is too old: `memoranda open` makes a new one.",
            );
        }
        code.is_used = true;
        Ok(self.new_session())
    }

    /// Exchanges the server's token for a session key.
    pub(crate) fn redeem_token(&self, sent: &str) -> Result<String, HttpError> {
        if self.token.as_ref().is_some_and(|token| token.matches(sent.trim().as_bytes())) {
            return Ok(self.new_session());
        }
        let message = "This is not the token of this server: `memoranda token` prints it.";
        Err(HttpError::coded(StatusCode::FORBIDDEN, "wrong-token", message))
    }

    /// Returns true if `sent` is a session key of this server that has not expired.
    pub(crate) fn is_valid(&self, sent: &str) -> bool {
        self.is_valid_at(sent, clock::now().as_second())
    }

    fn is_valid_at(&self, sent: &str, now: i64) -> bool {
        let Some(rest) = sent.strip_prefix(SESSION_PREFIX) else { return false };
        let Some((id, mac)) = rest.split_once('.') else { return false };
        let Ok(sent_mac) = blake3::Hash::from_hex(mac) else { return false };
        // The comparison of hashes takes constant time.
        if blake3::keyed_hash(&self.key, id.as_bytes()) != sent_mac {
            return false;
        }
        let made = id.get(..16).and_then(|time| i64::from_str_radix(time, 16).ok());
        made.is_some_and(|made| now - made <= SESSION_SECONDS && made <= now + 3600)
    }

    fn new_session(&self) -> String {
        let random = clock::secret();
        let id = format!(
            "{:016x}{}",
            clock::now().as_second(),
            hex(random.get(..16).unwrap_or_default())
        );
        let mac = blake3::keyed_hash(&self.key, id.as_bytes());
        format!("{SESSION_PREFIX}{id}.{}", mac.to_hex())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(token: &str) -> PageSessions {
        PageSessions::new(Some(BearerToken::parse(token).unwrap()))
    }

    #[test]
    fn a_code_has_128_bits_and_works_once() {
        let sessions = sessions("correct-horse-battery");
        let (code, other) = (sessions.issue_code(), sessions.issue_code());
        assert!(code.len() == 32 && code != other);
        let key = sessions.redeem_code(&code).unwrap();
        assert!(sessions.is_valid(&key));
        assert_eq!(sessions.redeem_code(&code).unwrap_err().code, "code-used");
        assert_eq!(sessions.redeem_code("").unwrap_err().code, "code-unknown");
        assert!(sessions.redeem_code(&other).is_ok());
    }

    #[test]
    fn a_session_outlives_the_server_and_ends_with_its_token() {
        let key = sessions("correct-horse-battery").redeem_token("correct-horse-battery").unwrap();
        assert!(sessions("correct-horse-battery").is_valid(&key));
        assert!(!sessions("another-horse-battery").is_valid(&key));
        let now = clock::now().as_second();
        assert!(!sessions("correct-horse-battery").is_valid_at(&key, now + SESSION_SECONDS + 9));
        for bad in ["", "x", SESSION_PREFIX, &key[1..], &format!("{key}0"), &key.replace('.', "")] {
            assert!(!sessions("correct-horse-battery").is_valid(bad), "{bad}");
        }
    }

    #[test]
    fn only_the_token_is_a_token() {
        let sessions = sessions("correct-horse-battery");
        for bad in ["", "correct-horse", "correct-horse-batteryx"] {
            assert_eq!(sessions.redeem_token(bad).unwrap_err().code, "wrong-token", "{bad}");
        }
        assert!(PageSessions::new(None).redeem_token("").is_err());
    }
}
