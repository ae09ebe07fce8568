//! Whole graphs in and out, in the reference server's terms: for importing its files and writing
//! them.

use memoranda_core::note::NewRelation;
use memoranda_engine::{EngineError, Memory, Who};

use super::bench::{Bench, Kind, NewEntity, Weight};
use super::entity::Entity;
use super::error::GraphError;
use super::thread::{DEFAULT, Shape, Thread};
use crate::settings::Settings;

/// An entity in the reference server's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphEntity {
    /// Its name.
    pub name: String,
    /// Its type.
    pub entity_type: String,
    /// Its facts.
    pub observations: Vec<String>,
}

/// A relation in the reference server's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphRelation {
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// What it says.
    pub relation_type: String,
}

/// What an import came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GraphImport {
    /// Entities that are new.
    pub entities: usize,
    /// Facts that are new.
    pub observations: usize,
    /// Relations that are new.
    pub relations: usize,
    /// Entities that were there, into which facts were merged.
    pub merged: usize,
}

/// So many entities go into one commit.
const AT_ONCE: usize = 500;

/// Takes a graph into a thread (`None` for the reference's own): what is there already stays and is
/// merged with; doing it twice adds nothing.
pub fn import_graph(
    memory: &Memory,
    who: &Who,
    settings: &Settings,
    thread: Option<&str>,
    entities: &[GraphEntity],
    relations: &[GraphRelation],
) -> Result<GraphImport, EngineError> {
    let thread = thread_of(thread, settings)?;
    let mut total = GraphImport::default();
    for part in entities.chunks(AT_ONCE) {
        let mut done = GraphImport::default();
        memory
            .revise(who, Some("import a graph"), |desk| {
                let mut bench = Bench::new(desk, &thread);
                done = GraphImport::default();
                for entity in part {
                    import_entity(&mut bench, entity, &mut done)?;
                }
                Ok::<_, GraphError>(bench.steps())
            })
            .map_err(engine_error)?;
        total.entities += done.entities;
        total.observations += done.observations;
        total.merged += done.merged;
    }
    for part in relations.chunks(AT_ONCE) {
        let mut done = 0;
        memory
            .revise(who, Some("import a graph"), |desk| {
                let mut bench = Bench::new(desk, &thread);
                done = 0;
                for relation in part {
                    done += usize::from(import_relation(&mut bench, relation)?);
                }
                Ok::<_, GraphError>(bench.steps())
            })
            .map_err(engine_error)?;
        total.relations += done;
    }
    Ok(total)
}

fn import_entity(
    bench: &mut Bench<'_, '_>,
    entity: &GraphEntity,
    done: &mut GraphImport,
) -> Result<(), GraphError> {
    let name = entity.name.trim();
    let entity_type = match entity.entity_type.trim() {
        "" => "Unknown",
        entity_type => entity_type,
    };
    let mut facts: Vec<String> = Vec::with_capacity(entity.observations.len());
    for fact in entity.observations.iter().map(|fact| fact.trim()) {
        if !fact.is_empty() && !facts.iter().any(|other| other == fact) {
            facts.push(fact.to_owned());
        }
    }
    if name.is_empty() {
        return Ok(());
    }
    if !bench.open(name)? {
        done.entities += 1;
        done.observations += facts.len();
        bench.create(&NewEntity {
            name,
            entity_type,
            facts: &facts,
            relations: Vec::new(),
            weight: Weight::default(),
            time: None,
            kind: Kind::Described,
        })?;
        return Ok(());
    }
    let Some(found) = bench.entity(name) else { return Ok(()) };
    if found.is_placeholder {
        super::save::describe(bench, name, entity_type)?;
        done.entities += 1;
    } else {
        done.merged += 1;
    }
    for fact in &facts {
        if found.current().all(|known| known.content != *fact) {
            bench.add_fact(name, fact, Weight::default(), None)?;
            done.observations += 1;
        }
    }
    Ok(())
}

fn import_relation(
    bench: &mut Bench<'_, '_>,
    relation: &GraphRelation,
) -> Result<bool, GraphError> {
    let (from, to) = (relation.from.trim(), relation.to.trim());
    let relation_type = relation.relation_type.trim();
    if from.is_empty() || to.is_empty() || relation_type.is_empty() {
        return Ok(false);
    }
    if !bench.open(from)? {
        bench.create(&NewEntity {
            name: from,
            entity_type: "Unknown",
            facts: &[],
            relations: Vec::new(),
            weight: Weight::default(),
            time: None,
            kind: Kind::Placeholder,
        })?;
    }
    bench.relate(
        from,
        NewRelation {
            relation_type: relation_type.to_owned(),
            target: to.to_owned(),
            time: Some(bench.now),
            confidence: None,
            importance: None,
        },
    )
}

/// A whole thread (`None` for the reference's own) in the reference server's terms.
pub fn export_graph(
    memory: &Memory,
    settings: &Settings,
    thread: Option<&str>,
) -> Result<(Vec<GraphEntity>, Vec<GraphRelation>), EngineError> {
    let thread = thread_of(thread, settings)?;
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    let filter = memoranda_engine::ListFilter {
        project: Some(thread.project.clone()),
        folder: memoranda_core::path::NotePath::parse(&thread.folder).ok(),
        ..Default::default()
    };
    let order = memoranda_engine::ListOrder::Path;
    for file in memory.store().list(&filter, order, usize::MAX, 0)? {
        if !super::load::is_own(&thread, &file.path) {
            continue;
        }
        let Some(found) = memory.store().read(&file.project, &file.path)? else { continue };
        let Ok(text) = String::from_utf8(found.bytes) else { continue };
        let entity = Entity::read(&file.path, &text);
        let from = &entity.name;
        relations.extend(entity.relations.iter().map(|relation| GraphRelation {
            from: from.clone(),
            to: relation.target.clone(),
            relation_type: relation.relation_type.clone(),
        }));
        if !entity.is_placeholder {
            entities.push(GraphEntity {
                observations: entity.current().map(|fact| fact.content.clone()).collect(),
                entity_type: entity.entity_type,
                name: entity.name,
            });
        }
    }
    Ok((entities, relations))
}

fn thread_of(id: Option<&str>, settings: &Settings) -> Result<Thread, EngineError> {
    let id = id.unwrap_or(DEFAULT);
    Thread::new(id, settings, Shape::Reference)
        .ok_or_else(|| EngineError::Invalid(format!("{id:?} cannot name a thread")))
}

fn engine_error(error: GraphError) -> EngineError {
    match error {
        GraphError::Engine(error) => error,
        other => EngineError::Invalid(other.to_string()),
    }
}
