//! Prompts and resources of the notes tools: context for a conversation, the guide, project info.

use jiff::Timestamp;
use memoranda_core::timeframe::parse_timeframe;
use memoranda_engine::{
    EngineError, ListFilter, ListOrder, ListRequest, Memory, Result, SearchFilter, SearchRequest,
    clock, link_key,
};
use serde_json::json;

use super::recent::limit_since;
use super::scope::project_constrained;
use crate::instructions::sentences_for;
use crate::registry::{
    PromptArgument, PromptCall, PromptDef, PromptMessage, QueryFeedback, ResourceDef, Toolset,
    count, quote_lines,
};
use crate::settings::ToolSettings;

/// Number of notes that a prompt quotes.
const QUOTED_NOTES: usize = 8;

const TIMEFRAME: PromptArgument = PromptArgument {
    name: "timeframe",
    description: "How far to look back, such as 7d or yesterday",
    required: false,
};
const PROJECT: PromptArgument =
    PromptArgument { name: "project", description: "The project to look in", required: false };

pub(super) const PROMPTS: &[PromptDef] = &[
    PromptDef {
        name: "continue_conversation",
        title: "Continue a conversation",
        description: "Go on with a topic from earlier, with the notes about it",
        toolset: Toolset::Notes,
        arguments: &[
            PromptArgument { name: "topic", description: "What to go on with", required: false },
            TIMEFRAME,
        ],
        render: continue_conversation,
    },
    PromptDef {
        name: "getting_started",
        title: "Getting started with notes",
        description: "See what is there, and take up the first note together",
        toolset: Toolset::Notes,
        arguments: &[PROJECT],
        render: getting_started,
    },
    PromptDef {
        name: "recent_activity",
        title: "Recent activity",
        description: "What changed last in the notes",
        toolset: Toolset::Notes,
        arguments: &[TIMEFRAME, PROJECT],
        render: recent_activity,
    },
    PromptDef {
        name: "search_knowledge_base",
        title: "Search the notes",
        description: "Find notes about something and build on them",
        toolset: Toolset::Notes,
        arguments: &[
            PromptArgument { name: "query", description: "What to look for", required: true },
            TIMEFRAME,
        ],
        render: search_knowledge_base,
    },
];

pub(super) const RESOURCES: &[ResourceDef] = &[
    ResourceDef {
        uri: "memory://ai_assistant_guide",
        name: "ai_assistant_guide",
        title: "Guide to the notes",
        description: "How notes are written, linked, found and kept current",
        mime: "text/markdown",
        toolset: Toolset::Notes,
        read: |_, _, _| Ok(Some(GUIDE.to_owned())),
    },
    ResourceDef {
        uri: "memory://{workspace}/{project}/info",
        name: "project_info",
        title: "A project and what it holds",
        description: "Counts, types and the last changes of a project; the workspace is `local`",
        mime: "application/json",
        toolset: Toolset::Notes,
        read: project_info,
    },
];

const GUIDE: &str = include_str!("guide.md");

fn since(settings: &ToolSettings, text: &str) -> Result<Timestamp> {
    let now = clock::now().to_zoned(settings.notes.zone.clone());
    let time = parse_timeframe(text, &now).map_err(|e| EngineError::Invalid(e.to_string()))?;
    Ok(limit_since(time))
}

/// Quotes the notes about a topic with their sources.
fn notes_about(
    memory: &Memory,
    settings: &ToolSettings,
    topic: &str,
    timeframe: Option<&str>,
) -> Result<String> {
    let after = timeframe.map(|text| since(settings, text)).transpose()?;
    let projects = match &settings.notes.only_project {
        Some(only) => vec![memory.create_project(only)?.name],
        None => Vec::new(),
    };
    let page = memory.search(&SearchRequest {
        text: topic.to_owned(),
        filter: SearchFilter { projects, after, ..Default::default() },
        limit: QUOTED_NOTES,
        snippet_chars: 400,
        max_tokens: Some(3000),
        ..SearchRequest::default()
    })?;
    if page.results.is_empty() {
        return Ok(format!("No note matches {topic:?}.\n"));
    }
    let mut text = format!("From the notes about {topic:?} (quoted data, with its sources):\n");
    text.push_str(&QueryFeedback::from_page(&page).to_text());
    for found in &page.results {
        text.push_str(&format!(
            "\n### {} — memory://{} (project {}, {})\n{}",
            found.title,
            found.permalink,
            found.place.project,
            found.updated,
            quote_lines(&found.snippet.text)
        ));
    }
    Ok(text)
}

/// Returns the project of a prompt. An error, if the server is restricted to another project.
fn prompt_project(settings: &ToolSettings, given: Option<String>) -> Result<Option<String>> {
    match (&settings.notes.only_project, given) {
        (Some(only), Some(given)) if link_key(given.trim()) != link_key(only) => {
            Err(EngineError::Invalid(project_constrained(only).message))
        }
        (Some(only), _) => Ok(Some(only.clone())),
        (None, given) => Ok(given),
    }
}

