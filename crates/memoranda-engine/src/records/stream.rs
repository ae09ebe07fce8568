//! Streams: records that arrive in chunks. Each chunk is a file as soon as it is acknowledged, so an
//! open stream survives the process.
//!
//! `.streams/<id>/stream.md` contains the kind, the scope and the counts. The chunks are in the same
//! folder. The folder is hidden, so open streams are not searched.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::Commit;
use memoranda_core::note::{self, MetaValue};
use memoranda_core::path::NotePath;
use memoranda_store::clock;

use super::error::{RecordError, RecordResult};
use super::kind::RecordKind;
use super::record::{NewRecord, list_value, record_location, records_project, set_key};
use super::scope::{RecordScope, VisibleScopes};
use super::write::{AddedRecord, MAX_CONTENT_CHARS, create_step};
use crate::{
    Author, EngineError, FileOperation, Memory, NoteLocation, NoteTransaction, TransactOutcome,
};

const FOLDER: &str = ".streams";
/// Maximum number of open streams.
pub const MAX_OPEN_STREAMS: usize = 50;
/// Maximum number of chunks of a stream.
pub const MAX_STREAM_CHUNKS: usize = 10_000;
/// Time for which a stream is kept after its last chunk.
const STREAM_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// An open stream.
#[derive(Clone, Debug)]
pub struct OpenStream {
    /// The id.
    pub id: String,
    /// Kind of the record.
    pub kind: RecordKind,
    /// Scope of the record.
    pub scope: RecordScope,
    /// Tags of the record.
    pub tags: Vec<String>,
    /// Number of chunks.
    pub chunks: usize,
    /// Number of characters of all chunks.
    pub chars: usize,
    /// Time of the last chunk.
    touched: Timestamp,
}

impl OpenStream {
    /// Parses the header file of a stream.
    fn parse(id: &str, text: &str) -> Self {
        let note = note::parse(text);
        let front = &note.frontmatter;
        let number = |key: &str| front.text(key).and_then(|n| n.parse().ok()).unwrap_or(0);
        let kind = front.text("kind").and_then(|kind| RecordKind::parse(&kind));
        let scope = front.text("project").and_then(|name| RecordScope::project(&name));
        Self {
            id: id.to_owned(),
            kind: kind.unwrap_or(RecordKind::Note),
            scope: scope.unwrap_or(RecordScope::Global),
            tags: front.texts("tags"),
            chunks: number("chunks"),
            chars: number("chars"),
            touched: front.text("touched").and_then(|t| t.parse().ok()).unwrap_or_default(),
        }
    }

    fn to_file_text(&self) -> RecordResult<String> {
        let mut text = String::from("\nA memory that is still arriving.\n");
        let mut set = |key: &str, value: MetaValue| -> RecordResult<()> {
            text = set_key(&text, key, value)?;
            Ok(())
        };
        set("type", MetaValue::Text("stream".into()))?;
        set("kind", MetaValue::Text(self.kind.as_str().to_owned()))?;
        if self.scope != RecordScope::Global {
            set("project", MetaValue::Text(self.scope.name().to_owned()))?;
        }
        if !self.tags.is_empty() {
            set("tags", list_value(&self.tags))?;
        }
        set("chunks", MetaValue::Text(self.chunks.to_string()))?;
        set("chars", MetaValue::Text(self.chars.to_string()))?;
        set("touched", MetaValue::Text(self.touched.to_string()))?;
        Ok(text)
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now.duration_since(self.touched) > STREAM_LIFETIME
    }
}

/// Returns the open streams of visible scopes.
pub fn visible_open_streams(
    memory: &Memory,
    visible: &VisibleScopes,
) -> RecordResult<Vec<OpenStream>> {
    let mut open = all_streams(memory)?;
    let now = clock::now();
    open.retain(|stream| !stream.is_expired(now) && visible.scopes.contains(&stream.scope));
    Ok(open)
}

fn all_streams(memory: &Memory) -> RecordResult<Vec<OpenStream>> {
    if !has_records(memory)? {
        return Ok(Vec::new());
    }
    let folder = record_location(FOLDER)?.path;
    let listing = memory.store().entries(&records_project(), Some(&folder))?;
    let mut open = Vec::new();
    for entry in listing.into_iter().flat_map(|listing| listing.entries) {
        let Ok(header) = record_location(&format!("{FOLDER}/{}/stream.md", entry.name)) else {
            continue;
        };
        if let Some(found) = memory.store().read(&header.project, &header.path)? {
            open.push(OpenStream::parse(&entry.name, &String::from_utf8_lossy(&found.bytes)));
        }
    }
    open.sort_by_key(|stream| stream.touched);
    Ok(open)
}

