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

use crate::config::{ExtraDefinitions, PromptHandler, ServerConfig};
use crate::mcp::{ChangeFeed, LogDestination, SessionMode, StateSigner};

/// What every way in works with: the vault, the settings, the tools.
pub(crate) struct ToolCatalog {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) version: String,
    /// What seals the words that tools keep at the client.
    pub(crate) signer: StateSigner,
    pub(crate) sessions: SessionMode,
    pub(crate) logging: LogDestination,
    /// The one watch on the vault for all who want to hear of changes.
    pub(crate) feed: ChangeFeed,
    offered: RequestTools,
    /// What a request may choose from.
    selectable: Arc<[&'static ToolDef]>,
}

/// What one request may use. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestTools {
    tools: Arc<[&'static ToolDef]>,
    extra: ExtraDefinitions,
    /// The one project that notes may come from, if the server is held to one.
    only_project: Option<Arc<str>>,
}

impl ToolCatalog {
    pub(crate) fn new(memory: Arc<Memory>, config: &ServerConfig) -> Result<Self, SelectionError> {
        let selection = &config.selection;
        let mut tools = selection.resolve()?;
        tools.extend(config.extra.tools);
        if tools.is_empty() {
            return Err(SelectionError::Nothing);
        }
        let mut selectable = match selection.toolsets.is_empty() && selection.tools.is_empty() {
            true => ToolSelection { toolsets: ToolSelection::all().toolsets, ..selection.clone() },
            false => selection.clone(),
        }
        .resolve()?;
        selectable.extend(config.extra.tools);
        Ok(Self {
            memory,
            settings: Arc::new(config.settings.clone()),
            version: config.server_version.clone(),
            signer: StateSigner::new(),
            sessions: config.sessions,
            logging: config.logging,
            feed: ChangeFeed::default(),
            offered: RequestTools {
                tools: tools.into(),
                extra: config.extra,
                only_project: config.settings.notes.only_project.as_deref().map(Into::into),
            },
            selectable: selectable.into(),
        })
    }

    /// Everything that the person chose.
    pub(crate) fn all(&self) -> RequestTools {
        self.offered.clone()
    }

    /// What a request asks for, as far as the person lets it.
    pub(crate) fn select(&self, select: &ToolSelection) -> Result<RequestTools, SelectionError> {
        if *select == ToolSelection::default() {
            return Ok(self.all());
        }
        let all = ToolSelection::all().toolsets;
        let (from, select) = match select.toolsets.is_empty() && select.tools.is_empty() {
            true => {
                (&self.offered.tools, ToolSelection { toolsets: all.clone(), ..select.clone() })
            }
            false => (&self.selectable, select.clone()),
        };
        let mut names: Vec<&str> = select.resolve()?.iter().map(|tool| tool.name).collect();
        if select.toolsets == all {
            let kept =
                |tool: &&ToolDef| select.access == AccessMode::ReadWrite || tool.hints.read_only;
            names.extend(self.offered.extra.tools.iter().filter(kept).map(|tool| tool.name));
        }
        let kept = from.iter().copied().filter(|tool| names.contains(&tool.name));
        Ok(RequestTools { tools: kept.collect(), ..self.all() })
    }

    /// What a client's model is told about these tools.
    pub(crate) fn instructions(&self, offered: &RequestTools) -> String {
        instructions(&offered.tools, &self.settings)
    }
}

impl RequestTools {
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
    pub(crate) fn prompt_handler(&self, prompt: &str) -> Option<&'static PromptHandler> {
        self.extra.prompt_handlers.iter().find(|prompt_handler| prompt_handler.prompt == prompt)
    }

    /// The resources beside the notes, of the sets that are on.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &'static ResourceDef> {
        resources().filter(|resource| self.has(resource.toolset)).chain(self.extra.resources)
    }
}

/// What a request's headers ask for.
pub(crate) fn selection_from_headers(headers: &HeaderMap) -> ToolSelection {
    let list = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let names = values.flat_map(|value| value.split(',')).map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let mut selection = ToolSelection {
        toolsets: list("x-mcp-toolsets"),
        tools: list("x-mcp-tools"),
        exclude: list("x-mcp-exclude-tools"),
        access: AccessMode::ReadWrite,
    };
    // Whatever is not clearly a no is a yes: the header can only take away.
    let refused =
        |value: &str| matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "0" | "no");
    if list("x-mcp-readonly").iter().any(|value| !refused(value)) {
        selection.access = AccessMode::ReadOnly;
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn headers_are_read_as_lists() {
        assert_eq!(selection_from_headers(&HeaderMap::new()), ToolSelection::default());
        let select = selection_from_headers(&headers(&[
            ("x-mcp-toolsets", "memory, notes"),
            ("x-mcp-exclude-tools", "a,,b"),
            ("x-mcp-readonly", "true"),
        ]));
        assert_eq!(select.toolsets, ["memory", "notes"]);
        assert_eq!(select.exclude, ["a", "b"]);
        assert_eq!(select.access, AccessMode::ReadOnly);
        assert_eq!(
            selection_from_headers(&headers(&[("x-mcp-readonly", "False")])).access,
            AccessMode::ReadWrite
        );
        assert_eq!(
            selection_from_headers(&headers(&[("x-mcp-tools", "memory")])).toolsets,
            [""; 0]
        );
    }
}
