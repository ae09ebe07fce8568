//! Edits as values. An edit changes exactly the bytes that it names.
//!
//! Everything else is preserved: byte-order mark, line endings, a missing final newline, unknown
//! keys, their order, comments and quotes. Inserted text gets the line ending of the file.

mod block_separation;
mod key;
mod list;
mod mapping;
mod merge_frontmatter;
mod section;
mod splice;
mod yaml_file;

pub use self::key::render_frontmatter;
pub use self::merge_frontmatter::merge_frontmatter;
pub use self::section::similar_headings;
pub use self::yaml_file::{YamlFileError, read_yaml_file, remove_yaml_key, set_yaml_key};

use self::block_separation::{Attachment, insert};
use self::splice::EditBuffer;
use super::{MetaValue, NewObservation, NewRelation, ObservationMeta};
use crate::id::ObservationId;

/// An edit of a note's text.
#[derive(Clone, PartialEq, Debug)]
pub enum NoteEdit {
    /// Appends text on a new line; after a blank line if Markdown would otherwise merge the two.
    Append {
        /// Text to append.
        text: String,
    },
    /// Inserts text at the top, after the frontmatter, separated from the following paragraph.
    Prepend {
        /// Text to insert.
        text: String,
    },
    /// Replaces every occurrence of a text, if the number of occurrences is as expected.
    FindReplace {
        /// Exact text to find.
        find: String,
        /// Replacement.
        replace: String,
        /// Expected number of non-overlapping occurrences.
        expected: usize,
    },
    /// Replaces the content of a section; a missing section is appended.
    ReplaceSection {
        /// Heading, with or without `#` marks.
        section: String,
        /// New content; may repeat the heading at its start.
        content: String,
        /// Treatment of subsections.
        subsections: SubsectionHandling,
    },
    /// Inserts text before a heading.
    InsertBeforeSection {
        /// Heading, with or without `#` marks.
        section: String,
        /// Text to insert.
        content: String,
    },
    /// Inserts text directly after a heading, separated from the following paragraph.
    InsertAfterSection {
        /// Heading, with or without `#` marks.
        section: String,
        /// Text to insert.
        content: String,
    },
    /// Sets a frontmatter key; creates the frontmatter if it is missing.
    SetKey {
        /// Key to set.
        key: String,
        /// New value.
        value: MetaValue,
    },
    /// Sets a frontmatter key as [`NoteEdit::SetKey`] does, but merges a mapping into the existing
    /// one. `a.b` is the key `b` of the mapping `a`, if that exists.
    MergeKey {
        /// Key to set.
        key: String,
        /// New value.
        value: MetaValue,
    },
    /// Removes a frontmatter key; a missing key is not an error.
    RemoveKey {
        /// Key to remove.
        key: String,
    },
    /// Adds an observation at the end of a section's list.
    AddObservation {
        /// Section, created if missing; `None` for `## Observations`.
        section: Option<String>,
        /// Observation to add.
        observation: NewObservation,
    },
    /// Replaces an observation; the old one moves to `## History`, struck out.
    SupersedeObservation {
        /// Observation that is no longer valid.
        observation: ObservationRef,
        /// New observation.
        replacement: NewObservation,
    },
    /// Strikes an observation out where it stands: it is kept for the record, and no longer valid.
    StrikeObservation {
        /// Observation that is no longer valid.
        observation: ObservationRef,
        /// Observation that holds instead; `None` if it has no id.
        by: Option<ObservationId>,
    },
    /// Removes the line of an observation.
    RemoveObservation {
        /// Observation to remove.
        observation: ObservationRef,
    },
    /// Writes the metadata comment at the end of an observation's line.
    SetObservationMeta {
        /// Observation to change.
        observation: ObservationRef,
        /// New metadata; unknown words in the comment stay.
        meta: ObservationMeta,
    },
    /// Adds a relation to `## Relations`, unless the note already states it.
    AddRelation {
        /// Relation type.
        relation_type: String,
        /// Name of the target note.
        target: String,
        /// Context in parentheses.
        context: Option<String>,
    },
    /// Adds a relation with metadata to `## Relations`, unless the note already states it.
    AddRatedRelation {
        /// Relation to add.
        relation: NewRelation,
    },
    /// Updates the metadata of a relation that has a comment; absent values stay.
    SetRelationMeta {
        /// Relation with new metadata.
        relation: NewRelation,
    },
    /// Removes a relation: its list item or, if no list item states it, the brackets of links in
    /// running text.
    RemoveRelation {
        /// Relation type; `links_to` for a plain link.
        relation_type: String,
        /// Name of the target note.
        target: String,
    },
    /// Inserts whole lines after a line of the file, frontmatter included.
    InsertAtLine {
        /// Line after which to insert, from 1; 0 for the top.
        line: usize,
        /// Text to insert.
        text: String,
    },
}

