//! Reads the data export of Claude: conversations, projects with their documents, and memories.

use std::fmt::Write as _;

use memoranda_engine::core::id::ProjectName;
use serde_json::Value;

use super::ImportTarget;
use crate::conversation::{Conversation, ConversationTurn, block_quote, code_block};
use crate::detect::is_conversations_file;
use crate::error::Result;
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming, NoteDraft, note_path};
use crate::json::{self, JsonObject, first_text_field, for_each_element, list_field, text_field};
use crate::sink::ImportSink;
use crate::time;

/// Maximum number of bytes of an attachment in a note.
const MAX_ATTACHMENT_BYTES: usize = 64 << 10;

/// Files of an export that contain no conversations.
const OTHER_FILES: [&str; 2] = ["projects.json", "memories.json"];

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let project = target.project("main")?;
    let folder = target.folder("claude");
    let is_single = matches!(input, ImportInput::File(_) | ImportInput::Bytes(_));
    let mut names = input.file_names()?;
    names.retain(|name| {
        is_single || is_conversations_file(name) || OTHER_FILES.contains(&base_name(name))
    });
    input.expect_files(&names, sink)?;
    for name in &names {
        let mut each = |n: usize, value: Value, sink: &mut ImportSink<'_>| {
            let at = format!("{name} [{n}]");
            match base_name(name) {
                "projects.json" => read_project(&value, &at, &project, &folder, sink),
                "memories.json" => read_memories(&value, &at, &project, &folder, sink),
                _ => read_conversation(&value, &at, &project, &folder, sink),
            }
        };
        input.with_file(name, sink, |from, sink| for_each_element(from, name, sink, &mut each))?;
    }
    Ok(())
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn read_conversation(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        sink.add_problem(at, "not a conversation");
        return Ok(());
    };
    let id = text_field(object, "uuid");
    if id.is_empty() || !object.contains_key("chat_messages") {
        sink.add_problem(at, "not a conversation: it has no uuid or no chat_messages");
        return Ok(());
    }
    let turns: Vec<ConversationTurn> = list_field(object, "chat_messages")
        .iter()
        .filter_map(Value::as_object)
        .map(read_turn)
        .filter(|turn| !turn.text.trim().is_empty())
        .collect();
    if turns.is_empty() {
        sink.skip("conversations without a word");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::parse);
    let conversation = Conversation {
        id: id.to_owned(),
        title: text_field(object, "name").to_owned(),
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        keys: vec![("summary", text_field(object, "summary").to_owned())],
        turns,
    };
    sink.add_item(conversation.into_item(project, &format!("{folder}/conversations")))
}

fn read_turn(message: &JsonObject) -> ConversationTurn {
    let who = match text_field(message, "sender") {
        "human" | "user" => "You",
        "assistant" => "Claude",
        other => other,
    };
    // Content blocks are more complete than the flat text, but old exports have no blocks.
    let blocks: Vec<String> =
        list_field(message, "content").iter().filter_map(block_text).collect();
    let mut said = if blocks.iter().all(|block| block.trim().is_empty()) {
        text_field(message, "text").to_owned()
    } else {
        blocks.join("\n\n")
    };
    for attachment in list_field(message, "attachments").iter().filter_map(Value::as_object) {
        let content = text_field(attachment, "extracted_content");
        let cut = content.floor_char_boundary(MAX_ATTACHMENT_BYTES);
        let _ = write!(said, "\n\n**Attachment: {}**\n", text_field(attachment, "file_name"));
        if !content.is_empty() {
            let _ = write!(said, "\n{}", code_block(&content[..cut], ""));
        }
        if cut < content.len() {
            let _ = writeln!(said, "\n(cut: {} of {} bytes)", cut, content.len());
        }
    }
    for file in list_field(message, "files").iter().filter_map(Value::as_object) {
        let _ = write!(said, "\n\n**File: {}**\n", text_field(file, "file_name"));
    }
    ConversationTurn {
        who: who.to_owned(),
        at: message.get("created_at").and_then(time::parse),
        text: said.trim().to_owned(),
    }
}