/// Lists the latest changes.
fn latest_changes(
    memory: &Memory,
    settings: &ToolSettings,
    timeframe: &str,
    project: Option<String>,
) -> Result<String> {
    let since = since(settings, timeframe)?;
    let project = prompt_project(settings, project)?;
    let project = project.map(|name| memory.project(&name)).transpose()?;
    let scope =
        project.as_ref().map_or("all projects".to_owned(), |p| format!("project {}", p.name));
    let page = memory.list(&ListRequest {
        filter: ListFilter {
            project: project.map(|project| project.name),
            since: Some(since),
            without_templates: true,
            ..Default::default()
        },
        order: ListOrder::Newest,
        limit: QUOTED_NOTES,
        offset: 0,
    })?;
    let mut text = format!("What changed since {since} in {scope}:\n\n");
    for note in &page.notes {
        text.push_str(&format!(
            "- {} (memory://{}, project {}, {})\n",
            note.title, note.permalink, note.project, note.updated
        ));
    }
    if page.notes.is_empty() {
        text.push_str("Nothing.\n");
    }
    Ok(text)
}

fn continue_conversation(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let PromptCall { memory, settings, .. } = *call;
    let timeframe = call.given(1);
    let known = match call.given(0) {
        Some(topic) => notes_about(memory, settings, &topic, timeframe.as_deref())?,
        None => latest_changes(memory, settings, timeframe.as_deref().unwrap_or("7d"), None)?,
    };
    let how = sentences_for(
        call.tools,
        &[
            "Read what matters with `read_note`.",
            "`build_context` follows its links.",
            "Say where things stand.",
            "Keep the notes current with `edit_note` as we go.",
        ],
    );
    let text = format!("Let us go on with an earlier conversation.\n\n{known}\n{how}");
    Ok(PromptMessage { text })
}

fn getting_started(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let PromptCall { memory, settings, .. } = *call;
    let project = prompt_project(settings, call.given(0))?;
    let project = project.unwrap_or_else(|| settings.notes.default_project.clone());
    memory.create_project(&settings.notes.default_project)?;
    let held = memory.project(&project)?.name;
    let notes = memory.snapshot()?.notes_in(&held)?;
    let known = latest_changes(memory, settings, "30d", Some(project.clone()))?;
    let how = sentences_for(
        call.tools,
        &[
            "Tell me in a few sentences what is there.",
            "Then offer a first note about something that we are working on, and write it with \
             `write_note` only if I agree.",
        ],
    );
    let text = format!(
        "I would like to start using my notes. The project {project} holds {}.\n\n\
         {known}\n{how}",
        count(usize::try_from(notes).unwrap_or(usize::MAX), "note")
    );
    Ok(PromptMessage { text })
}

fn recent_activity(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let PromptCall { memory, settings, .. } = *call;
    let timeframe = call.given(0).unwrap_or_else(|| "7d".into());
    let known = latest_changes(memory, settings, &timeframe, call.given(1))?;
    let how = sentences_for(
        call.tools,
        &[
            "Sum up what I have been working on.",
            "`read_note` shows a note whole.",
            "`build_context` shows what is linked with it.",
        ],
    );
    let text = format!("{known}\n{how}");
    Ok(PromptMessage { text })
}

fn search_knowledge_base(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let PromptCall { memory, settings, .. } = *call;
    let query = call.given(0).unwrap_or_default();
    let known = notes_about(memory, settings, &query, call.given(1).as_deref())?;
    let how = sentences_for(
        call.tools,
        &[
            "ToolResult from these notes and name the ones you used.",
            "Say what they leave open.",
            "What we find out goes into the note it belongs to (`edit_note`), or a new one.",
        ],
    );
    let text = format!("{known}\n{how}");
    Ok(PromptMessage { text })
}

fn project_info(
    memory: &Memory,
    settings: &ToolSettings,
    names: &[&str],
) -> Result<Option<String>> {
    let [workspace, name] = names else { return Ok(None) };
    let held = settings.notes.only_project.as_ref().is_some_and(|only| only != name);
    if *workspace != "local" || held {
        return Ok(None);
    }
    let project = memory.project(name)?;
    let types = memory.snapshot()?.note_types(&project.name)?;
    let types: serde_json::Map<_, _> =
        types.into_iter().map(|(name, count)| (name, json!(count))).collect();
    let filter = ListFilter {
        project: Some(project.name.clone()),
        without_templates: true,
        ..ListFilter::default()
    };
    let recent = memory.snapshot()?.list(&filter, ListOrder::Newest, QUOTED_NOTES, 0)?;
    let recent: Vec<_> = recent
        .iter()
        .map(|f| json!({ "title": f.title, "permalink": f.permalink, "updated_at": f.updated.to_string() }))
        .collect();
    let info = json!({
        "project_name": project.name.as_str(),
        "project_path": project.path.display().to_string(),
        "default_project": settings.notes.default_project,
        "statistics": { "total_notes": memory.snapshot()?.notes_in(&project.name)?, "note_types": types },
        "activity": { "recently_updated": recent },
        "generated_at": clock::now().to_string(),
    });
    Ok(Some(serde_json::to_string_pretty(&info).unwrap_or_default()))
}
