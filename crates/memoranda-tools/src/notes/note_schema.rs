//! `schema_validate`, `schema_infer` and `schema_diff`: schemas of note types.

use std::collections::BTreeSet;

use memoranda_core::id::ProjectName;
use memoranda_core::note::edit::render_frontmatter;
use memoranda_core::note::{self, MetaValue, Note, one_line, type_key};
use memoranda_core::schema::{
    FieldOccurrence, NoteFields, NoteOutline, NoteSchema, SchemaReport, ValidationMode,
    infer_fields, render_field,
};
use memoranda_engine::{
    FileSummary, FilteredList, ListOrder, NoteLocation, ResolveIntent, SearchFilter, StoreError,
};
use serde_json::{Value, json};

use super::params::{COMMON, PROJECT};
use super::schema_names::{ProjectSchemas, SchemaConflict, SchemaReferences, reference};
use super::scope;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolError, ToolResult, count};

/// Maximum number of notes read in one call.
const MAX_NOTES: usize = 5000;
/// Maximum number of notes read from the index in one call.
const MAX_OUTLINES: usize = 100_000;
/// Number of notes that are read from the index between two reports of progress.
const BATCH_OUTLINES: usize = 512;
/// Maximum number of listed notes.
const MAX_LISTED: usize = 50;
/// Minimum share of notes with a field, by default.
const MIN_SHARE: f64 = 0.25;

pub(super) const VALIDATE_PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("note_type", "Type; default all with a schema"),
        Param::text("identifier", "One note"),
        PROJECT,
    ],
    COMMON,
]);

pub(super) const INFER_PARAMS: ParamTable = ParamTable::new(&[
    &[
        NOTE_TYPE,
        Param::decimal("threshold", 0.0, 1.0, "Least share of notes; default 0.25")
            .default_decimal(MIN_SHARE),
        PROJECT,
    ],
    COMMON,
]);

pub(super) const DIFF_PARAMS: ParamTable = ParamTable::new(&[&[NOTE_TYPE, PROJECT], COMMON]);

const NOTE_TYPE: Param = Param::text("note_type", "Type").required();

/// Returns the notes of a type from the index.
fn files_of_type(
    call: &CallContext<'_>,
    project: &ProjectName,
    kind: &str,
    most: usize,
) -> Result<Vec<FileSummary>, ToolError> {
    Ok(call.memory.snapshot()?.filtered_list(&FilteredList {
        filter: SearchFilter {
            projects: vec![project.clone()],
            note_types: vec![type_key(kind)],
            ..Default::default()
        },
        title: Vec::new(),
        address: None,
        order: ListOrder::Path,
        limit: most,
        offset: 0,
    })?)
}

/// Returns the fields of the notes of a type from the index.
fn outlines_of_type(
    call: &CallContext<'_>,
    project: &ProjectName,
    kind: &str,
) -> Result<Vec<NoteOutline>, ToolError> {
    let snapshot = call.memory.snapshot()?;
    let mut ids = snapshot.ids_of_type(project, &type_key(kind))?;
    ids.truncate(MAX_OUTLINES);
    let total = ids.len() as u64;
    let mut outlines = Vec::with_capacity(ids.len());
    for (n, ids) in ids.chunks(BATCH_OUTLINES).enumerate() {
        if call.is_cancelled() {
            return Err(ToolError::new("CANCELLED", "The call was cancelled."));
        }
        (call.progress)((n * BATCH_OUTLINES) as u64, total, "looking at notes");
        for row in snapshot.outlines(ids)? {
            let mut outline = NoteOutline::default();
            row.categories.iter().for_each(|category| outline.add_fact(category.as_deref()));
            row.relation_types.iter().for_each(|kind| outline.add_relation(kind));
            outlines.push(outline);
        }
    }
    Ok(outlines)
}

/// Reads and parses the notes of a type.
pub(super) fn notes_of_type(
    call: &CallContext<'_>,
    project: &ProjectName,
    kind: &str,
) -> Result<Vec<(FileSummary, Note)>, ToolError> {
    let files = files_of_type(call, project, kind, MAX_NOTES)?;
    let total = files.len() as u64;
    let mut notes = Vec::with_capacity(files.len());
    for (n, file) in files.into_iter().enumerate() {
        if call.is_cancelled() {
            return Err(ToolError::new("CANCELLED", "The call was cancelled."));
        }
        (call.progress)(n as u64, total, "reading notes");
        notes.extend(parse_note(call, file)?);
    }
    Ok(notes)
}