/// Treatment of subsections when a section is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubsectionHandling {
    /// Subsections are replaced too.
    Replace,
    /// Subsections stay.
    Keep,
}

/// Reference to an observation of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObservationRef {
    /// By the id in its comment.
    Id(ObservationId),
    /// By its line, from 1; for observations without a comment.
    Line(usize),
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Reason why an edit was rejected. The text is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// The text to find is empty.
    #[error("the text to find is empty")]
    EmptyFind,
    /// The text to find occurs more or less often than expected.
    #[error("expected {expected} occurrences, found {} (lines {})", lines.len(), listed(lines))]
    WrongCount {
        /// Expected number of occurrences.
        expected: usize,
        /// Line of every occurrence, from 1.
        lines: Vec<usize>,
    },
    /// No section has this heading.
    #[error("there is no section {section:?}")]
    SectionMissing {
        /// Requested heading.
        section: String,
        /// Most similar headings with their marks, best first.
        candidates: Vec<String>,
    },
    /// Several sections have this heading.
    #[error("several sections are called {section:?} (lines {})", listed(lines))]
    SectionAmbiguous {
        /// Requested heading.
        section: String,
        /// Lines of these headings.
        lines: Vec<usize>,
    },
    /// No observation matches the reference.
    #[error("there is no observation {0:?}")]
    ObservationMissing(ObservationRef),
    /// The observation is already struck out.
    #[error("the observation on line {line} is already superseded")]
    ObservationStruck {
        /// Line of the observation.
        line: usize,
        /// Observation that replaces it, if known.
        by: Option<ObservationId>,
    },
    /// The target of the relation is empty.
    #[error("the relation names no target")]
    EmptyTarget,
    /// The note does not state this relation.
    #[error("there is no relation {relation_type:?} to {target:?}")]
    RelationMissing {
        /// Requested type.
        relation_type: String,
        /// Requested target.
        target: String,
    },
    /// The file has fewer lines.
    #[error("there is no line {line}; the file has {lines}")]
    LineOutOfRange {
        /// Requested line.
        line: usize,
        /// Number of lines.
        lines: usize,
    },
    /// The frontmatter does not allow changing this key alone.
    #[error("the frontmatter key {key:?} cannot be changed: {message}")]
    KeyNotEditable {
        /// Requested key.
        key: String,
        /// Line of the obstacle, from 1.
        line: usize,
        /// Description of the obstacle.
        message: String,
    },
    /// The change would alter other text: for example in an open code fence, or with list items
    /// nested below the line to remove.
    #[error("the text around line {line} does not allow this change")]
    NotReadable {
        /// Line of the change, from 1.
        line: usize,
    },
}

