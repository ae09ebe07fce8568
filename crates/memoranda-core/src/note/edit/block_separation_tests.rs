//! Examples and properties of block separation.

use proptest::prelude::*;

use super::super::super::{Note, parse};
use super::super::{NoteEdit, apply_edit};

fn append(text: &str) -> NoteEdit {
    NoteEdit::Append { text: text.to_owned() }
}

fn prepend(text: &str) -> NoteEdit {
    NoteEdit::Prepend { text: text.to_owned() }
}

fn before(content: &str) -> NoteEdit {
    NoteEdit::InsertBeforeSection { section: "A".to_owned(), content: content.to_owned() }
}

fn after(content: &str) -> NoteEdit {
    NoteEdit::InsertAfterSection { section: "A".to_owned(), content: content.to_owned() }
}

fn check(text: &str, edit: &NoteEdit, expected: &str) {
    assert_eq!(apply_edit(text, edit).as_deref(), Ok(expected), "{text:?} {edit:?}");
    let crlf = |text: &str| text.replace('\n', "\r\n");
    if text.contains('\n') {
        assert_eq!(apply_edit(&crlf(text), edit), Ok(crlf(expected)), "CRLF {text:?} {edit:?}");
    }
}

#[test]
fn a_rule_at_the_top_creates_no_frontmatter() {
    check(
        "first\n\n---\n\nsecond\n",
        &prepend("---\n\nnews"),
        "\n---\n\nnews\n\nfirst\n\n---\n\nsecond\n",
    );
    check("a: b\n\n---\n\nmore\n", &prepend("---"), "\n---\na: b\n\n---\n\nmore\n");
    // Complete frontmatter is parsed as frontmatter.
    check("text\n\n---\n", &prepend("---\na: b\n---\n"), "---\na: b\n---\ntext\n\n---\n");
    check("text\n", &prepend("---\nnews"), "---\nnews\n\ntext\n");
}

#[test]
fn a_blank_line_separates_blocks_that_would_merge() {
    // Blocks above must not absorb the inserted text.
    for (above, below) in [
        ("- depends_on [[X]] (why)", "A first paragraph."),
        ("1. one", "A paragraph."),
        ("> said", "A paragraph."),
        ("> said", "    code"),
        ("<div>", "A paragraph."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "A paragraph."),
        ("[^1]: A footnote.", "A paragraph."),
        // Blocks below must not absorb the inserted text.
        ("Last words.", "---\n\n## Update\nmore"),
        ("Last words.", "==="),
        ("Note to self", "Title\n=====\ntext"),
        ("- item", "Title\n-----"),
        ("Words.", "| a | b |\n|---|---|"),
        ("Words.", "a | b\n--|--"),
        ("a | b", "--|--\n1 | 2"),
        ("Words.", "    code"),
        ("Words.", "2. second"),
        ("Words.", "[x]: https://example.org"),
        ("Words.", "<span>"),
        // Facts that are paragraphs keep their end.
        ("[fact] one", "[fact] two"),
        ("one #tag", "[fact] two"),
        ("one #tag", "two"),
    ] {
        let apart = format!("{above}\n\n{below}\n");
        check(&format!("{above}\n"), &append(below), &apart);
        check(&format!("{below}\n"), &prepend(above), &apart);
        check(
            &format!("# A\n{below}\n"),
            &NoteEdit::InsertAfterSection { section: "# A".to_owned(), content: above.to_owned() },
            &format!("# A\n{apart}"),
        );
        if parse(&format!("{above}\n## A\n")).section("A").is_some() {
            check(&format!("{above}\n## A\n"), &before(below), &format!("{apart}\n## A\n"));
        }
        // A text without a final newline stays without one.
        let open = apply_edit(above, &append(below));
        assert_eq!(open.as_deref(), Ok(apart.trim_end()), "{above:?} {below:?}");
    }
}