fn has_records(memory: &Memory) -> RecordResult<bool> {
    let project = records_project();
    Ok(memory.store().projects()?.iter().any(|known| known.name == project))
}

/// A stream that was started.
#[derive(Clone, Debug)]
pub struct StartedStream {
    /// The stream.
    pub stream: OpenStream,
    /// The header file.
    pub place: NoteLocation,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
    /// Expired streams that were removed, of every scope.
    pub expired: Vec<OpenStream>,
    /// Other open streams, of every scope.
    pub open: Vec<OpenStream>,
}

/// Starts a stream and removes expired ones.
pub fn start_stream(
    memory: &Memory,
    who: &Author,
    kind: RecordKind,
    scope: RecordScope,
    tags: Vec<String>,
) -> RecordResult<StartedStream> {
    let now = clock::now();
    let id = format!("stream_{}", clock::new_name());
    let stream = OpenStream { id, kind, scope, tags, chunks: 0, chars: 0, touched: now };
    memory.create_project(records_project().as_str())?;
    let (expired, open): (Vec<OpenStream>, Vec<OpenStream>) =
        all_streams(memory)?.into_iter().partition(|stream| stream.is_expired(now));
    if open.len() >= MAX_OPEN_STREAMS {
        return Err(RecordError::TooManyStreams { scope: Box::new(stream.scope), open });
    }
    let (place, text) = (header_location(&stream.id)?, stream.to_file_text()?);
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let mut steps = vec![FileOperation::create(place.clone(), text.clone())];
        for old in &expired {
            steps.extend(removal_steps(desk, &old.id)?);
        }
        Ok(steps)
    })?;
    Ok(StartedStream { stream, place, commit: committed(outcome)?, expired, open })
}

