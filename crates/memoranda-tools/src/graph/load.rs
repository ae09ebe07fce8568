//! Reading entities: by name, by the page, as they are or as they were; and laying answers out.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::path::NotePath;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{EngineError, FileSummary, Memory, Place};
use serde_json::{Map, Value, json};

use super::entity::{EntityObservation, GraphEntity, SupersededDisplay};
use super::error::{GraphError, Result};
use super::observation_history;
use super::thread::{AnswerShape, GraphThread};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};

/// How many tokens an answer has if nothing was said.
const DEFAULT_TOKENS: u64 = 10_000;
const MAX_TOKENS: u64 = 24_000;

/// Which entities a question is about, and how much of the answer is wanted.
pub(super) struct ReadOptions {
    pub(super) thread: GraphThread,
    pub(super) as_of: Option<Timestamp>,
    pub(super) superseded: SupersededDisplay,
    pub(super) offset: usize,
    pub(super) limit: usize,
    pub(super) tokens: usize,
}

impl ReadOptions {
    /// The parameters that every reading tool takes.
    pub(super) const PARAMETERS: [&'static str; 6] =
        ["threadId", "includeSuperseded", "offset", "limit", "maxTokens", "as_of"];
    /// Those of tools that look at the present alone.
    pub(super) const PRESENT: &'static [&'static str] =
        &["threadId", "includeSuperseded", "offset", "limit", "maxTokens"];

    pub(super) fn read(args: &mut ToolArgs, call: &CallContext<'_>) -> Result<Self> {
        let thread = GraphThread::from_args_or_default(args, call.settings)?;
        args.rename(&[("as_of", &["asOf"]), ("includeSuperseded", &["include_superseded"])]);
        let number = |name, usual, least, most| {
            args.number(name, least, most).map(|n| n.unwrap_or(usual) as usize)
        };
        Ok(Self {
            as_of: time(args, "as_of")?
                .map(|time| observation_history::settle_as_of(call, &thread, time))
                .transpose()?,
            superseded: match args.flag("includeSuperseded")? {
                Some(true) => SupersededDisplay::Show,
                _ => SupersededDisplay::Hide,
            },
            offset: number("offset", 0, 0, 10_000_000)?,
            limit: number("limit", 1000, 1, 10_000)?,
            tokens: number("maxTokens", DEFAULT_TOKENS, 0, MAX_TOKENS)?,
            thread,
        })
    }
}

/// A time: a moment, or a day.
pub(super) fn time(args: &ToolArgs, name: &str) -> Result<Option<Timestamp>, ArgsError> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match parse_time(&text) {
        Some(time) => Ok(Some(time)),
        None => {
            let expected = "a time such as 2026-01-20T15:30:00Z";
            Err(args.wrong(name, expected, &Value::String(text)))
        }
    }
}

/// The last moment of a time: a day lasts until midnight.
pub(super) fn time_until(args: &ToolArgs, name: &str) -> Result<Option<Timestamp>, ArgsError> {
    const DAY: usize = "2026-01-20".len();
    let text = args.optional_text(name)?.filter(|text| text.trim().len() == DAY);
    let Some(day) = text.and_then(|text| text.trim().parse::<jiff::civil::Date>().ok()) else {
        return time(args, name);
    };
    let last = day.at(23, 59, 59, 999_000_000).to_zoned(jiff::tz::TimeZone::UTC);
    Ok(last.ok().map(|last| last.timestamp()))
}

/// The moment that a text names; a day begins at midnight, and without a zone it is UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let civil = || {
        let civil = text.parse::<jiff::civil::DateTime>().ok();
        let day = || text.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0));
        let utc = civil.or_else(day)?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(utc.timestamp())
    };
    text.parse().ok().or_else(civil)
}

/// Reads the note that a row of the index speaks of.
pub(super) fn entity(call: &CallContext<'_>, file: &FileSummary) -> Result<Option<GraphEntity>> {
    let Some(found) = call.memory.store().read(&file.project, &file.path)? else {
        return Ok(None);
    };
    let Ok(text) = String::from_utf8(found.bytes) else { return Ok(None) };
    let mut entity = GraphEntity::read(&file.path, &text);
    entity.times = Some((file.created, file.updated));
    with_versions(call, file, &mut entity)?;
    Ok(Some(entity))
}

