//! Translates a [`Query`] into a SQLite FTS5 `MATCH` expression.
//!
//! Every word is quoted and contains only letters, digits, marks and `_`, so user text cannot be
//! parsed as FTS5 syntax. The expression tree is flat, because FTS5 limits its depth.

use memoranda_core::query::{Query, QueryTerm, TermKind, TermRequirement, prefix_stem_words};

/// Returns the FTS5 `MATCH` expression of a query; `None` if the query asks for no word.
pub(crate) fn match_expression(query: &Query) -> Option<String> {
    let joined = |needs: &[TermRequirement], operator: &str| {
        let terms = query.terms.iter().filter(|term| needs.contains(&term.need));
        terms.map(term_expression).collect::<Vec<_>>().join(operator)
    };
    let required = joined(&[TermRequirement::Required], " AND ");
    let optional = joined(&[TermRequirement::Optional], " OR ");
    let excluded = joined(&[TermRequirement::Excluded], " OR ");
    let wanted = match (required.is_empty(), optional.is_empty()) {
        (true, true) => return None,
        (true, false) => optional,
        (false, true) => required,
        (false, false) => {
            // FTS5 has no optional terms. In `required AND (required OR optional)` the second
            // operand always matches, and its optional terms still add to the score.
            let any = joined(&[TermRequirement::Required, TermRequirement::Optional], " OR ");
            format!("({required}) AND ({any})")
        }
    };
    if excluded.is_empty() { Some(wanted) } else { Some(format!("({wanted}) NOT ({excluded})")) }
}

/// Returns the FTS5 expression of a single term, for example to count its matches.
pub(crate) fn term_expression(term: &QueryTerm) -> String {
    // The index separates the characters of unspaced scripts by blanks, as the words here.
    let quoted = term.words.join(" ").replace('\0', "").replace('"', "\"\"");
    let star = if term.kind == TermKind::Prefix { "*" } else { "" };
    let expression = format!("\"{quoted}\"{star}");
    match (term.kind, term.words.as_slice()) {
        (TermKind::Prefix, [prefix]) => {
            let words = prefix_stem_words(prefix).into_iter().map(|word| format!("\"{word}\""));
            let all: Vec<String> = std::iter::once(expression).chain(words).collect();
            if all.len() == 1 { all.concat() } else { format!("({})", all.join(" OR ")) }
        }
        (TermKind::Word, _) if !term.forms.is_empty() => {
            let forms = term.forms.iter().map(|form| format!("\"{}\"", form.replace('"', "")));
            let all: Vec<String> = std::iter::once(expression).chain(forms).collect();
            format!("({})", all.join(" OR "))
        }
        _ => expression,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let expression = match_expression(&Query::parse(text));
        assert_eq!(expression.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn queries_become_expressions() {
        check("", None);
        check("tag:x", None);
        check("one two", Some(r#""one" OR "two""#));
        check("one of an ox", Some(r#""one" OR "ox""#));
        check("foo-bar a.b", Some(r#""foo bar" OR "a b""#));
        check("wor*", Some(r#""wor"*"#));
        check("runn* -happy*", Some(r#"(("runn"* OR "runned")) NOT (("happy"* OR "happy"))"#));
        check("a1 AND b1", Some(r#""a1" AND "b1""#));
        check("+a1 b1", Some(r#"("a1") AND ("a1" OR "b1")"#));
        check("a1 -b1 -c1", Some(r#"("a1") NOT ("b1" OR "c1")"#));
        check("東京都", Some(r#""東 京" OR "京 都""#));
        check("\" OR * NEAR(x y) col:z", Some(r#""NEAR x" OR "y" OR "col z""#));
    }

    /// Returns true if an expression matches the part of FTS5's grammar that is used here:
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
            if let Some(expression) = match_expression(&query) {
                prop_assert!(is_valid(&expression), "{expression}");
            }
            for term in &query.terms {
                prop_assert!(is_valid(&term_expression(term)));
            }
        }

        #[test]
        fn words_made_by_hand_are_quoted_too(word in "[\\x00-\\x{10ffff}]{1,20}") {
            let term = QueryTerm { kind: TermKind::Word, words: vec![word.clone()], need: TermRequirement::Optional, groups: 0, beginnings: Vec::new(), forms: Vec::new() };
            prop_assert!(word.chars().all(|c| c == '\0') || is_valid(&term_expression(&term)));
        }
    }
}