fn parse_note(
    call: &CallContext<'_>,
    file: FileSummary,
) -> Result<Option<(FileSummary, Note)>, ToolError> {
    let place = NoteLocation::new(&file.project, file.path.clone());
    let Ok(Some(read)) = call.memory.read_file(&place) else { return Ok(None) };
    let Ok(text) = std::str::from_utf8(&read.bytes) else { return Ok(None) };
    Ok(Some((file, note::parse(text))))
}

/// A note to validate.
struct CheckedNote {
    content: CheckedContent,
    /// The note in the index, unless it was read already.
    id: i64,
    file: Option<FileSummary>,
}

/// Content of a note as far as it is validated.
enum CheckedContent {
    /// The whole note, which may name or contain a schema.
    Parsed(Box<Note>),
    /// Facts and relations of a note of a type, from the index.
    Fields(NoteFields, String),
}

impl CheckedNote {
    fn parsed(file: FileSummary, note: Note) -> Self {
        Self { id: file.id, file: Some(file), content: CheckedContent::Parsed(Box::new(note)) }
    }
}

/// Returns the notes of a type. Facts and relations are read from the index, unless a schema needs
/// more of the note.
fn checked_notes(
    call: &CallContext<'_>,
    project: &ProjectName,
    kind: &str,
    schemas: &ProjectSchemas,
) -> Result<Vec<CheckedNote>, ToolError> {
    let kind = type_key(kind);
    let of_type = |schema: &&NoteSchema| type_key(&schema.entity) == kind;
    let schema = schemas.known.iter().map(|(_, schema)| schema).find(of_type);
    if schema.is_some_and(|schema| !schema.frontmatter.is_empty()) {
        let notes = notes_of_type(call, project, &kind)?;
        return Ok(notes.into_iter().map(|(file, note)| CheckedNote::parsed(file, note)).collect());
    }
    let snapshot = call.memory.snapshot()?;
    let mut typed = snapshot.notes_of_type(project, &kind)?;
    typed.truncate(MAX_NOTES);
    let total = typed.len() as u64;
    let mut notes = Vec::with_capacity(typed.len());
    for (n, part) in typed.chunks(BATCH_OUTLINES).enumerate() {
        if call.is_cancelled() {
            return Err(ToolError::new("CANCELLED", "The call was cancelled."));
        }
        (call.progress)((n * BATCH_OUTLINES) as u64, total, "looking at notes");
        let ids: Vec<i64> = part.iter().map(|note| note.id).collect();
        for (note, row) in part.iter().zip(snapshot.fields(&ids)?) {
            if note.may_name_schema {
                let file = snapshot.file_by_id(note.id)?;
                let parsed = file.map(|file| parse_note(call, file)).transpose()?.flatten();
                notes.extend(parsed.map(|(file, note)| CheckedNote::parsed(file, note)));
                continue;
            }
            let mut fields = NoteFields::default();
            row.facts
                .iter()
                .for_each(|(category, text)| fields.add_fact(category.as_deref(), text));
            row.relations.iter().for_each(|(kind, target)| fields.add_relation(kind, target));
            let content = CheckedContent::Fields(fields, kind.clone());
            notes.push(CheckedNote { content, id: note.id, file: None });
        }
    }
    Ok(notes)
}

