//! Reads the last questions and answers from the end of a transcript. Formats differ; every message
//! has a role and texts.

use std::path::Path;

use serde_json::Value;

use crate::files;
use crate::hook::brief::{has_brief, without_briefs};

/// Maximum number of bytes that are read, from the end.
const MAX_TAIL_BYTES: u64 = 512 * 1024;
/// Maximum number of bytes in which a brief is searched. Gemini CLI writes a compressed
/// conversation on one line.
const MAX_BRIEF_SEARCH_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of questions.
const MAX_QUESTIONS: usize = 6;
/// Beginning of the summary that Gemini CLI makes of a conversation.
const SNAPSHOT_TAG: &str = "<state_snapshot>";

/// The end of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TranscriptTail {
    /// Last questions of the user, oldest first.
    pub(super) asked: Vec<String>,
    /// Last answer of the model.
    pub(super) answered: Option<String>,
    /// Summary of the last compaction.
    pub(super) summary: Option<String>,
}

/// Reads the end of a transcript; empty if the file does not exist.
pub(super) fn read_tail(path: &Path) -> TranscriptTail {
    match files::tail(path, MAX_TAIL_BYTES) {
        Ok(bytes) => parse_tail(&String::from_utf8_lossy(&bytes)),
        Err(_) => TranscriptTail::default(),
    }
}

/// Returns true if Gemini CLI compressed the conversation and the brief is missing in the rest.
pub(super) fn lost_its_brief(path: &Path) -> bool {
    let Ok(bytes) = files::tail(path, MAX_BRIEF_SEARCH_BYTES) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    // The model gets everything from here on.
    let Some(start) = text.rfind("\n{\"$set\":{\"messages\":") else { return false };
    let given = text.get(start..).unwrap_or_default().trim_start();
    given.lines().next().is_some_and(|kept| kept.contains(SNAPSHOT_TAG)) && !has_brief(given)
}

fn parse_tail(text: &str) -> TranscriptTail {
    let mut reading = TranscriptReader::default();
    // One client wrote a single value, the others write a line a message.
    let whole = serde_json::from_str::<Value>(text).ok();
    let messages = whole.as_ref().and_then(|value| value.get("messages")?.as_array());
    match messages {
        Some(messages) => messages.iter().for_each(|message| reading.take(message)),
        None => {
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.for_each(|line| reading.take(&line));
        }
    }
    let mut ending = reading.ending;
    let surplus = ending.asked.len().saturating_sub(MAX_QUESTIONS);
    ending.asked.drain(..surplus);
    ending
}

/// A transcript as it is read.
#[derive(Default)]
struct TranscriptReader {
    ending: TranscriptTail,
    /// Answer before the last one.
    before: Option<String>,
}

impl TranscriptReader {
    fn take(&mut self, line: &Value) {
        let is_set = |key: &str| line[key] == true;
        if is_set("isMeta") || is_set("isSidechain") || is_set("isCompactSummary") {
            return;
        }
        if let Some(summary) = summary(line) {
            self.compacted(summary);
            return;
        }
        let inner = ["message", "payload"].iter().find_map(|key| line.get(key));
        let inner = inner.filter(|inner| inner.is_object()).unwrap_or(line);
        let role = [&inner["role"], &line["role"], &line["type"]];
        match role.iter().find_map(|role| role.as_str()) {
            Some("user") => {
                let asked = message_text(inner, |text, at| is_typed(inner, text, at));
                self.ending
                    .asked
                    .extend(asked.filter(|text| self.ending.asked.last() != Some(text)));
            }
            // Synthetic answers of Claude Code are ignored.
            Some("assistant" | "gemini" | "model") if inner["model"] != "<synthetic>" => {
                if let Some(text) = message_text(inner, |_, _| true) {
                    self.before = self.ending.answered.replace(text);
                }
            }
            _ => {}
        }
    }

    /// In Codex the model answers with a summary, and Codex repeats it after an introduction.
    fn compacted(&mut self, summary: &str) {
        let answered =
            self.ending.answered.take_if(|answered| summary.ends_with(answered.as_str()));
        if answered.is_some() {
            self.ending.answered = self.before.take();
        }
        self.ending.summary = Some(answered.unwrap_or_else(|| summary.to_owned()));
    }
}

/// Returns the summary in a line.
fn summary(line: &Value) -> Option<&str> {
    let text = match line["type"].as_str() {
        Some("compacted") => line["payload"]["message"].as_str(),
        // Gemini CLI replaces the messages; one of the new messages is the summary.
        _ => {
            let mut kept = line["$set"]["messages"].as_array()?.iter();
            kept.find_map(|message| {
                message["content"][0]["text"].as_str().filter(|text| text.starts_with(SNAPSHOT_TAG))
            })
        }
    };
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the text of a message without tool results and briefs, filtered by part.
fn message_text(message: &Value, is_meant: impl Fn(&str, usize) -> bool) -> Option<String> {
    let content = ["content", "text"].iter().find_map(|key| message.get(key))?;
    let words = |text: &str, at: usize| {
        let text = without_briefs(text);
        let text = text.trim();
        (!text.is_empty() && is_meant(text, at)).then(|| text.to_owned())
    };
    match content {
        Value::String(text) => words(text, 0),
        Value::Array(parts) => {
            let part = |(at, part): (usize, &Value)| match part["type"].as_str() {
                Some("text" | "input_text" | "output_text") | None => {
                    words(part["text"].as_str()?, at)
                }
                Some(_) => None,
            };
            let parts: Vec<String> = parts.iter().enumerate().filter_map(part).collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        _ => None,
    }
}

/// Returns true if the user typed a part of a message. Codex records the origin of each part.
fn is_typed(message: &Value, text: &str, at: usize) -> bool {
    let from = &message["internal_chat_message_metadata_passthrough"]["content_item_metadata"][at];
    match from["provenance"]["type"].as_str() {
        Some(source) => source == "user",
        None => !is_client_tag(text),
    }
}

/// Returns true for text that a client adds in tags, such as `<system-reminder>`.
fn is_client_tag(text: &str) -> bool {
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
        let ending = parse_tail(text);
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
        // Gemini CLI before version 0.60; what later ones write is recorded for the hooks' tests.
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

    #[test]
    fn an_answer_may_begin_with_a_tag() {
        let text = r#"{"role":"user","content":"<details> for a README"}
{"role":"user","content":"Fold it"}
{"role":"assistant","content":[{"type":"text","text":"<details>folded</details>"}]}"#;
        check(text, &["Fold it"], Some("<details>folded</details>"));
    }

    #[test]
    fn a_summary_is_no_answer() {
        let line = |message: &str| {
            format!(r#"{{"type":"compacted","payload":{{"message":"{message}"}}}}"#)
        };
        let said = r#"{"role":"assistant","content":"Done."}
{"role":"assistant","content":"All is done."}
"#;
        for (message, answered, summary) in [
            ("Use this: All is done.", "Done.", Some("All is done.")),
            ("Of another model", "All is done.", Some("Of another model")),
            ("", "All is done.", None),
        ] {
            let ending = parse_tail(&format!("{said}{}", line(message)));
            assert_eq!(ending.answered.as_deref(), Some(answered), "{message}");
            assert_eq!(ending.summary.as_deref(), summary, "{message}");
        }
    }
}
