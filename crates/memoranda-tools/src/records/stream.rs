//! Streams: a memory that arrives in pieces. Each piece is a file from the moment it is
//! acknowledged, so that an unfinished stream survives the process and is nobody's in particular.
//!
//! `.streams/<id>/stream.md` says what will become of it and how much there is; the pieces lie
//! beside it. The folder is hidden: what is unfinished is not searched.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::note::{self, MetaValue};
use memoranda_core::path::NotePath;
use memoranda_engine::{Desk, Memory, Place, ReviseOutcome, Step, clock};
use serde_json::json;

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::record::{NewRecord, place, project, set_key, texts};
use super::scope::{self, RecordScope, VisibleScopes};
use super::secrets::SecretScreen;
use super::write;
use crate::registry::{CallContext, ToolArgs, ToolResult};

const FOLDER: &str = ".streams";
/// How many streams may be unfinished at a time.
const MAX_OPEN_STREAMS: usize = 50;
/// How many pieces one may have.
const MAX_CHUNKS: usize = 10_000;
/// How long one is kept after its last piece.
const STREAM_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// A stream that is not finished.
#[derive(Clone, Debug)]
pub(super) struct OpenStream {
    id: String,
    kind: RecordKind,
    scope: RecordScope,
    tags: Vec<String>,
    chunks: usize,
    chars: usize,
    /// When the last piece came.
    touched: Timestamp,
}

impl OpenStream {
    /// What a stream's own file says.
    fn read(id: &str, text: &str) -> Self {
        let note = note::parse(text);
        let front = &note.frontmatter;
        let number = |key: &str| front.text(key).and_then(|n| n.parse().ok()).unwrap_or(0);
        Self {
            id: id.to_owned(),
            kind: front
                .text("kind")
                .and_then(|k| RecordKind::parse(&k))
                .unwrap_or(RecordKind::Note),
            scope: front
                .text("project")
                .and_then(|name| RecordScope::project(&name))
                .unwrap_or(RecordScope::Global),
            tags: front.texts("tags"),
            chunks: number("chunks"),
            chars: number("chars"),
            touched: front.text("touched").and_then(|t| t.parse().ok()).unwrap_or_default(),
        }
    }

    fn to_file_text(&self) -> Result<String> {
        let mut text = String::from("\nA memory that is still arriving.\n");
        let mut set = |key: &str, value: MetaValue| -> Result<()> {
            text = set_key(&text, key, value)?;
            Ok(())
        };
        set("type", MetaValue::Text("stream".into()))?;
        set("kind", MetaValue::Text(self.kind.as_str().to_owned()))?;
        if !write::is_global(&self.scope) {
            set("project", MetaValue::Text(self.scope.name().to_owned()))?;
        }
        if !self.tags.is_empty() {
            set("tags", texts(&self.tags))?;
        }
        set("chunks", MetaValue::Text(self.chunks.to_string()))?;
        set("chars", MetaValue::Text(self.chars.to_string()))?;
        set("touched", MetaValue::Text(self.touched.to_string()))?;
        Ok(text)
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now.duration_since(self.touched) > STREAM_LIFETIME
    }

    /// `stream_abc (2 chunks, 27 chars)`.
    pub(super) fn describe(&self) -> String {
        format!("{} ({})", self.id, chunk_summary(self.chunks, self.chars))
    }
}

/// The streams that are not finished, of what a caller can see.
pub(super) fn visible_open_streams(
    memory: &Memory,
    reach: &VisibleScopes,
) -> Result<Vec<OpenStream>> {
    let mut open = all_streams(memory)?;
    let now = clock::now();
    open.retain(|stream| !stream.is_expired(now) && reach.scopes.contains(&stream.scope));
    Ok(open)
}

fn all_streams(memory: &Memory) -> Result<Vec<OpenStream>> {
    let is_there = memory.store().projects()?.iter().any(|known| known.name == project());
    let folder = place(FOLDER)?.path;
    let listing = if is_there { memory.store().entries(&project(), Some(&folder))? } else { None };
    let mut open = Vec::new();
    for entry in listing.into_iter().flat_map(|listing| listing.entries) {
        let Ok(head) = place(&format!("{FOLDER}/{}/stream.md", entry.name)) else { continue };
        if let Some(found) = memory.store().read(&head.project, &head.path)? {
            open.push(OpenStream::read(&entry.name, &String::from_utf8_lossy(&found.bytes)));
        }
    }
    open.sort_by_key(|stream| stream.touched);
    Ok(open)
}

