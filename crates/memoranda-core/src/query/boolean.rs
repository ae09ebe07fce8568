//! What `AND`, `OR` and brackets demand: groups of terms, of each of which a note must hold one.

use std::collections::BTreeSet;

/// No more groups than this are demanded: a term tells its groups by the bits of a number.
pub(super) const MOST_GROUPS: usize = 32;
/// Deeper brackets are nobody's.
const DEEPEST: usize = 16;

/// One item of a query, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    And,
    Or,
    Open,
    Close,
    /// The numbers of terms that are meant together.
    Terms(Vec<usize>),
    /// Something that demands no term, such as a tag.
    Nothing,
}

type Groups = Vec<BTreeSet<usize>>;

/// What a part of a query demands.
#[derive(Default)]
struct Demand {
    groups: Groups,
    /// Whether it also says something that no term does. In an alternative it then demands nothing.
    says_more: bool,
}

/// The groups that a query demands; `None` if its operators and brackets make no sense.
///
/// Words beside each other are joined by nothing and demanded by nobody. Alternatives beside such
/// words are not demanded either: the whole then is a list of words.
pub(super) fn groups(tokens: &[Token]) -> Option<Groups> {
    let mut reader = Reader { tokens, at: 0, operators: 0, depth: 0 };
    let (mut demanded, mut loose) = (Groups::new(), false);
    while reader.at < tokens.len() {
        let before = reader.operators;
        let found = reader.either()?;
        match reader.operators > before {
            true => demanded.extend(found.groups),
            false => loose |= !found.groups.is_empty(),
        }
    }
    let is_list = demanded.iter().all(|group| group.len() > 1) && demanded.len() == 1;
    if loose && is_list {
        demanded.clear();
    }
    (demanded.len() <= MOST_GROUPS).then_some(demanded)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    operators: usize,
    depth: usize,
}

impl Reader<'_> {
    fn takes(&mut self, token: &Token) -> bool {
        let is_next = self.tokens.get(self.at) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    /// Parts joined by `OR`, each of parts joined by `AND`.
    fn either(&mut self) -> Option<Demand> {
        let mut demand = self.both()?;
        while self.takes(&Token::Or) {
            self.operators += 1;
            demand = one_of(demand, self.both()?)?;
        }
        Some(demand)
    }

    fn both(&mut self) -> Option<Demand> {
        let mut demand = self.part()?;
        while self.takes(&Token::And) {
            self.operators += 1;
            let next = self.part()?;
            demand.groups.extend(next.groups);
            demand.says_more |= next.says_more;
        }
        Some(demand)
    }

    fn part(&mut self) -> Option<Demand> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token {
            Token::Terms(terms) => {
                let groups = terms.iter().map(|&term| BTreeSet::from([term])).collect();
                Some(Demand { groups, says_more: false })
            }
            Token::Nothing => Some(Demand { says_more: true, ..Demand::default() }),
            Token::Open if self.depth < DEEPEST => {
                self.depth += 1;
                let demand = self.either()?;
                self.depth -= 1;
                self.takes(&Token::Close).then_some(demand)
            }
            Token::Open | Token::Close | Token::And | Token::Or => None,
        }
    }
}

/// What demands the one or the other: each group of the one, widened by each of the other.
fn one_of(one: Demand, other: Demand) -> Option<Demand> {
    if one.says_more || other.says_more {
        return Some(Demand { says_more: true, ..Demand::default() });
    }
    let (one, other) = (one.groups, other.groups);
    if one.is_empty() || other.is_empty() {
        // Words that are passed over are no alternative.
        let groups = if one.is_empty() { other } else { one };
        return Some(Demand { groups, says_more: false });
    }
    let both = one.iter().flat_map(|a| other.iter().map(move |b| a | b));
    (one.len() * other.len() <= MOST_GROUPS)
        .then(|| Demand { groups: both.collect(), says_more: false })
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
                    "&" => Token::And,
                    "|" => Token::Or,
                    "(" => Token::Open,
                    ")" => Token::Close,
                    "_" => Token::Nothing,
                    number => Token::Terms(vec![number.parse().unwrap()]),
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
