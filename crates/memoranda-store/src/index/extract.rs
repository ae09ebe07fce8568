//! What the index keeps of one file, worked out from its bytes alone: pure, so that many files
//! can be digested at once.

use std::borrow::Cow;
use std::sync::OnceLock;

use memoranda_core::embed::{StaticEmbeddingModel, StaticVector};
use memoranda_core::id::ObservationId;
use memoranda_core::note::permalink::{path_address, permalink_of, strip_project};
use memoranda_core::note::{self, MetaValue, Note, Observation};
use memoranda_core::passage::{self, PassageStart};
use memoranda_core::path::NotePath;
use memoranda_core::problem::ParseProblem;
use memoranda_core::rank::PassageTokens;
use memoranda_core::tokenize::{WordToken, index_text, tokenize};

/// Above this size a file is known by name but not searched.
const MAX_INDEXED_BYTES: usize = 16 << 20;

/// So many words of a passage, and so many bytes, also stand with the one that it goes on from.
const OVERLAP_WORDS: usize = 12;
const OVERLAP_BYTES: usize = 72;

/// What kind of file it is, as far as search is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Known from the log, not yet looked at.
    Known,
    /// A note with structure.
    Markdown,
    /// A text without structure.
    Text,
    /// Not a text, or too large to search.
    Other,
}

impl FileKind {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Known => 0,
            Self::Markdown => 1,
            Self::Text => 2,
            Self::Other => 3,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Markdown,
            2 => Self::Text,
            3 => Self::Other,
            _ => Self::Known,
        }
    }
}

/// Everything that the index keeps of a file's content.
pub(crate) struct ExtractedFile {
    pub(crate) kind: FileKind,
    pub(crate) title: String,
    pub(crate) address: RequestedPermalink,
    pub(crate) note_type: String,
    pub(crate) created: Option<jiff::Timestamp>,
    pub(crate) metadata: String,
    pub(crate) problems: Vec<ParseProblem>,
    pub(crate) tags: Vec<String>,
    pub(crate) passages: Vec<ExtractedPassage>,
    pub(crate) observations: Vec<(ObservationId, Observation)>,
    pub(crate) relations: Vec<note::Relation>,
    /// How much the note as a whole matters, and how sure it is, as its frontmatter says.
    pub(crate) importance: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// Whether the note stands for something that has not been described yet.
    pub(crate) is_placeholder: bool,
}

/// The permalink that a file asks for.
pub(crate) struct RequestedPermalink {
    pub(crate) permalink: String,
    pub(crate) source: PermalinkSource,
}

/// Where a permalink comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PermalinkSource {
    /// The note says it.
    Frontmatter,
    /// It was made from the path.
    Path,
}

/// A passage and the words by which it is found.
pub(crate) struct ExtractedPassage {
    pub(crate) heading: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    pub(crate) age: PassageStatus,
    pub(crate) begins: PassageStart,
    pub(crate) text: String,
    cut: OnceLock<PassageTokens>,
    vector: OnceLock<StaticVector>,
}

/// Whether a passage tells what holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PassageStatus {
    Current,
    /// It holds nothing but facts that were struck out or replaced.
    Superseded,
}

/// Whether the bytes are a text that can be searched.
pub(crate) fn is_text(path: &NotePath, bytes: &[u8]) -> bool {
    bytes.len() <= MAX_INDEXED_BYTES
        && (path.is_markdown() || (!bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()))
}

/// The permalink that a note asks for, without a look at all of it; `None` if the file is no note.
pub(crate) fn requested_permalink(path: &NotePath, bytes: &[u8]) -> Option<RequestedPermalink> {
    let given = || note::stated_permalink(&String::from_utf8_lossy(bytes));
    (path.is_markdown() && is_text(path, bytes)).then(|| RequestedPermalink::new(path, given()))
}

impl RequestedPermalink {
    fn new(path: &NotePath, given: Option<String>) -> Self {
        match given {
            Some(permalink) => Self { permalink, source: PermalinkSource::Frontmatter },
            None => Self { permalink: permalink_of(path).0, source: PermalinkSource::Path },
        }
    }
}

/// Works out what the index keeps of a file.
pub(crate) fn extract(path: &NotePath, bytes: &[u8]) -> ExtractedFile {
    if !is_text(path, bytes) {
        return other(path, bytes.len());
    }
    let mut problems = Vec::new();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(e) => {
            let line = bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
            let message = "the text is not UTF-8; it is searched as far as it can be read".into();
            problems.push(ParseProblem { line, message });
            String::from_utf8_lossy(bytes)
        }
    };
    if path.is_markdown() { markdown(path, &text, problems) } else { plain(path, &text, problems) }
}

