//! Note schemas: the facts and relations expected in notes of a type, written as a mapping in
//! frontmatter (`name: string, what it is`, `role?: string`, `tags?(array): string`, `status(enum):
//! [open, done]`, `works_at: Organization`).
//!
//! A scalar field is an observation of that category; a field with a capitalized type is a relation
//! of that type. Validation reports missing fields and values outside an enumeration only.

use std::collections::BTreeMap;

use crate::note::{MetaValue, Note};

/// Relation type of an untyped link.
const UNTYPED_LINK: &str = "links_to";
/// Minimum share of notes with a field for the field to be inferred as required.
pub const REQUIRED_SHARE: f64 = 0.95;
/// Characters with a meaning in a key, unless escaped by a backslash.
const ESCAPED_CHARS: [char; 3] = ['?', '(', '\\'];
/// Share of notes below which a field counts as dropped.
pub const DROPPED_SHARE: f64 = 0.10;

/// A schema for notes of one type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteSchema {
    /// Note type that the schema describes.
    pub entity: String,
    /// Version as written.
    pub version: Option<String>,
    /// Treatment of notes that violate the schema.
    pub validation: ValidationMode,
    /// Fields of the note's body.
    pub fields: Vec<SchemaField>,
    /// Fields of the note's frontmatter.
    pub frontmatter: Vec<SchemaField>,
}

/// Treatment of notes that violate a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValidationMode {
    /// Violations are warnings.
    Warn,
    /// Violations are errors.
    Strict,
}

/// A field of a schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaField {
    /// Category, relation type or frontmatter key.
    pub name: String,
    /// Type of the field.
    pub kind: SchemaFieldKind,
    /// True if a note must have the field.
    pub required: bool,
    /// True if the field may occur several times.
    pub is_array: bool,
    /// Description in words.
    pub description: Option<String>,
}

/// Type of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SchemaFieldKind {
    /// A value: string, integer, number, boolean, any.
    Scalar(String),
    /// One of these values.
    Enum(Vec<String>),
    /// A mapping.
    Object,
    /// A note of this type.
    Reference(String),
}

/// Result of validating a note.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SchemaReport {
    /// Missing required fields.
    pub missing: Vec<String>,
    /// Values outside their enumeration: field, value, accepted values.
    pub outside: Vec<(String, String, Vec<String>)>,
    /// Categories and relation types that are not in the schema; not a violation.
    pub unknown: Vec<String>,
}

impl SchemaReport {
    /// Returns true if the note satisfies the schema.
    pub fn fits(&self) -> bool {
        self.missing.is_empty() && self.outside.is_empty()
    }
}

/// Frequency of a field among notes of a type.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldOccurrence {
    /// The field as an inferred schema field.
    pub field: SchemaField,
    /// Number of notes with the field.
    pub notes: usize,
    /// Share of notes with the field.
    pub share: f64,
}

/// Difference between a schema and its notes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SchemaDrift {
    /// Frequent fields that are not in the schema.
    pub new: Vec<FieldOccurrence>,
    /// Fields of the schema that hardly any note has: name and share.
    pub dropped: Vec<(String, f64)>,
}

impl NoteSchema {
    /// Reads the schema of a note of type `schema`; `None` if the note contains no schema.
    pub fn from_note(note: &Note) -> Option<Self> {
        let fields = fields(note.frontmatter.get("schema")?);
        if fields.is_empty() {
            return None;
        }
        let entity = note.frontmatter.text("entity").or_else(|| note.title())?;
        let settings = match note.frontmatter.get("settings") {
            Some(MetaValue::Map(entries)) => entries.as_slice(),
            _ => &[],
        };
        let setting = |key: &str| settings.iter().find(|(name, _)| name == key).map(|(_, v)| v);
        let strict = setting("validation").is_some_and(|value| value.to_text() == "strict");
        Some(Self {
            entity,
            version: note.frontmatter.text("version"),
            validation: if strict { ValidationMode::Strict } else { ValidationMode::Warn },
            fields,
            frontmatter: setting("frontmatter").map(self::fields).unwrap_or_default(),
        })
    }

    /// Reads the schema that a note contains for itself.
    pub fn inline(note: &Note) -> Option<Self> {
        let value = note.frontmatter.get("schema")?;
        if !matches!(value, MetaValue::Map(_)) || note.note_type() == "schema" {
            return None;
        }
        Some(Self {
            entity: note.note_type(),
            version: None,
            validation: ValidationMode::Warn,
            fields: fields(value),
            frontmatter: Vec::new(),
        })
    }

