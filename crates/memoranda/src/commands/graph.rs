//! A small graph in the terminal: one note, and the notes that links lead to and come from.
//!
//! Arrows say in which note a link is written. Links to notes that do not exist yet are dashed.

use memoranda_engine::{NeighbourNode, NoteNeighbourhood};
use serde::Serialize;

use crate::error::Result;
use crate::output::{FAINT, OutputFormat, PLACE, Printer, STRONG, visible};

/// The pieces of a drawing.
struct GraphGlyphs {
    fork: &'static str,
    last: &'static str,
    down: &'static str,
    to: (&'static str, &'static str),
    from: (&'static str, &'static str),
    missing: (&'static str, &'static str),
}

const BOX_GLYPHS: GraphGlyphs = GraphGlyphs {
    fork: "├",
    last: "└",
    down: "│",
    to: ("──", "─▶"),
    from: ("◀─", "──"),
    missing: ("╌╌", "╌▷"),
};
const ASCII_GLYPHS: GraphGlyphs = GraphGlyphs {
    fork: "|",
    last: "`",
    down: "|",
    to: ("--", "->"),
    from: ("<-", "--"),
    missing: ("..", ".>"),
};

#[derive(Serialize)]
struct GraphJson<'a> {
    centre: NodeJson<'a>,
    notes: Vec<NeighbourJson<'a>>,
    unresolved: Vec<UnresolvedJson<'a>>,
    truncated: bool,
}

#[derive(Serialize)]
struct NodeJson<'a> {
    project: &'a str,
    path: &'a str,
    title: &'a str,
}

#[derive(Serialize)]
struct NeighbourJson<'a> {
    #[serde(flatten)]
    node: NodeJson<'a>,
    depth: usize,
    relation_type: &'a str,
    direction: &'static str,
    via: &'a str,
}

#[derive(Serialize)]
struct UnresolvedJson<'a> {
    relation_type: &'a str,
    target: &'a str,
}

/// Prints the notes around one.
pub(crate) fn print(printer: &Printer, around: &NoteNeighbourhood) -> Result<()> {
    match printer.format {
        OutputFormat::Json => return printer.json(&graph_json(around)),
        OutputFormat::Pretty | OutputFormat::Plain => {}
    }
    let glyphs = if printer.can_draw() { &BOX_GLYPHS } else { &ASCII_GLYPHS };
    for line in draw(around, glyphs) {
        printer.line(line)?;
    }
    if around.truncated {
        printer.say("There are more; a smaller --depth shows the nearest whole.");
    }
    Ok(())
}

/// The drawing, a line a note.
fn draw(around: &NoteNeighbourhood, glyphs: &GraphGlyphs) -> Vec<String> {
    let centre = &around.centre;
    let mut lines = vec![format!(
        "{STRONG}{}{STRONG:#}  {PLACE}{}/{}{PLACE:#}",
        visible(&centre.title),
        centre.project,
        visible(centre.path.as_str())
    )];
    draw_below(around, centre.id, "", glyphs, &mut lines);
    lines
}

fn draw_below(
    around: &NoteNeighbourhood,
    parent: i64,
    indent: &str,
    glyphs: &GraphGlyphs,
    lines: &mut Vec<String>,
) {
    let children: Vec<&NeighbourNode> =
        around.notes.iter().filter(|note| parent_of(note) == parent).collect();
    let missing: &[(String, String)] =
        if parent == around.centre.id { &around.unresolved } else { &[] };
    let count = children.len() + missing.len();
    for (n, child) in children.into_iter().enumerate() {
        let is_last = n + 1 == count;
        let branch = if is_last { glyphs.last } else { glyphs.fork };
        let (before, after) = if child.via.from == parent { glyphs.to } else { glyphs.from };
        lines.push(format!(
            "{FAINT}{indent}{branch}{before}{FAINT:#} {} {FAINT}{after}{FAINT:#} {STRONG}{}{STRONG:#}  {PLACE}{}/{}{PLACE:#}",
            visible(&child.via.relation_type),
            visible(&child.node.title),
            child.node.project,
            visible(child.node.path.as_str())
        ));
        let down = if is_last { " " } else { glyphs.down };
        draw_below(around, child.node.id, &format!("{indent}{down}   "), glyphs, lines);
    }
    for (n, (relation_type, target)) in missing.iter().enumerate() {
        let branch = if n + 1 == missing.len() { glyphs.last } else { glyphs.fork };
        let (before, after) = glyphs.missing;
        lines.push(format!(
            "{FAINT}{indent}{branch}{before}{FAINT:#} {} {FAINT}{after}{FAINT:#} {}  {FAINT}(not written yet){FAINT:#}",
            visible(relation_type),
            visible(target)
        ));
    }
}

/// The note by which this one was reached.
fn parent_of(note: &NeighbourNode) -> i64 {
    if note.via.from == note.node.id { note.via.to } else { note.via.from }
}

fn graph_json(around: &NoteNeighbourhood) -> GraphJson<'_> {
    let path_of = |id: i64| {
        let found = around.notes.iter().map(|note| &note.node).find(|node| node.id == id);
        found.unwrap_or(&around.centre).path.as_str()
    };
    GraphJson {
        centre: NodeJson {
            project: around.centre.project.as_str(),
            path: around.centre.path.as_str(),
            title: &around.centre.title,
        },
        notes: around
            .notes
            .iter()
            .map(|note| NeighbourJson {
                node: NodeJson {
                    project: note.node.project.as_str(),
                    path: note.node.path.as_str(),
                    title: &note.node.title,
                },
                depth: note.depth,
                relation_type: &note.via.relation_type,
                direction: if note.via.to == note.node.id { "to" } else { "from" },
                via: path_of(parent_of(note)),
            })
            .collect(),
        unresolved: around
            .unresolved
            .iter()
            .map(|(relation_type, target)| UnresolvedJson { relation_type, target })
            .collect(),
        truncated: around.truncated,
    }
}
