//! Edits by example: the text before, the edit, the text after.

use super::super::{observation_content, parse};
use super::*;

fn check(before: &str, edit: &NoteEdit, after: &str) {
    assert_eq!(apply_edit(before, edit).as_deref(), Ok(after), "{before:?} {edit:?}");
    // The other line ending yields the same result.
    let crlf = |text: &str| text.replace('\n', "\r\n");
    if before.contains('\n') && !before.contains('\r') {
        assert_eq!(apply_edit(&crlf(before), edit), Ok(crlf(after)), "CRLF {before:?} {edit:?}");
    }
}

fn check_error(before: &str, edit: &NoteEdit, error: &EditError) {
    assert_eq!(apply_edit(before, edit).as_ref(), Err(error), "{before:?} {edit:?}");
}

fn append(text: &str) -> NoteEdit {
    NoteEdit::Append { text: text.to_owned() }
}

fn prepend(text: &str) -> NoteEdit {
    NoteEdit::Prepend { text: text.to_owned() }
}

fn find_replace(find: &str, replace: &str, expected: usize) -> NoteEdit {
    NoteEdit::FindReplace { find: find.to_owned(), replace: replace.to_owned(), expected }
}

fn replace_section(section: &str, content: &str, subsections: SubsectionHandling) -> NoteEdit {
    NoteEdit::ReplaceSection {
        section: section.to_owned(),
        content: content.to_owned(),
        subsections,
    }
}

fn at_line(line: usize, text: &str) -> NoteEdit {
    NoteEdit::InsertAtLine { line, text: text.to_owned() }
}

fn set_key(key: &str, value: MetaValue) -> NoteEdit {
    NoteEdit::SetKey { key: key.to_owned(), value }
}

fn text(text: &str) -> MetaValue {
    MetaValue::Text(text.to_owned())
}

fn list(items: &[&str]) -> MetaValue {
    MetaValue::List(items.iter().map(|item| text(item)).collect())
}

fn remove_key(key: &str) -> NoteEdit {
    NoteEdit::RemoveKey { key: key.to_owned() }
}

fn id(text: &str) -> ObservationId {
    ObservationId::parse(text).unwrap()
}

fn fact(name: &str, version: u32) -> ObservationMeta {
    ObservationMeta { version, ..ObservationMeta::new(id(name)) }
}

fn new(category: &str, text: &str) -> NewObservation {
    let (category, text) = (Some(category.to_owned()), text.to_owned());
    NewObservation { category, text, context: None, meta: None }
}

fn add(section: Option<&str>, observation: NewObservation) -> NoteEdit {
    NoteEdit::AddObservation { section: section.map(str::to_owned), observation }
}

#[test]
fn text_is_added_at_the_ends() {
    check("", &append("x"), "x\n");
    check("a\n", &append("x"), "a\nx\n");
    check("a", &append("x"), "a\nx");
    check("a", &append("x\n"), "a\nx\n");
    check("a\n", &append(""), "a\n");
    check("", &prepend("x"), "x\n");
    check("a\n", &prepend("x\ny"), "x\ny\n\na\n");
    check("---\nk: v\n---\na\n", &prepend("x"), "---\nk: v\n---\nx\n\na\n");
    check("---\nk: v\n---", &prepend("x"), "---\nk: v\n---\nx");
    check("\u{feff}a\n", &prepend("x"), "\u{feff}x\n\na\n");
    check("a\nb\n", &at_line(0, "x"), "x\na\nb\n");
    check("a\nb\n", &at_line(1, "x\n"), "a\nx\nb\n");
    check("a\nb\n", &at_line(2, "x"), "a\nb\nx\n");
    check("a\nb", &at_line(2, "x"), "a\nb\nx");
    check("", &at_line(0, "x"), "x\n");
    check_error("a\n", &at_line(2, "x"), &EditError::LineOutOfRange { line: 2, lines: 1 });
}

