use super::*;

/// Writes a tree in a short form.
fn show(text: &str) -> String {
    markdown_tree(text, SecretDisplay::Masked).iter().map(block).collect::<Vec<_>>().join("|")
}

fn block(block: &TreeBlock) -> String {
    let lines = format!("{}-{}", block.line, block.end_line);
    let content = match &block.content {
        BlockContent::Heading { level, inlines } => format!("h{level}:{}", inline(inlines)),
        BlockContent::Paragraph(inlines) => format!("p:{}", inline(inlines)),
        BlockContent::List { items, .. } => {
            let item = |item: &TreeItem| {
                let blocks = item.blocks.iter().map(super::tests::block);
                format!("({})", blocks.collect::<Vec<_>>().join("|"))
            };
            format!("ul{}", items.iter().map(item).collect::<String>())
        }
        BlockContent::Quote { blocks, .. } => {
            format!("quote[{}]", blocks.iter().map(super::tests::block).collect::<String>())
        }
        BlockContent::Code { language, text } => format!("code {language}:{text}"),
        BlockContent::Table { head, rows, .. } => format!("table {}x{}", head.len(), rows.len()),
        BlockContent::Rule => "rule".to_owned(),
        BlockContent::Html(text) => format!("html:{}", text.trim_end()),
        BlockContent::Fact { fact, inlines } => {
            format!("fact {}:{}", fact.category.as_deref().unwrap_or("-"), inline(inlines))
        }
        BlockContent::Relation { relation_type, target, .. } => {
            format!("rel {relation_type}>{}", target.name)
        }
        BlockContent::Task { mark, inlines } => format!("task {mark}:{}", inline(inlines)),
    };
    format!("{lines} {content}")
}

fn inline(inlines: &[TreeInline]) -> String {
    let one = |part: &TreeInline| match part {
        TreeInline::Text(text) => text.clone(),
        TreeInline::Emphasis(inner) => format!("_{}_", inline(inner)),
        TreeInline::Strong(inner) => format!("*{}*", inline(inner)),
        TreeInline::Strike(inner) => format!("~{}~", inline(inner)),
        TreeInline::Code(text) => format!("`{text}`"),
        TreeInline::HardBreak => "<br>".to_owned(),
        TreeInline::SoftBreak => "\\n".to_owned(),
        TreeInline::Link { href, host, .. } => format!("link({href} at {host})"),
        TreeInline::WikiLink { target, label } => match &target.heading {
            Some(heading) => format!("wiki({}#{heading}|{label})", target.name),
            None => format!("wiki({}|{label})", target.name),
        },
        TreeInline::Image { host, alt, .. } => format!("image({alt}, {host:?})"),
        TreeInline::Tag(text) => format!("tag({text})"),
        TreeInline::Html(text) => format!("html({text})"),
        TreeInline::Secret => "secret".to_owned(),
        TreeInline::Invisible(c) => format!("U+{:04X}", u32::from(*c)),
        TreeInline::Footnote(label) => format!("note({label})"),
    };
    inlines.iter().map(one).collect()
}

#[test]
fn notes_become_blocks_with_their_lines() {
    for (text, expected) in [
        ("", ""),
        ("# A *b*\n\ntext\nmore\n", "1-1 h1:A _b_|3-4 p:text\\nmore"),
        ("---\ntitle: x\n---\n\nbody\n", "5-5 p:body"),
        ("```rust x\nlet a;\n```\n", "1-3 code rust:let a;\n"),
        ("> quoted\n", "1-1 quote[1-1 p:quoted]"),
        ("a\n\n---\n\nb\n", "1-1 p:a|3-3 rule|5-5 p:b"),
        ("|a|b|\n|-|-|\n|1|2|\n", "1-3 table 2x1"),
        ("- one\n- two\n  - three\n", "1-3 ul(1-1 p:one)(2-2 p:two|3-3 ul(3-3 p:three))"),
    ] {
        assert_eq!(show(text), expected, "{text:?}");
    }
}

#[test]
fn facts_relations_and_tasks_are_kinds_of_their_own() {
    for (text, expected) in [
        (
            "- [decision] Use *SQLite* #db (2026)\n",
            "1-1 ul(1-1 fact decision:Use _SQLite_ tag(#db) (2026))",
        ),
        ("- [a] b <!-- obs_01j9zz0000000000000000000a v2 -->\n", "1-1 ul(1-1 fact a:b )"),
        ("- depends_on [[Tests]] (now)\n", "1-1 ul(1-1 rel depends_on>Tests)"),
        ("- [[Tests]]\n", "1-1 ul(1-1 rel links_to>Tests)"),
        ("- [ ] open\n- [x] done\n", "1-2 ul(1-1 task  :open)(2-2 task x:done)"),
        ("see [[A b#c|label]] and [[D]]\n", "1-1 p:see wiki(A b#c|label) and wiki(D|D)"),
    ] {
        assert_eq!(show(text), expected, "{text:?}");
    }
}

#[test]
fn hostile_text_is_text() {
    for (text, expected) in [
        ("<script>alert(1)</script>\n", "1-1 html:<script>alert(1)</script>"),
        ("a <img src=x onerror=y> b\n", "1-1 p:a html(<img src=x onerror=y>) b"),
        ("[x](javascript:alert(1))\n", "1-1 p:[x](javascript:alert(1))"),
        ("[x](JaVaScRiPt:alert)\n", "1-1 p:[x](JaVaScRiPt:alert)"),
        ("[x](data:text/html,y)\n", "1-1 p:[x](data:text/html,y)"),
        ("[x](<java\tscript:y>)\n", "1-1 p:[x](<java\tscript:y>)"),
        ("[x](&#106;avascript:y)\n", "1-1 p:[x](&#106;avascript:y)"),
        (
            "[x](https://a.example@evil.example/y)\n",
            "1-1 p:link(https://a.example@evil.example/y at evil.example)",
        ),
        ("<me@a.example>\n", "1-1 p:link(mailto:me@a.example at me@a.example)"),
        ("![x](https://a.example/b.png)\n", "1-1 p:image(x, Some(\"a.example\"))"),
        ("![x](pic.png)\n", "1-1 p:image(x, None)"),
        ("![x](javascript:y)\n", "1-1 p:![x](javascript:y)"),
        ("[x](other.md)\n", "1-1 p:wiki(other.md|x)"),
        ("a\u{202e}b\u{200b}c\n", "1-1 p:aU+202EbU+200Bc"),
        ("<!-- hidden words -->\n", "1-1 html:<!-- hidden words -->"),
    ] {
        assert_eq!(show(text), expected, "{text:?}");
    }
}

#[test]
fn secrets_are_masked_unless_they_are_asked_for() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!("key {token} end\n\n```\n{token}\n```\n");
    let shown = show(&text);
    assert!(shown.contains("key secret end") && !shown.contains(&token), "{shown}");
    let blocks = markdown_tree(&text, SecretDisplay::Shown);
    assert!(format!("{blocks:?}").contains(&token));
}

#[test]
fn deep_nesting_ends() {
    for text in ["> ".repeat(3000), "- ".repeat(3000), "*a ".repeat(3000), "[".repeat(9000)] {
        drop(show(&text));
    }
}