    /// Validates a note.
    pub fn check(&self, note: &Note) -> SchemaReport {
        let mut verdict = self.check_body(&NoteFields::from_note(note));
        for field in &self.frontmatter {
            let values = note.frontmatter.texts(&field.name);
            verdict.check_field(field, &values);
        }
        verdict
    }

    /// Validates the facts and relations of a note. The result is that of [`Self::check`] if the
    /// schema has no fields of the frontmatter.
    pub fn check_body(&self, NoteFields(held): &NoteFields) -> SchemaReport {
        let mut verdict = SchemaReport::default();
        for field in &self.fields {
            let key =
                (matches!(field.kind, SchemaFieldKind::Reference(_)), field.name.to_lowercase());
            let values = held.get(&key);
            verdict.check_field(field, values.map(Vec::as_slice).unwrap_or_default());
        }
        let known = |name: &str| self.fields.iter().any(|f| f.name.eq_ignore_ascii_case(name));
        let unknown = held.keys().map(|(_, name)| name.clone()).filter(|name| !known(name));
        verdict.unknown = unknown.collect();
        verdict
    }

    /// Compares notes with the schema.
    pub fn drift(&self, notes: &[NoteOutline], threshold: f64) -> SchemaDrift {
        let found = infer_fields(notes, 0.0);
        let known = |name: &str| self.fields.iter().any(|f| f.name.eq_ignore_ascii_case(name));
        let share = |name: &str| {
            let found = found.iter().find(|found| found.field.name.eq_ignore_ascii_case(name));
            found.map_or(0.0, |found| found.share)
        };
        let rare = |field: &&SchemaField| !notes.is_empty() && share(&field.name) < DROPPED_SHARE;
        SchemaDrift {
            dropped: self
                .fields
                .iter()
                .filter(rare)
                .map(|field| (field.name.clone(), share(&field.name)))
                .collect(),
            new: found
                .iter()
                .filter(|found| found.share >= threshold && !known(&found.field.name))
                .cloned()
                .collect(),
        }
    }
}

impl SchemaReport {
    fn check_field(&mut self, field: &SchemaField, values: &[String]) {
        if values.is_empty() && field.required {
            self.missing.push(field.name.clone());
        }
        let SchemaFieldKind::Enum(allowed) = &field.kind else { return };
        for value in values {
            if !allowed.iter().any(|one| one.eq_ignore_ascii_case(value.trim())) {
                self.outside.push((field.name.clone(), value.clone(), allowed.clone()));
            }
        }
    }
}

/// Values of a note by kind (true for relations) and lower-case name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoteFields(BTreeMap<(bool, String), Vec<String>>);

impl NoteFields {
    /// Collects the values of a note.
    pub fn from_note(note: &Note) -> Self {
        let mut fields = Self::default();
        for observation in note.observations.iter().filter(|observation| !observation.struck) {
            fields.add_fact(observation.category.as_deref(), &observation.text);
        }
        for relation in &note.relations {
            fields.add_relation(&relation.relation_type, &relation.target);
        }
        fields
    }

    /// Adds a fact that is not struck out.
    pub fn add_fact(&mut self, category: Option<&str>, text: &str) {
        let name = category.unwrap_or("note").to_lowercase();
        self.0.entry((false, name)).or_default().push(without_tags(text));
    }

    /// Adds a relation; untyped links are ignored.
    pub fn add_relation(&mut self, relation_type: &str, target: &str) {
        if relation_type != UNTYPED_LINK {
            let name = relation_type.to_lowercase();
            self.0.entry((true, name)).or_default().push(target.to_owned());
        }
    }
}

fn without_tags(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.starts_with('#')).collect::<Vec<_>>().join(" ")
}

/// Number of values of a note per observation category and relation type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NoteOutline(BTreeMap<(bool, String), usize>);

impl NoteOutline {
    /// Builds the outline of a note.
    pub fn from_note(note: &Note) -> Self {
        let NoteFields(fields) = NoteFields::from_note(note);
        Self(fields.into_iter().map(|(key, values)| (key, values.len())).collect())
    }

    /// Counts a fact of this category.
    pub fn add_fact(&mut self, category: Option<&str>) {
        let name = category.unwrap_or("note").to_lowercase();
        *self.0.entry((false, name)).or_default() += 1;
    }

