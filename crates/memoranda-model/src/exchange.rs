//! One question and its answer over HTTP: a deadline for everything, another try after a while
//! where another try can help, and no more bytes than allowed.

use std::time::{Duration, Instant};

use memoranda_engine::ModelError;
use serde_json::Value;

use crate::options::Options;

/// How often one question is sent at the most.
const TRIES: u32 = 3;
/// The pause before the second try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How much of an error's text is passed on.
const MESSAGE_CHARS: usize = 200;

/// Sends JSON and reads JSON.
#[derive(Debug)]
pub(crate) struct Exchange {
    agent: ureq::Agent,
    max_bytes: u64,
}

/// When a call must be over, retries included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Self { at: Instant::now() + limit, limit }
    }

    fn left(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    fn passed(self) -> ModelError {
        ModelError::TimedOut { limit: self.limit }
    }
}

/// What one try came to, if it was no answer.
enum Miss {
    /// Another try would end the same way.
    Final(ModelError),
    /// Another try may help, at the earliest after the time that the server asked for.
    Passing(ModelError, Option<Duration>),
}

impl Exchange {
    pub(crate) fn new(options: &Options) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could carry key and content to somebody else.
            .max_redirects(0)
            // The address that was configured is the one that is called.
            .proxy(None)
            .user_agent(concat!("memoranda/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), max_bytes: options.max_answer_bytes }
    }

    /// Sends a question until there is an answer, or no time or reason for another try.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &Value,
        deadline: Deadline,
    ) -> Result<Value, ModelError> {
        let body = body.to_string();
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let (error, wanted) = match self.attempt(url, headers, &body, deadline) {
                Ok(answer) => return Ok(answer),
                Err(Miss::Final(error)) => return Err(error),
                Err(Miss::Passing(error, wanted)) => (error, wanted),
            };
            let wait = wanted.unwrap_or(pause).max(pause);
            if attempt == TRIES || wait >= deadline.left() {
                return Err(error);
            }
            tracing::debug!(%error, attempt, "the language model is asked again");
            std::thread::sleep(wait);
            pause *= 2;
        }
        Err(deadline.passed())
    }

    fn attempt(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
        deadline: Deadline,
    ) -> Result<Value, Miss> {
        let left = deadline.left();
        if left.is_zero() {
            return Err(Miss::Final(deadline.passed()));
        }
        let mut request = self.agent.post(url).config().timeout_global(Some(left)).build();
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(body).map_err(|e| explain(e, deadline))?;
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let bytes = response.body_mut().with_config().limit(self.max_bytes).read_to_vec();
        let bytes = bytes.map_err(|e| explain(e, deadline))?;
        if !(200..300).contains(&status) {
            let error = ModelError::Refused { status, message: message(&bytes) };
            // Too busy, or broken for a moment; everything else is wrong however often it is sent.
            let passes = matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 529);
            return Err(if passes { Miss::Passing(error, after) } else { Miss::Final(error) });
        }
        serde_json::from_slice(&bytes).map_err(|e| {
            Miss::Final(ModelError::Malformed { reason: format!("it is no JSON ({e})") })
        })
    }
}

fn explain(error: ureq::Error, deadline: Deadline) -> Miss {
    match error {
        ureq::Error::Timeout(_) => Miss::Final(deadline.passed()),
        ureq::Error::BodyExceedsLimit(limit) => Miss::Final(ModelError::TooLarge { limit }),
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
            let message = "it redirects elsewhere, which is not followed".to_owned();
            Miss::Final(ModelError::Refused { status: 302, message })
        }
        // However a connection ended at the deadline, that is what ended it.
        _ if deadline.left().is_zero() => Miss::Final(deadline.passed()),
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => {
            Miss::Final(deadline.passed())
        }
        other => Miss::Passing(ModelError::Unreachable { reason: other.to_string() }, None),
    }
}

/// What an error says, from the usual places, on one line.
fn message(bytes: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
    let said = parsed.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").and_then(Value::as_str).or_else(|| error.as_str())
    });
    let text = said.map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), str::to_owned);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None if line.is_empty() => "without a word".to_owned(),
        None => line,
    }
}
