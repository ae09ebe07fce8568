//! Merging records that say the same: the newest stays, the others point to it and are no longer
//! shown. Nothing is deleted, and one commit does it all.

use std::collections::{BTreeSet, HashMap};

use memoranda_core::note::MetaValue;
use memoranda_core::words::words;
use memoranda_engine::{ReviseOutcome, Step, clock};
use serde_json::json;

use super::keep;
use super::kind::RecordKind;
use super::record::{Record, one_line, set_key};
use super::refusal::{RecordError, Result};
use super::scope::{self, Scope};
use super::shelf;
use crate::args::Args;
use crate::tool::{Call, ToolResult};

/// How much of their words two records must share to say the same.
const SAME: f64 = 0.8;
/// A word that more records hold says nothing about two of them.
const COMMON: usize = 200;
/// How many groups an answer shows.
const SHOWN: usize = 50;

/// `consolidate_memories`.
pub(super) fn consolidate(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let dry = args.flag("dry_run")?.unwrap_or(false);
    let global_only = args.flag("global_only")?.unwrap_or(false);
    let include_global = args.flag("include_global")?.unwrap_or(true);
    let kinds = keep::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
    let kinds = kinds.unwrap_or_else(|| RecordKind::ALL.to_vec());
    let mut scopes = scope::reach(call, args)?.scopes;
    scopes.retain(|scope| match scope {
        Scope::Global => include_global || global_only,
        Scope::Project(_) => !global_only,
    });
    let now = clock::now();
    let (mut input, mut groups) = (0, Vec::new());
    for scope in &scopes {
        for kind in &kinds {
            let mut records = shelf::all_of(call.memory, scope, *kind)?;
            records.retain(|record| record.is_active(now));
            input += records.len();
            groups.extend(group(records));
        }
    }
    let superseded: Vec<(&Record, &str)> = groups
        .iter()
        .flat_map(|group| group.older.iter().map(|old| (old, group.winner.id.as_str())))
        .collect();
    let commit = match dry || superseded.is_empty() {
        true => None,
        false => Some(supersede(call, &superseded)?),
    };
    let conflicts = groups.iter().filter(|group| group.conflict).count();
    let ids = |records: &mut dyn Iterator<Item = &str>| records.collect::<Vec<_>>().join(",");
    let winners = ids(&mut groups.iter().map(|group| group.winner.id.as_str()));
    let superseded_ids = ids(&mut superseded.iter().map(|(old, _)| old.id.as_str()));
    let mut text = format!(
        "run={}\ninput={input}\nmerged={}\nsuperseded={}\nconflicts={conflicts}\nwinners={winners}\n\
         superseded_ids={superseded_ids}\n",
        commit.as_deref().unwrap_or(if dry { "dry run, nothing changed" } else { "nothing to do" }),
        groups.len(),
        superseded.len(),
    );
    for group in groups.iter().take(SHOWN) {
        let word = if group.conflict { "replaces" } else { "same as" };
        text.push_str(&format!("\n{}", group.winner.line(120)));
        for old in &group.older {
            text.push_str(&format!("\n  {word} {}: {}", old.id, one_line(&old.content, 120)));
        }
    }
    if groups.len() > SHOWN {
        text.push_str(&format!("\n[{} more groups]", groups.len() - SHOWN));
    }
    let names: Vec<&str> = scopes.iter().map(Scope::name).collect();
    text.push_str(&format!("\nScope: {}", names.join(" and ")));
    let structured = json!({
        "dry_run": dry,
        "commit": commit,
        "input": input,
        "merged": groups.len(),
        "superseded": superseded.len(),
        "conflicts": conflicts,
        "winners": groups.iter().map(|group| &group.winner.id).collect::<Vec<_>>(),
        "superseded_ids": superseded.iter().map(|(old, _)| &old.id).collect::<Vec<_>>(),
    });
    Ok(ToolResult::ok(text, structured))
}

fn supersede(call: &Call<'_>, superseded: &[(&Record, &str)]) -> Result<String> {
    let outcome = call.memory.revise(
        &call.who,
        Some("consolidate memories"),
        |desk| -> Result<Vec<Step>> {
            let mut steps = Vec::new();
            for (old, by) in superseded {
                if let Some((text, _)) = desk.text(&old.place)? {
                    let text = set_key(&text, "superseded_by", MetaValue::Text((*by).to_owned()))?;
                    steps.push(Step::put(old.place.clone(), text));
                }
            }
            Ok(steps)
        },
    )?;
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(commit.id.to_string()),
        ReviseOutcome::Unchanged => Ok("none".to_owned()),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("Something was changed meanwhile; nothing was done. Try again."))
        }
    }
}

/// Records of which one stays.
struct Group {
    winner: Record,
    older: Vec<Record>,
    /// Whether they say different things about the same.
    conflict: bool,
}

/// What a record is compared by.
struct Compared {
    record: Record,
    words: BTreeSet<String>,
    /// `API rate limit` of `API rate limit: 100 per minute`.
    subject: Option<String>,
}

