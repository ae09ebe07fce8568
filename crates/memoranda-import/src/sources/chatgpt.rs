//! Reads the data export of ChatGPT. A conversation is a tree of messages; the branch that was
//! displayed last is imported.

use std::collections::HashSet;

use memoranda_engine::core::id::ProjectName;
use serde_json::Value;

use super::ImportTarget;
use crate::conversation::{Conversation, ConversationTurn, code_block};
use crate::detect::is_conversations_file;
use crate::error::Result;
use crate::input::ImportInput;
use crate::json::{JsonObject, first_text_field, for_each_element, list_field, text_field};
use crate::sink::ImportSink;
use crate::time;

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let project = target.project("main")?;
    let folder = format!("{}/conversations", target.folder("chatgpt"));
    let is_single = matches!(input, ImportInput::File(_) | ImportInput::Bytes(_));
    let mut names = input.file_names()?;
    names.retain(|name| is_single || is_conversations_file(name));
    input.expect_files(&names, sink)?;
    for name in &names {
        let mut each = |n: usize, value: Value, sink: &mut ImportSink<'_>| {
            read_conversation(&value, &format!("{name} [{n}]"), &project, &folder, sink)
        };
        input.with_file(name, sink, |from, sink| for_each_element(from, name, sink, &mut each))?;
    }
    Ok(())
}

fn read_conversation(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let mapping = value.get("mapping").and_then(Value::as_object);
    let (Some(object), Some(mapping)) = (value.as_object(), mapping) else {
        sink.add_problem(at, "not a conversation: it has no mapping");
        return Ok(());
    };
    let id = first_text_field(object, &["conversation_id", "id"]);
    if id.is_empty() {
        sink.add_problem(at, "not a conversation: it has no id");
        return Ok(());
    }
    let shown = shown_branch(mapping, text_field(object, "current_node"));
    let turns = turns_of_branch(mapping, &shown);
    if turns.is_empty() {
        sink.skip("conversations without a word");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::parse);
    let conversation = Conversation {
        id: id.to_owned(),
        title: text_field(object, "title").to_owned(),
        created: read_time("create_time"),
        modified: read_time("update_time"),
        keys: vec![("model", text_field(object, "default_model_slug").to_owned())],
        turns,
    };
    sink.add_item(conversation.into_item(project, folder))
}

/// Returns the nodes from the root to the current node. Without a current node, the last child of
/// each node is followed. Cycles end the walk.
fn shown_branch(mapping: &JsonObject, current: &str) -> Vec<String> {
    let parent = |id: &str| mapping.get(id).and_then(|node| node.get("parent")?.as_str());
    let mut leaf = current.to_owned();
    if !mapping.contains_key(&leaf) {
        let root = mapping.keys().find(|id| parent(id).is_none_or(|id| !mapping.contains_key(id)));
        leaf = root.cloned().unwrap_or_default();
        let mut seen = HashSet::new();
        while seen.insert(leaf.clone()) {
            let children = mapping.get(&leaf).and_then(|node| node.get("children")?.as_array());
            match children.and_then(|children| children.last()?.as_str()) {
                Some(child) => leaf = child.to_owned(),
                None => break,
            }
        }
    }
    let mut nodes = Vec::new();
    let mut seen = HashSet::new();
    let mut at = Some(leaf.as_str());
    while let Some(id) = at.filter(|id| mapping.contains_key(*id) && seen.insert((*id).to_owned()))
    {
        nodes.push(id.to_owned());
        at = parent(id);
    }
    nodes.reverse();
    nodes
}

/// Returns the turns of a branch. Consecutive messages of one speaker are one turn.
fn turns_of_branch(mapping: &JsonObject, branch: &[String]) -> Vec<ConversationTurn> {
    let mut turns: Vec<ConversationTurn> = Vec::new();
    for node in branch {
        let message = mapping.get(node).and_then(|node| node.get("message")?.as_object());
        let Some(turn) = message.and_then(read_turn) else { continue };
        match turns.last_mut().filter(|last| last.who == turn.who) {
            Some(last) => {
                last.text.push_str("\n\n");
                last.text.push_str(&turn.text);
            }
            None => turns.push(turn),
        }
    }
    turns
}

fn read_turn(message: &JsonObject) -> Option<ConversationTurn> {
    let role = message.get("author")?.get("role")?.as_str()?;
    let who = match role {
        "user" => "You",
        "assistant" => "ChatGPT",
        // System messages and tool results are omitted.
        _ => return None,
    };
    let hidden =
        message.get("metadata").and_then(|m| m.get("is_visually_hidden_from_conversation"));
    if hidden.and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let said = message_text(message.get("content")?.as_object()?);
    let said = said.trim();
    (!said.is_empty()).then(|| ConversationTurn {
        who: who.to_owned(),
        at: message.get("create_time").and_then(time::parse),
        text: said.to_owned(),
    })
}

/// Returns the text of a message. Reasoning is omitted; an image becomes a placeholder.
fn message_text(content: &JsonObject) -> String {
    match text_field(content, "content_type") {
        "text" | "multimodal_text" => {
            let parts = list_field(content, "parts").iter().map(part_text);
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        "code" => code_block(text_field(content, "text"), text_field(content, "language")),
        _ => String::new(),
    }
}

fn part_text(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Object(object) => match text_field(object, "content_type") {
            "audio_transcription" => text_field(object, "text").to_owned(),
            "image_asset_pointer" => "*(picture)*".to_owned(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_branch_that_was_shown_is_followed() {
        let node = |parent: Value, children: Value| json!({"parent": parent, "children": children});
        let mapping = json!({
            "root": node(json!(null), json!(["a"])),
            "a": node(json!("root"), json!(["b1", "b2"])),
            "b1": node(json!("a"), json!([])),
            "b2": node(json!("a"), json!([])),
        });
        let mapping = mapping.as_object().unwrap();
        assert_eq!(shown_branch(mapping, "b1"), ["root", "a", "b1"]);
        assert_eq!(shown_branch(mapping, ""), ["root", "a", "b2"]);
        let circle = json!({"x": node(json!("y"), json!(["y"])), "y": node(json!("x"), json!([]))});
        assert_eq!(shown_branch(circle.as_object().unwrap(), "x").len(), 2);
        assert_eq!(shown_branch(&JsonObject::new(), "x"), Vec::<String>::new());
    }
}
