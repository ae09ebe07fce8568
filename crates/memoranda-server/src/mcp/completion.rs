//! Completions: projects and permalinks for the resource template, topics for prompts.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{Memory, NameField};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::failed_beneath;
use super::resources::TEMPLATE;
use crate::offer::Offered;

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
    let found = match name {
        // Someone is typing: what is not known yet is no mistake, there is only nothing to offer.
        _ if !known => fitting(Vec::new(), begun)?,
        "project" => match offered.only_project() {
            Some(only) => fitting(vec![only.to_owned()], begun)?,
            None => fitting(projects(memory)?, begun)?,
        },
        "permalink" => {
            let context = request.context.as_ref();
            let project = context.and_then(|context| context.get_argument("project"));
            let project = project.map(String::as_str);
            match (offered.only_project(), project) {
                (Some(only), Some(named)) if !named.eq_ignore_ascii_case(only) => {
                    fitting(Vec::new(), begun)?
                }
                (only, project) => names(memory, only.or(project), NameField::Address, begun)?,
            }
        }
        "topic" => names(memory, offered.only_project(), NameField::Title, begun)?,
        // What to remember is not known before.
        _ => fitting(Vec::new(), begun)?,
    };
    Ok(CompleteResult::new(found))
}

fn projects(memory: &Memory) -> Result<Vec<String>, ErrorData> {
    let projects =
        memory.store().projects().map_err(|error| failed_beneath("list the projects", &error))?;
    Ok(projects.into_iter().map(|project| project.name.to_string()).collect())
}

/// The notes of a project, or of all, by one of their names.
fn names(
    memory: &Memory,
    project: Option<&str>,
    of: NameField,
    begun: &str,
) -> Result<CompletionInfo, ErrorData> {
    let project = match project.map(ProjectName::parse) {
        Some(Err(_)) => return fitting(Vec::new(), begun),
        Some(Ok(project)) => Some(project),
        None => None,
    };
    let most = CompletionInfo::MAX_VALUES;
    let (found, total) = memory
        .store()
        .names(project.as_ref(), of, begun, most)
        .map_err(|error| failed_beneath("list the notes", &error))?;
    let has_more = total > found.len() as u64;
    CompletionInfo::with_pagination(found, u32::try_from(total).ok(), has_more)
        .map_err(|error| failed_beneath("complete the argument", &error))
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
