//! Reads the arguments of a call.
//!
//! Models send numbers as texts, lists as JSON texts or as one text with commas, and `null` for
//! absent arguments. All of these are accepted. An error names the parameter, the value and the
//! expected type.

use memoranda_core::abbreviate::abbreviate;
use memoranda_core::globs;
use serde_json::{Map, Value};

use super::params::{Param, ParamDefault, ParamKind, ParamTable, ParamVisibility};

/// The arguments of one call.
#[derive(Clone, Debug)]
pub struct ToolArgs {
    tool: &'static str,
    table: ParamTable,
    values: Map<String, Value>,
}

/// Reason why arguments are invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgsError {
    /// The arguments are another JSON value than an object.
    #[error("The arguments of {tool} must be an object.")]
    NotAnObject {
        /// Name of the tool.
        tool: &'static str,
    },
    /// A required argument is absent.
    #[error("{tool} needs `{parameter}`: {expected}.")]
    Missing {
        /// Name of the tool.
        tool: &'static str,
        /// Name of the parameter.
        parameter: String,
        /// Description of a valid value.
        expected: &'static str,
    },
    /// An argument has another type or is out of its limits.
    #[error("`{parameter}` of {tool} must be {expected}, not {found}.")]
    Wrong {
        /// Name of the tool.
        tool: &'static str,
        /// Name of the parameter.
        parameter: String,
        /// Description of a valid value.
        expected: String,
        /// The given value, abbreviated.
        found: String,
    },
    /// The tool does not have these parameters.
    #[error("{tool} has no parameter {}; it takes {known}.", quoted(.names))]
    Unknown {
        /// Name of the tool.
        tool: &'static str,
        /// The unknown names.
        names: Vec<String>,
        /// The tool's parameters, separated by commas.
        known: String,
    },
}

impl ToolArgs {
    /// Takes the arguments of a call; `null` means no arguments.
    fn new(tool: &'static str, table: ParamTable, arguments: Value) -> Result<Self, ArgsError> {
        match arguments {
            Value::Object(values) => Ok(Self { tool, table, values }),
            Value::Null => Ok(Self { tool, table, values: Map::new() }),
            _ => Err(ArgsError::NotAnObject { tool }),
        }
    }

    /// Reads arguments by a parameter table: resolves aliases and drops empty optional arguments.
    pub(crate) fn read(
        tool: &'static str,
        table: ParamTable,
        arguments: Value,
    ) -> Result<Self, ArgsError> {
        let mut args = Self::new(tool, table, arguments)?;
        for param in table.all().filter(|param| !param.aliases.is_empty()) {
            if param.aliases_agree {
                args.check_aliases(param)?;
            }
            args.rename(param);
        }
        args.values.retain(|name, value| {
            let param = table.find(name);
            param.is_none_or(|param| !param.is_absent(value))
        });
        Ok(args)
    }

    /// Rejects arguments that the parameter table does not have.
    pub(crate) fn reject_unknown(&self) -> Result<(), ArgsError> {
        // A tool without parameters cannot misunderstand one.
        if self.table.accepts_unknown || self.table.all().next().is_none() {
            return Ok(());
        }
        let unknown = self.values.keys().filter(|name| self.table.find(name).is_none());
        let names: Vec<String> = unknown.cloned().collect();
        let listed: Vec<&str> = self.table.listed().map(|param| param.name).collect();
        if names.is_empty() { Ok(()) } else { Err(self.unknown(names, &listed)) }
    }

