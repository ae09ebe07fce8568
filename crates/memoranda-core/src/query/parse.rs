//! The query parser: one pass from left to right that accepts any text.

use std::collections::HashMap;

use super::boolean::{self, BooleanToken};
use super::{MAX_WORDS, Query, QueryTerm, TermKind, TermRequirement, stop_words};
use crate::language::Language;
use crate::note::tag_key;
use crate::tokenize::{fold, is_unspaced, tokenize};

/// An item of a query as typed.
#[derive(Clone, Copy, Debug)]
enum QueryItem<'t> {
    And,
    Or,
    Not,
    Open,
    Close,
    Tag { name: &'t str, sign: TermSign },
    Text { text: &'t str, sign: TermSign, quoted: TermQuoting },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TermSign {
    None,
    Plus,
    Minus,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TermQuoting {
    Yes,
    No,
}

/// Treatment of stop words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StopWordHandling {
    Drop,
    /// Keep those that `+` or `AND` requires.
    KeepRequired,
    Keep,
}

/// Negation of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ItemNegation {
    Yes,
    No,
    /// The item is part of a negated conjunction, which the search cannot express.
    Unsaid,
}

/// End of a word: closed, or open for a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WordEnd {
    Closed,
    Open,
}

pub(super) fn parse_query(text: &str) -> Query {
    let typed = QueryItems { rest: text, open_quotes: TermQuoting::Yes };
    let mut items: Vec<_> = typed.filter(QueryItem::has_words).take(MAX_WORDS * 3).collect();
    let negated = negations(&items);
    convert_alternative_tags(&mut items, &negated);
    let forbidden = items.iter().zip(&negated).filter_map(|(item, negated)| match item {
        QueryItem::Tag { name, .. } if *negated == ItemNegation::Yes => Some(tag_names(name)),
        _ => None,
    });
    let free_text = free_text(&items);
    let language = Language::of_query(&free_text);
    let mut query = Query {
        terms: terms(&items, StopWordHandling::Drop, language),
        tags: required_tags(&items, &negated),
        forbidden_tags: forbidden.flatten().take(MAX_WORDS).collect(),
        excludes: negated.iter().any(|negated| *negated != ItemNegation::No),
        free_text,
        language,
    };
    // A query of stop words only is searched by these words.
    let filler =
        if query.is_empty() { StopWordHandling::Keep } else { StopWordHandling::KeepRequired };
    query.terms = terms(&items, filler, language);
    // A query of exclusions only is empty and never searched by its excluded words.
    if query.is_empty() && query.tags.is_empty() && !query.excludes {
        // A query of operators only: `OR` is also a word.
        let plain = |text| QueryItem::Text { text, sign: TermSign::None, quoted: TermQuoting::No };
        let bare: Vec<_> = text.split_whitespace().take(MAX_WORDS).map(plain).collect();
        query.terms = terms(&bare, StopWordHandling::Keep, language);
    }
    query
}

