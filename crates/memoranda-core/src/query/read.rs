//! Reading a query from text: once through, left to right, with nothing that can go wrong.

use std::collections::HashSet;

use super::{MAX_WORDS, Need, Query, Term, TermKind, stop_words};
use crate::note::tag_key;
use crate::words::{is_unspaced, words};

/// One item of a query as it was typed.
#[derive(Clone, Copy, Debug)]
enum Item<'t> {
    And,
    Or,
    Not,
    Tag(&'t str),
    Text { text: &'t str, sign: Sign, quoted: Quoted },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    None,
    Plus,
    Minus,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quoted {
    Yes,
    No,
}

/// What becomes of words that say little.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Filler {
    Drop,
    Keep,
}

/// Whether a word may go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Closed,
    Open,
}

pub(super) fn query(text: &str) -> Query {
    let typed = Items { rest: text, open_quotes: Quoted::Yes };
    let items: Vec<_> = typed.filter(Item::says_something).take(MAX_WORDS * 2).collect();
    let tags = items.iter().filter_map(|item| match item {
        Item::Tag(name) => Some(tag_key(name)),
        Item::And | Item::Or | Item::Not | Item::Text { .. } => None,
    });
    let mut query =
        Query { terms: terms(&items, Filler::Drop), tags: tags.collect(), said: said(&items) };
    if query.is_empty() {
        // Filler and exclusions alone ask for nothing; whoever typed them meant the words.
        query.terms = terms(&items, Filler::Keep);
        if query.is_empty() && query.tags.is_empty() {
            query.terms.iter_mut().for_each(|term| term.need = Need::Optional);
        }
    }
    if query.is_empty() && query.tags.is_empty() {
        // Operators alone: `OR` is also a word.
        let plain = |text| Item::Text { text, sign: Sign::None, quoted: Quoted::No };
        let bare: Vec<_> = text.split_whitespace().take(MAX_WORDS).map(plain).collect();
        query.terms = terms(&bare, Filler::Keep);
    }
    query
}

/// The words that stand free, as a text.
fn said(items: &[Item<'_>]) -> String {
    let mut free = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let is_negated = i.checked_sub(1).is_some_and(|i| matches!(items.get(i), Some(Item::Not)));
        if let &Item::Text { text, sign: Sign::None | Sign::Plus, quoted: Quoted::No } = item
            && !is_negated
            && !text.ends_with('*')
        {
            free.push(text);
        }
    }
    free.join(" ")
}

impl Item<'_> {
    /// Whether it is more than punctuation.
    fn says_something(&self) -> bool {
        match self {
            Self::And | Self::Or | Self::Not | Self::Tag(_) => true,
            Self::Text { text, .. } => words(text).next().is_some(),
        }
    }
}