#[test]
fn text_is_found_and_replaced() {
    check("a b a\n", &find_replace("b", "c", 1), "a c a\n");
    check("a b a\n", &find_replace("a", "", 2), " b \n");
    check("aaaa", &find_replace("aa", "b", 2), "bb");
    check("a\nb\nc\n", &find_replace("a\nb", "x\ny", 1), "x\ny\nc\n");
    check("a\nb\nc\n", &find_replace("\nb", "\nx", 1), "a\nx\nc\n");
    check_error("a", &find_replace("", "x", 1), &EditError::EmptyFind);
    let wrong = |lines: &[usize]| EditError::WrongCount { expected: 1, lines: lines.to_vec() };
    check_error("a\nb\na\n", &find_replace("a", "x", 1), &wrong(&[1, 3]));
    check_error("a\n", &find_replace("A", "x", 1), &wrong(&[]));
}

#[test]
fn sections_are_replaced() {
    use SubsectionHandling::{Keep, Replace};
    let note = "# T\n\n## A\n\nold\n\n### S\n\nsub\n\n## B\nb\n";
    let whole = "# T\n\n## A\n\nnew\n\n## B\nb\n";
    check(note, &replace_section("A", "new", Replace), whole);
    check(note, &replace_section("## A", "## A\n\nnew\n", Replace), whole);
    let kept = "# T\n\n## A\n\nnew\n\n### S\n\nsub\n\n## B\nb\n";
    check(note, &replace_section("A", "new", Keep), kept);
    let inner = "# T\n\n## A\n\nold\n\n### S\n\nnew\n\n## B\nb\n";
    check(note, &replace_section("S", "new", Replace), inner);
    let last = "# T\n\n## A\n\nold\n\n### S\n\nsub\n\n## B\nnew\n";
    check(note, &replace_section("B", "new", Replace), last);
    let added = format!("{note}\n## C\nnew\n");
    check(note, &replace_section("C", "new", Replace), &added);
    let title = format!("{note}\n## T\nnew\n");
    check(note, &replace_section("T", "new", Replace), &title);
    check("", &replace_section("# C", "new", Replace), "# C\nnew\n");
    check("", &replace_section("##C", "##C\nnew", Replace), "## C\nnew\n");
    check("# A\n## A\nold\n", &replace_section("##A", "new", Replace), "# A\n## A\nnew\n");
    check("# A\nold\n", &replace_section("#A", "new", Replace), "# A\nnew\n");
    check("# 1\n## #1\nold\n", &replace_section("#1", "new", Replace), "# 1\n## #1\nnew\n");
    check("x", &replace_section("C", "new", Replace), "x\n\n## C\nnew\n");
    check("## A", &replace_section("A", "new", Replace), "## A\nnew");
    check("## A\nold", &replace_section("A", "new", Replace), "## A\nnew");
    check("## A\n## B\n", &replace_section("A", "new", Replace), "## A\nnew\n\n## B\n");
    check(
        "## A\nold\nB\n===\n",
        &replace_section("B", "x", Replace),
        "## A\nold\nB\n===\n\n## B\nx\n",
    );
    check("## A\n\nold\n\n## B\n", &replace_section("A", "", Replace), "## A\n\n\n## B\n");
    check("```\n## A\n```\n", &replace_section("A", "x", Replace), "```\n## A\n```\n\n## A\nx\n");
    let twice = EditError::SectionAmbiguous { section: "A".to_owned(), lines: vec![1, 3] };
    check_error("## A\n\n## A\n", &replace_section("A", "x", Replace), &twice);
}

