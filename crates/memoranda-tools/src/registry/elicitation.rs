//! Exchange between a tool and its client besides arguments and result: non-text content, and
//! questions to the client (elicitation, sampling, roots).
//!
//! A tool that asks is called again with the answers. It therefore runs from the start each time,
//! asks for what it needs, and continues once the answer is there. The transport decides how
//! questions reach the client.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// Field of a form by which a person agrees.
const CONFIRM: &str = "confirm";

/// The client of a call: receives content besides the text, and answers questions.
#[derive(Default, Debug)]
pub struct ClientContext {
    answers: BTreeMap<String, Value>,
    state: Option<String>,
    forms: FormSupport,
    output: Mutex<SideOutput>,
}

/// Ability of a client to ask its person.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum FormSupport {
    /// The client cannot ask, or cannot return the answer.
    #[default]
    Missing,
    /// The client shows forms.
    Present,
}

/// Answer of a person to a request for confirmation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confirmation {
    /// The person agreed, or the client cannot ask.
    Granted,
    /// The person declined.
    Declined,
    /// The person is being asked: the tool returns, and is called again with the answer.
    Pending,
}

/// Output of a tool besides its result.
#[derive(Default, Debug)]
pub struct SideOutput {
    /// Content besides the text.
    pub attached: Vec<SideContent>,
    /// Questions to the client, by name. If non-empty, the tool result is discarded and the client
    /// is asked.
    pub questions: BTreeMap<String, ClientQuestion>,
    /// State that is returned to the tool together with the answers.
    pub state: Option<String>,
}

/// Content of a result besides its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SideContent {
    /// An image in base64.
    Image {
        /// The bytes.
        data: String,
        /// MIME type, such as `image/png`.
        mime: String,
    },
    /// Audio in base64.
    Audio {
        /// The bytes.
        data: String,
        /// MIME type, such as `audio/wav`.
        mime: String,
    },
    /// A text resource.
    Embedded {
        /// Address of the resource.
        uri: String,
        /// MIME type, such as `text/markdown`.
        mime: String,
        /// Content of the resource.
        text: String,
    },
    /// A link to a resource.
    Link {
        /// The address.
        uri: String,
        /// Name of the link.
        name: String,
    },
}

/// A question to the client.
#[derive(Clone, PartialEq, Debug)]
pub enum ClientQuestion {
    /// Asks the person to fill in a form (elicitation).
    Form {
        /// Request shown to the person.
        message: String,
        /// JSON schema of the form: an object of plain values.
        schema: Value,
    },
    /// Asks the client's model (sampling).
    Model {
        /// Prompt for the model.
        prompt: String,
        /// Maximum length of the answer in tokens.
        max_tokens: u32,
    },
    /// Asks the client for its workspace folders (roots).
    Folders,
}

impl ClientContext {
    /// Continues after questions with the answers and the kept state.
    pub fn resumed(answers: BTreeMap<String, Value>, state: Option<String>) -> Self {
        Self { answers, state, forms: FormSupport::Missing, output: Mutex::default() }
    }

    /// Sets the ability of the client to ask its person.
    #[must_use]
    pub fn with_forms(self, forms: FormSupport) -> Self {
        Self { forms, ..self }
    }

    /// Asks the person to confirm, if the client can ask.
    pub fn confirm(&self, name: &str, message: &str) -> Confirmation {
        if self.forms == FormSupport::Missing {
            return Confirmation::Granted;
        }
        let schema = json!({
            "type": "object",
            "properties": { CONFIRM: { "type": "boolean", "title": "Yes, do it" } },
            "required": [CONFIRM],
        });
        let message = message.to_owned();
        match self.ask(name, ClientQuestion::Form { message, schema }) {
            None => Confirmation::Pending,
            Some(answer) if answer["action"] == "accept" && answer["content"][CONFIRM] == true => {
                Confirmation::Granted
            }
            Some(_) => Confirmation::Declined,
        }
    }

    /// Adds content besides the text.
    pub fn attach(&self, content: SideContent) {
        self.with(|output| output.attached.push(content));
    }

    /// Returns the answer to a question. `None` if the client has to be asked first: the tool
    /// returns, and is called again with the answer.
    pub fn ask(&self, name: &str, question: ClientQuestion) -> Option<&Value> {
        let answer = self.answers.get(name).filter(|answer| answer.is_object());
        if answer.is_none() {
            self.with(|output| drop(output.questions.insert(name.to_owned(), question)));
        }
        answer
    }

    /// Returns the state that the tool kept when it asked.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Keeps state until the answers arrive.
    pub fn keep(&self, state: String) {
        self.with(|output| output.state = Some(state));
    }

    /// Returns the collected output after the tool has returned.
    pub fn into_side_output(self) -> SideOutput {
        self.output.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut SideOutput)) {
        change(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_confirms_if_the_client_can_ask() {
        let ask = |context: ClientContext| context.confirm("purge", "Purge?");
        assert_eq!(ask(ClientContext::default()), Confirmation::Granted);
        let present =
            |answers| ClientContext::resumed(answers, None).with_forms(FormSupport::Present);
        assert_eq!(ask(present(BTreeMap::new())), Confirmation::Pending);
        for (answer, expected) in [
            (json!({ "action": "accept", "content": { "confirm": true } }), Confirmation::Granted),
            (
                json!({ "action": "accept", "content": { "confirm": false } }),
                Confirmation::Declined,
            ),
            (json!({ "action": "accept" }), Confirmation::Declined),
            (json!({ "action": "decline" }), Confirmation::Declined),
            (json!({ "action": "cancel" }), Confirmation::Declined),
        ] {
            let answers = BTreeMap::from([("purge".to_owned(), answer.clone())]);
            assert_eq!(ask(present(answers)), expected, "{answer}");
        }
    }

    #[test]
    fn a_tool_asks_until_the_client_answers() {
        let fresh = ClientContext::default();
        assert_eq!(fresh.ask("where", ClientQuestion::Folders), None);
        fresh.keep("half way".into());
        let said = fresh.into_side_output();
        assert_eq!(said.questions, BTreeMap::from([("where".into(), ClientQuestion::Folders)]));
        let answers = BTreeMap::from([("where".into(), json!({ "roots": [] }))]);
        let resumed = ClientContext::resumed(answers, said.state);
        assert!(resumed.ask("where", ClientQuestion::Folders).is_some());
        assert_eq!(resumed.state(), Some("half way"));
        // Only an object is an answer.
        let crooked = ClientContext::resumed(BTreeMap::from([("where".into(), json!(7))]), None);
        assert_eq!(crooked.ask("where", ClientQuestion::Folders), None);
        assert!(resumed.into_side_output().questions.is_empty());
    }
}