    /// Returns the names of the given arguments that have no effect.
    pub(crate) fn ignored(&self) -> Vec<&'static str> {
        let is_ignored = |name: &&'static str| {
            self.table.find(name).is_some_and(|param| param.visibility == ParamVisibility::Ignored)
        };
        let given = self.table.all().map(|param| param.name);
        given.filter(|name| self.value(name).is_some()).filter(is_ignored).collect()
    }

    /// Renames the aliases of a parameter. Its own name takes precedence.
    fn rename(&mut self, param: &Param) {
        for alias in param.aliases {
            let Some(value) = self.values.remove(*alias) else { continue };
            if self.value(param.name).is_none() {
                self.values.insert(param.name.to_owned(), value);
            }
        }
    }

    /// Rejects different values of a parameter under its names.
    fn check_aliases(&self, param: &Param) -> Result<(), ArgsError> {
        let names = std::iter::once(&param.name).chain(param.aliases);
        let mut given = names.filter_map(|name| Some((*name, self.value(name)?)));
        let Some((first, expected)) = given.next() else { return Ok(()) };
        match given.find(|(_, value)| *value != expected) {
            Some((name, value)) => {
                Err(self.wrong(name, &format!("the same as `{first}` ({expected})"), value))
            }
            None => Ok(()),
        }
    }

    fn unknown(&self, names: Vec<String>, known: &[&str]) -> ArgsError {
        let known = match known {
            [] => "no parameters".to_owned(),
            known => known.join(", "),
        };
        ArgsError::Unknown { tool: self.tool, names, known }
    }

    /// Returns an argument. `None` if it is absent or `null`.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    /// Returns true if an argument was given, even as `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns a required text.
    pub(crate) fn text(&self, name: &str) -> Result<String, ArgsError> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name, "a text"))
    }

    /// Returns a text. A number is accepted as it is written.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, ArgsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(name, "a text", other)),
        }
    }

    /// Returns one of several words.
    pub(crate) fn choice(&self, name: &str, words: &[&str]) -> Result<Option<String>, ArgsError> {
        let Some(word) = self.optional_text(name)? else { return Ok(None) };
        let lower = word.trim().to_lowercase();
        if words.contains(&lower.as_str()) {
            return Ok(Some(lower));
        }
        let expected = format!("one of {}", words.join(", "));
        Err(self.wrong(name, &expected, &Value::String(word)))
    }

    /// Returns a word of a choice by the parameter table, or its default.
    pub(crate) fn word(&self, name: &str) -> Result<String, ArgsError> {
        let default = match self.table.find(name).and_then(|param| param.default) {
            Some(ParamDefault::Word(word)) => Some(word.to_owned()),
            _ => None,
        };
        let word = self.optional_word(name)?.or(default);
        word.ok_or_else(|| self.missing(name, "a word"))
    }

    /// Returns a word of a choice by the parameter table.
    pub(crate) fn optional_word(&self, name: &str) -> Result<Option<String>, ArgsError> {
        match self.table.find(name).map(|param| param.kind) {
            Some(ParamKind::Choice(words)) => self.choice(name, words),
            Some(_) => self.optional_text(name),
            None => Ok(None),
        }
    }

    /// Returns a whole number by the parameter table, or its default.
    pub(crate) fn integer(&self, name: &str) -> Result<usize, ArgsError> {
        let default = match self.table.find(name).and_then(|param| param.default) {
            Some(ParamDefault::Integer(number)) => {
                Some(usize::try_from(number).unwrap_or(usize::MAX))
            }
            _ => None,
        };
        let number = self.optional_integer(name)?.or(default);
        number.ok_or_else(|| self.missing(name, "a whole number"))
    }

    /// Returns a whole number by the parameter table.
    pub(crate) fn optional_integer(&self, name: &str) -> Result<Option<usize>, ArgsError> {
        let (min, max) = match self.table.find(name).map(|param| param.kind) {
            Some(ParamKind::Integer { min, max }) => (min, max),
            _ => (0, u64::MAX),
        };
        let number = self.number(name, min, max)?;
        Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// Returns a number by the parameter table, or its default.
    pub(crate) fn decimal(&self, name: &str) -> Result<f64, ArgsError> {
        let default = match self.table.find(name).and_then(|param| param.default) {
            Some(ParamDefault::Decimal(number)) => Some(number),
            _ => None,
        };
        let number = self.optional_decimal(name)?.or(default);
        number.ok_or_else(|| self.missing(name, "a number"))
    }

    /// Returns a number by the parameter table.
    pub(crate) fn optional_decimal(&self, name: &str) -> Result<Option<f64>, ArgsError> {
        let (min, max) = match self.table.find(name).map(|param| param.kind) {
            Some(ParamKind::Decimal { min, max }) => (min, max),
            _ => (f64::MIN, f64::MAX),
        };
        self.float(name, min, max)
    }

    /// Returns a flag, or its default by the parameter table, or false.
    pub(crate) fn is_set(&self, name: &str) -> Result<bool, ArgsError> {
        let default = self.table.find(name).and_then(|param| param.default);
        let default = matches!(default, Some(ParamDefault::Flag(true)));
        Ok(self.flag(name)?.unwrap_or(default))
    }

    /// Returns a whole number within limits.
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

    /// Returns a number within limits.
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

    /// Returns a flag.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ArgsError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// Returns a list of texts: from a list, a JSON text, or one text with commas.
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

    /// Returns a list of objects: from a list or a JSON text.
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

    /// Returns the objects of a list, each read by the parameters of the list's items.
    pub(crate) fn required_items(
        &self,
        name: &str,
        expected: &'static str,
    ) -> Result<Vec<Self>, ArgsError> {
        let missing = || self.missing(name, expected);
        let objects = self.objects(name)?.ok_or_else(missing)?;
        let Some(ParamKind::Items(items)) = self.table.find(name).map(|param| param.kind) else {
            return Err(missing());
        };
        let read = |object| Self::read(items.name, items.params, Value::Object(object));
        objects.into_iter().map(read).collect()
    }

    /// Returns an object: from an object or a JSON text.
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

    /// Returns the error of a missing argument.
    pub(crate) fn missing(&self, name: &str, expected: &'static str) -> ArgsError {
        ArgsError::Missing { tool: self.tool, parameter: name.to_owned(), expected }
    }

    /// Returns the error of an argument with an invalid value.
    pub(crate) fn wrong(&self, name: &str, expected: &str, found: &Value) -> ArgsError {
        const MAX_QUOTED_CHARS: usize = 80;
        let found = abbreviate(&found.to_string(), MAX_QUOTED_CHARS).into_owned();
        let (parameter, expected) = (name.to_owned(), expected.to_owned());
        ArgsError::Wrong { tool: self.tool, parameter, expected, found }
    }
}

