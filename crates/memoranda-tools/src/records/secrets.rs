//! Screening of input for secrets, by the configured policy.

use memoranda_core::secrets;
use memoranda_engine::records::{NewRecord, RecordChanges};
use serde_json::{Map, Value};

use super::error::{RecordToolError, RecordToolResult};
use crate::registry::CallContext;
use crate::settings::SecretPolicy;

/// Collects the secrets of one call and redacts them if the policy requires it.
pub(crate) struct SecretScreen {
    policy: SecretPolicy,
    kinds: Vec<&'static str>,
}

impl SecretScreen {
    pub(crate) fn new(call: &CallContext<'_>) -> Self {
        Self { policy: call.settings.secrets, kinds: Vec::new() }
    }

    /// Screens one text.
    pub(crate) fn text(&mut self, text: &mut String) {
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

    pub(crate) fn texts(&mut self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    /// Screens every text in an object together with its name, such as `password`.
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

    /// Screens a new record.
    pub(super) fn record(&mut self, record: &mut NewRecord) {
        self.text(&mut record.content);
        self.texts(&mut record.tags);
        record.category.iter_mut().for_each(|category| self.text(category));
        record.metadata.iter_mut().for_each(|metadata| self.object(metadata));
    }

    /// Screens the changes of a record.
    pub(super) fn changes(&mut self, changes: &mut RecordChanges) {
        changes.content.iter_mut().for_each(|content| self.text(content));
        changes.tags.iter_mut().for_each(|tags| self.texts(tags));
        changes.category.iter_mut().flatten().for_each(|category| self.text(category));
        changes.metadata.iter_mut().flatten().for_each(|metadata| self.object(metadata));
    }

    /// Returns the warning for the caller; an error if the policy rejects secrets.
    pub(crate) fn finish(self) -> RecordToolResult<Option<String>> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let kinds = self.kinds.join(", ");
        match self.policy {
            SecretPolicy::Refuse => Err(RecordToolError::new(format!(
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
