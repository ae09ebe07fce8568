//! `tool_use` blocks of the Claude API, and their `tool_result` blocks.

use serde_json::{Map, Value, json};

use crate::registry::ToolResult;

/// A `tool_use` block.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolUse {
    /// Id of the block. `None` if only the input was given.
    pub id: Option<String>,
    /// Arguments of the tool.
    pub input: Value,
}

/// Reason why an object is not a `tool_use` block.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ToolUseError {
    /// The block has no input.
    #[error("The tool_use block has no input.")]
    NoInput,
    /// The block is for another tool.
    #[error("This is the tool \"memory\", and the tool_use block is for {0:?}.")]
    OtherTool(String),
    /// The block has another type.
    #[error("A tool_use block is needed, not {0:?}.")]
    OtherBlock(String),
}

impl ToolUse {
    /// Reads a whole block, or only its input.
    pub fn parse(mut block: Map<String, Value>) -> Result<Self, ToolUseError> {
        let word = |name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
        let (id, kind) = (word("id"), word("type"));
        if let (Some("tool_use"), Some(name)) = (kind.as_deref(), word("name"))
            && name != "memory"
        {
            return Err(ToolUseError::OtherTool(name));
        }
        let input = match (kind.as_deref(), block.remove("input")) {
            (Some("tool_use") | None, Some(input)) => input,
            (Some("tool_use"), None) => return Err(ToolUseError::NoInput),
            (_, None) => Value::Object(block),
            (Some(other), Some(_)) => return Err(ToolUseError::OtherBlock(other.to_owned())),
        };
        Ok(Self { id, input })
    }

    /// Returns the `tool_result` block.
    pub fn result(&self, result: &ToolResult) -> Value {
        let mut answer = json!({
            "type": "tool_result",
            "content": result.text,
            "is_error": result.is_error,
        });
        if let Some(id) = &self.id {
            answer["tool_use_id"] = json!(id);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: Value, expected: Result<(Option<&str>, Value), &str>) {
        let Value::Object(block) = block else { panic!("an object") };
        let found = ToolUse::parse(block).map(|found| (found.id, found.input));
        let expected = expected.map(|(id, input)| (id.map(str::to_owned), input));
        assert_eq!(found.map_err(|e| e.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn blocks_and_bare_inputs_are_read() {
        let input = json!({ "command": "view", "path": "/memories" });
        check(
            json!({ "type": "tool_use", "id": "toolu_1", "name": "memory", "input": input }),
            Ok((Some("toolu_1"), input.clone())),
        );
        check(json!({ "input": input }), Ok((None, input.clone())));
        check(input.clone(), Ok((None, input.clone())));
        check(
            json!({ "type": "tool_use", "id": "toolu_1", "name": "bash", "input": input }),
            Err("This is the tool \"memory\", and the tool_use block is for \"bash\"."),
        );
        check(json!({ "type": "tool_use", "id": "x" }), Err("The tool_use block has no input."));
        check(
            json!({ "type": "text", "input": input }),
            Err("A tool_use block is needed, not \"text\"."),
        );
    }

    #[test]
    fn the_result_has_the_id_of_its_block() {
        let asked = ToolUse { id: Some("toolu_1".into()), input: Value::Null };
        let answer = asked.result(&ToolResult::error("No"));
        assert_eq!(
            answer,
            json!({
                "type": "tool_result", "tool_use_id": "toolu_1", "content": "No", "is_error": true
            })
        );
    }
}
