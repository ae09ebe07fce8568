//! The description of the HTTP API (OpenAPI 3.1), made from the route table and the tool table.

use memoranda_tools::{ToolDef, ToolSettings};
use serde_json::{Map, Value, json};

use super::routes::{HttpRoute, RouteAccess, RouteParameter, routes};

/// Returns the description of every route, and of every tool as a route of its own.
pub fn openapi_document(
    version: &str,
    tools: &mut dyn Iterator<Item = &'static ToolDef>,
    settings: &ToolSettings,
) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes() {
        let item = paths.entry(route.path.to_owned()).or_insert_with(|| json!({}));
        item[route.method.to_ascii_lowercase()] = operation(route);
    }
    for tool in tools {
        paths.insert(format!("/api/tools/{}", tool.name), tool_path(tool, settings));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Memoranda",
            "version": version,
            "description": "Errors are problem details (RFC 9457). Lists have `items` and a cursor `next`.",
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
            "schemas": {
                "Problem": {
                    "type": "object",
                    "required": ["type", "title", "status", "code", "detail"],
                    "properties": {
                        "type": { "type": "string" },
                        "title": { "type": "string" },
                        "status": { "type": "integer" },
                        "code": { "type": "string" },
                        "detail": { "type": "string" },
                    },
                },
            },
        },
    })
}

fn operation(route: &HttpRoute) -> Value {
    let mut parameters = path_parameters(route.path);
    let takes_body = route.method != "GET";
    if !takes_body {
        parameters.extend(route.parameters.iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "in": "query",
                "required": parameter.is_required,
                "description": parameter.summary,
                "schema": { "type": parameter.kind },
            })
        }));
    }
    let content = match (route.access, route.path) {
        (RouteAccess::Shell, _) => json!({}),
        (_, "/api/page/events") => json!({ "text/event-stream": {} }),
        (_, "/api/page/file") => json!({ "application/octet-stream": {} }),
        _ => json!({ "application/json": { "schema": { "type": "object" } } }),
    };
    let mut operation = json!({
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

fn tool_path(tool: &ToolDef, settings: &ToolSettings) -> Value {
    let content = json!({
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {
                    "structured": {},
                    "text": { "type": "string" },
                    "is_error": { "type": "boolean" },
                },
            },
        },
    });
    json!({
        "post": {
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

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    names.map(parameter).collect()
}

fn body_schema(parameters: &[RouteParameter]) -> Value {
    let property = |parameter: &RouteParameter| {
        // The version of a file that must not exist is null.
        let kind = if parameter.name == "expected" {
            json!([parameter.kind, "null"])
        } else {
            json!(parameter.kind)
        };
        let schema = json!({ "type": kind, "description": parameter.summary });
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
