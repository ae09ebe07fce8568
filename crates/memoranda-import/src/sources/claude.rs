//! Claude's data export: conversations, projects with their documents, and what Claude remembers.

use std::fmt::Write as _;

use memoranda_engine::core::id::ProjectName;
use serde_json::Value;

use super::Target;
use crate::conversation::{Conversation, Turn, fenced, quoted};
use crate::error::Result;
use crate::find::is_conversations;
use crate::intake::Intake;
use crate::json::{self, Object, elements, first_text, list, text};
use crate::origin::Origin;
use crate::piece::{Body, Draft, Naming, Piece, path_of};
use crate::time;

/// The longest text of an attachment that a conversation takes along, in bytes.
const ATTACHMENT: usize = 64 << 10;

/// What an export holds beside conversations.
const BESIDE: [&str; 2] = ["projects.json", "memories.json"];

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    let project = target.project("main")?;
    let folder = target.folder("claude");
    let is_single = matches!(origin, Origin::File(_) | Origin::Bytes(_));
    let mut names = origin.names()?;
    names.retain(|name| is_single || is_conversations(name) || BESIDE.contains(&last_of(name)));
    origin.expect(&names, intake)?;
    for name in &names {
        let mut each = |n: usize, value: Value, intake: &mut Intake<'_>| {
            let at = format!("{name} [{n}]");
            match last_of(name) {
                "projects.json" => a_project(&value, &at, &project, &folder, intake),
                "memories.json" => memories(&value, &at, &project, &folder, intake),
                _ => conversation(&value, &at, &project, &folder, intake),
            }
        };
        origin.with_file(name, intake, |from, intake| elements(from, name, intake, &mut each))?;
    }
    Ok(())
}

fn last_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn conversation(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        intake.problem(at, "not a conversation");
        return Ok(());
    };
    let id = text(object, "uuid");
    if id.is_empty() || !object.contains_key("chat_messages") {
        intake.problem(at, "not a conversation: it has no uuid or no chat_messages");
        return Ok(());
    }
    let turns: Vec<Turn> = list(object, "chat_messages")
        .iter()
        .filter_map(Value::as_object)
        .map(turn)
        .filter(|turn| !turn.text.trim().is_empty())
        .collect();
    if turns.is_empty() {
        intake.skip("conversations without a word");
        return Ok(());
    }
    let read_time = |key: &str| object.get(key).and_then(time::read);
    let conversation = Conversation {
        id: id.to_owned(),
        title: text(object, "name").to_owned(),
        created: read_time("created_at"),
        modified: read_time("updated_at"),
        keys: vec![("summary", text(object, "summary").to_owned())],
        turns,
    };
    intake.piece(conversation.piece(project, &format!("{folder}/conversations")))
}

fn turn(message: &Object) -> Turn {
    let who = match text(message, "sender") {
        "human" | "user" => "You",
        "assistant" => "Claude",
        other => other,
    };
    // The blocks say more than the flat text, but old exports have only that.
    let blocks: Vec<String> = list(message, "content").iter().filter_map(block).collect();
    let mut said = match blocks.iter().all(|block| block.trim().is_empty()) {
        true => text(message, "text").to_owned(),
        false => blocks.join("\n\n"),
    };
    for attachment in list(message, "attachments").iter().filter_map(Value::as_object) {
        let content = text(attachment, "extracted_content");
        let cut = content.floor_char_boundary(ATTACHMENT);
        let _ = write!(said, "\n\n**Attachment: {}**\n", text(attachment, "file_name"));
        if !content.is_empty() {
            let _ = write!(said, "\n{}", fenced(&content[..cut], ""));
        }
        if cut < content.len() {
            let _ = writeln!(said, "\n(cut: {} of {} bytes)", cut, content.len());
        }
    }
    for file in list(message, "files").iter().filter_map(Value::as_object) {
        let _ = write!(said, "\n\n**File: {}**\n", text(file, "file_name"));
    }
    Turn {
        who: who.to_owned(),
        at: message.get("created_at").and_then(time::read),
        text: said.trim().to_owned(),
    }
}