/// A chunk that was appended.
#[derive(Clone, Debug)]
pub struct AppendedChunk {
    /// Number of chunks.
    pub chunks: usize,
    /// Number of characters of all chunks.
    pub chars: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Appends a chunk to a stream.
pub fn append_chunk(
    memory: &Memory,
    who: &Author,
    id: &str,
    chunk: &str,
) -> RecordResult<AppendedChunk> {
    let added = chunk.chars().count();
    let mut counts = (0, 0);
    let outcome = change_stream(memory, who, id, |_, mut stream| {
        stream.chunks += 1;
        stream.chars += added;
        stream.touched = clock::now();
        if stream.chars > MAX_CONTENT_CHARS || stream.chunks > MAX_STREAM_CHUNKS {
            let (chunks, chars) = (stream.chunks, stream.chars);
            return Err(RecordError::StreamTooLong { id: id.to_owned(), added, chunks, chars });
        }
        let piece = chunk_location(&stream.id, stream.chunks)?;
        let header = header_location(&stream.id)?;
        let steps = vec![
            FileOperation::create(piece, chunk.to_owned()),
            FileOperation::put(header, stream.to_file_text()?),
        ];
        counts = (stream.chunks, stream.chars);
        Ok(steps)
    })?;
    let (chunks, chars) = counts;
    Ok(AppendedChunk { chunks, chars, commit: committed(outcome)? })
}

/// A stream that was finalized.
#[derive(Clone, Debug)]
pub struct FinalizedStream {
    /// The stream.
    pub stream: OpenStream,
    /// The record; `None` if the stream was empty.
    pub record: Option<AddedRecord>,
    /// Numbers of the chunks whose files were removed.
    pub missing: Vec<usize>,
    /// Number of characters of the chunks that were found.
    pub chars: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Creates the record of a stream and removes the stream. `screen` may change or reject the record.
pub fn finalize_stream<E: From<RecordError> + From<EngineError>>(
    memory: &Memory,
    who: &Author,
    id: &str,
    mut screen: impl FnMut(&mut NewRecord) -> Result<(), E>,
) -> Result<FinalizedStream, E> {
    let mut finalized = None;
    let outcome = change_stream(memory, who, id, |desk, stream| {
        let mut steps = removal_steps(desk, &stream.id)?;
        let (mut content, mut missing) = (String::new(), Vec::new());
        for n in 1..=stream.chunks {
            match desk.text(&chunk_location(&stream.id, n)?)? {
                Some((text, _)) => content.push_str(&text),
                None => missing.push(n),
            }
        }
        let chars = content.chars().count();
        let mut record = NewRecord::new(stream.kind, stream.scope.clone(), content);
        record.tags = stream.tags.clone();
        screen(&mut record)?;
        let mut added = None;
        if !record.content.trim().is_empty() {
            let (record, step) = create_step(&record, clock::now())?;
            steps.push(step);
            added = Some(record);
        }
        finalized = Some(FinalizedStream { stream, record: added, missing, chars, commit: None });
        Ok::<_, E>(steps)
    })?;
    let commit = committed(outcome)?;
    match finalized {
        Some(finalized) => Ok(FinalizedStream { commit, ..finalized }),
        None => Err(unknown_stream(memory, id).into()),
    }
}

/// A stream that was cancelled.
#[derive(Clone, Debug)]
pub struct CancelledStream {
    /// Number of discarded chunks.
    pub chunks: usize,
    /// Number of discarded characters.
    pub chars: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Removes a stream without creating a record.
pub fn cancel_stream(memory: &Memory, who: &Author, id: &str) -> RecordResult<CancelledStream> {
    let mut discarded = (0, 0);
    let outcome = change_stream(memory, who, id, |desk, stream| {
        discarded = (stream.chunks, stream.chars);
        removal_steps(desk, &stream.id)
    })?;
    let (chunks, chars) = discarded;
    Ok(CancelledStream { chunks, chars, commit: committed(outcome)? })
}

/// Changes a stream under the lock.
fn change_stream<E: From<RecordError> + From<EngineError>>(
    memory: &Memory,
    who: &Author,
    id: &str,
    mut change: impl FnMut(&NoteTransaction<'_>, OpenStream) -> Result<Vec<FileOperation>, E>,
) -> Result<TransactOutcome, E> {
    let header = header_location(id.trim()).map_err(|_| unknown_stream(memory, id))?;
    let exists = |memory: &Memory| -> RecordResult<bool> {
        Ok(has_records(memory)? && memory.store().read(&header.project, &header.path)?.is_some())
    };
    if !exists(memory)? {
        return Err(unknown_stream(memory, id).into());
    }
    memory.transact(who, None, |desk| {
        let Some((text, _)) = desk.text(&header)? else {
            return Err(RecordError::StreamFinished { id: id.to_owned() }.into());
        };
        let stream = OpenStream::parse(id.trim(), &text);
        if stream.is_expired(clock::now()) {
            return Err(RecordError::StreamExpired { id: id.to_owned() }.into());
        }
        change(desk, stream)
    })
}

/// Returns the steps that remove a stream with all its chunks.
fn removal_steps(desk: &NoteTransaction<'_>, id: &str) -> RecordResult<Vec<FileOperation>> {
    let files = desk.below(&record_location(&format!("{FOLDER}/{id}"))?)?;
    Ok(files.into_iter().map(FileOperation::remove).collect())
}

/// Returns the header file of a stream. An id is a single name, so it cannot leave the folder.
fn header_location(id: &str) -> RecordResult<NoteLocation> {
    let is_name = id.starts_with("stream_") && NotePath::parse(id).is_ok() && !id.contains('/');
    if !is_name {
        return Err(RecordError::StreamNotFound { id: id.to_owned(), open: Vec::new() });
    }
    record_location(&format!("{FOLDER}/{id}/stream.md"))
}

fn chunk_location(id: &str, number: usize) -> RecordResult<NoteLocation> {
    record_location(&format!("{FOLDER}/{id}/{number:05}.txt"))
}

fn unknown_stream(memory: &Memory, id: &str) -> RecordError {
    RecordError::StreamNotFound { id: id.to_owned(), open: all_streams(memory).unwrap_or_default() }
}

fn committed(outcome: TransactOutcome) -> RecordResult<Option<Commit>> {
    match outcome {
        TransactOutcome::Committed(commit) => Ok(Some(commit)),
        TransactOutcome::Unchanged => Ok(None),
        TransactOutcome::Conflict(_) => Err(RecordError::StreamChanged),
    }
}
