//! The one way to run a tool: read its arguments, reject unknown ones, run it, render its error,
//! and cut the result to size.

use serde_json::Value;

use super::arguments::ToolArgs;
use super::error::ToolError;
use super::tool::{CallContext, TextFormat, ToolDef, ToolResult};
use super::truncate::{Truncated, truncate_json};

/// Maximum size of a structured result relative to its text: field names take room, too.
const STRUCTURE_PER_TEXT: usize = 3;
/// Name of the parameter by which a caller chooses the format of the text.
const OUTPUT_FORMAT: &str = "output_format";

/// Calls a tool and truncates text and structure of its result to the tool's limit.
pub fn call(tool: &ToolDef, call: &CallContext<'_>, arguments: Value) -> ToolResult {
    if let Some(only) = call.settings.notes.only_project.as_deref()
        && !tool.is_reachable(call.settings)
    {
        let own = tool.toolset.own_project().unwrap_or_default();
        let text = format!(
            "This server works in the project {only} only, and {} keeps its memories in the \
             project {own}.",
            tool.name
        );
        return (tool.render_error)(call, ToolError::new("PROJECT_CONSTRAINED", text));
    }
    // A tool that reads sees one state of the index from beginning to end. Errors are left to it.
    let snapshot = tool.reads_index_only().then(|| call.memory.snapshot());
    if let Some(Ok(snapshot)) = &snapshot {
        snapshot.settle().ok();
    }
    let mut result = run(tool, call, arguments);
    drop(snapshot);
    truncate(&mut result, tool.max_chars);
    result
}

fn run(tool: &ToolDef, call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let table = tool.params;
    let mut format = tool.text_format;
    let args = ToolArgs::read(tool.name, table, arguments);
    let outcome = args.map_err(ToolError::from).and_then(|args| {
        // First the format: an error has the requested format, too.
        match args.optional_word(OUTPUT_FORMAT)?.as_deref() {
            Some("json") => format = TextFormat::Json,
            Some(_) => format = TextFormat::Text,
            None => {}
        }
        // A tool that reads and has no parameters cannot misunderstand one.
        let can_misunderstand = !tool.hints.read_only || table.listed().next().is_some();
        if can_misunderstand && !table.defers_unknown {
            args.reject_unknown()?;
        }
        let mut result = (tool.run)(call, &args)?;
        let ignored = args.ignored();
        if !ignored.is_empty() {
            let names = ignored.join(", ");
            result.text.push_str(&format!("\n[ignored, without meaning here: {names}]"));
        }
        Ok(result)
    });
    let mut result = outcome.unwrap_or_else(|error| (tool.render_error)(call, error));
    if format == TextFormat::Json {
        let field = tool.json_text_field.and_then(|field| result.structured.get(field));
        result.text = field.unwrap_or(&result.structured).to_string();
    }
    result
}

fn truncate(result: &mut ToolResult, max_chars: usize) {
    if let Some((cut, _)) = result.text.char_indices().nth(max_chars) {
        let total = result.text.chars().count();
        result.text.truncate(cut);
        result.text.push_str(&format!(
            "\n[cut after {max_chars} of {total} characters; ask for a smaller part]"
        ));
    }
    let room = max_chars.saturating_mul(STRUCTURE_PER_TEXT);
    if truncate_json(&mut result.structured, room) == Truncated::Yes {
        result.text.push_str("\n[the structured result is cut as well; ask for a smaller part]");
    }
}
