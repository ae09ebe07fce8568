//! The knowledge graph: entities with versioned observations and relations.
//!
//! An entity is a note `<thread>/<entity>.md` in the project of the graph. Its title is the name of
//! the entity, its frontmatter contains the type. Observations have ids and versions in comments,
//! relations are links. Each thread is a graph of its own.

mod analytics;
mod as_of;
mod changes;
mod entity;
mod error;
mod export;
mod input;
mod maintenance;
mod observation_history;
mod observations;
mod query;
mod read;
mod save;
mod save_calls;
mod search;
mod thread;
mod transaction;

pub use analytics::{
    ConnectedEntity, EntityActivity, GraphAnalytics, GraphStatistics, ImportantEntity,
    MAX_NEIGHBOURS, OrphanReason, ThreadSummary, graph_analytics, graph_statistics, graph_threads,
    recently_changed,
};
pub use as_of::{GraphAt, entity_at, thread_files_at};
pub use changes::{
    CreatedEntities, CreatedRelations, DeletedEntities, DeletedItems, EntityDeletion,
    NamedRelation, create_entities, create_relations, delete_entities, delete_observations,
    delete_relations,
};
pub use entity::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, DEFAULT_RELATION_IMPORTANCE, EntityObservation,
    EntityRelation, GraphEntity, normalize_name,
};
pub use error::{GraphError, GraphResult};
pub use export::{ExportedEntity, ExportedRelation, export_graph};
pub use input::{EntityInput, ObservationInput, ObservationWeight, RelationInput};
pub use maintenance::{
    BulkUpdate, BulkUpdateReport, EntityConflicts, PruneReport, PruneRequest, bulk_update,
    find_conflicts, flag_for_review, flagged_entities, prune_entities, review_reasons,
};
pub use observation_history::{
    HistoryEntry, ObservationTimeline, observation_timeline, resolve_as_of,
};
pub use observations::{
    AddedObservations, ObservationAddition, add_observations, supersede_observation,
};
pub use query::{
    EntityFilter, EntityId, EntityName, FoundEntity, IncomingRelation, PathStep, RelationPath,
    entities_around, entity_names, filter_entities, incoming_relations, relation_path, thread_page,
    thread_size,
};
pub use read::{
    entities_named, entity_exists, read_entity, require_entity, resolve_typed_links, thread_names,
};
pub use save::{MergedEntity, SaveReport, SaveWarning, save_entities};
pub use save_calls::{SaveCallOutcome, SaveCalls, record_save_call, save_calls};
pub use search::{EntityMatches, EntitySearch, MatchLimit, search_entities};
pub use thread::{GraphThread, WeightPolicy};
