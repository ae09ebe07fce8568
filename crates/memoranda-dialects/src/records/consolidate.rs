//! Merging records that say the same: the newest stays, the others point to it and are no longer
//! shown. Nothing is deleted, and one commit does it all.

use std::collections::{BTreeSet, HashMap};

use memoranda_core::note::MetaValue;
use memoranda_core::words::words;
use memoranda_engine::{ReviseOutcome, Step};
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
    let mut scopes = scope::reach(call.settings, args)?.scopes;
    scopes.retain(|scope| match scope {
        Scope::Global => include_global || global_only,
        Scope::Project(_) => !global_only,
    });
    let now = call.settings.records.now();
    let (mut input, mut groups, mut disputes) = (0, Vec::new(), Vec::new());
    for scope in &scopes {
        for kind in &kinds {
            let mut records = shelf::all_of(call.memory, scope, *kind)?;
            records.retain(|record| record.is_active(&now));
            input += records.len();
            let sorted = Sorted::new(records);
            groups.extend(sorted.groups);
            disputes.extend(sorted.disputes);
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
    let conflicts = groups.iter().filter(|group| group.conflict).count() + disputes.len();
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
    for (new, old) in disputes.iter().take(SHOWN) {
        text.push_str(&format!("\nCONFLICT, left as it is: {}", new.line(120)));
        text.push_str(&format!("\n  against {}: {}", old.id, one_line(&old.content, 120)));
    }
    if !disputes.is_empty() {
        text.push_str(
            "\n[the same words in another order: edit_memory or forget_memory one of each]",
        );
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
        "disputed": disputes.iter().map(|(new, old)| [&new.id, &old.id]).collect::<Vec<_>>(),
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

/// Records, sorted out: what says the same, and what may say the opposite.
#[derive(Default)]
struct Sorted {
    groups: Vec<Group>,
    /// The newer first. They stay: only a person knows which one holds.
    disputes: Vec<(Record, Record)>,
}

impl Sorted {
    /// Puts together what says the same, the newest first.
    fn new(mut records: Vec<Record>) -> Self {
        records.sort_by(Record::newest_first);
        let compared: Vec<Compared> = records.into_iter().map(Compared::new).collect();
        let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
        for (n, one) in compared.iter().enumerate() {
            for word in one.distinct().into_iter().chain(one.subject.as_deref()) {
                holders.entry(word).or_default().push(n);
            }
        }
        let mut taken = vec![false; compared.len()];
        let mut sorted = Self::default();
        for (n, winner) in compared.iter().enumerate() {
            if taken.get(n).copied().unwrap_or(true) {
                continue;
            }
            let mut near: BTreeSet<usize> = BTreeSet::new();
            for word in winner.distinct().into_iter().chain(winner.subject.as_deref()) {
                let rare = holders.get(word).filter(|holders| holders.len() <= COMMON);
                near.extend(rare.into_iter().flatten().filter(|other| **other > n));
            }
            let (mut older, mut conflict) = (Vec::new(), false);
            for other in near {
                let (Some(old), Some(is_taken)) = (compared.get(other), taken.get_mut(other))
                else {
                    continue;
                };
                match winner.compare(old).filter(|_| !*is_taken) {
                    None => continue,
                    Some(Difference::Order) => {
                        sorted.disputes.push((winner.record.clone(), old.record.clone()));
                        continue;
                    }
                    Some(Difference::Wording) => {}
                    Some(Difference::Changed) => conflict = true,
                }
                *is_taken = true;
                older.push(old.record.clone());
            }
            if !older.is_empty() {
                sorted.groups.push(Group { winner: winner.record.clone(), older, conflict });
            }
        }
        sorted
    }
}

/// How a record differs from a newer one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Difference {
    /// In words only: the newer one takes its place.
    Wording,
    /// It says something else about the same subject: the newer one takes its place.
    Changed,
    /// Nearly the same words in another order, as "use a, not b" and "use b, not a": both stay.
    Order,
}

/// What a record is compared by.
struct Compared {
    record: Record,
    /// Its words, in order.
    words: Vec<String>,
    /// `API rate limit` of `API rate limit: 100 per minute`.
    subject: Option<String>,
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

    fn distinct(&self) -> BTreeSet<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// How an older record differs from this one; `None` if it stands for itself.
    fn compare(&self, old: &Self) -> Option<Difference> {
        if self.record.paths != old.record.paths {
            return None;
        }
        if self.words == old.words {
            return Some(Difference::Wording);
        }
        self.compare_words(old).or_else(|| {
            (self.subject.is_some() && self.subject == old.subject).then_some(Difference::Changed)
        })
    }

    fn compare_words(&self, old: &Self) -> Option<Difference> {
        let (own, others) = (self.distinct(), old.distinct());
        let shared = own.intersection(&others).count() as f64;
        let all = own.union(&others).count() as f64;
        // One word in the place of another is another statement, and so is a word that turns it.
        let is_replaced =
            own.difference(&others).next().is_some() && others.difference(&own).next().is_some();
        let (counts, old_counts) = (counted(&self.words), counted(&old.words));
        let is_turned = own.union(&others).any(|word| {
            let tells = word.contains(|c: char| c.is_ascii_digit())
                || matches!(*word, "not" | "no" | "never" | "don" | "without" | "instead");
            tells && counts.get(word) != old_counts.get(word)
        });
        if shared < SAME * all || is_replaced || is_turned {
            return None;
        }
        let common: usize =
            counts.iter().map(|(word, n)| *n.min(old_counts.get(word).unwrap_or(&0))).sum();
        let in_order = longest_common(&self.words, &old.words);
        match in_order {
            Some(in_order) if in_order == common => Some(Difference::Wording),
            Some(_) => Some(Difference::Order),
            // Too long to be sure.
            None => None,
        }
    }
}

fn counted(words: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word.as_str()).or_insert(0) += 1;
    }
    counts
}

