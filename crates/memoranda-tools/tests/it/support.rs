//! A vault in a temporary folder, and calls to its tools.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_engine::{Memory, OpenOptions};
use memoranda_tools::{
    CallContext, ClientContext, ToolDef, ToolResult, ToolSettings, Wording, call, tool,
};
use serde_json::Value;
use tempfile::TempDir;

/// A vault that vanishes with its test.
pub(crate) struct TestVault {
    folder: TempDir,
    pub(crate) memory: Memory,
    pub(crate) settings: ToolSettings,
}

impl TestVault {
    pub(crate) fn new(wording: Wording) -> Self {
        let folder = TempDir::new().unwrap();
        let memory = Memory::open(OpenOptions::in_folder(folder.path())).unwrap();
        let settings = ToolSettings { wording, ..ToolSettings::standard() };
        Self { folder, memory, settings }
    }

    /// Sets the default project.
    pub(crate) fn with_default_project(mut self, project: &str) -> Self {
        self.settings.notes.default_project = project.to_owned();
        Self { memory: self.memory.with_default_project(project), ..self }
    }

    /// Returns a path in the vault's folder or next to it.
    pub(crate) fn path(&self, place: &str) -> PathBuf {
        self.folder.path().join("home").join(place)
    }

    /// Calls the memory tool.
    pub(crate) fn memory(&self, arguments: &Value) -> ToolResult {
        self.call("memory", arguments)
    }

    /// Calls a tool, which must succeed; its structured result.
    #[track_caller]
    pub(crate) fn done(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, &arguments);
        assert!(!result.is_error, "{name} {arguments}: {}", result.text);
        result.structured
    }

    /// Calls a tool, which must refuse; its text and structured result.
    #[track_caller]
    pub(crate) fn refused(&self, name: &str, arguments: Value) -> (String, Value) {
        let result = self.call(name, &arguments);
        assert!(result.is_error, "{name} {arguments}: {}", result.text);
        (result.text, result.structured)
    }

    pub(crate) fn call(&self, name: &str, arguments: &Value) -> ToolResult {
        self.call_row(tool(name).unwrap(), arguments)
    }

    /// Calls a tool by its definition.
    pub(crate) fn call_row(&self, tool: &ToolDef, arguments: &Value) -> ToolResult {
        let cancelled = AtomicBool::new(false);
        let context = CallContext {
            memory: &self.memory,
            who: Author::new("test 1", tool.name, ChangeChannel::Mcp),
            settings: &self.settings,
            progress: &|_, _, _| {},
            cancelled: &cancelled,
            client: &ClientContext::default(),
            space: None,
            others: &[],
        };
        call(tool, &context, arguments.clone())
    }
}
