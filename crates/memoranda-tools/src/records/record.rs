//! A record: one Markdown file, whose frontmatter says all that is known of it beside its text.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use memoranda_core::globs;
use memoranda_core::id::ProjectName;
use memoranda_core::note::edit::{NoteEdit, apply_edit};
use memoranda_core::note::{self, MetaValue};
use memoranda_core::path::NotePath;
use memoranda_engine::{EngineError, FileSummary, Place};
use serde_json::{Map, Value, json};

use super::error::Result;
use super::expiry::RecordExpiry;
use super::kind::RecordKind;
use super::scope::RecordScope;

/// The project that holds the records.
pub(super) const PROJECT: &str = "records";
/// The longest title that is made from a record's first line.
const TITLE_CHARS: usize = 70;

/// A record, as it is kept.
#[derive(Clone, Debug)]
pub struct MemoryRecord {
    /// The name of its file: short, and the same as long as it lives.
    pub id: String,
    /// What it is.
    pub kind: RecordKind,
    /// Whom it concerns.
    pub scope: RecordScope,
    /// What it says.
    pub content: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The files that it is for, as glob patterns; all if empty.
    pub paths: Vec<String>,
    /// What it is grouped by.
    pub category: Option<String>,
    /// Whatever else is known of it.
    pub metadata: Option<Map<String, Value>>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// When it stops being true.
    pub expires: Option<RecordExpiry>,
    /// The record that took its place.
    pub superseded_by: Option<String>,
    /// Its file.
    pub place: Place,
}

/// A record that is to be made.
#[derive(Clone, Debug)]
pub struct NewRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Whom it concerns.
    pub scope: RecordScope,
    /// What it says.
    pub content: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The files that it is for, as glob patterns.
    pub paths: Vec<String>,
    /// What it is grouped by.
    pub category: Option<String>,
    /// Whatever else is known of it.
    pub metadata: Option<Map<String, Value>>,
    /// When it was made, if that was not now.
    pub created: Option<Timestamp>,
    /// When it stops being true.
    pub expires: Option<RecordExpiry>,
    /// Records whose place it takes.
    pub supersedes: Vec<String>,
}

impl NewRecord {
    /// A record with nothing but its text.
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

    /// The text of its file.
    pub fn file(&self, now: Timestamp) -> Result<String> {
        let mut text = format!("\n{}\n", self.content.trim());
        let mut set = |key: &str, value: MetaValue| -> Result<()> {
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
            set(key, texts(list))?;
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
    /// The order of what changed last. Files that changed within one tick of the file system's
    /// clock have the same time; when they were made tells them apart.
    pub(super) fn newest_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        let times = |record: &Self| (record.updated, record.created);
        times(b).cmp(&times(a)).then_with(|| a.id.cmp(&b.id))
    }

    /// What the index knows of a file, as a record.
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
            // What was imported says itself when it last changed; its file is younger.
            updated: text("modified").as_deref().and_then(parse_time).unwrap_or(summary.updated),
            expires: text("expires").as_deref().and_then(RecordExpiry::parse_stored),
            superseded_by: text("superseded_by"),
            place: Place { project: summary.project.clone(), path: summary.path.clone() },
        }
    }

    /// Whether it still holds.
    pub(super) fn is_active(&self, now: &Zoned) -> bool {
        self.superseded_by.is_none() && self.expires.is_none_or(|expires| !expires.is_over(now))
    }

    /// The line that shows it in a list: `📋 FACT (P) id: text [tags] (paths: …) {category}`.
    pub(super) fn list_line(&self, most: usize) -> String {
        let (label, mark) = (self.kind.label(), self.scope.marker());
        format!("{label} ({mark}) {}: {}{}", self.id, self.clipped_content(most), self.details())
    }

    /// The same with its text, or a part of it, line by line as it is kept.
    pub(super) fn full_text(&self, text: &str) -> String {
        let (label, mark, id) = (self.kind.label(), self.scope.marker(), &self.id);
        if text.contains('\n') {
            format!("{label} ({mark}) {id}{}:\n{text}", self.details())
        } else {
            format!("{label} ({mark}) {id}: {text}{}", self.details())
        }
    }

    /// What is known of it beside its text.
    fn details(&self) -> String {
        let mut line = String::new();
        if self.kind == RecordKind::Decision {
            let reason = ["reason", "rationale", "why", "because"];
            let known = self.metadata.as_ref();
            let reason = reason.iter().find_map(|key| as_text(known?.get(*key)?));
            if let Some(reason) = reason {
                let reason = single_line(&reason, 300);
                let said = reason.get(..8).filter(|word| word.eq_ignore_ascii_case("because "));
                let reason = said.and_then(|_| reason.get(8..)).unwrap_or(&reason);
                line.push_str(&format!(" — because {reason}"));
            }
            line.push_str(&format!(" (decided {})", self.created.strftime("%Y-%m-%d")));
        }
        if !self.tags.is_empty() {
            line.push_str(&format!(" [{}]", self.tags.join(", ")));
        }
        if !self.paths.is_empty() {
            line.push_str(&format!(" (paths: {})", self.paths.join(", ")));
        }
        if let Some(category) = &self.category {
            line.push_str(&format!(" {{{category}}}"));
        }
        if self.kind == RecordKind::Skill
            && let Some(metadata) = &self.metadata
        {
            let json = Value::Object(metadata.clone()).to_string();
            line.push_str(&format!(" metadata: {}", single_line(&json, 300)));
        }
        if let Some(by) = &self.superseded_by {
            line.push_str(&format!(" (superseded by {by})"));
        }
        if let Some(expires) = self.expires {
            line.push_str(&format!(" (expires {})", expires.day()));
        }
        note::one_line(&line).into_owned()
    }

    /// Its text on one line, cut if it is long, with the call that shows the rest.
    fn clipped_content(&self, most: usize) -> String {
        let chars = self.content.chars().count();
        if chars <= most {
            return single_line(&self.content, usize::MAX);
        }
        let id = &self.id;
        let head = single_line(&self.content, most);
        format!("{head} [cut, {chars} characters: search_memories {{\"query\": \"{id}\"}}]")
    }

    /// What a program gets to know of it.
    pub(super) fn to_json(&self) -> Value {
        let mut wire = json!({
            "id": self.id,
            "type": self.kind.as_str(),
            "scope": self.scope.name(),
            "content": self.content,
            "created": self.created.to_string(),
            "updated": self.updated.to_string(),
        });
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                wire[key] = value;
            }
        };
        add("tags", (!self.tags.is_empty()).then(|| json!(self.tags)));
        add("paths", (!self.paths.is_empty()).then(|| json!(self.paths)));
        add("category", self.category.clone().map(Value::String));
        add("metadata", self.metadata.clone().map(Value::Object));
        add("expires", self.expires.map(|expires| json!(expires.to_stored_text())));
        add("superseded_by", self.superseded_by.clone().map(Value::String));
        wire
    }
}