pub(super) fn validate(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let named = args.optional_text("identifier")?;
    let named =
        named.map(|name| scope::find_note(call, args, &name, ResolveIntent::Read)).transpose()?;
    // A note is validated against the schemas of its own project.
    let project = match &named {
        Some(place) => place.project.clone(),
        None => scope::call_project(call, args)?,
    };
    let schemas = ProjectSchemas::load(call, &project)?;
    let note_type = args.optional_text("note_type")?;
    let notes = match (&named, &note_type) {
        (Some(place), _) => {
            let file = call.memory.snapshot()?.file(&place.project, &place.path)?;
            let parsed = file.map(|file| parse_note(call, file)).transpose()?.flatten();
            parsed.into_iter().map(|(file, note)| CheckedNote::parsed(file, note)).collect()
        }
        (None, Some(kind)) => checked_notes(call, &project, kind, &schemas)?,
        (None, None) => {
            let known = schemas.known.iter();
            let types: BTreeSet<String> = known.map(|(_, s)| type_key(&s.entity)).collect();
            let mut notes = Vec::new();
            for kind in types {
                notes.extend(checked_notes(call, &project, &kind, &schemas)?);
            }
            notes
        }
    };
    let mut report = ValidationReport::default();
    let mut references = SchemaReferences::new(&schemas);
    let is_only = notes.len() == 1;
    let snapshot = call.memory.snapshot()?;
    let checked = notes.len();
    for note in notes {
        let of_type = |kind: &str| {
            let mut known = schemas.known.iter().map(|(_, schema)| schema);
            known.find(|schema| type_key(&schema.entity) == kind)
        };
        let CheckedNote { content, id, file } = note;
        let load = || match file.clone() {
            Some(file) => Ok(Some(file)),
            None => snapshot.file_by_id(id),
        };
        match content {
            CheckedContent::Fields(fields, kind) => match of_type(&kind) {
                Some(schema) => report.add(load, schema, &schema.check_body(&fields), is_only)?,
                None => report.without_schema += 1,
            },
            CheckedContent::Parsed(note) => {
                // In this order: the inline schema, the named schema, the schema of the type.
                let own = NoteSchema::inline(&note);
                let mut schema = own.as_ref();
                if let Some(name) = reference(&note) {
                    match references.find(call, &project, &name)? {
                        Ok(named) => schema = schema.or(Some(named)),
                        Err(why) => {
                            let file = load()?;
                            report.broken_references.extend(file.map(|file| (file, name, why)));
                        }
                    }
                }
                match schema.or_else(|| of_type(&note.note_type())) {
                    Some(schema) => report.add(load, schema, &schema.check(&note), is_only)?,
                    None => report.without_schema += 1,
                }
            }
        }
    }
    let missing_type = note_type.filter(|_| named.is_none() && checked == 0);
    let head = report.head(&project, &schemas, checked, missing_type.as_deref());
    let structured = report.structured(&project, &schemas);
    Ok(ToolResult::ok(format!("{head}\n{}", report.list()), structured))
}

/// Result of the validation of notes.
#[derive(Default)]
struct ValidationReport {
    valid: usize,
    invalid: usize,
    /// Number of invalid notes with a strict schema.
    errors: usize,
    without_schema: usize,
    text: String,
    results: Vec<Value>,
    /// Notes that name a schema in vain, with the name and the reason.
    broken_references: Vec<(FileSummary, String, String)>,
}

impl ValidationReport {
    /// Adds a note. A valid note is listed only if it is the only one.
    fn add(
        &mut self,
        load: impl FnOnce() -> Result<Option<FileSummary>, StoreError>,
        schema: &NoteSchema,
        verdict: &SchemaReport,
        is_only: bool,
    ) -> Result<(), ToolError> {
        let is_error = !verdict.fits() && schema.validation == ValidationMode::Strict;
        self.errors += usize::from(is_error);
        self.valid += usize::from(verdict.fits());
        self.invalid += usize::from(!verdict.fits());
        let is_listed = !verdict.fits() || is_only;
        if !is_listed || self.results.len() >= MAX_LISTED {
            return Ok(());
        }
        let Some(file) = load()? else { return Ok(()) };
        self.text.push_str(&render_verdict(&file, schema, verdict));
        let invalid = verdict.outside.iter().map(
            |(field, value, allowed)| json!({ "field": field, "value": value, "allowed": allowed }),
        );
        self.results.push(json!({
            "title": file.title,
            "permalink": file.permalink,
            "schema": schema.entity,
            "valid": verdict.fits(),
            "severity": if is_error { "error" } else { "warning" },
            "missing": verdict.missing,
            "invalid": invalid.collect::<Vec<_>>(),
            "unknown": verdict.unknown,
        }));
        Ok(())
    }