fn markdown(path: &NotePath, text: &str, mut problems: Vec<ParseProblem>) -> ExtractedFile {
    let note = note::parse(text);
    let title = note.title().unwrap_or_else(|| path.stem().to_owned());
    let passages = passage::split_note_passages(text, &note).into_iter().map(|passage| {
        ExtractedPassage::new(&passage, text, passage_status(&note, text, &passage))
    });
    problems.extend(note.problems.iter().cloned());
    ExtractedFile {
        kind: FileKind::Markdown,
        note_type: note.note_type(),
        created: ["created", "date"]
            .iter()
            .find_map(|key| note.frontmatter.get(key).and_then(timestamp))
            .or_else(|| day_in(path.stem())),
        metadata: metadata_json(&note),
        address: RequestedPermalink::new(path, note.permalink()),
        tags: note.tags(),
        passages: passages.collect(),
        observations: identify(path, &note),
        importance: share(&note, "importance"),
        confidence: share(&note, "confidence"),
        is_placeholder: note.frontmatter.text("placeholder").is_some_and(|text| text == "true"),
        relations: note.relations,
        title,
        problems,
    }
}

fn plain(path: &NotePath, text: &str, problems: Vec<ParseProblem>) -> ExtractedFile {
    let title = path.file_name().to_owned();
    let passages = passage::split_text_passages(text)
        .into_iter()
        .map(|passage| ExtractedPassage::new(&passage, text, PassageStatus::Current));
    ExtractedFile {
        kind: FileKind::Text,
        note_type: "file".into(),
        created: None,
        metadata: "{}".into(),
        tags: Vec::new(),
        passages: passages.collect(),
        observations: Vec::new(),
        relations: Vec::new(),
        importance: None,
        confidence: None,
        is_placeholder: false,
        address: RequestedPermalink::new(path, None),
        title,
        problems,
    }
}

/// A frontmatter value from 0 to 1.
fn share(note: &Note, key: &str) -> Option<f64> {
    let value: f64 = note.frontmatter.text(key)?.trim().parse().ok()?;
    (0.0..=1.0).contains(&value).then_some(value)
}

fn other(path: &NotePath, size: usize) -> ExtractedFile {
    let mut extracted = plain(path, "", Vec::new());
    extracted.kind = FileKind::Other;
    extracted.passages = Vec::new();
    if path.is_markdown() || size > MAX_INDEXED_BYTES {
        let message = format!("the file has {size} bytes and is not searched");
        extracted.problems.push(ParseProblem { line: 0, message });
    }
    extracted
}

/// The observations with their ids: from their comments, or derived from text and place.
fn identify(path: &NotePath, note: &Note) -> Vec<(ObservationId, Observation)> {
    let mut seen = std::collections::HashMap::<(Option<&str>, &str), usize>::new();
    let mut identified = Vec::with_capacity(note.observations.len());
    for observation in &note.observations {
        let id = match &observation.fact {
            Some(fact) => fact.id.clone(),
            None => {
                let key = (observation.category.as_deref(), observation.text.as_str());
                let occurrence = seen.entry(key).or_default();
                *occurrence += 1;
                note::derive_observation_id(&path.key(), observation, *occurrence - 1)
            }
        };
        identified.push((id, observation.clone()));
    }
    identified
}

/// The key under which a link and the name that it means come together. `[[Plan.md]]` means the
/// same as `[[Plan]]`.
pub fn link_key(name: &str) -> String {
    let name = without_markdown(name);
    let address = path_address(name);
    if address.is_empty() { name.to_lowercase() } else { address }
}

/// The key of what a link names. A slash in front is kept: what follows it is a path from the top of
/// the project, and not one of the other names that come to the same.
pub fn target_key(name: &str) -> String {
    match name.strip_prefix('/') {
        Some(path) => format!("/{}", link_key(path)),
        None => link_key(name),
    }
}

/// A name without the extension of a Markdown file.
fn without_markdown(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((bare, "md" | "MD" | "Md" | "markdown")) if !bare.is_empty() => bare,
        _ => name,
    }
}

/// The key under which a link that means one title in one folder finds its note. Most often the
/// title is the file's name, and then this is the key of its path.
pub fn exact_key(folder: &str, title: &str) -> String {
    link_key(&format!("{folder}/{title}"))
}

