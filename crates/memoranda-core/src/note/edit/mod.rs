//! Edits as values: what a caller wants changed in a text, applied to exactly the bytes concerned.
//!
//! Everything else survives: byte-order mark, line endings, a missing final newline, unknown
//! keys, their order, comments and quotes. Inserted text takes the text's own line ending.

mod block_separation;
mod key;
mod list;
mod mapping;
mod merge_frontmatter;
mod section;
mod splice;

pub use self::key::render_frontmatter;
pub use self::merge_frontmatter::merge_frontmatter;
pub use self::section::similar_headings;

use self::block_separation::{Attachment, insert};
use self::splice::EditBuffer;
use super::{MetaValue, NewObservation, NewRelation, ObservationMeta};
use crate::id::ObservationId;

/// One change to the text of a note.
#[derive(Clone, PartialEq, Debug)]
pub enum NoteEdit {
    /// Adds text at the end, on a line of its own; below a blank line, if it would mean something
    /// else without one.
    Append {
        /// What is added.
        text: String,
    },
    /// Adds text at the top, after the frontmatter, apart from the paragraph that follows.
    Prepend {
        /// What is added.
        text: String,
    },
    /// Replaces a text wherever it stands, if it stands as often as expected.
    FindReplace {
        /// What is looked for, to the letter.
        find: String,
        /// What takes its place.
        replace: String,
        /// How often it must occur, overlaps not counted.
        expected: usize,
    },
    /// Replaces what a section says; a missing section is added at the end.
    ReplaceSection {
        /// The heading, with or without `#` marks.
        section: String,
        /// What the section says now; the heading may be repeated at its start.
        content: String,
        /// What becomes of the sections within.
        subsections: SubsectionHandling,
    },
    /// Adds text before a heading.
    InsertBeforeSection {
        /// The heading, with or without `#` marks.
        section: String,
        /// What is added.
        content: String,
    },
    /// Adds text right after a heading, apart from the paragraph that follows.
    InsertAfterSection {
        /// The heading, with or without `#` marks.
        section: String,
        /// What is added.
        content: String,
    },
    /// Gives a frontmatter key a value; the block is created if there is none.
    SetKey {
        /// The key.
        key: String,
        /// Its value.
        value: MetaValue,
    },
    /// Gives a frontmatter key a value, as [`NoteEdit::SetKey`] does, but merges a mapping into the one that
    /// is there; `a.b` is the key `b` in the mapping `a`, if there is one.
    MergeKey {
        /// The key.
        key: String,
        /// Its value.
        value: MetaValue,
    },
    /// Removes a frontmatter key; nothing happens if it is not there.
    RemoveKey {
        /// The key.
        key: String,
    },
    /// Adds a fact at the end of a section's list.
    AddObservation {
        /// The section; `None` for `## Observations`. Created if it is missing.
        section: Option<String>,
        /// The fact.
        observation: NewObservation,
    },
    /// Puts a fact in the place of another, which goes struck out to `## History`.
    SupersedeObservation {
        /// The fact that is no longer true.
        observation: ObservationRef,
        /// What is true now.
        replacement: NewObservation,
    },
    /// Removes a fact's line.
    RemoveObservation {
        /// The fact.
        observation: ObservationRef,
    },
    /// Writes what is known of a fact into the comment at the end of its line.
    SetObservationMeta {
        /// The fact.
        observation: ObservationRef,
        /// What its comment says now; words of others in it stay.
        fact: ObservationMeta,
    },
    /// Adds a relation to `## Relations`; nothing happens if the note states it already.
    AddRelation {
        /// What the link says.
        relation_type: String,
        /// The name of the other note.
        target: String,
        /// More about it.
        context: Option<String>,
    },
    /// Adds a relation with what is known of it to `## Relations`; nothing happens if the note
    /// states it already.
    AddRatedRelation {
        /// The relation.
        relation: NewRelation,
    },
    /// Writes anew what is known of a relation that carries a comment; what is not given stays.
    SetRelationMeta {
        /// The relation.
        relation: NewRelation,
    },
    /// Removes a relation: its list item, or, if none states it, the brackets of links in running
    /// text.
    RemoveRelation {
        /// What the link says; `links_to` for a plain link.
        relation_type: String,
        /// The name of the other note.
        target: String,
    },
    /// Adds whole lines after a line of the file, frontmatter included.
    InsertAtLine {
        /// The line after which to add, from 1; 0 for the top.
        line: usize,
        /// What is added.
        text: String,
    },
}