/// Facts that a person reworded have higher versions than their comments say.
fn with_versions(
    call: &CallContext<'_>,
    file: &FileSummary,
    entity: &mut GraphEntity,
) -> Result<()> {
    let versions: HashMap<String, u32> = call
        .memory
        .store()
        .observations(file.id)?
        .into_iter()
        .map(|row| (row.id, row.version))
        .collect();
    let version_of = |fact: &EntityObservation| versions.get(fact.id.as_str()).copied();
    let place = Place { project: file.project.clone(), path: file.path.clone() };
    observation_history::fill_times(call.memory, &place, None, entity, version_of)
}

/// The entities of a name: one, or none; several if people gave their notes the same title.
pub(super) fn named(
    call: &CallContext<'_>,
    thread: &GraphThread,
    name: &str,
) -> Result<Vec<GraphEntity>> {
    let mut entities = Vec::new();
    for found in thread.folder_graph(call.memory).titled(name)? {
        let Some(file) = call.memory.store().file_by_id(found.id)? else { continue };
        entities.extend(entity(call, &file)?.filter(|entity| entity.name == name));
    }
    Ok(entities)
}

/// The entity of a name, which must be there.
pub(super) fn require_entity(
    call: &CallContext<'_>,
    thread: &GraphThread,
    name: &str,
) -> Result<GraphEntity> {
    match named(call, thread, name)?.into_iter().find(|entity| !entity.is_placeholder) {
        Some(entity) => Ok(entity),
        None => Err(unknown(call, thread, name)?),
    }
}

/// Says that there is no such entity, and which there are.
pub(super) fn unknown(
    call: &CallContext<'_>,
    thread: &GraphThread,
    name: &str,
) -> Result<GraphError> {
    let names = super::save::names(call, thread)?;
    let near = memoranda_core::fact::similar_names(name, names.iter().map(String::as_str), 3);
    let hint = match near.as_slice() {
        [] => "list_entities and search_nodes show what there is.".to_owned(),
        near => format!("Did you mean '{}'?", near.join("' or '")),
    };
    let hint = match thread.shape {
        // Whoever saved with a thread is likely to have forgotten it here.
        AnswerShape::Reference => format!("No threadId was given. {hint}"),
        AnswerShape::Thread => hint,
    };
    let thread = &thread.id;
    Ok(GraphError::Refused(format!(
        "Entity with name {name} not found in thread '{thread}'. {hint}"
    )))
}

/// Whether a file lies directly in the thread's folder and is a note.
pub(super) fn is_thread_note(thread: &GraphThread, path: &NotePath) -> bool {
    path.is_markdown() && path.parent() == Some(thread.folder.as_str())
}

/// Links that were typed by hand mean what the index says they mean, if it is in the thread.
pub(super) fn resolve_typed(
    memory: &Memory,
    thread: &GraphThread,
    entity: &mut GraphEntity,
) -> Result<(), EngineError> {
    if entity.has_typed() {
        entity.resolve(&memory.typed_links(&thread.place(entity.path.clone()))?);
    }
    Ok(())
}

/// Lays out entities and relations within the budget, and says how to go on.
pub(super) struct AnswerLayout<'w> {
    options: &'w ReadOptions,
    pub(super) entities: Vec<Value>,
    pub(super) relations: Vec<Value>,
    tokens: usize,
    /// How many relations there was no room for.
    omitted: usize,
    /// How many entities matter too little to be told.
    pub(super) hidden: usize,
    /// Whether there was no room for more.
    is_full: bool,
}

impl<'w> AnswerLayout<'w> {
    pub(super) fn new(options: &'w ReadOptions) -> Self {
        let (entities, relations) = (Vec::new(), Vec::new());
        Self { options, entities, relations, tokens: 0, omitted: 0, hidden: 0, is_full: false }
    }