/// The names by which a link can mean a file, from what its row in the index says.
pub(crate) fn link_keys(
    project: &str,
    path: &NotePath,
    title: &str,
    permalink: &str,
    metadata: &str,
) -> Vec<String> {
    let without_extension = &path.as_str()[..path.as_str().len() - extension_bytes(path)];
    let mut keys = vec![link_key(path.stem())];
    // Most notes are called as their file is, which gives the same keys.
    if title != path.stem() {
        keys.push(link_key(title));
        keys.extend(path.parent().filter(|_| path.is_markdown()).map(|f| exact_key(f, title)));
    }
    // A note that was moved keeps its permalink, and is still found by it. One that a person wrote
    // need not be a slug.
    keys.push(link_key(permalink));
    // Basic Memory's names the project first, and is said with it or without.
    keys.extend(strip_project(permalink, project).map(link_key));
    let whole = if path.is_markdown() {
        link_key(without_extension)
    } else {
        keys.extend([link_key(path.file_name()), link_key(without_extension)]);
        link_key(path.as_str())
    };
    // A link may say the end of a path, such as one seen from a folder above.
    let ends = whole.match_indices('/').filter_map(|(at, _)| whole.get(at + 1..));
    keys.extend(ends.filter(|end| end.contains('/')).map(str::to_owned));
    keys.push(whole);
    // Most notes say nothing about further names.
    if metadata.contains("\"aliases\"")
        || metadata.contains("\"alias\"")
        || metadata.contains("\"permalink\"")
    {
        let metadata: serde_json::Value = serde_json::from_str(metadata).unwrap_or_default();
        let stated = metadata["permalink"].as_str();
        keys.extend(stated.map(link_key));
        keys.extend(stated.and_then(|stated| strip_project(stated, project)).map(link_key));
        for aliases in [&metadata["aliases"], &metadata["alias"]] {
            let listed =
                aliases.as_array().into_iter().flatten().filter_map(|alias| alias.as_str());
            let written = aliases.as_str().into_iter().flat_map(|text| text.split(','));
            keys.extend(listed.chain(written).map(|alias| link_key(alias.trim())));
        }
    }
    keys.retain(|key| !key.is_empty());
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Whether a file's frontmatter, as JSON, states a permalink.
pub(crate) fn states_permalink(metadata: &str) -> bool {
    // Most notes do not.
    metadata.contains("\"permalink\"")
        && serde_json::from_str::<serde_json::Value>(metadata)
            .is_ok_and(|metadata| metadata["permalink"].as_str().is_some_and(|p| !p.is_empty()))
}

/// The keys by which links mean a note with this text, as its row in the index would have them.
pub fn keys_of(
    project: &str,
    path: &NotePath,
    note: &Note,
    title: &str,
    permalink: &str,
) -> Vec<String> {
    link_keys(project, path, title, permalink, &metadata_json(note))
}

fn extension_bytes(path: &NotePath) -> usize {
    match path.extension().len() {
        0 => 0,
        extension => extension + 1,
    }
}

/// The day with which a file name begins, as those of diaries do.
fn day_in(stem: &str) -> Option<jiff::Timestamp> {
    let (date, rest) = stem.split_at_checked(10)?;
    let is_date = |(at, byte): (usize, u8)| {
        if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
    };
    let ends = !rest.starts_with(|c: char| c.is_ascii_digit());
    let fits = ends && date.bytes().enumerate().all(is_date);
    let date = date.parse::<jiff::civil::Date>().ok().filter(|_| fits)?;
    Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

fn timestamp(value: &MetaValue) -> Option<jiff::Timestamp> {
    let MetaValue::Text(text) = value else { return None };
    let text = text.trim();
    let civil = || text.parse::<jiff::civil::DateTime>().ok();
    let date = || text.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0));
    text.parse().ok().or_else(|| {
        civil().or_else(date)?.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })
}

fn metadata_json(note: &Note) -> String {
    let entries = note.frontmatter.entries.iter();
    let map: serde_json::Map<_, _> =
        entries.map(|(key, value)| (key.clone(), meta_json(value))).collect();
    serde_json::Value::Object(map).to_string()
}

fn meta_json(value: &MetaValue) -> serde_json::Value {
    match value {
        MetaValue::Text(text) | MetaValue::Plain(text) => text.clone().into(),
        MetaValue::List(items) => items.iter().map(meta_json).collect::<Vec<_>>().into(),
        MetaValue::Map(entries) => serde_json::Value::Object(
            entries.iter().map(|(key, value)| (key.clone(), meta_json(value))).collect(),
        ),
    }
}

impl ExtractedFile {
    /// Works out what the passages mean, and cuts them into words.
    pub(crate) fn embed(&self) {
        self.passages.iter().for_each(|passage| {
            passage.vector();
            passage.cut();
        });
    }