/// What becomes of the sections within a section whose text is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubsectionHandling {
    /// They are replaced too.
    Replace,
    /// They stay.
    Keep,
}

/// A way to say which observation is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ObservationRef {
    /// The one whose comment has this id.
    Id(ObservationId),
    /// The one on this line, from 1: for facts typed by hand, which have no comment.
    Line(usize),
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Why an edit was not made. The text is as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// The text to find is empty.
    #[error("the text to find is empty")]
    EmptyFind,
    /// The text to find occurs more or less often than expected.
    #[error("expected {expected} occurrences, found {} (lines {})", lines.len(), listed(lines))]
    WrongCount {
        /// How often it was expected.
        expected: usize,
        /// The line of every occurrence, from 1; their number is the count found.
        lines: Vec<usize>,
    },
    /// No section has this heading.
    #[error("there is no section {section:?}")]
    SectionMissing {
        /// The heading as it was asked for.
        section: String,
        /// The headings most like it, marks included, best first.
        candidates: Vec<String>,
    },
    /// Several sections have this heading.
    #[error("several sections are called {section:?} (lines {})", listed(lines))]
    SectionAmbiguous {
        /// The heading as it was asked for.
        section: String,
        /// The line of each.
        lines: Vec<usize>,
    },
    /// No observation is meant by this.
    #[error("there is no observation {0:?}")]
    ObservationMissing(ObservationRef),
    /// The observation is already struck out.
    #[error("the observation on line {line} is already superseded")]
    ObservationStruck {
        /// Its line.
        line: usize,
        /// What took its place, if known.
        by: Option<ObservationId>,
    },
    /// A relation to nothing.
    #[error("the relation names no target")]
    EmptyTarget,
    /// The note states no such relation.
    #[error("there is no relation {relation_type:?} to {target:?}")]
    RelationMissing {
        /// The type asked for.
        relation_type: String,
        /// The target asked for.
        target: String,
    },
    /// The file has no such line.
    #[error("there is no line {line}; the file has {lines}")]
    LineOutOfRange {
        /// The line asked for.
        line: usize,
        /// How many there are.
        lines: usize,
    },
    /// The frontmatter is not in a state in which this key can be changed alone.
    #[error("the frontmatter key {key:?} cannot be changed: {message}")]
    KeyNotEditable {
        /// The key.
        key: String,
        /// The line that stands in the way, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// The text around the place would hide what is written, or lose what is there: an open code
    /// fence, for example, or list items that hang on the line to be removed.
    #[error("the text around line {line} does not allow this change")]
    NotReadable {
        /// The line of the change, from 1.
        line: usize,
    },
}

/// Applies an edit to a text.
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
        NoteEdit::RemoveObservation { observation } => {
            list::remove_observation(&draft, observation)
        }
        NoteEdit::SetObservationMeta { observation, fact } => {
            list::set_fact(&draft, observation, fact)
        }
        NoteEdit::AddRelation { relation_type, target, context } => {
            list::add_relation(&draft, relation_type, target, context.as_deref())
        }
        NoteEdit::AddRatedRelation { relation } => list::relate(&draft, relation),
        NoteEdit::SetRelationMeta { relation } => list::rate(&draft, relation),
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
    // Callers see and send `\n`, whatever the file uses; taken to its letter, one that begins with
    // it would leave half a line ending behind.
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
