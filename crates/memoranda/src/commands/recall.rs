//! `memoranda recall`: what is known, as an agent gets it.

use serde_json::{Map, Value, json};

use super::tool::verb_result;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::visible_lines;

/// Recall what is known, as an agent gets it: passages with their source, age and author.
///
/// Looks through notes, memory files, facts, records and banks of all projects. Without a question
/// it shows what is known about you and the repository that you are in. It is the same as the tool
/// `recall`; `memoranda search` finds whole notes, with more filters.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda recall
  memoranda recall what did we decide about backups
  memoranda recall indentation --kind preference --max-tokens 300
  memoranda recall api limit --as-of 2026-01-31

JSON (--json):
  {query, count, passages: [{text, kind, places, updated, id, title, lines, repository, author,
  relevance, about}], left_out, nearest}")]
pub(crate) struct Args {
    /// The question; without it, what is known about you and this repository.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,

    /// Maximum number of tokens of all passages together.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// Only this kind: rule, decision, preference, fact, skill, note; may be given several times.
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,

    /// Only what changed since then: 7d, yesterday, 2026-01-31.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// As it was then: yesterday, 2026-01-31.
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,

    /// Minimum probability, from 0 to 1, that a passage concerns the question.
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
}

/// Recalls.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let mut arguments = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            arguments.insert(name.to_owned(), value);
        }
    };
    add("query", (!args.query.is_empty()).then(|| json!(args.query.join(" "))));
    add("max_tokens", args.max_tokens.map(|tokens| json!(tokens)));
    add("kinds", (!args.kinds.is_empty()).then(|| json!(args.kinds)));
    add("project", context.args.project.as_ref().map(|project| json!(project)));
    add("since", args.since.as_ref().map(|time| json!(time)));
    add("as_of", args.as_of.as_ref().map(|time| json!(time)));
    add("min_relevance", args.min_relevance.map(|least| json!(least)));
    let result = verb_result(context, "recall", Value::Object(arguments))?;
    let is_empty = result.structured["count"] == json!(0);
    if context.is_json() {
        context.printer.json(&result.structured)?;
    } else {
        context.start_pager();
        context.printer.text(visible_lines(&result.text))?;
    }
    Ok(if is_empty { Exit::NotFound } else { Exit::Success })
}
