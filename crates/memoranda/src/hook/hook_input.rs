//! What a client tells a hook. Harnesses differ in names; what is missing is missing.

use std::path::PathBuf;

use serde_json::Value;

/// What was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HookInput {
    /// The conversation.
    pub(super) session: String,
    /// The folder that is worked in.
    pub(super) folder: Option<PathBuf>,
    /// Where the conversation is written down.
    pub(super) transcript: Option<PathBuf>,
    /// Why it begins, ends or is compacted.
    pub(super) reason: Option<String>,
    /// What the person asks.
    pub(super) prompt: Option<String>,
    /// What the client made of the conversation.
    pub(super) summary: Option<String>,
    /// What the model said last.
    pub(super) answer: Option<String>,
}

impl HookInput {
    /// Reads it; `None` if it is no JSON object.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value: Value = serde_json::from_slice(bytes).ok()?;
        value.as_object()?;
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| value.get(name).and_then(Value::as_str));
            found.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        let root = value.get("workspace_roots").and_then(|roots| roots.get(0)?.as_str());
        Some(Self {
            session: text(&["session_id", "sessionId", "conversation_id"]).unwrap_or_default(),
            folder: root.map(str::to_owned).or_else(|| text(&["cwd"])).map(PathBuf::from),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            reason: text(&["source", "trigger", "reason"]),
            prompt: text(&["prompt"]),
            summary: text(&["compact_summary", "compactSummary"]),
            answer: text(&["last_assistant_message", "prompt_response"]),
        })
    }

    /// Whether the conversation goes on: after something was cut out of it, after a pause, or
    /// under another name.
    pub(super) fn is_continued(&self) -> bool {
        matches!(self.reason.as_deref(), Some("compact" | "resume" | "fork"))
    }
}
