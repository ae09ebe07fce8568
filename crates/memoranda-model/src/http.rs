//! One request and its response over HTTP: one deadline for all attempts, retries with backoff
//! where a retry can help, and a limit on the size of the response.

use std::time::{Duration, Instant};

use memoranda_engine::ModelError;
use memoranda_engine::core::abbreviate::{abbreviate, join_words};
use serde_json::Value;

use crate::options::EndpointOptions;

/// Maximum number of attempts for one request.
const MAX_ATTEMPTS: u32 = 3;
/// Pause before the second attempt; it doubles before each further one.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(200);
/// Maximum number of characters of an error's text to pass on.
const MAX_MESSAGE_CHARS: usize = 200;

/// Sends JSON and parses JSON.
#[derive(Debug)]
pub(crate) struct HttpClient {
    agent: ureq::Agent,
    max_bytes: u64,
}

/// Time by which a request must be answered, retries included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestDeadline {
    at: Instant,
    limit: Duration,
}

impl RequestDeadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Self { at: Instant::now() + limit, limit }
    }

    fn remaining(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    fn timeout_error(self) -> ModelError {
        ModelError::TimedOut { limit: self.limit }
    }
}

/// Reason why one attempt has no response.
enum AttemptError {
    /// A retry would fail in the same way.
    Permanent(ModelError),
    /// A retry may help, at the earliest after the `Retry-After` time of the server.
    Transient(ModelError, Option<Duration>),
}

impl HttpClient {
    pub(crate) fn new(options: &EndpointOptions) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could send key and content to another server.
            .max_redirects(0)
            // Only the configured address is called.
            .proxy(None)
            .user_agent(concat!("memoranda/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), max_bytes: options.max_answer_bytes }
    }

    /// Sends a request until there is a response, or no time or reason for a retry.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &Value,
        deadline: RequestDeadline,
    ) -> Result<Value, ModelError> {
        let body = body.to_string();
        let mut pause = FIRST_RETRY_DELAY;
        for attempt in 1.. {
            let (error, wanted) = match self.attempt(url, headers, &body, deadline) {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Permanent(error)) => return Err(error),
                Err(AttemptError::Transient(error, wanted)) => (error, wanted),
            };
            let wait = wanted.unwrap_or(pause).max(pause);
            if attempt == MAX_ATTEMPTS || wait >= deadline.remaining() {
                return Err(error);
            }
            tracing::debug!(%error, attempt, "retrying the request to the language model");
            std::thread::sleep(wait);
            pause *= 2;
        }
        Err(deadline.timeout_error())
    }

    fn attempt(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
        deadline: RequestDeadline,
    ) -> Result<Value, AttemptError> {
        let left = deadline.remaining();
        if left.is_zero() {
            return Err(AttemptError::Permanent(deadline.timeout_error()));
        }
        let mut request = self.agent.post(url).config().timeout_global(Some(left)).build();
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(body).map_err(|e| attempt_error(e, deadline))?;
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let bytes = response.body_mut().with_config().limit(self.max_bytes).read_to_vec();
        let bytes = bytes.map_err(|e| attempt_error(e, deadline))?;
        if !(200..300).contains(&status) {
            let error = ModelError::Refused { status, message: error_message(&bytes) };
            // Overloaded or failing for the moment; a retry cannot help with any other status.
            let is_transient = matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 529);
            return Err(if is_transient {
                AttemptError::Transient(error, after)
            } else {
                AttemptError::Permanent(error)
            });
        }
        serde_json::from_slice(&bytes).map_err(|e| {
            AttemptError::Permanent(ModelError::Malformed {
                reason: format!("it is not JSON ({e})"),
            })
        })
    }
}

fn attempt_error(error: ureq::Error, deadline: RequestDeadline) -> AttemptError {
    match error {
        ureq::Error::Timeout(_) => AttemptError::Permanent(deadline.timeout_error()),
        ureq::Error::BodyExceedsLimit(limit) => {
            AttemptError::Permanent(ModelError::TooLarge { limit })
        }
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
            let message = "it redirects elsewhere, which is not followed".to_owned();
            AttemptError::Permanent(ModelError::Refused { status: 302, message })
        }
        // At the deadline the kind of error does not matter.
        _ if deadline.remaining().is_zero() => AttemptError::Permanent(deadline.timeout_error()),
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => {
            AttemptError::Permanent(deadline.timeout_error())
        }
        other => {
            AttemptError::Transient(ModelError::Unreachable { reason: other.to_string() }, None)
        }
    }
}

/// Returns the message of an error response on one line, from the usual JSON fields.
fn error_message(bytes: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
    let found = parsed.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").and_then(Value::as_str).or_else(|| error.as_str())
    });
    let text = found.map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned);
    let line = join_words(&text);
    if line.is_empty() {
        return "without a message".to_owned();
    }
    abbreviate(&line, MAX_MESSAGE_CHARS).into_owned()
}
