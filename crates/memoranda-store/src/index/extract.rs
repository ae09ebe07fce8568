//! Extracts from the bytes of one file what the index stores. The functions are pure, so files can
//! be extracted in parallel.

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

/// Maximum size in bytes of a file that is searched. A larger file is indexed by name only.
const MAX_INDEXED_BYTES: usize = 16 << 20;

/// Number of words and bytes at the start of a passage that are also indexed with the previous
/// passage, if both belong to one paragraph.
const OVERLAP_WORDS: usize = 12;
const OVERLAP_BYTES: usize = 72;

/// Kind of a file for search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Recorded in the log, not read yet.
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

/// Everything that the index stores of a file's content.
pub(crate) struct ExtractedFile {
    pub(crate) kind: FileKind,
    pub(crate) title: String,
    pub(crate) address: RequestedPermalink,
    pub(crate) note_type: String,
    pub(crate) created: Option<jiff::Timestamp>,
    /// Last change according to the frontmatter.
    pub(crate) modified: Option<jiff::Timestamp>,
    pub(crate) metadata: String,
    pub(crate) problems: Vec<ParseProblem>,
    pub(crate) tags: Vec<String>,
    pub(crate) passages: Vec<ExtractedPassage>,
    pub(crate) observations: Vec<(ObservationId, Observation)>,
    pub(crate) relations: Vec<note::Relation>,
    /// Importance and confidence of the note as a whole, from its frontmatter.
    pub(crate) importance: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// True if the note is a placeholder for an entity without a description.
    pub(crate) is_placeholder: bool,
}

/// The permalink that a file requests.
pub(crate) struct RequestedPermalink {
    pub(crate) permalink: String,
    pub(crate) source: PermalinkSource,
}

/// Source of a permalink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PermalinkSource {
    /// Stated in the frontmatter.
    Frontmatter,
    /// Derived from the path.
    Path,
}

/// A passage with its search data.
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

/// Validity of a passage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PassageStatus {
    Current,
    /// The passage contains only facts that were struck out or superseded, or is a part of a
    /// template. Searches leave it out unless they ask for it.
    Superseded,
}

/// Returns true if the bytes are a searchable text.
pub(crate) fn is_text(path: &NotePath, bytes: &[u8]) -> bool {
    bytes.len() <= MAX_INDEXED_BYTES
        && (path.is_markdown() || (!bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()))
}

/// Returns the permalink that a note requests, without parsing all of it; `None` if the file is not
/// a note.
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

