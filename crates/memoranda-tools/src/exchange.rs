//! What passes between a tool and its client beside arguments and answer: content that is no
//! text, and questions that only the client can answer.
//!
//! A tool that asks is called again with the answers, so it must be able to run from the start
//! each time: it asks for what it needs, and goes on when the answer is there. How the questions
//! reach the client, in which revision of the protocol, is not the tool's to know.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// What passes between a tool and its client beside arguments and answer.
#[derive(Default, Debug)]
pub struct Exchange {
    answers: BTreeMap<String, Value>,
    state: Option<String>,
    said: Mutex<Said>,
}

/// What a tool said beside its answer.
#[derive(Default, Debug)]
pub struct Said {
    /// Content beside the text.
    pub attached: Vec<Content>,
    /// What the client is asked, by name. While there is a question, the answer is none.
    pub questions: BTreeMap<String, Question>,
    /// What the tool wants to be told again when it goes on.
    pub state: Option<String>,
}

/// Content beside the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// A picture, in base64.
    Image {
        /// Its bytes.
        data: String,
        /// Its kind, such as `image/png`.
        mime: String,
    },
    /// A sound, in base64.
    Audio {
        /// Its bytes.
        data: String,
        /// Its kind, such as `audio/wav`.
        mime: String,
    },
    /// A text that has an address of its own.
    Embedded {
        /// Where it is read.
        uri: String,
        /// Its kind, such as `text/markdown`.
        mime: String,
        /// What it holds.
        text: String,
    },
    /// Where more can be read.
    Link {
        /// The address.
        uri: String,
        /// A name for it.
        name: String,
    },
}

/// A question that only the client can answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Question {
    /// The person is asked to fill in a form.
    Form {
        /// What is wanted, and why.
        message: String,
        /// The schema of the form: an object of plain values.
        schema: Value,
    },
    /// The client's model is asked.
    Model {
        /// What it is asked.
        prompt: String,
        /// How long its answer may be.
        max_tokens: u32,
    },
    /// The client is asked in which folders it works.
    Folders,
}

impl Exchange {
    /// Goes on after questions: with the answers, and with what the tool wanted to keep.
    pub fn resumed(answers: BTreeMap<String, Value>, state: Option<String>) -> Self {
        Self { answers, state, said: Mutex::default() }
    }

    /// Adds content beside the text.
    pub fn attach(&self, content: Content) {
        self.with(|said| said.attached.push(content));
    }

    /// The answer to a question. If there is none yet, the client is asked: the tool should
    /// return, and is called again.
    pub fn ask(&self, name: &str, question: Question) -> Option<&Value> {
        let answer = self.answers.get(name).filter(|answer| answer.is_object());
        if answer.is_none() {
            self.with(|said| drop(said.questions.insert(name.to_owned(), question)));
        }
        answer
    }

    /// What the tool kept when it asked.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Keeps a word until the answers come.
    pub fn keep(&self, state: String) {
        self.with(|said| said.state = Some(state));
    }

    /// What was said, once the tool has returned.
    pub fn into_said(self) -> Said {
        self.said.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, change: impl FnOnce(&mut Said)) {
        change(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_asks_until_it_is_answered() {
        let fresh = Exchange::default();
        assert_eq!(fresh.ask("where", Question::Folders), None);
        fresh.keep("half way".into());
        let said = fresh.into_said();
        assert_eq!(said.questions, BTreeMap::from([("where".into(), Question::Folders)]));
        let answers = BTreeMap::from([("where".into(), json!({ "roots": [] }))]);
        let resumed = Exchange::resumed(answers, said.state);
        assert!(resumed.ask("where", Question::Folders).is_some());
        assert_eq!(resumed.state(), Some("half way"));
        // What is no object is no answer.
        let crooked = Exchange::resumed(BTreeMap::from([("where".into(), json!(7))]), None);
        assert_eq!(crooked.ask("where", Question::Folders), None);
        assert!(resumed.into_said().questions.is_empty());
    }
}
