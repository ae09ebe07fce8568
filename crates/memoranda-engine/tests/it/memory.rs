//! Write, edit, move, delete, look back, take back: on a real vault.

use std::time::{Duration, Instant};

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_core::id::ProjectName;
use memoranda_core::note::edit::NoteEdit;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    AddRequest, DeleteOutcome, DeleteRequest, EditOutcome, EditRequest, EngineError, ExpireRequest,
    FileOperation, GraphRequest, HistoryFilter, LinkPolicy, LinkScope, Memory, MoveOutcome,
    MoveRequest, NoteLocation, OpenOptions, PointInTime, ResolveIntent, RestoreOutcome,
    SearchFilter, SearchRequest, SyncScope, TransactOutcome, UndoOutcome, WriteMode, WriteOutcome,
    WriteRequest,
};
use tempfile::TempDir;

/// More than anything takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Vault {
    pub(crate) folder: TempDir,
    pub(crate) memory: Memory,
}

impl Vault {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let memory = Memory::open(OpenOptions::in_folder(folder.path())).unwrap();
        Self { folder, memory }
    }

    pub(crate) fn text(&self, place: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("home").join(place)).ok()
    }

    pub(crate) fn write(&self, path: &str, text: &str, mode: WriteMode) -> WriteOutcome {
        let request = WriteRequest {
            project: main_project(),
            path: NotePath::parse(path).unwrap(),
            content: text.into(),
            mode,
            message: None,
        };
        self.memory.write(&who(), &request).unwrap()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let outcome = self.write(path, text, WriteMode::CreateOrOverwrite);
        assert!(matches!(outcome, WriteOutcome::Written(_)), "{outcome:?}");
    }

    pub(crate) fn undo_last(&self) -> UndoOutcome {
        let last = self.memory.log(&HistoryFilter::default(), 1, 0).unwrap().remove(0);
        self.memory.undo(&who(), last.id.as_str()).unwrap()
    }
}

pub(crate) fn who() -> Author {
    Author::new("test", "verb", ChangeChannel::Cli)
}

pub(crate) fn main_project() -> ProjectName {
    ProjectName::parse("main").unwrap()
}

pub(crate) fn place(path: &str) -> NoteLocation {
    NoteLocation { project: main_project(), path: NotePath::parse(path).unwrap() }
}

#[test]
fn every_change_can_be_taken_back() {
    let vault = Vault::new();
    vault.put("a.md", "one\n");
    vault.put("a.md", "two\n");
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\n"));

    let moved = MoveRequest::new(place("a.md"), NotePath::parse("b/c.md").unwrap());
    assert!(matches!(vault.memory.move_notes(&who(), &moved), Ok(MoveOutcome::Moved(_))));
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\n"));
    assert_eq!(vault.text("main/b/c.md"), None);

    let request = DeleteRequest { place: place("a.md"), expected: None };
    assert!(matches!(vault.memory.delete(&who(), &request), Ok(DeleteOutcome::Deleted(_))));
    assert!(matches!(vault.undo_last(), UndoOutcome::Undone(_)));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\n"));
}

#[test]
fn what_changed_since_is_not_taken_back() {
    let vault = Vault::new();
    vault.put("a.md", "one\n");
    let first = vault.memory.log(&HistoryFilter::default(), 1, 0).unwrap().remove(0);
    vault.put("a.md", "two\n");
    let outcome = vault.memory.undo(&who(), first.id.as_str()).unwrap();
    assert_eq!(outcome, UndoOutcome::ChangedSince(vec![place("a.md")]));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("two\n"));
}

