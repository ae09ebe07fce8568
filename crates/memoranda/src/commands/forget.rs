//! `memoranda forget`: delete one memory, which can be undone.

use serde_json::{Value, json};

use super::tool::call_verb;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;

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
    call_verb(context, "forget", arguments)
}
