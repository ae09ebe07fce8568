//! Keeping records: adding and changing them.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::note::{self, MetaValue};
use memoranda_engine::{Memory, Place, ReviseOutcome, Step, Who, clock};
use serde_json::{Map, Value, json};

use super::error::{RecordError, Result};
use super::expiry::{ExpiryError, RecordExpiry};
use super::kind::RecordKind;
use super::layer::MemoryLayer;
use super::record::{
    MemoryRecord, NewRecord, metadata_value, place, project, remove_key, set_key, single_line,
    texts, title_of,
};
use super::scope::{self, RecordScope};
use super::secrets::SecretScreen;
use super::{glob, query};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// The longest text of a record.
pub(super) const MAX_CONTENT_CHARS: usize = 100_000;

/// A record that was made.
#[derive(Clone, Debug)]
pub struct AddedRecord {
    /// Its id.
    pub id: String,
    /// Its file.
    pub place: Place,
}

/// Adds records, all in one commit; their ids and files in the order given.
pub fn add_records(
    memory: &Memory,
    who: &Who,
    records: &[NewRecord],
    message: Option<&str>,
) -> Result<(Vec<AddedRecord>, Option<Commit>)> {
    memory.create_project(project().as_str())?;
    let now = clock::now();
    let mut steps = Vec::with_capacity(records.len());
    let mut added = Vec::with_capacity(records.len());
    let mut replaced: Vec<(Place, String)> = Vec::new();
    for record in records {
        if record.content.trim().is_empty() {
            return Err(RecordError::new("`content` is empty: there is nothing to remember."));
        }
        let id = clock::new_name();
        let place = place(&format!(
            "{}/{id}.md",
            query::kind_folder(&record.scope, record.kind.as_str())?
        ))?;
        for old in &record.supersedes {
            let old = query::find_record(memory, old)?;
            if !record.scope.covers(&old.scope) {
                return Err(RecordError::new(format!(
                    "{} is a memory of another scope ({}): it would vanish where the new one \
                     ({}) is not seen. Store the new one in that scope, or leave out `supersedes`; \
                     then both are shown in the project, its own first. Nothing was stored.",
                    old.id,
                    old.scope.describe(),
                    record.scope.describe(),
                )));
            }
            replaced.push((old.place, id.clone()));
        }
        steps.push(Step::create(place.clone(), record.file(now)?));
        added.push(AddedRecord { id, place });
    }
    let outcome = memory.revise(who, message, |desk| -> Result<Vec<Step>> {
        let mut all = steps.clone();
        for (old, by) in &replaced {
            if let Some((text, _)) = desk.text(old)? {
                let text = set_key(&text, "superseded_by", MetaValue::Text(by.clone()))?;
                all.push(Step::put(old.clone(), text));
            }
        }
        Ok(all)
    })?;
    match outcome {
        ReviseOutcome::Committed(commit) => Ok((added, Some(commit))),
        ReviseOutcome::Unchanged => Ok((added, None)),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("A new id was taken already; nothing was stored. Try again."))
        }
    }
}

/// `add_memory`.
pub(super) fn add(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let content =
        content(args, "content")?.ok_or_else(|| args.missing("content", "the text to remember"))?;
    let layer = MemoryLayer::read(args)?;
    let usual = if layer == Some(MemoryLayer::Rule) { RecordKind::Rule } else { RecordKind::Note };
    let mut record =
        NewRecord::new(kind(args, "type")?.unwrap_or(usual), scope::target(call, args)?, content);
    record.tags = tags(args)?.unwrap_or_default();
    record.paths = paths(args)?.unwrap_or_default();
    record.category = category(args)?;
    record.metadata = args.object("metadata")?;
    let of_layer = layer.and_then(|layer| layer.expiry(clock::now())).map(RecordExpiry::from);
    record.expires = expiry(call, args)?.or(of_layer);
    record.supersedes = args.texts("supersedes")?.unwrap_or_default();
    let mut screen = SecretScreen::new(call);
    screen.record(&mut record);
    stored(call, &record, screen.finish()?.as_deref())
}

