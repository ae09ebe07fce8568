//! Calls the tools of a server over its HTTP API, for commands and hooks.

use std::time::Duration;

use memoranda_store::remote::{RemoteError, RemoteResult};
use serde_json::Value;

/// Maximum time of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// A client of a server's tools.
pub struct ToolClient {
    agent: ureq::Agent,
    /// Address of the server, without a slash at its end.
    server: String,
    token: String,
    /// The only space of the calls; `None` for all spaces of the token.
    space: Option<String>,
}

impl ToolClient {
    /// Makes a client. `name` is how the server's history calls it.
    pub fn new(server: &str, token: &str, space: Option<&str>, name: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(CALL_TIMEOUT))
            .http_status_as_error(false)
            .user_agent(name)
            .build()
            .into();
        Self {
            agent,
            server: server.trim_end_matches('/').to_owned(),
            token: token.to_owned(),
            space: space.map(str::to_owned),
        }
    }

    /// Calls a tool. Returns its answer, `{text, structured, is_error}`; `None` if the server has no
    /// such tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> RemoteResult<Option<Value>> {
        let url = format!("{}/api/tools/{tool}", self.server);
        let mut request = self
            .agent
            .post(&url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        if let Some(space) = &self.space {
            request = request.header("memoranda-space", space);
        }
        let away = |reason: String| RemoteError::Unavailable { reason };
        let response = request.send(arguments.to_string());
        let mut response = response.map_err(|error| away(error.to_string()))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|error| away(error.to_string()))?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let reason = match answer["detail"].as_str() {
            Some(message) => format!("the server answered {status}: {message}"),
            None => format!("the server answered {status}"),
        };
        match status {
            200 => Ok(Some(answer)),
            404 => Ok(None),
            429 | 500.. => Err(away(reason)),
            _ => Err(RemoteError::Refused { reason }),
        }
    }
}
