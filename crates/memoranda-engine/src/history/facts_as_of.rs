//! Facts as they were at a moment.
//!
//! The index knows the present. Notes that have not changed since are taken from it; only notes that
//! were different are read from the log.

use memoranda_core::id::ProjectName;
use memoranda_core::note::{self, Observation};
use memoranda_store::{FactFilter, PointInTime};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

/// A fact that was in force at a moment.
#[derive(Clone, Debug)]
pub struct FactAsOf {
    /// The file.
    pub place: NoteLocation,
    /// Title of the note at that moment.
    pub title: String,
    /// Line of the fact at that moment, from 1.
    pub line: usize,
    /// Text of the note at that moment; `None` if the note is still the same.
    pub text: Option<String>,
}

impl Memory {
    /// Returns the facts that were in force at a moment, by title and line.
    pub fn facts_as_of(&self, moment: PointInTime, filter: &FactFilter) -> Result<Vec<FactAsOf>> {
        let projects = self.store().projects()?.into_iter().map(|project| project.name);
        let is_asked = |name: &ProjectName| filter.project.as_ref().is_none_or(|only| only == name);
        let past = self.versions_at(projects.filter(is_asked), moment)?;
        let mut facts = Vec::new();
        for version in past.files.iter().filter(|version| version.place.path.is_markdown()) {
            if let Some(text) = version.text(self) {
                facts.extend(facts_of(&version.place, &text, filter));
            }
        }
        for row in self.snapshot()?.fact_list(filter, (i64::MAX as usize, 0))? {
            if let (false, Some(line)) = (past.hidden.contains(&row.file), row.line) {
                let place = NoteLocation { project: row.project, path: row.path };
                facts.push(FactAsOf { place, title: row.title, line, text: None });
            }
        }
        facts.sort_by(|a, b| (&a.title, &a.place, a.line).cmp(&(&b.title, &b.place, b.line)));
        Ok(facts)
    }
}

/// Returns the facts of a text that are in force and match a filter.
fn facts_of(place: &NoteLocation, text: &str, filter: &FactFilter) -> Vec<FactAsOf> {
    let note = note::parse(text);
    let title = note.title().unwrap_or_else(|| place.path.stem().to_owned());
    let wanted = filter.text.as_ref().map(|text| text.to_lowercase());
    let is_found = |fact: &Observation| {
        wanted.as_ref().is_none_or(|wanted| {
            fact.text.to_lowercase().contains(wanted) || title.to_lowercase().contains(wanted)
        })
    };
    let is_in_force = |fact: &Observation| {
        !fact.struck && fact.meta.as_ref().is_none_or(|meta| meta.superseded_by.is_none())
    };
    let is_of_category =
        |fact: &Observation| filter.category.is_none() || fact.category == filter.category;
    let facts = note.observations.iter();
    let facts = facts.filter(|fact| is_in_force(fact) && is_of_category(fact) && is_found(fact));
    facts
        .map(|fact| FactAsOf {
            place: place.clone(),
            title: title.clone(),
            line: fact.line,
            text: Some(text.to_owned()),
        })
        .collect()
}