#[test]
fn sections_match_their_rendered_heading() {
    use SubsectionHandling::Replace;
    // A setext heading may be repeated as well.
    let note = "Sec A\n-----\nold\n\nB\n===\nb\n";
    let after = note.replace("old", "new");
    for content in ["new", "Sec A\n-----\nnew", "\nSec  A\n---\n\nnew\n", "## Sec A\nnew"] {
        check(note, &replace_section("Sec A", content, Replace), &after);
        check(note, &replace_section("## Sec A", content, Replace), &after);
    }
    let other = "Other\n-----\nnew";
    check(note, &replace_section("Sec A", other, Replace), &note.replace("old", other));
    let deeper = "Sec A\n=====\nnew";
    check(note, &replace_section("## Sec A", deeper, Replace), &note.replace("old", deeper));
    // Titles compare in NFC and without Markdown marks.
    for (heading, names) in [
        ("## Caf\u{e9}", &["Cafe\u{301}", "## Cafe\u{301}"][..]),
        ("## Cafe\u{301}", &["Caf\u{e9}"]),
        (
            "## The **bold** [[Link]] part",
            &["The bold Link part", "## The bold Link part", "The **bold** [[Link]] part"],
        ),
        ("### `x` and [y](z)", &["x and y"]),
    ] {
        for name in names {
            let (before, after) = (format!("{heading}\nold\n"), format!("{heading}\nnew\n"));
            check(&before, &replace_section(name, "new", Replace), &after);
            let repeated = format!("{heading}\nnew");
            check(&before, &replace_section(name, &repeated, Replace), &after);
        }
    }
    // A written heading takes precedence; a rendered one must be unique.
    let both = "## **A**\n1\n\n## A\n2\n";
    check(both, &replace_section("A", "new", Replace), &both.replace('2', "new"));
    check(both, &replace_section("**A**", "new", Replace), &both.replace('1', "new"));
    let twice = EditError::SectionAmbiguous { section: "A".to_owned(), lines: vec![1, 3] };
    check_error("## **A**\n\n## _A_\n", &replace_section("A", "x", Replace), &twice);
}

#[test]
fn text_is_added_around_headings() {
    let before = |section: &str| NoteEdit::InsertBeforeSection {
        section: section.to_owned(),
        content: "new".to_owned(),
    };
    let after = |section: &str| NoteEdit::InsertAfterSection {
        section: section.to_owned(),
        content: "new".to_owned(),
    };
    check("a\n\n## A\nx\n", &before("A"), "a\n\nnew\n\n## A\nx\n");
    check("## A\nx\n", &after("A"), "## A\nnew\n\nx\n");
    check("## A", &after("A"), "## A\nnew");
    check("# A\n\nx\n", &after("# A"), "# A\nnew\n\nx\n");
    let missing = EditError::SectionMissing {
        section: "alpha".to_owned(),
        candidates: vec!["## Alpha".to_owned(), "### Alphabet".to_owned(), "# B".to_owned()],
    };
    check_error("# B\n### Alphabet\n## Alpha\n", &before("alpha"), &missing);
}

