//! A note as a tree, for display: blocks with their lines, and inline parts.
//!
//! The tree contains no HTML. Raw HTML is text, links have one of three schemes, and characters
//! that change or hide the text around them are parts of their own.

mod build;
mod inline;

use super::{Observation, parse};

pub use build::{SecretDisplay, markdown_tree};

/// A block, with its first and last line, from 1.
#[derive(Clone, PartialEq, Debug)]
pub struct TreeBlock {
    /// First line.
    pub line: usize,
    /// Last line.
    pub end_line: usize,
    /// Content.
    pub content: BlockContent,
}

/// Content of a block.
#[derive(Clone, PartialEq, Debug)]
pub enum BlockContent {
    /// A heading.
    Heading {
        /// Level, 1 to 6.
        level: u8,
        /// Text.
        inlines: Vec<TreeInline>,
    },
    /// A paragraph, or the text of a list item.
    Paragraph(Vec<TreeInline>),
    /// A list. Each item is a block.
    List {
        /// First number of an ordered list.
        start: Option<u64>,
        /// Items, each as blocks.
        items: Vec<TreeItem>,
    },
    /// A quotation, or a callout of this kind.
    Quote {
        /// Kind of a callout, such as `note`.
        callout: Option<&'static str>,
        /// Content.
        blocks: Vec<TreeBlock>,
    },
    /// A code block.
    Code {
        /// First word after the fence.
        language: String,
        /// Text.
        text: String,
    },
    /// A table.
    Table {
        /// Alignment of each column: `none`, `left`, `center` or `right`.
        align: Vec<&'static str>,
        /// Cells of the head.
        head: Vec<Vec<TreeInline>>,
        /// Rows of cells.
        rows: Vec<Vec<Vec<TreeInline>>>,
    },
    /// A thematic break.
    Rule,
    /// Raw HTML, to be shown as text.
    Html(String),
    /// A fact, in the place of a list item's text.
    Fact {
        /// The fact.
        fact: Box<Observation>,
        /// Text without the category.
        inlines: Vec<TreeInline>,
    },
    /// A stated relation, in the place of a list item's text.
    Relation {
        /// Type of the relation.
        relation_type: String,
        /// Target.
        target: LinkReference,
        /// Text in parentheses.
        context: Option<String>,
    },
    /// A task, in the place of a list item's text.
    Task {
        /// Character between the brackets.
        mark: char,
        /// Text.
        inlines: Vec<TreeInline>,
    },
}

/// An item of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct TreeItem {
    /// First line.
    pub line: usize,
    /// Last line.
    pub end_line: usize,
    /// Content.
    pub blocks: Vec<TreeBlock>,
}

/// An inline part.
#[derive(Clone, PartialEq, Debug)]
pub enum TreeInline {
    /// Text.
    Text(String),
    /// Emphasised parts.
    Emphasis(Vec<Self>),
    /// Strongly emphasised parts.
    Strong(Vec<Self>),
    /// Struck-out parts.
    Strike(Vec<Self>),
    /// Code.
    Code(String),
    /// A line break that the author wants.
    HardBreak,
    /// A line break of the source.
    SoftBreak,
    /// A link to a web page or a mail address.
    Link {
        /// Address: `http:`, `https:` or `mailto:`.
        href: String,
        /// Host, or mail address.
        host: String,
        /// Label.
        inlines: Vec<Self>,
    },
    /// A link to a note.
    WikiLink {
        /// Target.
        target: LinkReference,
        /// Text to show.
        label: String,
    },
    /// A picture. It is never loaded from elsewhere.
    Image {
        /// Address or path; `None` if it has a scheme that is not shown.
        href: Option<String>,
        /// Host; `None` for a file of the vault.
        host: Option<String>,
        /// Description.
        alt: String,
    },
    /// A tag, with its `#`.
    Tag(String),
    /// Raw HTML, to be shown as text.
    Html(String),
    /// A secret that is not shown.
    Secret,
    /// A character that is invisible or changes the direction of text.
    Invisible(char),
    /// A reference to a footnote.
    Footnote(String),
}

/// Name of a note in a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkReference {
    /// Name.
    pub name: String,
    /// Heading or block behind `#`.
    pub heading: Option<String>,
}

impl LinkReference {
    /// Parses the text between the brackets, without the label.
    pub fn parse(text: &str) -> Self {
        let name = super::link_name(text);
        let rest = text.get(name.len()..).unwrap_or_default();
        let heading = rest.strip_prefix('#').map(|heading| heading.trim().to_owned());
        Self { name: name.trim().to_owned(), heading: heading.filter(|text| !text.is_empty()) }
    }
}

/// Returns true if a character is invisible or changes the direction of text.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{00ad}'
            | '\u{061c}'
            | '\u{180e}'
            | '\u{e0000}'..='\u{e007f}'
    ) || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
}

#[cfg(test)]
mod tests;
