//! Notes: Markdown files with frontmatter, sections, observations and relations.
//!
//! [`parse`] accepts any text and returns a value with a list of problems. Every part has its byte
//! range and line, so that an edit changes only these bytes.

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
pub mod tree;
mod yaml;

use std::ops::Range;

use jiff::Timestamp;

use crate::id::ObservationId;
use crate::problem::ParseProblem;

pub use canvas::rewrite_canvas_links;
pub use comment::without_metadata;
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

/// A parsed Markdown text.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// Frontmatter; empty if the note has none.
    pub frontmatter: Frontmatter,
    /// Byte range after the frontmatter.
    pub body: Range<usize>,
    /// Headings in order, each with the range of its section.
    pub sections: Vec<NoteSection>,
    /// Facts in order, current and struck out.
    pub observations: Vec<Observation>,
    /// Tags without `#` outside of facts: in tasks, quotes, and text below the first line of a
    /// fact.
    pub other_tags: Vec<String>,
    /// Typed links and plain wikilinks in order; each pair of target and type once.
    pub relations: Vec<Relation>,
    /// Problems for `doctor`; a note with problems is still accepted.
    pub problems: Vec<ParseProblem>,
}

/// Keys at the top of a note.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Frontmatter {
    /// Byte range from the opening `---` to the end of the closing `---` line; `None` without
    /// frontmatter.
    pub span: Option<Range<usize>>,
    /// Keys and values in file order.
    pub entries: Vec<(String, MetaValue)>,
}

/// A frontmatter value. Numbers, booleans and dates stay as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MetaValue {
    /// A scalar as text; `null` and an empty value are the empty text.
    Text(String),
    /// A number or boolean to be written without quotes. Parsing yields `Text` instead.
    Plain(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping, in order.
    Map(Vec<(String, Self)>),
}

/// A heading and its section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteSection {
    /// Level: 1 for `#` to 6 for `######`.
    pub level: u8,
    /// Text of the heading without `#` marks.
    pub title: String,
    /// Line of the heading, from 1.
    pub line: usize,
    /// Byte range of the heading with its line ending.
    pub heading: Range<usize>,
    /// Byte range from the end of the heading to the next heading of the same or a higher level.
    pub content: Range<usize>,
}

/// A fact in a note.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// Word in brackets; `None` if the line is an observation only by its tags.
    pub category: Option<String>,
    /// Text with its tags, without category, context, strike-out and comment.
    pub text: String,
    /// Tags without `#`, in order.
    pub tags: Vec<String>,
    /// Text in the last parentheses.
    pub context: Option<String>,
    /// Metadata from the comment at the end of the line; `None` for a fact typed by hand.
    pub meta: Option<ObservationMeta>,
    /// True if the text is struck out (`~~…~~`): kept for the record but no longer valid.
    pub struck: bool,
    /// Line of the fact, from 1.
    pub line: usize,
    /// Byte range without the last line ending: one line for a fact with a category, the whole
    /// paragraph for a fact with tags only.
    pub span: Range<usize>,
}

/// Metadata of an observation, stored in a comment at the end of its line: `<!-- obs_01J9Z… v2
/// 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=portfolio -->`.
#[derive(Clone, PartialEq, Debug)]
pub struct ObservationMeta {
    /// Identity of the observation.
    pub id: ObservationId,
    /// Version, from 1.
    pub version: u32,
    /// Time of writing.
    pub time: Option<Timestamp>,
    /// Confidence of the author, 0 to 1.
    pub confidence: Option<f64>,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
    /// Conversation that the observation belongs to.
    pub thread: Option<String>,
    /// Observation that replaces this one.
    pub superseded_by: Option<ObservationId>,
    /// Observation that this one replaces.
    pub supersedes: Option<ObservationId>,
}

impl ObservationMeta {
    /// Returns the metadata of a first version that states nothing else.
    pub fn new(id: ObservationId) -> Self {
        Self {
            id,
            version: 1,
            time: None,
            confidence: None,
            importance: None,
            thread: None,
            superseded_by: None,
            supersedes: None,
        }
    }
}

/// A link from this note to another one, by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Relation {
    /// Relation type, such as `depends_on`; `links_to` for a plain wikilink.
    pub relation_type: String,
    /// Name in the brackets, without alias, heading or block reference. A `#` after a blank belongs
    /// to the name: `Issue #12`.
    pub target: String,
    /// Text in the brackets without the alias, if it contains such a `#`. A note with this name is
    /// preferred; otherwise the part before the `#` counts.
    pub whole: Option<String>,
    /// Text in parentheses after a typed relation.
    pub context: Option<String>,
    /// Line of the link, from 1.
    pub line: usize,
    /// Byte range of the link, from `[[` to `]]`.
    pub span: Range<usize>,
    /// True if a list item states the relation: `- type [[Target]]` or `- [[Target]]`. A link
    /// within a fact or a sentence is a mention only.
    pub is_stated: bool,
    /// Metadata from the comment at the end of the line; `None` for a link typed by hand. A link
    /// with metadata resolves only to the note of exactly this name in the same folder.
    pub meta: Option<RelationMeta>,
}

impl Relation {
    /// Returns the name of the target, from the metadata if a link cannot contain it.
    pub fn name(&self) -> &str {
        let told = self.meta.as_ref().and_then(|rating| rating.target.as_deref());
        told.unwrap_or(&self.target)
    }
}

/// Metadata of a relation, stored in a comment at the end of its line: `<!-- rel
/// 2026-01-20T15:30:00Z c=1.0 i=0.7 -->`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RelationMeta {
    /// Time of writing.
    pub time: Option<Timestamp>,
    /// Confidence of the author, 0 to 1.
    pub confidence: Option<f64>,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
    /// Exact name of the target, if a link cannot contain it.
    pub target: Option<String>,
    /// Exact relation type, if the grammar cannot express it.
    pub relation_type: Option<String>,
}
