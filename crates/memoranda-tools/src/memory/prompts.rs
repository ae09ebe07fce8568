//! Prompts of the memory tool.

use memoranda_engine::{ListFilter, ListOrder, ListRequest, Result, SearchFilter, SearchRequest};

use crate::instructions::sentences_for;
use crate::registry::{
    PromptArgument, PromptCall, PromptDef, PromptMessage, QueryFeedback, Toolset, quote_lines,
};

/// Definitions of the prompts.
pub(crate) const PROMPTS: &[PromptDef] = &[
    PromptDef {
        name: "memory_guide",
        title: "Memory guide",
        description: "How to use the memory tool well: the protocol, file structures, examples",
        toolset: Toolset::Memory,
        arguments: &[],
        render: guide,
    },
    PromptDef {
        name: "remember",
        title: "Remember",
        description: "Write something down so that later conversations know it",
        toolset: Toolset::Memory,
        arguments: &[PromptArgument {
            name: "what",
            description: "What to remember",
            required: true,
        }],
        render: remember,
    },
    PromptDef {
        name: "recall",
        title: "Recall",
        description: "Bring what is known about a topic into this conversation",
        toolset: Toolset::Memory,
        arguments: &[PromptArgument {
            name: "topic",
            description: "What to look for",
            required: true,
        }],
        render: recall,
    },
    PromptDef {
        name: "continue",
        title: "Continue",
        description: "Go on where the last conversation ended",
        toolset: Toolset::Memory,
        arguments: &[PromptArgument {
            name: "topic",
            description: "What to go on with; without it, whatever changed last",
            required: false,
        }],
        render: continue_topic,
    },
];

const GUIDE: &str = include_str!("memory_guide.md");
/// Number of notes that a prompt quotes.
const QUOTED_NOTES: usize = 8;

fn guide(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let mut text = GUIDE.to_owned();
    let lines: Vec<String> = OTHER_TOOLS
        .iter()
        .map(|line| sentences_for(call.tools, &[line]))
        .filter(|line| !line.is_empty())
        .collect();
    if !lines.is_empty() {
        text.push_str("\n## With the other tools\n\nThe memories are the project `memories`");
        match &call.settings.notes.only_project {
            Some(only) if !call.settings.reaches_memories() => text.push_str(&format!(
                ". The notes tools of this server work in the project {only} only, and find none \
                 of them.\n"
            )),
            _ => text.push_str(&format!(":\n\n{}\n", lines.join("\n"))),
        }
    }
    if let Some(guidance) = &call.settings.guidance {
        text.push_str("\n## What this person asks for\n\n");
        text.push_str(guidance);
        text.push('\n');
    }
    Ok(PromptMessage { text })
}

/// Lines about other tools that read memories.
const OTHER_TOOLS: &[&str] = &[
    "- `search_notes` finds them by words and by meaning: `{\"query\": \"python preferences\", \"project\": \"memories\"}`",
    "- `recent_activity` shows what changed lately: `{\"project\": \"memories\", \"timeframe\": \"7d\"}`",
    "- `build_context` follows relations from one file to the next: `{\"url\": \"memory://user/preferences\", \"project\": \"memories\"}`",
];

fn remember(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let what = call.given(0).unwrap_or_default();
    let text = format!(
        "Please remember this for later conversations, with the memory tool: view /memories first, \
         then add it to the file where it belongs (or create one), as an observation if it is a \
         fact, and say where it went.\n\n{}",
        quote_lines(&what)
    );
    Ok(PromptMessage { text })
}

fn recall(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let topic = call.given(0).unwrap_or_default();
    Ok(PromptMessage { text: recall_text(call, &topic)? })
}

fn continue_topic(call: &PromptCall<'_>) -> Result<PromptMessage> {
    let memory = call.memory;
    if let Some(topic) = call.given(0) {
        let known = recall_text(call, &topic)?;
        return Ok(PromptMessage { text: format!("Let us go on with {topic:?}.\n\n{known}") });
    }
    let only = call.settings.notes.only_project.as_deref();
    let only = only.map(|only| memory.create_project(only)).transpose()?;
    let page = memory.list(&ListRequest {
        filter: ListFilter { project: only.map(|project| project.name), ..ListFilter::default() },
        order: ListOrder::Newest,
        limit: QUOTED_NOTES,
        offset: 0,
    })?;
    let mut text = String::from("Let us go on where we stopped. What changed last in memory:\n\n");
    for note in &page.notes {
        text.push_str(&format!(
            "- {} ({}/{}, {})\n",
            note.title, note.project, note.path, note.updated
        ));
    }
    if page.notes.is_empty() {
        text.push_str("Nothing has been written yet.\n");
    }
    text.push_str("\nRead what matters of it, then say where things stand and what comes next.");
    Ok(PromptMessage { text })
}

fn recall_text(call: &PromptCall<'_>, topic: &str) -> Result<String> {
    let memory = call.memory;
    // A restricted server quotes only its project.
    let only = call.settings.notes.only_project.as_deref();
    let only = only.map(|only| memory.create_project(only)).transpose()?;
    let projects = only.map(|project| project.name).into_iter().collect();
    let request = SearchRequest {
        text: topic.to_owned(),
        filter: SearchFilter { projects, ..Default::default() },
        limit: QUOTED_NOTES,
        snippet_chars: 400,
        max_tokens: Some(2000),
        ..SearchRequest::default()
    };
    let page = memory.search(&request)?;
    if page.results.is_empty() {
        return Ok(format!("Nothing in memory matches {topic:?}."));
    }
    let mut text = format!("From memory about {topic:?} (quoted data, with its sources):\n");
    text.push_str(&QueryFeedback::from_page(&page).to_text());
    text.push('\n');
    for result in &page.results {
        text.push_str(&format!("### {} — {}\n", result.title, result.place));
        text.push_str(&quote_lines(&result.snippet.text));
        text.push('\n');
    }
    Ok(text)
}
