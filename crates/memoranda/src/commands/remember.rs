//! `memoranda remember`: keep one statement for every agent.

use memoranda_tools::ToolResult;
use serde_json::{Map, Value, json};

use super::tool::verb_result;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::visible_lines;

/// Remember one statement, for every agent and every later conversation.
///
/// Kind and scope are guessed if you do not give them: "I prefer tabs" is about you, everywhere;
/// "this repo uses pnpm" is of the repository that you are in. A statement that is known is not
/// stored twice. It is the same as the tool `remember`.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda remember I prefer tabs
  memoranda remember 'Run the migrations before the tests' --kind rule --scope repository
  memoranda remember 'The API limit is 200 requests/s' --replaces k3f9a2xy

JSON (--json):
  {effect, id, version, kind, kind_guessed, scope, scope_guessed, repository, path, commit,
  previous, candidates: [{id, version, content}], warning}; effect is \"stored\", \"known\" or
  \"replaced\"")]
pub(crate) struct Args {
    /// The statement.
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,

    /// Kind: rule, decision, preference, fact, skill or note; guessed without it.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,

    /// Scope: person (everywhere) or repository; guessed without it.
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,

    /// A tag; may be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// The repository, such as github.com/owner/repo; without it the one that you are in.
    #[arg(long, value_name = "NAME")]
    repository: Option<String>,

    /// Replace the memory of this id, or id@version.
    #[arg(long, value_name = "ID")]
    replaces: Option<String>,
}

/// Remembers.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let text = args.text.join(" ");
    if text.trim().is_empty() {
        let error = CommandError::usage("there is nothing to remember");
        return Err(error.hint("`memoranda remember I prefer tabs` remembers a statement"));
    }
    let mut arguments = Map::new();
    arguments.insert("content".to_owned(), json!(text));
    let given = [
        ("kind", &args.kind),
        ("scope", &args.scope),
        ("project_id", &args.repository),
        ("replaces", &args.replaces),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            arguments.insert(name.to_owned(), json!(value));
        }
    }
    if !args.tags.is_empty() {
        arguments.insert("tags".to_owned(), json!(args.tags));
    }
    let result = verb_result(context, "remember", Value::Object(arguments))?;
    if context.is_json() {
        context.printer.json(&result.structured)?;
        return Ok(Exit::Success);
    }
    print_remembered(context, &result)?;
    Ok(Exit::Success)
}

/// Prints the two lines of the tool that name the memory, and the next steps as commands.
fn print_remembered(context: &CommandContext, result: &ToolResult) -> Result<()> {
    let printer = &context.printer;
    let remembered = &result.structured;
    let is_known = remembered["effect"] == json!("known");
    for line in result.text.lines().take(if is_known { 1 } else { 2 }) {
        printer.text(visible_lines(line))?;
    }
    if let Some(warning) = remembered["warning"].as_str() {
        printer.warn(warning);
    }
    let candidates = remembered["candidates"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !candidates.is_empty() {
        printer.line("Similar, and kept as well:")?;
    }
    for candidate in candidates {
        let text = |name: &str| candidate[name].as_str().unwrap_or_default().replace('\n', " ");
        printer.text(visible_lines(&format!("- {}: {}", text("id"), text("content"))))?;
    }
    let id = remembered["id"].as_str().unwrap_or_default();
    if remembered["effect"] == json!("stored") {
        printer.hint(format!("`memoranda forget --id {id}` takes it back"));
    } else if !is_known {
        printer.hint("`memoranda undo` takes it back");
    }
    if !candidates.is_empty() {
        printer.hint("`memoranda remember TEXT --replaces ID` replaces one of them");
    }
    Ok(())
}