/// Returns the text of a content block. Reasoning and tool results are omitted; tool use becomes a
/// short mark.
fn block_text(block: &Value) -> Option<String> {
    let block = block.as_object()?;
    match text_field(block, "type") {
        "text" => Some(text_field(block, "text").to_owned()),
        "tool_use" => {
            let input = block.get("input").and_then(Value::as_object);
            let content =
                input.map(|input| first_text_field(input, &["content", "code", "new_str"]));
            let used = format!("*(used {})*", text_field(block, "name"));
            Some(match content.filter(|content| !content.is_empty()) {
                Some(content) => format!("{used}\n\n{}", code_block(content, "")),
                None => used,
            })
        }
        _ => None,
    }
}

fn read_project(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let Some(object) = value.as_object().filter(|object| !text_field(object, "uuid").is_empty())
    else {
        sink.add_problem(at, "not a project: it has no uuid");
        return Ok(());
    };
    if object.get("is_starter_project").and_then(Value::as_bool) == Some(true) {
        sink.skip("projects that came with the account");
        return Ok(());
    }
    let (id, name) = (text_field(object, "uuid"), text_field(object, "name"));
    let folder = format!("{folder}/projects/{}", name.replace('/', "-"));
    let (description, prompt) =
        (text_field(object, "description"), text_field(object, "prompt_template"));
    let mut body = format!("# {name}\n");
    if !description.is_empty() {
        let _ = write!(body, "\n{description}\n");
    }
    if !prompt.is_empty() {
        let _ = write!(body, "\n## Instructions\n\n{}", block_quote(prompt));
    }
    let stated =
        |object: &JsonObject, key: &str| time::frontmatter(object.get(key).and_then(time::parse));
    let draft = NoteDraft::new(body)
        .key("title", name)
        .key("type", "project")
        .key("created", stated(object, "created_at"))
        .key("modified", stated(object, "updated_at"));
    sink.add_item(ImportItem {
        id: id.to_owned(),
        project: project.clone(),
        path: note_path(&folder, name),
        naming: ItemNaming::Title,
        body: ItemBody::Note(draft.text()),
    })?;
    for doc in list_field(object, "docs").iter().filter_map(Value::as_object) {
        let (doc_id, file) = (text_field(doc, "uuid"), text_field(doc, "filename"));
        let content = text_field(doc, "content");
        if doc_id.is_empty() || content.is_empty() {
            sink.add_problem(at, format!("the document {file:?} has no uuid or no content"));
            continue;
        }
        let is_markdown = file.ends_with(".md") || file.ends_with(".markdown");
        let title = file.trim_end_matches(".markdown").trim_end_matches(".md");
        let draft = if is_markdown {
            NoteDraft::new(content)
        } else {
            NoteDraft::new(format!("# {title}\n\n{}", code_block(content, "")))
        };
        // A document with frontmatter keeps it unchanged.
        let text = if content.starts_with("---") && is_markdown {
            content.to_owned()
        } else {
            let created = stated(doc, "created_at");
            draft.key("title", title).key("type", "document").key("created", created).text()
        };
        sink.add_item(ImportItem {
            id: doc_id.to_owned(),
            project: project.clone(),
            path: note_path(&folder, title),
            naming: ItemNaming::Title,
            body: ItemBody::Note(text),
        })?;
    }
    Ok(())
}

/// Reads the memories of Claude about the user and about projects.
fn read_memories(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        sink.add_problem(at, "not a memory");
        return Ok(());
    };
    let folder = format!("{folder}/memory");
    let mut memory = |id: String, title: String, said: &str| {
        if said.trim().is_empty() {
            return Ok(());
        }
        let body = format!("# {title}\n\n{}\n", said.trim());
        sink.add_item(ImportItem {
            id,
            project: project.clone(),
            path: note_path(&folder, &title),
            naming: ItemNaming::Title,
            body: ItemBody::Note(
                NoteDraft::new(body).key("title", title).key("type", "memory").text(),
            ),
        })
    };
    let account = text_field(object, "account_uuid");
    let said = text_field(object, "conversations_memory");
    memory(format!("memory {account}"), "What Claude remembers".to_owned(), said)?;
    for (id, said) in json::object_value(object.get("project_memories")) {
        let title = format!("What Claude remembers of project {id}");
        memory(format!("memory {id}"), title, said.as_str().unwrap_or_default())?;
    }
    Ok(())
}
