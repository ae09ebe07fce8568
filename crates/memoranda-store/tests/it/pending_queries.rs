//! Random commits that are not indexed yet: each query answers as it does after they are indexed.
//! `MEMORANDA_TEST_ROUNDS` asks for more seeds, `MEMORANDA_TEST_SEED` for another first one.

use std::collections::BTreeSet;

use memoranda_core::change::{ChangeOperation, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::path::NotePath;
use memoranda_store::{
    CommitOutcome, HistoryFilter, ListFilter, ListOrder, Snapshot, Store, StoreError, Transaction,
};

use crate::support::{Random, TestVault, change, path, rounds, sync, who};

const PROJECTS: [&str; 2] = ["main", "work"];
/// Paths with equal names in several folders, one that starts with a project, and names that differ
/// only in case.
const PATHS: [&str; 12] = [
    "x.md",
    "y.md",
    "a/x.md",
    "a/y.md",
    "a/b/x.md",
    "b/x.md",
    "work/x.md",
    "A/Y.md",
    "b/z.json",
    "b/plan.md",
    "Plan.md",
    "a/x y.md",
];
/// Titles, permalinks and link targets.
const NAMES: [&str; 18] = [
    "x",
    "y",
    "x y",
    "x#y",
    "Plan",
    "plan b",
    "a/x",
    "work/x",
    "main/x",
    "./y",
    "../x",
    "b/plan",
    "work/Plan",
    "nowhere",
    "x#nowhere",
    "shared",
    "work::x",
    "main::Plan",
];
const COMMITS: usize = 150;

fn pick<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    of[random.below(of.len())]
}

fn project(random: &mut Random) -> ProjectName {
    // Most commits are made in one project, so that their names meet.
    ProjectName::parse(if random.below(4) == 0 { PROJECTS[1] } else { PROJECTS[0] }).unwrap()
}

fn text(random: &mut Random, turn: usize) -> Vec<u8> {
    let mut text = String::new();
    if random.below(2) == 0 {
        text.push_str("---\n");
        for field in ["title", "permalink", "alias"] {
            if random.below(2) == 0 {
                text.push_str(&format!("{field}: \"{}\"\n", pick(random, &NAMES)));
            }
        }
        text.push_str("---\n");
    }
    text.push_str(&format!("The text of turn {turn}\n"));
    for n in 0..random.below(3) {
        text.push_str(&format!("- [fact] fact {n} of turn {turn}\n"));
    }
    for _ in 0..random.below(4) {
        let name = pick(random, &NAMES);
        match random.below(4) {
            0 => text.push_str(&format!("see [[{name}]]\n")),
            1 => text.push_str(&format!(
                "- knows [[{name}]] <!-- obs_01J9Z{turn} v1 2026-01-20T15:30:00Z -->\n"
            )),
            _ => text.push_str(&format!("- relates_to [[{name}]]\n")),
        }
    }
    if random.below(12) == 0 {
        // Names of large files are not read before the commit is acknowledged.
        text.push_str(&"many words ".repeat(4_000));
    }
    text.into_bytes()
}

/// Makes a random commit of one file or two.
fn commit(store: &Store, random: &mut Random, turn: usize) {
    let project = project(random);
    let mut operations: Vec<ChangeOperation> = Vec::new();
    for _ in 0..1 + usize::from(random.below(5) == 0) {
        let place = path(pick(random, &PATHS));
        let action = match random.below(8) {
            0 | 1 => FileAction::Remove,
            2 | 3 => {
                let from = path(pick(random, &PATHS));
                let found = store.read(&project, &from).unwrap();
                let Some(found) = found.filter(|_| from != place) else { continue };
                let content = if random.below(2) == 0 { found.bytes } else { text(random, turn) };
                FileAction::MoveFrom { from, content }
            }
            _ => FileAction::Put(text(random, turn)),
        };
        let touches = |named: &NotePath| {
            operations.iter().any(|made| {
                made.path == *named
                    || matches!(&made.action, FileAction::MoveFrom { from, .. } if from == named)
            })
        };
        let is_twice = touches(&place)
            || matches!(&action, FileAction::MoveFrom { from, .. } if touches(from));
        if !is_twice {
            let expect = ExpectedContent::Anything;
            operations.push(ChangeOperation {
                project: project.clone(),
                path: place,
                expect,
                action,
            });
        }
    }
    let change = change(operations);
    let made = store.transact(&who("test"), |_| Ok::<_, StoreError>(change.clone()));
    assert!(matches!(made, Ok(_) | Err(StoreError::Twin { .. })), "{made:?}");
}

