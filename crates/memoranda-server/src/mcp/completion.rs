//! Completions: projects and permalinks for the resource template, topics for prompts.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{FileSummary, ListFilter, ListOrder, ListRequest, Memory};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::failed_beneath;
use super::resources::{self, TEMPLATE};
use crate::offer::Offered;

/// How many of the newest notes are looked through.
const LOOKED_THROUGH: usize = 2000;

/// What an argument could become.
pub(super) fn complete(
    memory: &Memory,
    offered: &Offered,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let (name, begun) = (request.argument.name.as_str(), request.argument.value.as_str());
    let known = match &request.r#ref {
        Reference::Resource(template) if template.uri == TEMPLATE => {
            matches!(name, "project" | "permalink")
        }
        Reference::Prompt(prompt) => {
            let mut prompts = offered.prompts();
            let prompt = prompts.find(|def| def.name == prompt.name);
            prompt.is_some_and(|def| def.arguments.iter().any(|argument| argument.name == name))
        }
        _ => false,
    };
    let candidates = match name {
        // Someone is typing: what is not known yet is no mistake, there is only nothing to offer.
        _ if !known => Vec::new(),
        "project" => projects(memory)?,
        "permalink" => {
            let context = request.context.as_ref();
            let project = context.and_then(|context| context.get_argument("project"));
            newest(memory, project.map(String::as_str), |note| resources::name(note).to_owned())?
        }
        "topic" => newest(memory, None, |note| note.title.clone())?,
        // What to remember is not known before.
        _ => Vec::new(),
    };
    Ok(CompleteResult::new(fitting(candidates, begun)?))
}

fn projects(memory: &Memory) -> Result<Vec<String>, ErrorData> {
    let projects =
        memory.store().projects().map_err(|error| failed_beneath("list the projects", &error))?;
    Ok(projects.into_iter().map(|project| project.name.to_string()).collect())
}

fn newest(
    memory: &Memory,
    project: Option<&str>,
    name: impl Fn(&FileSummary) -> String,
) -> Result<Vec<String>, ErrorData> {
    let project = match project.map(ProjectName::parse) {
        Some(Err(_)) => return Ok(Vec::new()),
        Some(Ok(project)) => Some(project),
        None => None,
    };
    let request = ListRequest {
        filter: ListFilter { project, ..ListFilter::default() },
        order: ListOrder::Newest,
        limit: LOOKED_THROUGH,
        offset: 0,
    };
    let page = memory.list(&request).map_err(|error| failed_beneath("list the notes", &error))?;
    Ok(page.notes.iter().map(name).collect())
}

/// The candidates that begin with what was typed, then those that hold it; as many as may be.
fn fitting(candidates: Vec<String>, begun: &str) -> Result<CompletionInfo, ErrorData> {
    let begun = begun.to_lowercase();
    let (mut first, mut second) = (Vec::<String>::new(), Vec::new());
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let found = if lower.starts_with(&begun) { &mut first } else { &mut second };
        if lower.contains(&begun) && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    first.append(&mut second);
    let total = u32::try_from(first.len()).ok();
    let has_more = first.len() > CompletionInfo::MAX_VALUES;
    first.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(first, total, has_more)
        .map_err(|error| failed_beneath("complete the argument", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_before_what_holds_it() {
        let candidates = ["work", "Main", "homework", "work"].map(str::to_owned).to_vec();
        let found = fitting(candidates, "WORK").unwrap();
        assert_eq!(found.values, ["work", "homework"]);
        assert_eq!((found.total, found.has_more), (Some(2), Some(false)));
        let many = fitting((0..150).map(|n| n.to_string()).collect(), "").unwrap();
        assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), Some(true)));
    }
}
