//! Input of a hook. Field names differ between clients; all fields are optional.

use std::path::PathBuf;

use serde_json::Value;

/// Input of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HookInput {
    /// Id of the conversation.
    pub(super) session: String,
    /// Workspace.
    pub(super) folder: Option<PathBuf>,
    /// Path of the transcript.
    pub(super) transcript: Option<PathBuf>,
    /// Reason of the event.
    pub(super) reason: Option<String>,
    /// Question of the user.
    pub(super) prompt: Option<String>,
    /// Summary made by the client.
    pub(super) summary: Option<String>,
    /// Last answer of the model.
    pub(super) answer: Option<String>,
}

impl HookInput {
    /// Parses the input; `None` if it is not a JSON object.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let value: Value = serde_json::from_slice(bytes).ok()?;
        value.as_object()?;
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| value.get(name).and_then(Value::as_str));
            found.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        let roots = ["workspace_roots", "workspaceRoots"].iter().find_map(|name| value.get(name));
        let root = roots.and_then(|roots| roots.get(0)?.as_str());
        // Windsurf and Cline have the fields of an event in an object of its own.
        let inner = |object: &str, name: &str| {
            let found = value.get(object)?.get(name)?.as_str()?;
            (!found.trim().is_empty()).then(|| found.to_owned())
        };
        Some(Self {
            session: text(&[
                "session_id",
                "sessionId",
                "conversation_id",
                "trajectory_id",
                "taskId",
            ])
            .unwrap_or_default(),
            folder: root.map(str::to_owned).or_else(|| text(&["cwd"])).map(PathBuf::from),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            reason: text(&["source", "trigger", "reason"]),
            prompt: text(&["prompt"])
                .or_else(|| inner("tool_info", "user_prompt"))
                .or_else(|| inner("userPromptSubmit", "prompt")),
            summary: text(&["compact_summary", "compactSummary"]),
            answer: text(&["last_assistant_message", "prompt_response"])
                .or_else(|| inner("tool_info", "response")),
        })
    }

    /// Returns true if the conversation continues after compaction, a pause or a fork.
    pub(super) fn is_continued(&self) -> bool {
        matches!(self.reason.as_deref(), Some("compact" | "resume" | "fork"))
    }
}
