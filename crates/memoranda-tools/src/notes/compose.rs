//! Composes the text of notes for `write_note` and `edit_note`: the caller's content and its
//! frontmatter. Everything else stays as it is.

use memoranda_core::note::edit::{EditError, NoteEdit, apply_edit, merge_frontmatter};
use memoranda_core::note::{self, MetaValue};
use memoranda_core::problem::ParseProblem;
use memoranda_core::secrets;
use serde_json::{Map, Value};

use crate::registry::{INVALID_ARGUMENTS, ToolError};
use crate::settings::SecretPolicy;

/// Content and frontmatter of a note, as given by the caller.
pub(super) struct NoteContent<'a> {
    pub(super) title: &'a str,
    pub(super) content: &'a str,
    pub(super) note_type: Option<&'a str>,
    pub(super) tags: Option<&'a [String]>,
    pub(super) metadata: Option<&'a Map<String, Value>>,
}

const FENCE: &str = "---";
/// Keys that `metadata` cannot set, because they have their own parameters.
const OWN_KEYS: [&str; 3] = ["title", "type", "permalink"];

/// Removes the byte order mark and NUL characters.
pub(super) fn clean_content(content: &str) -> String {
    content.trim_start_matches('\u{feff}').replace('\0', "")
}

/// Returns the problem of frontmatter that cannot be parsed and was kept as text. `None` without
/// frontmatter: text below a horizontal rule has no key in its first line.
pub(super) fn invalid_frontmatter(content: &str) -> Option<ParseProblem> {
    let note = note::parse(content);
    let problem = note.problems.into_iter().find(|p| p.message.contains("frontmatter"))?;
    let mut lines = content.lines().skip(1).map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    (note.frontmatter.span.is_none() && first?.contains(':')).then_some(problem)
}

/// Composes a new note. Frontmatter in the content follows title, type and permalink, and loses its
/// own title. Invalid frontmatter becomes text.
pub(super) fn compose(wanted: &NoteContent<'_>, permalink: &str) -> Result<String, EditError> {
    let mut rest = wanted.content.to_owned();
    if !rest.is_empty() && !rest.ends_with('\n') {
        rest.push_str(if rest.contains("\r\n") { "\r\n" } else { "\n" });
    }
    let stated = note::parse(&rest).frontmatter;
    let kind = stated.text("type");
    let kind = kind.as_deref().or(wanted.note_type).unwrap_or("note");
    let mut head = String::new();
    for (key, value) in OWN_KEYS.into_iter().zip([wanted.title, kind, permalink]) {
        let value = MetaValue::Text(value.to_owned());
        head = apply_edit(&head, &NoteEdit::SetKey { key: key.to_owned(), value })?;
        if stated.span.is_some() {
            rest = apply_edit(&rest, &NoteEdit::RemoveKey { key: key.to_owned() })?;
        }
    }
    if rest.contains("\r\n") {
        head = head.replace('\n', "\r\n");
    }
    // The new block ends where the caller's keys start.
    let kept = note::parse(&rest).frontmatter.span.and_then(|span| {
        let (first, keys) = rest.get(span.start..)?.split_once('\n')?;
        (first.trim_end() == FENCE).then_some(keys)
    });
    let text = match kept {
        Some(keys) => {
            let open = head.trim_end().strip_suffix(FENCE).unwrap_or(&head);
            format!("{open}{keys}")
        }
        None => format!("{head}{rest}"),
    };
    described(&text, wanted)
}

/// Composes a note that replaces another and inherits its frontmatter. The frontmatter of the
/// caller is kept as written, except for a permalink that belongs to another note.
pub(super) fn compose_over(
    old: &str,
    wanted: &NoteContent<'_>,
    permalink: &str,
) -> Result<String, EditError> {
    let before = note::parse(old);
    let new = note::parse(wanted.content);
    let body = wanted.content.get(new.body.clone()).unwrap_or_default();
    let head = before.frontmatter.span.clone().and_then(|span| old.get(..span.end));
    let mut text = head.unwrap_or_default().to_owned();
    // Keep the line endings of the file.
    let ends_so = old.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    let ending = if ends_so || body.contains("\r\n") { "\r\n" } else { "\n" };
    if ends_so && !body.contains('\r') {
        text.push_str(&body.replace('\n', ending))
    } else {
        text.push_str(body)
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending);
    }
    let title = ("title".to_owned(), MetaValue::Text(wanted.title.to_owned()));
    let mut keys = vec![title.clone()];
    let states_type = new.frontmatter.text("type").is_some();
    let kind = match (states_type, wanted.note_type, before.frontmatter.text("type")) {
        (true, ..) | (false, None, Some(_)) => None,
        (false, kind, _) => Some(kind.unwrap_or("note")),
    };
    if let Some(kind) = kind {
        keys.push(("type".to_owned(), MetaValue::Text(kind.to_owned())));
    }
    if before.permalink().or(new.permalink()).is_none() {
        keys.push(("permalink".to_owned(), MetaValue::Text(permalink.to_owned())));
    }
    let set = |text: String, (key, value): (String, MetaValue)| {
        let is_said = note::parse(&text).frontmatter.get(&key) == Some(&value);
        if is_said { Ok(text) } else { apply_edit(&text, &NoteEdit::SetKey { key, value }) }
    };
    text = keys.into_iter().try_fold(text, set)?;
    // Replace the title in the caller's frontmatter, and a permalink that another note has.
    text = set(merge_frontmatter(&text, wanted.content)?, title)?;
    if new.permalink().is_some_and(|stated| stated != permalink) {
        let value = MetaValue::Text(permalink.to_owned());
        text = set(text, ("permalink".to_owned(), value))?;
    }
    described(&text, wanted)
}

