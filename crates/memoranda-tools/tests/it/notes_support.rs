//! A vault for the notes tools, and helpers to inspect their results.

use memoranda_tools::{ToolResult, Wording};
use serde_json::{Value, json};

use crate::support::TestVault;

/// A vault for notes.
pub(crate) struct Notes(pub(crate) TestVault);

impl Notes {
    pub(crate) fn new() -> Self {
        Self(TestVault::new(Wording::Mcp))
    }

    /// Calls a tool, which must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> ToolResult {
        let result = self.0.call(tool, &arguments);
        assert!(!result.is_error, "{tool} {arguments}: {}", result.text);
        result
    }

    /// Calls a tool, which must refuse with this code.
    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value, code: &str) -> ToolResult {
        let result = self.0.call(tool, &arguments);
        assert!(result.is_error, "{tool} {arguments}: {}", result.text);
        assert_eq!(result.structured["error"], json!(code), "{}", result.text);
        assert_eq!(result.structured["is_error"], json!(true));
        result
    }

    /// Writes a note.
    #[track_caller]
    pub(crate) fn write(&self, directory: &str, title: &str, content: &str) -> ToolResult {
        let arguments = json!({ "title": title, "directory": directory, "content": content });
        self.ok("write_note", arguments)
    }

    /// A file as a person left it, known to the vault.
    pub(crate) fn person(&self, place: &str, text: &str) {
        let path = self.0.path(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self.0.memory.sync(&mut |_| {}).unwrap();
    }

    /// A file as it is on disk.
    #[track_caller]
    pub(crate) fn file(&self, place: &str) -> String {
        std::fs::read_to_string(self.0.path(place)).unwrap()
    }
}

/// A text with what differs from run to run taken out: commits, checksums, times.
pub(crate) fn stable(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut line = line.to_owned();
        for (mark, name) in [
            ("commit: ", "COMMIT"),
            ("checksum: ", "CHECKSUM"),
            ("undo ", "COMMIT"),
            ("relevance: ", "RELEVANCE"),
            ("score: ", "SCORE"),
        ] {
            if let Some(at) = line.find(mark) {
                let start = at + mark.len();
                let end =
                    line[start..].find([' ', '\n', '`', ')']).map_or(line.len(), |n| start + n);
                line.replace_range(start..end, name);
            }
        }
        out.push_str(&without_times(&line));
    }
    out
}

/// A line with `TIME` for every moment in it.
fn without_times(line: &str) -> String {
    let is_time =
        |word: &str| word.len() > 19 && word.as_bytes()[10] == b'T' && word.ends_with('Z');
    let mut out = String::new();
    for word in line.split_inclusive([' ', ')', '\n']) {
        let bare = word.trim_end_matches([' ', ')', '\n']);
        if is_time(bare) { out.push_str(&word.replace(bare, "TIME")) } else { out.push_str(word) }
    }
    out
}

/// A structure with what differs from run to run taken out.
pub(crate) fn stable_json(value: &Value) -> Value {
    match value {
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| {
                    let named = match key.as_str() {
                        "commit" | "checksum" | "relevance" | "score" if !value.is_null() => {
                            json!(key.to_uppercase())
                        }
                        "created_at" | "updated_at" | "generated_at" | "since"
                            if !value.is_null() =>
                        {
                            json!("TIME")
                        }
                        _ => stable_json(value),
                    };
                    (key.clone(), named)
                })
                .collect(),
        ),
        Value::Array(items) => items.iter().map(stable_json).collect(),
        other => other.clone(),
    }
}