/// How many words two texts share in the same order; `None` if that takes too long to find out.
fn longest_common(one: &[String], two: &[String]) -> Option<usize> {
    const MOST: usize = 4_000_000;
    if one.len().saturating_mul(two.len()) > MOST {
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
    use super::*;
    use memoranda_engine::Place;

    #[test]
    fn of_two_in_one_tick_the_later_one_stays() {
        let early = record("a", "Rate limit: 100", 9);
        let mut late = record("b", "Rate limit: 200", 9);
        late.created += std::time::Duration::from_millis(1);
        for records in [vec![early.clone(), late.clone()], vec![late, early]] {
            assert_eq!(Sorted::new(records).groups[0].winner.id, "b");
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
            ("Use pnpm, not npm", "Use npm, not pnpm", Some(Difference::Order)),
            ("Tools: use pnpm, not npm", "Tools: use npm, not pnpm", Some(Difference::Order)),
            (
                "In every package of this repository, and in the tools, use pnpm and not npm",
                "In every package of this repository, and in the tools, use npm and not pnpm",
                Some(Difference::Order),
            ),
            (
                "All the services of the shop are written in Rust by the payments team",
                "All the services of the shop are written in Python by the payments team",
                None,
            ),
            (
                "The billing service is owned by the payments team in Berlin",
                "The billing service is owned by the payments team Berlin",
                Some(Difference::Wording),
            ),
        ] {
            let (old_one, new_one) =
                (Compared::new(record("a", old, 1)), Compared::new(record("b", new, 2)));
            assert_eq!(new_one.compare(&old_one), expected, "{old} / {new}");
            let sorted = Sorted::new(vec![record("a", old, 1), record("b", new, 2)]);
            let is_order = expected == Some(Difference::Order);
            let is_merged = expected.is_some() && !is_order;
            assert_eq!(sorted.groups.len(), usize::from(is_merged), "{old} / {new}");
            assert_eq!(sorted.disputes.len(), usize::from(is_order), "{old} / {new}");
            assert!(sorted.groups.iter().all(|group| group.winner.id == "b"), "the newest stays");
        }
    }
}