/// Stores one record and says so.
fn stored(call: &CallContext<'_>, record: &NewRecord, warning: Option<&str>) -> Result<ToolResult> {
    let (added, commit) = add_records(call.memory, &call.who, std::slice::from_ref(record), None)?;
    let Some(AddedRecord { id, place }) = added.into_iter().next() else {
        return Err(RecordError::new("Nothing was stored."));
    };
    let commit = commit.map(|commit| commit.id.to_string()).unwrap_or_default();
    let (kind, said) = (record.kind, record.scope.describe());
    let mut text = format!(
        "Stored {} ({said}): {}\n{} ({}) {id} · {place} · commit {commit}",
        kind.as_str(),
        single_line(&record.content, 80),
        kind.label(),
        record.scope.marker(),
    );
    for old in &record.supersedes {
        text.push_str(&format!("\n{old} is superseded and no longer shown."));
    }
    if let Some(warning) = warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "id": id,
        "type": kind.as_str(),
        "scope": record.scope.name(),
        "path": place.to_string(),
        "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// What an edit changes; `Some(None)` clears.
#[derive(Default)]
struct RecordChanges {
    content: Option<String>,
    kind: Option<RecordKind>,
    tags: Option<Vec<String>>,
    paths: Option<Vec<String>>,
    category: Option<Option<String>>,
    metadata: Option<Option<Map<String, Value>>>,
    expires: Option<Option<RecordExpiry>>,
}

impl RecordChanges {
    fn read(call: &CallContext<'_>, args: &ToolArgs) -> Result<Self> {
        let given = |name: &str| args.has(name);
        let changes = Self {
            content: content(args, "content")?,
            kind: kind(args, "type")?,
            tags: tags(args)?,
            paths: paths(args)?,
            category: given("category").then(|| category(args)).transpose()?,
            metadata: given("metadata").then(|| args.object("metadata")).transpose()?,
            expires: given("expires").then(|| expiry(call, args)).transpose()?,
        };
        let is_empty = changes.content.is_none()
            && changes.kind.is_none()
            && changes.tags.is_none()
            && changes.paths.is_none()
            && changes.category.is_none()
            && changes.metadata.is_none()
            && changes.expires.is_none();
        if is_empty {
            return Err(RecordError::new(
                "Nothing to update. Provide at least one of: content, type, tags, paths, \
                 category, metadata, expires.",
            ));
        }
        Ok(changes)
    }

    fn screen(&mut self, screen: &mut SecretScreen) {
        self.content.iter_mut().for_each(|content| screen.text(content));
        self.tags.iter_mut().for_each(|tags| screen.texts(tags));
        self.category.iter_mut().flatten().for_each(|category| screen.text(category));
        self.metadata.iter_mut().flatten().for_each(|metadata| screen.object(metadata));
    }

    /// The text of the file with the changes made.
    fn apply(&self, text: &str, now: Timestamp) -> Result<String> {
        let mut text = text.to_owned();
        // What says itself when it last changed must go on saying the truth.
        if note::parse(&text).frontmatter.get("modified").is_some() {
            text = set_key(&text, "modified", MetaValue::Text(now.to_string()))?;
        }
        if let Some(content) = &self.content {
            let note = note::parse(&text);
            let old = text.get(note.body.clone()).unwrap_or_default();
            let follows = note.title().is_some_and(|title| title == title_of(old));
            let head = text.get(..note.body.start).unwrap_or_default();
            let gap = if head.is_empty() { "" } else { "\n" };
            // The lines of the file end as they did before.
            let mut body = format!("{gap}{}\n", content.trim());
            if text.contains("\r\n") {
                body = body.replace("\r\n", "\n").replace('\n', "\r\n");
            }
            text = format!("{head}{body}");
            if follows {
                text = set_key(&text, "title", MetaValue::Text(title_of(content)))?;
            }
        }
        if let Some(kind) = self.kind {
            text = set_key(&text, "type", MetaValue::Text(kind.as_str().to_owned()))?;
        }
        for (key, list) in [("tags", &self.tags), ("paths", &self.paths)] {
            text = match list {
                None => text,
                Some(list) if list.is_empty() => remove_key(&text, key)?,
                Some(list) => set_key(&text, key, texts(list))?,
            };
        }
        text = change_key(text, "category", self.category.as_ref(), |category| {
            MetaValue::Text(category.clone())
        })?;
        text = change_key(text, "metadata", self.metadata.as_ref(), metadata_value)?;
        change_key(text, "expires", self.expires.as_ref(), |expires: &RecordExpiry| {
            MetaValue::Text(expires.to_stored_text())
        })
    }
}

fn change_key<T>(
    text: String,
    key: &str,
    change: Option<&Option<T>>,
    value: impl Fn(&T) -> MetaValue,
) -> Result<String> {
    match change {
        None => Ok(text),
        Some(None) => remove_key(&text, key),
        Some(Some(new)) => set_key(&text, key, value(new)),
    }
}

/// `edit_memory`.
pub(super) fn edit(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("id")?;
    let mut changes = RecordChanges::read(call, args)?;
    let mut screen = SecretScreen::new(call);
    changes.screen(&mut screen);
    let warning = screen.finish()?;
    let record = query::find_record(call.memory, &id)?;
    let (from, to) = (record.place.clone(), new_place(&record, changes.kind)?);
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let Some((text, _)) = desk.text(&from)? else {
            return Err(RecordError::new(format!("Memory {id} not found or already deleted.")));
        };
        let text = changes.apply(&text, clock::now())?;
        if from == to {
            return Ok(vec![Step::put(from.clone(), text)]);
        }
        if desk.bytes(&to)?.is_some() {
            return Err(RecordError::new(format!(
                "Memory {id} cannot become {to}: another memory is there. Forget one of them, or \
                 add this one anew."
            )));
        }
        Ok(vec![Step::move_from(to.clone(), from.path.clone(), text)])
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            return Err(RecordError::new(format!("Memory {id} was changed meanwhile. Try again.")));
        }
    };
    let now = query::record_at(call.memory, &to)?.unwrap_or(record);
    let done = match &commit {
        Some(commit) => format!("commit {commit}"),
        None => "nothing changed: it was so already".to_owned(),
    };
    let mut text = format!(
        "Updated {} {}: {}\n{} ({}) · {done}",
        now.kind.label(),
        now.id,
        single_line(&now.content, 200),
        now.place,
        now.scope.describe(),
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let mut structured = now.to_json();
    structured["path"] = json!(now.place.to_string());
    structured["commit"] = json!(commit);
    structured["warning"] = json!(warning);
    Ok(ToolResult::ok(text, structured))
}

