//! Completions: projects and permalinks for the resource template, topics for prompts.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{Memory, NameField};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::internal_error;
use super::resources::URI_TEMPLATE;
use crate::tool_catalog::RequestTools;

/// Returns completions for an argument.
pub(super) fn complete(
    memory: &Memory,
    request_tools: &RequestTools,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let (name, prefix) = (request.argument.name.as_str(), request.argument.value.as_str());
    let is_known = match &request.r#ref {
        Reference::Resource(template) if template.uri == URI_TEMPLATE => {
            matches!(name, "project" | "permalink")
        }
        Reference::Prompt(prompt) => {
            let mut prompts = request_tools.prompts();
            let prompt = prompts.find(|def| def.name == prompt.name);
            prompt.is_some_and(|def| def.arguments.iter().any(|argument| argument.name == name))
        }
        _ => false,
    };
    let found = match name {
        // An unknown argument is not an error while the person types; it has no completions.
        _ if !is_known => matching_values(Vec::new(), prefix)?,
        "project" => match request_tools.only_project() {
            Some(only) => matching_values(vec![only.to_owned()], prefix)?,
            None => matching_values(project_names(memory)?, prefix)?,
        },
        "permalink" => {
            let context = request.context.as_ref();
            let project = context.and_then(|context| context.get_argument("project"));
            let project = project.map(String::as_str);
            match (request_tools.only_project(), project) {
                (Some(only), Some(named)) if !named.eq_ignore_ascii_case(only) => {
                    matching_values(Vec::new(), prefix)?
                }
                (only, project) => {
                    note_names(memory, only.or(project), NameField::Address, prefix)?
                }
            }
        }
        "topic" => note_names(memory, request_tools.only_project(), NameField::Title, prefix)?,
        // Free text has no completions.
        _ => matching_values(Vec::new(), prefix)?,
    };
    Ok(CompleteResult::new(found))
}

fn project_names(memory: &Memory) -> Result<Vec<String>, ErrorData> {
    let project_names =
        memory.list_projects().map_err(|error| internal_error("list the projects", &error))?;
    Ok(project_names.into_iter().map(|project| project.name.to_string()).collect())
}

/// Returns names of notes in a project, or in all projects.
fn note_names(
    memory: &Memory,
    project: Option<&str>,
    of: NameField,
    prefix: &str,
) -> Result<CompletionInfo, ErrorData> {
    let project = match project.map(ProjectName::parse) {
        Some(Err(_)) => return matching_values(Vec::new(), prefix),
        Some(Ok(project)) => Some(project),
        None => None,
    };
    let most = CompletionInfo::MAX_VALUES;
    let (found, total) = memory
        .snapshot()
        .and_then(|snapshot| Ok(snapshot.names(project.as_ref(), of, prefix, most)?))
        .map_err(|error| internal_error("list the notes", &error))?;
    let has_more = total > found.len() as u64;
    CompletionInfo::with_pagination(found, u32::try_from(total).ok(), has_more)
        .map_err(|error| internal_error("complete the argument", &error))
}

/// Returns the candidates that start with the prefix, then those that contain it, up to the limit.
fn matching_values(candidates: Vec<String>, prefix: &str) -> Result<CompletionInfo, ErrorData> {
    let prefix = prefix.to_lowercase();
    let (mut first, mut second) = (Vec::<String>::new(), Vec::new());
    for candidate in candidates {
        let lower = candidate.to_lowercase();
        let found = if lower.starts_with(&prefix) { &mut first } else { &mut second };
        if lower.contains(&prefix) && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    first.append(&mut second);
    let total = u32::try_from(first.len()).ok();
    let has_more = first.len() > CompletionInfo::MAX_VALUES;
    first.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(first, total, has_more)
        .map_err(|error| internal_error("complete the argument", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_that_start_with_the_prefix_come_first() {
        let candidates = ["work", "Main", "homework", "work"].map(str::to_owned).to_vec();
        let found = matching_values(candidates, "WORK").unwrap();
        assert_eq!(found.values, ["work", "homework"]);
        assert_eq!((found.total, found.has_more), (Some(2), Some(false)));
        let many = matching_values((0..150).map(|n| n.to_string()).collect(), "").unwrap();
        assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), Some(true)));
    }
}
