//! A query as a SQLite FTS5 expression. Only the string is made here; the store runs it.
//!
//! Every word stands in quotes and holds nothing but letters, digits, marks and `_`, so no text
//! can be read as syntax. The tree is flat, because FTS5 refuses deep ones.

use super::{Query, QueryTerm, TermKind, TermRequirement, prefix_stem_words};

/// Whether words must be whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Words as typed.
    Exact,
    /// Every word of three characters or more may be the beginning of a longer one.
    Prefix,
}

/// The query as an FTS5 `MATCH` expression; `None` if it asks for no word.
pub fn match_expression(query: &Query, mode: Mode) -> Option<String> {
    let joined = |needs: &[TermRequirement], operator: &str| {
        let terms = query.terms.iter().filter(|term| needs.contains(&term.need));
        terms.map(|term| term.expression(mode)).collect::<Vec<_>>().join(operator)
    };
    let required = joined(&[TermRequirement::Required], " AND ");
    let optional = joined(&[TermRequirement::Optional], " OR ");
    let excluded = joined(&[TermRequirement::Excluded], " OR ");
    let wanted = match (required.is_empty(), optional.is_empty()) {
        (true, true) => return None,
        (true, false) => optional,
        (false, true) => required,
        (false, false) => {
            // FTS5 has no "the better for it". Alternatives beside a required term that is sure
            // to match demand nothing, and still count for the score.
            let any = joined(&[TermRequirement::Required, TermRequirement::Optional], " OR ");
            format!("({required}) AND ({any})")
        }
    };
    if excluded.is_empty() { Some(wanted) } else { Some(format!("({wanted}) NOT ({excluded})")) }
}

impl QueryTerm {
    /// The term alone as an FTS5 expression: for asking how common it is before searching.
    pub fn expression(&self, mode: Mode) -> String {
        // The index separates the characters of unspaced scripts by blanks, as the words here.
        let quoted = self.words.join(" ").replace('\0', "").replace('"', "\"\"");
        let star = match (self.kind, mode) {
            (TermKind::Prefix, Mode::Exact | Mode::Prefix) => "*",
            (TermKind::Word, Mode::Prefix) if self.is_long() => "*",
            (TermKind::Word | TermKind::Phrase, Mode::Exact | Mode::Prefix) => "",
        };
        let asked = format!("\"{quoted}\"{star}");
        match (self.kind, self.words.as_slice()) {
            (TermKind::Prefix, [begin]) => {
                let words = prefix_stem_words(begin).into_iter().map(|word| format!("\"{word}\""));
                let all: Vec<String> = std::iter::once(asked).chain(words).collect();
                if all.len() == 1 { all.concat() } else { format!("({})", all.join(" OR ")) }
            }
            _ => asked,
        }
    }

