//! A record: one Markdown file with its attributes in the frontmatter.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use memoranda_core::abbreviate::join_words;
use memoranda_core::globs;
use memoranda_core::id::ProjectName;
use memoranda_core::note::MetaValue;
use memoranda_core::note::edit::{NoteEdit, apply_edit};
use memoranda_core::path::NotePath;
use memoranda_store::FileSummary;
use serde_json::{Map, Value};

use super::error::RecordResult;
use super::expiry::RecordExpiry;
use super::kind::RecordKind;
use super::scope::RecordScope;
use crate::{EngineError, NoteLocation};

/// Name of the project that contains the records.
pub(super) const PROJECT_NAME: &str = "records";
/// Maximum length of a title, in characters.
const TITLE_CHARS: usize = 70;

/// A stored record.
#[derive(Clone, Debug)]
pub struct MemoryRecord {
    /// Name of the file without extension. It never changes.
    pub id: String,
    /// The kind.
    pub kind: RecordKind,
    /// The scope.
    pub scope: RecordScope,
    /// The text without frontmatter.
    pub content: String,
    /// The tags.
    pub tags: Vec<String>,
    /// Glob patterns of the files that it applies to; all files if empty.
    pub paths: Vec<String>,
    /// Grouping key.
    pub category: Option<String>,
    /// Further attributes.
    pub metadata: Option<Map<String, Value>>,
    /// Creation time.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The expiry; `None` if it does not expire.
    pub expires: Option<RecordExpiry>,
    /// Id of the record that supersedes it.
    pub superseded_by: Option<String>,
    /// The file.
    pub place: NoteLocation,
}

/// A record to add.
#[derive(Clone, Debug)]
pub struct NewRecord {
    /// The kind.
    pub kind: RecordKind,
    /// The scope.
    pub scope: RecordScope,
    /// The text without frontmatter.
    pub content: String,
    /// The tags.
    pub tags: Vec<String>,
    /// Glob patterns of the files that it applies to.
    pub paths: Vec<String>,
    /// Grouping key.
    pub category: Option<String>,
    /// Further attributes.
    pub metadata: Option<Map<String, Value>>,
    /// Creation time; `None` for now.
    pub created: Option<Timestamp>,
    /// The expiry; `None` if it does not expire.
    pub expires: Option<RecordExpiry>,
    /// Ids of the records that it supersedes.
    pub supersedes: Vec<String>,
}

impl NewRecord {
    /// Returns a record that has only a text.
    pub fn new(kind: RecordKind, scope: RecordScope, content: impl Into<String>) -> Self {
        Self {
            kind,
            scope,
            content: content.into(),
            tags: Vec::new(),
            paths: Vec::new(),
            category: None,
            metadata: None,
            created: None,
            expires: None,
            supersedes: Vec::new(),
        }
    }

    /// Renders the file of the record.
    pub fn to_file_text(&self, now: Timestamp) -> RecordResult<String> {
        let mut text = format!("\n{}\n", self.content.trim());
        let mut set = |key: &str, value: MetaValue| -> RecordResult<()> {
            text = set_key(&text, key, value)?;
            Ok(())
        };
        set("title", MetaValue::Text(title_of(&self.content)))?;
        set("type", MetaValue::Text(self.kind.as_str().to_owned()))?;
        if let RecordScope::Project(_) = self.scope {
            set("project", MetaValue::Text(self.scope.name().to_owned()))?;
        }
        let lists =
            [("tags", &self.tags), ("paths", &self.paths), ("supersedes", &self.supersedes)];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            set(key, list_value(list))?;
        }
        if let Some(category) = &self.category {
            set("category", MetaValue::Text(category.clone()))?;
        }
        if let Some(metadata) = &self.metadata {
            set("metadata", metadata_value(metadata))?;
        }
        set("created", MetaValue::Text(self.created.unwrap_or(now).to_string()))?;
        if let Some(expires) = self.expires {
            set("expires", MetaValue::Text(expires.to_stored_text()))?;
        }
        Ok(text)
    }
}

