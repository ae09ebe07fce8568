//! The brief that a client would get, line by line with its source and the reason for it.

use std::path::PathBuf;

use memoranda_engine::NoteLocation;
use memoranda_engine::core::token_estimate::estimate_tokens;
use memoranda_engine::records::{FileSelection, RecordScope, VisibleScopes, single_line};
use memoranda_engine::task_context::{TaskContext, TaskContextRequest};
use memoranda_tools::{
    BriefQuestion, BriefRequest, BriefVisit, NearestInBrief, question_brief, session_brief,
};
use serde_json::{Value, json};

use super::contradictions::record_problem;
use super::request::{PageRequest, place_json};
use crate::http_error::HttpError;

/// Maximum length of a brief, in characters.
const MAX_BRIEF_CHARS: usize = 6_000;
/// Number of characters by which a line is matched with its source.
const MATCHED_CHARS: usize = 60;

/// A memory that a brief may quote.
struct BriefSource {
    /// Beginning of the text as the brief quotes it.
    quoted: String,
    place: NoteLocation,
    reason: String,
}

/// Returns the brief that a client in a folder would get, line by line.
pub(super) fn client_brief(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    // A folder is one of the person's machine, which a team server is not.
    let folder = request.text("folder").filter(|_| request.team.is_none()).map(PathBuf::from);
    let settings = &request.page.catalog.settings;
    // Looking at a brief is not a visit of the client.
    let asked = BriefRequest {
        folder: folder.as_deref(),
        client: request.text("client"),
        visit: BriefVisit::Peek,
        max_chars: MAX_BRIEF_CHARS,
    };
    let text = session_brief(memory, settings, &asked).map_err(record_problem)?;
    let mut text = text.unwrap_or_default();
    if let Some(question) = request.text("q") {
        let question = BriefQuestion {
            text: question,
            is_relevant: &|_, _| true,
            without_relevant: NearestInBrief::LeftOut,
        };
        let found = question_brief(memory, settings, &asked, &question);
        let found = found.map_err(record_problem)?;
        if !found.is_empty() {
            text.push_str(&format!("\n\n## Relevant Memories\n{found}"));
        }
    }
    let visible = VisibleScopes::of_workspace(folder.as_deref());
    let sources = sources(request, &visible)?;
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(heading) = heading(line) {
            heading.clone_into(&mut section);
        }
        let source = sources.iter().find(|source| line.contains(&source.quoted));
        lines.push(json!({
            "text": line,
            "section": section,
            "is_heading": heading(line).is_some(),
            "source": source.map(|source| place_json(&source.place)),
            "reason": source.map_or_else(|| reason_of(&section).to_owned(), |s| s.reason.clone()),
            "tokens": estimate_tokens(line),
        }));
    }
    Ok(json!({
        "client": request.text("client"),
        "folder": folder.map(|folder| folder.display().to_string()),
        "repository": visible.project().map(RecordScope::name),
        "tokens": estimate_tokens(&text),
        "text": text,
        "lines": lines,
    }))
}

/// Returns the heading that a line is.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## ").or_else(|| line.strip_prefix("# "))
}

/// Returns the memories that the brief is made of.
fn sources(
    request: &PageRequest<'_>,
    visible: &VisibleScopes,
) -> Result<Vec<BriefSource>, HttpError> {
    let settings = &request.page.catalog.settings;
    let asked = TaskContextRequest {
        visible,
        files: FileSelection::default(),
        question: None,
        only: None,
        memory_files: Some(&settings.memories),
        zone: &settings.records.zone,
        now: &settings.records.now(),
        visitor: None,
    };
    let context = TaskContext::load(request.vault(), &asked).map_err(record_problem)?;
    let mut sources = Vec::new();
    let mut add = |text: &str, place: &NoteLocation, reason: &str| {
        let first = text.trim().lines().next().unwrap_or_default();
        let quoted: String = single_line(first, MATCHED_CHARS).trim_end_matches('…').to_owned();
        if !quoted.is_empty() {
            sources.push(BriefSource { quoted, place: place.clone(), reason: reason.to_owned() });
        }
    };
    for (scope, rules) in &context.rules.by_scope {
        let reason = match scope {
            RecordScope::Global => "a rule for every repository".to_owned(),
            RecordScope::Project(_) => format!("a rule of {}", scope.name()),
        };
        rules.iter().for_each(|rule| add(&rule.content, &rule.place, &reason));
    }
    for reminder in &context.due {
        add(&reminder.message, &reminder.place, "a reminder that is due");
    }
    let known = [
        (&context.person, "about the person, for every conversation"),
        (&context.everywhere, "a choice or fact that holds in every repository"),
        (&context.repository, "about the repository of this folder"),
    ];
    for (passages, reason) in known {
        for passage in passages {
            if let Some(place) = passage.places.first() {
                add(&passage.text, place, reason);
            }
        }
    }
    for file in &context.memory_files {
        let place = NoteLocation { project: file.project.clone(), path: file.path.clone() };
        let reason = "one of the newest memory files";
        sources.push(BriefSource {
            quoted: format!("/memories/{}", file.path),
            place,
            reason: reason.to_owned(),
        });
    }
    Ok(sources)
}

/// Returns the reason why a line without a source is part of the brief.
fn reason_of(section: &str) -> &'static str {
    let section = section.to_lowercase();
    if section.contains("rule") {
        "rules of this folder"
    } else if section.contains("remind") {
        "reminders that are due"
    } else if section.contains("relevant") {
        "it has to do with the question"
    } else if section.contains("person") {
        "about the person"
    } else if section.contains("everywhere") {
        "a choice or fact that holds in every repository"
    } else if section.contains("repository") {
        "about the repository of this folder"
    } else if section.contains("since") || section.contains("change") {
        "written by others since this client was here last"
    } else if section.contains("file") {
        "the newest memory files"
    } else {
        "part of every brief"
    }
}