/// Parses a whole number, also in the forms `5.0` and `"5"` that some clients send.
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
    use serde_json::json;

    use super::super::params::ItemTable;
    use super::*;

    fn args(value: Value) -> ToolArgs {
        ToolArgs::read("a_tool", ParamTable::EMPTY, value).unwrap()
    }

    #[test]
    fn values_are_read_in_the_forms_that_models_send() {
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
    fn errors_name_the_parameter_and_its_value() {
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
                ToolArgs::read("a_tool", ParamTable::EMPTY, json!([])).unwrap_err(),
                "The arguments of a_tool must be an object.",
            ),
        ] {
            assert_eq!(found.to_string(), expected);
        }
    }

    #[test]
    fn a_table_gives_limits_defaults_aliases_and_unknown_names() {
        const PARAMS: &[Param] = &[
            Param::text("query", "Query").aliases(&["q"]),
            Param::integer("page", 1, 9, "Page").default_integer(1),
            Param::decimal("share", 0.0, 1.0, "Share").default_decimal(0.25),
            Param::flag("deep", "Deep").default_flag(true),
            Param::choice("sort", &["up", "down"], "Sort").default_word("up"),
            Param::text("model", "Model").ignored(),
        ];
        const TABLE: ParamTable = ParamTable::new(&[PARAMS]);
        let read = |value| ToolArgs::read("a_tool", TABLE, value).unwrap();
        let args = read(json!({ "q": "one", "page": "", "sort": null, "deep": [], "model": "x" }));
        assert_eq!(args.text("query").unwrap(), "one");
        assert_eq!((args.integer("page"), args.decimal("share")), (Ok(1), Ok(0.25)));
        assert_eq!((args.is_set("deep"), args.word("sort")), (Ok(true), Ok("up".to_owned())));
        assert_eq!((args.reject_unknown(), args.ignored()), (Ok(()), vec!["model"]));
        let args = read(json!({ "page": 10, "sort": "left", "pgae": 1 }));
        for (found, expected) in [
            (
                args.integer("page").unwrap_err(),
                "`page` of a_tool must be a whole number from 1 to 9, not 10.",
            ),
            (
                args.word("sort").unwrap_err(),
                "`sort` of a_tool must be one of up, down, not \"left\".",
            ),
            (
                args.reject_unknown().unwrap_err(),
                "a_tool has no parameter \"pgae\"; it takes query, page, share, deep, sort.",
            ),
        ] {
            assert_eq!(found.to_string(), expected);
        }
    }

    #[test]
    fn aliases_count_unless_the_own_name_is_given() {
        const TABLE: ParamTable = ParamTable::new(&[&[
            Param::text("query", "Query").aliases(&["q", "search"]),
            Param::integer("page_size", 1, 9, "Size").aliases(&["limit"]),
            Param::text("thread", "Thread").aliases(&["id"]).aliases_agree(),
        ]]);
        let read = |value| ToolArgs::read("a_tool", TABLE, value);
        let args = read(json!({ "q": "one", "limit": 3, "page_size": 4, "id": "t" })).unwrap();
        assert_eq!(args.text("query").unwrap(), "one");
        assert_eq!(args.integer("page_size"), Ok(4));
        assert_eq!(args.text("thread").unwrap(), "t");
        assert_eq!(args.reject_unknown(), Ok(()));
        assert!(read(json!({ "id": "t", "thread": "t" })).is_ok());
        let error = read(json!({ "id": "t", "thread": "u" })).unwrap_err();
        let expected = "`id` of a_tool must be the same as `thread` (\"u\"), not \"t\".";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn items_are_read_by_their_own_table() {
        const ITEM: ParamTable = ParamTable::new(&[&[
            Param::text("name", "Name").required().aliases(&["title"]),
            Param::decimal("weight", 0.0, 1.0, "Weight"),
        ]]);
        const TABLE: ParamTable =
            ParamTable::new(&[&[Param::items("items", &ItemTable::new("an item", ITEM), "Items")]]);
        let read = |value| ToolArgs::read("a_tool", TABLE, value).unwrap();
        let args = read(json!({ "items": "[{\"title\":\"a\",\"weight\":\"\"},{\"size\":1}]" }));
        let items = args.required_items("items", "a list").unwrap();
        assert_eq!(items[0].text("name").unwrap(), "a");
        assert_eq!(items[0].optional_decimal("weight"), Ok(None));
        assert_eq!(items[1].text("name").unwrap_err().to_string(), "an item needs `name`: a text.");
        let unknown = items[1].reject_unknown().unwrap_err().to_string();
        assert_eq!(unknown, "an item has no parameter \"size\"; it takes name, weight.");
        let missing = read(json!({})).required_items("items", "a list").unwrap_err();
        assert_eq!(missing.to_string(), "a_tool needs `items`: a list.");
    }
}
