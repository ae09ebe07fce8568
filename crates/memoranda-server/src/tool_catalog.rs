//! The tool catalog: the tools of the configuration, and the selection of one request.
//!
//! A request selects by headers (`X-MCP-Toolsets`, `X-MCP-Tools`, `X-MCP-Exclude-Tools`,
//! `X-MCP-Readonly`) and by its path (`/mcp/x/<toolset>`, `/mcp/readonly`). It selects from the
//! configured tools, or from all tools if none are configured.

use std::sync::Arc;

use axum::http::HeaderMap;
use memoranda_engine::{Memory, link_key};
use memoranda_tools::{
    AccessMode, PromptDef, ResourceDef, SelectionError, ToolDef, ToolSelection, ToolSettings,
    Toolset, instructions, prompts, resources,
};

use crate::config::{ExtraDefinitions, PromptHandler, ServerConfig};
use crate::mcp::{ChangeFeed, LogDestination, SessionMode, StateSigner};

/// State shared by all transports: the vault, the settings and the tools.
pub(crate) struct ToolCatalog {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) version: String,
    /// Signs the state that tools keep at the client.
    pub(crate) signer: StateSigner,
    pub(crate) sessions: SessionMode,
    pub(crate) logging: LogDestination,
    /// Change feed of the vault, shared by all subscriptions.
    pub(crate) feed: ChangeFeed,
    configured: RequestTools,
    /// Tools that a request may select.
    selectable: Arc<[&'static ToolDef]>,
}

/// Tools, prompts and resources of one request. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestTools {
    /// Selected tools.
    selected: Arc<[&'static ToolDef]>,
    /// Offered tools: the selected ones without those of a project that the server may not read.
    tools: Arc<[&'static ToolDef]>,
    extra: ExtraDefinitions,
    /// The only project that the server may read; `None` if it may read all.
    only_project: Option<Arc<str>>,
}

impl ToolCatalog {
    pub(crate) fn new(memory: Arc<Memory>, config: &ServerConfig) -> Result<Self, SelectionError> {
        let selection = &config.selection;
        let mut tools = selection.resolve()?;
        tools.extend(config.extra.tools);
        let offered = offered_tools(&tools, &config.settings);
        if offered.is_empty() {
            return Err(SelectionError::Nothing);
        }
        let mut from = selection.clone();
        if selection.toolsets.is_empty() && selection.tools.is_empty() {
            from.toolsets = ToolSelection::all().toolsets;
        }
        let mut selectable = from.resolve()?;
        selectable.extend(config.extra.tools);
        Ok(Self {
            memory,
            settings: Arc::new(config.settings.clone()),
            version: config.server_version.clone(),
            signer: StateSigner::new(),
            sessions: config.sessions,
            logging: config.logging,
            feed: ChangeFeed::default(),
            configured: RequestTools {
                selected: tools.into(),
                tools: offered,
                extra: config.extra,
                only_project: config.settings.notes.only_project.as_deref().map(Into::into),
            },
            selectable: selectable.into(),
        })
    }

    /// Returns the configured tools.
    pub(crate) fn configured_tools(&self) -> RequestTools {
        self.configured.clone()
    }

    /// Returns the tools that a request selects, limited to the selectable ones.
    pub(crate) fn select(&self, requested: &ToolSelection) -> Result<RequestTools, SelectionError> {
        if *requested == ToolSelection::default() {
            return Ok(self.configured_tools());
        }
        let all = ToolSelection::all().toolsets;
        let mut selection = requested.clone();
        let mut from = &self.selectable;
        if selection.toolsets.is_empty() && selection.tools.is_empty() {
            selection.toolsets.clone_from(&all);
            from = &self.configured.selected;
        }
        let mut names: Vec<&str> = selection.resolve()?.iter().map(|tool| tool.name).collect();
        if selection.toolsets == all {
            let kept =
                |tool: &&ToolDef| selection.access == AccessMode::ReadWrite || tool.hints.read_only;
            names.extend(self.configured.extra.tools.iter().filter(kept).map(|tool| tool.name));
        }
        let kept = from.iter().copied().filter(|tool| names.contains(&tool.name));
        let selected: Arc<[_]> = kept.collect();
        let tools = offered_tools(&selected, &self.settings);
        Ok(RequestTools { selected, tools, ..self.configured_tools() })
    }

    /// Returns the instructions for these tools, for the model of a client.
    pub(crate) fn instructions(&self, tools: &RequestTools) -> String {
        instructions(&tools.tools, &self.settings)
    }
}

impl RequestTools {
    pub(crate) fn tools(&self) -> &[&'static ToolDef] {
        &self.tools
    }

    /// Returns a shared handle to the tools, for another thread.
    pub(crate) fn shared_tools(&self) -> Arc<[&'static ToolDef]> {
        Arc::clone(&self.tools)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&'static ToolDef> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }

    /// The only project that the server may read; `None` if it may read all.
    pub(crate) fn only_project(&self) -> Option<&str> {
        self.only_project.as_deref()
    }

    /// Returns true if at least one tool of a set is selected.
    fn has_set(&self, toolset: Toolset) -> bool {
        self.selected.iter().any(|tool| tool.toolset == toolset)
    }

    /// Returns true if the server may read the own project of a set.
    fn reads_set(&self, toolset: Toolset) -> bool {
        let own = toolset.own_project();
        own.is_none_or(|own| self.only_project().is_none_or(|only| link_key(only) == link_key(own)))
    }

    /// Returns the prompts of the selected sets.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &'static PromptDef> {
        prompts().filter(|prompt| self.has_set(prompt.toolset)).chain(self.extra.prompts)
    }

    /// Returns the handler of a prompt that has one.
    pub(crate) fn prompt_handler(&self, prompt: &str) -> Option<&'static PromptHandler> {
        self.extra.prompt_handlers.iter().find(|prompt_handler| prompt_handler.prompt == prompt)
    }

    /// Returns the resources of the selected sets; notes are not among them.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &'static ResourceDef> {
        let is_offered = |set: Toolset| self.has_set(set) && self.reads_set(set);
        resources().filter(move |row| is_offered(row.toolset)).chain(self.extra.resources)
    }
}

/// Returns the tools that a server with these settings may offer.
fn offered_tools(
    selected: &[&'static ToolDef],
    settings: &ToolSettings,
) -> Arc<[&'static ToolDef]> {
    selected.iter().copied().filter(|tool| tool.is_reachable(settings)).collect()
}

/// Parses the selection in the headers of a request.
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
    // Every value except a clear no counts as yes: the header can only remove tools.
    let is_no =
        |value: &str| matches!(value.to_ascii_lowercase().as_str(), "" | "false" | "0" | "no");
    if list("x-mcp-readonly").iter().any(|value| !is_no(value)) {
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