fn terms(items: &[Item<'_>], filler: Filler) -> Vec<Term> {
    let mut collected = Collector::default();
    for (i, item) in items.iter().enumerate() {
        let &Item::Text { text, sign, quoted } = item else { continue };
        let before = i.checked_sub(1).and_then(|i| items.get(i));
        let after = items.get(i + 1);
        let beside_or = matches!(before, Some(Item::Or)) || matches!(after, Some(Item::Or));
        let beside_and = matches!(before, Some(Item::And)) || matches!(after, Some(Item::And));
        let need = if sign == Sign::Minus || matches!(before, Some(Item::Not)) {
            Need::Excluded
        } else if sign == Sign::Plus || (beside_and && !beside_or) {
            Need::Required
        } else {
            Need::Optional
        };
        collected.add(text, need, quoted, filler);
    }
    collected.terms
}

/// The terms found so far, each once, and how many words may still come.
#[derive(Default)]
struct Collector {
    terms: Vec<Term>,
    seen: HashSet<(TermKind, Vec<String>)>,
    words: usize,
}

impl Collector {
    fn add(&mut self, text: &str, need: Need, quoted: Quoted, filler: Filler) {
        let room = MAX_WORDS.saturating_sub(self.words);
        let text = match quoted {
            Quoted::Yes => text,
            Quoted::No => without_possessive(text),
        };
        let found: Vec<_> = words(text).take(room).map(|word| word.text.to_owned()).collect();
        let open = quoted == Quoted::No && text.ends_with('*');
        let end = if open { End::Open } else { End::Closed };
        // An exclusion stays whole: leaving out every text that shares two characters with it
        // would leave out far too much.
        if quoted == Quoted::Yes || need == Need::Excluded {
            self.push(found, end, need);
            return;
        }
        if found.iter().any(|word| word.starts_with(is_unspaced)) {
            self.add_unspaced(&found, end, need);
        } else if filler == Filler::Keep || !stop_words::are_filler(&found) {
            self.push(found, end, need);
        }
    }

    /// Without blanks nobody knows where a word of the script ends, so that every pair of
    /// neighbours is asked for; a text that holds the run holds all the pairs.
    fn add_unspaced(&mut self, found: &[String], end: End, need: Need) {
        let runs = found.chunk_by(|a, b| a.starts_with(is_unspaced) == b.starts_with(is_unspaced));
        for run in runs {
            if run.len() > 1 && run.iter().all(|word| word.starts_with(is_unspaced)) {
                run.windows(2).for_each(|pair| self.push(pair.to_vec(), End::Closed, need));
            } else {
                self.push(run.to_vec(), end, need);
            }
        }
    }

    fn push(&mut self, words: Vec<String>, end: End, need: Need) {
        let kind = match words.len() {
            0 => return,
            _ if end == End::Open => TermKind::Prefix,
            1 => TermKind::Word,
            _ => TermKind::Phrase,
        };
        if self.words + words.len() > MAX_WORDS {
            return;
        }
        let folded = words.iter().map(|word| word.to_lowercase()).collect();
        if self.seen.insert((kind, folded)) {
            self.words += words.len();
            self.terms.push(Term { kind, words, need });
        }
    }
}

/// The items of a query, as typed.
struct Items<'t> {
    rest: &'t str,
    /// Whether a closing quote may still come; without this, a text of opening quotes would be
    /// read to its end for each of them.
    open_quotes: Quoted,
}

impl<'t> Iterator for Items<'t> {
    type Item = Item<'t>;

    fn next(&mut self) -> Option<Item<'t>> {
        let text =
            self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(' || c == ')');
        if text.is_empty() {
            return None;
        }
        // `--flag` and `++` are not signs.
        let (sign, unsigned) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
            (Some(rest), _) if !rest.starts_with('-') => (Sign::Minus, rest),
            (_, Some(rest)) if !rest.starts_with('+') => (Sign::Plus, rest),
            _ => (Sign::None, text),
        };
        if let Some((phrase, rest)) = self.phrase(unsigned) {
            self.rest = rest;
            return Some(Item::Text { text: phrase, sign, quoted: Quoted::Yes });
        }
        if let Some((name, rest)) = text.strip_prefix("tag:").and_then(|name| self.phrase(name))
            && !name.trim_matches(['#', ' ']).is_empty()
        {
            self.rest = rest;
            return Some(Item::Tag(name));
        }
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (token, rest) = text.split_at(end);
        self.rest = rest;
        Some(match token.trim_end_matches(')') {
            "AND" => Item::And,
            "OR" => Item::Or,
            "NOT" => Item::Not,
            token => match token.strip_prefix("tag:").map(|name| name.trim_matches(['#', '"'])) {
                Some(name) if !name.is_empty() => Item::Tag(name),
                _ => {
                    let signs = text.len() - unsigned.len();
                    let text = token.get(signs..).unwrap_or_default();
                    Item::Text { text, sign, quoted: Quoted::No }
                }
            },
        })
    }
}

impl<'t> Items<'t> {
    /// The phrase that begins here and what follows it, if a quote opens and another closes.
    fn phrase(&mut self, text: &'t str) -> Option<(&'t str, &'t str)> {
        const QUOTES: [char; 3] = ['"', '“', '”'];
        let inside = text.strip_prefix(QUOTES)?;
        if self.open_quotes == Quoted::No {
            return None;
        }
        let found = inside.split_once(QUOTES);
        if found.is_none() {
            self.open_quotes = Quoted::No;
        }
        found
    }
}

