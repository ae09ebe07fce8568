//! `memoranda tool`: call a tool as a client would.

use std::sync::atomic::AtomicBool;

use clap_complete::engine::ArgValueCandidates;
use memoranda_engine::SyncScope;
use memoranda_engine::core::change::Author;
use memoranda_tools::{
    CallContext, ClientContext, ToolDef, ToolResult, ToolSettings, ToolUse, Wording, json_object,
};
use serde_json::{Map, Value, json};

use crate::complete;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{OutputFormat, STRONG, read_stdin, visible_lines};
use crate::server_args::WordingArgs;
use crate::table::{self, TableColumn};

/// Call a tool as an agent would, and print what it answers.
///
/// `memory` takes the input of a tool_use block of the Claude API, or the whole block. With
/// --wording claude it answers as the API's own tool, and --json prints the tool_result block that
/// goes back.
/// A tool that could not do it ends with exit code 1. The files on which the answer can depend are
/// scanned for edits first, unless --no-scan is given.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda tool --list
  memoranda tool memory '{\"command\": \"view\", \"path\": \"/memories\"}'
  echo \"$TOOL_USE\" | memoranda tool memory - --wording claude --json

JSON (--json):
  {structured, text, is_error}; with --wording claude {type, tool_use_id, content, is_error};
  with --list {tools: [{name, title, description, toolset, hints: {read_only, destructive,
  idempotent, open_world}, input_schema, output_schema}]}")]
pub(crate) struct Args {
    /// The tool.
    #[arg(required_unless_present = "list", add = ArgValueCandidates::new(complete::tools))]
    name: Option<String>,

    /// Arguments as a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON")]
    arguments: Option<String>,

    #[command(flatten)]
    wording: WordingArgs,

    /// List the tools.
    #[arg(long, conflicts_with_all = ["name", "arguments"])]
    list: bool,
}

/// Calls the tool.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let settings = args.wording.tool_settings(context)?;
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        return list(context, &settings);
    };
    let tool = memoranda_tools::tool(name).ok_or_else(|| {
        CommandError::new(Exit::NotFound, format!("there is no tool {name:?}"))
            .hint("`memoranda tool --list` lists them")
    })?;
    let arguments = arguments(args.arguments.as_deref())?;
    let is_memory = tool.name == "memory";
    let is_native = is_memory && settings.wording == Wording::Claude;
    // A whole block says itself what it is.
    let is_block = is_memory && arguments.get("type") == Some(&json!("tool_use"));
    let asked = if is_native || is_block {
        ToolUse::parse(arguments).map_err(|e| CommandError::usage(e.to_string()))?
    } else {
        ToolUse { id: None, input: Value::Object(arguments) }
    };
    let result = call(context, tool, &settings, asked.input.clone())?;
    let json = if is_native {
        asked.result(&result)
    } else {
        json!({
            "structured": result.structured,
            "text": result.text,
            "is_error": result.is_error,
        })
    };
    match context.printer.format {
        OutputFormat::Json => context.printer.json(&json)?,
        OutputFormat::Pretty | OutputFormat::Plain if context.printer.is_terminal() => {
            context.printer.text(visible_lines(&result.text))?;
        }
        OutputFormat::Pretty | OutputFormat::Plain => context.printer.line(&result.text)?,
    }
    Ok(if result.is_error { Exit::NotFound } else { Exit::Success })
}

/// Calls a verb of the core. An error result becomes the error of the command.
pub(super) fn verb_result(
    context: &CommandContext,
    name: &str,
    arguments: Value,
) -> Result<ToolResult> {
    let settings = context.settings()?.tools();
    let tool = memoranda_tools::tool(name)
        .ok_or_else(|| CommandError::new(Exit::NotFound, format!("there is no tool {name:?}")))?;
    // Only what is to be remembered makes a vault.
    if name == "remember" {
        context.open_or_create()?
    } else {
        context.open_existing()?
    };
    let result = call(context, tool, &settings, arguments)?;
    if result.is_error {
        let exit = match result.structured["error"].as_str() {
            Some("CONFLICT") => Exit::Conflict,
            Some("INVALID_ARGUMENTS") => Exit::Usage,
            _ => Exit::NotFound,
        };
        if result.structured["error"] == json!("REPOSITORY_UNKNOWN") {
            // The text of the tool speaks of its parameters.
            let message =
                "this is about a repository, and this folder is in none; nothing was stored";
            return Err(CommandError::new(exit, message)
                .hint("`--repository github.com/owner/repo` names it")
                .hint("`--scope person` keeps it for you, everywhere"));
        }
        return Err(CommandError::new(exit, result.text));
    }
    Ok(result)
}

fn call(
    context: &CommandContext,
    tool: &ToolDef,
    settings: &ToolSettings,
    arguments: Value,
) -> Result<ToolResult> {
    let scope = tool.scan_scope(settings, &arguments).unwrap_or(SyncScope::Everything);
    let call = CallContext {
        memory: context.open_synced_for(&scope)?,
        who: Author { tool: tool.name.to_owned(), ..context.author() },
        settings,
        progress: &|_, _, _| (),
        cancelled: &AtomicBool::new(false),
        client: &ClientContext::default(),
        space: None,
        others: &[],
    };
    Ok(memoranda_tools::call(tool, &call, arguments))
}

fn arguments(text: Option<&str>) -> Result<Map<String, Value>> {
    let text = match text {
        None => return Ok(Map::new()),
        Some("-") => read_stdin()?,
        Some(text) => text.as_bytes().to_owned(),
    };
    json_object(&text).map_err(|error| {
        CommandError::usage(format!("the arguments are no JSON object: {error}"))
            .hint("`memoranda tool memory '{\"command\": \"view\", \"path\": \"/memories\"}'`")
    })
}

fn list(context: &CommandContext, settings: &ToolSettings) -> Result<Exit> {
    if context.is_json() {
        let tools: Vec<Value> =
            memoranda_tools::tools().map(|tool| tool_json(tool, settings)).collect();
        context.printer.json(&json!({ "tools": tools }))?;
        return Ok(Exit::Success);
    }
    let plain = anstyle::Style::new();
    let columns = [
        TableColumn::word("TOOL", STRONG),
        TableColumn::optional("SET", plain),
        TableColumn::optional("CHANGES", plain),
        TableColumn::text("TITLE", plain),
    ];
    let changes = |tool: &ToolDef| match (tool.hints.read_only, tool.hints.destructive) {
        (true, _) => "nothing",
        (false, true) => "anything",
        (false, false) => "adds",
    };
    let row = |tool: &ToolDef| {
        [tool.name, tool.toolset.as_str(), changes(tool), tool.title].map(str::to_owned).to_vec()
    };
    table::print(
        &context.printer,
        &columns,
        &memoranda_tools::tools().map(row).collect::<Vec<_>>(),
    )?;
    Ok(Exit::Success)
}

fn tool_json(tool: &ToolDef, settings: &ToolSettings) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description(settings),
        "toolset": tool.toolset.as_str(),
        "hints": {
            "read_only": tool.hints.read_only,
            "destructive": tool.hints.destructive,
            "idempotent": tool.hints.idempotent,
            "open_world": tool.hints.open_world,
        },
        "input_schema": tool.input_schema(settings),
        "output_schema": (tool.output)(),
    })
}