    fn checked(&self) -> usize {
        self.valid + self.invalid
    }

    /// Renders the counts and the warnings.
    fn head(
        &self,
        project: &ProjectName,
        schemas: &ProjectSchemas,
        notes: usize,
        missing_type: Option<&str>,
    ) -> String {
        let Self { valid, invalid, errors, .. } = self;
        let mut head = format!(
            "# Schema validation in project {project}\n{} checked against {}: {valid} fit, \
             {invalid} do not ({errors} under strict schemas).\n",
            count(self.checked(), "note"),
            count(schemas.known.len(), "schema")
        );
        if let Some(kind) = missing_type {
            head.push_str(&format!("There is no note of type {kind:?}.\n"));
        }
        if self.without_schema > 0 {
            let notes = count(self.without_schema, "note");
            head.push_str(&format!("{notes} without a schema; schema_infer proposes one.\n"));
        }
        head.push_str(&schemas.broken_warning());
        for (file, name, why) in self.broken_references.iter().take(MAX_LISTED) {
            head.push_str(&format!(
                "{} asks for the schema {name:?}, which {why}: give the permalink of a note of \
                 type schema.\n",
                file.permalink
            ));
        }
        let more = self.broken_references.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            head.push_str(&format!("[{more} more name no schema]\n"));
        }
        if notes >= MAX_NOTES {
            head.push_str(&format!("Only {MAX_NOTES} notes of a type are compared.\n"));
        }
        if schemas.known.is_empty() && schemas.broken.is_empty() && self.checked() == 0 {
            head.push_str(
                "There is no schema here: a note of type `schema` with `entity` and `schema` in \
                 its frontmatter makes one; schema_infer proposes it.\n",
            );
        }
        head
    }

    /// Renders the listed notes.
    fn list(&self) -> String {
        match self.invalid.saturating_sub(MAX_LISTED) {
            0 => self.text.clone(),
            more => format!("{}[{more} more not listed; give a note_type]\n", self.text),
        }
    }

    fn structured(&self, project: &ProjectName, schemas: &ProjectSchemas) -> Value {
        let broken = self.broken_references.iter().take(MAX_LISTED).map(|(file, name, why)| {
            json!({ "permalink": file.permalink, "schema": name, "reason": why })
        });
        let conflicts = schemas.conflicts();
        json!({
            "project": project.as_str(),
            "total_notes": self.checked(),
            "valid_count": self.valid,
            "invalid_count": self.invalid,
            "error_count": self.errors,
            "without_schema": self.without_schema,
            "broken_schemas": schemas.broken,
            "broken_references": broken.collect::<Vec<_>>(),
            "clashing_schemas": conflicts.iter().map(SchemaConflict::to_json).collect::<Vec<_>>(),
            "results": self.results,
        })
    }
}

/// Renders the verdict on one note.
fn render_verdict(file: &FileSummary, schema: &NoteSchema, verdict: &SchemaReport) -> String {
    let unknown = verdict.unknown.join(", ");
    let mut text = format!("- {} ({})", file.title, file.permalink);
    if verdict.fits() {
        text.push_str(&format!(" fits the schema {}\n", schema.entity));
        if !unknown.is_empty() {
            text.push_str(&format!("  It also has {unknown}, which the schema leaves open.\n"));
        }
        return text;
    }
    if !verdict.missing.is_empty() {
        text.push_str(&format!(": missing {}", verdict.missing.join(", ")));
    }
    for (field, value, allowed) in &verdict.outside {
        text.push_str(&format!("; {field} is {value:?}, not one of {}", allowed.join(", ")));
    }
    if !unknown.is_empty() {
        text.push_str(&format!(" (not in the schema: {unknown})"));
    }
    text.push('\n');
    text
}