/// `Caroline's` asks for Caroline: a text need not put the name in the same case.
fn without_possessive(text: &str) -> &str {
    let bare = text.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '*');
    let owner = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s"));
    owner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let query = Query::parse(text);
        let terms = query.terms.iter().map(|term| {
            let sign = match term.need {
                Need::Required => "+",
                Need::Optional => "",
                Need::Excluded => "-",
            };
            let words = term.words.join(" ");
            match term.kind {
                TermKind::Word => format!("{sign}{words}"),
                TermKind::Prefix => format!("{sign}{words}*"),
                TermKind::Phrase => format!("{sign}\"{words}\""),
            }
        });
        let tags = query.tags.iter().map(|tag| format!("tag:{tag}"));
        let shown: Vec<_> = terms.chain(tags).collect();
        assert_eq!(shown.join(" | "), expected, "{text:?}");
    }

    #[test]
    fn queries_are_read() {
        check("", "");
        check("  ?! ", "");
        check("deploy server", "deploy | server");
        check("deploy Deploy", "deploy");
        check("\"exact phrase\" other", "\"exact phrase\" | other");
        check("“curly quotes”", "\"curly quotes\"");
        check("\"unclosed words", "unclosed | words");
        check("5\" disk", "5 | disk");
        check("auth*", "auth*");
        check("foo-ba*", "foo ba*");
        check("cats -dogs", "cats | -dogs");
        check("cats -\"hot dogs\"", "cats | -\"hot dogs\"");
        check("cats NOT dogs", "cats | -dogs");
        check("cats AND NOT dogs", "+cats | -dogs");
        check("cats AND dogs", "+cats | +dogs");
        check("cats OR dogs", "cats | dogs");
        check("(cats OR dogs) AND food", "cats | dogs | +food");
        check("+must may", "+must | may");
        check("--force flag", "force | flag");
        check("-Werror", "Werror");
        check("OR", "OR");
        check("AND OR", "AND | OR");
        check("cats AND & dogs", "+cats | +dogs");
        check("foo-bar a.b user@x C++", "\"foo bar\" | \"a b\" | \"user x\" | C");
        check("tag:Rust search", "search | tag:rust");
        check("tag:#rust", "tag:rust");
        check("tag:\"Two three\" four", "four | tag:two three");
        check("tag:ÜBER", "tag:über");
        check("tag:\"\" x", "tag | x");
        check("tag:", "tag");
        check("what is the plan", "plan");
        check("what is the", "what | is | the");
        check("\"the\" plan", "the | plan");
        check("who doesn't like Caroline's dog?", "like | Caroline | dog");
        check("東京タワー", "\"東 京\" | \"京 タ\" | \"タ ワ\" | \"ワ ー\"");
        check("語", "語");
        check("\"東京都\"", "\"東 京 都\"");
        check("Rust言語", "Rust | \"言 語\"");
        check("x -東京都", "x | -\"東 京 都\"");
    }

    #[test]
    fn a_huge_query_is_read_to_its_limit() {
        for text in ["word ".repeat(200_000), "\"".repeat(1_000_000), "(".repeat(1_000_000)] {
            assert!(Query::parse(&text).terms.len() <= 1);
        }
        let many: String = (0..10_000).map(|i| format!("w{i} ")).collect();
        assert_eq!(Query::parse(&many).terms.len(), MAX_WORDS);
        let run: String = "漢字".repeat(100_000);
        assert!(Query::parse(&run).terms.len() <= MAX_WORDS);
    }

    proptest! {
        #[test]
        fn any_text_with_a_word_asks_for_something(
            text in "\\PC{0,40}|([a-c語\"*+() -]|AND |OR |NOT ){0,30}",
        ) {
            let query = Query::parse(&text);
            let count: usize = query.terms.iter().map(|term| term.words.len()).sum();
            prop_assert!(count <= MAX_WORDS);
            prop_assert!(query.terms.iter().all(|term| !term.words.is_empty()));
            let asks = !query.is_empty() || !query.tags.is_empty();
            prop_assert_eq!(asks, words(&text).next().is_some());
        }
    }
}
