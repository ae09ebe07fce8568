//! Asking the client: how a tool's questions reach it, and the answers the tool.
//!
//! In revision 2026-07-28 the questions are the result, and the client calls again with the
//! answers and with what the tool wanted to keep. In the revisions before, the server asks while
//! the call is under way, where the connection can carry that. The tool does not notice.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::request::Parts;
use memoranda_engine::clock;
use memoranda_tools::{ClientContext, ClientQuestion, SideOutput};
use rmcp::model::{ClientCapabilities, InputRequest, InputRequiredResult, ServerRequest};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::failed_beneath;

/// How often a call may ask before it is taken for one that never ends.
pub(super) const ROUNDS: usize = 10;

/// How long a person may take to answer.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// What a request brings along beside its arguments, as it goes on after questions.
#[derive(Default)]
pub(super) struct Resumed {
    pub(super) answers: BTreeMap<String, Value>,
    pub(super) state: Option<String>,
}

impl Resumed {
    /// What a request brought, if what it was told to keep is what it was told.
    pub(super) fn open(
        seal: &Seal,
        about: &str,
        answers: Option<BTreeMap<String, Value>>,
        state: Option<&str>,
    ) -> Result<Self, ErrorData> {
        let state = state.map(|state| seal.open(about, state)).transpose()?;
        Ok(Self { answers: answers.unwrap_or_default(), state })
    }

    pub(super) fn exchange(self) -> ClientContext {
        ClientContext::resumed(self.answers, self.state)
    }
}

/// What became of a tool's questions.
pub(super) enum Asked {
    /// The client answers with its next request.
    Later(InputRequiredResult),
    /// The client has answered.
    Now(Resumed),
    /// This client cannot be asked.
    Never,
}

/// Brings a tool's questions to the client.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    seal: &Seal,
    about: &str,
    said: SideOutput,
    sessions: Sessions,
) -> Result<Asked, ErrorData> {
    let able = context.client_capabilities().unwrap_or_default();
    let (askable, other): (BTreeMap<_, _>, BTreeMap<_, _>) =
        said.questions.into_iter().partition(|(_, question)| can(&able, question));
    let handshake = context.protocol_version().is_none_or(|version| version.has_initialize());
    if askable.is_empty() {
        return if handshake { Ok(Asked::Never) } else { Err(unable(other.values())) };
    }
    if !handshake {
        let mut requests = BTreeMap::new();
        for (name, question) in askable {
            requests.insert(name, read::<InputRequest>(wire(question))?);
        }
        let state = said.state.map(|state| seal.close(about, &state));
        return Ok(Asked::Later(InputRequiredResult::new(Some(requests), state)));
    }
    // Nothing leads an answer back to the call that waits for it.
    if is_one_way(context, sessions) {
        return Ok(Asked::Never);
    }
    let mut answers = BTreeMap::new();
    for (name, question) in askable {
        let request = read::<ServerRequest>(wire(question))?;
        let answer = tokio::select! {
            answer = tokio::time::timeout(PATIENCE, context.peer.send_request(request)) => answer,
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("The call was cancelled.", None));
            }
        };
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(failed_beneath("ask the client", &error)),
            Err(late) => return Err(failed_beneath("ask the client", &late)),
        };
        let answer = serde_json::to_value(answer)
            .map_err(|error| failed_beneath("read the client's answer", &error))?;
        answers.insert(name, answer);
    }
    Ok(Asked::Now(Resumed { answers, state: said.state }))
}

/// Whether HTTP keeps sessions for clients of the revisions that know them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Sessions {
    /// Every request stands for itself. A client over HTTP cannot be asked during a call.
    #[default]
    None,
    /// A session for each client that greets.
    Kept,
}

/// Whether the client hears nothing but answers: over HTTP without a session there is no stream
/// for what the server says of itself, and every request stands alone.
pub(super) fn is_one_way(context: &RequestContext<RoleServer>, sessions: Sessions) -> bool {
    context.extensions.get::<Parts>().is_some() && sessions == Sessions::None
}

fn can(able: &ClientCapabilities, question: &ClientQuestion) -> bool {
    match question {
        ClientQuestion::Form { .. } => able.elicitation.is_some(),
        ClientQuestion::Model { .. } => able.sampling.is_some(),
        ClientQuestion::Folders => able.roots.is_some(),
    }
}

/// The error that names what the client would have to be able to.
fn unable<'a>(questions: impl Iterator<Item = &'a ClientQuestion>) -> ErrorData {
    let mut required = json!({});
    for question in questions {
        let capability = match question {
            ClientQuestion::Form { .. } => "elicitation",
            ClientQuestion::Model { .. } => "sampling",
            ClientQuestion::Folders => "roots",
        };
        required[capability] = json!({});
    }
    match read(required) {
        Ok(required) => ErrorData::missing_required_client_capability(required),
        Err(error) => error,
    }
}

fn wire(question: ClientQuestion) -> Value {
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

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| failed_beneath("put the question", &error))
}

/// Seals what a tool keeps at the client, so that it comes back unchanged or not at all.
///
/// The key lives as long as the process: whoever answers a question of an earlier one is asked
/// again from the start.
pub(crate) struct Seal([u8; 32]);

impl Seal {
    pub(crate) fn new() -> Self {
        Self(clock::secret())
    }

    fn close(&self, about: &str, state: &str) -> String {
        format!("{}.{state}", self.mark(about, state))
    }

    fn open(&self, about: &str, sealed: &str) -> Result<String, ErrorData> {
        let whole = sealed.split_once('.').and_then(|(mark, state)| {
            let mark = blake3::Hash::from_hex(mark).ok()?;
            // Compared in constant time.
            (mark == self.mark(about, state)).then(|| state.to_owned())
        });
        whole.ok_or_else(|| {
            let message = "The requestState is not what this server gave; call again without it.";
            ErrorData::invalid_params(message, None)
        })
    }

    /// Bound to the request, so that no state serves another one.
    fn mark(&self, about: &str, state: &str) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(about.len() as u64).to_le_bytes());
        hasher.update(about.as_bytes()).update(state.as_bytes());
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_comes_back_unchanged_or_not_at_all() {
        let seal = Seal::new();
        let sealed = seal.close("tools/call x {}", "step 2");
        assert_eq!(seal.open("tools/call x {}", &sealed).unwrap(), "step 2");
        let wrong = [
            ("tools/call y {}", sealed.clone()),
            ("tools/call x {}", format!("{sealed} ")),
            ("tools/call x {}", sealed.replace("step 2", "step 3")),
            ("tools/call x {}", "step 2".into()),
            ("tools/call x {}", ".step 2".into()),
            ("tools/call x {}", Seal::new().close("tools/call x {}", "step 2")),
        ];
        for (about, sealed) in wrong {
            assert!(seal.open(about, &sealed).is_err(), "{sealed}");
        }
    }

    #[test]
    fn the_client_is_told_what_it_would_have_to_be_able_to() {
        let error = unable([ClientQuestion::Folders].iter());
        assert_eq!(error.code.0, -32021);
        assert_eq!(error.data, Some(json!({ "requiredCapabilities": { "roots": {} } })));
    }
}
