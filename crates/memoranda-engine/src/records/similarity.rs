//! Similarity of records: which say the same, and which may contradict each other.

use std::collections::{BTreeSet, HashMap};

use super::record::MemoryRecord;

/// Maximum number of records that share a key. More records are a list, not a conflict.
const MAX_SHARED_KEY: usize = 200;

/// Records that say the same.
pub struct DuplicateGroup {
    /// The newest record, which stays.
    pub winner: MemoryRecord,
    /// The records that it supersedes.
    pub older: Vec<MemoryRecord>,
}

/// Records grouped by similarity.
#[derive(Default)]
pub struct SimilarRecords {
    /// Groups of records that say the same.
    pub groups: Vec<DuplicateGroup>,
    /// Pairs of records that may contradict each other, the newer first.
    pub conflicts: Vec<(MemoryRecord, MemoryRecord)>,
    /// Pairs of a group that state different values of one subject, the newer first.
    pub other_values: Vec<(MemoryRecord, MemoryRecord)>,
}

impl SimilarRecords {
    /// Groups records that say the same, the newest first.
    pub fn new(mut records: Vec<MemoryRecord>) -> Self {
        records.sort_by(MemoryRecord::newest_first);
        let compared: Vec<ComparedRecord> = records.into_iter().map(ComparedRecord::new).collect();
        let mut holders: HashMap<(SimilarityKey, &str), Vec<usize>> = HashMap::new();
        for (n, one) in compared.iter().enumerate() {
            one.keys().for_each(|key| holders.entry(key).or_default().push(n));
        }
        let mut taken = vec![false; compared.len()];
        let (mut sorted, mut conflicts) = (Self::default(), Vec::new());
        for (n, winner) in compared.iter().enumerate() {
            if taken.get(n).copied().unwrap_or(true) {
                continue;
            }
            let mut near: BTreeSet<usize> = BTreeSet::new();
            for key in winner.keys() {
                let found = holders.get(&key);
                let found = found
                    .filter(|all| key.0 == SimilarityKey::Statement || all.len() <= MAX_SHARED_KEY);
                near.extend(found.into_iter().flatten().filter(|other| **other > n));
            }
            let mut older = Vec::new();
            for other in near {
                let (Some(old), Some(is_taken)) = (compared.get(other), taken.get_mut(other))
                else {
                    continue;
                };
                let difference = winner.compare(old).filter(|_| !*is_taken);
                if difference == Some(RecordDifference::Value) {
                    sorted.other_values.push((winner.record.clone(), old.record.clone()));
                }
                match difference {
                    None => {}
                    Some(RecordDifference::Conflict) => conflicts.push((n, other)),
                    Some(RecordDifference::Wording | RecordDifference::Value) => {
                        *is_taken = true;
                        older.push(old.record.clone());
                    }
                }
            }
            if !older.is_empty() {
                sorted.groups.push(DuplicateGroup { winner: winner.record.clone(), older });
            }
        }
        // A superseded record takes no part in conflicts.
        conflicts.retain(|(_, old)| !taken.get(*old).copied().unwrap_or(true));
        let record = |n: usize| compared.get(n).map(|one| one.record.clone());
        let both = |(new, old): &(usize, usize)| Some((record(*new)?, record(*old)?));
        sorted.conflicts = conflicts.iter().filter_map(both).collect();
        sorted
    }
}

/// The difference between a record and a newer one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RecordDifference {
    /// Only stop words differ: the newer record supersedes the older.
    Wording,
    /// Only the value of one subject differs, as in "rate limit: 1" and "rate limit: 2": the newer
    /// record supersedes the older.
    Value,
    /// The records may contradict each other, as "use a, not b" and "use b, not a": both stay.
    Conflict,
}

/// Words that negate a statement.
const NEGATIONS: [&str; 8] =
    ["not", "no", "never", "cannot", "without", "instead", "except", "nothing"];
