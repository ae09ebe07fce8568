//! What a search asks, read from any text a person or a program may type. Reading never fails:
//! what is not understood is taken as plain words.
//!
//! `word`, `"a phrase"`, `pref*`, `-excluded`, `+required`, `tag:name`, `-tag:name`, and upper-case `AND`,
//! `OR`, `NOT`. Words that are merely side by side are alternatives: each that a passage holds
//! lifts it, none is demanded. What is joined by `AND` and `OR`, with brackets or without, is
//! demanded as it is said: of `(a OR b) AND c` a note must hold `c` and one of the others. Tags are
//! demanded too, one of those that `OR` stands between; beside a word, `OR tag:name` looks for the
//! tag as for a word, since notes are found by the words of their tags as well.

mod boolean;
mod frontmatter_filter;
mod parse;
mod prefix_stems;
mod stop_words;
mod time_range;
mod typo;

pub use frontmatter_filter::{
    FrontmatterKeyError, MetaFilter, MetaScalar, MetaTest, parse_frontmatter_key,
};
pub use prefix_stems::prefix_stem_words;
pub(crate) use stop_words::is_filler;
pub use time_range::{TimeExpression, TimeRange};
pub use typo::{edit_distance, max_typos};

use crate::tokenize::to_nfc;

/// The most words that a query is read to; more than anyone asks, few enough to be cheap.
pub const MAX_WORDS: usize = 128;

/// What a search asks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// What to look for, each once, in the order typed. A store that finds an optional term too
    /// common to tell anything may drop it before searching.
    pub terms: Vec<QueryTerm>,
    /// Tags that a note must carry, one of each of these lists, without `#`, in lower case.
    pub tags: Vec<Vec<String>>,
    /// Tags that a note must not carry.
    pub forbidden_tags: Vec<String>,
    /// Whether it says that something must not be there, also where that is too much to ask for.
    pub excludes: bool,
    /// What was said freely, filler and all: the part whose meaning can be compared. Empty if
    /// the query is made of phrases and signs alone.
    pub said: String,
}

/// One thing to look for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct QueryTerm {
    /// How its words are compared.
    pub kind: TermKind,
    /// Its words in order, at least one, as typed.
    pub words: Vec<String>,
    /// What it means for a text to hold it.
    pub need: TermRequirement,
    /// The groups of alternatives that it belongs to, each a bit: a note must hold one of each.
    pub groups: u32,
}

/// How a term's words are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// One word, as the index folds and stems it.
    Word,
    /// Words in a row, of which the last may be the beginning of a longer one.
    Prefix,
    /// Several words in a row.
    Phrase,
}

/// What it means for a note to hold a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TermRequirement {
    /// The note must hold it, in whatever passage.
    Required,
    /// The better for holding it; if nothing is required, one of these must be held.
    Optional,
    /// The note must not hold it.
    Excluded,
}

impl Query {
    /// Reads a query. Any text is one, though it may ask for nothing. Its letters are composed, as
    /// those that the index keeps.
    pub fn parse(text: &str) -> Self {
        parse::parse_query(&to_nfc(text))
    }

    /// The terms that a text may be shown for: all but the excluded.
    pub fn wanted(&self) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter().filter(|term| term.need != TermRequirement::Excluded)
    }

    /// Whether a text may be found by its meaning alone: whoever demands a word wants the word.
    pub fn is_free(&self) -> bool {
        let demands = |term: &QueryTerm| term.need == TermRequirement::Required || term.groups != 0;
        !self.said.is_empty() && !self.terms.iter().any(demands)
    }

    /// Whether it holds beginnings of words.
    pub fn has_beginnings(&self) -> bool {
        self.terms.iter().any(|term| term.kind == TermKind::Prefix)
    }

    /// Whether it says what a note must or must not hold.
    pub fn is_demanding(&self) -> bool {
        self.terms.iter().any(|term| term.need != TermRequirement::Optional || term.groups != 0)
    }

    /// The groups of alternatives of which a note must hold one each.
    pub fn groups(&self) -> impl Iterator<Item = Vec<&QueryTerm>> {
        let all = self.terms.iter().fold(0, |all, term| all | term.groups);
        let groups = (0..u32::BITS).map(|bit| 1 << bit).filter(move |group| all & group != 0);
        groups.map(|group| self.terms.iter().filter(|term| term.groups & group != 0).collect())
    }

    /// Whether it says what must not be there, and nothing else.
    pub fn only_excludes(&self) -> bool {
        self.excludes && self.is_empty() && self.tags.is_empty()
    }

    /// Whether there is nothing to look for in a text (there may still be tags).
    pub fn is_empty(&self) -> bool {
        self.wanted().next().is_none()
    }
}