    /// Counts a relation of this type; untyped links are ignored.
    pub fn add_relation(&mut self, relation_type: &str) {
        if relation_type != UNTYPED_LINK {
            *self.0.entry((true, relation_type.to_lowercase())).or_default() += 1;
        }
    }
}

/// Returns the fields that at least this share of notes have, the most frequent first.
pub fn infer_fields(notes: &[NoteOutline], threshold: f64) -> Vec<FieldOccurrence> {
    let mut counts: BTreeMap<(bool, String), (usize, usize)> = BTreeMap::new();
    for NoteOutline(fields) in notes {
        for (key, values) in fields {
            let count = counts.entry(key.clone()).or_default();
            count.0 += 1;
            count.1 = count.1.max(*values);
        }
    }
    let mut found: Vec<FieldOccurrence> = counts
        .into_iter()
        .map(|((is_relation, name), (count, most))| {
            let share = count as f64 / notes.len().max(1) as f64;
            let kind = if is_relation {
                SchemaFieldKind::Reference("Note".to_owned())
            } else {
                SchemaFieldKind::Scalar("string".to_owned())
            };
            let required = share >= REQUIRED_SHARE;
            let field = SchemaField { name, kind, required, is_array: most > 1, description: None };
            FieldOccurrence { field, notes: count, share }
        })
        .filter(|found| found.share >= threshold)
        .collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.field.name.cmp(&b.field.name)));
    found
}

/// Parses the fields of a schema.
fn fields(value: &MetaValue) -> Vec<SchemaField> {
    let MetaValue::Map(entries) = value else { return Vec::new() };
    entries.iter().filter_map(|(key, value)| field(key, value)).collect()
}

fn field(key: &str, value: &MetaValue) -> Option<SchemaField> {
    let key = key.trim();
    let (name, form) = match unescaped(key, '(') {
        Some(at) => {
            let form = key.get(at + 1..).unwrap_or_default();
            (key.get(..at).unwrap_or_default().trim(), form.trim_end_matches(')').trim())
        }
        None => (key, ""),
    };
    let (name, required) = match unescaped(name, '?').filter(|at| at + 1 == name.len()) {
        Some(at) => (name.get(..at).unwrap_or_default(), false),
        None => (name, true),
    };
    let name = name_in(name);
    // A form may contain its own description after a comma.
    let (form, about) = match form.split_once(',') {
        Some((form, about)) => (form.trim(), Some(about.trim().to_owned())),
        None => (form, None),
    };
    let text = value.to_text();
    let (kind, described) = match (form, value) {
        ("enum", MetaValue::List(items)) => {
            (SchemaFieldKind::Enum(items.iter().map(MetaValue::to_text).collect()), None)
        }
        ("enum", _) => {
            let words = text.split(',').map(|word| word.trim().to_owned());
            (SchemaFieldKind::Enum(words.filter(|word| !word.is_empty()).collect()), None)
        }
        ("object", _) | (_, MetaValue::Map(_)) => (SchemaFieldKind::Object, None),
        _ => {
            let (kind, about) = match text.split_once(',') {
                Some((kind, about)) => (kind.trim(), Some(about.trim().to_owned())),
                None => (text.trim(), None),
            };
            let kind = if kind.is_empty() { "any" } else { kind };
            if kind.chars().next().is_some_and(char::is_uppercase) {
                (SchemaFieldKind::Reference(kind.to_owned()), about)
            } else {
                (SchemaFieldKind::Scalar(kind.to_owned()), about)
            }
        }
    };
    (!name.is_empty()).then(|| SchemaField {
        name,
        kind,
        required,
        is_array: form == "array",
        description: described.or(about),
    })
}

