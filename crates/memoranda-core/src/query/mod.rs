//! Search queries and their syntax. Parsing never fails: unknown syntax is taken as plain words.
//!
//! Syntax: `word`, `"a phrase"`, `pref*`, `-excluded`, `+required`, `tag:name`, `-tag:name`, and
//! upper-case `AND`, `OR`, `NOT` with parentheses. Plain words are alternatives: each match raises
//! the score and none is required. Words joined by `AND` and `OR` are required: `(a OR b) AND c`
//! matches notes with `c` and with `a` or `b`. Tags are required; of tags joined by `OR` one is
//! required. `word OR tag:name` searches the tag as a word, because tags are indexed as words too.

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

use crate::language::Language;
use crate::tokenize::{to_nfc, tokenize};

/// Maximum number of words of a query; further words are ignored.
pub const MAX_WORDS: usize = 128;

/// A parsed search query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// Distinct terms in the order typed. The store may drop optional terms that are too common.
    pub terms: Vec<QueryTerm>,
    /// Required tags without `#`, in lower case: at least one tag of each list.
    pub tags: Vec<Vec<String>>,
    /// Excluded tags.
    pub forbidden_tags: Vec<String>,
    /// True if the query excludes something, even if the exclusion is too complex to apply.
    pub excludes: bool,
    /// Free text including stop words, for the embedding. Empty if the query consists of phrases
    /// and operators.
    pub free_text: String,
    /// Language other than English that the words show.
    pub language: Option<Language>,
}

/// One term of a query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct QueryTerm {
    /// Comparison of the words.
    pub kind: TermKind,
    /// Words in order as typed, at least one.
    pub words: Vec<String>,
    /// Effect of a match.
    pub need: TermRequirement,
    /// Groups of alternatives that contain the term, as bits; a note must match one term of each
    /// group.
    pub groups: u32,
    /// Stems of longer words that begin with the word; they count less than the word. The store
    /// fills them in, because only the index knows which words exist.
    pub beginnings: Vec<String>,
    /// Other forms of the word in a language other than English, which count like the word. The
    /// store fills them in.
    pub forms: Vec<String>,
}

/// Comparison of a term's words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TermKind {
    /// One word, folded and stemmed as in the index.
    Word,
    /// Adjacent words; the last one is a prefix.
    Prefix,
    /// Several adjacent words.
    Phrase,
}

/// Effect of a matching term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TermRequirement {
    /// The note must contain the term, in any passage.
    Required,
    /// A match raises the score; if no term is required, at least one optional term must match.
    Optional,
    /// The note must not contain the term.
    Excluded,
}

impl Query {
    /// Parses any text; the query may be empty. The text is composed to NFC as in the index.
    ///
    /// ```
    /// use memoranda_core::query::{Query, TermRequirement};
    ///
    /// let query = Query::parse("budget +2026 -draft tag:finance");
    /// let needs: Vec<_> = query.terms.iter().map(|term| term.need).collect();
    /// use TermRequirement::{Excluded, Optional, Required};
    /// assert_eq!(needs, [Optional, Required, Excluded]);
    /// assert_eq!(query.tags, [["finance"]]);
    /// ```
    pub fn parse(text: &str) -> Self {
        parse::parse_query(&to_nfc(text))
    }

    /// Returns all terms except the excluded ones.
    pub fn wanted_terms(&self) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter().filter(|term| term.need != TermRequirement::Excluded)
    }

    /// Returns true if a note may match by its embedding alone: the query requires no word.
    pub fn allows_semantic_match(&self) -> bool {
        let demands = |term: &QueryTerm| term.need == TermRequirement::Required || term.groups != 0;
        !self.free_text.is_empty() && !self.terms.iter().any(demands)
    }

    /// Returns true if the query contains an English function word and shows no other language.
    pub fn is_english(&self) -> bool {
        self.language.is_none() && tokenize(&self.free_text).any(|word| is_filler(word.text))
    }

    /// Returns true if the query has prefix terms.
    pub fn has_prefix_terms(&self) -> bool {
        self.terms.iter().any(|term| term.kind == TermKind::Prefix)
    }

    /// Returns true if the query has required or excluded terms.
    pub fn has_constraints(&self) -> bool {
        self.terms.iter().any(|term| term.need != TermRequirement::Optional || term.groups != 0)
    }

    /// Returns the groups of alternatives; a note must match one term of each group.
    pub fn required_groups(&self) -> impl Iterator<Item = Vec<&QueryTerm>> {
        let all = self.terms.iter().fold(0, |all, term| all | term.groups);
        let groups = (0..u32::BITS).map(|bit| 1 << bit).filter(move |group| all & group != 0);
        groups.map(|group| self.terms.iter().filter(|term| term.groups & group != 0).collect())
    }

    /// Returns true if the query consists of exclusions only.
    pub fn only_excludes(&self) -> bool {
        self.excludes && self.is_empty() && self.tags.is_empty()
    }

    /// Returns true if no term is sought (the query may still have tags).
    pub fn is_empty(&self) -> bool {
        self.wanted_terms().next().is_none()
    }
}