#[test]
fn keys_are_set_alone() {
    let note = "---\n# top\ntitle: 'T'   # mine\ntags:\n  - a # x\n  - b\n\n# about status\nstatus: \"draft\"\nlong: |\n  one\n\n  two\nmap:\n  k: v\n---\nbody\n";
    let cases = [
        ("title", text("U"), "title: 'T'   #", "title: U   #"),
        ("title", text("no"), "'T'", "\"no\""),
        ("status", text("a: b"), "\"draft\"", "\"a: b\""),
        ("tags", list(&["x", "1"]), "  - a # x\n  - b\n", "  - x\n  - \"1\"\n"),
        ("tags", text("x"), "tags:\n  - a # x\n  - b\n", "tags: x\n"),
        ("tags", list(&[]), "tags:\n  - a # x\n  - b\n", "tags: []\n"),
        ("long", text("x"), "long: |\n  one\n\n  two\n", "long: x\n"),
        ("long", text("x\ny"), "long: |\n  one\n\n  two\n", "long: \"x\\ny\"\n"),
        ("map", text("x"), "map:\n  k: v\n", "map: x\n"),
        ("new", text("2026-01-01"), "  k: v\n", "  k: v\nnew: \"2026-01-01\"\n"),
        ("title", list(&["a"]), "title: 'T'   # mine\n", "title: # mine\n  - a\n"),
    ];
    for (key, value, from, to) in cases {
        check(note, &set_key(key, value), &note.replacen(from, to, 1));
    }
    check("body\n", &set_key("k", text("v")), "---\nk: v\n---\nbody\n");
    check("", &set_key("k", text("v")), "---\nk: v\n---\n");
    check("\u{feff}body\n", &set_key("k", text("v")), "\u{feff}---\nk: v\n---\nbody\n");
    check("---\n---\n", &set_key("k", text("")), "---\nk: \"\"\n---\n");
    check("---\nk:\n---\n", &set_key("k", text("v")), "---\nk: v\n---\n");
    check("---\nk:   # c\nl: m\n---\n", &set_key("k", text("v")), "---\nk: v   # c\nl: m\n---\n");
    check("---\nk: # c\n---\n", &set_key("k", list(&["v"])), "---\nk: # c\n  - v\n---\n");
    check("---\n  a: 1\n---\n", &set_key("b", text("x")), "---\n  a: 1\n  b: x\n---\n");
    check("---\nx: &a 1\ny: *a\n---\n", &set_key("y", text("z")), "---\nx: &a 1\ny: z\n---\n");
    let map = MetaValue::Map(vec![("a".to_owned(), list(&["b"])), ("c".to_owned(), text("yes"))]);
    check("x\n", &set_key("m", map), "---\nm:\n  a:\n    - b\n  c: \"yes\"\n---\nx\n");
    let deep = MetaValue::List(vec![list(&["a"]), MetaValue::Map(Vec::new())]);
    check("x\n", &set_key("m", deep), "---\nm:\n  - [\"a\"]\n  - {}\n---\nx\n");
    for broken in ["---\na: b: c\n---\n", "---\n{a: b}\n---\n", "---\nx: &a 1\ny: *a\n---\n"] {
        let result = apply_edit(broken, &set_key("x", text("z")));
        assert!(matches!(result, Err(EditError::KeyNotEditable { .. })), "{broken:?} {result:?}");
    }
}

#[test]
fn a_comment_on_a_key_line_survives_any_new_value() {
    let check = |before: &str, after: &str| {
        let list = MetaValue::List(["x", "y"].map(|item| MetaValue::Text(item.into())).into());
        let set = NoteEdit::SetKey { key: "k".into(), value: list };
        let text = format!("---\n{before}b: 2\n---\nbody\n");
        assert_eq!(apply_edit(&text, &set).unwrap(), format!("---\n{after}b: 2\n---\nbody\n"));
        let text = text.replace('\n', "\r\n");
        let after = format!("---\n{after}b: 2\n---\nbody\n").replace('\n', "\r\n");
        assert_eq!(apply_edit(&text, &set).unwrap(), after);
    };
    let new = "k: # mine\n  - x\n  - \"y\"\n";
    check("k: [a, b] # mine\n", new);
    check("k: a  # mine\n", new);
    check("k: # mine\n  - a\n", new);
    check("k: # mine\n", new);
    check("k: [a,\n  b]\n", "k:\n  - x\n  - \"y\"\n");
    check("k: 'a # b'\n", "k:\n  - x\n  - \"y\"\n");
}

#[test]
fn comments_around_a_value_stay() {
    let cases = [
        "k: |\n  one\n",
        "k: |+\n  one\n\n",
        "k: >-\n  one\n\n  two\n",
        "k:\n  a:\n    b: |\n      c\n",
        "k:\n  - a\n  - - b\n    - c\n",
        "k:\n- a\n- b: c\n  d: e\n",
        "k: one\n  two\n  three\n",
        "k: \"one\n  two\"\n",
        "k: [a,\n  b]\n",
        "k: {a: b,\n  c: d\n  }\n",
        "k:\n  one\n",
        "? k\n: v\n",
        "k: !!str 1\n",
        "'k': x\n",
        "\"k\" : x\n",
    ];
    for entry in cases {
        for (before, after) in [
            ("# top\na: 1\n\n", "\n# about b\nb: 2 # two\n"),
            ("", "# end\n"),
            ("a: 1\n# k\n", ""),
            ("", "\n\nb: |\n  # text\n"),
        ] {
            let note = format!("---\n{before}{entry}{after}---\nbody\n");
            let edited = apply_edit(&note, &set_key("k", list(&["x"]))).unwrap();
            let head = format!("---\n{before}");
            let tail = format!("{after}---\nbody\n");
            assert!(edited.starts_with(&head) && edited.ends_with(&tail), "{note}\n=>\n{edited}");
            let edited = apply_edit(&note, &set_key("k", text("x"))).unwrap();
            assert!(edited.starts_with(&head) && edited.ends_with(&tail), "{note}\n=>\n{edited}");
            let edited = apply_edit(&note, &remove_key("k")).unwrap();
            let gone = format!("{head}{tail}");
            assert_eq!(edited.replace("\n\n", "\n"), gone.replace("\n\n", "\n"), "{note}");
        }
    }
}