    /// How much the weightiest fact matters that was not struck out.
    pub(super) fn weightiest(&self) -> Option<f64> {
        let standing = self.observations.iter().filter(|(_, observation)| !observation.struck);
        let rated = standing.filter_map(|(_, observation)| observation.fact.as_ref()?.importance);
        rated.max_by(f64::total_cmp)
    }

    /// The names by which a link can mean this file.
    pub(crate) fn keys(&self, project: &str, path: &NotePath, permalink: &str) -> Vec<String> {
        link_keys(project, path, &self.title, permalink, &self.metadata)
    }
}

/// Whether a passage is of facts alone that no longer hold.
fn passage_status(note: &Note, text: &str, passage: &passage::Passage) -> PassageStatus {
    let is_past = |o: &&Observation| {
        o.struck || o.fact.as_ref().is_some_and(|fact| fact.superseded_by.is_some())
    };
    let first = note.observations.partition_point(|o| o.line < *passage.lines.start());
    let behind = note.observations.get(first..).unwrap_or_default().iter();
    let inside = behind.take_while(|o| o.line <= *passage.lines.end());
    let (past, current): (Vec<_>, Vec<_>) = inside.partition(|o| is_past(o));
    if past.is_empty() || !current.is_empty() {
        return PassageStatus::Current;
    }
    let lines = passage.text(text).lines().map(str::trim);
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count();
    if said <= past.len() { PassageStatus::Superseded } else { PassageStatus::Current }
}

/// A text without the comments of its facts: they are for programs, and mean nothing.
pub(super) fn without_comments(text: &str) -> Cow<'_, str> {
    let Some((first, mut rest)) = text.split_once("<!--") else { return text.into() };
    let mut kept = first.to_owned();
    loop {
        rest = rest.split_once("-->").map_or("", |(_, after)| after);
        match rest.split_once("<!--") {
            Some((between, after)) => {
                kept.push_str(between);
                rest = after;
            }
            None => break,
        }
    }
    kept.push_str(rest);
    kept.into()
}

/// The first words of a text: enough for a phrase, in scripts without blanks too.
fn first_words(text: &str) -> &str {
    let is_enough = |(count, word): &(usize, WordToken<'_>)| {
        count + 1 >= OVERLAP_WORDS && word.span.end >= OVERLAP_BYTES
    };
    let last = tokenize(text).enumerate().find(is_enough);
    last.and_then(|(_, word)| text.get(..word.span.end)).unwrap_or(text)
}

impl ExtractedPassage {
    fn new(passage: &passage::Passage, text: &str, age: PassageStatus) -> Self {
        let own = passage.text(text);
        Self {
            heading: passage.heading.clone(),
            first_line: *passage.lines.start(),
            last_line: *passage.lines.end(),
            age,
            begins: passage.begins,
            cut: OnceLock::new(),
            vector: OnceLock::new(),
            text: own.to_owned(),
        }
    }

    /// What stands for a note without text, so that it is found by its title.
    pub(crate) fn empty(title: &str) -> Self {
        Self {
            heading: String::new(),
            first_line: 1,
            last_line: 1,
            age: PassageStatus::Current,
            begins: PassageStart::NewBlock,
            text: String::new(),
            cut: OnceLock::new(),
            vector: OnceLock::from(StaticEmbeddingModel::embedded().embed(title)),
        }
    }

    /// What it means: worked out when it is first asked for, by whoever has the time.
    pub(crate) fn vector(&self) -> &StaticVector {
        self.vector
            .get_or_init(|| StaticEmbeddingModel::embedded().embed(&without_comments(&self.text)))
    }

    /// Its words as they are compared, worked out likewise.
    pub(crate) fn cut(&self) -> &PassageTokens {
        self.cut.get_or_init(|| PassageTokens::new(&self.heading, &self.text))
    }

    /// Takes what was worked out before for a passage with the same headings and text.
    pub(super) fn takes(&self, cut: &PassageTokens) {
        self.cut.get_or_init(|| cut.clone());
    }

    /// Takes what was worked out before for a passage with the same text.
    pub(super) fn means(&self, vector: StaticVector) {
        self.vector.get_or_init(|| vector);
    }

    /// The heading and body as the word index takes them. Where a paragraph was cut, the words behind
    /// the cut belong to the body as well, so that a phrase is found that stands there.
    pub(crate) fn words(&self, next: Option<&Self>) -> (Cow<'_, str>, Cow<'_, str>) {
        let heading = index_text(&self.heading);
        match next.filter(|next| next.begins == PassageStart::ContinuesBlock) {
            Some(next) => {
                let body = format!("{} {}", self.text, first_words(&next.text));
                (heading, index_text(&body).into_owned().into())
            }
            None => (heading, index_text(&self.text)),
        }
    }
}
