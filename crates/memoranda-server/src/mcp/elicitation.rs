//! Elicitation: sends the questions of a tool to the client, and the answers back to the tool.
//!
//! In revision 2026-07-28 the questions are the result, and the client calls again with the
//! answers and with the state of the tool. In earlier revisions the server asks during the call,
//! if the connection allows it. The tool sees no difference.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::request::Parts;
use memoranda_engine::clock;
use memoranda_tools::{ClientContext, ClientQuestion, FormSupport, SideOutput};
use rmcp::model::{ClientCapabilities, InputRequest, InputRequiredResult, ServerRequest};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::internal_error;

/// Maximum number of rounds of questions in one call.
pub(super) const MAX_ROUNDS: usize = 10;

/// Maximum time for a person to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Answers and state that a request carries after questions.
#[derive(Default)]
pub(super) struct ElicitationAnswers {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) state: Option<String>,
}

impl ElicitationAnswers {
    /// Verifies the state of a request and takes its answers.
    pub(super) fn verify(
        signer: &StateSigner,
        subject: &str,
        answers: Option<BTreeMap<String, Value>>,
        state: Option<&str>,
    ) -> Result<Self, ErrorData> {
        let state = state.map(|state| signer.verify(subject, state)).transpose()?;
        Ok(Self { answers: answers.unwrap_or_default(), state })
    }

    pub(super) fn into_context(self) -> ClientContext {
        ClientContext::resumed(self.answers, self.state)
    }
}

/// Outcome of the questions of a tool.
pub(super) enum ElicitationOutcome {
    /// The client answers with its next request.
    Later(InputRequiredResult),
    /// The client has answered.
    Now(ElicitationAnswers),
    /// This client cannot be asked.
    Never,
}

/// Sends the questions of a tool to the client.
pub(super) async fn elicit(
    context: &RequestContext<RoleServer>,
    signer: &StateSigner,
    subject: &str,
    output: SideOutput,
    sessions: SessionMode,
) -> Result<ElicitationOutcome, ErrorData> {
    let capabilities = context.client_capabilities().unwrap_or_default();
    let (supported, unsupported): (BTreeMap<_, _>, BTreeMap<_, _>) = output
        .questions
        .into_iter()
        .partition(|(_, question)| is_supported(&capabilities, question));
    let handshake = context.protocol_version().is_none_or(|version| version.has_initialize());
    if supported.is_empty() {
        return if handshake {
            Ok(ElicitationOutcome::Never)
        } else {
            Err(missing_capability_error(unsupported.values()))
        };
    }
    if !handshake {
        let mut requests = BTreeMap::new();
        for (name, question) in supported {
            requests.insert(name, parse_request::<InputRequest>(to_request_json(question))?);
        }
        let state = output.state.map(|state| signer.sign(subject, &state));
        return Ok(ElicitationOutcome::Later(InputRequiredResult::new(Some(requests), state)));
    }
    // The connection cannot carry an answer back to the waiting call.
    if is_one_way(context, sessions) {
        return Ok(ElicitationOutcome::Never);
    }
    let mut answers = BTreeMap::new();
    for (name, question) in supported {
        let request = parse_request::<ServerRequest>(to_request_json(question))?;
        let answer = tokio::select! {
            answer = tokio::time::timeout(ANSWER_TIMEOUT, context.peer.send_request(request)) => answer,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("The call was cancelled.", None));
            }
        };
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(internal_error("ask the client", &error)),
            Err(late) => return Err(internal_error("ask the client", &late)),
        };
        let answer = serde_json::to_value(answer)
            .map_err(|error| internal_error("read the client's answer", &error))?;
        answers.insert(name, answer);
    }
    Ok(ElicitationOutcome::Now(ElicitationAnswers { answers, state: output.state }))
}

/// Sessions over HTTP, for clients of the older revisions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum SessionMode {
    /// Every request is independent. A client over HTTP cannot be asked during a call.
    #[default]
    None,
    /// One session for each client that sends `initialize`.
    Kept,
}

/// Returns true if the client receives only responses: over HTTP without a session there is no
/// stream for notifications and requests of the server.
pub(super) fn is_one_way(context: &RequestContext<RoleServer>, sessions: SessionMode) -> bool {
    context.extensions.get::<Parts>().is_some() && sessions == SessionMode::None
}