#[test]
fn keys_are_removed_alone() {
    let note = "---\na: 1 # one\nb:\n- x\n- y\n# c\nc: >\n  z\n---\nbody\n";
    check(note, &remove_key("a"), &note.replace("a: 1 # one\n", ""));
    check(note, &remove_key("b"), &note.replace("b:\n- x\n- y\n", ""));
    check(note, &remove_key("c"), &note.replace("c: >\n  z\n", ""));
    check(note, &remove_key("d"), note);
    check("body", &remove_key("d"), "body");
    check("---\na: 1\n---\n", &remove_key("a"), "---\n---\n");
    check("---\na: 1\nb: 2\na: 3\n---\n", &remove_key("a"), "---\nb: 2\n---\n");
}

#[test]
fn values_are_quoted_when_yaml_would_misread_them() {
    for (value, written) in [
        ("plain", "plain"),
        ("two words", "two words"),
        ("no", "\"no\""),
        ("True", "\"True\""),
        ("null", "\"null\""),
        ("1", "\"1\""),
        ("010", "\"010\""),
        ("1.5", "\"1.5\""),
        ("2026-01-01", "\"2026-01-01\""),
        ("12:30", "\"12:30\""),
        ("2 weeks", "2 weeks"),
        ("a: b", "\"a: b\""),
        ("a:b", "a:b"),
        ("https://x.y/#z", "https://x.y/#z"),
        ("a #b", "\"a #b\""),
        ("#b", "\"#b\""),
        ("[[A]]", "\"[[A]]\""),
        ("- x", "\"- x\""),
        ("a\nb", "\"a\\nb\""),
        (" a", "\" a\""),
        ("a\"b", "a\"b"),
        ("\"b\\", "\"\\\"b\\\\\""),
        ("日本", "日本"),
        ("", "\"\""),
    ] {
        check("x\n", &set_key("k", text(value)), &format!("---\nk: {written}\n---\nx\n"));
    }
}

#[test]
fn observations_are_added_to_their_list() {
    check("", &add(None, new("a1", "x")), "## Observations\n- [a1] x\n");
    let note = "# T\n\n## Observations\n- [a1] one\n\n## Relations\n- uses [[A]]\n";
    check(note, &add(None, new("a1", "two #t")), &note.replace("one\n", "one\n- [a1] two #t\n"));
    let tail = "## Observations\n- [a1] one";
    check(tail, &add(None, new("a1", "two")), "## Observations\n- [a1] one\n- [a1] two");
    let bare = "# T\n\ntext\n\n## Relations\n- uses [[A]]\n";
    let with = "# T\n\ntext\n\n## Observations\n- [a1] x\n\n## Relations\n- uses [[A]]\n";
    check(bare, &add(None, new("a1", "x")), with);
    let prose = "## Observations\n\nSome text.\n\n## End\n";
    let with = "## Observations\n\nSome text.\n\n- [a1] x\n\n## End\n";
    check(prose, &add(None, new("a1", "x")), with);
    check(
        "## Observations\n## End\n",
        &add(None, new("a1", "x")),
        "## Observations\n- [a1] x\n\n## End\n",
    );
    check("# T\n", &add(Some("# T"), new("a1", "x")), "# T\n- [a1] x\n");
    let html = "## Observations\n<div>\n";
    check(html, &add(None, new("a1", "x")), "## Observations\n<div>\n\n- [a1] x\n");
    let open = "## Observations\n```\ncode\n";
    check_error(open, &add(None, new("a1", "x")), &EditError::NotReadable { line: 4 });
}

