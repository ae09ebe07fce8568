//! Match between a query and the title or permalink of a note.

use smallvec::SmallVec;

use crate::query::Query;
use crate::tokenize::{fold, stem, tokenize};

/// Quality of the match between a query and a title or permalink.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TitleMatch {
    /// At most some words match.
    None,
    /// The name contains all words of the query.
    AllWords,
    /// The name equals the query.
    Exact,
}

/// A query prepared for comparison with names.
pub struct TitleQuery {
    folded: Vec<String>,
    signs: String,
    /// Stems of all words of the query.
    wanted: Vec<String>,
    /// First letters of these words; rejects most words of a name without stemming.
    firsts: Vec<u8>,
}

impl TitleQuery {
    /// Prepares a query from its text and its parsed form.
    pub fn new(asked: &str, query: &Query) -> Self {
        let wanted = query.wanted_terms().flat_map(|term| &term.words);
        let wanted: Vec<_> = wanted.map(|word| stem(&fold(word)).to_owned()).collect();
        let folded: Vec<_> = tokenize(asked).map(|word| fold(word.text).into_owned()).collect();
        let firsts = folded.iter().chain(&wanted).filter_map(|word| word.bytes().next()).collect();
        Self { folded, signs: signs(asked), wanted, firsts }
    }

    /// Compares a title or permalink with the query.
    pub fn matches(&self, name: &str) -> TitleMatch {
        let mut is_same = !self.folded.is_empty();
        let mut same = self.folded.iter();
        let mut missing: SmallVec<[&str; 8]> = self.wanted.iter().map(String::as_str).collect();
        for word in tokenize(name) {
            let first = word.text.bytes().next().unwrap_or_default();
            if word.text.is_ascii() && !self.firsts.contains(&first.to_ascii_lowercase()) {
                is_same = false;
                continue;
            }
            let held = fold(word.text);
            is_same &= same.next().is_some_and(|same| *same == held);
            let stem = stem(&held);
            missing.retain(|wanted| *wanted != stem);
        }
        if is_same && same.next().is_none() && self.signs == signs(name) {
            return TitleMatch::Exact;
        }
        if !self.wanted.is_empty() && missing.is_empty() {
            TitleMatch::AllWords
        } else {
            TitleMatch::None
        }
    }
}

/// Returns the `+` and `#` signs that distinguish names such as `C++` and `C#`, each at its
/// position.
fn signs(text: &str) -> String {
    let mut signs = String::new();
    let mut before = ' ';
    for c in text.chars() {
        let belongs = before.is_alphanumeric() || before == c;
        match c {
            '+' | '#' if belongs => signs.push(c),
            c if c.is_alphanumeric() && !before.is_alphanumeric() => signs.push(' '),
            _ => {}
        }
        before = c;
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_or_by_all_words() {
        let check = |asked: &str, name: &str, expected| {
            let found = TitleQuery::new(asked, &Query::parse(asked)).matches(name);
            assert_eq!(found, expected, "{asked:?}");
        };
        check("search ranking", "Search Ranking", TitleMatch::Exact);
        check("specs/search-ranking", "specs/search-ranking", TitleMatch::Exact);
        check("The Who", "the who", TitleMatch::Exact);
        check("how are searches ranked", "Search Ranking", TitleMatch::AllWords);
        check("the plans", "A plan for Café", TitleMatch::AllWords);
        check("cafe plan", "A plan for Café", TitleMatch::AllWords);
        check("東京", "東京の計画", TitleMatch::AllWords);
        check("C++", "c++", TitleMatch::Exact);
        check("C++", "C#", TitleMatch::AllWords);
        check("C#", "C++", TitleMatch::AllWords);
        check("C#", "C", TitleMatch::AllWords);
        check("C# or C", "C or C#", TitleMatch::AllWords);
        check("search ranking?", "Search: Ranking", TitleMatch::Exact);
        check("# Plan + budget", "plan budget", TitleMatch::Exact);
        check("", "", TitleMatch::None);
        check("?", "!", TitleMatch::None);
    }
}