/// A query that need not wait for every pending commit.
#[derive(Debug, Clone)]
enum Question {
    File(ProjectName, NotePath),
    Rows(Vec<i64>),
    Bodies(Vec<i64>),
    Outlines(Vec<i64>),
    Facts(i64),
    RelationsFrom(i64),
    History(ProjectName, NotePath),
    CurrentPath(ProjectName, NotePath),
    RelationsNamed(ProjectName, String),
    RelationsTo(i64),
    Candidates(ProjectName, String),
    Permalink(ProjectName, String),
    Twins(ProjectName, NotePath),
    Titled(ProjectName, String, String),
    Spelled(ProjectName, NotePath),
    Names(ProjectName, NotePath),
    Unresolved(ProjectName, NotePath, String),
}

impl Question {
    fn any(random: &mut Random, rows: &[i64]) -> Self {
        let project = project(random);
        let place = path(pick(random, &PATHS));
        let name = pick(random, &NAMES).to_owned();
        let row = match rows {
            [] => 0,
            rows => rows[random.below(rows.len())],
        };
        let folder = place.parent().unwrap_or_default().to_owned();
        match random.below(25) {
            0 => Self::File(project, place),
            1 => Self::Rows(vec![row, *rows.last().unwrap_or(&0)]),
            2 => Self::Bodies(vec![row]),
            3 => Self::Outlines(vec![row]),
            4 => Self::Facts(row),
            5..=7 => Self::RelationsTo(row),
            8 => Self::Candidates(project, name),
            9 => Self::Permalink(project, name),
            10 => Self::Twins(project, place),
            11 => Self::Titled(project, folder, name),
            12 => Self::Spelled(project, path(&place.as_str().to_uppercase())),
            13 => Self::Names(project, place),
            20 | 21 => Self::History(project, place),
            22 | 23 => Self::CurrentPath(project, place),
            14..=16 => Self::RelationsFrom(row),
            17..=19 => Self::RelationsNamed(project, name),
            _ => Self::Unresolved(project, place, name),
        }
    }

    fn ask(&self, store: &Store, snapshot: &Snapshot<'_>) -> String {
        match self {
            Self::File(project, place) => format!("{:?}", snapshot.file(project, place).unwrap()),
            Self::Rows(rows) => {
                let one: Vec<_> =
                    rows.iter().map(|row| snapshot.file_by_id(*row).unwrap()).collect();
                format!("{:?} {one:?}", snapshot.files_by_id(rows).unwrap())
            }
            Self::Bodies(rows) => format!("{:?}", snapshot.bodies(rows).unwrap()),
            Self::Outlines(rows) => format!("{:?}", snapshot.outlines(rows).unwrap()),
            Self::Facts(row) => format!("{:?}", snapshot.observations(*row).unwrap()),
            Self::RelationsTo(row) => format!("{:?}", snapshot.relations_to(*row).unwrap()),
            Self::History(project, place) => {
                let (project, place) = (Some(project.clone()), place.clone());
                // The whole folder of the file, too.
                let folder = place.parent().and_then(|folder| NotePath::parse(folder).ok());
                let found = [Some(place), folder].map(|path| {
                    let filter =
                        HistoryFilter { project: project.clone(), path, ..Default::default() };
                    let page = snapshot.history(&filter, 5, 0).unwrap();
                    let before = page.first().map(|commit| commit.id);
                    let older = HistoryFilter { before, ..filter };
                    (page, snapshot.history_heads(&older, 5, 0).unwrap())
                });
                format!("{found:?}")
            }
            Self::CurrentPath(project, place) => {
                format!("{:?}", snapshot.current_path(project, place).unwrap())
            }
            Self::RelationsFrom(row) => format!("{:?}", snapshot.relations_from(*row).unwrap()),
            Self::RelationsNamed(project, name) => {
                format!("{:?}", snapshot.relations_named(project, name).unwrap())
            }
            Self::Candidates(project, name) => {
                format!("{:?}", snapshot.link_candidates(project, name).unwrap())
            }
            Self::Permalink(project, name) => {
                format!("{:?}", snapshot.with_permalink(project, name).unwrap())
            }
            Self::Twins(project, place) => format!("{:?}", snapshot.twins(project, place).unwrap()),
            Self::Titled(project, folder, name) => {
                format!("{:?}", snapshot.folder(project, folder).titled(name).unwrap())
            }
            Self::Spelled(project, place) => {
                format!("{:?}", store.spelled(project, place).unwrap())
            }
            Self::Names(project, place) => {
                let file = || snapshot.file(project, place).unwrap();
                let names = store.unindexed_names(project, place);
                format!("{:?}", names.or_else(|| file().map(|f| (f.title, f.permalink))))
            }
            Self::Unresolved(project, place, name) => {
                let relations = note::parse(&format!("- relates_to [[{name}]]\n")).relations;
                format!("{:?}", store.unresolved_links(project, place, &relations).unwrap())
            }
        }
    }
}