#[test]
fn facts_are_superseded_and_kept() {
    let supersede = |which: ObservationRef, replacement: NewObservation| {
        NoteEdit::SupersedeObservation { observation: which, replacement }
    };
    let note = "## Observations\n- [d1] 1.1.0 #x (c) <!-- obs_A v1 2026-01-15T10:00:00Z k=v -->\n  more\n- [d1] other\n";
    let replacement = NewObservation { meta: Some(fact("obs_B", 2)), ..new("d1", "1.2.0") };
    let after = "## Observations\n- [d1] 1.2.0 <!-- obs_B v2 supersedes obs_A -->\n  more\n- [d1] other\n\n## History\n- [d1] ~~1.1.0 #x (c)~~ <!-- obs_A v1 2026-01-15T10:00:00Z by obs_B k=v -->\n";
    check(note, &supersede(ObservationRef::Id(id("obs_A")), replacement.clone()), after);
    let struck = EditError::ObservationStruck { line: 7, by: Some(id("obs_B")) };
    check_error(after, &supersede(ObservationRef::Id(id("obs_A")), replacement.clone()), &struck);
    let third = NewObservation { meta: Some(fact("obs_C", 3)), ..new("d1", "1.3.0") };
    let edited = apply_edit(after, &supersede(ObservationRef::Id(id("obs_B")), third)).unwrap();
    assert!(
        edited.ends_with(
            "by obs_B k=v -->\n- [d1] ~~1.2.0~~ <!-- obs_B v2 by obs_C supersedes obs_A -->\n"
        ),
        "{edited}"
    );
    let hand = "* [d1] by hand\n";
    let known = NewObservation {
        meta: Some(ObservationMeta { supersedes: Some(id("obs_H")), ..fact("obs_B", 2) }),
        ..new("d1", "new")
    };
    check(
        hand,
        &supersede(ObservationRef::Line(1), known),
        "* [d1] new <!-- obs_B v2 supersedes obs_H -->\n\n## History\n- [d1] ~~by hand~~ <!-- obs_H v1 by obs_B -->\n",
    );
    let missing = EditError::ObservationMissing(ObservationRef::Id(id("obs_Z")));
    check_error(note, &supersede(ObservationRef::Id(id("obs_Z")), replacement), &missing);
}

#[test]
fn superseded_text_stays_as_written() {
    let check = |written: &str, struck: &str| {
        let note = format!("- {written} <!-- obs_A v1 -->\n");
        let replacement = NewObservation { meta: Some(fact("obs_B", 2)), ..new("d1", "new") };
        let edit = NoteEdit::SupersedeObservation {
            observation: ObservationRef::Id(id("obs_A")),
            replacement,
        };
        let edited = apply_edit(&note, &edit).unwrap();
        let line = edited.lines().last().unwrap();
        assert_eq!(line, format!("- {struck} <!-- obs_A v1 by obs_B -->"));
        let (before, after) = (parse(&note), parse(&edited));
        let (was, now) = (&before.observations[0], &after.observations[1]);
        assert_eq!((&now.text, &now.context, now.struck), (&was.text, &was.context, true));
        assert_eq!(observation_content(&edited, now), observation_content(&note, was));
    };
    check("[fact] Calls render(x)", "[fact] ~~Calls render(x)~~");
    check("[fact] a(b(c))", "[fact] ~~a(b(c))~~");
    check("[fact] [x](y)", "[fact] ~~[x](y)~~");
    check("[fact] (all of it)", "[fact] ~~(all of it)~~");
    check("[fact] a ~~b~~ c", "[fact] ~~a \\~\\~b\\~\\~ c~~");
    check("[fact] \\~~all~~", "[fact] ~~\\\\\\~\\~all\\~\\~~~");
    check("[fact] C:\\", "[fact] ~~C:\\\\~~");
    check("[a1] x #t #bm:links_to", "[a1] ~~x #t #bm:links_to~~");
    check("no category", "~~no category~~");
}