#[test]
fn adjacent_lines_of_one_block_stay_adjacent() {
    for (above, below) in [
        ("- a", "- b"),
        ("- [fact] a", "- uses [[B]]"),
        ("- a", "  - within"),
        ("- a", "* other"),
        ("1. a", "2. b"),
        ("# T", "text"),
        ("## A", "- item"),
        ("text", "## B\nmore"),
        ("text", "- item"),
        ("text", "```\ncode\n```"),
        ("```\ncode\n```", "text"),
        ("- a", "---"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| 3 | 4 |"),
        // A blank line does not close an unclosed block.
        ("```\ncode", "text"),
        ("<!-- open", "text"),
    ] {
        let (above, together) = (format!("{above}\n"), format!("{above}\n{below}\n"));
        check(&above, &append(below), &together);
        check(&format!("{below}\n"), &prepend(&above), &together);
        for apart in ["\n", " \n", "\n\n"] {
            check(&format!("{above}{apart}"), &append(below), &format!("{above}{apart}{below}\n"));
            check(&above, &append(&format!("{apart}{below}")), &format!("{above}{apart}{below}\n"));
        }
    }
    // Plain lines are added one below the other; above a paragraph they form a paragraph of their own.
    check("monday\n", &append("tuesday"), "monday\ntuesday\n");
    check("> monday\n", &append("> tuesday"), "> monday\n> tuesday\n");
    check("monday\n", &prepend("sunday"), "sunday\n\nmonday\n");
    check("## A\nmonday\n", &after("sunday"), "## A\nsunday\n\nmonday\n");
    check("monday\n## A\n", &before("tuesday"), "monday\n\ntuesday\n\n## A\n");
}

/// Returns the parsed content of a note in a sorted, comparable form.
fn said(notes: &[&Note]) -> Vec<String> {
    let mut said = Vec::new();
    for note in notes {
        said.extend(note.sections.iter().map(|s| format!("{} {}", s.level, s.title)));
        said.extend(
            note.observations
                .iter()
                .map(|o| format!("{:?}", (&o.category, &o.text, &o.tags, &o.context, o.struck))),
        );
        let relations = note.relations.iter();
        said.extend(relations.map(|r| format!("{:?}", (&r.relation_type, r.name()))));
    }
    said.sort();
    said.dedup();
    said
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "text\n",
        "more [[L]]\n",
        "words #tag\n",
        "[fact] said\n",
        "- [fact] one\n",
        "- uses [[B]] (why)\n",
        "  - within #x\n",
        "  indented\n",
        "    code\n",
        "1. one\n",
        "2. two\n",
        "* star\n",
        "> quoted\n",
        "> - listed\n",
        "---\n",
        "===\n",
        "-\n",
        "# One\n",
        "## Two\n",
        "```\n",
        "<div>\n",
        "</div>\n",
        "<!-- c -->\n",
        "| a | b |\n",
        "|---|---|\n",
        "a | b\n",
        "[x]: y\n",
        "[^1]: foot\n",
        "\n",
        "\n\n",
        " \n",
        "\t\n",
    ]);
    prop::collection::vec(piece, 1..7).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn insertion_preserves_both_contents(
        text in pieces(), added in pieces(), place in 0..3,
    ) {
        // A rule at the very top opens frontmatter, which has another grammar.
        if text.starts_with("---") || added.starts_with("---") {
            return Ok(());
        }
        let head = if place == 2 { "# Zed\n" } else { "" };
        let section = head.trim().to_owned();
        let (edit, upper, lower) = match place {
            0 => (append(&added), &text, &added),
            1 => (prepend(&added), &added, &text),
            _ => (NoteEdit::InsertAfterSection { section, content: added.clone() }, &added, &text),
        };
        let edited = apply_edit(&format!("{head}{text}"), &edit).unwrap();
        // Every byte is preserved, and only a blank line is added.
        let whole = edited.strip_prefix(head).unwrap();
        prop_assert!(whole.starts_with(upper.as_str()) && whole.ends_with(lower.as_str()));
        let between = &whole[upper.len()..whole.len() - lower.len()];
        prop_assert!(between.is_empty() || between == "\n", "{:?}", edited);
        let expected = said(&[&parse(head), &parse(upper), &parse(lower)]);
        if said(&[&parse(&format!("{head}{upper}\n\n{lower}"))]) == expected {
            prop_assert_eq!(said(&[&parse(&edited)]), expected, "{:?}", edited);
        }
    }
}
