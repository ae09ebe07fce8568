//! JSON of a note's tree.

use memoranda_engine::core::note::Observation;
use memoranda_engine::core::note::tree::{
    BlockContent, LinkReference, TreeBlock, TreeInline, TreeItem,
};
use serde_json::{Value, json};

/// Resolves the names in links.
pub(super) type LinkResolver<'a> = dyn Fn(&LinkReference) -> Value + 'a;

/// Returns blocks.
pub(super) fn blocks_json(blocks: &[TreeBlock], resolve: &LinkResolver<'_>) -> Vec<Value> {
    blocks.iter().map(|block| block_json(block, resolve)).collect()
}

fn block_json(block: &TreeBlock, resolve: &LinkResolver<'_>) -> Value {
    let inlines = |inlines: &[TreeInline]| inlines_json(inlines, resolve);
    let mut json = match &block.content {
        BlockContent::Heading { level, inlines: text } => {
            json!({ "kind": "heading", "level": level, "inlines": inlines(text) })
        }
        BlockContent::Paragraph(text) => json!({ "kind": "paragraph", "inlines": inlines(text) }),
        BlockContent::List { start, items } => {
            let item = |item: &TreeItem| {
                json!({
                    "line": item.line,
                    "end_line": item.end_line,
                    "blocks": blocks_json(&item.blocks, resolve),
                })
            };
            json!({
                "kind": "list",
                "ordered": start.is_some(),
                "start": start,
                "items": items.iter().map(item).collect::<Vec<_>>(),
            })
        }
        BlockContent::Quote { callout, blocks } => json!({
            "kind": "quote", "callout": callout, "blocks": blocks_json(blocks, resolve),
        }),
        BlockContent::Code { language, text } => {
            json!({ "kind": "code", "language": language, "text": text })
        }
        BlockContent::Table { align, head, rows } => {
            let row =
                |row: &[Vec<TreeInline>]| row.iter().map(|cell| inlines(cell)).collect::<Vec<_>>();
            json!({
                "kind": "table",
                "align": align,
                "head": row(head),
                "rows": rows.iter().map(|cells| row(cells)).collect::<Vec<_>>(),
            })
        }
        BlockContent::Rule => json!({ "kind": "rule" }),
        BlockContent::Html(text) => json!({ "kind": "html", "text": text }),
        BlockContent::Fact { fact, inlines: text } => {
            json!({ "kind": "fact", "fact": fact_json(fact), "inlines": inlines(text) })
        }
        BlockContent::Relation { relation_type, target, context } => json!({
            "kind": "relation",
            "relation_type": relation_type,
            "target": resolve(target),
            "context": context,
        }),
        BlockContent::Task { mark, inlines: text } => json!({
            "kind": "task",
            "done": !matches!(mark, ' '),
            "mark": mark.to_string(),
            "inlines": inlines(text),
        }),
    };
    json["line"] = json!(block.line);
    json["end_line"] = json!(block.end_line);
    json
}

fn inlines_json(inlines: &[TreeInline], resolve: &LinkResolver<'_>) -> Vec<Value> {
    let one = |part: &TreeInline| match part {
        TreeInline::Text(text) => json!({ "kind": "text", "text": text }),
        TreeInline::Emphasis(inner) => {
            json!({ "kind": "emphasis", "inlines": inlines_json(inner, resolve) })
        }
        TreeInline::Strong(inner) => {
            json!({ "kind": "strong", "inlines": inlines_json(inner, resolve) })
        }
        TreeInline::Strike(inner) => {
            json!({ "kind": "strike", "inlines": inlines_json(inner, resolve) })
        }
        TreeInline::Code(text) => json!({ "kind": "code", "text": text }),
        TreeInline::HardBreak => json!({ "kind": "break", "hard": true }),
        TreeInline::SoftBreak => json!({ "kind": "break", "hard": false }),
        TreeInline::Link { href, host, inlines } => json!({
            "kind": "link", "href": href, "host": host, "inlines": inlines_json(inlines, resolve),
        }),
        TreeInline::WikiLink { target, label } => {
            json!({ "kind": "wikilink", "target": resolve(target), "label": label })
        }
        TreeInline::Image { href, host, alt } => json!({
            "kind": "image", "href": href, "host": host, "alt": alt, "remote": host.is_some(),
        }),
        TreeInline::Tag(text) => json!({ "kind": "tag", "text": text }),
        TreeInline::Html(text) => json!({ "kind": "html", "text": text }),
        TreeInline::Secret => json!({ "kind": "secret", "text": "••••••••" }),
        TreeInline::Invisible(c) => {
            json!({ "kind": "invisible", "code": format!("U+{:04X}", u32::from(*c)) })
        }
        TreeInline::Footnote(label) => json!({ "kind": "footnote", "label": label }),
    };
    inlines.iter().map(one).collect()
}

/// Returns a fact.
pub(super) fn fact_json(fact: &Observation) -> Value {
    let meta = fact.meta.as_ref();
    json!({
        "id": meta.map(|meta| meta.id.to_string()),
        "category": fact.category,
        "text": fact.text,
        "tags": fact.tags,
        "context": fact.context,
        "line": fact.line,
        "version": meta.map_or(1, |meta| meta.version),
        "time": meta.and_then(|meta| meta.time).map(|time| time.to_string()),
        "confidence": meta.and_then(|meta| meta.confidence),
        "importance": meta.and_then(|meta| meta.importance),
        "struck": fact.struck,
        "superseded_by":
            meta.and_then(|meta| meta.superseded_by.as_ref()).map(ToString::to_string),
        "supersedes": meta.and_then(|meta| meta.supersedes.as_ref()).map(ToString::to_string),
    })
}
