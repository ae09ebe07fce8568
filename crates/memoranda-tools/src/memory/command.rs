//! The six commands of the memory tool, in every spelling that clients use.

use serde_json::{Value, json};

use crate::registry::{Param, ParamTable, ToolArgs, integer};

/// Names of the commands.
const COMMANDS: &[&str] = &["view", "create", "str_replace", "insert", "delete", "rename"];

/// Parameters of all commands. An empty text has a meaning: an empty file, or text to remove.
/// Clients of the Claude API may send parameters of newer versions, which are ignored.
pub(super) const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::choice("command", COMMANDS, "File operation to perform").required(),
    Param::text("path", "Path within /memories (all commands but rename)").keep_empty(),
    Param::text("file_text", "Content to write (create)").keep_empty(),
    Param::schema(
        "view_range",
        |_| json!({ "type": "array", "items": { "type": "integer" } }),
        "[first, last] line to view, from 1; last -1 = end",
    ),
    Param::text("old_str", "Text to replace; must occur once (str_replace)").keep_empty(),
    Param::text("new_str", "Replacement (str_replace)").keep_empty(),
    Param::schema("insert_line", |_| json!({ "type": "integer" }), "Line to insert after (insert)"),
    Param::text("insert_text", "Text to insert (insert)").keep_empty(),
    Param::text("old_path", "Current path (rename)"),
    Param::text("new_path", "New path (rename)"),
]])
.accept_unknown();

/// One command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryCommand {
    /// Shows a file or a directory.
    View { path: String, range: Option<ViewRange> },
    /// Writes a whole file.
    Create { path: String, text: String },
    /// Replaces a text that occurs once.
    StrReplace { path: String, old: String, new: String },
    /// Inserts lines after a line.
    Insert { path: String, line: i64, text: String },
    /// Deletes a file, or a directory with its content.
    Delete { path: String },
    /// Moves a file or directory.
    Rename { from: String, to: String },
}

/// Lines of a file to show, from 1. An end of -1 is the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ViewRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// First character of the first line, from 1. A line can be longer than a view.
    pub(crate) character: i64,
}

impl Default for ViewRange {
    fn default() -> Self {
        Self { first: 1, last: -1, character: 1 }
    }
}

/// Reason why arguments are not a command.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum MemoryCommandError {
    #[error("`command` is missing; it is one of view, create, str_replace, insert, delete, rename")]
    NoCommand,
    #[error(
        "{0:?} is not a command; the commands are view, create, str_replace, insert, delete, rename"
    )]
    Unknown(String),
    #[error("`{command}` needs `{parameter}`")]
    Missing { command: &'static str, parameter: &'static str },
    #[error("`{parameter}` of `{command}` must be {expected}")]
    WrongType { command: &'static str, parameter: &'static str, expected: &'static str },
}

impl MemoryCommand {
    /// Reads the arguments of a call.
    pub(crate) fn parse(args: &ToolArgs) -> Result<Self, MemoryCommandError> {
        let name = match args.value("command") {
            None => return Err(MemoryCommandError::NoCommand),
            Some(Value::String(name)) => name.trim(),
            Some(other) => return Err(MemoryCommandError::Unknown(other.to_string())),
        };
        let text = |command, names: &[&'static str]| required_text(args, command, names);
        Ok(match name {
            "view" => Self::View { path: text("view", &["path"])?, range: view_range(args)? },
            "create" => Self::Create {
                path: text("create", &["path"])?,
                text: text("create", &["file_text"])?,
            },
            "str_replace" => Self::StrReplace {
                path: text("str_replace", &["path"])?,
                old: match text("str_replace", &["old_str"])? {
                    // An empty text is everywhere.
                    old if old.is_empty() => {
                        let (command, parameter) = ("str_replace", "old_str");
                        let expected = "a text that is not empty";
                        return Err(MemoryCommandError::WrongType { command, parameter, expected });
                    }
                    old => old,
                },
                // Absent means that the text is removed.
                new: optional_text(args, "str_replace", "new_str")?.unwrap_or_default(),
            },
            "insert" => Self::Insert {
                path: text("insert", &["path"])?,
                line: insert_line(args)?,
                text: text("insert", &["insert_text", "new_str"])?,
            },
            "delete" => Self::Delete { path: text("delete", &["path"])? },
            "rename" => Self::Rename {
                from: text("rename", &["old_path", "path"])?,
                to: text("rename", &["new_path"])?,
            },
            other => return Err(MemoryCommandError::Unknown(other.to_owned())),
        })
    }
}

fn required_text(
    args: &ToolArgs,
    command: &'static str,
    names: &[&'static str],
) -> Result<String, MemoryCommandError> {
    for name in names {
        if let Some(text) = optional_text(args, command, name)? {
            return Ok(text);
        }
    }
    let parameter = names.first().copied().unwrap_or("path");
    Err(MemoryCommandError::Missing { command, parameter })
}

fn optional_text(
    args: &ToolArgs,
    command: &'static str,
    parameter: &'static str,
) -> Result<Option<String>, MemoryCommandError> {
    match args.value(parameter) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(MemoryCommandError::WrongType { command, parameter, expected: "a text" }),
    }
}

fn insert_line(args: &ToolArgs) -> Result<i64, MemoryCommandError> {
    let (command, parameter) = ("insert", "insert_line");
    let expected = "a whole number";
    match args.value(parameter) {
        None => Err(MemoryCommandError::Missing { command, parameter }),
        Some(value) => {
            integer(value).ok_or(MemoryCommandError::WrongType { command, parameter, expected })
        }
    }
}

/// Reads the range of a view: two numbers, or three to continue within a line. Any other number of
/// elements shows the whole file.
fn view_range(args: &ToolArgs) -> Result<Option<ViewRange>, MemoryCommandError> {
    let wrong = MemoryCommandError::WrongType {
        command: "view",
        parameter: "view_range",
        expected: "two whole numbers",
    };
    let number = |value| integer(value).ok_or(wrong.clone());
    let ends = match args.value("view_range") {
        None => return Ok(None),
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
            let args = ToolArgs::read("memory", PARAMS, arguments).unwrap();
            let found = MemoryCommand::parse(&args).map_err(|e| e.to_string());
            let expected = expected.map_err(str::to_owned);
            let expected =
                expected.map(|range| MemoryCommand::View { path: "/memories".into(), range });
            assert_eq!(found, expected, "{given}");
        }
    }
}