impl MemoryRecord {
    /// Orders records by their last change. Files that changed within one tick of the file system
    /// clock have equal times; then the creation time decides.
    pub(crate) fn newest_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        let times = |record: &Self| (record.updated, record.created);
        times(b).cmp(&times(a)).then_with(|| a.id.cmp(&b.id))
    }

    /// Builds a record from the index entry of a file.
    pub(super) fn from_summary(summary: &FileSummary, at: &RecordLocation, content: &str) -> Self {
        let front: Value = serde_json::from_str(&summary.metadata).unwrap_or_default();
        let text = |key: &str| front.get(key).and_then(as_text);
        Self {
            id: summary.path.stem().to_owned(),
            kind: at.kind,
            scope: RecordScope::from_folder(&at.folder, &front),
            content: content.trim().to_owned(),
            tags: tags(front.get("tags")),
            paths: list(front.get("paths")),
            category: text("category"),
            metadata: front.get("metadata").and_then(metadata),
            created: summary.created,
            // The file of an imported record is younger than its last change.
            updated: text("modified").as_deref().and_then(parse_time).unwrap_or(summary.updated),
            expires: text("expires").as_deref().and_then(RecordExpiry::parse_stored),
            superseded_by: text("superseded_by"),
            place: NoteLocation { project: summary.project.clone(), path: summary.path.clone() },
        }
    }

    /// Builds a record from the text of an earlier version. `None` if the file is not a record.
    pub fn of_version(place: &NoteLocation, text: &str, time: Timestamp) -> Option<Self> {
        let at = RecordLocation::parse(&place.path).filter(|_| is_record_place(place))?;
        let note = memoranda_core::note::parse(text);
        let front = &note.frontmatter;
        let project = front.text("project").map_or(Value::Null, Value::String);
        let scope =
            RecordScope::from_folder(&at.folder, &serde_json::json!({ "project": project }));
        let stated = |key: &str| front.text(key).as_deref().and_then(parse_time);
        Some(Self {
            id: place.path.stem().to_owned(),
            kind: at.kind,
            scope,
            content: text.get(note.body.clone()).unwrap_or_default().trim().to_owned(),
            tags: front.texts("tags"),
            paths: front.texts("paths"),
            category: front.text("category"),
            metadata: front.text("metadata").and_then(|text| metadata(&Value::String(text))),
            created: stated("created").unwrap_or(time),
            updated: stated("modified").unwrap_or(time),
            expires: front.text("expires").as_deref().and_then(RecordExpiry::parse_stored),
            superseded_by: front.text("superseded_by"),
            place: place.clone(),
        })
    }

    /// Returns true if the record is neither superseded nor expired.
    pub fn is_active(&self, now: &Zoned) -> bool {
        self.superseded_by.is_none() && self.expires.is_none_or(|expires| !expires.is_over(now))
    }
}

/// Builds a record from the text of an earlier version. `None` if the file is not a record.
pub fn record_of_version(
    place: &NoteLocation,
    text: &str,
    time: Timestamp,
) -> Option<MemoryRecord> {
    MemoryRecord::of_version(place, text, time)
}

/// Scope folder and kind of a record, from its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordLocation {
    pub(super) folder: String,
    pub(super) kind: RecordKind,
}

impl RecordLocation {
    /// Parses a path in the project `records`. `None` if the file is not in the folder of a kind, for
    /// example a reminder or a session.
    pub(super) fn parse(path: &NotePath) -> Option<Self> {
        let names: Vec<&str> = path.as_str().split('/').collect();
        let (folder, rest) = match names.as_slice() {
            ["global", rest @ ..] => ("global".to_owned(), rest),
            ["projects", project, rest @ ..] => (format!("projects/{project}"), rest),
            _ => return None,
        };
        match rest {
            [kind, _, ..] => Some(Self { folder, kind: RecordKind::parse(kind)? }),
            _ => None,
        }
    }
}

/// Returns the project that contains the records.
#[expect(clippy::expect_used, reason = "the name is a constant that fits")]
pub fn records_project() -> ProjectName {
    ProjectName::parse(PROJECT_NAME).expect("a project name")
}

/// Returns true if a file is a record.
pub fn is_record_place(place: &NoteLocation) -> bool {
    place.project.as_str() == PROJECT_NAME && RecordLocation::parse(&place.path).is_some()
}

/// Returns the location of a path in the project `records`.
pub(super) fn record_location(path: &str) -> RecordResult<NoteLocation> {
    Ok(NoteLocation {
        project: records_project(),
        path: NotePath::parse(path).map_err(EngineError::from)?,
    })
}

/// Sets a frontmatter key.
pub(super) fn set_key(text: &str, key: &str, value: MetaValue) -> RecordResult<String> {
    Ok(apply_edit(text, &NoteEdit::SetKey { key: key.to_owned(), value })?)
}

/// Removes a frontmatter key.
pub(super) fn remove_key(text: &str, key: &str) -> RecordResult<String> {
    Ok(apply_edit(text, &NoteEdit::RemoveKey { key: key.to_owned() })?)
}