    /// Adds an entity with its relations; `false` if it does not fit any more.
    pub(super) fn add(&mut self, entity: Option<Value>, mut relations: Vec<Value>) -> bool {
        let mut cost: usize = entity.iter().chain(&relations).map(|v| self.cost(v)).sum();
        cost = cost.max(1);
        let is_empty = self.entities.is_empty() && self.relations.is_empty();
        if self.tokens + cost > self.options.tokens {
            if !is_empty {
                self.is_full = true;
                return false;
            }
            // The first is told whatever it costs, but not with all that it is tied to.
            cost = entity.iter().map(|v| self.cost(v)).sum();
            let all = relations.len();
            relations.retain(|relation| {
                cost += self.cost(relation);
                cost <= self.options.tokens
            });
            self.omitted += all - relations.len();
        }
        self.tokens += cost;
        self.entities.extend(entity);
        self.relations.extend(relations);
        true
    }

    fn cost(&self, value: &Value) -> usize {
        match self.options.thread.shape {
            AnswerShape::Reference => {
                // Indented by four more within the whole.
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                estimate_tokens(&text) + text.lines().count()
            }
            AnswerShape::Thread => estimate_tokens(&value.to_string()) + 1,
        }
    }

    /// The answer. `next` is where to go on, if something was left out.
    pub(super) fn answer(self, next: Option<usize>, total: Option<usize>) -> ToolResult {
        let mut structured = json!({ "entities": self.entities, "relations": self.relations });
        let thread = &self.options.thread;
        if thread.shape == AnswerShape::Thread {
            structured["thread"] = json!(thread.id);
            structured["project"] = json!(thread.project.as_str());
        }
        if let Some(next) = next {
            structured["nextOffset"] = json!(next);
            let why = if self.is_full {
                format!("to stay within {} tokens", self.options.tokens)
            } else {
                format!("by limit {}", self.options.limit)
            };
            structured["truncated"] =
                json!(format!("More was left out {why}; call again with offset {next}."));
        }
        if self.omitted > 0 {
            let omitted = format!(
                "{} relations were left out to stay within {} tokens; raise maxTokens, or ask \
                 find_relation_path about a pair.",
                self.omitted, self.options.tokens
            );
            structured["relationsOmitted"] = json!(omitted);
        }
        if self.hidden > 0 {
            let s = if self.hidden == 1 { "y" } else { "ies" };
            structured["hidden"] = json!(format!(
                "Left out here: {} entit{s} of less importance than minImportance, archived ones \
                 among them. minImportance 0 shows all.",
                self.hidden
            ));
        }
        if let Some(total) = total.filter(|_| thread.shape == AnswerShape::Thread || next.is_some())
        {
            structured["total"] = json!(total);
        }
        answer(thread, structured)
    }
}

/// A result whose text is its structure: as the reference server prints it, or one line an item.
pub(super) fn answer(thread: &GraphThread, structured: Value) -> ToolResult {
    let text = match thread.shape {
        AnswerShape::Reference => serde_json::to_string_pretty(&structured).unwrap_or_default(),
        AnswerShape::Thread => lines(&structured),
    };
    ToolResult::ok(text, structured)
}

/// JSON with one line for each item of a list: it parses, and it reads.
pub(super) fn lines(value: &Value) -> String {
    let Value::Object(object) = value else { return value.to_string() };
    let parts: Vec<String> = object.iter().map(|(key, value)| line(key, value)).collect();
    format!("{{\n{}\n}}", parts.join(",\n"))
}

fn line(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 1 || items.iter().any(Value::is_object) => {
            let items: Vec<String> = items.iter().map(|item| format!("  {item}")).collect();
            format!("{}: [\n{}\n]", json!(key), items.join(",\n"))
        }
        other => format!("{}: {other}", json!(key)),
    }
}

/// The fields of an object, for parameters that are lists of objects.
pub(super) fn fields(what: &'static str, object: Map<String, Value>) -> Result<ToolArgs> {
    Ok(ToolArgs::new(what, Value::Object(object))?)
}
