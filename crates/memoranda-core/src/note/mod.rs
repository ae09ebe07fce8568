//! A note: what Markdown text says, without ever changing or refusing it.
//!
//! [`parse`] gives a value and a list of problems for any text. Every part knows the bytes and
//! the line it came from, so that an edit can touch those bytes and no others.

mod blocks;
mod canvas;
mod comment;
pub mod edit;
mod escape;
mod frontmatter;
mod heading;
mod lines;
mod observation;
mod observation_id;
mod parse;
pub mod permalink;
mod relation;
mod relation_meta;
mod rewrite_links;
mod yaml;

use std::ops::Range;

use jiff::Timestamp;

use crate::id::ObservationId;
use crate::problem::ParseProblem;

pub use canvas::rewrite_canvas_links;
pub use escape::{observation_content, observation_from_text, plain_text};
pub use frontmatter::{one_line, tag_key, type_key};
pub use observation::{NewObservation, render_observation};
pub use observation_id::{derive_observation_id, fact_edits};
pub use parse::{parse, stated_permalink};
pub use relation::link_name;
pub use relation_meta::{NewRelation, render_relation};
pub use rewrite_links::{
    LinkReplacement, decode_text, encode_text, path_spellings, rewrite_links, rewrite_paths,
    rewrite_property_links,
};

/// What one Markdown text says.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// The keys between the `---` lines, in order; empty when there are none.
    pub frontmatter: Frontmatter,
    /// The bytes after the frontmatter.
    pub body: Range<usize>,
    /// Headings in order, each with the span that it governs.
    pub sections: Vec<NoteSection>,
    /// Facts in order, current and struck out.
    pub observations: Vec<Observation>,
    /// Tags without `#` where no fact is: in tasks and quotes, and below the line of a fact.
    pub other_tags: Vec<String>,
    /// Typed links and plain wikilinks in order; one for each pair of target and type.
    pub relations: Vec<Relation>,
    /// What is wrong, for `doctor`; never a reason to refuse the note.
    pub problems: Vec<ParseProblem>,
}

/// The keys at the top of a note.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frontmatter {
    /// The bytes from the first `---` to the end of the closing `---` line; `None` without one.
    pub span: Option<Range<usize>>,
    /// Keys and values in the order of the file.
    pub entries: Vec<(String, MetaValue)>,
}

/// A frontmatter value. Numbers, booleans and dates are kept as the text that was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MetaValue {
    /// A scalar, as text; `null` and an empty value are the empty text.
    Text(String),
    /// A number or a truth value to be written without quotes. It is read as text.
    Plain(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in order.
    Map(Vec<(String, Self)>),
}

/// One heading and what it governs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteSection {
    /// 1 for `#` to 6 for `######`.
    pub level: u8,
    /// The heading's text, without `#` marks.
    pub title: String,
    /// The line of the heading, from 1.
    pub line: usize,
    /// The heading itself, its line ending included.
    pub heading: Range<usize>,
    /// From the end of the heading to the next heading of the same or a higher level.
    pub content: Range<usize>,
}

/// One fact in a note.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// The word in brackets; `None` when a line counts only because of its tags.
    pub category: Option<String>,
    /// The text, with its tags, without category, context, strike-out and comment.
    pub text: String,
    /// Tags without `#`, in order.
    pub tags: Vec<String>,
    /// What stands in the last parentheses.
    pub context: Option<String>,
    /// What the comment at the end of the line says; `None` for a fact typed by hand.
    pub fact: Option<ObservationMeta>,
    /// Whether the text is struck out (`~~…~~`): kept for the record, no longer true.
    pub struck: bool,
    /// The line, from 1.
    pub line: usize,
    /// The bytes of the lines it was read from, without the last line ending: one line for a
    /// fact with a category, the whole paragraph for one that only has tags.
    pub span: Range<usize>,
}

/// What Memoranda knows of a fact beyond its text, kept in a comment at the end of its line:
/// `<!-- obs_01J9Z… v2 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=portfolio -->`.
#[derive(Clone, PartialEq, Debug)]
pub struct ObservationMeta {
    /// Its identity.
    pub id: ObservationId,
    /// Its version, from 1.
    pub version: u32,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// How sure its author was, 0 to 1.
    pub confidence: Option<f64>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f64>,
    /// The conversation it belongs to.
    pub thread: Option<String>,
    /// The fact that took its place.
    pub superseded_by: Option<ObservationId>,
    /// The fact whose place it took.
    pub supersedes: Option<ObservationId>,
}

/// A link from this note to another, by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Relation {
    /// What the link says, such as `depends_on`; `links_to` for a plain wikilink.
    pub relation_type: String,
    /// The name between the brackets, without alias, heading or block mark. A mark behind a blank is
    /// taken for part of it: `Issue #12`.
    pub target: String,
    /// All between the brackets but for an alias, if it holds such a mark. A note may be called so,
    /// and if none is, what comes before the mark is meant.
    pub whole: Option<String>,
    /// What stands in parentheses after an explicit relation.
    pub context: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// The bytes of the link itself, from `[[` to `]]`.
    pub span: Range<usize>,
    /// Whether a list item of its own states it: `- type [[Target]]`, or `- [[Target]]`. A link
    /// in a fact or a sentence only mentions the other note.
    pub is_stated: bool,
    /// What the comment at the end of its line says; `None` for a link typed by hand. A link
    /// with one means the note of exactly its name in the same folder, and no other.
    pub rating: Option<RelationMeta>,
}

impl Relation {
    /// The name of the other note, also where a link cannot hold it.
    pub fn name(&self) -> &str {
        let told = self.rating.as_ref().and_then(|rating| rating.target.as_deref());
        told.unwrap_or(&self.target)
    }
}

/// What Memoranda knows of a relation beyond its link, kept in a comment at the end of its line:
/// `<!-- rel 2026-01-20T15:30:00Z c=1.0 i=0.7 -->`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RelationMeta {
    /// When it was written.
    pub time: Option<Timestamp>,
    /// How sure its author was, 0 to 1.
    pub confidence: Option<f64>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f64>,
    /// The name of the other note, where a link cannot hold it.
    pub target: Option<String>,
    /// What the link says, where the grammar cannot hold it.
    pub relation_type: Option<String>,
}
