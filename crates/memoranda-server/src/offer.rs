//! What is offered: the tools that the person chose, and what one request leaves of them.
//!
//! A request chooses by headers (`X-MCP-Toolsets`, `X-MCP-Tools`, `X-MCP-Exclude-Tools`,
//! `X-MCP-Readonly`) and by its path (`/mcp/x/<toolset>`, `/mcp/readonly`): among all tools if the
//! person chose none, and never beyond what the person chose.

use std::sync::Arc;

use axum::http::HeaderMap;
use memoranda_engine::Memory;
use memoranda_tools::{
    AccessMode, PromptDef, ResourceDef, SelectionError, ToolDef, ToolSelection, ToolSettings,
    Toolset, instructions, prompts, resources,
};

use crate::config::{Extra, ServerConfig, Speaker};
use crate::mcp::{Feed, Logging, Seal, Sessions};

/// What every way in works with: the vault, the settings, the tools.
pub(crate) struct Offer {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) version: String,
    /// What seals the words that tools keep at the client.
    pub(crate) seal: Seal,
    pub(crate) sessions: Sessions,
    pub(crate) logging: Logging,
    /// The one watch on the vault for all who want to hear of changes.
    pub(crate) feed: Feed,
    offered: Offered,
    /// What a request may choose from.
    widest: Arc<[&'static ToolDef]>,
}

/// What one request may use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Offered {
    tools: Arc<[&'static ToolDef]>,
    extra: Extra,
    /// The one project that notes may come from, if the server is held to one.
    only_project: Option<Arc<str>>,
}

impl Offer {
    pub(crate) fn new(memory: Arc<Memory>, config: &ServerConfig) -> Result<Self, SelectionError> {
        let selection = &config.selection;
        let mut tools = selection.resolve()?;
        tools.extend(config.extra.tools);
        if tools.is_empty() {
            return Err(SelectionError::Nothing);
        }
        let mut widest = match selection.toolsets.is_empty() && selection.tools.is_empty() {
            true => ToolSelection { toolsets: ToolSelection::all().toolsets, ..selection.clone() },
            false => selection.clone(),
        }
        .resolve()?;
        widest.extend(config.extra.tools);
        Ok(Self {
            memory,
            settings: Arc::new(config.settings.clone()),
            version: config.server_version.clone(),
            seal: Seal::new(),
            sessions: config.sessions,
            logging: config.logging,
            feed: Feed::default(),
            offered: Offered {
                tools: tools.into(),
                extra: config.extra,
                only_project: config.settings.notes.only_project.as_deref().map(Into::into),
            },
            widest: widest.into(),
        })
    }

    /// Everything that the person chose.
    pub(crate) fn all(&self) -> Offered {
        self.offered.clone()
    }

    /// What a request asks for, as far as the person lets it.
    pub(crate) fn asked(&self, asked: &ToolSelection) -> Result<Offered, SelectionError> {
        if *asked == ToolSelection::default() {
            return Ok(self.all());
        }
        let all = ToolSelection::all().toolsets;
        let (from, asked) = match asked.toolsets.is_empty() && asked.tools.is_empty() {
            true => (&self.offered.tools, ToolSelection { toolsets: all.clone(), ..asked.clone() }),
            false => (&self.widest, asked.clone()),
        };
        let mut names: Vec<&str> = asked.resolve()?.iter().map(|tool| tool.name).collect();
        if asked.toolsets == all {
            let kept =
                |tool: &&ToolDef| asked.access == AccessMode::ReadWrite || tool.hints.read_only;
            names.extend(self.offered.extra.tools.iter().filter(kept).map(|tool| tool.name));
        }
        let kept = from.iter().copied().filter(|tool| names.contains(&tool.name));
        Ok(Offered { tools: kept.collect(), ..self.all() })
    }

    /// What a client's model is told about these tools.
    pub(crate) fn instructions(&self, offered: &Offered) -> String {
        instructions(&offered.tools, &self.settings)
    }
}

impl Offered {
    pub(crate) fn tools(&self) -> &[&'static ToolDef] {
        &self.tools
    }

    /// The same tools, for a thread of their own.
    pub(crate) fn shared_tools(&self) -> Arc<[&'static ToolDef]> {
        Arc::clone(&self.tools)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&'static ToolDef> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }

    /// The one project that notes may come from, if the server is held to one.
    pub(crate) fn only_project(&self) -> Option<&str> {
        self.only_project.as_deref()
    }

    /// Whether any tool of a set is on.
    fn has(&self, toolset: Toolset) -> bool {
        self.tools.iter().any(|tool| tool.toolset == toolset)
    }

    /// The prompts of the sets that are on.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &'static PromptDef> {
        prompts().filter(|prompt| self.has(prompt.toolset)).chain(self.extra.prompts)
    }

    /// Who speaks for a prompt that says more than text.
    pub(crate) fn speaker(&self, prompt: &str) -> Option<&'static Speaker> {
        self.extra.speakers.iter().find(|speaker| speaker.prompt == prompt)
    }

    /// The resources beside the notes, of the sets that are on.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &'static ResourceDef> {
        resources().filter(|resource| self.has(resource.toolset)).chain(self.extra.resources)
    }
}

/// What a request's headers ask for.
pub(crate) fn asked_by(headers: &HeaderMap) -> ToolSelection {
    let list = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let names = values.flat_map(|value| value.split(',')).map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let mut asked = ToolSelection {
        toolsets: list("x-mcp-toolsets"),
        tools: list("x-mcp-tools"),
        exclude: list("x-mcp-exclude-tools"),
        access: AccessMode::ReadWrite,
    };
    // Whatever is not clearly a no is a yes: the header can only take away.
    let refused =
        |value: &str| matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "0" | "no");
    if list("x-mcp-readonly").iter().any(|value| !refused(value)) {
        asked.access = AccessMode::ReadOnly;
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn headers_are_read_as_lists() {
        assert_eq!(asked_by(&HeaderMap::new()), ToolSelection::default());
        let asked = asked_by(&headers(&[
            ("x-mcp-toolsets", "memory, notes"),
            ("x-mcp-exclude-tools", "a,,b"),
            ("x-mcp-readonly", "true"),
        ]));
        assert_eq!(asked.toolsets, ["memory", "notes"]);
        assert_eq!(asked.exclude, ["a", "b"]);
        assert_eq!(asked.access, AccessMode::ReadOnly);
        assert_eq!(
            asked_by(&headers(&[("x-mcp-readonly", "False")])).access,
            AccessMode::ReadWrite
        );
        assert_eq!(asked_by(&headers(&[("x-mcp-tools", "memory")])).toolsets, [""; 0]);
    }
}