/// Words without meaning of their own.
const STOP_WORDS: [&str; 22] = [
    "a", "always", "an", "and", "are", "at", "be", "by", "for", "in", "is", "it", "of", "on",
    "our", "please", "that", "the", "this", "to", "we", "with",
];

/// The kind of key by which records are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum SimilarityKey {
    Statement,
    Claim,
    Subject,
}

/// A record with its keys.
struct ComparedRecord {
    record: MemoryRecord,
    /// The normalised words, in order.
    words: Vec<String>,
    /// All words except stop words, sorted.
    statement: String,
    /// The words except stop words and negations, in order, with numbers replaced by `0`. Empty if no
    /// word is left.
    claim: String,
    /// `API rate limit` of `API rate limit: 100 per minute`; `None` without a single value.
    subject: Option<String>,
}

impl ComparedRecord {
    fn new(record: MemoryRecord) -> Self {
        let words: Vec<String> = record.content.split_whitespace().map(normalize_word).collect();
        let significant =
            words.iter().map(String::as_str).filter(|word| !STOP_WORDS.contains(word));
        let mut statement: Vec<&str> = significant.clone().collect();
        statement.sort_unstable();
        // "do" is the rest of "do not".
        let plain = significant.filter(|word| !is_negation(word) && *word != "do");
        let plain: Vec<&str> = plain.map(|word| if is_number(word) { "0" } else { word }).collect();
        let has_words = plain.iter().any(|word| *word != "0");
        Self {
            statement: statement.join(" "),
            claim: if has_words { plain.join(" ") } else { String::new() },
            subject: subject(&record.content.to_lowercase()).map(str::to_owned),
            words,
            record,
        }
    }

    /// Returns the keys that another record may share.
    fn keys(&self) -> impl Iterator<Item = (SimilarityKey, &str)> {
        let keys = [
            (SimilarityKey::Statement, Some(self.statement.as_str())),
            (SimilarityKey::Claim, Some(self.claim.as_str())),
            (SimilarityKey::Subject, self.subject.as_deref()),
        ];
        keys.into_iter().filter_map(|(kind, key)| Some((kind, key?)))
    }

    /// Compares an older record with this one; `None` if they are unrelated.
    fn compare(&self, old: &Self) -> Option<RecordDifference> {
        // Equal words for other files or another time are another statement.
        if self.record.paths != old.record.paths || self.record.expires != old.record.expires {
            return None;
        }
        // Metadata of the older record alone would be hidden with it.
        let is_known = old.record.metadata.is_none() || old.record.metadata == self.record.metadata;
        if self.statement.is_empty() || !is_known {
            return None;
        }
        if self.words == old.words {
            return Some(RecordDifference::Wording);
        }
        let is_other_value = self.subject.is_some() && self.subject == old.subject;
        if self.statement != old.statement {
            let is_negated = !self.claim.is_empty() && self.claim == old.claim;
            return if is_other_value {
                Some(RecordDifference::Value)
            } else {
                is_negated.then_some(RecordDifference::Conflict)
            };
        }
        self.compare_order(old)
    }

    /// Compares two records that differ only in stop words or in word order.
    fn compare_order(&self, old: &Self) -> Option<RecordDifference> {
        let (counts, old_counts) = (count_words(&self.words), count_words(&old.words));
        let has_more = |one: &HashMap<&str, usize>, two: &HashMap<&str, usize>| {
            one.iter().any(|(word, n)| n > two.get(word).unwrap_or(&0))
        };
        // A replaced word, such as "to" by "by", makes another statement.
        if has_more(&counts, &old_counts) && has_more(&old_counts, &counts) {
            return None;
        }
        let common = self.words.len().min(old.words.len());
        match longest_common(&self.words, &old.words) {
            Some(in_order) if in_order == common => Some(RecordDifference::Wording),
            Some(_) => Some(RecordDifference::Conflict),
            // The texts are too long to compare.
            None => None,
        }
    }
}