/// Applies an edit to a text.
///
/// # Errors
///
/// Returns [`EditError`] if the text does not allow the edit.
///
/// ```
/// use memoranda_core::note::edit::{NoteEdit, apply_edit};
///
/// let edit = NoteEdit::InsertAfterSection { section: "Log".into(), content: "- done".into() };
/// assert_eq!(apply_edit("# Plan\n\n## Log\n", &edit)?, "# Plan\n\n## Log\n- done\n");
/// # Ok::<(), memoranda_core::note::edit::EditError>(())
/// ```
pub fn apply_edit(text: &str, edit: &NoteEdit) -> Result<String, EditError> {
    let draft = EditBuffer::new(text);
    match edit {
        NoteEdit::Append { text: added } => Ok(insert(&draft, text.len(), added, Attachment::Line)),
        NoteEdit::Prepend { text: added } => {
            Ok(insert(&draft, draft.top(), added, Attachment::Block))
        }
        NoteEdit::FindReplace { find, replace, expected } => {
            find_replace(&draft, find, replace, *expected)
        }
        NoteEdit::ReplaceSection { section, content, subsections } => {
            section::replace(&draft, section, content, *subsections)
        }
        NoteEdit::InsertBeforeSection { section, content } => {
            section::insert_before(&draft, section, content)
        }
        NoteEdit::InsertAfterSection { section, content } => {
            section::insert_after(&draft, section, content)
        }
        NoteEdit::SetKey { key, value } => key::set(&draft, key, value),
        NoteEdit::MergeKey { key, value } => mapping::merge(&draft, key, value),
        NoteEdit::RemoveKey { key } => key::remove(&draft, key),
        NoteEdit::AddObservation { section, observation } => {
            list::add_observation(&draft, section.as_deref(), observation)
        }
        NoteEdit::SupersedeObservation { observation, replacement } => {
            list::supersede(&draft, observation, replacement)
        }
        NoteEdit::StrikeObservation { observation, by } => {
            list::strike(&draft, observation, by.as_ref())
        }
        NoteEdit::RemoveObservation { observation } => {
            list::remove_observation(&draft, observation)
        }
        NoteEdit::SetObservationMeta { observation, meta: fact } => {
            list::set_observation_meta(&draft, observation, fact)
        }
        NoteEdit::AddRelation { relation_type, target, context } => {
            list::add_relation(&draft, relation_type, target, context.as_deref())
        }
        NoteEdit::AddRatedRelation { relation } => list::add_rated_relation(&draft, relation),
        NoteEdit::SetRelationMeta { relation } => list::set_relation_meta(&draft, relation),
        NoteEdit::RemoveRelation { relation_type, target } => {
            list::remove_relation(&draft, relation_type, target)
        }
        NoteEdit::InsertAtLine { line, text: added } => insert_at_line(&draft, *line, added),
    }
}

fn insert_at_line(draft: &EditBuffer<'_>, line: usize, added: &str) -> Result<String, EditError> {
    let lines = draft.lines.count();
    if line > lines {
        return Err(EditError::LineOutOfRange { line, lines });
    }
    let at = match line {
        0 => super::frontmatter::text_start(draft.text),
        line => draft.lines.with_ending(line).end,
    };
    Ok(draft.insert_lines(at, added))
}

fn find_replace(
    draft: &EditBuffer<'_>,
    find: &str,
    replace: &str,
    expected: usize,
) -> Result<String, EditError> {
    if find.is_empty() {
        return Err(EditError::EmptyFind);
    }
    // Callers send `\n` for any line ending. Searched literally, a text that begins with `\n` would
    // leave a lone `\r` behind.
    let mut find = find.to_owned();
    let adapted = draft.with_endings(&find);
    if draft.text.contains(&adapted) {
        find = adapted;
    }
    let places: Vec<usize> = draft.text.match_indices(&find).map(|(at, _)| at).collect();
    if places.len() != expected {
        let lines = places.iter().map(|at| draft.lines.number_at(*at)).collect();
        return Err(EditError::WrongCount { expected, lines });
    }
    let replace = draft.with_endings(replace);
    let splices = places.into_iter().map(|at| (at..at + find.len(), replace.clone()));
    Ok(draft.splice(splices.collect()))
}

#[cfg(test)]
#[path = "properties.rs"]
mod properties;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
