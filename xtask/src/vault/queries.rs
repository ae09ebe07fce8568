//! The fixed query mix, from one rare word to several common ones.

use super::random::Random;
use super::words;

/// Kinds of queries, by the amount that a full-text index has to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A word of a single note.
    Rare,
    /// A word of about one note in a hundred.
    Medium,
    /// A word of every third note or more.
    Common,
    /// Two to four alternative words of any frequency.
    Several,
}

/// One query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// Kind of the query.
    pub kind: Kind,
    /// Its words.
    pub words: Vec<String>,
}

impl Query {
    /// Returns the query as a person types it, with words as alternatives. It is phrased as a
    /// question, because generated words alone have no embedding.
    pub fn typed(&self) -> String {
        format!("what is {}", self.words.join(" "))
    }

    /// Returns the query as an FTS5 expression.
    pub fn expression(&self) -> String {
        let quoted: Vec<_> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(" OR ")
    }
}

/// Returns the queries for a vault, the same on every run.
pub fn query_mix(notes: usize) -> Vec<Query> {
    let mut random = Random::new(0x5eed);
    let mut queries = Vec::new();
    for _ in 0..15 {
        for kind in [Kind::Rare, Kind::Medium, Kind::Common, Kind::Several] {
            let words = match kind {
                Kind::Rare | Kind::Medium | Kind::Common => vec![draw(&mut random, kind, notes)],
                Kind::Several => (0..random.between(2, 4))
                    .map(|_| {
                        let kind = *random.pick(&[Kind::Rare, Kind::Medium, Kind::Common]);
                        draw(&mut random, kind, notes)
                    })
                    .collect(),
            };
            queries.push(Query { kind, words });
        }
    }
    queries
}

fn draw(random: &mut Random, kind: Kind, notes: usize) -> String {
    match kind {
        Kind::Rare => words::rare_word(random.index(notes.max(1))),
        Kind::Medium | Kind::Several => words::word(random.between(500, 2_000) as usize),
        Kind::Common => words::word(random.between(5, 40) as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::super::note;
    use super::*;

    #[test]
    fn query_kinds_have_their_frequency() {
        let texts: Vec<_> = (0..1_000).map(|number| note(number).text.to_lowercase()).collect();
        for query in query_mix(1_000) {
            let [word] = &query.words[..] else { continue };
            let held = texts.iter().filter(|text| text.contains(word.as_str())).count();
            let expected = match query.kind {
                Kind::Rare => 1..2,
                Kind::Medium => 1..80,
                Kind::Common => 200..1_000,
                Kind::Several => continue,
            };
            assert!(expected.contains(&held), "{query:?}: {held}");
        }
    }
}
