//! `memoranda forget`: delete one memory, which can be undone.

use serde_json::{Value, json};

use super::tool::verb_result;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::visible_lines;

/// Forget one memory; `memoranda undo` brings it back.
///
/// Words list what fits with their ids, and delete nothing; the whole statement deletes it at once. It
/// is the same as the tool `forget`; `memoranda rm` deletes notes and folders.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda forget --id k3f9a2xy
  memoranda forget indentation preference       what fits, with ids
  memoranda forget I prefer tabs                the whole statement
  memoranda forget --name 'Old plan'

JSON (--json):
  {forgotten, id, path, commit, still_told_by}, or {forgotten: false, count, candidates} with
  passages as of `memoranda recall`")]
pub(crate) struct Args {
    /// Words that fit one memory.
    #[arg(value_name = "QUERY", required_unless_present_any = ["id", "name"], conflicts_with_all = ["id", "name"])]
    query: Vec<String>,

    /// The id of a memory.
    #[arg(long, value_name = "ID", conflicts_with = "name")]
    id: Option<String>,

    /// The title or path of a note or memory file.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Forgets.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let arguments: Value = match (&args.id, &args.name) {
        (Some(id), _) => json!({ "id": id }),
        (None, Some(name)) => json!({ "name": name }),
        (None, None) => json!({ "query": args.query.join(" ") }),
    };
    let result = verb_result(context, "forget", arguments)?;
    let forgotten = &result.structured;
    let is_empty = forgotten["count"] == json!(0);
    if context.is_json() {
        context.printer.json(forgotten)?;
    } else if let Some(candidates) = forgotten["candidates"].as_array() {
        list_candidates(context, &result.text, candidates)?;
    } else {
        context.printer.text(visible_lines(&result.text))?;
    }
    Ok(if is_empty { Exit::NotFound } else { Exit::Success })
}

/// Prints the first line of the tool, and each memory that fits with the command that forgets it.
fn list_candidates(context: &CommandContext, text: &str, candidates: &[Value]) -> Result<()> {
    context.printer.text(text.lines().next().unwrap_or_default())?;
    for candidate in candidates {
        let shown = candidate["text"].as_str().unwrap_or_default().replace('\n', " ");
        let (remark, command) = match candidate["id"].as_str() {
            Some(id) => ("", format!("memoranda forget --id {id}")),
            None => {
                let place = candidate["places"][0].as_str().unwrap_or_default();
                (" (with its whole note)", format!("memoranda forget --name '{place}'"))
            }
        };
        context.printer.text(visible_lines(&format!("- {shown}{remark}")))?;
        // Not broken, so that it can be copied.
        context.printer.line(visible_lines(&format!("  {command}")))?;
    }
    Ok(())
}