#[test]
fn a_deleted_note_and_an_earlier_version_come_back() {
    let vault = Vault::new();
    vault.put("a.md", "one\n");
    let first = vault.memory.log(&HistoryFilter::default(), 1, 0).unwrap().remove(0);
    vault.put("a.md", "two\n");
    let request = DeleteRequest { place: place("a.md"), expected: None };
    vault.memory.delete(&who(), &request).unwrap();
    let restored = vault.memory.restore(&who(), None, "main/a.md", None).unwrap();
    assert!(matches!(restored, RestoreOutcome::Restored(_)));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("two\n"));
    let at = Some(PointInTime::Commit(first.id));
    vault.memory.restore(&who(), Some("main"), "a", at).unwrap();
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\n"));
    let then = vault.memory.read_as_of(None, "a", PointInTime::Commit(first.id)).unwrap();
    assert_eq!(then.text().unwrap(), "one\n");
    let revisions = vault.memory.revisions(&place("a.md"), 10).unwrap();
    assert_eq!(revisions.len(), 5);
}

#[test]
fn guarded_writes_and_edits_notice_other_versions() {
    let vault = Vault::new();
    vault.put("a.md", "# A\n\n## List\n- one\n");
    assert!(matches!(vault.write("a.md", "x", WriteMode::Create), WriteOutcome::Exists(..)));
    let wrong = memoranda_engine::hash(b"something else");
    let outcome = vault.write("a.md", "x", WriteMode::OverwriteVersion(wrong));
    assert!(matches!(outcome, WriteOutcome::Conflict(_, Some(_))), "{outcome:?}");
    let edit = |expected| EditRequest {
        place: place("a.md"),
        edits: vec![
            NoteEdit::Append { text: "- two".into() },
            NoteEdit::FindReplace { find: "one".into(), replace: "1".into(), expected: 1 },
        ],
        expected,
        message: None,
    };
    assert!(matches!(vault.memory.edit(&who(), &edit(Some(wrong))), Ok(EditOutcome::Conflict(..))));
    assert!(matches!(vault.memory.edit(&who(), &edit(None)), Ok(EditOutcome::Edited(_))));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("# A\n\n## List\n- 1\n- two\n"));
    // The second edit does not fit any more, so the first is not made either.
    assert!(matches!(vault.memory.edit(&who(), &edit(None)), Err(EngineError::Edit { .. })));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("# A\n\n## List\n- 1\n- two\n"));
}

#[test]
fn names_mean_one_note_or_are_refused() {
    let vault = Vault::new();
    vault.put("work/Plan.md", "the plan for work");
    vault.put("home/Plan.md", "the plan for home");
    vault.put("Caf\u{e9}.md", "coffee");
    let found = |name: &str| {
        vault.memory.resolve(None, name, ResolveIntent::Read).map(|found| found.place.to_string())
    };
    assert_eq!(found("work/plan").unwrap(), "main/work/Plan.md");
    assert_eq!(found("main/home/Plan.md").unwrap(), "main/home/Plan.md");
    assert_eq!(found("memory://home/plan").unwrap(), "main/home/Plan.md");
    assert_eq!(found("cafe\u{301}").unwrap(), "main/Caf\u{e9}.md");
    let Err(EngineError::Ambiguous { candidates, .. }) = found("Plan") else {
        panic!("not refused")
    };
    assert_eq!(candidates.len(), 2);
    let missing = found("plan for work").unwrap_err().to_string();
    assert!(missing.contains("did you mean main/work/Plan.md"), "{missing}");
}

