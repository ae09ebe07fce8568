//! What Claude asks of the memory tool: six commands, in every spelling that clients use.

use serde_json::{Map, Value};

use crate::registry::integer;

/// One command, as it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Show a file or a directory.
    View { path: String, range: Option<ViewRange> },
    /// Write a file whole.
    Create { path: String, text: String },
    /// Put one text in the place of another.
    StrReplace { path: String, old: String, new: String },
    /// Put lines after a line.
    Insert { path: String, line: i64, text: String },
    /// Remove a file, or a directory with all it holds.
    Delete { path: String },
    /// Give a file or directory another place.
    Rename { from: String, to: String },
}

/// Which lines of a file are wanted, from 1. An end of -1 is the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ViewRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// Where the first line begins, from 1: a line can be longer than a view.
    pub(crate) character: i64,
}

impl Default for ViewRange {
    fn default() -> Self {
        Self { first: 1, last: -1, character: 1 }
    }
}

/// Why arguments are no command.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BadCommand {
    #[error("the arguments must be an object with a `command`")]
    NoObject,
    #[error("`command` is missing; it is one of view, create, str_replace, insert, delete, rename")]
    NoCommand,
    #[error(
        "{0:?} is no command; the commands are view, create, str_replace, insert, delete, rename"
    )]
    Unknown(String),
    #[error("`{command}` needs `{parameter}`")]
    Missing { command: &'static str, parameter: &'static str },
    #[error("`{parameter}` of `{command}` must be {expected}")]
    WrongType { command: &'static str, parameter: &'static str, expected: &'static str },
}

impl Command {
    /// Reads the arguments of a call.
    pub(crate) fn parse(arguments: &Value) -> Result<Self, BadCommand> {
        let Value::Object(arguments) = arguments else { return Err(BadCommand::NoObject) };
        let name = match arguments.get("command") {
            None | Some(Value::Null) => return Err(BadCommand::NoCommand),
            Some(Value::String(name)) => name.trim(),
            Some(other) => return Err(BadCommand::Unknown(other.to_string())),
        };
        let text = |command, names: &[&'static str]| required_text(arguments, command, names);
        Ok(match name {
            "view" => Self::View { path: text("view", &["path"])?, range: range(arguments)? },
            "create" => Self::Create {
                path: text("create", &["path"])?,
                text: text("create", &["file_text"])?,
            },
            "str_replace" => Self::StrReplace {
                path: text("str_replace", &["path"])?,
                old: text("str_replace", &["old_str"])?,
                // Left out, it means that the text is to go.
                new: optional_text(arguments, "str_replace", "new_str")?.unwrap_or_default(),
            },
            "insert" => Self::Insert {
                path: text("insert", &["path"])?,
                line: line(arguments)?,
                text: text("insert", &["insert_text", "new_str"])?,
            },
            "delete" => Self::Delete { path: text("delete", &["path"])? },
            "rename" => Self::Rename {
                from: text("rename", &["old_path", "path"])?,
                to: text("rename", &["new_path"])?,
            },
            other => return Err(BadCommand::Unknown(other.to_owned())),
        })
    }
}

fn required_text(
    arguments: &Map<String, Value>,
    command: &'static str,
    names: &[&'static str],
) -> Result<String, BadCommand> {
    for name in names {
        if let Some(text) = optional_text(arguments, command, name)? {
            return Ok(text);
        }
    }
    Err(BadCommand::Missing { command, parameter: names.first().copied().unwrap_or("path") })
}

fn optional_text(
    arguments: &Map<String, Value>,
    command: &'static str,
    parameter: &'static str,
) -> Result<Option<String>, BadCommand> {
    match arguments.get(parameter) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(BadCommand::WrongType { command, parameter, expected: "a text" }),
    }
}

fn line(arguments: &Map<String, Value>) -> Result<i64, BadCommand> {
    let (command, parameter) = ("insert", "insert_line");
    match arguments.get(parameter) {
        None | Some(Value::Null) => Err(BadCommand::Missing { command, parameter }),
        Some(value) => integer(value).ok_or(BadCommand::WrongType {
            command,
            parameter,
            expected: "a whole number",
        }),
    }
}

/// A range counts only if it has two numbers, or three to go on within a line; anything else shows
/// the whole file.
fn range(arguments: &Map<String, Value>) -> Result<Option<ViewRange>, BadCommand> {
    let wrong = BadCommand::WrongType {
        command: "view",
        parameter: "view_range",
        expected: "two whole numbers",
    };
    let number = |value| integer(value).ok_or(wrong.clone());
    let ends = match arguments.get("view_range") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(ends)) => ends.clone(),
        // Some models send a list as a JSON text.
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(ends)) => ends,
            _ => return Err(wrong),
        },
        Some(_) => return Err(wrong),
    };
    match ends.as_slice() {
        [first, last] => {
            Ok(Some(ViewRange { first: number(first)?, last: number(last)?, character: 1 }))
        }
        [first, last, character] => Ok(Some(ViewRange {
            first: number(first)?,
            last: number(last)?,
            character: number(character)?,
        })),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ranges_are_read_as_models_write_them() {
        let wrong = Err("`view_range` of `view` must be two whole numbers");
        let range = |first, last, character| Ok(Some(ViewRange { first, last, character }));
        for (given, expected) in [
            (json!([1, 2]), range(1, 2, 1)),
            (json!(["3", -1.0, 9]), range(3, -1, 9)),
            (json!("[1,2]"), range(1, 2, 1)),
            (json!(" [1, -1, 5] "), range(1, -1, 5)),
            (json!([1]), Ok(None)),
            (json!("[]"), Ok(None)),
            (json!(null), Ok(None)),
            (json!("1-2"), wrong),
            (json!("[1,\"x\"]"), wrong),
            (json!(5), wrong),
            (json!("5"), wrong),
        ] {
            let arguments = json!({ "command": "view", "path": "/memories", "view_range": given });
            let found = Command::parse(&arguments).map_err(|e| e.to_string());
            let expected = expected.map_err(str::to_owned);
            let expected = expected.map(|range| Command::View { path: "/memories".into(), range });
            assert_eq!(found, expected, "{given}");
        }
    }
}
