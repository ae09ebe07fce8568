//! `read_graph`.

use memoranda_engine::graph::{
    GraphEntity, entity_at, read_entity, resolve_typed_links, thread_files_at, thread_page,
    thread_size,
};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::{PAST, PRESENT, share};
use super::read_options::ReadOptions;
use super::render::{AnswerLayout, entity_json, relation_json};
use super::thread::AnswerShape;
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "read_graph",
    title: "Read graph",
    description: "The whole graph of a thread, by pages within a token budget.",
    tier: ToolTier::Extra,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[
    &[share("minImportance", "Leave out what matters less (0.1; 0 without threadId)")],
    PRESENT,
    PAST,
]);

/// Number of notes that are read at once.
const BATCH_SIZE: usize = 500;

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let options = ReadOptions::read(args, call)?;
    let default = if options.thread.shape == AnswerShape::Thread { 0.1 } else { 0.0 };
    let min_importance = args.optional_decimal("minImportance")?.unwrap_or(default);
    read_page(call, &options, min_importance)
}

/// Renders all entities of a thread from a minimum importance on, by the page.
pub(super) fn read_page(
    call: &CallContext<'_>,
    options: &ReadOptions,
    min_importance: f64,
) -> GraphToolResult<ToolResult> {
    let (memory, thread) = (call.memory, &options.thread);
    let mut layout = AnswerLayout::new(options);
    if let Some(time) = options.as_of {
        let files = thread_files_at(memory, thread, time)?;
        for (n, file) in files.iter().enumerate().skip(options.offset) {
            let Some(entity) = entity_at(memory, thread, file, time)? else { continue };
            if !push_entity(&mut layout, options, &entity, min_importance) {
                return Ok(layout.answer(Some(n), Some(files.len())));
            }
        }
        return Ok(layout.answer(None, Some(files.len())));
    }
    let mut n = options.offset;
    loop {
        let files = thread_page(memory, thread, BATCH_SIZE, n)?;
        if files.is_empty() {
            return Ok(layout.answer(None, None));
        }
        for file in &files {
            if let Some(mut entity) = read_entity(memory, file)? {
                resolve_typed_links(memory, thread, &mut entity)?;
                if !push_entity(&mut layout, options, &entity, min_importance) {
                    return Ok(layout.answer(Some(n), Some(thread_size(memory, thread)?)));
                }
            }
            n += 1;
        }
    }
}

/// Adds an entity of sufficient importance. Returns false if it does not fit.
fn push_entity(
    layout: &mut AnswerLayout<'_>,
    options: &ReadOptions,
    entity: &GraphEntity,
    min_importance: f64,
) -> bool {
    if layout.entities.len() >= options.limit {
        return false;
    }
    if entity.importance < min_importance {
        layout.hidden += usize::from(!entity.is_placeholder);
        return true;
    }
    let json =
        (!entity.is_placeholder).then(|| entity_json(entity, &options.thread, options.superseded));
    let important = entity.relations.iter().filter(|relation| {
        relation.importance.is_none_or(|importance| importance >= min_importance)
    });
    let relations =
        important.map(|relation| relation_json(relation, &entity.name, &options.thread)).collect();
    layout.add(json, relations)
}
