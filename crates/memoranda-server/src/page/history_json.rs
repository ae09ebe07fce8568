//! JSON of commits and differences.

use memoranda_engine::core::change::{Commit, CommitKind};
use memoranda_engine::core::word_diff::{WordDiffHunk, WordDiffLine, word_diff};
use memoranda_engine::{AgentIdentity, FileDiff, LedgerEntry, LedgerFile};
use serde_json::{Value, json};

/// Maximum number of bytes of a text that is compared.
const MAX_DIFF_BYTES: usize = 4 << 20;
/// Number of context lines of a difference.
const CONTEXT_LINES: usize = 3;

/// Returns an agent.
pub(super) fn agent_json(agent: &AgentIdentity) -> Value {
    json!({ "key": agent.key, "name": agent.name })
}

/// Returns the kind of a commit.
pub(super) fn kind_name(commit: &Commit) -> &'static str {
    commit.kind.map_or("write", CommitKind::as_str)
}

/// Returns an entry of the ledger.
pub(super) fn entry_json(entry: &LedgerEntry) -> Value {
    let commit = &entry.commit;
    let can_undo = entry.why_not.is_none();
    json!({
        "commit": commit.id.as_str(),
        "time": commit.time.to_string(),
        "agent": agent_json(&entry.agent),
        "account": commit.author.details.account,
        "token": commit.author.details.token,
        "client": commit.author.client,
        "tool": commit.author.tool,
        "channel": commit.author.channel.as_str(),
        "kind": kind_name(commit),
        "message": commit.message,
        "conversation": entry.conversation,
        "sentence": entry.sentence,
        "label": entry.label,
        "line": entry.line,
        "files": entry.files.iter().map(file_json).collect::<Vec<_>>(),
        "file_count": entry.file_count,
        "undone": entry.undone_by.is_some(),
        "undone_by": entry.undone_by.map(|id| id.to_string()),
        "can_undo": can_undo,
        "why_not": entry.why_not,
        "target": commit.kind.and_then(CommitKind::target).map(|id| id.to_string()),
    })
}

/// Returns a file of an entry.
pub(super) fn file_json(file: &LedgerFile) -> Value {
    json!({
        "project": file.place.project.as_str(),
        "path": file.place.path.as_str(),
        "title": file.title,
        "action": file.action,
        "moved_from": file.moved_from.as_ref().map(|place| place.path.to_string()),
        "exists": file.file.is_some(),
        "map_id": file.file,
    })
}

/// Returns the difference of one file, by lines and words.
pub(super) fn diff_json(diff: &FileDiff, title: &str) -> Value {
    let texts = [&diff.before, &diff.after];
    let is_too_large =
        texts.iter().any(|text| text.as_ref().map_or(0, String::len) > MAX_DIFF_BYTES);
    let is_binary = texts.iter().any(|text| text.as_ref().is_some_and(|text| text.contains('\0')));
    let action = match (&diff.before, &diff.after) {
        (None, _) => "added",
        (Some(_), None) => "deleted",
        (Some(_), Some(_)) if diff.moved_from.is_some() => "moved",
        (Some(_), Some(_)) => "changed",
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let hunks = if is_too_large || is_binary {
        Vec::new()
    } else {
        word_diff(&text(&diff.before), &text(&diff.after), CONTEXT_LINES)
    };
    let (mut added, mut removed) = (0, 0);
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        added += usize::from(line.before.is_none());
        removed += usize::from(line.after.is_none());
    }
    json!({
        "project": diff.place.project.as_str(),
        "path": diff.place.path.as_str(),
        "title": title,
        "moved_from": diff.moved_from.as_ref().map(|place| place.path.to_string()),
        "action": action,
        "hunks": hunks_json(&hunks),
        "added": added,
        "removed": removed,
        "binary": is_binary,
        "too_large": is_too_large,
    })
}

/// Returns the hunks of a difference.
pub(super) fn hunks_json(hunks: &[WordDiffHunk]) -> Vec<Value> {
    let hunk = |hunk: &WordDiffHunk| {
        json!({
            "before": [hunk.before.start + 1, hunk.before.len()],
            "after": [hunk.after.start + 1, hunk.after.len()],
            "lines": hunk.lines.iter().map(line_json).collect::<Vec<_>>(),
        })
    };
    hunks.iter().map(hunk).collect()
}

fn line_json(line: &WordDiffLine) -> Value {
    let kind = match (line.before, line.after) {
        (Some(_), Some(_)) => "kept",
        (Some(_), None) => "removed",
        (None, _) => "added",
    };
    let words = line.words.iter().filter(|word| !word.text.is_empty());
    let words = words.map(|word| json!({ "text": word.text, "changed": word.is_changed }));
    json!({
        "kind": kind,
        "before": line.before,
        "after": line.after,
        "words": words.collect::<Vec<_>>(),
    })
}
