//! Secrets in what is to be kept: looked for in everything that a caller sends, and done with as
//! the person wants.

use memoranda_core::secrets;
use serde_json::{Map, Value};

use super::error::{RecordError, Result};
use super::record::NewRecord;
use crate::registry::CallContext;
use crate::settings::SecretPolicy;

/// What goes through here is kept, redacted or refused, all by one word of the person.
pub(super) struct SecretScreen {
    policy: SecretPolicy,
    kinds: Vec<&'static str>,
}

impl SecretScreen {
    pub(super) fn new(call: &CallContext<'_>) -> Self {
        Self { policy: call.settings.secrets, kinds: Vec::new() }
    }

    /// Looks at one text.
    pub(super) fn text(&mut self, text: &mut String) {
        let secrets = secrets::find_secrets(text);
        if secrets.is_empty() {
            return;
        }
        for secret in secrets {
            if !self.kinds.contains(&secret.kind) {
                self.kinds.push(secret.kind);
            }
        }
        if self.policy == SecretPolicy::Redact {
            *text = secrets::redact_all(text);
        }
    }

    pub(super) fn texts(&mut self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    /// Looks at every text in an object, together with its name: `password` says much of a value.
    pub(super) fn object(&mut self, object: &mut Map<String, Value>) {
        for (name, value) in object.iter_mut() {
            self.value(name, value);
        }
    }

    fn value(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                let before = format!("{name}: ");
                let mut named = format!("{before}{text}");
                self.text(&mut named);
                if let Some(screened) = named.strip_prefix(&before) {
                    *text = screened.to_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(name, item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Looks at everything that a new record says.
    pub(super) fn record(&mut self, record: &mut NewRecord) {
        self.text(&mut record.content);
        self.texts(&mut record.tags);
        record.category.iter_mut().for_each(|category| self.text(category));
        record.metadata.iter_mut().for_each(|metadata| self.object(metadata));
    }

    /// What the caller is told; an error if nothing may be kept.
    pub(super) fn finish(self) -> Result<Option<String>> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let kinds = self.kinds.join(", ");
        match self.policy {
            SecretPolicy::Refuse => Err(RecordError::new(format!(
                "This holds what looks like a secret ({kinds}); nothing was stored. Leave it out."
            ))),
            SecretPolicy::Redact => {
                Ok(Some(format!("Replaced what looked like a secret: {kinds}.")))
            }
            SecretPolicy::Warn => Ok(Some(format!(
                "This looks like a secret: {kinds}. It was stored; forget it if it should not be \
                 kept."
            ))),
        }
    }
}
