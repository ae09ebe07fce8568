//! ChatGPT's data export: every conversation is a tree, of which the branch that was last shown
//! is what the person remembers.

use std::collections::HashSet;

use memoranda_engine::core::id::ProjectName;
use serde_json::Value;

use super::Target;
use crate::conversation::{Conversation, Turn, fenced};
use crate::error::Result;
use crate::find::is_conversations;
use crate::intake::Intake;
use crate::json::{Object, elements, first_text, list, text};
use crate::origin::Origin;
use crate::time;

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    let project = target.project("main")?;
    let folder = format!("{}/conversations", target.folder("chatgpt"));
    let is_single = matches!(origin, Origin::File(_) | Origin::Bytes(_));
    let mut names = origin.names()?;
    names.retain(|name| is_single || is_conversations(name));
    origin.expect(&names, intake)?;
    for name in &names {
        let mut each = |n: usize, value: Value, intake: &mut Intake<'_>| {
            conversation(&value, &format!("{name} [{n}]"), &project, &folder, intake)
        };
        origin.with_file(name, intake, |from, intake| elements(from, name, intake, &mut each))?;
    }
    Ok(())
}

fn conversation(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let mapping = value.get("mapping").and_then(Value::as_object);
    let (Some(object), Some(mapping)) = (value.as_object(), mapping) else {
        intake.problem(at, "not a conversation: it has no mapping");
        return Ok(());
    };
    let id = first_text(object, &["conversation_id", "id"]);
    if id.is_empty() {
        intake.problem(at, "not a conversation: it has no id");
        return Ok(());
    }
    let shown = branch(mapping, text(object, "current_node"));
    let turns = turns(mapping, &shown);
    if turns.is_empty() {
        intake.skip("conversations without a word");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::read);
    let conversation = Conversation {
        id: id.to_owned(),
        title: text(object, "title").to_owned(),
        created: read_time("create_time"),
        modified: read_time("update_time"),
        keys: vec![("model", text(object, "default_model_slug").to_owned())],
        turns,
    };
    intake.piece(conversation.piece(project, folder))
}

/// The nodes from the root to the one that was last shown. Where that is not said, the last child
/// of each node is followed. A tree that bites its own tail is followed once.
fn branch(mapping: &Object, current: &str) -> Vec<String> {
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

/// What was said along a branch; what the same one says in several messages is one turn.
fn turns(mapping: &Object, branch: &[String]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for node in branch {
        let message = mapping.get(node).and_then(|node| node.get("message")?.as_object());
        let Some(turn) = message.and_then(turn) else { continue };
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

fn turn(message: &Object) -> Option<Turn> {
    let role = message.get("author")?.get("role")?.as_str()?;
    let who = match role {
        "user" => "You",
        "assistant" => "ChatGPT",
        // Instructions, and what tools answered.
        _ => return None,
    };
    let hidden =
        message.get("metadata").and_then(|m| m.get("is_visually_hidden_from_conversation"));
    if hidden.and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let said = said(message.get("content")?.as_object()?);
    let said = said.trim();
    (!said.is_empty()).then(|| Turn {
        who: who.to_owned(),
        at: message.get("create_time").and_then(time::read),
        text: said.to_owned(),
    })
}

/// What a message says. Thoughts are left out; that there was a picture is not.
fn said(content: &Object) -> String {
    match text(content, "content_type") {
        "text" | "multimodal_text" => {
            let parts = list(content, "parts").iter().map(part);
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        "code" => fenced(text(content, "text"), text(content, "language")),
        _ => String::new(),
    }
}

fn part(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Object(object) => match text(object, "content_type") {
            "audio_transcription" => text(object, "text").to_owned(),
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
        assert_eq!(branch(mapping, "b1"), ["root", "a", "b1"]);
        assert_eq!(branch(mapping, ""), ["root", "a", "b2"]);
        let circle = json!({"x": node(json!("y"), json!(["y"])), "y": node(json!("x"), json!([]))});
        assert_eq!(branch(circle.as_object().unwrap(), "x").len(), 2);
        assert_eq!(branch(&Object::new(), "x"), Vec::<String>::new());
    }
}
