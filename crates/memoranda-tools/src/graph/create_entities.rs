//! `create_entities` of the reference server.

use memoranda_engine::graph::{EntityInput, ObservationInput, create_entities};
use serde_json::{Value, json};

use super::base::{ADD, BASE};
use super::error::{GraphToolResult, refused};
use super::input::{checked_weight, read_observations, required_name};
use super::output_schema::output;
use super::params::{CONFIDENCE, IMPORTANCE, ITEM_THREAD, OPTIONAL_THREAD, TIMESTAMP};
use super::read_options::time;
use super::render::{DEPRECATED, SupersededDisplay, entity_json, list_with_commit};
use super::secrets::screen_secrets;
use super::thread::CallThread;
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolAdvice, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "create_entities",
    advice: ToolAdvice::Deprecated,
    title: "Create entities (deprecated)",
    description: "Deprecated in favour of save_memory, which also ties entities together and checks quality. Creates entities; existing names are left as they are.",
    tier: ToolTier::Default,
    hints: ADD,
    output: || {
        output(&[
            ("entities", "array"),
            ("existing", "array"),
            ("notice", "string"),
            ("commit", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const ENTITY: ParamTable = ParamTable::new(&[&[
    Param::text("name", "Name").required(),
    Param::text("entityType", "Type").required().aliases(&["entity_type"]),
    Param::texts("observations", "Facts").required(),
    CONFIDENCE,
    IMPORTANCE,
    TIMESTAMP,
    ITEM_THREAD,
    Param::text("type", "Kind of item in the reference server's file").hidden(),
]]);

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::items("entities", &ItemTable::new("an entity of create_entities", ENTITY), "Entities")
        .required(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let items = args.required_items("entities", "a list of entities")?;
    let mut entities: Vec<EntityInput> = Vec::with_capacity(items.len());
    let mut warnings = Vec::new();
    for args in &items {
        args.reject_unknown()?;
        if let Some(problem) = thread.thread_mismatch(args) {
            return Err(refused(problem));
        }
        let mut observations = read_observations(args, "observations", Some(&thread)).all()?;
        observations.retain(|fact| !fact.content.is_empty());
        let name = required_name(args, "name")?;
        warnings.extend(screen_secrets(call, &name, &mut observations)?);
        let entity_type = required_name(args, "entityType")?;
        let (weight, time) = (checked_weight(args)?, time(args, "timestamp")?);
        match entities.iter_mut().find(|other| other.name == name) {
            Some(first) => {
                let is_known = |fact: &ObservationInput, known: &[ObservationInput]| {
                    known.iter().any(|other| other.content == fact.content)
                };
                observations.retain(|fact| !is_known(fact, &first.observations));
                warnings.push(format!(
                    "'{name}' was given twice: its observations were joined, as a {}.",
                    first.entity_type
                ));
                first.observations.extend(observations);
            }
            None => entities.push(EntityInput {
                name,
                entity_type,
                observations,
                weight,
                time,
                ..Default::default()
            }),
        }
    }
    let result = create_entities(call.memory, &call.who, &thread, &entities)?;
    let created = result.created.iter();
    let created: Vec<Value> =
        created.map(|entity| entity_json(entity, &thread, SupersededDisplay::Hide)).collect();
    let mut structured = json!({ "entities": created, "notice": DEPRECATED });
    if !result.existing.is_empty() {
        structured["existing"] = json!(result.existing);
    }
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(list_with_commit(&thread, "entities", structured, result.commit.as_ref()))
}
