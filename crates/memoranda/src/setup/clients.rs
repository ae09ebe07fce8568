//! The clients: one row each.

use serde_json::{Value, json};

use crate::hook::Harness;
use crate::setup::format::Format;
use crate::setup::place::{Base, Place};

/// A client, and how it is told about a server.
pub(crate) struct Client {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// How its file is written.
    pub(crate) format: Format,
    /// The key that holds its servers.
    pub(crate) container: &'static str,
    /// What a server looks like in it.
    pub(crate) shape: Shape,
    /// Where its own file is: the first that exists, else the first whose folder does.
    pub(crate) user: &'static [Place],
    /// Where the file of a project is, if there is such a thing.
    pub(crate) project: Option<Place>,
    /// Files and folders that say that the client is used here.
    pub(crate) signs: &'static [Place],
    /// Its program, if it has one to type.
    pub(crate) program: Option<&'static str>,
    /// How many tools it bears.
    pub(crate) tools: Tools,
    /// How it runs hooks, if it does.
    pub(crate) hooks: Option<Harness>,
    /// What makes it read its file again.
    pub(crate) after: &'static str,
}

/// What serves every day, where all tools are in the way: the memory tool; notes, to write, read,
/// change and find them; records, to know the rules and to keep them right.
const FEW: &str = "memory,write_note,read_note,edit_note,search_notes,recent_activity,get_context,\
                   get_rules,add_memory,search_memories,edit_memory,forget_memory";

/// What a server looks like in a client's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// `{command, args}`.
    Plain,
    /// `{type: "stdio", command, args}`.
    Typed,
    /// `{type: "local", command: [program, …], enabled}`.
    OneList,
    /// `{name, type: "stdio", cmd, args, enabled, …}`.
    Goose,
}

/// How many tools a client bears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tools {
    /// It loads them as they are needed, or bears the set `default`.
    Default,
    /// It hands all of them to the model with every request.
    Few,
    /// The same, and its models are small.
    Fewest,
}

impl Tools {
    /// The flags that ask for them.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Few => &["--tools", FEW],
            Self::Fewest => &["--toolsets", "memory"],
        }
    }
}

impl Shape {
    /// The entry for a program and its arguments.
    pub(crate) fn entry(self, program: &str, args: &[String]) -> Value {
        match self {
            Self::Plain => json!({ "command": program, "args": args }),
            Self::Typed => json!({ "type": "stdio", "command": program, "args": args }),
            Self::OneList => {
                let words: Vec<&str> =
                    std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words, "enabled": true })
            }
            Self::Goose => json!({
                "name": "memoranda",
                "type": "stdio",
                "cmd": program,
                "args": args,
                "enabled": true,
                "envs": {},
                "timeout": 60,
            }),
        }
    }
}