#[test]
fn a_name_means_the_note_that_lies_there_unless_another_states_it() {
    let vault = Vault::new();
    let moved = |from: &str, to: &str| {
        let moved = MoveRequest::new(place(from), NotePath::parse(to).unwrap());
        assert!(matches!(vault.memory.move_notes(&who(), &moved), Ok(MoveOutcome::Moved(_))));
    };
    for (at, to, before) in [
        ("log.md", "log-2025.md", "of last year"),
        ("It's Old.md", "archive/old.md", "of last year"),
        ("plan.md", "plan-2025.md", "---\npermalink: plan\n---\nof last year"),
    ] {
        vault.put(at, before);
        moved(at, to);
        vault.put(at, "of this year");
    }
    let found = |name: &str, intent| vault.memory.resolve(None, name, intent);
    let path = |name: &str, intent| found(name, intent).unwrap().place.path.to_string();
    for (name, expected, other) in [
        ("log", "log.md", Some("log-2025.md")),
        ("memory://log", "log.md", Some("log-2025.md")),
        ("log.md", "log.md", None),
        ("log-1", "log.md", None),
        ("log-2025", "log-2025.md", None),
        ("its-old", "It's Old.md", Some("archive/old.md")),
        // A title in the text stays the note's own after a move.
        ("plan", "plan-2025.md", Some("plan.md")),
        ("plan.md", "plan.md", None),
        ("plan-1", "plan.md", None),
    ] {
        let meant = found(name, ResolveIntent::Read).unwrap();
        assert_eq!(meant.place, place(expected), "{name}");
        assert_eq!(meant.other, other.map(place), "{name}");
    }
    for name in ["log", "its-old", "plan"] {
        assert!(
            matches!(found(name, ResolveIntent::Change), Err(EngineError::Ambiguous { .. })),
            "{name}"
        );
    }
    // To change one of two is not a matter of taste.
    let Err(EngineError::Ambiguous { candidates, .. }) = found("log", ResolveIntent::Change) else {
        panic!("not refused")
    };
    assert_eq!(candidates, [place("log-2025.md"), place("log.md")]);
    assert_eq!(path("log.md", ResolveIntent::Change), "log.md");
}

#[test]
fn search_finds_parts_phrases_prefixes_and_other_scripts() {
    let vault = Vault::new();
    vault.put(
        "long.md",
        &format!("# Long\n\n{}\n\nThe needle is here.\n", "hay and straw\n\n".repeat(400)),
    );
    vault.put("jp.md", "# 日本\n\n東京都に住んでいます\n");
    vault.put("tagged.md", "---\ntags: [garden]\n---\nplants and pots\n");
    let found = |text: &str| {
        let request = SearchRequest {
            text: text.into(),
            limit: 10,
            snippet_chars: 80,
            ..SearchRequest::default()
        };
        let page = vault.memory.search(&request).unwrap();
        page.results
            .iter()
            .map(|r| (r.place.path.to_string(), r.snippet.text.clone()))
            .collect::<Vec<_>>()
    };
    let needle = found("needle");
    assert_eq!(needle[0].0, "long.md");
    assert!(needle[0].1.contains("needle"), "{needle:?}");
    assert_eq!(found("東京")[0].0, "jp.md");
    assert_eq!(found("plan*")[0].0, "tagged.md");
    assert_eq!(found("\"pots and plants\""), []);
    assert_eq!(found("\"plants and pots\"").len(), 1);
    assert_eq!(found("tag:garden")[0].0, "tagged.md");
    assert_eq!(found("zebra"), []);
    assert!(matches!(
        vault.memory.search(&SearchRequest {
            text: " ".into(),
            limit: 1,
            snippet_chars: 1,
            ..SearchRequest::default()
        }),
        Err(EngineError::Invalid(_))
    ));
}

#[test]
fn search_looks_only_where_it_is_told() {
    let vault = Vault::new();
    vault.put(
        "facts.md",
        "- [Decision] use the blue paint <!-- obs_01J9Z00000000000000000000A v1 \
         2026-01-20T15:30:00Z c=1.0 i=0.9 -->\n",
    );
    vault.put("old.md", "- [decision] ~~use the blue varnish~~\n");
    vault.put("plain.md", "the blue paint is in the shed\n");
    let check = |filter: SearchFilter, expected: &[&str]| {
        let request = SearchRequest {
            text: "blue paint".into(),
            filter: filter.clone(),
            ..SearchRequest::default()
        };
        let page = vault.memory.search(&request).unwrap();
        let mut found: Vec<_> = page.results.iter().map(|r| r.place.path.to_string()).collect();
        found.sort();
        assert_eq!(found, expected, "{filter:?}");
    };
    let decisions = vec!["decision".to_owned()];
    check(SearchFilter { categories: decisions, ..Default::default() }, &["facts.md"]);
    check(SearchFilter { min_importance: Some(0.5), ..Default::default() }, &["facts.md"]);
    check(SearchFilter { min_importance: Some(0.95), ..Default::default() }, &[]);
}

