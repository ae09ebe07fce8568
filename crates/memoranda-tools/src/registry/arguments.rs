//! Reading the arguments of a call: forgiving about spelling, exact about what is wrong.
//!
//! Models send numbers as texts, lists as JSON texts or as one text with commas, and `null` for
//! what they leave out. All of that is understood. What is not is an error that names the
//! parameter, the value and what would fit.

use memoranda_core::globs;
use serde_json::{Map, Value};

/// The arguments of one call.
#[derive(Clone, Debug)]
pub(crate) struct ToolArgs {
    tool: &'static str,
    values: Map<String, Value>,
}

/// Why arguments cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error("The arguments of {tool} must be an object.")]
    NoObject { tool: &'static str },
    #[error("{tool} needs `{parameter}`: {expected}.")]
    Missing { tool: &'static str, parameter: String, expected: &'static str },
    #[error("`{parameter}` of {tool} must be {expected}, not {found}.")]
    Wrong { tool: &'static str, parameter: String, expected: String, found: String },
    #[error("{tool} has no parameter {}; it takes {known}.", quoted(.names))]
    Unknown { tool: &'static str, names: Vec<String>, known: String },
}

impl ToolArgs {
    /// Takes the arguments of a call; `null` means none.
    pub(crate) fn new(tool: &'static str, arguments: Value) -> Result<Self, ArgsError> {
        match arguments {
            Value::Object(values) => Ok(Self { tool, values }),
            Value::Null => Ok(Self { tool, values: Map::new() }),
            _ => Err(ArgsError::NoObject { tool }),
        }
    }

    /// Renames parameters that go by other names too. A parameter's own name wins.
    pub(crate) fn rename(&mut self, aliases: &[(&str, &[&str])]) {
        for (canonical, others) in aliases {
            for other in *others {
                let Some(value) = self.values.remove(*other) else { continue };
                if self.value(canonical).is_none() {
                    self.values.insert((*canonical).to_owned(), value);
                }
            }
        }
    }

    /// Takes empty texts for parameters that were left out, but for these: their emptiness says
    /// something.
    pub(crate) fn drop_empty(&mut self, telling: &[&str]) {
        let is_empty = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        self.values.retain(|name, value| telling.contains(&name.as_str()) || !is_empty(value));
    }

    /// The same without some parameters, if they are there.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.values.retain(|name, _| !names.contains(&name.as_str()));
        rest
    }

    /// Refuses parameters that the tool does not have.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), ArgsError> {
        let unknown = self.values.keys().filter(|name| !known.contains(&name.as_str()));
        let names: Vec<String> = unknown.cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        let known = match known {
            [] => "no parameters".to_owned(),
            known => known.join(", "),
        };
        Err(ArgsError::Unknown { tool: self.tool, names, known })
    }

    /// What a parameter was given; `None` also for `null`.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    /// Whether a parameter was given at all, be it as `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<String, ArgsError> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name, "a text"))
    }

    /// A text, if there is one. A number is taken as it is written.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, ArgsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(name, "a text", other)),
        }
    }

    /// One of several words.
    pub(crate) fn choice(&self, name: &str, words: &[&str]) -> Result<Option<String>, ArgsError> {
        let Some(word) = self.optional_text(name)? else { return Ok(None) };
        let lower = word.trim().to_lowercase();
        if words.contains(&lower.as_str()) {
            return Ok(Some(lower));
        }
        let expected = format!("one of {}", words.join(", "));
        Err(self.wrong(name, &expected, &Value::String(word)))
    }

    /// A whole number between two bounds.
    pub(crate) fn number(
        &self,
        name: &str,
        least: u64,
        most: u64,
    ) -> Result<Option<u64>, ArgsError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = integer(value).and_then(|number| u64::try_from(number).ok());
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                let expected = format!("a whole number from {least} to {most}");
                Err(self.wrong(name, &expected, value))
            }
        }
    }

    /// A number between two bounds.
    pub(crate) fn float(
        &self,
        name: &str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, ArgsError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, &format!("a number from {least} to {most}"), value)),
        }
    }

    /// Yes or no.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ArgsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// A list of texts: as a list, as a JSON text, or as one text with commas.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, ArgsError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let list = match value {
            Value::Array(list) => list.clone(),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) => list,
                _ => globs::split_globs(text).into_iter().map(Value::String).collect(),
            },
            other => return Err(self.wrong(name, "a list of texts", other)),
        };
        let mut texts = Vec::with_capacity(list.len());
        for item in list {
            match item {
                Value::String(text) if text.trim().is_empty() => {}
                Value::String(text) => texts.push(text),
                Value::Number(number) => texts.push(number.to_string()),
                _ => return Err(self.wrong(name, "a list of texts", value)),
            }
        }
        Ok(Some(texts))
    }

    /// A list of objects: as a list, or as a JSON text.
    pub(crate) fn objects(&self, name: &str) -> Result<Option<Vec<Map<String, Value>>>, ArgsError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let wrong = || self.wrong(name, "a list of objects", value);
        let parsed = match value {
            Value::String(text) => serde_json::from_str(text).map_err(|_| wrong())?,
            other => other.clone(),
        };
        let Value::Array(list) = parsed else { return Err(wrong()) };
        let object = |item| match item {
            Value::Object(object) => Ok(object),
            _ => Err(wrong()),
        };
        list.into_iter().map(object).collect::<Result<_, _>>().map(Some)
    }

    /// An object: as it is, or as a JSON text.
    pub(crate) fn object(&self, name: &str) -> Result<Option<Map<String, Value>>, ArgsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object.clone())),
            Some(value @ Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => Ok(Some(object)),
                _ => Err(self.wrong(name, "an object", value)),
            },
            Some(other) => Err(self.wrong(name, "an object", other)),
        }
    }

    /// Says that a parameter is missing.
    pub(crate) fn missing(&self, name: &str, expected: &'static str) -> ArgsError {
        ArgsError::Missing { tool: self.tool, parameter: name.to_owned(), expected }
    }

    /// Says that a parameter has a value that does not fit.
    pub(crate) fn wrong(&self, name: &str, expected: &str, found: &Value) -> ArgsError {
        const LONGEST: usize = 80;
        let mut found = found.to_string();
        if let Some((cut, _)) = found.char_indices().nth(LONGEST) {
            found.truncate(cut);
            found.push('…');
        }
        let (parameter, expected) = (name.to_owned(), expected.to_owned());
        ArgsError::Wrong { tool: self.tool, parameter, expected, found }
    }
}