/// Puts together what says the same, the newest first.
fn group(mut records: Vec<Record>) -> Vec<Group> {
    records.sort_by(Record::newest_first);
    let compared: Vec<Compared> = records.into_iter().map(Compared::new).collect();
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, one) in compared.iter().enumerate() {
        for word in one.words.iter().map(String::as_str).chain(one.subject.as_deref()) {
            holders.entry(word).or_default().push(n);
        }
    }
    let mut taken = vec![false; compared.len()];
    let mut groups = Vec::new();
    for (n, winner) in compared.iter().enumerate() {
        if taken.get(n).copied().unwrap_or(true) {
            continue;
        }
        let mut near: BTreeSet<usize> = BTreeSet::new();
        for word in winner.words.iter().map(String::as_str).chain(winner.subject.as_deref()) {
            let rare = holders.get(word).filter(|holders| holders.len() <= COMMON);
            near.extend(rare.into_iter().flatten().filter(|other| **other > n));
        }
        let (mut older, mut conflict) = (Vec::new(), false);
        for other in near {
            let (Some(old), Some(is_taken)) = (compared.get(other), taken.get_mut(other)) else {
                continue;
            };
            let Some(difference) = winner.compare(old).filter(|_| !*is_taken) else { continue };
            *is_taken = true;
            conflict |= difference == Difference::Changed;
            older.push(old.record.clone());
        }
        if !older.is_empty() {
            groups.push(Group { winner: winner.record.clone(), older, conflict });
        }
    }
    groups
}

/// How a record differs from a newer one that takes its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Difference {
    /// In words only.
    Wording,
    /// It says something else about the same subject.
    Changed,
}

impl Compared {
    fn new(record: Record) -> Self {
        let lower = record.content.to_lowercase();
        let subject = lower.split_once(':').map(|(subject, _)| subject.trim().to_owned());
        let fits = |subject: &String| {
            (1..=6).contains(&subject.split_whitespace().count()) && !subject.contains('\n')
        };
        Self {
            words: words(&lower).map(|word| word.text.to_owned()).collect(),
            subject: subject.filter(fits),
            record,
        }
    }

    /// Whether an older record says the same as this one; `None` if it stands for itself.
    fn compare(&self, old: &Self) -> Option<Difference> {
        if self.record.paths != old.record.paths {
            return None;
        }
        if self.words == old.words {
            return Some(Difference::Wording);
        }
        if self.subject.is_some() && self.subject == old.subject {
            return Some(Difference::Changed);
        }
        let shared = self.words.intersection(&old.words).count() as f64;
        let all = self.words.union(&old.words).count() as f64;
        let tells = |word: &String| {
            word.contains(|c: char| c.is_ascii_digit())
                || matches!(word.as_str(), "not" | "no" | "never" | "don" | "without" | "instead")
        };
        let differ = self.words.symmetric_difference(&old.words).any(tells);
        (shared >= SAME * all && !differ).then_some(Difference::Wording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memoranda_engine::Place;

    #[test]
    fn of_two_in_one_tick_the_later_one_stays() {
        let early = record("a", "Rate limit: 100", 9);
        let mut late = record("b", "Rate limit: 200", 9);
        late.created += std::time::Duration::from_millis(1);
        for records in [vec![early.clone(), late.clone()], vec![late, early]] {
            assert_eq!(group(records)[0].winner.id, "b");
        }
    }

    fn record(id: &str, content: &str, second: i64) -> Record {
        let time = jiff::Timestamp::from_second(second).unwrap();
        Record {
            id: id.into(),
            kind: RecordKind::Fact,
            scope: Scope::Global,
            content: content.into(),
            tags: Vec::new(),
            paths: Vec::new(),
            category: None,
            metadata: None,
            created: time,
            updated: time,
            expires: None,
            superseded_by: None,
            place: Place {
                project: super::super::record::project(),
                path: memoranda_core::path::NotePath::parse(&format!("global/fact/{id}.md"))
                    .unwrap(),
            },
        }
    }

    #[test]
    fn only_what_says_the_same_is_put_together() {
        for (old, new, expected) in [
            ("Use pnpm, not npm", "use  PNPM, not npm.", Some(Difference::Wording)),
            ("API rate limit: 100 per minute", "API rate limit: 200", Some(Difference::Changed)),
            ("The API allows 100 requests", "The API allows 200 requests", None),
            ("Use npm in this repository", "Never use npm in this repository", None),
            ("Production runs PostgreSQL", "Staging runs on SQLite", None),
            (
                "The billing service is owned by the payments team in Berlin",
                "The billing service is owned by the payments team Berlin",
                Some(Difference::Wording),
            ),
        ] {
            let (old_one, new_one) =
                (Compared::new(record("a", old, 1)), Compared::new(record("b", new, 2)));
            assert_eq!(new_one.compare(&old_one), expected, "{old} / {new}");
            let groups = group(vec![record("a", old, 1), record("b", new, 2)]);
            assert_eq!(groups.len(), usize::from(expected.is_some()), "{old} / {new}");
            assert!(groups.iter().all(|group| group.winner.id == "b"), "the newest stays");
        }
    }
}