/// Extracts what the index stores of a file.
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
    let is_template = is_template(text);
    let passages = passage::split_note_passages(text, &note).into_iter().map(|passage| {
        let status = if is_template {
            PassageStatus::Superseded
        } else {
            passage_status(&note, text, &passage)
        };
        ExtractedPassage::new(&passage, text, status)
    });
    if !is_template {
        problems.extend(note.problems.iter().cloned());
    }
    ExtractedFile {
        kind: FileKind::Markdown,
        note_type: if is_template { TEMPLATE_TYPE.into() } else { note.note_type() },
        created: ["created", "date"]
            .iter()
            .find_map(|key| note.frontmatter.get(key).and_then(timestamp))
            .or_else(|| day_in(path.stem())),
        modified: note.frontmatter.get("modified").and_then(timestamp),
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
        modified: None,
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

/// Returns the observations with their ids, from their metadata or derived from text and position.
fn identify(path: &NotePath, note: &Note) -> Vec<(ObservationId, Observation)> {
    let mut seen = std::collections::HashMap::<(Option<&str>, &str), usize>::new();
    let mut identified = Vec::with_capacity(note.observations.len());
    for observation in &note.observations {
        let id = match &observation.meta {
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

/// Returns the key that a link shares with the name it refers to. `[[Plan.md]]` and `[[Plan]]` have
/// one key.
pub fn link_key(name: &str) -> String {
    let name = without_markdown(name);
    let address = path_address(name);
    if address.is_empty() { name.to_lowercase() } else { address }
}

/// Returns the key of a link's target. A leading slash is kept: it marks a path from the project
/// root, which matches no other kind of name.
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

/// Returns the key of a link to one title in one folder. Usually the title is the file name, and
/// the key equals that of the path.
pub fn exact_key(folder: &str, title: &str) -> String {
    link_key(&format!("{folder}/{title}"))
}

/// Returns the keys of all names by which a link can refer to a file, computed from its index row.
pub(crate) fn link_keys(
    project: &str,
    path: &NotePath,
    title: &str,
    permalink: &str,
    metadata: &str,
) -> Vec<String> {
    let without_extension = &path.as_str()[..path.as_str().len() - extension_bytes(path)];
    let mut keys = vec![link_key(path.stem())];
    // For most notes the title is the file name, which gives the same keys.
    if title != path.stem() {
        keys.push(link_key(title));
        keys.extend(path.parent().filter(|_| path.is_markdown()).map(|f| exact_key(f, title)));
    }
    // A moved note keeps its permalink and is still found by it. A handwritten permalink need not
    // be a slug.
    keys.push(link_key(permalink));
    // A permalink of Basic Memory starts with the project, and links may omit it.
    keys.extend(strip_project(permalink, project).map(link_key));
    let whole = if path.is_markdown() {
        link_key(without_extension)
    } else {
        keys.extend([link_key(path.file_name()), link_key(without_extension)]);
        link_key(path.as_str())
    };
    // A link can be the end of a path, such as one relative to a parent folder.
    let ends = whole.match_indices('/').filter_map(|(at, _)| whole.get(at + 1..));
    keys.extend(ends.filter(|end| end.contains('/')).map(str::to_owned));
    keys.push(whole);
    // Cheap test first: most notes have no aliases.
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

/// Returns true if a file's frontmatter, as JSON, states a permalink.
pub(crate) fn states_permalink(metadata: &str) -> bool {
    // Cheap test first: most notes state none.
    metadata.contains("\"permalink\"")
        && serde_json::from_str::<serde_json::Value>(metadata)
            .is_ok_and(|metadata| metadata["permalink"].as_str().is_some_and(|p| !p.is_empty()))
}

/// Returns the link keys of a note with this text, equal to those of its index row.
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

/// Returns the date at the start of a file name, as in a diary.
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

/// Returns a value of frontmatter as JSON, with every scalar as text.
pub fn meta_json(value: &MetaValue) -> serde_json::Value {
    match value {
        MetaValue::Text(text) | MetaValue::Plain(text) => text.as_str().into(),
        MetaValue::List(items) => items.iter().map(meta_json).collect(),
        MetaValue::Map(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), meta_json(value))).collect()
        }
    }
}

impl ExtractedFile {
    /// Computes tokens and embeddings of all passages.
    pub(crate) fn embed(&self) {
        self.passages.iter().for_each(|passage| {
            passage.vector();
            passage.cut();
        });
    }

    /// Returns the highest importance of a fact that is not struck out.
    pub(super) fn max_importance(&self) -> Option<f64> {
        let standing = self.observations.iter().filter(|(_, observation)| !observation.struck);
        let rated = standing.filter_map(|(_, observation)| observation.meta.as_ref()?.importance);
        rated.max_by(f64::total_cmp)
    }

    /// Returns the keys of all names by which a link can refer to this file.
    pub(crate) fn keys(&self, project: &str, path: &NotePath, permalink: &str) -> Vec<String> {
        link_keys(project, path, &self.title, permalink, &self.metadata)
    }
}

/// Type of templates in the index, so that lists of what changed last can leave them out.
pub(super) const TEMPLATE_TYPE: &str = "template";

/// Returns true for a template of Obsidian: its frontmatter or first line has variables such as
/// `{{title}}` that a new note replaces. They are no content, and often no valid YAML.
fn is_template(text: &str) -> bool {
    const VARIABLES: [&str; 4] = ["{{title}}", "{{date", "{{time", "<% tp."];
    let body = match text.strip_prefix("---") {
        Some(rest) => {
            let (head, body) = rest.split_once("\n---").unwrap_or((rest, ""));
            if VARIABLES.iter().any(|variable| head.contains(variable)) {
                return true;
            }
            body
        }
        None => text,
    };
    let lines = body.lines().map(str::trim);
    let first = lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
    VARIABLES.iter().any(|variable| first.contains(variable))
}

/// Returns the status of a passage: superseded if it contains only facts that no longer hold.
fn passage_status(note: &Note, text: &str, passage: &passage::Passage) -> PassageStatus {
    let is_past = |o: &&Observation| {
        o.struck || o.meta.as_ref().is_some_and(|fact| fact.superseded_by.is_some())
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

/// Removes HTML comments from a text: observation metadata has no meaning for search.
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

/// Returns the text of a fact without its category; `None` if a line is no fact with a category.
fn fact_of(line: &str) -> Option<&str> {
    let (category, fact) = line.trim_start().strip_prefix("- [")?.split_once("] ")?;
    // A box to tick has one character, and a link a second bracket.
    let is_category = category.chars().count() > 1 && !category.starts_with('[');
    is_category.then_some(fact)
}

/// Returns what a passage says, without comments, the headings above all lists of facts, and the marks
/// of a fact. They are the same for every fact, and a short fact would be similar to them.
fn meaning_text(text: &str) -> Cow<'_, str> {
    let text = without_comments(text);
    let is_list_heading = |line: &str| {
        let name = line.trim_start_matches('#');
        name.len() < line.len() && matches!(name.trim(), "Observations" | "Relations")
    };
    if !text.lines().any(|line| is_list_heading(line) || fact_of(line).is_some()) {
        return text;
    }
    let lines = text.lines().filter(|line| !is_list_heading(line));
    let said: Vec<&str> = lines.map(|line| fact_of(line).unwrap_or(line)).collect();
    said.join("\n").into()
}

/// Returns the first words of a text: enough for a phrase, also in scripts without spaces.
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
            begins: passage.start,
            cut: OnceLock::new(),
            vector: OnceLock::new(),
            text: own.to_owned(),
        }
    }

    /// Returns the passage of a note without text, so that the note is found by its title.
    pub(crate) fn empty(title: &str) -> Self {
        Self {
            heading: String::new(),
            first_line: 1,
            last_line: 1,
            age: PassageStatus::Current,
            begins: PassageStart::NewBlock,
            text: String::new(),
            cut: OnceLock::new(),
            vector: OnceLock::from(StaticEmbeddingModel::bundled().embed(title)),
        }
    }

    /// Returns a passage with the words of a stored one. Lines and status are unknown.
    pub(super) fn stored(heading: &str, text: &str, begins: PassageStart) -> Self {
        Self {
            heading: heading.to_owned(),
            first_line: 1,
            last_line: 1,
            age: PassageStatus::Current,
            begins,
            text: text.to_owned(),
            cut: OnceLock::new(),
            vector: OnceLock::new(),
        }
    }

    /// Returns the static embedding, computed on first use.
    pub(crate) fn vector(&self) -> &StaticVector {
        self.vector.get_or_init(|| StaticEmbeddingModel::bundled().embed(&meaning_text(&self.text)))
    }

    /// Returns the tokens, computed on first use.
    pub(crate) fn cut(&self) -> &PassageTokens {
        self.cut.get_or_init(|| PassageTokens::new(&self.heading, &self.text))
    }

    /// Reuses the tokens of a passage with the same headings and text.
    pub(super) fn reuse_tokens(&self, cut: &PassageTokens) {
        self.cut.get_or_init(|| cut.clone());
    }

    /// Reuses the embedding of a passage with the same text.
    pub(super) fn reuse_vector(&self, vector: StaticVector) {
        self.vector.get_or_init(|| vector);
    }

    /// Returns heading and body as FTS5 indexes them. If a paragraph continues in the next passage,
    /// its first words are appended, so that a phrase across the boundary is found.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_a_fact_have_no_meaning() {
        let plan = "## Plan\n- [ ] call Tom\n- [[Tom]] is a vet";
        for (text, expected) in [
            ("## Observations\n- [fact] Tom is a vet <!-- obs_1 v1 -->", "Tom is a vet "),
            (plan, plan),
            ("Tom is a vet", "Tom is a vet"),
        ] {
            assert_eq!(meaning_text(text), expected);
        }
    }
}