    fn is_long(&self) -> bool {
        self.words.iter().all(|word| word.chars().nth(2).is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, mode: Mode, expected: Option<&str>) {
        let expression = match_expression(&Query::parse(text), mode);
        assert_eq!(expression.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn queries_become_expressions() {
        check("", Mode::Exact, None);
        check("tag:x", Mode::Exact, None);
        check("one two", Mode::Exact, Some(r#""one" OR "two""#));
        check("one of an ox", Mode::Prefix, Some(r#""one"* OR "ox""#));
        check("foo-bar a.b", Mode::Prefix, Some(r#""foo bar" OR "a b""#));
        check("wor*", Mode::Exact, Some(r#""wor"*"#));
        check(
            "runn* -happy*",
            Mode::Exact,
            Some(r#"(("runn"* OR "runned")) NOT (("happy"* OR "happy"))"#),
        );
        check("a1 AND b1", Mode::Exact, Some(r#""a1" AND "b1""#));
        check("+a1 b1", Mode::Exact, Some(r#"("a1") AND ("a1" OR "b1")"#));
        check("a1 -b1 -c1", Mode::Exact, Some(r#"("a1") NOT ("b1" OR "c1")"#));
        check("東京都", Mode::Prefix, Some(r#""東 京" OR "京 都""#));
        check("\" OR * NEAR(x y) col:z", Mode::Exact, Some(r#""NEAR x" OR "y" OR "col z""#));
    }

    /// Reads the part of FTS5's grammar that is used here, independently of how it is written:
    /// `or := and (OR and)*`, `and := not (AND not)*`, `not := leaf (NOT leaf)*`,
    /// `leaf := '(' or ')' | string '*'?`. The store's tests run expressions on SQLite itself.
    fn is_valid(expression: &str) -> bool {
        fn tokens(mut rest: &str) -> Option<Vec<&str>> {
            let mut tokens = Vec::new();
            loop {
                rest = rest.trim_start_matches(' ');
                let length = match rest.chars().next() {
                    None => return Some(tokens),
                    Some('(' | ')' | '*') => 1,
                    Some('"') => {
                        let mut end = 1;
                        loop {
                            end += rest[end..].find('"')? + 1;
                            if !rest[end..].starts_with('"') {
                                break end;
                            }
                            end += 1;
                        }
                    }
                    Some(_) => ["AND", "OR", "NOT"].iter().find(|op| rest.starts_with(**op))?.len(),
                };
                tokens.push(&rest[..length]);
                rest = &rest[length..];
            }
        }
        fn chain(tokens: &mut &[&str], operators: &[&str]) -> bool {
            let Some((operator, tighter)) = operators.split_first() else { return leaf(tokens) };
            loop {
                if !chain(tokens, tighter) {
                    return false;
                }
                match tokens.split_first() {
                    Some((token, rest)) if token == operator => *tokens = rest,
                    _ => return true,
                }
            }
        }
        fn leaf(tokens: &mut &[&str]) -> bool {
            let Some((&token, rest)) = tokens.split_first() else { return false };
            *tokens = rest;
            if token == "(" {
                let inside = chain(tokens, &["OR", "AND", "NOT"]);
                let closed = tokens.first() == Some(&")");
                *tokens = tokens.get(1..).unwrap_or_default();
                return inside && closed;
            }
            if tokens.first() == Some(&"*") {
                *tokens = &tokens[1..];
            }
            token.len() > 2 && token.starts_with('"') && !token.contains('\0')
        }
        let Some(tokens) = tokens(expression) else { return false };
        let mut rest = tokens.as_slice();
        chain(&mut rest, &["OR", "AND", "NOT"]) && rest.is_empty()
    }

    #[test]
    fn the_validator_knows_bad_from_good() {
        for good in [r#""a""#, r#""a"* OR ("b" AND "c") NOT "d""#, r#""a ""q"" b""#] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["", "a", r#"""#, r#""a" "b""#, r#"("a""#, r#""a" OR"#, r#"NOT "a""#, r#""a")"#]
        {
            assert!(!is_valid(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_bad_expression(
            text in "[\\x00-\\x{10ffff}]{0,40}|([a-c語\"*+:^{}()\0 -]|AND |OR |NOT |NEAR){0,40}",
        ) {
            let query = Query::parse(&text);
            for mode in [Mode::Exact, Mode::Prefix] {
                if let Some(expression) = match_expression(&query, mode) {
                    prop_assert!(is_valid(&expression), "{expression}");
                }
                for term in &query.terms {
                    prop_assert!(is_valid(&term.expression(mode)));
                }
            }
        }

        #[test]
        fn words_made_by_hand_are_quoted_too(word in "[\\x00-\\x{10ffff}]{1,20}") {
            let term = QueryTerm { kind: TermKind::Word, words: vec![word.clone()], need: TermRequirement::Optional, groups: 0 };
            prop_assert!(word.chars().all(|c| c == '\0') || is_valid(&term.expression(Mode::Exact)));
        }
    }
}
