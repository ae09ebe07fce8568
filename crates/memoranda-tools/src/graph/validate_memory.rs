//! `validate_memory`: the checks of `save_memory` without saving.

use serde_json::json;

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::{ENTITIES, THREAD};
use super::request::SaveRequest;
use super::thread::CallThread;
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "validate_memory",
    title: "Validate memory",
    description: "Checks entities as save_memory would, and saves nothing.",
    tier: ToolTier::Extra,
    hints: READ,
    output: || {
        output(&[("all_valid", "boolean"), ("results", "array"), ("quality_score", "number")])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[ENTITIES, THREAD]]).defer_unknown();

/// Maximum number of entities in the answer.
const MAX_CHECKED: usize = 100;
/// Maximum number of problems per entity in the answer.
const MAX_ERRORS: usize = 20;

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings);
    let (thread, request) = SaveRequest::read(call, args, thread)?;
    if request.problems.iter().any(|problem| problem.index.is_none()) {
        return Err(request.refused());
    }
    let mut results = Vec::with_capacity(request.entities.len());
    let mut text = format!("Checked against thread '{}'; nothing was saved.", thread.id);
    for (index, entity) in request.entities.iter().enumerate().take(MAX_CHECKED) {
        let problems = request.problems.iter().filter(|problem| problem.index == Some(index));
        let errors: Vec<String> = problems
            .take(MAX_ERRORS)
            .map(|p| format!("{}. Suggestion: {}", p.brief.trim_end_matches('.'), p.suggestion))
            .collect();
        let warnings: Vec<&str> = request
            .warnings
            .iter()
            .filter(|(of, _)| *of == index)
            .map(|(_, warning)| warning.as_str())
            .collect();
        let verdict = if errors.is_empty() { "valid" } else { "not valid" };
        text.push_str(&format!("\n{}. '{}': {verdict}", index + 1, entity.name));
        errors.iter().for_each(|error| text.push_str(&format!("\n   {error}")));
        warnings.iter().for_each(|warning| text.push_str(&format!("\n   Warning: {warning}")));
        results.push(json!({
            "index": index,
            "name": entity.name,
            "type": entity.entity_type,
            "valid": errors.is_empty(),
            "errors": errors,
            "warnings": warnings,
        }));
    }
    let mut structured = json!({
        "all_valid": request.problems.is_empty(),
        "problem_count": request.problems.len(),
        "results": results,
        "quality_score": request.quality(call.settings.graph.limits),
        "thread": thread.id,
    });
    if request.entities.len() > MAX_CHECKED {
        let more = format!(
            "Only the first {MAX_CHECKED} of {} entities are listed; all were checked.",
            request.entities.len()
        );
        text.push_str(&format!("\n{more}"));
        structured["truncated"] = json!(more);
    }
    Ok(ToolResult::ok(text, structured))
}