pub(super) fn infer_schema(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<ToolResult, ToolError> {
    let project = scope::call_project(call, args)?;
    let kind = args.text("note_type")?;
    let threshold = args.decimal("threshold")?;
    let notes = outlines_of_type(call, &project, &kind)?;
    if notes.is_empty() {
        let text = format!("There is no note of type {kind:?} in project {project}.");
        return Err(ToolError::new("NO_NOTES", text));
    }
    let found = infer_fields(&notes, threshold);
    let field = |found: &FieldOccurrence| {
        let (key, value) = render_field(&found.field);
        (key, MetaValue::Text(value))
    };
    let warn = ("validation".to_owned(), MetaValue::Text("warn".to_owned()));
    let proposed = render_frontmatter(&[
        ("type", MetaValue::Text("schema".to_owned())),
        ("entity", MetaValue::Text(kind.clone())),
        ("version", MetaValue::Plain("1".to_owned())),
        ("schema", MetaValue::Map(found.iter().map(field).collect())),
        ("settings", MetaValue::Map(vec![warn])),
    ]);
    let proposed = proposed.strip_prefix("---\n").unwrap_or(&proposed);
    let proposed = proposed.strip_suffix("---\n").unwrap_or(proposed);
    let mut text = format!(
        "# Inferred schema for {} ({} of project {project})\n\n```yaml\n{proposed}```\n\n",
        one_line(&kind),
        count(notes.len(), "note")
    );
    for field in &found {
        text.push_str(&format!(
            "- {}: {} of {} notes ({:.0} %)\n",
            field.field.name,
            field.notes,
            notes.len(),
            field.share * 100.0
        ));
    }
    text.push_str("\nwrite_note it with note_type=\"schema\" to have notes held to it.\n");
    let schema: serde_json::Map<String, Value> =
        found.iter().map(|f| render_field(&f.field)).map(|(k, v)| (k, json!(v))).collect();
    let structured = json!({
        "project": project.as_str(),
        "note_type": kind,
        "notes_analyzed": notes.len(),
        "threshold": threshold,
        "suggested_schema": schema,
        "fields": found.iter().map(|f| json!({
            "name": f.field.name,
            "count": f.notes,
            "frequency": (f.share * 1000.0).round() / 1000.0,
            "required": f.field.required,
            "array": f.field.is_array,
        })).collect::<Vec<_>>(),
    });
    Ok(ToolResult::ok(text, structured))
}

pub(super) fn diff(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let project = scope::call_project(call, args)?;
    let kind = args.text("note_type")?;
    let schemas = ProjectSchemas::load(call, &project)?;
    let schema =
        schemas.known.iter().find(|(_, schema)| type_key(&schema.entity) == type_key(&kind));
    let Some((file, schema)) = schema else {
        let text = format!(
            "There is no schema for {kind:?} in {project}; schema_infer proposes one. {}",
            schemas.broken_warning()
        );
        let text = text.trim_end();
        return Err(ToolError::new("NO_SCHEMA", text));
    };
    let notes = outlines_of_type(call, &project, &kind)?;
    let drift = schema.drift(&notes, MIN_SHARE);
    let mut text = format!(
        "# Schema {} ({}) and {} of project {project}\n",
        schema.entity,
        file.permalink,
        count(notes.len(), "note")
    );
    let clashes = schemas.conflicts();
    let clash = clashes.iter().find(|clash| clash.entity == type_key(&kind));
    text.push_str(&clash.map(SchemaConflict::to_text).unwrap_or_default());
    for field in &drift.new {
        let (key, value) = render_field(&field.field);
        text.push_str(&format!("- new: {key}: {value} ({:.0} % of notes)\n", field.share * 100.0));
    }
    for (name, share) in &drift.dropped {
        text.push_str(&format!("- hardly used: {name} ({:.0} % of notes)\n", share * 100.0));
    }
    if drift.new.is_empty() && drift.dropped.is_empty() {
        text.push_str("They agree.\n");
    }
    let structured = json!({
        "project": project.as_str(),
        "note_type": kind,
        "schema": file.permalink,
        "notes_analyzed": notes.len(),
        "new_fields": drift.new.iter().map(|f| json!({
            "name": f.field.name, "frequency": (f.share * 1000.0).round() / 1000.0,
        })).collect::<Vec<_>>(),
        "dropped_fields": drift.dropped.iter().map(|(name, share)| json!({
            "name": name, "frequency": (share * 1000.0).round() / 1000.0,
        })).collect::<Vec<_>>(),
    });
    Ok(ToolResult::ok(text, structured))
}
