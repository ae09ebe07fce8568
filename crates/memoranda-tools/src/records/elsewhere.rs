//! The part of an answer behind the records: memories of other interfaces and repositories, each
//! with its place.

use memoranda_core::id::ProjectName;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::MIN_RELEVANCE;
use memoranda_engine::records::{
    ActiveMemory, ActiveMemorySearch, RecordScope, VisibleScopes, search_active_memories,
    single_line,
};
use memoranda_engine::task_context::{ELSEWHERE_CHARS, MAX_ELSEWHERE, OtherRepositories};
use serde_json::{Value, json};

use super::arguments;
use super::error::RecordToolResult;
use super::render::kind_label;
use crate::registry::{CallContext, ToolArgs};

/// Heading of the memories besides the records.
const HEADING: &str = "## Elsewhere in Memory";

/// Returns the records of other repositories that a call may find.
pub(super) fn other_repositories(args: &ToolArgs) -> RecordToolResult<OtherRepositories> {
    let is_named = arguments::named_scope(args)?.is_some();
    Ok(if is_named { OtherRepositories::LeftOut } else { OtherRepositories::Included })
}

/// Returns the only project that this server may read; `None` for all.
pub(super) fn only_project(call: &CallContext<'_>) -> RecordToolResult<Option<ProjectName>> {
    let only = call.settings.notes.only_project.as_deref();
    let only = only.map(|only| call.memory.project(only)).transpose();
    Ok(only?.map(|project| project.name))
}

/// Memories besides the records, as lines and as structures.
#[derive(Default)]
pub(super) struct ElsewhereSection {
    lines: Vec<String>,
    pub(super) items: Vec<Value>,
    /// True if notes were not looked for by their meaning, because the vectors are not loaded yet.
    pub(super) is_by_words_alone: bool,
}

impl ElsewhereSection {
    /// Searches the memories that this server may read, besides the visible records.
    pub(super) fn search(
        call: &CallContext<'_>,
        visible: &VisibleScopes,
        others: OtherRepositories,
        query: &str,
        limit: usize,
    ) -> RecordToolResult<Self> {
        let only = only_project(call)?;
        let mut found = search_active_memories(
            call.memory,
            &ActiveMemorySearch {
                known: Some(visible),
                query,
                limit: limit.min(MAX_ELSEWHERE),
                only: only.as_ref(),
                now: &call.settings.records.now(),
                min_relevance: MIN_RELEVANCE,
                snippet_chars: ELSEWHERE_CHARS,
            },
        )?;
        if others == OtherRepositories::LeftOut {
            found.memories.retain(|other| other.record.is_none());
        }
        let is_by_words_alone = found.is_by_words_alone;
        Ok(Self { is_by_words_alone, ..Self::new(&found.memories) })
    }

    /// Renders memories.
    pub(super) fn new(found: &[ActiveMemory]) -> Self {
        Self {
            lines: found.iter().map(memory_line).collect(),
            items: found.iter().map(memory_json).collect(),
            is_by_words_alone: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes the last memories that exceed a number of tokens as lines or as structures. Returns the
    /// number of removed ones.
    pub(super) fn cut_to(&mut self, mut tokens: usize) -> usize {
        let total = self.lines.len();
        let fitting = self.lines.iter().zip(&self.items).take_while(|(line, item)| {
            let cost = estimate_tokens(line).max(estimate_tokens(&item.to_string()) + 1);
            let fits = cost <= tokens;
            tokens = tokens.saturating_sub(cost);
            fits
        });
        let kept = fitting.count();
        self.lines.truncate(kept);
        self.items.truncate(kept);
        total - kept
    }

    /// Removes the last memory. Returns false if nothing is left.
    pub(super) fn pop(&mut self) -> bool {
        self.lines.pop();
        self.items.pop().is_some()
    }

    /// Returns the tokens of the section, of the longer of text and structure.
    pub(super) fn tokens(&self) -> usize {
        let items: usize =
            self.items.iter().map(|item| estimate_tokens(&item.to_string()) + 1).sum();
        estimate_tokens(&self.text()).max(items)
    }

    /// Renders the section. Empty if nothing was found.
    pub(super) fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        format!("\n{HEADING}\n{}", self.lines.concat())
    }
}

/// Renders a memory with its place: `- main/notes/x.md (Title): text`.
fn memory_line(other: &ActiveMemory) -> String {
    let result = &other.result;
    let text = single_line(&result.snippet.text, ELSEWHERE_CHARS);
    match &other.record {
        Some(record) => format!(
            "- {} of {} {}: {}\n",
            kind_label(record.kind),
            record.scope.name(),
            record.id,
            single_line(&record.content, ELSEWHERE_CHARS)
        ),
        None => format!("- {} ({}): {text}\n", result.place, single_line(&result.title, 80)),
    }
}

fn memory_json(other: &ActiveMemory) -> Value {
    let result = &other.result;
    let mut item = json!({
        "project": result.place.project.as_str(),
        "file_path": result.place.path.as_str(),
        "permalink": result.permalink,
        "title": result.title,
        "content": single_line(&result.snippet.text, ELSEWHERE_CHARS),
        "updated_at": result.updated.to_string(),
        "relevance": (result.relevance * 100.0).round() / 100.0,
    });
    if let Some(record) = &other.record {
        item["id"] = json!(record.id);
        item["type"] = json!(record.kind.as_str());
        item["content"] = json!(single_line(&record.content, ELSEWHERE_CHARS));
        if let RecordScope::Project(_) = record.scope {
            item["repository"] = json!(record.scope.name());
        }
    }
    item
}
