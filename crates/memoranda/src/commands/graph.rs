//! A small graph in the terminal: one note, and the notes that links lead to and come from.
//!
//! Arrows say in which note a link is written. Links to notes that do not exist yet are dashed.

use memoranda_engine::{GraphNode, NeighbourNode, NoteNeighbourhood};
use serde::Serialize;

use crate::error::Result;
use crate::output::{FAINT, OutputFormat, PLACE, Printer, STRONG, visible};
use crate::table;
use crate::wrap::{display_width, shorten_path};

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
        printer.line(line.fit(printer.width()))?;
    }
    if around.truncated {
        printer.say("There are more; a smaller --depth shows the nearest whole.");
    }
    Ok(())
}

/// A line of the drawing.
struct DrawnNote {
    /// Branch and relation, with colours.
    branch: String,
    title: String,
    /// Place of the note; `None` if it is not written yet.
    place: Option<String>,
}

impl DrawnNote {
    fn new(branch: String, node: &GraphNode) -> Self {
        let place = format!("{}/{}", node.project, visible(node.path.as_str()));
        Self { branch, title: visible(&node.title).into_owned(), place: Some(place) }
    }

    /// Writes the line within a width: first the place gives way, then the title.
    fn fit(&self, width: Option<usize>) -> String {
        let room = width.map_or(usize::MAX, |w| w.saturating_sub(display_width(&self.branch)));
        let title = table::truncate(&self.title, room);
        let left = room.saturating_sub(display_width(&title) + 2);
        let (branch, place) = (&self.branch, self.place.as_deref());
        match place.map(|place| shorten_path(place, left)) {
            // A place without its beginning says no more than the title.
            Some(place) if left > 0 && !place.starts_with('…') => {
                format!("{branch}{STRONG}{title}{STRONG:#}  {PLACE}{place}{PLACE:#}")
            }
            None if left >= NOT_WRITTEN.len() => {
                format!("{branch}{title}  {FAINT}{NOT_WRITTEN}{FAINT:#}")
            }
            Some(_) => format!("{branch}{STRONG}{title}{STRONG:#}"),
            None => format!("{branch}{title}"),
        }
    }
}

/// Mark of a link to a note that does not exist.
const NOT_WRITTEN: &str = "(not written yet)";

/// The drawing, a line a note.
fn draw(around: &NoteNeighbourhood, glyphs: &GraphGlyphs) -> Vec<DrawnNote> {
    let centre = &around.centre;
    let mut lines = vec![DrawnNote::new(String::new(), centre)];
    draw_below(around, centre.id, "", glyphs, &mut lines);
    lines
}

fn draw_below(
    around: &NoteNeighbourhood,
    parent: i64,
    indent: &str,
    glyphs: &GraphGlyphs,
    lines: &mut Vec<DrawnNote>,
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
        let branch = format!(
            "{FAINT}{indent}{branch}{before}{FAINT:#} {} {FAINT}{after}{FAINT:#} ",
            visible(&child.via.relation_type),
        );
        lines.push(DrawnNote::new(branch, &child.node));
        let down = if is_last { " " } else { glyphs.down };
        draw_below(around, child.node.id, &format!("{indent}{down}   "), glyphs, lines);
    }
    for (n, (relation_type, target)) in missing.iter().enumerate() {
        let branch = if n + 1 == missing.len() { glyphs.last } else { glyphs.fork };
        let (before, after) = glyphs.missing;
        let branch = format!(
            "{FAINT}{indent}{branch}{before}{FAINT:#} {} {FAINT}{after}{FAINT:#} ",
            visible(relation_type),
        );
        let title = visible(target).into_owned();
        lines.push(DrawnNote { branch, title, place: None });
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