/// Normalises a word: removes punctuation, and lower-cases it unless its case has a meaning, as in
/// `fooBar`.
fn normalize_word(text: &str) -> String {
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’', '(', ')'];
    let text = text.trim_matches(quotes).trim_end_matches(['.', ',', ';', ':', '!']);
    let text = text.trim_matches(quotes).replace('’', "'");
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    let is_plain = letters().skip(1).all(char::is_lowercase) || letters().all(char::is_uppercase);
    // A word without upper case stays as it is.
    let has_case = letters().any(char::is_uppercase);
    if has_case && is_plain { text.to_lowercase() } else { text }
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

fn is_number(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Returns the subject of a text of the form `subject: value`. A single word before the colon is a
/// label (`TODO:`, `Git:`) that many unrelated texts share.
fn subject(text: &str) -> Option<&str> {
    let (subject, value) = text.split_once(": ").filter(|(subject, _)| !subject.contains('\n'))?;
    let (subject, mut words) = (subject.trim(), value.split_whitespace());
    let is_value = words.next().is_some_and(is_number) || words.next().is_none();
    ((2..=6).contains(&subject.split_whitespace().count()) && is_value).then_some(subject)
}

fn count_words(words: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_insert(0) += 1;
    }
    counts
}

/// Returns the length of the longest common subsequence; `None` if it is too expensive to compute.
fn longest_common(one: &[String], two: &[String]) -> Option<usize> {
    const MAX_CELLS: usize = 4_000_000;
    if one.len().saturating_mul(two.len()) > MAX_CELLS {
        return None;
    }
    let mut row = vec![0_usize; two.len() + 1];
    for a in one {
        let mut diagonal = 0;
        for (n, b) in two.iter().enumerate() {
            let left = row.get(n).copied().unwrap_or(0);
            let Some(cell) = row.get_mut(n + 1) else { continue };
            let above = *cell;
            *cell = if a == b { diagonal + 1 } else { above.max(left) };
            diagonal = above;
        }
    }
    row.last().copied()
}

#[cfg(test)]
mod tests {
    use super::super::expiry::RecordExpiry;
    use super::super::kind::RecordKind;
    use super::super::scope::RecordScope;
    use super::*;
    use crate::NoteLocation;

    #[test]
    fn the_later_of_two_records_in_one_clock_tick_stays() {
        let early = record("a", "Rate limit: 100", 9);
        let mut late = record("b", "rate limit: 100.", 9);
        late.created += std::time::Duration::from_millis(1);
        for records in [vec![early.clone(), late.clone()], vec![late, early]] {
            assert_eq!(SimilarRecords::new(records).groups[0].winner.id, "b");
        }
    }

    #[test]
    fn a_record_with_own_metadata_is_not_superseded() {
        let (old, new) = (record("a", "Use pnpm", 1), record("b", "use pnpm.", 2));
        let reason = serde_json::json!({ "reason": "fast" }).as_object().cloned();
        for (metadata, expected) in [
            ((None, None), 1),
            ((None, reason.clone()), 1),
            ((reason.clone(), reason.clone()), 1),
            ((reason, None), 0),
        ] {
            let old = MemoryRecord { metadata: metadata.0, ..old.clone() };
            let new = MemoryRecord { metadata: metadata.1, ..new.clone() };
            assert_eq!(SimilarRecords::new(vec![old, new]).groups.len(), expected);
        }
        let short = MemoryRecord { expires: RecordExpiry::parse_stored("2030-01-01"), ..new };
        assert_eq!(
            SimilarRecords::new(vec![old, short]).groups.len(),
            0,
            "it would be gone with the newer one"
        );
    }

    fn record(id: &str, content: &str, second: i64) -> MemoryRecord {
        let time = jiff::Timestamp::from_second(second).unwrap();
        MemoryRecord {
            id: id.into(),
            kind: RecordKind::Fact,
            scope: RecordScope::Global,
            content: content.into(),
            tags: Vec::new(),
            paths: Vec::new(),
            category: None,
            metadata: None,
            created: time,
            updated: time,
            expires: None,
            superseded_by: None,
            place: NoteLocation {
                project: super::super::record::records_project(),
                path: memoranda_core::path::NotePath::parse(&format!("global/fact/{id}.md"))
                    .unwrap(),
            },
        }
    }

    #[test]
    fn only_equal_statements_are_merged() {
        use RecordDifference::{Conflict, Value, Wording};
        for (old, new, expected) in [
            ("Use pnpm, not npm", "use  PNPM, not npm.", Some(Wording)),
            ("API rate limit: 100 per minute", "API rate limit: 200", Some(Value)),
            ("Rate limit: 100", "Rate limit: 200", Some(Value)),
            ("Port: 8080", "Port: 9090", Some(Conflict)),
            ("Package manager: npm", "Package manager: pnpm", Some(Value)),
            ("The API allows 100 requests", "The API allows 200 requests", Some(Conflict)),
            ("Use npm in this repository", "Never use npm in this repository", Some(Conflict)),
            ("Always use npm", "Do not use npm", Some(Conflict)),
            ("Use npm", "Don't use npm", Some(Conflict)),
            ("Use npm", "Don’t use npm", Some(Conflict)),
            ("Coverage >= 80", "Coverage <= 80", None),
            ("Write it in C#", "Write it in C", None),
            ("Keep secrets in .env", "Keep secrets in env", None),
            ("Name files fooBar", "Name files FooBar", None),
            ("Grant access to admins", "Grant access by admins", None),
            ("Run `make` first.", "Run \"make\" first", Some(Wording)),
            ("記憶を残す", "記憶を残す", Some(Wording)),
            ("→", "←", None),
            ("(", ")", None),
            ("Production runs PostgreSQL", "Staging runs on SQLite", None),
            ("Use pnpm, not npm", "Use npm, not pnpm", Some(Conflict)),
            ("Tools: use pnpm, not npm", "Tools: use npm, not pnpm", Some(Conflict)),
            // Labels, URL schemes and drive letters are not subjects.
            ("Git: write commit messages in English", "Git: never force-push to main", None),
            ("Prod: DB is PostgreSQL 15", "Prod: cache is Redis", None),
            ("TODO: fix login", "TODO: write docs", None),
            ("Code review: two approvals", "Code review: squash the commits", None),
            (
                "https://a.example/x is the staging server",
                "https://b.example/y is the production server",
                None,
            ),
            ("C:\\a holds the sources", "C:\\b holds the builds", None),
            (
                "In every package of this repository, and in the tools, use pnpm and not npm",
                "In every package of this repository, and in the tools, use npm and not pnpm",
                Some(Conflict),
            ),
            (
                "All the services of the shop are written in Rust by the payments team",
                "All the services of the shop are written in Python by the payments team",
                None,
            ),
            (
                "The billing service is owned by the payments team in Berlin",
                "The billing service is owned by the payments team Berlin",
                Some(Wording),
            ),
            ("Use pnpm", "Please use pnpm", Some(Wording)),
            // One additional word can change the meaning.
            (
                "The staging database of the shop runs on PostgreSQL in Frankfurt",
                "The database of the shop runs on PostgreSQL in Frankfurt",
                None,
            ),
        ] {
            let (old_one, new_one) = (
                ComparedRecord::new(record("a", old, 1)),
                ComparedRecord::new(record("b", new, 2)),
            );
            assert_eq!(new_one.compare(&old_one), expected, "{old} / {new}");
            let sorted = SimilarRecords::new(vec![record("a", old, 1), record("b", new, 2)]);
            let (is_merged, is_conflict) =
                (matches!(expected, Some(Wording | Value)), expected == Some(Conflict));
            assert_eq!(sorted.groups.len(), usize::from(is_merged), "{old} / {new}");
            assert_eq!(sorted.conflicts.len(), usize::from(is_conflict), "{old} / {new}");
            assert!(sorted.groups.iter().all(|group| group.winner.id == "b"), "the newest stays");
        }
    }
}
