//! Parser tests on whole texts: structure, positions and problems.

use super::super::MetaValue;
use super::*;

/// Observations as `line category|text`, struck ones with `~`.
fn check_observations(text: &str, expected: &[&str]) {
    let note = parse(text);
    let found: Vec<String> = note
        .observations
        .iter()
        .map(|o| {
            let mark = if o.struck { "~" } else { "" };
            format!("{} {mark}{}|{}", o.line, o.category.as_deref().unwrap_or("-"), o.text)
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

/// Relations as `line type>target`.
fn check_relations(text: &str, expected: &[&str]) {
    let note = parse(text);
    let found: Vec<String> = note
        .relations
        .iter()
        .map(|r| {
            assert!(text[r.span.clone()].starts_with("[["), "{text:?}");
            assert!(text[r.span.clone()].ends_with("]]"), "{text:?}");
            format!("{} {}>{}", r.line, r.relation_type, r.target)
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

/// Sections as `line level title: content`.
fn check_sections(text: &str, expected: &[&str]) {
    let note = parse(text);
    let found: Vec<String> = note
        .sections
        .iter()
        .map(|s| format!("{} {} {}: {:?}", s.line, s.level, s.title, &text[s.content.clone()]))
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

fn check_problems(text: &str, expected: &[(usize, &str)]) {
    let note = parse(text);
    assert_eq!(note.problems.len(), expected.len(), "{text:?}: {:?}", note.problems);
    for (problem, (line, part)) in note.problems.iter().zip(expected) {
        assert_eq!(problem.line, *line, "{problem:?}");
        assert!(problem.message.contains(part), "{problem:?}");
    }
}

#[test]
fn observations_stand_in_all_inline_blocks_outside_quotes() {
    check_observations("- [a1] x", &["1 a1|x"]);
    check_observations("\n* [a1] x\n+ [a1] y\n1. [a1] z\n", &["2 a1|x", "3 a1|y", "4 a1|z"]);
    check_observations("[a1] paragraph", &["1 a1|paragraph"]);
    check_observations("## [a1] heading ##", &["1 a1|heading"]);
    check_observations("## About #rust", &["1 -|About #rust"]);
    check_observations("[a1] setext\n===\n", &["1 a1|setext"]);
    check_observations("> [!info] callout\n> - [a1] x\n", &[]);
    check_observations("- > [a1] x\n- [a1] y", &["2 a1|y"]);
    check_observations("```\n- [a1] x\n```\n- [a1] y", &["4 a1|y"]);
    check_observations("~~~md\n[a1] x", &[]);
    check_observations("    [a1] indented code", &[]);
    check_observations("- a\n\n      [a1] code in an item", &[]);
    check_observations("<div>\n[a1] x\n</div>\n\n[a1] y", &["5 a1|y"]);
    check_observations("<!--\n- [a1] x\n-->\n\n- [a1] y", &["5 a1|y"]);
    check_observations(
        "- [a1] one\n  - [b1] two\n    - [c1] three\n",
        &["1 a1|one", "2 b1|two", "3 c1|three"],
    );
    check_observations("- [a1] one\n  more\nlazy\n- [b1] two", &["1 a1|one", "4 b1|two"]);
    check_observations("- [a1] one\n\n- [b1] two", &["1 a1|one", "3 b1|two"]);
    check_observations("-\t[a1]\tx", &["1 a1|x"]);
    check_observations("\\[a1] escaped", &[]);
    check_observations("[a1]: https://x.y\n\n[a1] used", &["3 a1|used"]);
    check_observations("- [a1] `#no` **b** <b>c</b>", &["1 a1|`#no` **b** <b>c</b>"]);
    check_observations("- [a1]\n  next line", &["1 a1|next line"]);
    check_observations("- [ ] task\n- [x] done\n- [/] half\n", &[]);
}

#[test]
fn line_endings_and_bom_do_not_change_the_result() {
    for text in [
        "---\ntitle: T\n---\n\n# H\n\n- [a1] x #t\n- uses [[A]]\n",
        "---\ntitle: T\n---\n\n# H\n\n- [a1] x #t\n- uses [[A]]",
    ] {
        let plain = parse(text);
        for other in
            [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text.replace('\n', "\r")]
        {
            let note = parse(&other);
            assert_eq!(note.frontmatter.entries, plain.frontmatter.entries, "{other:?}");
            assert_eq!(note.observations.len(), 1, "{other:?}");
            assert_eq!(note.observations[0].text, plain.observations[0].text);
            assert_eq!(note.observations[0].line, 7, "{other:?}");
            assert_eq!(&other[note.observations[0].span.clone()], "- [a1] x #t");
            assert_eq!(note.relations[0].line, 8, "{other:?}");
            assert_eq!(note.sections[0].title, "H");
            assert!(note.problems.is_empty());
        }
    }
}

#[test]
fn facts_are_read_from_their_comments() {
    let text = "- [dependency] Uses python-docx 1.2.0 #deps <!-- obs_01J9Z v2 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=portfolio -->\n\n## History\n- [dependency] ~~Uses python-docx 1.1.0~~ <!-- obs_01J8Q v1 2026-01-15T10:00:00Z by obs_01J9Z -->\n";
    check_observations(
        text,
        &["1 dependency|Uses python-docx 1.2.0 #deps", "4 ~dependency|Uses python-docx 1.1.0"],
    );
    let note = parse(text);
    let fact = note.observations[0].meta.clone().unwrap();
    assert_eq!((fact.id.as_str(), fact.version), ("obs_01J9Z", 2));
    assert_eq!(fact.time.unwrap().to_string(), "2026-01-20T15:30:00Z");
    assert_eq!((fact.confidence, fact.importance), (Some(1.0), Some(0.5)));
    assert_eq!(fact.thread.as_deref(), Some("portfolio"));
    let old = note.observations[1].meta.clone().unwrap();
    assert_eq!(old.superseded_by, Some(fact.id));
    // Without the strike-out the fact is valid again, whatever the comment states.
    let back = parse(&text.replace("~~", ""));
    assert_eq!(back.observations[1].meta.as_ref().unwrap().superseded_by, None);
    assert_eq!(note.tags(), ["deps"]);
    check_problems(
        "- [a1] x <!-- obs_A -->\n- [a1] y <!-- obs_A -->\n",
        &[(2, "already on line 1")],
    );
    check_problems("- [a1] x <!-- obs_… v1 -->\n", &[(1, "not the id")]);
    check_problems("- [a1] x <!-- todo -->\n", &[]);
    check_observations("- [a1] x <!-- obs_… v1 -->\n", &["1 a1|x <!-- obs_… v1 -->"]);
}

#[test]
fn relations_are_found_outside_of_code() {
    check_relations(
        "- uses [[A]]\n- uses [[A]]\n- [[A]]\n- [[A|b]]\n",
        &["1 uses>A", "3 links_to>A"],
    );
    check_relations("See [[A]] and\n[[B#x|y]].\n", &["1 links_to>A", "2 links_to>B"]);
    check_relations("> quoted [[A]]\n", &["1 links_to>A"]);
    check_relations("# [[A]]\n", &["1 links_to>A"]);
    check_relations("```\n[[A]]\n```\n    [[B]]\n", &[]);
    check_relations(
        "| a | b |\n|---|---|\n| [[A\\|x]] | [[B]] |\n",
        &["3 links_to>A", "3 links_to>B"],
    );
    check_relations("- uses [[A]]\n  tail\n", &["1 links_to>A"]);
    check_relations("- [tech] [[A]] <!-- obs_A v1 -->", &["1 links_to>A"]);
    check_observations("- [tech] [[A]]", &["1 tech|[[A]]"]);
    check_relations("---\nup: \"[[A]]\"\n---\n", &[]);
}

#[test]
fn sections_end_at_the_next_equal_heading() {
    check_sections(
        "# A\n\nx\n\n## B\ny\n### C\n## D\n",
        &[
            "1 1 A: \"\\nx\\n\\n## B\\ny\\n### C\\n## D\\n\"",
            "5 2 B: \"y\\n### C\\n\"",
            "7 3 C: \"\"",
            "8 2 D: \"\"",
        ],
    );
    check_sections(
        "A\n===\nx\n\nB c\n---\ny",
        &["1 1 A: \"x\\n\\nB c\\n---\\ny\"", "5 2 B c: \"y\""],
    );
    check_sections(
        "## A ##\n##\n#no\n####### no\n",
        &["1 2 A: \"\"", "2 2 : \"#no\\n####### no\\n\""],
    );
    check_sections("> # no\n- # no\n```\n# no\n```\n", &[]);
    check_sections("---\na: b\n---\n# A", &["4 1 A: \"\""]);
}

#[test]
fn frontmatter_keeps_what_was_written() {
    let text = "---\ntitle: A: b\n---\n";
    check_problems(text, &[(2, "cannot be read")]);
    assert_eq!(parse(text).body, 0..text.len());
    check_problems("---\ntitle: a\n", &[(1, "not closed")]);
    check_problems("---\na: 1\nb: 2\na: 3\n---\n", &[(4, "\"a\" is written twice")]);
    check_problems("---\nprose here\n---\n", &[(2, "not a list of keys")]);
    check_problems("---\n? [a]\n: b\n---\n", &[(2, "a key is itself")]);
    check_problems("---\n---\n", &[]);
    check_problems("---\n# only a comment\n---\n", &[]);
    check_problems("text\n---\na: b\n---\n", &[]);
    let text = "---\nyes: yes\noct: 010\nbool: True\ndate: 2026-01-01\nbig: 1e400\nnull: ~\nempty:\nq: \"~\"\nlist: [a, 1, {b: c}]\nmulti: |\n  one\n  two\n<<: x\ntags: [\"#a\", b]\n---\nbody";
    let note = parse(text);
    let t = |text: &str| MetaValue::Text(text.to_owned());
    let expected = [
        ("yes", t("yes")),
        ("oct", t("010")),
        ("bool", t("True")),
        ("date", t("2026-01-01")),
        ("big", t("1e400")),
        ("", t("")),
        ("empty", t("")),
        ("q", t("~")),
        (
            "list",
            MetaValue::List(vec![t("a"), t("1"), MetaValue::Map(vec![("b".to_owned(), t("c"))])]),
        ),
        ("multi", t("one\ntwo\n")),
        ("<<", t("x")),
        ("tags", MetaValue::List(vec![t("#a"), t("b")])),
    ];
    let expected: Vec<_> = expected.map(|(k, v)| (k.to_owned(), v)).into();
    assert_eq!(note.frontmatter.entries, expected);
    assert_eq!(&text[note.body], "body");
}

#[test]
fn alias_bombs_and_deep_nesting_are_rejected() {
    let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..20 {
        let of = (0..10).map(|_| format!("*a{}", i - 1)).collect::<Vec<_>>().join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{of}]\n"));
    }
    bomb.push_str("---\n");
    check_problems(&bomb, &[(6, "too many values")]);
    let deep = format!("---\na: {}\n---\n", "[".repeat(1000) + &"]".repeat(1000));
    assert_eq!(parse(&deep).problems.len(), 1);
}

#[test]
fn tags_are_found_in_tasks_and_quotes() {
    let check = |text: &str, tags: &[&str]| {
        let note = parse(text);
        assert_eq!(note.tags(), tags, "{text:?}");
        assert!(note.observations.len() <= 1, "{text:?}");
    };
    check("- [ ] buy milk #errand\n- [x] #done/today\n", &["errand", "done/today"]);
    check("> quote #quoted.\n> and #more, #b#c\n", &["quoted", "more", "b", "c"]);
    check("> [!note] Title #callout\n> - [ ] task #deep\n", &["callout", "deep"]);
    check("- [fact] one #a\n  two #b\n", &["a", "b"]);
    check("- [fact] ~~one #a~~\n", &[]);
    check("[text](url) #x (y)\n", &["x"]);
    // Similar texts that are not frontmatter.
    check("> # Head\n> issue #12, `#code`, a#b, [[Note #Part]] #\n", &[]);
    check("- [ ] x #bm:links_to\n", &[]);
    check("[[Note #Part]]\n\n```\n#code\n```\n", &[]);
}

#[test]
fn known_keys_have_accessors() {
    let note = parse(
        "---\ntitle: [A, B]\ntype: MeetingNotes\npermalink: a/b\naliases: [x, y]\ntags: '[\"#a\", \"b\"]'\n---\n- [a1] x #b #c\n",
    );
    assert_eq!(note.title().as_deref(), Some("A, B"));
    assert_eq!(note.note_type(), "meeting_notes");
    assert_eq!(note.permalink().as_deref(), Some("a/b"));
    assert_eq!(note.aliases(), ["x", "y"]);
    assert_eq!(note.tags(), ["a", "b", "c"]);
    let bare = parse("---\ntags: \"#a, b\"\ntitle:\n---\n# A\n## A\n### B\n");
    assert_eq!(bare.tags(), ["a", "b"]);
    assert_eq!((bare.title(), bare.note_type()), (None, "note".to_owned()));
    let line = |name: &str| bare.section(name).map(|s| s.line);
    assert_eq!(
        [line("A"), line("# A"), line("B"), line("## B"), line("C")],
        [Some(6), Some(5), Some(7), None, None]
    );
}

#[test]
fn names_are_one_line() {
    let note = parse(
        "---\ntitle: \"A \\r\\n\\n b\\u2028c\"\npermalink: \"x\\ny\"\ntags: [\"a\\nb\", c]\n---\n\
         - \"part\n  of\" [[T]]\n- is [[B]] <!-- rel to=a%0Ab as=c%0Ad -->\n",
    );
    assert_eq!(note.title().as_deref(), Some("A b c"));
    assert_eq!(note.permalink().as_deref(), Some("x y"));
    assert_eq!(note.tags(), ["a b", "c"]);
    let found: Vec<_> =
        note.relations.iter().map(|r| (r.relation_type.as_str(), r.name())).collect();
    assert_eq!(found, [("part of", "T"), ("c d", "a b")]);
    let blank = parse("---\ntitle: \"\\n\"\n---\n");
    assert_eq!(blank.title(), None);
    for same in ["", "a  b", " a "] {
        assert_eq!(one_line(same), same);
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    let cases = [
        "x".repeat(1_000_000),
        "[".repeat(100_000),
        "[[".repeat(100_000),
        "[[a]] ".repeat(50_000),
        "]".repeat(100_000),
        ">".repeat(10_000),
        "- ".repeat(5_000),
        "<!-- obs_".repeat(50_000) + "-->",
        format!("- [a1] {}", "(".repeat(100_000)),
        format!("- a [[b]] {}", "(".repeat(100_000)),
        "~~".repeat(100_000),
        "# a\n".repeat(20_000),
        "- [a1] x #t\n".repeat(20_000),
        "*a_ ".repeat(50_000),
        "`".repeat(100_000),
        "<".repeat(100_000),
        format!("---\n{}: b\n---\n", "a".repeat(100_000)),
    ];
    for text in cases {
        // A parser with quadratic time takes minutes here.
        assert_eq!(parse(&text).body.end, text.len());
    }
}

#[test]
fn unusual_texts_have_problems() {
    check_problems("a\nb\0c\n", &[(2, "NUL")]);
    check_problems(&format!("a\n{}\n", "x".repeat(100_001)), &[(2, "100001 bytes")]);
    check_problems("", &[]);
}

#[test]
fn merge_keys_add_entries() {
    let check = |yaml: &str, key: &str, expected: Option<&str>| {
        let note = parse(&format!("---\n{yaml}---\n"));
        assert_eq!(note.frontmatter.text(key).as_deref(), expected, "{yaml}: {key}");
    };
    let top = "base: &b {a: 1, c: 2}\n<<: *b\na: 3\n";
    check(top, "a", Some("3"));
    check(top, "c", Some("2"));
    check(top, "<<", None);
    let several = "x: &x {a: 1}\ny: &y {a: 2, b: 3}\nz:\n  <<: [*x, *y]\n  c: 4\n";
    check(several, "z", Some("a: 1, b: 3, c: 4"));
    check("<<: text\n", "<<", Some("text"));
}

#[test]
fn the_permalink_is_read_from_the_frontmatter_alone() {
    for (text, expected) in [
        ("---\npermalink: a/b\n---\npermalink: c\n", Some("a/b")),
        ("\u{feff}---\r\npermalink: a/b\r\n---\r\n", Some("a/b")),
        ("---\npermalink: a\npermalink: b\n---\n", Some("b")),
        ("---\nbase: &b\n  permalink: x\n<<: *b\n---\n", Some("x")),
        ("---\npermalink: [\n---\n", None),
        ("---\npermalink: a\n", None),
        ("text\n---\npermalink: a\n---\n", None),
        ("", None),
    ] {
        assert_eq!(stated_permalink(text).as_deref(), expected, "{text:?}");
        assert_eq!(stated_permalink(text), parse(text).permalink(), "{text:?}");
    }
}