#[test]
fn the_graph_connects_notes_through_others() {
    let vault = Vault::new();
    vault.put("a.md", "- leads_to [[B]]\n");
    vault.put("b.md", "- leads_to [[C]]\n- wants [[Nowhere]]\n");
    vault.put("c.md", "the end\n");
    let request = GraphRequest { place: place("b.md"), depth: 1, max: 10 };
    let around = vault.memory.neighbours(&request).unwrap();
    let titles: Vec<_> = around.notes.iter().map(|n| n.node.title.as_str()).collect();
    assert_eq!(titles.len(), 2);
    assert_eq!(around.unresolved, [("wants".to_owned(), "Nowhere".to_owned())]);
    let path = vault.memory.connect(&place("a.md"), &place("c.md"), 5).unwrap().unwrap();
    assert_eq!(path.notes.len(), 3);
    assert!(path.links.iter().all(|link| link.relation_type == "leads_to"));
    vault.put("nowhere.md", "now it is here\n");
    let around = vault.memory.neighbours(&request).unwrap();
    assert_eq!((around.notes.len(), around.unresolved.len()), (3, 0));
}

#[test]
fn unused_notes_expire_and_come_back() {
    let vault = Vault::new();
    vault.put("old.md", "nobody looks at this");
    vault.put("used.md", "somebody looks at this");
    vault.put("again.md", "somebody writes this again");
    vault.put("edited.md", "somebody edits nothing in this");
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    for name in ["old.md", "used.md", "again.md", "edited.md"] {
        let file = vault.folder.path().join("home/main").join(name);
        std::fs::OpenOptions::new().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    vault.memory.sync(&mut |_| {}).unwrap();
    vault.memory.record_use(&place("used.md"));
    // A write is a use, also of the text that is there.
    let again = vault.write("again.md", "somebody writes this again", WriteMode::CreateOrOverwrite);
    assert!(matches!(again, WriteOutcome::Unchanged(..)), "{again:?}");
    let same = |text: &str| Ok::<_, EngineError>(text.to_owned());
    let edited = vault.memory.rewrite(&who(), &place("edited.md"), None, None, same);
    assert!(matches!(edited, Ok(EditOutcome::Unchanged(..))), "{edited:?}");
    let request = ExpireRequest { project: main_project(), days: 90 };
    let expired = vault.memory.expire(&who(), &request).unwrap();
    assert_eq!(expired.notes.len(), 1);
    assert_eq!(vault.text("main/old.md"), None);
    assert!(vault.text("main/used.md").is_some());
    vault.memory.undo(&who(), expired.commit.unwrap().id.as_str()).unwrap();
    assert!(vault.text("main/old.md").is_some());
}

#[test]
fn a_move_is_a_use_and_no_empty_folder_is_left() {
    let vault = Vault::new();
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    for name in ["a/moved.md", "a/b/renamed.md", "c/d/unused.md", "c/kept.txt.md"] {
        vault.put(name, &format!("{name} is old"));
        let file = vault.folder.path().join("home/main").join(name);
        std::fs::OpenOptions::new().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    vault.memory.sync(&mut |_| {}).unwrap();
    let to = |name: &str| NotePath::parse(name).unwrap();
    let request = MoveRequest::new(place("a/moved.md"), to("x/moved.md"));
    vault.memory.move_notes(&who(), &request).unwrap();
    let links = LinkPolicy::Update(LinkScope::Everywhere);
    let request = MoveRequest { links, ..MoveRequest::new(place("a/b"), to("x/b")) };
    vault.memory.move_notes(&who(), &request).unwrap();
    vault.memory.record_use(&place("c/kept.txt.md"));
    let request = ExpireRequest { project: main_project(), days: 90 };
    let expired = vault.memory.expire(&who(), &request).unwrap();
    let paths: Vec<_> = expired.notes.iter().map(|(place, _)| place.path.as_str()).collect();
    assert_eq!(paths, ["c/d/unused.md"]);
    let home = vault.folder.path().join("home/main");
    assert!(!home.join("c/d").exists() && home.join("c").exists());
    vault.memory.undo(&who(), expired.commit.unwrap().id.as_str()).unwrap();
    assert!(home.join("c/d/unused.md").exists());
}

#[test]
fn an_added_note_gets_a_free_name_and_its_keys() {
    let vault = Vault::new();
    let add = || AddRequest {
        project: main_project(),
        title: Some("A: question?".into()),
        folder: "ideas".into(),
        text: "body".into(),
        tags: vec!["#x".into()],
        note_type: None,
    };
    let first = vault.memory.add(&who(), &add()).unwrap();
    let second = vault.memory.add(&who(), &add()).unwrap();
    assert_ne!(first.place, second.place);
    let text = vault.memory.read_at(&first.place).unwrap();
    let parsed = text.parse().unwrap();
    assert_eq!(parsed.note.title().as_deref(), Some("A: question?"));
    assert_eq!(parsed.note.tags(), ["x"]);
}

#[test]
fn many_notes_change_in_one_commit_or_not_at_all() {
    let vault = Vault::new();
    vault.put("a.md", "one\n");
    let before = vault.memory.log(&HistoryFilter::default(), 100, 0).unwrap().len();
    let outcome = vault
        .memory
        .transact::<EngineError>(&who(), Some("both"), |desk| {
            let (text, _) = desk.text(&place("a.md"))?.unwrap();
            assert_eq!(desk.text(&place("b.md"))?, None);
            assert_eq!(desk.summary(&place("a.md"))?.unwrap().title, "a");
            Ok(vec![
                FileOperation::put(place("a.md"), format!("{text}two\n")),
                FileOperation::create(place("b.md"), "three\n"),
            ])
        })
        .unwrap();
    let TransactOutcome::Committed(commit) = outcome else { panic!("{outcome:?}") };
    assert_eq!((commit.files.len(), commit.message.as_deref()), (2, Some("both")));
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\ntwo\n"));
    assert_eq!(vault.memory.log(&HistoryFilter::default(), 100, 0).unwrap().len(), before + 1);
    // One thing that is not as expected, and nothing is done.
    let steps = || {
        vec![FileOperation::remove(place("a.md")), FileOperation::create(place("b.md"), "again\n")]
    };
    let outcome = vault.memory.transact::<EngineError>(&who(), None, |_| Ok(steps())).unwrap();
    assert!(matches!(outcome, TransactOutcome::Conflict(_)), "{outcome:?}");
    assert_eq!(vault.text("main/a.md").as_deref(), Some("one\ntwo\n"));
    // A decision against it comes back as it was said.
    let refused = vault.memory.transact(&who(), None, |_| {
        Err::<Vec<FileOperation>, _>(EngineError::Invalid("no".into()))
    });
    assert!(matches!(refused, Err(EngineError::Invalid(_))));
    vault.memory.undo(&who(), commit.id.as_str()).unwrap();
    assert_eq!(
        (vault.text("main/a.md").as_deref(), vault.text("main/b.md")),
        (Some("one\n"), None)
    );
}

#[test]
fn who_is_asked_a_second_time_begins_to_watch() {
    let vault = Vault::new();
    vault.put("a/one.md", "Text.\n");
    vault.memory.sync(&mut |_| {}).unwrap();
    let concern = SyncScope::Folders(main_project(), vec![NotePath::parse("a").unwrap()]);
    for _ in 0..2 {
        vault.memory.await_edits(&concern, PATIENCE).unwrap();
    }
    let begun = Instant::now();
    while !vault.memory.has_looked() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}
