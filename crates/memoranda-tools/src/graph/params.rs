//! Parameters that several graph tools share.

use serde_json::json;

use crate::registry::{ItemTable, Param, ParamTable};
use crate::settings::ToolSettings;

/// Maximum number of entities or threads to pass over.
const MAX_OFFSET: u64 = 10_000_000;

/// Other names of `threadId`. Names that are given together must agree.
const THREAD_ALIASES: &[&str] = &["thread_id", "agentThreadId"];

/// Thread that a call should name.
pub(super) const THREAD: Param = Param::text("threadId", "Thread: the conversation or project")
    .min_chars(1)
    .aliases(THREAD_ALIASES)
    .aliases_agree();

/// Thread that a call may name.
pub(super) const OPTIONAL_THREAD: Param =
    Param::text("threadId", "Thread; without it 'default', in the reference server's shapes")
        .aliases(THREAD_ALIASES)
        .aliases_agree();

/// Thread of one item of a list, which must be the thread of the call.
pub(super) const ITEM_THREAD: Param = Param::text("agentThreadId", "Same as threadId");

pub(super) const ENTITY_NAME: Param = Param::text("entityName", "Entity");
pub(super) const CONFIDENCE: Param = share("confidence", "0-1");
pub(super) const IMPORTANCE: Param = share("importance", "0-1");
pub(super) const TIMESTAMP: Param = Param::text("timestamp", "ISO 8601");
const AS_OF: Param =
    Param::text("as_of", "Time (ISO 8601): the graph as it was then").aliases(&["asOf"]);

/// A number from 0 to 1.
pub(super) const fn share(name: &'static str, description: &'static str) -> Param {
    Param::decimal(name, 0.0, 1.0, description)
}

/// Number of items to pass over.
pub(super) const fn offset(description: &'static str) -> Param {
    Param::integer("offset", 0, MAX_OFFSET, description).default_integer(0)
}

/// Parameters of tools that read only the present.
pub(super) const PRESENT: &[Param] = &[
    OPTIONAL_THREAD,
    Param::flag("includeSuperseded", "Also facts that no longer hold")
        .aliases(&["include_superseded"]),
    offset("Entities to pass over"),
    Param::integer("limit", 1, 10_000, "Entities at the most").default_integer(1000),
    Param::integer("maxTokens", 0, 24_000, "Token budget of the answer (10000)")
        .default_integer(10_000),
];

/// Parameter of tools that read the past, too.
pub(super) const PAST: &[Param] = &[AS_OF];

/// A relation of the reference tools.
pub(super) const RELATION: ParamTable = ParamTable::new(&[&[
    Param::text("from", "Entity").required(),
    Param::text("to", "Entity").required(),
    Param::text("relationType", "What it says, in active voice")
        .required()
        .aliases(&["relation_type"]),
    CONFIDENCE,
    IMPORTANCE,
    TIMESTAMP,
    ITEM_THREAD,
    Param::text("type", "Kind of item in the reference server's file").hidden(),
]]);

/// An observation that is given as an object.
pub(super) const OBSERVATION: ParamTable = ParamTable::new(&[&[
    Param::text("content", "Text").required(),
    CONFIDENCE,
    IMPORTANCE,
    TIMESTAMP,
    ITEM_THREAD,
]])
.accept_unknown();

/// A relation of an entity of `save_memory`.
pub(super) const ENTITY_RELATION: ParamTable =
    ParamTable::new(&[&[
        Param::text("targetEntity", "Entity of this request or of the thread")
            .required()
            .aliases(&["target", "to", "target_entity"]),
        Param::text("relationType", "e.g. 'created by', 'contains', 'uses'")
            .max_chars(50)
            .required()
            .aliases(&["type", "relation_type"]),
        share("importance", "").default_decimal(0.7).show_default(),
    ]]);

/// An entity of `save_memory`.
pub(super) const ENTITY: ParamTable = ParamTable::new(&[&[
    Param::text("name", "Unique name within the thread")
        .min_chars(1)
        .max_chars(100)
        .required()
        .aliases(&["entityName"]),
    Param::text(
        "entityType",
        "Type, capitalised. Common: Person, Document, File, Code, Task, Knowledge; any other fits, \
         e.g. Patient, API, Recipe",
    )
    .min_chars(1)
    .max_chars(50)
    .required()
    .aliases(&["type", "entity_type"]),
    Param::schema("observations", observations_schema, "").required(),
    Param::items(
        "relations",
        &ItemTable::new("a relation", ENTITY_RELATION),
        "REQUIRED: every entity must have at least 1 relation to another (unless root)",
    )
    .required(),
    share("confidence", "").default_decimal(1.0).show_default(),
    share("importance", "").default_decimal(0.5).show_default(),
    Param::flag("root", "The root of a graph may do without relations: []"),
    TIMESTAMP.hidden(),
    ITEM_THREAD.hidden(),
]]);

/// Entities of `save_memory` and `validate_memory`.
pub(super) const ENTITIES: Param =
    Param::items("entities", &ItemTable::new("an entity", ENTITY), "Entities to save")
        .min_items(1)
        .required();

fn observations_schema(settings: &ToolSettings) -> serde_json::Value {
    let limits = settings.graph.limits;
    json!({
        "type": "array",
        "minItems": 1,
        "items": { "type": "string", "minLength": 5, "maxLength": limits.chars },
        "description": format!(
            "Atomic facts. Each ONE fact, max {} chars, {} sentences",
            limits.chars, limits.sentences
        ),
    })
}
