//! What `AND`, `OR` and brackets demand: groups of terms, of each of which a note must hold one.

use std::collections::BTreeSet;

/// No more groups than this are demanded: a term tells its groups by the bits of a number.
pub(super) const MOST_GROUPS: usize = 32;
/// Deeper brackets are nobody's.
const DEEPEST: usize = 16;

/// One item of a query, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BooleanToken {
    And,
    Or,
    Open,
    Close,
    /// The numbers of terms that are meant together.
    Terms(Vec<usize>),
    /// Something that demands no term, such as a tag.
    Nothing,
}

type TermGroups = Vec<BTreeSet<usize>>;

/// What a part of a query demands.
#[derive(Default)]
struct RequiredTerms {
    groups: TermGroups,
    /// Whether it also says something that no term does. In an alternative it then demands nothing.
    says_more: bool,
}

/// The groups that a query demands; `None` if its operators and brackets make no sense.
///
/// Words beside each other are joined by nothing and demanded by nobody. Alternatives beside such
/// words are not demanded either: the whole then is a list of words.
pub(super) fn groups(tokens: &[BooleanToken]) -> Option<TermGroups> {
    let mut reader = BooleanParser { tokens, at: 0, operators: 0, depth: 0 };
    let (mut demanded, mut loose) = (TermGroups::new(), false);
    while reader.at < tokens.len() {
        let before = reader.operators;
        let found = reader.either()?;
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
    (demanded.len() <= MOST_GROUPS).then_some(demanded)
}

struct BooleanParser<'t> {
    tokens: &'t [BooleanToken],
    at: usize,
    operators: usize,
    depth: usize,
}

impl BooleanParser<'_> {
    fn takes(&mut self, token: &BooleanToken) -> bool {
        let is_next = self.tokens.get(self.at) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    /// Parts joined by `OR`, each of parts joined by `AND`.
    fn either(&mut self) -> Option<RequiredTerms> {
        let mut demand = self.both()?;
        while self.takes(&BooleanToken::Or) {
            self.operators += 1;
            demand = one_of(demand, self.both()?)?;
        }
        Some(demand)
    }

    fn both(&mut self) -> Option<RequiredTerms> {
        let mut demand = self.part()?;
        while self.takes(&BooleanToken::And) {
            self.operators += 1;
            let next = self.part()?;
            demand.groups.extend(next.groups);
            demand.says_more |= next.says_more;
        }
        Some(demand)
    }

    fn part(&mut self) -> Option<RequiredTerms> {
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
            BooleanToken::Open if self.depth < DEEPEST => {
                self.depth += 1;
                let demand = self.either()?;
                self.depth -= 1;
                self.takes(&BooleanToken::Close).then_some(demand)
            }
            BooleanToken::Open | BooleanToken::Close | BooleanToken::And | BooleanToken::Or => None,
        }
    }
}

/// What demands the one or the other: each group of the one, widened by each of the other.
fn one_of(one: RequiredTerms, other: RequiredTerms) -> Option<RequiredTerms> {
    if one.says_more || other.says_more {
        return Some(RequiredTerms { says_more: true, ..RequiredTerms::default() });
    }
    let (one, other) = (one.groups, other.groups);
    if one.is_empty() || other.is_empty() {
        // Words that are passed over are no alternative.
        let groups = if one.is_empty() { other } else { one };
        return Some(RequiredTerms { groups, says_more: false });
    }
    let both = one.iter().flat_map(|a| other.iter().map(move |b| a | b));
    (one.len() * other.len() <= MOST_GROUPS)
        .then(|| RequiredTerms { groups: both.collect(), says_more: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_demand_groups() {
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
            let shown = groups(&tokens).map(|groups| {
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
