//! Keeping records: adding and changing them.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::note::{self, MetaValue};
use memoranda_core::screen;
use memoranda_core::timeframe::parse_timeframe;
use memoranda_engine::{Memory, Place, ReviseOutcome, Step, Who, clock};
use serde_json::{Map, Value, json};

use super::kind::RecordKind;
use super::record::{
    NewRecord, Record, metadata_value, one_line, place, project, remove_key, set_key, texts,
    title_of,
};
use super::refusal::{RecordError, Result};
use super::scope::{self, Scope};
use super::{glob, shelf};
use crate::args::Args;
use crate::settings::SecretPolicy;
use crate::tool::{Call, ToolResult};

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
        let place =
            place(&format!("{}/{id}.md", shelf::folder(&record.scope, record.kind.as_str())?))?;
        for old in &record.supersedes {
            replaced.push((shelf::find(memory, old)?.place, id.clone()));
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
pub(super) fn add(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let content =
        content(args, "content")?.ok_or_else(|| args.missing("content", "the text to remember"))?;
    let mut record = NewRecord::new(
        kind(args, "type")?.unwrap_or(RecordKind::Note),
        scope::target(call, args)?,
        content,
    );
    record.tags = tags(args)?.unwrap_or_default();
    record.paths = paths(args)?.unwrap_or_default();
    record.category = category(args)?;
    record.metadata = args.object("metadata")?;
    record.expires = expiry(call, args)?;
    record.supersedes = args.texts("supersedes")?.unwrap_or_default();
    let warning = screened(call, &mut record.content)?;
    stored(call, &record, warning.as_deref())
}

/// Stores one record and says so.
fn stored(call: &Call<'_>, record: &NewRecord, warning: Option<&str>) -> Result<ToolResult> {
    let (added, commit) = add_records(call.memory, &call.who, std::slice::from_ref(record), None)?;
    let Some(AddedRecord { id, place }) = added.into_iter().next() else {
        return Err(RecordError::new("Nothing was stored."));
    };
    let commit = commit.map(|commit| commit.id.to_string()).unwrap_or_default();
    let (kind, said) = (record.kind, record.scope.said());
    let mut text = format!(
        "Stored {} ({said}): {}\n{} ({}) {id} · {place} · commit {commit}",
        kind.as_str(),
        one_line(&record.content, 80),
        kind.label(),
        record.scope.mark(),
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
struct Changes {
    content: Option<String>,
    kind: Option<RecordKind>,
    tags: Option<Vec<String>>,
    paths: Option<Vec<String>>,
    category: Option<Option<String>>,
    metadata: Option<Option<Map<String, Value>>>,
    expires: Option<Option<Timestamp>>,
}

impl Changes {
    fn read(call: &Call<'_>, args: &Args) -> Result<Self> {
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

    /// The text of the file with the changes made.
    fn apply(&self, text: &str) -> Result<String> {
        let mut text = text.to_owned();
        if let Some(content) = &self.content {
            let note = note::parse(&text);
            let old = text.get(note.body.clone()).unwrap_or_default();
            let follows = note.title().is_some_and(|title| title == title_of(old));
            let head = text.get(..note.body.start).unwrap_or_default();
            let gap = if head.is_empty() { "" } else { "\n" };
            text = format!("{head}{gap}{}\n", content.trim());
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
        change_key(text, "expires", self.expires.as_ref(), |expires: &Timestamp| {
            MetaValue::Text(expires.to_string())
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
pub(super) fn edit(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let id = args.text("id")?;
    let mut changes = Changes::read(call, args)?;
    let warning = match &mut changes.content {
        Some(content) => screened(call, content)?,
        None => None,
    };
    let record = shelf::find(call.memory, &id)?;
    let (from, to) = (record.place.clone(), new_place(&record, changes.kind)?);
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let Some((text, _)) = desk.text(&from)? else {
            return Err(RecordError::new(format!("Memory {id} not found or already deleted.")));
        };
        let text = changes.apply(&text)?;
        Ok(vec![if from == to {
            Step::put(from.clone(), text)
        } else {
            Step::move_from(to.clone(), from.path.clone(), text)
        }])
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            return Err(RecordError::new(format!("Memory {id} was changed meanwhile. Try again.")));
        }
    };
    let now = shelf::find(call.memory, &record.id)?;
    let done = match &commit {
        Some(commit) => format!("commit {commit}"),
        None => "nothing changed: it was so already".to_owned(),
    };
    let mut text = format!(
        "Updated {} {}: {}\n{} ({}) · {done}",
        now.kind.label(),
        now.id,
        one_line(&now.content, 200),
        now.place,
        now.scope.said(),
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let mut structured = now.wire();
    structured["path"] = json!(now.place.to_string());
    structured["commit"] = json!(commit);
    structured["warning"] = json!(warning);
    Ok(ToolResult::ok(text, structured))
}

fn new_place(record: &Record, kind: Option<RecordKind>) -> Result<Place> {
    match kind.filter(|kind| *kind != record.kind) {
        None => Ok(record.place.clone()),
        Some(kind) => {
            let folder = shelf::folder(&record.scope, kind.as_str())?;
            place(&format!("{folder}/{}", record.place.path.file_name()))
        }
    }
}

fn content(args: &Args, name: &str) -> Result<Option<String>> {
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

pub(super) fn kind(args: &Args, name: &str) -> Result<Option<RecordKind>> {
    Ok(args.choice(name, &RecordKind::NAMES)?.as_deref().and_then(RecordKind::parse))
}

pub(super) fn kinds(args: &Args, name: &str) -> Result<Option<Vec<RecordKind>>> {
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

pub(super) fn tags(args: &Args) -> Result<Option<Vec<String>>> {
    let plain = |tag: String| tag.trim().trim_start_matches('#').to_owned();
    let tags = args.texts("tags")?.map(|tags| tags.into_iter().map(plain).collect::<Vec<_>>());
    Ok(tags.map(|mut tags| {
        tags.retain(|tag| !tag.is_empty());
        tags
    }))
}

fn paths(args: &Args) -> Result<Option<Vec<String>>> {
    let paths = args.texts("paths")?;
    for path in paths.iter().flatten() {
        if let Err(error) = glob::pattern(path) {
            let reason = error.kind();
            return Err(RecordError::new(format!(
                "`paths` has {path:?}, which is no glob pattern: {reason}. Patterns are like \
                 \"src/api/**\" or \"*.ts\"."
            )));
        }
    }
    Ok(paths)
}

fn category(args: &Args) -> Result<Option<String>> {
    let category = args.optional_text("category")?.map(|category| category.trim().to_owned());
    Ok(category.filter(|category| !category.is_empty()))
}

/// When a record stops being true: a date, a time, or a span from now such as `7d`.
fn expiry(call: &Call<'_>, args: &Args) -> Result<Option<Timestamp>> {
    let Some(text) = args.optional_text("expires")?.filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    let now = clock::now();
    if let Some(moment) = super::record::moment(&text) {
        return Ok(Some(moment));
    }
    // A span is understood as one back from now; here it lies ahead.
    let zoned = now.to_zoned(call.settings.records.zone.clone());
    let back = parse_timeframe(&text, &zoned).ok().filter(|back| *back < now);
    let ahead = back.and_then(|back| now.checked_add(now.duration_since(back)).ok());
    match ahead {
        Some(ahead) => Ok(Some(ahead)),
        None => {
            let expected = "a date (2026-12-31), a time, or a span from now (7d, 12h)";
            Err(args.wrong("expires", expected, &Value::String(text)).into())
        }
    }
}

/// Looks for secrets in what is to be kept, and does with them what the person wants.
pub(super) fn screened(call: &Call<'_>, text: &mut String) -> Result<Option<String>> {
    let secrets = screen::secrets(text);
    if secrets.is_empty() {
        return Ok(None);
    }
    let mut kinds: Vec<&str> = secrets.iter().map(|secret| secret.kind).collect();
    kinds.dedup();
    let kinds = kinds.join(", ");
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(RecordError::new(format!(
            "This holds what looks like a secret ({kinds}); nothing was stored. Leave it out."
        ))),
        SecretPolicy::Redact => {
            *text = screen::redact(text);
            Ok(Some(format!("Replaced what looked like a secret: {kinds}.")))
        }
        SecretPolicy::Warn => Ok(Some(format!(
            "This looks like a secret: {kinds}. It was stored; forget it if it should not be kept."
        ))),
    }
}

/// Makes a record out of something collected, for `finalize_memory_stream`.
pub(super) fn steps_for(record: &NewRecord, now: Timestamp) -> Result<(String, Step)> {
    let id = clock::new_name();
    let folder = shelf::folder(&record.scope, record.kind.as_str())?;
    let place = place(&format!("{folder}/{id}.md"))?;
    Ok((id, Step::create(place, record.file(now)?)))
}

/// Says which scope is global, for those who ask.
pub(super) fn is_global(scope: &Scope) -> bool {
    *scope == Scope::Global
}
