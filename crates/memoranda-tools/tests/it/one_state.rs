//! A tool that reads sees one state of the index, whatever others write during the call.

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{EngineError, FileOperation, Memory, NoteLocation};
use memoranda_tools::{CallContext, ToolArgs, ToolDef, ToolError, ToolHints, ToolResult, Wording};
use serde_json::json;

use crate::support::TestVault;

const HINTS: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };

static READER: ToolDef =
    ToolDef { name: "count_twice", hints: HINTS, run: count_twice, ..ToolDef::BASE };

static WRITER: ToolDef = ToolDef { hints: ToolHints { read_only: false, ..HINTS }, ..READER };

fn notes(memory: &Memory) -> u64 {
    memory.snapshot().unwrap().counts().unwrap().notes
}

/// Counts the notes, lets another thread write one, and counts again.
fn count_twice(call: &CallContext<'_>, _: &ToolArgs) -> Result<ToolResult, ToolError> {
    let before = notes(call.memory);
    std::thread::scope(|scope| {
        scope.spawn(|| write_note(call.memory, &format!("note-{before}.md")));
    });
    Ok(ToolResult::ok(String::new(), json!([before, notes(call.memory)])))
}

fn write_note(memory: &Memory, path: &str) {
    let author = Author::new("test", "write", ChangeChannel::Mcp);
    let project = ProjectName::parse("main").unwrap();
    let place = NoteLocation { project, path: NotePath::parse(path).unwrap() };
    let written = memory.transact::<EngineError>(&author, None, |_| {
        Ok(vec![FileOperation::put(place.clone(), "text")])
    });
    written.unwrap();
}

#[test]
fn a_reading_tool_sees_one_state_from_beginning_to_end() {
    let vault = TestVault::new(Wording::Mcp);
    assert_eq!(vault.call_row(&READER, &json!({})).structured, json!([0, 0]));
    assert_eq!(vault.call_row(&READER, &json!({})).structured, json!([1, 1]));
    // A tool that writes reads the current state each time.
    assert_eq!(vault.call_row(&WRITER, &json!({})).structured, json!([2, 3]));
}
