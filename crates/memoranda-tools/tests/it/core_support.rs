//! Helpers of the tests of the core: a vault with a repository, and other clients.

use std::sync::atomic::AtomicBool;

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_tools::{CallContext, ClientContext, ToolResult, Wording, call, tool};
use serde_json::{Value, json};

use crate::support::TestVault;

/// Name of the repository of the tests.
pub(crate) const REPOSITORY: &str = "github.com/acme/lighthouse";

/// Returns a vault whose client works in a repository.
pub(crate) fn vault_in_repository() -> TestVault {
    let mut vault = TestVault::new(Wording::Mcp);
    let folder = vault.path("../work");
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = format!("[remote \"origin\"]\n\turl = https://{REPOSITORY}.git\n");
    std::fs::write(folder.join(".git/config"), config).unwrap();
    vault.settings.workspace = Some(folder);
    vault
}

/// Calls a tool as another client.
pub(crate) fn call_as(vault: &TestVault, client: &str, name: &str, arguments: Value) -> ToolResult {
    let cancelled = AtomicBool::new(false);
    let context = CallContext {
        memory: &vault.memory,
        who: Author::new(client, name, ChangeChannel::Mcp),
        settings: &vault.settings,
        progress: &|_, _, _| {},
        cancelled: &cancelled,
        client: &ClientContext::default(),
        space: None,
        others: &[],
    };
    call(tool(name).unwrap(), &context, arguments)
}

/// Remembers a statement; the structured result.
#[track_caller]
pub(crate) fn remembered(vault: &TestVault, content: &str) -> Value {
    vault.done("remember", json!({ "content": content }))
}

/// Recalls; the texts of the passages.
#[track_caller]
pub(crate) fn recalled(vault: &TestVault, arguments: Value) -> Vec<String> {
    let answer = vault.done("recall", arguments);
    let passages = answer["passages"].as_array().unwrap();
    passages.iter().map(|passage| passage["text"].as_str().unwrap().to_owned()).collect()
}
