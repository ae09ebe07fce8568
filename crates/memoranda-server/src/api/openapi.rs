//! The description of the HTTP API (OpenAPI 3.1), made from the route table and the tool table.

use memoranda_tools::{ToolDef, ToolSettings};
use serde_json::{Map, Value, json};

use super::answers::AnswerSchemas;
use super::routes::{HttpRoute, RouteAccess, RouteParameter, routes};

/// Prefix of the names of schemas in the document.
const SCHEMAS: &str = "#/components/schemas/";

/// Returns the description of every route, and of every tool as a route of its own.
pub fn openapi_document(
    version: &str,
    tools: &mut dyn Iterator<Item = &'static ToolDef>,
    settings: &ToolSettings,
) -> Value {
    let answers = AnswerSchemas::read();
    let mut schemas = answers.named.clone();
    schemas.insert("Problem".to_owned(), problem_schema());
    schemas.insert("ToolFailure".to_owned(), tool_failure_schema());
    let mut paths: Map<String, Value> = Map::new();
    for route in routes() {
        let item = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        item[route.method.to_ascii_lowercase()] = operation(route, &answers);
    }
    for tool in tools {
        let result = answers.of_tool(tool.name).cloned().unwrap_or_else(|| (tool.output)());
        let name = format!("{}Result", pascal_case(tool.name));
        paths.insert(format!("/api/tools/{}", tool.name), tool_path(tool, settings, &name));
        schemas.insert(name, result);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Memoranda",
            "version": version,
            "description": DESCRIPTION,
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "the server's token: `memoranda token` prints it",
                },
                "session": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "a session of the page: POST /api/page/session",
                },
            },
            "schemas": schemas,
        },
    })
}

/// Description of the API as a whole.
const DESCRIPTION: &str = "Errors are problem details (RFC 9457). Lists have `items` and a cursor \
     `next`. Answers may have further members. `X-MCP-Toolsets: all` selects every tool for one \
     call; `X-Memoranda-Repository` names the repository that a call is about.";

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "code": { "type": "string" },
            "detail": { "type": "string" },
        },
    })
}

/// Schema of a call that the caller can correct: `text` says how.
fn tool_failure_schema() -> Value {
    json!({
        "type": "object",
        "required": ["is_error", "structured", "text"],
        "properties": {
            "is_error": { "const": true },
            "structured": { "type": "object" },
            "text": { "type": "string" },
        },
    })
}

fn operation(route: &HttpRoute, answers: &AnswerSchemas) -> Value {
    let mut parameters = path_parameters(route.path);
    let takes_body = route.method != "GET";
    if !takes_body {
        parameters.extend(route.parameters.iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "in": "query",
                "required": parameter.is_required,
                "description": parameter.summary,
                "schema": parameter_schema(parameter),
            })
        }));
    }
    let content = match (route.access, route.path) {
        (RouteAccess::Shell, path) => json!({ file_type(path): {} }),
        (_, "/api/page/events") => json!({ "text/event-stream": {} }),
        (_, "/api/page/file" | "/api/page/export") => json!({ "*/*": {} }),
        (_, path) if path.starts_with("/mcp") => {
            json!({ "application/json": {}, "text/event-stream": {} })
        }
        (_, path) => {
            let schema = match (answers.of_route(route.method, path), path) {
                (Some(schema), _) => schema.clone(),
                (None, "/api/tools/{name}") => answer_schema(&json!({ "type": "object" })),
                (None, _) => json!({ "type": "object" }),
            };
            json!({ "application/json": { "schema": schema } })
        }
    };
    let mut operation = json!({
        "operationId": operation_id(route),
        "tags": [tag(route.path)],
        "summary": route.summary,
        "security": security(route.access),
        "parameters": parameters,
        "responses": responses(&content),
    });
    if takes_body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body_schema(route.parameters) } },
        });
    }
    operation
}

fn tool_path(tool: &ToolDef, settings: &ToolSettings, result: &str) -> Value {
    let schema = answer_schema(&json!({ "$ref": format!("{SCHEMAS}{result}") }));
    let content = json!({ "application/json": { "schema": schema } });
    json!({
        "post": {
            "operationId": format!("tool_{}", tool.name),
            "tags": ["tools"],
            "summary": tool.title,
            "description": tool.description(settings),
            "security": security(RouteAccess::Token),
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": tool.input_schema(settings) } },
            },
            "responses": responses(&content),
        },
    })
}

/// Returns the schema of a tool's answer: its result, or what the caller can correct.
fn answer_schema(result: &Value) -> Value {
    json!({
        "oneOf": [
            {
                "type": "object",
                "required": ["is_error", "structured", "text"],
                "properties": {
                    "is_error": { "const": false },
                    "structured": result,
                    "text": { "type": "string" },
                },
            },
            { "$ref": format!("{SCHEMAS}ToolFailure") },
        ],
    })
}

/// Returns a unique name of a route, such as `get_page_note_versions`.
fn operation_id(route: &HttpRoute) -> String {
    let path = route.path.trim_start_matches("/api");
    let parts = path.split(['/', '-', '.']).map(|part| part.trim_matches(['{', '}']));
    let parts = parts.filter(|part| !part.is_empty());
    let method = route.method.to_ascii_lowercase();
    parts.fold(method, |name, part| format!("{name}_{part}"))
}

/// Returns the group of a route.
fn tag(path: &str) -> &'static str {
    match path {
        path if path.starts_with("/api/page/") => "page",
        path if path.starts_with("/mcp") => "mcp",
        path if path.starts_with("/api/tools/") => "tools",
        path if path.starts_with("/api/") => "server",
        _ => "files",
    }
}

/// Returns the media type of a file of the page.
fn file_type(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript",
        Some((_, "css")) => "text/css",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html",
    }
}

/// Returns `read_note` as `ReadNote`.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(word).collect()
}

fn parameter_schema(parameter: &RouteParameter) -> Value {
    match parameter.kind {
        "array" => json!({ "type": "array", "items": { "type": "string" } }),
        "objects" => json!({ "type": "array", "items": { "type": "object" } }),
        kind => json!({ "type": kind }),
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    names.map(parameter).collect()
}

fn body_schema(parameters: &[RouteParameter]) -> Value {
    let property = |parameter: &RouteParameter| {
        let mut schema = parameter_schema(parameter);
        // The version of a file that must not exist is null, and the value of an unset setting.
        if matches!(parameter.name, "expected" | "value") {
            schema["type"] = json!([parameter.kind, "null"]);
        }
        schema["description"] = json!(parameter.summary);
        (parameter.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = parameters.iter().map(property).collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.is_required)
        .map(|parameter| parameter.name)
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn security(access: RouteAccess) -> Value {
    match access {
        RouteAccess::Shell | RouteAccess::Public => json!([]),
        RouteAccess::Token => json!([{ "token": [] }]),
        RouteAccess::Session => json!([{ "session": [] }]),
    }
}

fn responses(content: &Value) -> Value {
    json!({
        "200": { "description": "the answer", "content": content },
        "default": {
            "description": "a problem",
            "content": {
                "application/problem+json": {
                    "schema": { "$ref": "#/components/schemas/Problem" },
                },
            },
        },
    })
}
