//! YAML: our key among its siblings, edited as a key of frontmatter is.

use memoranda_engine::core::note::MetaValue;
use memoranda_engine::core::note::edit::{
    YamlFileError, read_yaml_file, remove_yaml_key, set_yaml_key,
};
use serde_json::Value;

use crate::setup::format::ConfigSyntaxError;
use crate::setup::json::ordered;

/// Parses a text into a value. Scalars are text, and an empty one is `null`.
pub(crate) fn value(text: &str) -> Result<Value, ConfigSyntaxError> {
    Ok(json(&MetaValue::Map(read_yaml_file(text).map_err(syntax)?)))
}

/// Sets a key and creates missing mappings.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ConfigSyntaxError> {
    set_yaml_key(text, path, &meta(value)).map_err(syntax)
}

/// Removes a key and mappings that become empty.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
    remove_yaml_key(text, path).map_err(syntax)
}

fn syntax(error: YamlFileError) -> ConfigSyntaxError {
    ConfigSyntaxError { line: error.line, what: error.message }
}

fn json(value: &MetaValue) -> Value {
    match value {
        MetaValue::Text(text) | MetaValue::Plain(text) if text.is_empty() => Value::Null,
        MetaValue::Text(text) | MetaValue::Plain(text) => Value::from(text.as_str()),
        MetaValue::List(items) => items.iter().map(json).collect(),
        MetaValue::Map(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), json(value))).collect()
        }
    }
}

fn meta(value: &Value) -> MetaValue {
    match value {
        Value::String(text) => MetaValue::Text(text.clone()),
        Value::Array(items) => MetaValue::List(items.iter().map(meta).collect()),
        Value::Object(map) => {
            let entries = ordered(map).into_iter();
            MetaValue::Map(entries.map(|(key, value)| (key.clone(), meta(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => MetaValue::Plain(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["extensions", "memoranda"];
    const BLOCK: &str = "  memoranda:\n    type: stdio\n    cmd: /opt/memoranda\n    args:\n      - mcp\n    enabled: true\n";

    fn entry() -> Value {
        serde_json::json!({ "type": "stdio", "cmd": "/opt/memoranda", "args": ["mcp"], "enabled": true })
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let added = set(text, &PATH, &entry()).unwrap();
        assert_eq!(added, expected);
        assert_eq!(set(&added, &PATH, &entry()).unwrap(), expected, "again");
    }

    #[test]
    fn an_extension_comes_and_goes() {
        let keyed = format!("extensions:\n{BLOCK}");
        check("", &keyed);
        check("# goose\n", &format!("# goose\n{keyed}"));
        check("A: b\n", &format!("A: b\n{keyed}"));
        check("A: b", &format!("A: b\n{keyed}"));
        check("extensions:\nA: b\n", &format!("extensions:\n{BLOCK}A: b\n"));
        let others = "# mine\nextensions:\n  dev: # built in\n    type: builtin\n    \
                      about: |\n      two\n      lines\n\n# the model\nMODEL: x # y\n";
        let (head, tail) = others.split_at(others.find("\n# the model").unwrap());
        check(others, &format!("{head}{BLOCK}{tail}"));
        let added = set(others, &PATH, &entry()).unwrap();
        assert_eq!(remove(&added, &PATH).unwrap(), others);
        assert_eq!(remove(&format!("A: b\n{keyed}"), &PATH).unwrap(), "A: b\n");
        let dos = others.replace('\n', "\r\n");
        let added = set(&dos, &PATH, &entry()).unwrap();
        assert!(!added.replace("\r\n", "").contains('\n'), "{added:?}");
        assert_eq!(remove(&added, &PATH).unwrap(), dos);
    }

    #[test]
    fn braces_are_kept() {
        let added = set("extensions: {}\nA: b\n", &PATH, &entry()).unwrap();
        assert_eq!(value(&added).unwrap()["extensions"]["memoranda"]["cmd"], "/opt/memoranda");
        assert!(added.ends_with("}\nA: b\n"), "{added}");
        let added = set("extensions: {dev: {type: x}}\n", &PATH, &entry()).unwrap();
        assert_eq!(value(&added).unwrap()["extensions"]["dev"]["type"], "x");
        assert_eq!(remove(&added, &PATH).unwrap(), "extensions: {dev: {type: x}}\n");
        for (text, expected) in [
            ("extensions: {a: 1, memoranda: {cmd: x}}\n", "extensions: {a: 1}\n"),
            ("extensions: {a: 1, memoranda: {cmd: x} , b: 2}\n", "extensions: {a: 1, b: 2}\n"),
            ("extensions: {\n  a: 1,\n  memoranda: x\n}\n", "extensions: {\n  a: 1\n}\n"),
            ("{extensions: {memoranda: {}}}\n", "{}\n"),
            ("A: b\nextensions: {memoranda: {cmd: x}}\n", "A: b\n"),
        ] {
            assert_eq!(remove(text, &PATH).unwrap(), expected);
        }
    }

    #[test]
    fn nothing_is_filled() {
        for nothing in ["", " ~", " null", " Null # none yet", " NULL"] {
            let text = format!("extensions:{nothing}\nA: b\n");
            let added = set(&text, &PATH, &entry()).unwrap();
            let read = value(&added).unwrap();
            assert_eq!(read["extensions"]["memoranda"]["cmd"], "/opt/memoranda", "{added}");
            assert_eq!(read["A"], "b", "{added}");
            assert_eq!(value(&text).unwrap()["extensions"], Value::Null, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let broken = set("a: b\n\tc: d\n", &PATH, &entry()).unwrap_err();
        assert!(broken.line <= 2 && !broken.what.is_empty(), "{broken}");
        assert!(set("- a\n- b\n", &PATH, &entry()).unwrap_err().what.contains("not a mapping"));
        assert!(set("extensions: 5\n", &PATH, &entry()).unwrap_err().what.contains("extensions"));
    }
}
