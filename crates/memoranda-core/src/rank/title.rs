//! Notes whose name is what was asked for.

use crate::query::Query;
use crate::words::{fold, stem, words};

/// How well a note's title or permalink matches a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TitleMatch {
    /// Not, or in part only.
    None,
    /// It holds all the query's words.
    AllWords,
    /// It is the query.
    Exact,
}

impl TitleMatch {
    /// How well a title or permalink matches what was asked, in the words of `asked` itself.
    pub fn of(asked: &str, query: &Query, name: &str) -> Self {
        let folded = |text| words(text).map(|word| fold(word.text));
        let is_same = words(asked).next().is_some() && folded(asked).eq(folded(name));
        if is_same && signs(asked) == signs(name) {
            return Self::Exact;
        }
        let holds = |word: &String| {
            let wanted = fold(word);
            folded(name).any(|held| stem(&held) == stem(&wanted))
        };
        let mut wanted = query.wanted().flat_map(|term| &term.words).peekable();
        let holds_all = wanted.peek().is_some() && wanted.all(holds);
        if holds_all { Self::AllWords } else { Self::None }
    }
}

/// The signs behind words that make other names of them, as in `C++` and `C#`, each in its place.
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
            assert_eq!(TitleMatch::of(asked, &Query::parse(asked), name), expected, "{asked:?}");
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