/// Where a record lies: the folder of its scope, and its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordLocation {
    pub(super) folder: String,
    pub(super) kind: RecordKind,
}

impl RecordLocation {
    /// What the path of a file in the project `records` says. Reminders, sessions and whatever
    /// lies in no folder of a kind are no records.
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

/// The project that holds the records.
#[expect(clippy::expect_used, reason = "the name is a constant that fits")]
pub(super) fn project() -> ProjectName {
    ProjectName::parse(PROJECT).expect("a project name")
}

/// A place in the project `records`.
pub(super) fn place(path: &str) -> Result<Place> {
    Ok(Place { project: project(), path: NotePath::parse(path).map_err(EngineError::from)? })
}

/// Gives a frontmatter key a value.
pub(super) fn set_key(text: &str, key: &str, value: MetaValue) -> Result<String> {
    change(text, &NoteEdit::SetKey { key: key.to_owned(), value })
}

/// Removes a frontmatter key.
pub(super) fn remove_key(text: &str, key: &str) -> Result<String> {
    change(text, &NoteEdit::RemoveKey { key: key.to_owned() })
}

fn change(text: &str, edit: &NoteEdit) -> Result<String> {
    apply_edit(text, edit).map_err(|error| super::error::RecordError::new(format!("{error}.")))
}

/// A list as frontmatter holds it.
pub(super) fn texts(list: &[String]) -> MetaValue {
    MetaValue::List(list.iter().cloned().map(MetaValue::Text).collect())
}

/// Metadata as frontmatter holds it: as JSON, because YAML would not tell `5` from `"5"`.
pub(super) fn metadata_value(metadata: &Map<String, Value>) -> MetaValue {
    MetaValue::Text(Value::Object(metadata.clone()).to_string())
}

/// Metadata as it was kept, or as a person wrote it.
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

/// A list of texts, also when it was written with commas.
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

/// A time as frontmatter holds it; a date alone means its beginning.
fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let date = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(date()?.timestamp()))
}

/// A title for a text: its first line, without marks, cut at a word.
pub(super) fn title_of(content: &str) -> String {
    let plain = |line| str::trim(line).trim_start_matches(['#', '-', '*', '>', ' ']);
    let first = content.lines().map(plain).find(|line| !line.is_empty());
    single_line(first.unwrap_or("untitled"), TITLE_CHARS)
}

/// A text on one line, cut at a word if it is longer than that.
pub(super) fn single_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((cut, _)) = line.char_indices().nth(most) else { return line };
    let head = line.get(..cut).unwrap_or_default();
    let end = head.rfind(' ').filter(|end| *end > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head.get(..end).unwrap_or(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_a_file_is() {
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
    fn lists_are_read_as_people_write_them() {
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
    fn a_new_record_is_a_file_that_says_the_same() {
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
        let text = new.file(now).unwrap();
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
