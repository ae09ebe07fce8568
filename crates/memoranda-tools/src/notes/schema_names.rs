//! The schemas of a project, and the lookup of a schema by name.

use std::collections::{BTreeMap, HashMap};

use memoranda_core::id::ProjectName;
use memoranda_core::note::{MetaValue, Note, type_key};
use memoranda_core::schema::NoteSchema;
use memoranda_engine::{EngineError, FileSummary, ResolveIntent, StoreError};
use serde_json::{Value, json};

use super::note_schema::notes_of_type;
use super::scope;
use crate::registry::{CallContext, ToolError};

/// Schemas of a project.
pub(super) struct ProjectSchemas {
    /// Schemas with their notes.
    pub(super) known: Vec<(FileSummary, NoteSchema)>,
    /// Permalinks of schema notes without a valid schema.
    pub(super) broken: Vec<String>,
}

impl ProjectSchemas {
    pub(super) fn load(call: &CallContext<'_>, project: &ProjectName) -> Result<Self, ToolError> {
        let (mut known, mut broken) = (Vec::new(), Vec::new());
        for (file, note) in notes_of_type(call, project, "schema")? {
            match NoteSchema::from_note(&note) {
                Some(schema) => known.push((file, schema)),
                None => broken.push(file.permalink),
            }
        }
        Ok(Self { known, broken })
    }

    /// Warns of schema notes without a valid schema. Empty if there are none.
    pub(super) fn broken_warning(&self) -> String {
        let line = |permalink: &String| {
            format!(
                "{permalink} states no schema: `schema` in its frontmatter must hold fields, one a \
                 line, such as `name: string`.\n"
            )
        };
        let broken = self.broken.iter().map(line);
        broken.chain(self.conflicts().iter().map(SchemaConflict::to_text)).collect()
    }

    /// Returns the types with several schemas.
    pub(super) fn conflicts(&self) -> Vec<SchemaConflict> {
        let mut by_type: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (file, schema) in &self.known {
            by_type.entry(type_key(&schema.entity)).or_default().push(file.permalink.clone());
        }
        let clashes = by_type.into_iter().filter(|(_, permalinks)| permalinks.len() > 1);
        clashes.map(|(entity, permalinks)| SchemaConflict { entity, permalinks }).collect()
    }
}

/// Several schemas of one type, in the order of their paths. The first one counts.
pub(super) struct SchemaConflict {
    pub(super) entity: String,
    permalinks: Vec<String>,
}

impl SchemaConflict {
    pub(super) fn to_text(&self) -> String {
        let (first, rest) = match self.permalinks.split_first() {
            Some((first, rest)) => (first.as_str(), rest.join(", ")),
            None => return String::new(),
        };
        format!(
            "Notes of type {} are held to {first} alone, though {rest} describes them too: join the \
             schemas, or give one another `entity`.\n",
            self.entity
        )
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "entity": self.entity, "schemas": self.permalinks })
    }
}

/// Schemas that notes name in their frontmatter, with a cache of lookups.
pub(super) struct SchemaReferences<'s> {
    schemas: &'s ProjectSchemas,
    seen: HashMap<String, std::result::Result<usize, String>>,
}

impl<'s> SchemaReferences<'s> {
    pub(super) fn new(schemas: &'s ProjectSchemas) -> Self {
        Self { schemas, seen: HashMap::new() }
    }

    /// Finds a schema by its type or by its note. The inner error is the reason of a failure.
    pub(super) fn find(
        &mut self,
        call: &CallContext<'_>,
        project: &ProjectName,
        name: &str,
    ) -> Result<std::result::Result<&'s NoteSchema, String>, ToolError> {
        let found = match self.seen.get(name) {
            Some(found) => found.clone(),
            None => {
                let found = self.look_up(call, project, name)?;
                self.seen.insert(name.to_owned(), found.clone());
                found
            }
        };
        let missing = || "means no schema".to_owned();
        Ok(found.and_then(|at| self.schemas.known.get(at).map(|(_, s)| s).ok_or_else(missing)))
    }

    fn look_up(
        &self,
        call: &CallContext<'_>,
        project: &ProjectName,
        name: &str,
    ) -> Result<std::result::Result<usize, String>, ToolError> {
        let known = &self.schemas.known;
        let exact = known.iter().position(|(file, schema)| {
            [&file.permalink, &file.title, &schema.entity].into_iter().any(|own| own == name)
        });
        if let Some(at) = exact {
            return Ok(Ok(at));
        }
        let bare = scope::strip_address(name);
        let resolved = match call.memory.resolve_in(project, bare, ResolveIntent::Read) {
            Ok(resolved) => resolved,
            Err(error @ (EngineError::Ambiguous { .. } | EngineError::Invalid(_))) => {
                return Ok(Err(format!("is not clear: {error}")));
            }
            Err(error @ EngineError::Store(StoreError::Index(_) | StoreError::Halted(_))) => {
                return Err(error.into());
            }
            // An invalid name does not stop the validation of other notes.
            Err(error) => return Ok(Err(format!("cannot be used: {error}"))),
        };
        let at = match &resolved {
            Some(found) => known.iter().position(|(file, _)| file.path == found.place.path),
            None => None,
        };
        let kind = type_key(bare);
        let by_type = || {
            known
                .iter()
                .position(|(_, schema)| !kind.is_empty() && type_key(&schema.entity) == kind)
        };
        Ok(at.or_else(by_type).ok_or_else(|| match resolved {
            Some(found) => format!("means {}, which states no schema", found.place.path),
            None => "names no note of this project".to_owned(),
        }))
    }
}

/// Returns the schema that a note names in its frontmatter.
pub(super) fn reference(note: &Note) -> Option<String> {
    match note.frontmatter.get("schema")? {
        // YAML parses `[[Name]]` without quotes as a list in a list.
        MetaValue::Text(_) | MetaValue::Plain(_) | MetaValue::List(_) => {
            note.frontmatter.text("schema").map(|name| name.trim().to_owned())
        }
        MetaValue::Map(_) => None,
    }
}