fn in_transaction(store: &Store, question: &Question) -> String {
    let mut answer = String::new();
    let outcome = store.transact(&who("test"), |view: &Transaction<'_>| {
        answer = question.ask(store, view);
        Ok::<_, StoreError>(change(vec![]))
    });
    assert_eq!(outcome.unwrap(), CommitOutcome::Unchanged);
    answer
}

/// Asserts that similar notes exist and have these titles, each once.
fn assert_similar_notes_exist(store: &Store, project: &ProjectName, name: &str, context: &str) {
    let similar = store.similar_notes(project, name, 50).unwrap();
    let paths: BTreeSet<_> = similar.iter().map(|note| &note.path).collect();
    assert_eq!(paths.len(), similar.len(), "{context}: {similar:?}");
    for note in &similar {
        let file = store.snapshot().unwrap().file(project, &note.path).unwrap();
        let names = file.map(|file| (file.title, file.permalink));
        let expected = Some((note.title.clone(), note.permalink.clone()));
        assert_eq!(names, expected, "{context}: {similar:?}");
    }
}

fn play(seed: u64) {
    let mut random = Random::new(seed);
    let vault = TestVault::new();
    let store = vault.open();
    for name in PROJECTS {
        store.ensure_project(&ProjectName::parse(name).unwrap()).unwrap();
    }
    sync(&store);
    store.start_background_without_thread();
    let mut rows: Vec<i64> = Vec::new();
    for turn in 0..COMMITS {
        commit(&store, &mut random, turn);
        if random.below(5) < 3 {
            continue;
        }
        let context = format!("seed {seed}, turn {turn}");
        if random.below(8) == 0 {
            let project = project(&mut random);
            assert_similar_notes_exist(&store, &project, pick(&mut random, &NAMES), &context);
        }
        let question = Question::any(&mut random, &rows);
        // `spelled` and `unresolved_links` take the lock themselves if a pending commit concerns them.
        let takes_lock = matches!(
            question,
            Question::Spelled(..) | Question::Names(..) | Question::Unresolved(..)
        );
        let answer = if !takes_lock && random.below(2) == 0 {
            in_transaction(&store, &question)
        } else {
            question.ask(&store, &store.snapshot().unwrap())
        };
        let snapshot = store.snapshot().unwrap();
        snapshot.settle().unwrap();
        assert_eq!(answer, question.ask(&store, &snapshot), "{context}: {question:?}");
        let files = snapshot.list(&ListFilter::default(), ListOrder::Path, usize::MAX, 0);
        rows = files.unwrap().iter().map(|file| file.id).collect();
    }
    vault.assert_agrees(&store, &format!("seed {seed}"));
}

#[test]
fn no_query_misses_a_pending_commit() {
    let first = std::env::var("MEMORANDA_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let first: u64 = first.unwrap_or(1);
    for seed in first..first + rounds(6) as u64 {
        play(seed);
    }
}
