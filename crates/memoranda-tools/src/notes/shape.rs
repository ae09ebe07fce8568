//! The schemas of the notes tools, as short as they can be: a client reads all of them at once.

use serde_json::{Map, Value, json};

use super::{directory, edit, search};

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn number(least: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn objects(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": description })
}

fn object(description: &str) -> Value {
    json!({ "type": "object", "description": description })
}

fn choice(words: &[&str], description: &str) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

/// The parameters of a tool; the first `required` of them must be given.
fn input(required: usize, properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().take(required).map(|(name, _)| *name).collect();
    let all: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = json!({ "type": "object", "properties": all, "additionalProperties": false });
    if !names.is_empty() {
        schema["required"] = json!(names);
    }
    schema
}

fn project() -> (&'static str, Value) {
    ("project", text("Project, else default"))
}

fn identifier() -> (&'static str, Value) {
    ("identifier", text("Title, permalink, path or memory:// address"))
}

fn checksum() -> (&'static str, Value) {
    ("expected_checksum", text("Only if the note is still this version"))
}

fn paging() -> [(&'static str, Value); 2] {
    [("page", number(1, "Page")), ("page_size", number(1, "Items a page"))]
}

fn tokens() -> (&'static str, Value) {
    ("max_tokens", number(1, "Most tokens to return"))
}

fn as_of() -> (&'static str, Value) {
    ("as_of", text("As it was: a time or a commit"))
}

pub(super) fn write_note() -> Value {
    input(
        3,
        &[
            ("title", text("Title, and file name")),
            ("content", text("Markdown: `- [category] fact #tag`, `- relates_to [[Note]]`")),
            ("directory", text("Folder; \"\" for the top")),
            project(),
            ("tags", texts("Tags")),
            ("note_type", text("Type; default `note`")),
            ("metadata", object("More frontmatter")),
            ("overwrite", flag("Replace an existing note")),
            checksum(),
        ],
    )
}

fn start() -> [(&'static str, Value); 2] {
    let line = number(1, "First line to show");
    [("start_line", line), ("start_column", number(1, "First character of that line"))]
}

pub(super) fn read_note() -> Value {
    let [page, page_size] = paging();
    let [line, column] = start();
    input(
        1,
        &[
            identifier(),
            project(),
            page,
            page_size,
            ("include_frontmatter", flag("Frontmatter in `content` too")),
            line,
            column,
            tokens(),
            as_of(),
        ],
    )
}

pub(super) fn view_note() -> Value {
    let [page, page_size] = paging();
    let [line, column] = start();
    input(1, &[identifier(), project(), page, page_size, line, column, tokens(), as_of()])
}

pub(super) fn edit_note() -> Value {
    input(
        3,
        &[
            identifier(),
            ("operation", choice(&edit::OPERATIONS, "What to do")),
            ("content", text("Text to put in")),
            project(),
            ("section", text("Heading, for section operations")),
            ("find_text", text("Text to replace, for find_replace")),
            ("expected_replacements", number(1, "How often it occurs; default 1")),
            ("replace_subsections", flag("Default true")),
            ("metadata", object("Frontmatter to set; mappings are merged, `a.b` leads into one")),
            checksum(),
        ],
    )
}

pub(super) fn move_note() -> Value {
    input(
        1,
        &[
            ("identifier", text("Note, or folder")),
            ("destination_path", text("New path, with extension")),
            ("destination_folder", text("Or: new folder, same name")),
            project(),
            ("is_directory", flag("Move a folder")),
            ("update_links", flag("Rename links that would break, in the same commit")),
            checksum(),
        ],
    )
}

pub(super) fn delete_note() -> Value {
    let identifier = ("identifier", text("Note, or folder"));
    input(1, &[identifier, project(), ("is_directory", flag("Delete a folder")), checksum()])
}

pub(super) fn search_notes() -> Value {
    let [page, page_size] = paging();
    input(
        0,
        &[
            ("query", text("Words, \"phrase\", begin*, -not, tag:x, memory://folder/*")),
            project(),
            ("search_all_projects", flag("Look in every project")),
            page,
            page_size,
            ("search_type", choice(&search::TYPES, "Default hybrid")),
            ("note_types", texts("Types of note")),
            ("entity_types", texts("entity, observation, relation")),
            ("categories", texts("Categories of observations")),
            ("after_date", text("Changed since: date or `7d`")),
            (
                "metadata_filters",
                object("Frontmatter: value, list (all), or {$in|$gt|$gte|$lt|$lte|$between: …}"),
            ),
            ("tags", texts("Tags, all of them")),
            ("status", text("Frontmatter `status`")),
            (
                "min_similarity",
                json!({ "type": "number", "description": "Least likeness by meaning, 0-1; 0 also shows unlikely ones" }),
            ),
            tokens(),
        ],
    )
}

pub(super) fn build_context() -> Value {
    let [page, page_size] = paging();
    input(
        1,
        &[
            ("url", text("memory://folder/note, memory://folder/*, or a title")),
            project(),
            ("depth", number(0, "Links to follow; default 1")),
            ("timeframe", text("Only related notes changed since, such as `7d`")),
            page,
            page_size,
            ("max_related", number(1, "Most related notes; default 10")),
            tokens(),
            as_of(),
            ("output_format", choice(&["json", "text"], "Default json")),
        ],
    )
}

pub(super) fn recent_activity() -> Value {
    let [page, page_size] = paging();
    input(
        0,
        &[
            ("type", texts("entity (default), observation, relation")),
            ("timeframe", text("`7d` (default), `yesterday`, `2 weeks`")),
            ("project", text("Project; default all")),
            page,
            page_size,
        ],
    )
}

pub(super) fn list_directory() -> Value {
    let [page, page_size] = paging();
    input(
        0,
        &[
            ("dir_name", text("Folder; default /")),
            ("depth", number(1, "Levels, to 10")),
            ("file_name_glob", text("Such as *.md, 2026-0[1-3]* or **/{a,b}.md")),
            ("sort", choice(&directory::SORTS, "Order of files")),
            page,
            page_size,
            project(),
        ],
    )
}

pub(super) fn read_content() -> Value {
    input(1, &[("path", text("File path")), project(), tokens()])
}

pub(super) fn canvas() -> Value {
    input(
        4,
        &[
            ("nodes", objects("{id, type: text|file|link|group, x, y, width, height, …}")),
            ("edges", objects("{id, fromNode, toNode, label?}")),
            ("title", text("File name")),
            ("directory", text("Folder")),
            ("overwrite", flag("Replace an existing canvas")),
            project(),
            checksum(),
        ],
    )
}

pub(super) fn nothing() -> Value {
    input(0, &[])
}

pub(super) fn create_project() -> Value {
    input(
        1,
        &[
            ("project_name", text("Name")),
            ("project_path", text("Folder; default in the vault")),
            ("set_default", flag("Make it the default")),
        ],
    )
}

pub(super) fn delete_project() -> Value {
    input(1, &[("project_name", text("Name")), ("delete_notes", flag("Delete its files too"))])
}

pub(super) fn schema_validate() -> Value {
    let kind = ("note_type", text("Type; default all with a schema"));
    input(0, &[kind, ("identifier", text("One note")), project()])
}

pub(super) fn schema_infer() -> Value {
    let share = json!({ "type": "number", "description": "Least share of notes; default 0.25" });
    input(1, &[("note_type", text("Type")), ("threshold", share), project()])
}

pub(super) fn schema_diff() -> Value {
    input(1, &[("note_type", text("Type")), project()])
}

pub(super) fn chatgpt_search() -> Value {
    input(1, &[("query", text("What to look for"))])
}

pub(super) fn chatgpt_fetch() -> Value {
    input(1, &[("id", text("An id that `search` gave"))])
}

/// A result of which the guide says more than every client must read.
pub(super) fn plain() -> Value {
    json!({ "type": "object" })
}

/// The result of a change: where the note is, and the commit that can be undone.
pub(super) fn changed() -> Value {
    let text = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": { "file_path": text, "permalink": text, "checksum": text, "commit": text }
    })
}

/// The result of a question: what was found, and whether there is more.
pub(super) fn found() -> Value {
    json!({
        "type": "object",
        "properties": { "results": { "type": "array" }, "has_more": { "type": "boolean" } }
    })
}
