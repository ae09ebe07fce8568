//! What was asked and answered last, read from the end of a transcript. Every client writes its
//! own; what is common is that a message has a role and texts.

use std::path::Path;

use serde_json::Value;

use crate::files;
use crate::hook::brief::without_briefs;

/// So much of the end is read.
const TAIL: u64 = 512 * 1024;
/// So many questions are kept.
const QUESTIONS: usize = 6;

/// The end of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    /// What the person asked last, the oldest first.
    pub(super) asked: Vec<String>,
    /// What the model said last.
    pub(super) answered: Option<String>,
}

/// Reads the end of a transcript; nothing if there is none.
pub(super) fn ending(path: &Path) -> Ending {
    match files::tail(path, TAIL) {
        Ok(bytes) => of_text(&String::from_utf8_lossy(&bytes)),
        Err(_) => Ending::default(),
    }
}

fn of_text(text: &str) -> Ending {
    let mut ending = Ending::default();
    // One client writes a single value, the others a line a message.
    let whole = serde_json::from_str::<Value>(text).ok();
    let messages = whole.as_ref().and_then(|value| value.get("messages")?.as_array());
    match messages {
        Some(messages) => messages.iter().for_each(|message| ending.take(message)),
        None => {
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.for_each(|message| ending.take(&message));
        }
    }
    let surplus = ending.asked.len().saturating_sub(QUESTIONS);
    ending.asked.drain(..surplus);
    ending
}

impl Ending {
    fn take(&mut self, message: &Value) {
        if message["isMeta"] == true || message["isSidechain"] == true {
            return;
        }
        let inner = ["message", "payload"].iter().find_map(|key| message.get(key));
        let inner = inner.filter(|inner| inner.is_object()).unwrap_or(message);
        let role = [&inner["role"], &message["role"], &message["type"]];
        let Some(role) = role.iter().find_map(|role| role.as_str()) else { return };
        let Some(text) = said(inner) else { return };
        match role {
            "user" if self.asked.last() != Some(&text) => self.asked.push(text),
            "assistant" | "gemini" | "model" => self.answered = Some(text),
            _ => {}
        }
    }
}

/// The words of a message: no results of tools, nothing that a program put in.
fn said(message: &Value) -> Option<String> {
    let content = ["content", "text"].iter().find_map(|key| message.get(key))?;
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let part = |part: &Value| match part["type"].as_str() {
                Some("text" | "input_text" | "output_text") | None => {
                    part["text"].as_str().filter(|text| !is_put_in(text)).map(str::to_owned)
                }
                Some(_) => None,
            };
            parts.iter().filter_map(part).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let text = without_briefs(&text);
    let text = text.trim();
    (!text.is_empty() && !is_put_in(text)).then(|| text.to_owned())
}

/// What a client adds by itself stands in tags, such as `<system-reminder>`.
fn is_put_in(text: &str) -> bool {
    let text = text.trim_start();
    let Some(tag) = text.strip_prefix('<').and_then(|rest| rest.split(['>', ' ']).next()) else {
        return false;
    };
    tag.len() > 2 && tag.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, asked: &[&str], answered: Option<&str>) {
        let ending = of_text(text);
        assert_eq!(ending.asked, asked);
        assert_eq!(ending.answered.as_deref(), answered);
    }

    #[test]
    fn every_client_s_transcript_is_understood() {
        // Claude Code.
        check(
            r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"<local-command>"}}
{"type":"user","message":{"role":"user","content":"Add a cart"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."},{"type":"tool_use","name":"Edit"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"ok"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"Now test it"}]}}
{"half a line"#,
            &["Add a cart", "Now test it"],
            Some("Done."),
        );
        // Codex.
        check(
            r#"{"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because."}]}}"#,
            &["Why?"],
            Some("Because."),
        );
        // Gemini CLI.
        check(
            r#"{"sessionId":"x","messages":[{"type":"user","content":"Hello"},{"type":"gemini","content":"Hi"},{"type":"info","content":"note"}]}"#,
            &["Hello"],
            Some("Hi"),
        );
        // Cursor.
        check(
            r#"{"role":"user","message":{"content":[{"type":"text","text":"Fix it"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Fixed"}]}}"#,
            &["Fix it"],
            Some("Fixed"),
        );
        check("not JSON at all", &[], None);
    }

    #[test]
    fn our_own_words_are_not_taken() {
        let text = r#"{"type":"user","message":{"role":"user","content":"<memoranda-brief>\nold\n</memoranda-brief>\nGo on"}}"#;
        check(text, &["Go on"], None);
    }
}