/// A whole number, also as some clients write it: `5.0` or `"5"`.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() < 1e15)
                .map(|float| float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn args(value: Value) -> ToolArgs {
        ToolArgs::new("a_tool", value).unwrap()
    }

    #[test]
    fn what_models_send_is_understood() {
        let args = args(json!({
            "n": "5", "m": 5.0, "b": "True", "null": null, "csv": "a, b,", "globs": "*.{ts,tsx},*.md", "json": "[\"x\",\"y\"]",
            "list": ["p", 1], "o": "{\"k\":1}", "os": "[{\"k\":1}]"
        }));
        assert_eq!(args.number("n", 1, 9), Ok(Some(5)));
        assert_eq!(args.number("m", 1, 9), Ok(Some(5)));
        assert_eq!(args.flag("b"), Ok(Some(true)));
        assert_eq!(args.optional_text("null"), Ok(None));
        assert!(args.has("null") && !args.has("none"));
        assert_eq!(args.texts("csv").unwrap().unwrap(), ["a", "b"]);
        assert_eq!(args.texts("globs").unwrap().unwrap(), ["*.{ts,tsx}", "*.md"]);
        assert_eq!(args.texts("json").unwrap().unwrap(), ["x", "y"]);
        assert_eq!(args.texts("list").unwrap().unwrap(), ["p", "1"]);
        assert_eq!(args.object("o").unwrap().unwrap()["k"], 1);
        assert_eq!(args.objects("os").unwrap().unwrap()[0]["k"], 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_value() {
        let args = args(json!({ "n": 50, "o": [1], "w": "maybe", "x": {} }));
        for (found, expected) in [
            (
                args.number("n", 1, 9).unwrap_err(),
                "`n` of a_tool must be a whole number from 1 to 9, not 50.",
            ),
            (args.object("o").unwrap_err(), "`o` of a_tool must be an object, not [1]."),
            (
                args.choice("w", &["yes", "no"]).unwrap_err(),
                "`w` of a_tool must be one of yes, no, not \"maybe\".",
            ),
            (args.text("t").unwrap_err(), "a_tool needs `t`: a text."),
            (
                args.only(&["n", "o", "w"]).unwrap_err(),
                "a_tool has no parameter \"x\"; it takes n, o, w.",
            ),
            (
                ToolArgs::new("a_tool", json!([])).unwrap_err(),
                "The arguments of a_tool must be an object.",
            ),
        ] {
            assert_eq!(found.to_string(), expected);
        }
    }

    #[test]
    fn other_names_are_taken_unless_the_own_name_is_there() {
        let mut args = args(json!({ "q": "one", "limit": 3, "page_size": 4 }));
        args.rename(&[("query", &["q", "search"]), ("page_size", &["limit"])]);
        assert_eq!(args.text("query").unwrap(), "one");
        assert_eq!(args.number("page_size", 1, 9), Ok(Some(4)));
        assert_eq!(args.only(&["query", "page_size"]), Ok(()));
    }
}