/// Converts tags that are alternatives to words into words.
fn convert_alternative_tags(items: &mut [QueryItem<'_>], negated: &[ItemNegation]) {
    let is_one =
        |item: &QueryItem<'_>| matches!(item, QueryItem::Text { .. } | QueryItem::Tag { .. });
    let goes_on = |a: &QueryItem<'_>, b: &QueryItem<'_>| matches!((a, b), (QueryItem::Or, other) | (other, QueryItem::Or) if is_one(other));
    let is_bracket =
        |item: Option<&QueryItem<'_>>| matches!(item, Some(QueryItem::Open | QueryItem::Close));
    let mut start = 0;
    while start < items.len() {
        let rest = items.get(start..).unwrap_or_default();
        let length = rest.windows(2).take_while(|pair| goes_on(&pair[0], &pair[1])).count() + 1;
        let end = start + length;
        let chain = rest.get(..length).unwrap_or_default();
        let before = chain.first().filter(|item| matches!(item, QueryItem::Or));
        let behind = chain.last().filter(|item| matches!(item, QueryItem::Or));
        let is_beside_brackets = before.is_some()
            && is_bracket(start.checked_sub(1).and_then(|at| items.get(at)))
            || behind.is_some() && is_bracket(items.get(end));
        let has_word = chain.iter().any(|item| matches!(item, QueryItem::Text { .. }));
        if length > 1 && (has_word || is_beside_brackets) {
            for at in start..end {
                convert_tag_to_word(items, negated, at);
            }
        }
        start = end;
    }
    // Items within parentheses that are an alternative are alternatives too.
    for at in 0..items.len() {
        if !matches!(items.get(at), Some(QueryItem::Or)) {
            continue;
        }
        let behind = match items.get(at + 1) {
            Some(QueryItem::Open) => closing_parenthesis(items, at + 1).map(|end| at + 1..end),
            _ => None,
        };
        let before = match at.checked_sub(1).map(|end| (end, items.get(end))) {
            Some((end, Some(QueryItem::Close))) => {
                opening_parenthesis(items, end).map(|open| open..end)
            }
            _ => None,
        };
        for range in [before, behind].into_iter().flatten() {
            for at in range {
                convert_tag_to_word(items, negated, at);
            }
        }
    }
}

fn convert_tag_to_word(items: &mut [QueryItem<'_>], negated: &[ItemNegation], at: usize) {
    if let (Some(item), Some(ItemNegation::No)) = (items.get_mut(at), negated.get(at))
        && let QueryItem::Tag { name, sign } = *item
    {
        *item = QueryItem::Text { text: name, sign, quoted: TermQuoting::Yes };
    }
}

/// Returns the required tags: tags joined by `OR` form one list, tags joined by `,` one list each.
fn required_tags(items: &[QueryItem<'_>], negated: &[ItemNegation]) -> Vec<Vec<String>> {
    let mut demanded: Vec<Vec<String>> = Vec::new();
    let mut before = None;
    for (at, (item, negated)) in items.iter().zip(negated).enumerate() {
        let QueryItem::Tag { name, .. } = item else { continue };
        if *negated != ItemNegation::No {
            continue;
        }
        let is_alternative =
            at >= 2 && before == Some(at - 2) && matches!(items.get(at - 1), Some(QueryItem::Or));
        let is_first = matches!(items.get(at + 1), Some(QueryItem::Or));
        match demanded.last_mut().filter(|_| is_alternative) {
            Some(alternatives) => alternatives.extend(tag_names(name)),
            None if is_first => demanded.push(tag_names(name).collect()),
            None => demanded.extend(tag_names(name).map(|name| vec![name])),
        }
        before = Some(at);
    }
    let mut room = MAX_WORDS;
    for alternatives in &mut demanded {
        alternatives.truncate(room);
        room -= alternatives.len();
    }
    demanded.retain(|alternatives| !alternatives.is_empty());
    demanded
}

/// Returns the normalized names in one `tag:` item.
fn tag_names(typed: &str) -> impl Iterator<Item = String> {
    let names = typed.split(',').map(|name| tag_key(name.trim()));
    names.filter(|name| !name.is_empty())
}

/// Returns the text after `tag:`.
fn strip_tag_prefix(text: &str) -> Option<&str> {
    let (sign, name) = text.split_at_checked("tag:".len())?;
    sign.eq_ignore_ascii_case("tag:").then_some(name)
}

/// Returns the unquoted words that are not negated, as a text.
fn free_text(items: &[QueryItem<'_>]) -> String {
    let mut free = Vec::new();
    for (item, negated) in items.iter().zip(negations(items)) {
        if let &QueryItem::Text { text, quoted: TermQuoting::No, .. } = item
            && negated == ItemNegation::No
            && !text.ends_with('*')
        {
            free.push(text);
        }
    }
    free.join(" ")
}

impl QueryItem<'_> {
    /// Returns true if the item is more than punctuation.
    fn has_words(&self) -> bool {
        match self {
            Self::And | Self::Or | Self::Not | Self::Open | Self::Close | Self::Tag { .. } => true,
            Self::Text { text, .. } => tokenize(text).next().is_some(),
        }
    }
}

/// Returns the negation of each item by a sign or `NOT` before the item or its parentheses.
fn negations(items: &[QueryItem<'_>]) -> Vec<ItemNegation> {
    let mut negated = vec![ItemNegation::No; items.len()];
    for (at, item) in items.iter().enumerate() {
        let (range, how) = match (item, items.get(at + 1)) {
            (
                QueryItem::Text { sign: TermSign::Minus, .. }
                | QueryItem::Tag { sign: TermSign::Minus, .. },
                _,
            ) => (at..at + 1, ItemNegation::Yes),
            (QueryItem::Not, Some(QueryItem::Text { .. } | QueryItem::Tag { .. })) => {
                (at + 1..at + 2, ItemNegation::Yes)
            }
            (QueryItem::Not, Some(QueryItem::Open)) => match closing_parenthesis(items, at + 1) {
                Some(end) => {
                    let inside = items.get(at + 2..end).unwrap_or_default();
                    let is_choice = |item: &QueryItem<'_>| {
                        let (QueryItem::Text { sign, .. } | QueryItem::Tag { sign, .. }) = item
                        else {
                            return matches!(item, QueryItem::Or);
                        };
                        *sign == TermSign::None
                    };
                    let how = if inside.iter().all(is_choice) {
                        ItemNegation::Yes
                    } else {
                        ItemNegation::Unsaid
                    };
                    (at + 2..end, how)
                }
                None => continue,
            },
            _ => continue,
        };
        let places = negated.get_mut(range).into_iter().flatten();
        places.filter(|place| **place == ItemNegation::No).for_each(|place| *place = how);
    }
    negated
}

/// Returns the index of the parenthesis that closes this one.
fn closing_parenthesis(items: &[QueryItem<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    items.iter().enumerate().skip(open).find_map(|(at, item)| {
        match item {
            QueryItem::Open => depth += 1,
            QueryItem::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Returns the index of the parenthesis that opens this one.
fn opening_parenthesis(items: &[QueryItem<'_>], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    items.iter().enumerate().take(close + 1).rev().find_map(|(at, item)| {
        match item {
            QueryItem::Close => depth += 1,
            QueryItem::Open => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

fn terms(
    items: &[QueryItem<'_>],
    filler: StopWordHandling,
    language: Option<Language>,
) -> Vec<QueryTerm> {
    let mut collected = TermCollector { language, ..TermCollector::default() };
    let mut tokens = Vec::with_capacity(items.len());
    for (at, (item, negated)) in items.iter().zip(negations(items)).enumerate() {
        // A stop word that is required by `+` or `AND` is searched like any other word.
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let is_joined =
            beside.filter_map(|at| items.get(at)).any(|item| matches!(item, QueryItem::And));
        let is_required = is_joined || matches!(item, QueryItem::Text { sign: TermSign::Plus, .. });
        let filler = match filler {
            StopWordHandling::KeepRequired if is_required => StopWordHandling::Keep,
            other => other,
        };
        let token = match *item {
            QueryItem::Text { text, quoted, .. } if negated == ItemNegation::Yes => {
                collected.add(text, TermRequirement::Excluded, quoted, filler);
                BooleanToken::Nothing
            }
            QueryItem::Text { .. } if negated == ItemNegation::Unsaid => BooleanToken::Nothing,
            QueryItem::Text { text, sign, quoted } => {
                let need = if sign == TermSign::Plus {
                    TermRequirement::Required
                } else {
                    TermRequirement::Optional
                };
                BooleanToken::Terms(collected.add(text, need, quoted, filler))
            }
            QueryItem::And => BooleanToken::And,
            QueryItem::Or => BooleanToken::Or,
            QueryItem::Open => BooleanToken::Open,
            QueryItem::Close => BooleanToken::Close,
            QueryItem::Tag { .. } => BooleanToken::Nothing,
            QueryItem::Not => continue,
        };
        tokens.push(token);
    }
    let mut terms = collected.terms;
    let is_operator = |token: &BooleanToken| matches!(token, BooleanToken::And | BooleanToken::Or);
    if tokens.iter().any(is_operator) {
        apply_operators(&mut terms, &tokens);
    }
    terms
}

/// Marks the terms that the operators require.
fn apply_operators(terms: &mut [QueryTerm], tokens: &[BooleanToken]) {
    let groups = boolean::required_groups(tokens).unwrap_or_else(|| {
        // A malformed expression falls back to the words next to `AND`.
        let words: Vec<_> = tokens
            .iter()
            .filter(|token| !matches!(token, BooleanToken::Open | BooleanToken::Close))
            .collect();
        let is = |at: Option<usize>, token| at.and_then(|at| words.get(at)) == Some(&&token);
        let joined = words.iter().enumerate().filter(|&(at, _)| {
            let beside = |token: BooleanToken| {
                is(at.checked_sub(1), token.clone()) || is(Some(at + 1), token)
            };
            beside(BooleanToken::And) && !beside(BooleanToken::Or)
        });
        let terms = joined.filter_map(|(_, token)| match token {
            BooleanToken::Terms(terms) => Some(terms),
            _ => None,
        });
        terms.flatten().map(|&term| [term].into()).collect()
    });
    for (bit, group) in groups.iter().enumerate() {
        let members = group.iter().copied();
        for term in members {
            let Some(term) =
                terms.get_mut(term).filter(|term| term.need != TermRequirement::Excluded)
            else {
                continue;
            };
            match group.len() {
                1 => term.need = TermRequirement::Required,
                _ => term.groups |= 1u32.checked_shl(bit as u32).unwrap_or(0),
            }
        }
    }
}

/// Distinct terms and the number of their words.
#[derive(Default)]
struct TermCollector {
    terms: Vec<QueryTerm>,
    seen: HashMap<(TermKind, Vec<String>), usize>,
    words: usize,
    language: Option<Language>,
}

impl TermCollector {
    /// Adds the terms of a text and returns their indices.
    fn add(
        &mut self,
        text: &str,
        need: TermRequirement,
        quoted: TermQuoting,
        filler: StopWordHandling,
    ) -> Vec<usize> {
        let room = MAX_WORDS.saturating_sub(self.words);
        let text = match quoted {
            TermQuoting::Yes => text,
            TermQuoting::No => without_possessive(text),
        };
        let mut found: Vec<_> =
            tokenize(text).take(room).map(|word| word.text.to_owned()).collect();
        if quoted == TermQuoting::No && self.language == Some(Language::French) {
            drop_elided_article(&mut found, text);
        }
        let open = quoted == TermQuoting::No && text.ends_with('*');
        let end = if open { WordEnd::Open } else { WordEnd::Closed };
        // An exclusion stays a phrase: excluding every text with one of its character pairs would
        // exclude too much.
        if quoted == TermQuoting::Yes || need == TermRequirement::Excluded {
            self.push(found, end, need).into_iter().collect()
        } else if found.iter().any(|word| word.starts_with(is_unspaced)) {
            self.add_unspaced(&found, end, need)
        } else if filler == StopWordHandling::Keep || !self.are_filler(&found) {
            self.push(found, end, need).into_iter().collect()
        } else {
            Vec::new()
        }
    }

    /// Returns true if words say nothing about the subject, in English or in the query's language.
    fn are_filler(&self, words: &[String]) -> bool {
        let is_function_word = |word: &String| {
            self.language.is_some_and(|language| language.is_function_word(&fold(word)))
        };
        stop_words::are_filler(words) || words.iter().all(is_function_word)
    }

    /// Adds every pair of adjacent characters, because scripts without spaces have no word
    /// boundaries. A text that contains the run contains all pairs.
    fn add_unspaced(
        &mut self,
        found: &[String],
        end: WordEnd,
        need: TermRequirement,
    ) -> Vec<usize> {
        let mut added = Vec::new();
        let runs = found.chunk_by(|a, b| a.starts_with(is_unspaced) == b.starts_with(is_unspaced));
        for run in runs {
            if run.len() > 1 && run.iter().all(|word| word.starts_with(is_unspaced)) {
                added.extend(
                    run.windows(2)
                        .filter_map(|pair| self.push(pair.to_vec(), WordEnd::Closed, need)),
                );
            } else {
                added.extend(self.push(run.to_vec(), end, need));
            }
        }
        added
    }

    /// Adds a term and returns its index; `None` if the query is full.
    fn push(&mut self, words: Vec<String>, end: WordEnd, need: TermRequirement) -> Option<usize> {
        let kind = match words.len() {
            0 => return None,
            _ if end == WordEnd::Open => TermKind::Prefix,
            1 => TermKind::Word,
            _ => TermKind::Phrase,
        };
        let folded = (kind, words.iter().map(|word| word.to_lowercase()).collect());
        if let Some(&known) = self.seen.get(&folded) {
            return Some(known);
        }
        if self.words + words.len() > MAX_WORDS {
            return None;
        }
        self.seen.insert(folded, self.terms.len());
        self.words += words.len();
        self.terms.push(QueryTerm {
            kind,
            words,
            need,
            groups: 0,
            beginnings: Vec::new(),
            forms: Vec::new(),
        });
        Some(self.terms.len() - 1)
    }
}

/// Iterator over the items of a query.
struct QueryItems<'t> {
    rest: &'t str,
    /// Tracks if a closing quote may follow; otherwise many opening quotes would take quadratic
    /// time.
    open_quotes: TermQuoting,
}

impl<'t> Iterator for QueryItems<'t> {
    type Item = QueryItem<'t>;

    fn next(&mut self) -> Option<QueryItem<'t>> {
        let text = self.rest.trim_start();
        for (sign, item) in [('(', QueryItem::Open), (')', QueryItem::Close)] {
            if let Some(rest) = text.strip_prefix(sign) {
                self.rest = rest;
                return Some(item);
            }
        }
        if text.is_empty() {
            return None;
        }
        // `--flag` and `++` do not begin with a sign.
        let (sign, unsigned) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
            (Some(rest), _) if !rest.starts_with('-') => (TermSign::Minus, rest),
            (_, Some(rest)) if !rest.starts_with('+') => (TermSign::Plus, rest),
            _ => (TermSign::None, text),
        };
        if let Some((phrase, rest)) = self.phrase(unsigned) {
            self.rest = rest;
            return Some(QueryItem::Text { text: phrase, sign, quoted: TermQuoting::Yes });
        }
        if let Some((name, rest)) = strip_tag_prefix(unsigned).and_then(|name| self.phrase(name))
            && !name.trim_matches(['#', ' ']).is_empty()
        {
            self.rest = rest;
            return Some(QueryItem::Tag { name, sign });
        }
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let token = text.get(..end).unwrap_or(text).trim_end_matches(')');
        self.rest = text.get(token.len()..).unwrap_or_default();
        Some(match token {
            "AND" => QueryItem::And,
            "OR" => QueryItem::Or,
            "NOT" => QueryItem::Not,
            token => {
                let signs = text.len() - unsigned.len();
                let text = token.get(signs..).unwrap_or_default();
                match strip_tag_prefix(text).map(|name| name.trim_matches(['#', '"', ','])) {
                    Some(name) if !name.is_empty() => QueryItem::Tag { name, sign },
                    _ => QueryItem::Text { text, sign, quoted: TermQuoting::No },
                }
            }
        })
    }
}

impl<'t> QueryItems<'t> {
    /// Returns the phrase that begins here and the rest, if its quote is closed.
    fn phrase(&mut self, text: &'t str) -> Option<(&'t str, &'t str)> {
        const QUOTES: [char; 3] = ['"', '“', '”'];
        let inside = text.strip_prefix(QUOTES)?;
        if self.open_quotes == TermQuoting::No {
            return None;
        }
        let found = inside.split_once(QUOTES);
        if found.is_none() {
            self.open_quotes = TermQuoting::No;
        }
        found
    }
}

/// Removes a French article or pronoun that an apostrophe joins to the next word: `l'ordinateur`.
fn drop_elided_article(words: &mut Vec<String>, text: &str) {
    const ELIDED: [&str; 9] = ["c", "d", "j", "l", "m", "n", "qu", "s", "t"];
    let is_elided = |word: &String| ELIDED.contains(&fold(word).as_ref());
    if words.len() > 1 && text.contains(['\'', '’']) && words.first().is_some_and(is_elided) {
        words.remove(0);
    }
}

/// Removes a possessive ending: `Caroline's` matches `Caroline`.
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
                TermRequirement::Required => "+",
                TermRequirement::Optional => "",
                TermRequirement::Excluded => "-",
            };
            let groups = (0..32).filter(|bit| term.groups & 1 << bit != 0);
            let groups: String = groups.map(|bit| (bit + 1).to_string()).collect();
            let sign = format!("{sign}{groups}");
            let words = term.words.join(" ");
            match term.kind {
                TermKind::Word => format!("{sign}{words}"),
                TermKind::Prefix => format!("{sign}{words}*"),
                TermKind::Phrase => format!("{sign}\"{words}\""),
            }
        });
        let tags = query.tags.iter().map(|any| format!("tag:{}", any.join("/tag:")));
        let tags = tags.chain(query.forbidden_tags.iter().map(|tag| format!("-tag:{tag}")));
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
        check("tag:a tag:b", "tag:a | tag:b");
        check("TAG:Hot,#tea, x", "x | tag:hot | tag:tea");
        check("tag:a OR tag:b OR tag:c/d tag:e", "tag:a/tag:b/tag:c/d | tag:e");
        check("(tag:a OR tag:b) AND (tag:c OR tag:d) x", "x | tag:a/tag:b | tag:c/tag:d");
        check("tag:a OR tea", "1a | 1tea");
        check("tea OR tag:a OR tag:b/c", "1tea | 1a | 1\"b c\"");
        check("(x AND y) OR tag:a", "1x | 2y | 12a");
        check("tag:a OR (x AND y) tag:b", "12a | 1x | 2y | tag:b");
        check("(tag:a) OR (tag:b)", "1a | 1b");
        check("(tag:a OR tag:b) OR tea", "1a | 1b | 1tea");
        check("(tag:w AND plan) OR (tag:h AND plan) tag:x", "12w | +23plan | 13h | tag:x");
        check("tag:a OR", "tag:a");
        check("OR tag:a -tag:b", "tag:a | -tag:b");
        check("tag:, x", "tag | x");
        check("tag:\",\" OR tag:\",\" x", "x");
        check("cats -dogs", "cats | -dogs");
        check("cats -\"hot dogs\"", "cats | -\"hot dogs\"");
        check("cats NOT dogs", "cats | -dogs");
        check("cats AND NOT dogs", "+cats | -dogs");
        check("cats AND dogs", "+cats | +dogs");
        check("cats OR dogs", "1cats | 1dogs");
        check("cats OR dogs OR \"tall horses\"", "1cats | 1dogs | 1\"tall horses\"");
        check("(cats OR dogs) AND food", "1cats | 1dogs | +food");
        check("(cats OR dogs) AND (food OR toys)", "1cats | 1dogs | 2food | 2toys");
        check("cats OR dogs AND food", "12cats | 1dogs | 2food");
        check("food cats OR dogs", "food | cats | dogs");
        check("cats OR dogs -birds", "1cats | 1dogs | -birds");
        check("cats OR the", "+cats");
        check("food AND NOT (cats OR dogs)", "+food | -cats | -dogs");
        check("food AND NOT (cats AND dogs)", "+food");
        check("food NOT (cats AND NOT dogs)", "food");
        check("food AND NOT (cats OR dogs", "+food | cats | dogs");
        check("tag:pets OR cats", "1pets | 1cats");
        check("cats OR NOT dogs", "cats | -dogs");
        check("(cats dogs) AND food", "cats | +dogs | +food");
        check("cats AND (dogs", "+cats | +dogs");
        check("f(x) AND g(y)", "+\"f x\" | +\"g y\"");
        check("+must may", "+must | may");
        check("--force flag", "force | flag");
        check("-Werror", "-Werror");
        check("NOT fox", "-fox");
        check("NOT \"quick brown\"", "-\"quick brown\"");
        check("NOT (fox)", "-fox");
        check("the -fox", "the | -fox");
        check("NOT (cats AND dogs)", "");
        check("NOT tag:pets", "-tag:pets");
        check("cats NOT tag:pets", "cats | -tag:pets");
        check("cats -tag:pets +tag:\"new year\"", "cats | tag:new year | -tag:pets");
        check("cats NOT (dogs OR tag:pets)", "cats | -dogs | -tag:pets");
        check("cats NOT (dogs AND tag:pets)", "cats");
        check("-tag: cats", "-tag | cats");
        check("tag:pets -dogs", "-dogs | tag:pets");
        check("NOT", "NOT");
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
    fn a_huge_query_is_truncated() {
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
        fn any_text_with_a_word_has_a_term(
            text in "\\PC{0,40}|([a-c語\"*+() -]|AND |OR |NOT ){0,30}",
        ) {
            let query = Query::parse(&text);
            let count: usize = query.terms.iter().map(|term| term.words.len()).sum();
            prop_assert!(count <= MAX_WORDS);
            prop_assert!(query.terms.iter().all(|term| !term.words.is_empty()));
            let asks = !query.is_empty() || !query.tags.is_empty();
            // A query of exclusions only contains words and is empty.
            let holds_words = tokenize(&text).next().is_some();
            prop_assert!(asks == holds_words || query.only_excludes(), "{:?}", query);
        }
    }
}