/// Returns the position of an unescaped character: the last `?`, the first of any other.
fn unescaped(text: &str, sign: char) -> Option<usize> {
    let (mut found, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        if c == sign && !is_escaped && (sign == '?' || found.is_none()) {
            found = Some(at);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    found
}

/// Returns the name in a key, without escaping backslashes.
fn name_in(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    let mut rest = key.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.next_if(|next| c == '\\' && ESCAPED_CHARS.contains(next));
        name.push(next.unwrap_or(c));
    }
    name
}

/// Renders a field as key and value of a schema.
pub fn render_field(field: &SchemaField) -> (String, String) {
    let optional = if field.required { "" } else { "?" };
    let form = match (&field.kind, field.is_array) {
        (SchemaFieldKind::Enum(_), _) => "(enum)",
        (SchemaFieldKind::Object, _) => "(object)",
        (_, true) => "(array)",
        (_, false) => "",
    };
    let value = match &field.kind {
        SchemaFieldKind::Scalar(kind) | SchemaFieldKind::Reference(kind) => kind.clone(),
        SchemaFieldKind::Enum(words) => format!("[{}]", words.join(", ")),
        SchemaFieldKind::Object => "object".to_owned(),
    };
    let name: String = field
        .name
        .chars()
        .flat_map(|c| ESCAPED_CHARS.contains(&c).then_some('\\').into_iter().chain([c]))
        .collect();
    (format!("{name}{optional}{form}"), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::parse;

    const PERSON: &str = "---\ntitle: Person\ntype: schema\nentity: person\nversion: 2\nschema:\n  \
        name: string, full name\n  role?: string\n  skill?(array): string\n  \
        status(enum): [active, gone]\n  works_at?: Organization, employer\nsettings:\n  \
        validation: strict\n---\n";

    #[test]
    fn schemas_are_read_and_written() {
        let schema = NoteSchema::from_note(&parse(PERSON)).unwrap();
        assert_eq!((schema.entity.as_str(), schema.validation), ("person", ValidationMode::Strict));
        let rendered: Vec<_> = schema.fields.iter().map(render_field).collect();
        let pairs = [
            ("name", "string"),
            ("role?", "string"),
            ("skill?(array)", "string"),
            ("status(enum)", "[active, gone]"),
            ("works_at?", "Organization"),
        ];
        assert_eq!(rendered, pairs.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(schema.fields[0].description.as_deref(), Some("full name"));
        assert!(NoteSchema::from_note(&parse("# No schema\n")).is_none());
    }

    #[test]
    fn rendered_fields_parse_back() {
        for name in ["why?", "a: b", "@x", "f(x)", "a\\", "\\?", "a\\(b", "really? yes", "?", "#1"]
        {
            for (required, is_array) in [(true, false), (false, true), (false, false)] {
                let kind = SchemaFieldKind::Scalar("string".to_owned());
                let description = None;
                let known =
                    SchemaField { name: name.to_owned(), kind, required, is_array, description };
                let (key, value) = render_field(&known);
                assert_eq!(field(&key, &MetaValue::Text(value)), Some(known), "{key}");
            }
        }
        let plain = field("C:\\x", &MetaValue::Text("string".to_owned()));
        assert_eq!(plain.map(|field| field.name).as_deref(), Some("C:\\x"));
    }

    #[test]
    fn notes_are_validated() {
        let schema = NoteSchema::from_note(&parse(PERSON)).unwrap();
        let check = |text: &str, missing: &[&str], outside: usize, unknown: &[&str]| {
            let verdict = schema.check(&parse(text));
            assert_eq!(verdict.missing, missing, "{text}");
            assert_eq!(verdict.outside.len(), outside, "{text}");
            assert_eq!(verdict.unknown, unknown, "{text}");
        };
        check("- [name] Ada\n- [status] active #x\n- works_at [[ACME]]\n", &[], 0, &[]);
        check("- [name] Ada\n- [status] lost\n- [hobby] chess\n", &[], 1, &["hobby"]);
        check("Nothing\n", &["name", "status"], 0, &[]);
    }

    #[test]
    fn schemas_are_inferred_and_compared() {
        let texts = [
            "- [name] A\n- [skill] x\n- [skill] y\n- works_at [[C]]\n",
            "- [name] B\n- [skill] x\n",
            "- [name] C\n- [city] Rome\n",
            "- [name] D\n",
        ];
        let notes: Vec<_> = texts.iter().map(|text| parse(text)).collect();
        let notes: Vec<NoteOutline> = notes.iter().map(NoteOutline::from_note).collect();
        let found = infer_fields(&notes, 0.25);
        let shares: Vec<_> = found.iter().map(|f| (render_field(&f.field).0, f.notes)).collect();
        let expected = [("name", 4), ("skill?(array)", 2), ("city?", 1), ("works_at?", 1)];
        assert_eq!(shares, expected.map(|(name, n)| (name.to_owned(), n)));
        let drift = NoteSchema::from_note(&parse(PERSON)).unwrap().drift(&notes, 0.25);
        assert_eq!(drift.new.iter().map(|f| f.field.name.as_str()).collect::<Vec<_>>(), ["city"]);
        let dropped: Vec<_> = drift.dropped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(dropped, ["role", "status"]);
    }
}
