//! Converts `AND`, `OR` and parentheses into conjunctive normal form: groups of terms, one term
//! required of each group.

use std::collections::BTreeSet;

/// Maximum number of groups: a term stores its groups as bits of a `u32`.
pub(super) const MAX_GROUPS: usize = 32;
/// Maximum depth of parentheses.
const MAX_DEPTH: usize = 16;

/// A token of a boolean expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BooleanToken {
    And,
    Or,
    Open,
    Close,
    /// Indices of the terms of one item.
    Terms(Vec<usize>),
    /// An item without terms, such as a tag.
    Nothing,
}

type TermGroups = Vec<BTreeSet<usize>>;

/// Requirements of a subexpression.
#[derive(Default)]
struct RequiredTerms {
    groups: TermGroups,
    /// True if the subexpression contains an item without terms. As an alternative it then requires
    /// nothing.
    says_more: bool,
}

/// Returns the required groups; `None` if the expression is malformed.
///
/// Adjacent words without an operator are optional. If the only operators are `OR` next to such
/// words, the whole query is a list of optional words.
pub(super) fn required_groups(tokens: &[BooleanToken]) -> Option<TermGroups> {
    let mut reader = BooleanParser { tokens, at: 0, operators: 0, depth: 0 };
    let (mut demanded, mut loose) = (TermGroups::new(), false);
    while reader.at < tokens.len() {
        let before = reader.operators;
        let found = reader.parse_or()?;
        if reader.operators > before {
            demanded.extend(found.groups)
        } else {
            loose |= !found.groups.is_empty()
        }
    }
    let is_list = demanded.iter().all(|group| group.len() > 1) && demanded.len() == 1;
    if loose && is_list {
        demanded.clear();
    }
    (demanded.len() <= MAX_GROUPS).then_some(demanded)
}

struct BooleanParser<'t> {
    tokens: &'t [BooleanToken],
    at: usize,
    operators: usize,
    depth: usize,
}

impl BooleanParser<'_> {
    fn accept(&mut self, token: &BooleanToken) -> bool {
        let is_next = self.tokens.get(self.at) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    /// Parses operands joined by `OR`, each of operands joined by `AND`.
    fn parse_or(&mut self) -> Option<RequiredTerms> {
        let mut demand = self.parse_and()?;
        while self.accept(&BooleanToken::Or) {
            self.operators += 1;
            demand = union_groups(demand, self.parse_and()?)?;
        }
        Some(demand)
    }

    fn parse_and(&mut self) -> Option<RequiredTerms> {
        let mut demand = self.parse_operand()?;
        while self.accept(&BooleanToken::And) {
            self.operators += 1;
            let next = self.parse_operand()?;
            demand.groups.extend(next.groups);
            demand.says_more |= next.says_more;
        }
        Some(demand)
    }

    fn parse_operand(&mut self) -> Option<RequiredTerms> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            BooleanToken::Terms(terms) => {
                let groups = terms.iter().map(|&term| BTreeSet::from([term])).collect();
                Some(RequiredTerms { groups, says_more: false })
            }
            BooleanToken::Nothing => {
                Some(RequiredTerms { says_more: true, ..RequiredTerms::default() })
            }
            BooleanToken::Open if self.depth < MAX_DEPTH => {
                self.depth += 1;
                let demand = self.parse_or()?;
                self.depth -= 1;
                self.accept(&BooleanToken::Close).then_some(demand)
            }
            BooleanToken::Open | BooleanToken::Close | BooleanToken::And | BooleanToken::Or => None,
        }
    }
}

/// Combines two subexpressions by `OR`: the union of every pair of groups.
fn union_groups(one: RequiredTerms, other: RequiredTerms) -> Option<RequiredTerms> {
    if one.says_more || other.says_more {
        return Some(RequiredTerms { says_more: true, ..RequiredTerms::default() });
    }
    let (one, other) = (one.groups, other.groups);
    if one.is_empty() || other.is_empty() {
        // An operand of stop words is ignored.
        let groups = if one.is_empty() { other } else { one };
        return Some(RequiredTerms { groups, says_more: false });
    }
    let both = one.iter().flat_map(|a| other.iter().map(move |b| a | b));
    (one.len() * other.len() <= MAX_GROUPS)
        .then(|| RequiredTerms { groups: both.collect(), says_more: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_require_groups() {
        let check = |text: &str, expected: Option<&str>| {
            let tokens: Vec<_> = text
                .split_whitespace()
                .map(|word| match word {
                    "&" => BooleanToken::And,
                    "|" => BooleanToken::Or,
                    "(" => BooleanToken::Open,
                    ")" => BooleanToken::Close,
                    "_" => BooleanToken::Nothing,
                    number => BooleanToken::Terms(vec![number.parse().unwrap()]),
                })
                .collect();
            let shown = required_groups(&tokens).map(|groups| {
                let group = |group: &BTreeSet<usize>| {
                    group.iter().map(usize::to_string).collect::<Vec<_>>().join("|")
                };
                groups.iter().map(group).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown.as_deref(), expected, "{text:?}");
        };
        check("", Some(""));
        check("1 2", Some(""));
        check("1 & 2", Some("1 2"));
        check("1 | 2 | 3", Some("1|2|3"));
        check("( 1 | 2 ) & 3", Some("1|2 3"));
        check("1 & 2 | 3", Some("1|3 2|3"));
        check("1 | 2 & 3", Some("1|2 1|3"));
        check("( 1 & 2 ) | ( 3 & 4 )", Some("1|3 1|4 2|3 2|4"));
        check("1 2 | 3", Some(""));
        check("1 2 & 3", Some("2 3"));
        check("1 & _", Some("1"));
        check("_ | 1", Some(""));
        check("( 1 | _ ) & 2", Some("2"));
        check("( 1 & _ ) | 2", Some(""));
        check("( 1 2 ) & 3", None);
        check("( 1 | 2", None);
        check("1 )", None);
        check("& 1", None);
        check("1 &", None);
        check("1 & | 2", None);
        check(&"( ".repeat(1000), None);
        let wide = "( 1 & 2 & 3 & 4 & 5 & 6 ) | ( 7 & 8 & 9 & 10 & 11 & 12 )";
        check(wide, None);
    }
}