#[test]
fn a_copied_line_gets_no_id() {
    let note = "- [a1] one <!-- obs_A v1 -->\n- [a1] one <!-- obs_A v1 -->\n";
    let read = parse(note);
    assert_eq!(read.problems[0].message, "the fact obs_A is already on line 1");
    assert!(read.observations[0].meta.is_some() && read.observations[1].meta.is_none());
    let remove = |observation| NoteEdit::RemoveObservation { observation };
    check(note, &remove(ObservationRef::Id(id("obs_A"))), "- [a1] one <!-- obs_A v1 -->\n");
    let set = NoteEdit::SetObservationMeta {
        observation: ObservationRef::Line(2),
        meta: fact("obs_B", 1),
    };
    check(note, &set, "- [a1] one <!-- obs_A v1 -->\n- [a1] one <!-- obs_B v1 -->\n");
}

#[test]
fn a_struck_observation_stays_where_it_was() {
    let strike =
        |line, by| NoteEdit::StrikeObservation { observation: ObservationRef::Line(line), by };
    check(
        "- [a] one #t (why)\r\n- [a] two\r\n",
        &strike(1, None),
        "- [a] ~~one #t (why)~~\r\n- [a] two\r\n",
    );
    check(
        "* [a] one <!-- obs_A v1 -->\n* [a] two <!-- obs_B v1 -->\n",
        &strike(1, Some(id("obs_B"))),
        "* [a] ~~one~~ <!-- obs_A v1 by obs_B -->\n* [a] two <!-- obs_B v1 -->\n",
    );
    let again = apply_edit("- [a] ~~one~~\n", &strike(1, None));
    assert_eq!(again, Err(EditError::ObservationStruck { line: 1, by: None }));
    let missing = apply_edit("- [a] one\n", &strike(2, None));
    assert_eq!(missing, Err(EditError::ObservationMissing(ObservationRef::Line(2))));
}

#[test]
fn relation_meta_is_updated_in_place() {
    let rate = |kind: &str, importance| NoteEdit::SetRelationMeta {
        relation: NewRelation {
            relation_type: kind.into(),
            target: "A".into(),
            time: None,
            confidence: None,
            importance,
        },
    };
    check(
        "- uses [[A]] (why) <!-- rel c=0.5 i=0.2 -->  \n- x [[B]]\n",
        &rate("uses", Some(0.9)),
        "- uses [[A]] (why) <!-- rel c=0.5 i=0.9 -->  \n- x [[B]]\n",
    );
    check(
        "- \"x y\" [[A]] <!-- rel i=0.2 as=x%20%20y -->\n",
        &rate("x  y", None),
        "- \"x y\" [[A]] <!-- rel i=0.2 as=x%20%20y -->\n",
    );
    let missing = EditError::RelationMissing { relation_type: "uses".into(), target: "A".into() };
    check_error("- uses [[A]]\n", &rate("uses", Some(0.9)), &missing);
}

#[test]
fn facts_are_marked_and_removed() {
    let set = |which: ObservationRef, fact: ObservationMeta| NoteEdit::SetObservationMeta {
        observation: which,
        meta: fact,
    };
    let one = ObservationRef::Line(1);
    check("- [a1] x  \n", &set(one.clone(), fact("obs_A", 1)), "- [a1] x <!-- obs_A v1 -->  \n");
    check(
        "- [a1] x <!-- obs_A v1 k=v -->\n",
        &set(ObservationRef::Id(id("obs_A")), fact("obs_A", 2)),
        "- [a1] x <!-- obs_A v2 k=v -->\n",
    );
    check("## [a1] x ##\n", &set(one, fact("obs_A", 1)), "## [a1] x <!-- obs_A v1 --> ##\n");
    let remove =
        |line: usize| NoteEdit::RemoveObservation { observation: ObservationRef::Line(line) };
    check("- [a1] x\n- [a1] y\n", &remove(1), "- [a1] y\n");
    check("- [a1] x\n  more\n- [a1] y\n", &remove(1), "- [a1] y\n");
    check("- [a1] x\n- [a1] y", &remove(2), "- [a1] x\n");
    check_error("- x\n", &remove(1), &EditError::ObservationMissing(ObservationRef::Line(1)));
}