/// `start_memory_stream`.
pub(super) fn start(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let now = clock::now();
    let mut stream = OpenStream {
        id: format!("stream_{}", clock::new_name()),
        kind: write::kind(args, "type")?.unwrap_or(RecordKind::Note),
        scope: scope::target(call, args)?,
        tags: write::tags(args)?.unwrap_or_default(),
        chunks: 0,
        chars: 0,
        touched: now,
    };
    let mut screen = SecretScreen::new(call);
    screen.texts(&mut stream.tags);
    let warning = screen.finish()?;
    call.memory.create_project(project().as_str())?;
    let (expired, open): (Vec<OpenStream>, Vec<OpenStream>) =
        all_streams(call.memory)?.into_iter().partition(|stream| stream.is_expired(now));
    if open.len() >= MAX_OPEN_STREAMS {
        let (own, others) = describe_visible(&stream.scope, &open);
        let own = match own.as_slice() {
            [] => String::new(),
            own => format!(": {}", own.join("; ")),
        };
        let others = match others {
            0 => String::new(),
            count => {
                format!(" {count} are of other projects; each expires a day after its last chunk.")
            }
        };
        return Err(RecordError::new(format!(
            "{MAX_OPEN_STREAMS} streams are unfinished, and more are not kept. Finish or cancel one{own}.{others}"
        )));
    }
    let (head, text) = (header_location(&stream.id)?, stream.to_file_text()?);
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let mut steps = vec![Step::create(head.clone(), text.clone())];
        for old in &expired {
            steps.extend(removal_steps(desk, &old.id)?);
        }
        Ok(steps)
    })?;
    let commit = commit_id(&outcome)?;
    let mut said = format!(
        "{}\nStarted a {} stream ({}). append_memory_chunk adds to it, finalize_memory_stream makes \
         the memory; it is kept for a day after the last chunk. Commit {}.",
        stream.id,
        stream.kind.as_str(),
        stream.scope.describe(),
        commit.as_deref().unwrap_or("none"),
    );
    for (word, streams) in [("Expired and discarded", &expired), ("Unfinished streams", &open)] {
        let (seen, _) = describe_visible(&stream.scope, streams);
        if !seen.is_empty() {
            said.push_str(&format!("\n{word}: {}.", seen.join("; ")));
        }
    }
    if let Some(warning) = &warning {
        said.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "stream_id": stream.id, "warning": warning, "type": stream.kind.as_str(), "scope": stream.scope.name(),
        "path": head.to_string(), "commit": commit,
    });
    Ok(ToolResult::ok(said, structured))
}

/// The streams that who works in a scope may hear of, and the number of the others.
fn describe_visible(scope: &RecordScope, streams: &[OpenStream]) -> (Vec<String>, usize) {
    let reach = VisibleScopes::new(Some(scope.clone()));
    let seen = streams.iter().filter(|other| reach.scopes.contains(&other.scope));
    let seen: Vec<String> = seen.map(OpenStream::describe).collect();
    let others = streams.len() - seen.len();
    (seen, others)
}

/// `append_memory_chunk`.
pub(super) fn append(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("stream_id")?;
    let mut chunk = args.text("chunk")?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut chunk);
    let warning = screen.finish()?;
    let added = chunk.chars().count();
    if added == 0 {
        return Err(RecordError::new("`chunk` is empty: there is nothing to append."));
    }
    let mut after = None;
    let outcome = change_stream(call, &id, |_, mut stream| {
        stream.chunks += 1;
        stream.chars += added;
        stream.touched = clock::now();
        if stream.chars > write::MAX_CONTENT_CHARS || stream.chunks > MAX_CHUNKS {
            return Err(RecordError::new(format!(
                "This chunk has {added} characters and would bring {id} to {}; a memory has at most \
                 {} in {MAX_CHUNKS} chunks. Finalize it and start another stream.",
                chunk_summary(stream.chunks, stream.chars),
                write::MAX_CONTENT_CHARS
            )));
        }
        let piece = place(&format!("{FOLDER}/{}/{:05}.txt", stream.id, stream.chunks))?;
        let steps = vec![
            Step::create(piece, chunk.clone()),
            Step::put(header_location(&stream.id)?, stream.to_file_text()?),
        ];
        after = Some(stream);
        Ok(steps)
    })?;
    let commit = commit_id(&outcome)?;
    let (chunks, chars) = after.map_or((0, 0), |stream| (stream.chunks, stream.chars));
    let mut text = chunk_summary(chunks, chars);
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "stream_id": id, "chunks": chunks, "chars": chars, "commit": commit, "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `finalize_memory_stream`.
pub(super) fn finalize(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("stream_id")?;
    let mut made = None;
    let outcome = change_stream(call, &id, |desk, stream| {
        let mut steps = removal_steps(desk, &stream.id)?;
        let (mut content, mut missing) = (String::new(), Vec::new());
        for n in 1..=stream.chunks {
            let piece = place(&format!("{FOLDER}/{}/{n:05}.txt", stream.id))?;
            match desk.text(&piece)? {
                Some((text, _)) => content.push_str(&text),
                None => missing.push(n),
            }
        }
        let chars = content.chars().count();
        let mut record = NewRecord::new(stream.kind, stream.scope.clone(), content);
        record.tags = stream.tags.clone();
        // Once more: a secret can come in two pieces.
        let mut screen = SecretScreen::new(call);
        screen.record(&mut record);
        let warning = screen.finish()?;
        let memory = if record.content.trim().is_empty() {
            None
        } else {
            let (memory, step) = write::create_step(&record, clock::now())?;
            let place = step.place.clone();
            steps.push(step);
            Some((memory, place))
        };
        made = Some((stream, memory, warning, missing, chars));
        Ok(steps)
    })?;
    let commit = commit_id(&outcome)?;
    let Some((stream, memory, warning, missing, chars)) = made else {
        return Err(unknown_stream(call.memory, &id));
    };
    let lost = missing_chunks_text(&missing, stream.chunks);
    let Some((memory, place)) = memory else {
        let text = format!("Stream {id} was empty - no memory created.{lost}");
        let structured = json!({
            "stream_id": id, "id": null, "commit": commit, "missing_chunks": missing,
        });
        return Ok(ToolResult::ok(text, structured));
    };
    let chunks = stream.chunks - missing.len();
    let mut text = format!(
        "Created {} {memory} from {} ({chars} chars)\n{place} ({}) · commit {}{lost}",
        stream.kind.label(),
        plural(chunks, "chunk"),
        stream.scope.describe(),
        commit.as_deref().unwrap_or("none"),
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "id": memory, "type": stream.kind.as_str(), "scope": stream.scope.name(), "chunks": chunks,
        "chars": chars, "path": place.to_string(), "commit": commit, "warning": warning,
        "missing_chunks": missing,
    });
    Ok(ToolResult::ok(text, structured))
}

