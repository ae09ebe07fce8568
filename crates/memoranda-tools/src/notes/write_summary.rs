//! Summary of a written note: its location, its parsed parts, and similar notes.

use std::collections::BTreeMap;

use memoranda_core::change::Commit;
use memoranda_core::id::ContentHash;
use memoranda_core::note::permalink::slug;
use memoranda_core::note::{self, Note};
use memoranda_core::rank::RankOptions;
use memoranda_engine::{Memory, NoteLocation, SearchFilter, SearchRequest, SearchResult};
use serde_json::{Value, json};

use super::scope;
use crate::registry::{CallContext, ToolError, ToolResult};

/// Maximum number of listed unresolved links and similar notes.
const NAMED: usize = 10;
const SIMILAR: usize = 3;

/// A note after a change.
pub(super) struct WriteSummary {
    pub(super) place: NoteLocation,
    pub(super) hash: ContentHash,
    /// `None` if nothing changed.
    pub(super) commit: Option<Commit>,
    pub(super) text: String,
    pub(super) warning: Option<String>,
}

impl WriteSummary {
    /// Renders the summary with a heading. `more` are further fields of the structured result.
    pub(super) fn render(
        &self,
        call: &CallContext<'_>,
        heading: &str,
        more: Value,
    ) -> Result<ToolResult, ToolError> {
        let summary = call.memory.store().file(&self.place.project, &self.place.path)?;
        let note = note::parse(&self.text);
        let title = summary.as_ref().map_or(self.place.path.stem(), |file| &file.title);
        let permalink = summary.as_ref().map_or("", |file| &file.permalink);
        let commit = self.commit.as_ref().map(|commit| commit.id.to_string());
        let mut text = format!(
            "# {heading}\nproject: {}\nfile_path: {}\npermalink: {permalink}\nchecksum: {}\n",
            self.place.project,
            self.place.path,
            self.hash.short()
        );
        match &commit {
            Some(commit) => text.push_str(&format!("commit: {commit}\n")),
            None => text.push_str("Nothing had to be changed.\n"),
        }
        let mut unresolved = Vec::new();
        if let Some(file) = &summary {
            for relation in call.memory.store().relations_from(file.id)? {
                if scope::is_unresolved(call, &relation)? {
                    unresolved.push(relation.target);
                }
            }
        }
        text.push_str(&parsed_parts(&note, &unresolved));
        let problems: Vec<String> = note
            .problems
            .iter()
            .filter(|problem| {
                self.place.path.is_markdown() && problem.message.contains("frontmatter")
            })
            .map(|problem| format!("line {}: {}", problem.line, problem.message))
            .collect();
        for problem in &problems {
            text.push_str(&format!(
                "\nProblem in {problem}. Its keys are not understood until that is mended.\n"
            ));
        }
        if let Some(warning) = &self.warning {
            text.push_str(&format!("\n{warning}\n"));
        }
        let mut structured = json!({
            "project": self.place.project.as_str(),
            "title": title,
            "permalink": permalink,
            "file_path": self.place.path.as_str(),
            "checksum": self.hash.to_string(),
            "commit": commit,
            "observations": note.observations.iter().filter(|o| !o.struck).count(),
            "relations": note.relations.len(),
            "unresolved": unresolved,
        });
        if let (Value::Object(all), Value::Object(more)) = (&mut structured, more) {
            all.extend(more);
        }
        if !problems.is_empty() {
            structured["problems"] = json!(problems);
        }
        if let Some(warning) = &self.warning {
            structured["warning"] = json!(warning);
        }
        Ok(ToolResult::ok(text, structured))
    }
}

/// Lists the parsed parts of a note: facts by category, relations, tags.
fn parsed_parts(note: &Note, unresolved: &[String]) -> String {
    let mut text = String::new();
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    for observation in note.observations.iter().filter(|observation| !observation.struck) {
        *categories.entry(observation.category.as_deref().unwrap_or("note")).or_default() += 1;
    }
    if !categories.is_empty() {
        text.push_str("\n## Observations\n");
        for (category, count) in categories {
            text.push_str(&format!("- {category}: {count}\n"));
        }
    }
    if !note.relations.is_empty() {
        let resolved = note.relations.len().saturating_sub(unresolved.len());
        text.push_str(&format!("\n## Relations\n- resolved: {resolved}\n"));
        if !unresolved.is_empty() {
            let named: Vec<String> =
                unresolved.iter().take(NAMED).map(|name| format!("[[{name}]]")).collect();
            let rest = unresolved.len().saturating_sub(NAMED);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            text.push_str(&format!(
                "- unresolved: {} ({}{more}); bound as soon as such notes exist\n",
                unresolved.len(),
                named.join(", ")
            ));
        }
    }
    let tags = note.tags();
    if !tags.is_empty() {
        text.push_str(&format!("\n## Tags\n- {}\n", tags.join(", ")));
    }
    text
}

/// Finds the notes that are most similar to a new one, as candidates for an edit instead. Only
/// words are compared, and only the newest notes with each word, so that the time is independent
/// of the size of the vault.
pub(super) fn similar_notes(
    memory: &Memory,
    place: &NoteLocation,
    title: &str,
) -> Vec<SearchResult> {
    let request = SearchRequest {
        text: title.to_owned(),
        filter: SearchFilter { projects: vec![place.project.clone()], ..Default::default() },
        // The results may contain the note itself, and notes that only link to it.
        limit: 2 * SIMILAR,
        candidates: 2 * SIMILAR,
        snippet_chars: 80,
        options: RankOptions::WORDS,
        ..SearchRequest::default()
    };
    // A title without words has no similar notes.
    memory.search(&request).map(|page| page.results).unwrap_or_default()
}

/// Adds the notes that are most similar to a new one.
pub(super) fn add_similar_notes(
    answer: &mut ToolResult,
    call: &CallContext<'_>,
    place: &NoteLocation,
    found: &[SearchResult],
) -> Result<(), ToolError> {
    let words = slug(place.path.stem());
    let mut others = Vec::new();
    for found in found.iter().filter(|found| found.place != *place) {
        let title = slug(&found.title);
        let shares = title.split('-').any(|word| words.split('-').any(|own| own == word));
        // A note that links to this name is not necessarily similar.
        if shares || !links_to(call, &found.place, place)? {
            others.push(found);
        }
        if others.len() == SIMILAR {
            break;
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    answer.text.push_str("\n## Similar notes\n");
    for found in &others {
        answer.text.push_str(&format!("- {} ({})\n", found.title, found.permalink));
    }
    answer.text.push_str("If one of them is about the same, edit_note it and delete this one.\n");
    answer.structured["similar"] = others
        .iter()
        .map(|found| {
            json!({
                "title": found.title,
                "permalink": found.permalink,
                "file_path": found.place.path.as_str(),
            })
        })
        .collect();
    Ok(())
}

/// Returns true if one note links to another.
fn links_to(
    call: &CallContext<'_>,
    from: &NoteLocation,
    to: &NoteLocation,
) -> Result<bool, ToolError> {
    let store = call.memory.store();
    let file = |place: &NoteLocation| store.file(&place.project, &place.path);
    let (Some(from), Some(to)) = (file(from)?, file(to)?) else { return Ok(false) };
    Ok(store.relations_from(from.id)?.iter().any(|link| link.target_file == Some(to.id)))
}