#[test]
fn relations_are_added_and_removed() {
    let add = |kind: &str, target: &str, context: Option<&str>| NoteEdit::AddRelation {
        relation_type: kind.to_owned(),
        target: target.to_owned(),
        context: context.map(str::to_owned),
    };
    let remove = |kind: &str, target: &str| NoteEdit::RemoveRelation {
        relation_type: kind.to_owned(),
        target: target.to_owned(),
    };
    check("x\n", &add("uses", "A", None), "x\n\n## Relations\n- uses [[A]]\n");
    let note = "## Relations\n- uses [[A]]\n- \"part of\" [[B]] (c)\n\nSee [[A|it]] and ![[C]].\n\n## History\n";
    check(note, &add("uses", "A", Some("again")), note);
    check(note, &remove("uses", "A"), &note.replace("- uses [[A]]\n", ""));
    check(note, &remove("part of", "B"), &note.replace("- \"part of\" [[B]] (c)\n", ""));
    check(note, &remove("links_to", "A"), &note.replace("[[A|it]]", "it"));
    check(note, &remove("links_to", "C"), &note.replace("![[C]]", "C"));
    check("- [[A]]\n- [[B]]\n", &remove("links_to", "A"), "- [[B]]\n");
    check("See [[A]].\n\n- [[A]]\n- x\n", &remove("links_to", "A"), "See [[A]].\n\n- x\n");
    check("- [t1] [[A]]\n", &remove("[t1]", "A"), "- [t1] A\n");
    check(
        "x\n\n## History\n",
        &add("uses", "A", None),
        "x\n\n## Relations\n- uses [[A]]\n\n## History\n",
    );
    let missing =
        EditError::RelationMissing { relation_type: "uses".to_owned(), target: "Z".to_owned() };
    check_error(note, &remove("uses", "Z"), &missing);
}

#[test]
fn merged_frontmatter_stays_as_written() {
    let check = |text: &str, other: &str, expected: &str| {
        assert_eq!(
            merge_frontmatter(text, other).as_deref(),
            Ok(expected),
            "{other:?} over {text:?}"
        );
    };
    let old = "---\n# mine\ntitle: A # t\ndone: no\nz: [1]\n# end\n---\nbody\n";
    check(old, "no frontmatter\n", old);
    check(old, "---\n: [\n---\n", old);
    check(old, "---\ndone: true\n---\nx", &old.replace("done: no", "done: true"));
    check(
        old,
        "---\n# new\ntitle: 'A'\nz:\n  - 2026-01-02 # day\n  - {a: 5}\ncount: 0x1f\n# over\n---\nx",
        "---\n# new\ntitle: 'A'\ndone: no\nz:\n  - 2026-01-02 # day\n  - {a: 5}\n# end\ncount: 0x1f\n# over\n---\nbody\n",
    );
    // Its own frontmatter changes nothing.
    check(old, old, old);
    check("body\n", "---\na: 1\n---\nx\n", "---\na: 1\n---\nbody\n");
    check("---\r\na: 1\r\n---\r\nx", "---\nb: 2\n---\n", "---\r\na: 1\r\nb: 2\r\n---\r\nx");
    // Entries that share a line are rewritten.
    check("---\na: 1\n---\n", "---\n{a: 2, b: 3}\n---\n", "---\na: \"2\"\nb: \"3\"\n---\n");
    check("---\nx: &n 1\n---\n", "---\na: &n 2\nx: *n\n---\n", "---\nx: &n \"2\"\na: \"2\"\n---\n");
}