/// Every client, in the order in which they are listed.
pub(crate) const CLIENTS: [Client; 12] = [
    Client {
        name: "claude-code",
        title: "Claude Code",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Typed,
        user: &[(Base::ClaudeState, ".claude.json")],
        project: Some((Base::Project, ".mcp.json")),
        signs: &[(Base::ClaudeState, ".claude.json"), (Base::Claude, "")],
        program: Some("claude"),
        tools: Tools::Default,
        hooks: Some(Harness::ClaudeCode),
        after: "start a new session",
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[(Base::Support, "Claude/claude_desktop_config.json")],
        project: None,
        signs: &[(Base::Support, "Claude")],
        program: None,
        tools: Tools::Default,
        hooks: None,
        after: "quit Claude Desktop and open it again",
    },
    Client {
        name: "cursor",
        title: "Cursor",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[(Base::Home, ".cursor/mcp.json")],
        project: Some((Base::Project, ".cursor/mcp.json")),
        signs: &[(Base::Home, ".cursor")],
        program: Some("cursor"),
        tools: Tools::Default,
        hooks: Some(Harness::Cursor),
        after: "switch the server on in Cursor's settings, under MCP",
    },
    Client {
        name: "vscode",
        title: "VS Code",
        format: Format::Json,
        container: "servers",
        shape: Shape::Typed,
        user: &[
            (Base::Support, "Code/User/mcp.json"),
            (Base::Support, "Code - Insiders/User/mcp.json"),
            (Base::Support, "VSCodium/User/mcp.json"),
        ],
        project: Some((Base::Project, ".vscode/mcp.json")),
        signs: &[
            (Base::Support, "Code"),
            (Base::Support, "Code - Insiders"),
            (Base::Support, "VSCodium"),
        ],
        program: Some("code"),
        tools: Tools::Default,
        hooks: Some(Harness::VsCode),
        after: "VS Code asks whether to trust the server when it starts",
    },
    Client {
        name: "codex",
        title: "Codex",
        format: Format::Toml,
        container: "mcp_servers",
        shape: Shape::Plain,
        user: &[(Base::Codex, "config.toml")],
        project: Some((Base::Project, ".codex/config.toml")),
        signs: &[(Base::Codex, "")],
        program: Some("codex"),
        tools: Tools::Default,
        hooks: Some(Harness::Codex),
        after: "start a new session",
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[(Base::Home, ".gemini/settings.json")],
        project: Some((Base::Project, ".gemini/settings.json")),
        signs: &[(Base::Home, ".gemini")],
        program: Some("gemini"),
        tools: Tools::Few,
        hooks: Some(Harness::Gemini),
        after: "start a new session; with `gemini -p` add `--allowed-mcp-server-names memoranda`, \
                or its tools are left out",
    },
    Client {
        name: "zed",
        title: "Zed",
        format: Format::Json,
        container: "context_servers",
        shape: Shape::Plain,
        user: &[(Base::Config, "zed/settings.json")],
        project: Some((Base::Project, ".zed/settings.json")),
        signs: &[(Base::Config, "zed")],
        program: Some("zed"),
        tools: Tools::Few,
        hooks: None,
        after: "Zed notices at once",
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[(Base::Home, ".codeium/windsurf/mcp_config.json")],
        project: None,
        signs: &[(Base::Home, ".codeium/windsurf")],
        program: Some("windsurf"),
        tools: Tools::Few,
        hooks: None,
        after: "press Refresh in Windsurf's MCP settings",
    },
    Client {
        name: "cline",
        title: "Cline",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[
            (Base::Home, ".cline/data/settings/cline_mcp_settings.json"),
            (
                Base::Support,
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            (Base::Home, ".cline/mcp.json"),
        ],
        project: None,
        signs: &[
            (Base::Home, ".cline"),
            (Base::Support, "Code/User/globalStorage/saoudrizwan.claude-dev"),
        ],
        program: Some("cline"),
        tools: Tools::Few,
        hooks: None,
        after: "Cline notices at once",
    },
    Client {
        name: "goose",
        title: "Goose",
        format: Format::Yaml,
        container: "extensions",
        shape: Shape::Goose,
        user: &[
            (Base::Config, "goose/config.yaml"),
            (Base::Config, "Block/goose/config/config.yaml"),
        ],
        project: None,
        signs: &[(Base::Config, "goose"), (Base::Config, "Block/goose")],
        program: Some("goose"),
        tools: Tools::Few,
        hooks: None,
        after: "start a new session",
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        format: Format::Json,
        container: "mcp",
        shape: Shape::OneList,
        user: &[
            (Base::Config, "opencode/opencode.json"),
            (Base::Config, "opencode/opencode.jsonc"),
        ],
        project: Some((Base::Project, "opencode.json")),
        signs: &[(Base::Config, "opencode")],
        program: Some("opencode"),
        tools: Tools::Few,
        hooks: None,
        after: "start a new session",
    },
    Client {
        name: "lm-studio",
        title: "LM Studio",
        format: Format::Json,
        container: "mcpServers",
        shape: Shape::Plain,
        user: &[(Base::Home, ".lmstudio/mcp.json"), (Base::Home, ".cache/lm-studio/mcp.json")],
        project: None,
        signs: &[(Base::Home, ".lmstudio"), (Base::Home, ".cache/lm-studio")],
        program: Some("lms"),
        tools: Tools::Fewest,
        hooks: None,
        after: "LM Studio notices at once",
    },
];

/// The client of a name, as people type it.
pub(crate) fn client(name: &str) -> Option<&'static Client> {
    let plain = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.collect::<String>().to_lowercase()
    };
    let wanted = match plain(name).as_str() {
        "claude" => "claudecode".to_owned(),
        "code" | "copilot" | "vs" => "vscode".to_owned(),
        "geminicli" => "gemini".to_owned(),
        other => other.to_owned(),
    };
    CLIENTS.iter().find(|client| plain(client.name) == wanted)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test looks at the packages")]
mod tests {
    use memoranda_tools::ToolSelection;

    use super::*;

    #[test]
    fn names_are_found_as_people_type_them() {
        for (typed, name) in [
            ("claude", "claude-code"),
            ("Claude Desktop", "claude-desktop"),
            ("VS Code", "vscode"),
            ("code", "vscode"),
            ("gemini-cli", "gemini"),
            ("LMStudio", "lm-studio"),
        ] {
            assert_eq!(client(typed).map(|client| client.name), Some(name), "{typed}");
        }
        assert!(client("emacs").is_none());
        for row in &CLIENTS {
            assert_eq!(client(row.name).map(|found| found.title), Some(row.title));
        }
    }

    #[test]
    fn the_extension_offers_what_setup_does() {
        let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/");
        let text = std::fs::read_to_string(format!("{packages}gemini/gemini-extension.json"));
        let shipped: Value = serde_json::from_str(&text.unwrap()).unwrap();
        let ours = client("gemini")
            .unwrap()
            .shape
            .entry("memoranda", &["mcp", "--tools", FEW].map(str::to_owned));
        assert_eq!(shipped["mcpServers"]["memoranda"], ours);
    }

    #[test]
    fn every_choice_of_tools_is_one() {
        for row in &CLIENTS {
            let words = |names: &str| names.split(',').map(str::to_owned).collect::<Vec<_>>();
            let selection = match row.tools.flags() {
                ["--tools", names] => {
                    ToolSelection { tools: words(names), ..ToolSelection::default() }
                }
                ["--toolsets", names] => {
                    ToolSelection { toolsets: words(names), ..ToolSelection::default() }
                }
                _ => ToolSelection::default(),
            };
            let tools = selection.resolve().unwrap();
            assert!(!tools.is_empty(), "{}", row.name);
            // What its users have beside us must fit too.
            let most = if row.tools == Tools::Default { 60 } else { 15 };
            assert!(tools.len() <= most, "{}: {} tools", row.name, tools.len());
        }
    }
}
