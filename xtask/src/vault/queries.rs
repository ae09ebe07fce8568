//! The fixed query mix, from one rare word to several common ones.

use super::random::SplitMix64;
use super::words;

/// Kinds of queries, by the amount that a full-text index has to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueryFrequency {
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
pub struct SampleQuery {
    /// Kind of the query.
    pub kind: QueryFrequency,
    /// The words of the query.
    pub words: Vec<String>,
}

impl SampleQuery {
    /// Returns the query as a person types it, with words as alternatives. It is phrased as a
    /// question, because generated words alone have no embedding.
    pub fn typed_text(&self) -> String {
        format!("what is {}", self.words.join(" "))
    }

    /// Returns the query as an FTS5 expression.
    pub fn expression(&self) -> String {
        let quoted: Vec<_> = self.words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(" OR ")
    }
}

/// Returns the queries for a vault, the same on every run.
pub fn query_mix(notes: usize) -> Vec<SampleQuery> {
    let mut random = SplitMix64::new(0x5eed);
    let mut queries = Vec::new();
    for _ in 0..15 {
        for kind in [
            QueryFrequency::Rare,
            QueryFrequency::Medium,
            QueryFrequency::Common,
            QueryFrequency::Several,
        ] {
            let words = match kind {
                QueryFrequency::Rare | QueryFrequency::Medium | QueryFrequency::Common => {
                    vec![draw_word(&mut random, kind, notes)]
                }
                QueryFrequency::Several => (0..random.between(2, 4))
                    .map(|_| {
                        let kind = *random.pick(&[
                            QueryFrequency::Rare,
                            QueryFrequency::Medium,
                            QueryFrequency::Common,
                        ]);
                        draw_word(&mut random, kind, notes)
                    })
                    .collect(),
            };
            queries.push(SampleQuery { kind, words });
        }
    }
    queries
}

fn draw_word(random: &mut SplitMix64, kind: QueryFrequency, notes: usize) -> String {
    match kind {
        QueryFrequency::Rare => words::rare_word(random.index(notes.max(1))),
        QueryFrequency::Medium | QueryFrequency::Several => {
            words::word(random.between(500, 2_000) as usize)
        }
        QueryFrequency::Common => words::word(random.between(5, 40) as usize),
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
                QueryFrequency::Rare => 1..2,
                QueryFrequency::Medium => 1..80,
                QueryFrequency::Common => 200..1_000,
                QueryFrequency::Several => continue,
            };
            assert!(expected.contains(&held), "{query:?}: {held}");
        }
    }
}