/// The line that says which pieces were not there any more; nothing if all were.
fn missing_chunks_text(missing: &[usize], chunks: usize) -> String {
    const NAMED: usize = 20;
    if missing.is_empty() {
        return String::new();
    }
    let mut named: Vec<String> = missing.iter().take(NAMED).map(usize::to_string).collect();
    if missing.len() > NAMED {
        named.push("…".to_owned());
    }
    format!(
        "\nMISSING: {} of {} (number {}): the files were removed from the vault. The memory has \
         only the rest; add what is lacking with edit_memory.",
        missing.len(),
        plural(chunks, "chunk"),
        named.join(", ")
    )
}

/// `cancel_memory_stream`.
pub(super) fn cancel(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("stream_id")?;
    let mut dropped = (0, 0);
    let outcome = change_stream(call, &id, |desk, stream| {
        dropped = (stream.chunks, stream.chars);
        removal_steps(desk, &stream.id)
    })?;
    let commit = commit_id(&outcome)?;
    let (chunks, chars) = dropped;
    let text = format!("Cancelled stream {id} (discarded {}).", chunk_summary(chunks, chars));
    let structured = json!({ "stream_id": id, "chunks": chunks, "chars": chars, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}

/// Changes a stream under the lock.
fn change_stream(
    call: &CallContext<'_>,
    id: &str,
    mut change: impl FnMut(&Desk<'_>, OpenStream) -> Result<Vec<Step>>,
) -> Result<ReviseOutcome> {
    let Ok(head) = header_location(id.trim()) else { return Err(unknown_stream(call.memory, id)) };
    let known = call.memory.store().projects()?.iter().any(|known| known.name == project());
    if !known || call.memory.store().read(&head.project, &head.path)?.is_none() {
        return Err(unknown_stream(call.memory, id));
    }
    call.memory.revise(&call.who, None, |desk| {
        let Some((text, _)) = desk.text(&head)? else {
            return Err(RecordError::new(format!("Stream {id} is finished or cancelled already.")));
        };
        let stream = OpenStream::read(id.trim(), &text);
        if stream.is_expired(clock::now()) {
            return Err(RecordError::new(format!(
                "Stream {id} expired: its last chunk came more than a day ago. Start another one."
            )));
        }
        change(desk, stream)
    })
}

/// The steps that remove a stream with all its pieces.
fn removal_steps(desk: &Desk<'_>, id: &str) -> Result<Vec<Step>> {
    let files = desk.below(&place(&format!("{FOLDER}/{id}"))?)?;
    Ok(files.into_iter().map(Step::remove).collect())
}

fn header_location(id: &str) -> Result<Place> {
    // An id is one name, so that it leads nowhere else.
    let is_name = id.starts_with("stream_") && NotePath::parse(id).is_ok() && !id.contains('/');
    if !is_name {
        return Err(RecordError::new(format!("{id:?} is no stream's id.")));
    }
    place(&format!("{FOLDER}/{id}/stream.md"))
}

fn unknown_stream(memory: &Memory, id: &str) -> RecordError {
    let open = all_streams(memory).unwrap_or_default();
    // Streams of other projects are counted, not named.
    let known: Vec<String> = open
        .iter()
        .filter(|open| write::is_global(&open.scope))
        .map(OpenStream::describe)
        .collect();
    let known = match known.len() {
        0 => "start_memory_stream starts one".to_owned(),
        _ => format!("unfinished are {}", known.join("; ")),
    };
    RecordError::new(format!(
        "Stream {id:?} not found: it was finished, cancelled, or never started; {known}."
    ))
}

fn commit_id(outcome: &ReviseOutcome) -> Result<Option<String>> {
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(Some(commit.id.to_string())),
        ReviseOutcome::Unchanged => Ok(None),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("The stream was changed meanwhile; nothing was done. Try again."))
        }
    }
}

fn chunk_summary(chunks: usize, chars: usize) -> String {
    format!("{}, {chars} chars", plural(chunks, "chunk"))
}

fn plural(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
