//! Shapes of the answers: reads `answers.txt` into JSON schemas for the description of the API.

use serde_json::{Map, Value, json};

/// The shapes, in the notation that its first lines explain.
const ANSWERS: &str = include_str!("answers.txt");

/// JSON schemas of the answers.
pub(super) struct AnswerSchemas {
    /// Shapes with a name.
    pub(super) named: Map<String, Value>,
    /// Schemas of routes, by `METHOD /path`, and of tools, by `tool name`.
    assigned: Map<String, Value>,
}

impl AnswerSchemas {
    /// Reads the shapes. A line that is not valid ends the reading; a test finds it.
    pub(super) fn read() -> Self {
        let mut parser = ShapeParser::new(ANSWERS);
        let mut schemas = Self { named: Map::new(), assigned: Map::new() };
        while let Some((key, schema)) = parser.definition(&schemas.named) {
            match key {
                DefinitionKey::Name(name) => schemas.named.insert(name, schema),
                DefinitionKey::Answer(answer) => schemas.assigned.insert(answer, schema),
            };
        }
        schemas
    }

    /// Returns the schema of the answer of a route.
    pub(super) fn of_route(&self, method: &str, path: &str) -> Option<&Value> {
        self.assigned.get(&format!("{method} {path}"))
    }

    /// Returns the schema of the structured result of a tool.
    pub(super) fn of_tool(&self, name: &str) -> Option<&Value> {
        self.assigned.get(&format!("tool {name}"))
    }
}

/// Left side of a definition.
enum DefinitionKey {
    /// `Name = …`
    Name(String),
    /// `GET /path -> …` or `tool name -> …`
    Answer(String),
}

/// Parser of the notation.
struct ShapeParser<'t> {
    rest: &'t str,
}

impl<'t> ShapeParser<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> Option<&'t str> {
        self.skip_space();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).filter(|(word, _)| !word.is_empty())?;
        self.rest = rest;
        Some(word)
    }

    fn definition(&mut self, named: &Map<String, Value>) -> Option<(DefinitionKey, Value)> {
        self.skip_space();
        let line = self.rest.lines().next()?;
        let name = line.split_once(" = ").map(|(name, _)| name);
        let name = name.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let (key, rest) = match name {
            Some(name) => (DefinitionKey::Name(name.to_owned()), self.rest.split_once(" = ")?.1),
            None => {
                let (answer, rest) = self.rest.split_once(" -> ")?;
                (DefinitionKey::Answer(answer.to_owned()), rest)
            }
        };
        self.rest = rest;
        Some((key, self.union(named)?))
    }

    /// Reads `A | B`, with `[]` behind each.
    fn union(&mut self, named: &Map<String, Value>) -> Option<Value> {
        let (mut types, mut words, mut others) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match self.single(named)? {
                ShapePart::Literal(word) => words.push(word),
                ShapePart::Primitive(name) => types.push(name),
                ShapePart::Schema(schema) => others.push(schema),
            }
            if !self.takes("|") {
                break;
            }
        }
        if !words.is_empty() {
            others.push(json!({ "type": "string", "enum": words }));
        }
        match types.as_slice() {
            [] => {}
            [one] => others.push(json!({ "type": one })),
            several => others.push(json!({ "type": several })),
        }
        if others.len() == 1 { others.pop() } else { Some(json!({ "anyOf": others })) }
    }

    fn single(&mut self, named: &Map<String, Value>) -> Option<ShapePart<'t>> {
        let mut part = if self.takes("\"") {
            let (word, rest) = self.rest.split_once('"')?;
            self.rest = rest;
            ShapePart::Literal(word)
        } else if self.takes("{") {
            ShapePart::Schema(self.object(named)?)
        } else {
            match self.word()? {
                name @ ("string" | "integer" | "number" | "boolean" | "null") => {
                    ShapePart::Primitive(name)
                }
                "any" => ShapePart::Schema(json!({})),
                "map" if self.takes("<") => {
                    let values = self.union(named)?;
                    self.takes(">").then_some(())?;
                    ShapePart::Schema(json!({ "type": "object", "additionalProperties": values }))
                }
                name => {
                    named.get(name)?;
                    ShapePart::Schema(json!({ "$ref": format!("#/components/schemas/{name}") }))
                }
            }
        };
        while self.takes("[]") {
            part = ShapePart::Schema(json!({ "type": "array", "items": part.into_schema() }));
        }
        Some(part)
    }

    fn object(&mut self, named: &Map<String, Value>) -> Option<Value> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        while !self.takes("}") {
            if self.takes("...") {
                let base = named.get(self.word()?)?;
                properties.extend(base["properties"].as_object()?.clone());
                required.extend(base["required"].as_array()?.iter().cloned());
            } else {
                let name = self.word()?;
                if !self.takes("?") {
                    required.push(json!(name));
                }
                self.takes(":").then_some(())?;
                properties.insert(name.to_owned(), self.union(named)?);
            }
            self.takes(",");
        }
        Some(json!({ "type": "object", "properties": properties, "required": required }))
    }
}

/// One part of a union.
enum ShapePart<'t> {
    Literal(&'t str),
    Primitive(&'t str),
    Schema(Value),
}

impl ShapePart<'_> {
    fn into_schema(self) -> Value {
        match self {
            Self::Literal(word) => json!({ "type": "string", "enum": [word] }),
            Self::Primitive(name) => json!({ "type": name }),
            Self::Schema(schema) => schema,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::routes;

    fn parsed(text: &str) -> Option<Value> {
        let named = Map::from_iter([(
            "Place".to_owned(),
            json!({ "type": "object", "properties": { "path": {} }, "required": ["path"] }),
        )]);
        let mut parser = ShapeParser::new(text);
        parser.union(&named).filter(|_| parser.rest.is_empty())
    }

    #[test]
    fn shapes_become_schemas() {
        let place = json!({ "$ref": "#/components/schemas/Place" });
        for (text, schema) in [
            ("string", json!({ "type": "string" })),
            ("string | null", json!({ "type": ["string", "null"] })),
            ("\"a\" | \"b\"", json!({ "type": "string", "enum": ["a", "b"] })),
            ("any[]", json!({ "type": "array", "items": {} })),
            ("Place | null", json!({ "anyOf": [place, { "type": "null" }] })),
            (
                "map<integer>",
                json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
            ),
            (
                "{ ...Place, line?: integer }",
                json!({
                    "type": "object",
                    "properties": { "path": {}, "line": { "type": "integer" } },
                    "required": ["path"],
                }),
            ),
        ] {
            assert_eq!(parsed(text), Some(schema), "{text}");
        }
        for bad in ["", "{", "{ a }", "Unknown", "map<", "string |"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_line_is_read_and_names_a_route_or_a_tool() {
        let schemas = AnswerSchemas::read();
        let is_definition =
            |line: &&str| !line.starts_with('#') && (line.contains(" -> ") || line.contains(" = "));
        let definitions = ANSWERS.lines().filter(is_definition).count();
        assert_eq!(schemas.named.len() + schemas.assigned.len(), definitions);
        for key in schemas.assigned.keys() {
            let is_route =
                |key: &str| routes().any(|route| format!("{} {}", route.method, route.path) == key);
            let is_tool = |key: &str| {
                key.strip_prefix("tool ").is_some_and(|name| memoranda_tools::tool(name).is_some())
            };
            assert!(is_route(key) || is_tool(key), "{key}");
        }
    }
}