fn new_place(record: &MemoryRecord, kind: Option<RecordKind>) -> Result<Place> {
    match kind.filter(|kind| *kind != record.kind) {
        None => Ok(record.place.clone()),
        Some(kind) => {
            let folder = query::kind_folder(&record.scope, kind.as_str())?;
            place(&format!("{folder}/{}", record.place.path.file_name()))
        }
    }
}

fn content(args: &ToolArgs, name: &str) -> Result<Option<String>> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err(RecordError::new(format!("`{name}` is empty: there is nothing to remember.")));
    }
    if chars > MAX_CONTENT_CHARS {
        return Err(RecordError::new(format!(
            "`{name}` has {chars} characters; {MAX_CONTENT_CHARS} are the most. Split it, or keep \
             a summary."
        )));
    }
    Ok(Some(text))
}

pub(super) fn kind(args: &ToolArgs, name: &str) -> Result<Option<RecordKind>> {
    Ok(args.choice(name, &RecordKind::NAMES)?.as_deref().and_then(RecordKind::parse))
}

pub(super) fn kinds(args: &ToolArgs, name: &str) -> Result<Option<Vec<RecordKind>>> {
    let Some(names) = args.texts(name)? else { return Ok(None) };
    let mut kinds = Vec::with_capacity(names.len());
    for name_given in names {
        let lower = name_given.trim().to_lowercase();
        kinds.push(RecordKind::parse(&lower).ok_or_else(|| {
            let expected = format!("a list of {}", RecordKind::NAMES.join(", "));
            args.wrong(name, &expected, &Value::String(name_given.clone()))
        })?);
    }
    Ok(Some(kinds))
}

pub(super) fn tags(args: &ToolArgs) -> Result<Option<Vec<String>>> {
    let plain = |tag: String| tag.trim().trim_start_matches('#').to_owned();
    let tags = args.texts("tags")?.map(|tags| tags.into_iter().map(plain).collect::<Vec<_>>());
    Ok(tags.map(|mut tags| {
        tags.retain(|tag| !tag.is_empty());
        tags
    }))
}

fn paths(args: &ToolArgs) -> Result<Option<Vec<String>>> {
    let paths = args.texts("paths")?;
    for path in paths.iter().flatten() {
        if let Err(reason) = glob::check(path) {
            return Err(RecordError::new(format!(
                "`paths` has {path:?}, which is no glob pattern: {reason}. Patterns are like \
                 \"src/api/**\" or \"*.ts\"."
            )));
        }
    }
    Ok(paths)
}

fn category(args: &ToolArgs) -> Result<Option<String>> {
    let category = args.optional_text("category")?.map(|category| category.trim().to_owned());
    Ok(category.filter(|category| !category.is_empty()))
}

/// When a record stops being true: a day, a time, or a span from now such as `7d`.
fn expiry(call: &CallContext<'_>, args: &ToolArgs) -> Result<Option<RecordExpiry>> {
    let Some(text) = args.optional_text("expires")?.filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    let now = call.settings.records.now();
    match RecordExpiry::parse_input(&text, &now) {
        Ok(expiry) => Ok(Some(expiry)),
        Err(ExpiryError::Past) => Err(RecordError::new(format!(
            "`expires` is {text:?}, which is over: the memory would be hidden at once. Give a time \
             that lies ahead; forget_memory removes a memory."
        ))),
        Err(ExpiryError::NoTime) => {
            let expected = "a day (2026-12-31, tomorrow), a time, or a span from now (7d, 12h)";
            Err(args.wrong("expires", expected, &Value::String(text)).into())
        }
    }
}

/// Makes a record out of something collected, for `finalize_memory_stream`.
pub(super) fn create_step(record: &NewRecord, now: Timestamp) -> Result<(String, Step)> {
    let id = clock::new_name();
    let folder = query::kind_folder(&record.scope, record.kind.as_str())?;
    let place = place(&format!("{folder}/{id}.md"))?;
    Ok((id, Step::create(place, record.file(now)?)))
}

/// Says which scope is global, for those who ask.
pub(super) fn is_global(scope: &RecordScope) -> bool {
    *scope == RecordScope::Global
}