/// What a block says. Thoughts and the answers of tools are left out; that a tool was used is not.
fn block(block: &Value) -> Option<String> {
    let block = block.as_object()?;
    match text(block, "type") {
        "text" => Some(text(block, "text").to_owned()),
        "tool_use" => {
            let input = block.get("input").and_then(Value::as_object);
            let content = input.map(|input| first_text(input, &["content", "code", "new_str"]));
            let used = format!("*(used {})*", text(block, "name"));
            Some(match content.filter(|content| !content.is_empty()) {
                Some(content) => format!("{used}\n\n{}", fenced(content, "")),
                None => used,
            })
        }
        _ => None,
    }
}

fn a_project(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let Some(object) = value.as_object().filter(|object| !text(object, "uuid").is_empty()) else {
        intake.problem(at, "not a project: it has no uuid");
        return Ok(());
    };
    if object.get("is_starter_project").and_then(Value::as_bool) == Some(true) {
        intake.skip("projects that came with the account");
        return Ok(());
    }
    let (id, name) = (text(object, "uuid"), text(object, "name"));
    let folder = format!("{folder}/projects/{}", name.replace('/', "-"));
    let (description, prompt) = (text(object, "description"), text(object, "prompt_template"));
    let mut body = format!("# {name}\n");
    if !description.is_empty() {
        let _ = write!(body, "\n{description}\n");
    }
    if !prompt.is_empty() {
        let _ = write!(body, "\n## Instructions\n\n{}", quoted(prompt));
    }
    let stated = |object: &Object, key: &str| time::stated(object.get(key).and_then(time::read));
    let draft = Draft::new(body)
        .key("title", name)
        .key("type", "project")
        .key("created", stated(object, "created_at"))
        .key("modified", stated(object, "updated_at"));
    intake.piece(Piece {
        id: id.to_owned(),
        project: project.clone(),
        path: path_of(&folder, name),
        naming: Naming::Title,
        body: Body::Note(draft.text()),
    })?;
    for doc in list(object, "docs").iter().filter_map(Value::as_object) {
        let (doc_id, file) = (text(doc, "uuid"), text(doc, "filename"));
        let content = text(doc, "content");
        if doc_id.is_empty() || content.is_empty() {
            intake.problem(at, format!("the document {file:?} has no uuid or no content"));
            continue;
        }
        let is_markdown = file.ends_with(".md") || file.ends_with(".markdown");
        let title = file.trim_end_matches(".markdown").trim_end_matches(".md");
        let draft = match is_markdown {
            true => Draft::new(content),
            false => Draft::new(format!("# {title}\n\n{}", fenced(content, ""))),
        };
        // A document with frontmatter of its own keeps it, and gets no second one.
        let text = match content.starts_with("---") && is_markdown {
            true => content.to_owned(),
            false => {
                let created = stated(doc, "created_at");
                draft.key("title", title).key("type", "document").key("created", created).text()
            }
        };
        intake.piece(Piece {
            id: doc_id.to_owned(),
            project: project.clone(),
            path: path_of(&folder, title),
            naming: Naming::Title,
            body: Body::Note(text),
        })?;
    }
    Ok(())
}

/// What Claude remembers of a person, and within projects.
fn memories(
    value: &Value,
    at: &str,
    project: &ProjectName,
    folder: &str,
    intake: &mut Intake<'_>,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        intake.problem(at, "not a memory");
        return Ok(());
    };
    let folder = format!("{folder}/memory");
    let mut memory = |id: String, title: String, said: &str| {
        if said.trim().is_empty() {
            return Ok(());
        }
        let body = format!("# {title}\n\n{}\n", said.trim());
        intake.piece(Piece {
            id,
            project: project.clone(),
            path: path_of(&folder, &title),
            naming: Naming::Title,
            body: Body::Note(Draft::new(body).key("title", title).key("type", "memory").text()),
        })
    };
    let account = text(object, "account_uuid");
    let said = text(object, "conversations_memory");
    memory(format!("memory {account}"), "What Claude remembers".to_owned(), said)?;
    for (id, said) in json::object(object.get("project_memories")) {
        let title = format!("What Claude remembers of project {id}");
        memory(format!("memory {id}"), title, said.as_str().unwrap_or_default())?;
    }
    Ok(())
}
