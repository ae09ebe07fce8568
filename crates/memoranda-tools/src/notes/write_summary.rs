//! Summary of a written note: its location, its parsed parts, and similar notes.

use std::collections::BTreeMap;

use memoranda_core::change::Commit;
use memoranda_core::id::ContentHash;
use memoranda_core::note::{self, Note, Relation};
use memoranda_engine::{Memory, NoteLocation, SimilarNote};
use serde_json::{Value, json};

use super::scope;
use crate::registry::{CallContext, ToolError, ToolResult};

/// Maximum number of listed unresolved links and similar notes.
const MAX_NAMED: usize = 10;
const MAX_SIMILAR: usize = 3;

/// A note after a change.
pub(super) struct WriteSummary {
    pub(super) place: NoteLocation,
    pub(super) hash: ContentHash,
    /// `None` if nothing changed.
    pub(super) commit: Option<Commit>,
    pub(super) text: String,
    pub(super) warning: Option<String>,
    pub(super) origin: NoteOrigin,
}

/// Tells if a note existed before the change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteOrigin {
    /// The note is new: its names come from its text, so the index need not contain it yet.
    New,
    Existing,
}

impl WriteSummary {
    /// Renders the summary with a heading. `more` are further fields of the structured result.
    pub(super) fn render(
        &self,
        call: &CallContext<'_>,
        heading: &str,
        more: Value,
    ) -> Result<ToolResult, ToolError> {
        let note = note::parse(&self.text);
        let (title, permalink, unresolved) = match (self.origin, note.permalink()) {
            (NoteOrigin::New, Some(permalink)) if call.settings.notes.only_project.is_none() => {
                let title = note.title().unwrap_or_else(|| self.place.path.stem().to_owned());
                let unresolved = call.memory.unresolved_links(&self.place, &note.relations)?;
                (title, permalink, unresolved)
            }
            _ => self.indexed_names(call, &note.relations)?,
        };
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

impl WriteSummary {
    /// Returns title, permalink and unresolved links.
    fn indexed_names(
        &self,
        call: &CallContext<'_>,
        relations: &[Relation],
    ) -> Result<(String, String, Vec<String>), ToolError> {
        let Some((title, permalink)) = call.memory.title_and_permalink(&self.place)? else {
            return Ok((self.place.path.stem().to_owned(), String::new(), Vec::new()));
        };
        let is_note = self.place.path.is_markdown();
        if call.settings.notes.only_project.is_none() && is_note {
            let unresolved = call.memory.unresolved_links(&self.place, relations)?;
            return Ok((title, permalink, unresolved));
        }
        let snapshot = call.memory.snapshot()?;
        let file = snapshot.file(&self.place.project, &self.place.path)?;
        let links = file.map(|file| snapshot.relations_from(file.id)).transpose()?;
        let mut unresolved = Vec::new();
        for relation in links.unwrap_or_default() {
            if scope::is_unresolved(call, &relation)? {
                unresolved.push(relation.target);
            }
        }
        Ok((title, permalink, unresolved))
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
                unresolved.iter().take(MAX_NAMED).map(|name| format!("[[{name}]]")).collect();
            let rest = unresolved.len().saturating_sub(MAX_NAMED);
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

/// Finds the notes that are most similar to a new one, as candidates for an edit instead.
pub(super) fn similar_notes(
    memory: &Memory,
    place: &NoteLocation,
    title: &str,
) -> Vec<SimilarNote> {
    // The results may contain the note itself.
    memory.similar_notes(&place.project, title, MAX_SIMILAR + 1).unwrap_or_default()
}

/// Adds the notes that are most similar to a new one.
pub(super) fn add_similar_notes(
    answer: &mut ToolResult,
    place: &NoteLocation,
    found: &[SimilarNote],
) {
    let others = found.iter().filter(|found| found.path != place.path).take(MAX_SIMILAR);
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        return;
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
                "file_path": found.path.as_str(),
            })
        })
        .collect();
}