/// Converts a list to a frontmatter value.
pub(super) fn list_value(list: &[String]) -> MetaValue {
    MetaValue::List(list.iter().cloned().map(MetaValue::Text).collect())
}

/// Converts metadata to a frontmatter value: JSON, because YAML does not distinguish `5` and `"5"`.
pub(super) fn metadata_value(metadata: &Map<String, Value>) -> MetaValue {
    MetaValue::Text(Value::Object(metadata.clone()).to_string())
}

/// Parses metadata that this program or a person wrote.
fn metadata(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn as_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Parses a list of texts, also with commas instead of YAML syntax.
fn list(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(as_text).collect(),
        Some(Value::String(text)) => globs::split_globs(text),
        _ => Vec::new(),
    }
}

fn tags(value: Option<&Value>) -> Vec<String> {
    let plain = list(value).into_iter().map(|tag| tag.trim_start_matches('#').to_owned());
    plain.filter(|tag| !tag.is_empty()).collect()
}

/// Parses a time, or the start of a day in UTC.
fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let date = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(date()?.timestamp()))
}

/// Derives a title from the first line of a text, without Markdown marks, cut at a word.
pub(crate) fn title_of(content: &str) -> String {
    let plain = |line| str::trim(line).trim_start_matches(['#', '-', '*', '>', ' ']);
    let first = content.lines().map(plain).find(|line| !line.is_empty());
    single_line(first.unwrap_or("untitled"), TITLE_CHARS)
}

/// Joins a text to one line and cuts it at a word if it is longer than `max_chars`.
pub fn single_line(text: &str, max_chars: usize) -> String {
    let line = join_words(text);
    let Some((cut, _)) = line.char_indices().nth(max_chars) else { return line };
    let head = line.get(..cut).unwrap_or_default();
    let end = head.rfind(' ').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head.get(..end).unwrap_or(head))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_determines_scope_and_kind() {
        let of = |path: &str| RecordLocation::parse(&NotePath::parse(path).unwrap());
        let at = |folder: &str, kind| Some(RecordLocation { folder: folder.into(), kind });
        for (path, expected) in [
            ("global/rule/use-pnpm.md", at("global", RecordKind::Rule)),
            ("global/rule/api/deep.md", at("global", RecordKind::Rule)),
            ("global/loose.md", None),
            ("projects/x/fact/abc.md", at("projects/x", RecordKind::Fact)),
            ("projects/x/loose.md", None),
            ("projects/x.md", None),
            ("global/reminder/abc.md", None),
            ("global/session/abc.md", None),
            ("readme.md", None),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
    }

    #[test]
    fn lists_are_parsed_in_every_notation() {
        for (value, paths, tagged) in [
            (json!("src/**/*.{ts,tsx}, #notes/*"), &["src/**/*.{ts,tsx}", "#notes/*"][..], &[][..]),
            (json!(["#a", "b c"]), &["#a", "b c"], &["a", "b c"]),
            (json!("#a, b"), &["#a", "b"], &["a", "b"]),
            (json!(null), &[], &[]),
        ] {
            assert_eq!(list(Some(&value)), paths, "{value}");
            if !tagged.is_empty() {
                assert_eq!(tags(Some(&value)), tagged, "{value}");
            }
        }
    }

    #[test]
    fn the_file_of_a_new_record_contains_its_attributes() {
        let metadata =
            json!({ "steps": 3, "deep": { "a": ["x", 1, null] }, "quote": "it's \"so\"" });
        let mut new = NewRecord::new(
            RecordKind::Skill,
            RecordScope::project("github.com/acme/shop").unwrap(),
            "---\nDeploy: first `make`, then push.\n- [x] done #not-a-tag",
        );
        new.tags = vec!["ops".into(), "a: b".into()];
        new.paths = vec!["src/**/*.{ts,tsx}".into(), "*.md".into()];
        new.category = Some("yes".into());
        new.metadata = metadata.as_object().cloned();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let text = new.to_file_text(now).unwrap();
        let note = memoranda_core::note::parse(&text);
        assert_eq!(text[note.body.clone()].trim(), new.content);
        assert_eq!(note.frontmatter.texts("paths"), new.paths);
        assert_eq!(note.frontmatter.texts("tags"), new.tags);
        assert_eq!(note.frontmatter.text("category").as_deref(), Some("yes"));
        let kept = note.frontmatter.text("metadata").unwrap();
        assert_eq!(super::metadata(&Value::String(kept)), new.metadata);
        assert_eq!(note.title().as_deref(), Some("Deploy: first `make`, then push."));
    }
}