/// Adds the caller's tags and metadata to the frontmatter.
fn described(text: &str, wanted: &NoteContent<'_>) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if let Some(tags) = wanted.tags.filter(|tags| !tags.is_empty()) {
        let bare = |tag: &String| tag.trim().trim_start_matches('#').trim().to_owned();
        let tags = tags.iter().map(|tag| note::one_line(&bare(tag)).into_owned());
        let value = MetaValue::List(tags.map(MetaValue::Text).collect());
        text = apply_edit(&text, &NoteEdit::SetKey { key: "tags".to_owned(), value })?;
    }
    for (key, value) in wanted.metadata.into_iter().flatten() {
        let is_tags = key == "tags" && wanted.tags.is_some();
        if OWN_KEYS.contains(&key.as_str()) || is_tags {
            continue;
        }
        text = apply_edit(&text, &NoteEdit::SetKey { key: key.clone(), value: meta(value) })?;
    }
    Ok(text)
}

/// Returns the edits of `metadata`. Keys with their own parameters are ignored.
pub(super) fn metadata_edits(metadata: &Map<String, Value>) -> Result<Vec<NoteEdit>, ToolError> {
    let mut edits = Vec::new();
    for (key, value) in metadata.iter().filter(|(key, _)| !OWN_KEYS.contains(&key.as_str())) {
        if value.is_null() {
            let text = format!(
                "`metadata` gives no value for {key:?}: null is none, and removes nothing. Leave \
                 the key out."
            );
            return Err(ToolError::new(INVALID_ARGUMENTS, text));
        }
        edits.push(NoteEdit::MergeKey { key: key.clone(), value: meta(value) });
    }
    Ok(edits)
}

/// Returns the keys of `metadata` that are ignored, because they have their own parameters.
pub(super) fn ignored_keys(metadata: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let is_given = |key: &&str| metadata.is_some_and(|metadata| metadata.contains_key(*key));
    OWN_KEYS.into_iter().filter(is_given).collect()
}

/// Warns of ignored keys. `None` if there are none.
pub(super) fn ignored_keys_warning(keys: &[&str], instead: &str) -> Option<String> {
    let named: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    (!keys.is_empty()).then(|| {
        format!("Ignored in `metadata`: {}, which it does not set. {instead}", named.join(", "))
    })
}

/// Converts a JSON value to frontmatter.
fn meta(value: &Value) -> MetaValue {
    match value {
        Value::Null => MetaValue::Plain("null".to_owned()),
        Value::String(text) => MetaValue::Text(text.clone()),
        Value::Bool(_) | Value::Number(_) => MetaValue::Plain(value.to_string()),
        Value::Array(items) => MetaValue::List(items.iter().map(meta).collect()),
        Value::Object(entries) => {
            MetaValue::Map(entries.iter().map(|(key, value)| (key.clone(), meta(value))).collect())
        }
    }
}

/// Converts frontmatter to a JSON value.
pub(super) fn json_of(value: &MetaValue) -> Value {
    match value {
        MetaValue::Text(text) => Value::String(text.clone()),
        // A number without quotes is one.
        MetaValue::Plain(text) => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::String(text.clone()),
        },
        MetaValue::List(items) => items.iter().map(json_of).collect(),
        MetaValue::Map(entries) => {
            Value::Object(entries.iter().map(|(key, v)| (key.clone(), json_of(v))).collect())
        }
    }
}

/// Sets the title to the first heading, if both were equal before an edit.
pub(super) fn follow_heading(before: &str, after: String) -> Result<String, EditError> {
    let (old, new) = (note::parse(before), note::parse(&after));
    let heading = |note: &note::Note| {
        note.sections.iter().find(|section| section.level == 1).map(|s| s.title.clone())
    };
    let (Some(title), Some(was), Some(is)) = (old.title(), heading(&old), heading(&new)) else {
        return Ok(after);
    };
    if title != was || is == was || new.title() != Some(title) {
        return Ok(after);
    }
    apply_edit(&after, &NoteEdit::SetKey { key: "title".to_owned(), value: MetaValue::Text(is) })
}

/// Detects secrets that a change adds, and applies the configured policy. Returns the text and a
/// warning.
pub(super) fn screen_secrets(
    policy: SecretPolicy,
    before: &str,
    text: String,
) -> Result<(String, Option<String>), ToolError> {
    let secrets = secrets::newly_added(before, &text);
    if secrets.is_empty() {
        return Ok((text, None));
    }
    let kind = |secret: &secrets::SecretMatch| format!("{} (line {})", secret.kind, secret.line);
    let kinds = secrets.iter().map(kind).collect::<Vec<_>>().join(", ");
    match policy {
        SecretPolicy::Refuse => {
            let text = format!("This looks like a secret: {kinds}. Nothing was written.");
            Err(ToolError::new("SECRET_REFUSED", text))
        }
        SecretPolicy::Redact => {
            let warning = format!("Replaced what looked like a secret: {kinds}.");
            Ok((secrets::redact(&text, &secrets), Some(warning)))
        }
        SecretPolicy::Warn => {
            let warning = format!(
                "This looks like a secret: {kinds}. It was saved; remove it if it should not be \
                 kept."
            );
            Ok((text, Some(warning)))
        }
    }
}