/// Returns the ability of the client to ask its person during this request.
pub(super) fn form_support(
    context: &RequestContext<RoleServer>,
    sessions: SessionMode,
) -> FormSupport {
    let is_declared = context.client_capabilities().is_some_and(|has| has.elicitation.is_some());
    let is_handshake = context.protocol_version().is_none_or(|version| version.has_initialize());
    if is_declared && !(is_handshake && is_one_way(context, sessions)) {
        FormSupport::Present
    } else {
        FormSupport::Missing
    }
}

fn is_supported(capabilities: &ClientCapabilities, question: &ClientQuestion) -> bool {
    match question {
        ClientQuestion::Form { .. } => capabilities.elicitation.is_some(),
        ClientQuestion::Model { .. } => capabilities.sampling.is_some(),
        ClientQuestion::Folders => capabilities.roots.is_some(),
    }
}

/// Returns the error that names the missing capabilities of the client.
fn missing_capability_error<'a>(questions: impl Iterator<Item = &'a ClientQuestion>) -> ErrorData {
    let mut required = json!({});
    for question in questions {
        let capability = match question {
            ClientQuestion::Form { .. } => "elicitation",
            ClientQuestion::Model { .. } => "sampling",
            ClientQuestion::Folders => "roots",
        };
        required[capability] = json!({});
    }
    match parse_request(required) {
        Ok(required) => ErrorData::missing_required_client_capability(required),
        Err(error) => error,
    }
}

fn to_request_json(question: ClientQuestion) -> Value {
    match question {
        ClientQuestion::Form { message, schema } => json!({
            "method": "elicitation/create",
            "params": { "mode": "form", "message": message, "requestedSchema": schema },
        }),
        ClientQuestion::Model { prompt, max_tokens } => json!({
            "method": "sampling/createMessage",
            "params": {
                "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
                "maxTokens": max_tokens,
            },
        }),
        ClientQuestion::Folders => json!({ "method": "roots/list", "params": {} }),
    }
}

fn parse_request<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| internal_error("put the question", &error))
}

/// Signs the state that a tool keeps at the client, and rejects a state that was changed.
///
/// The key lasts as long as the process. A state of an earlier process is rejected, and the
/// client calls again from the start.
pub(crate) struct StateSigner([u8; 32]);

impl StateSigner {
    pub(crate) fn new() -> Self {
        Self(clock::secret())
    }

    fn sign(&self, subject: &str, state: &str) -> String {
        format!("{}.{state}", self.signature(subject, state))
    }

    fn verify(&self, subject: &str, sealed: &str) -> Result<String, ErrorData> {
        let whole = sealed.split_once('.').and_then(|(signature, state)| {
            let signature = blake3::Hash::from_hex(signature).ok()?;
            // Compared in constant time.
            (signature == self.signature(subject, state)).then(|| state.to_owned())
        });
        whole.ok_or_else(|| {
            let message = "The requestState is not what this server gave; call again without it.";
            ErrorData::invalid_params(message, None)
        })
    }

    /// Returns the signature, which covers the request: a state is valid for one request only.
    fn signature(&self, subject: &str, state: &str) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(subject.len() as u64).to_le_bytes());
        hasher.update(subject.as_bytes()).update(state.as_bytes());
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_back_unchanged_or_not_at_all() {
        let signer = StateSigner::new();
        let sealed = signer.sign("tools/call x {}", "step 2");
        assert_eq!(signer.verify("tools/call x {}", &sealed).unwrap(), "step 2");
        let wrong = [
            ("tools/call y {}", sealed.clone()),
            ("tools/call x {}", format!("{sealed} ")),
            ("tools/call x {}", sealed.replace("step 2", "step 3")),
            ("tools/call x {}", "step 2".into()),
            ("tools/call x {}", ".step 2".into()),
            ("tools/call x {}", StateSigner::new().sign("tools/call x {}", "step 2")),
        ];
        for (subject, sealed) in wrong {
            assert!(signer.verify(subject, &sealed).is_err(), "{sealed}");
        }
    }

    #[test]
    fn the_client_is_told_what_it_would_have_to_be_able_to() {
        let error = missing_capability_error([ClientQuestion::Folders].iter());
        assert_eq!(error.code.0, -32021);
        assert_eq!(error.data, Some(json!({ "requiredCapabilities": { "roots": {} } })));
    }
}
