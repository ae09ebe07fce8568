//! Table of clients.

use serde_json::{Value, json};

use crate::hook::HookClient;
use crate::setup::format::ConfigFormat;
use crate::setup::locations::{BaseDir, FileLocation};
use crate::setup::server_address::RemoteShape;

/// A client and the format of its configuration.
pub struct ClientSpec {
    /// Name on the command line.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Format of its file.
    pub(crate) format: ConfigFormat,
    /// Key of the servers.
    pub(crate) container: &'static str,
    /// Shape of a server entry.
    pub(crate) shape: EntryShape,
    /// Entry of a server that the client calls.
    pub(crate) remote: RemoteShape,
    /// Step by which the user signs in at a server; `None` if the client needs a token.
    pub sign_in: Option<&'static str>,
    /// Candidates of the user's file: the first that exists, else the first with an existing
    /// folder.
    pub(crate) user: &'static [FileLocation],
    /// File of a project; `None` if the client has none.
    pub(crate) project: Option<FileLocation>,
    /// Files and folders that show that the client is installed.
    pub(crate) signs: &'static [FileLocation],
    /// Name of its program.
    pub(crate) program: Option<&'static str>,
    /// Tools offered to the client.
    pub tools: ToolChoice,
    /// Hook support.
    pub hooks: Option<HookClient>,
    /// Step after which the client reads its file again.
    pub after: &'static str,
}

/// Shape of a server entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryShape {
    /// `{command, args}`.
    Plain,
    /// `{type: "stdio", command, args}`.
    Typed,
    /// `{type: "local", command: [program, …], enabled}`.
    OneList,
    /// `{name, type: "stdio", cmd, args, enabled, …}`.
    Goose,
}

/// Tools offered to a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolChoice {
    /// The set `recommended`, for clients that load tools on demand or search them.
    Recommended,
    /// The eight tools of the core, for clients that send all tools with every request.
    Core,
}

impl ToolChoice {
    /// Returns the flags that select the tools.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Recommended => &["--toolsets", "recommended"],
            Self::Core => &["--toolsets", "core"],
        }
    }

    /// Returns the tools as names for `setup --tools`.
    pub fn set_name(self) -> &'static str {
        self.flags().last().copied().unwrap_or("recommended")
    }
}

impl EntryShape {
    /// Returns the entry of a program and its arguments.
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

/// All clients in the order of the list.
pub const CLIENTS: [ClientSpec; 12] = [
    ClientSpec {
        name: "claude-code",
        title: "Claude Code",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Typed,
        remote: RemoteShape::TypedUrl,
        sign_in: Some("sign in with `/mcp` in a session"),
        user: &[(BaseDir::ClaudeState, ".claude.json")],
        project: Some((BaseDir::Project, ".mcp.json")),
        signs: &[(BaseDir::ClaudeState, ".claude.json"), (BaseDir::Claude, "")],
        program: Some("claude"),
        tools: ToolChoice::Recommended,
        hooks: Some(HookClient::ClaudeCode),
        after: "start a new session",
    },
    ClientSpec {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::None,
        sign_in: None,
        user: &[(BaseDir::Support, "Claude/claude_desktop_config.json")],
        project: None,
        signs: &[(BaseDir::Support, "Claude")],
        program: None,
        tools: ToolChoice::Core,
        hooks: None,
        after: "quit Claude Desktop and open it again",
    },
    ClientSpec {
        name: "cursor",
        title: "Cursor",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::Url,
        sign_in: Some("sign in under MCP in Cursor's settings"),
        user: &[(BaseDir::Home, ".cursor/mcp.json")],
        project: Some((BaseDir::Project, ".cursor/mcp.json")),
        signs: &[(BaseDir::Home, ".cursor")],
        program: Some("cursor"),
        tools: ToolChoice::Recommended,
        hooks: Some(HookClient::Cursor),
        after: "switch the server on in Cursor's settings, under MCP",
    },
    ClientSpec {
        name: "vscode",
        title: "VS Code",
        format: ConfigFormat::Json,
        container: "servers",
        shape: EntryShape::Typed,
        remote: RemoteShape::TypedUrl,
        sign_in: Some("VS Code asks to sign in when the server starts"),
        user: &[
            (BaseDir::Support, "Code/User/mcp.json"),
            (BaseDir::Support, "Code - Insiders/User/mcp.json"),
            (BaseDir::Support, "VSCodium/User/mcp.json"),
        ],
        project: Some((BaseDir::Project, ".vscode/mcp.json")),
        signs: &[
            (BaseDir::Support, "Code"),
            (BaseDir::Support, "Code - Insiders"),
            (BaseDir::Support, "VSCodium"),
        ],
        program: Some("code"),
        tools: ToolChoice::Core,
        hooks: Some(HookClient::VsCode),
        after: "VS Code asks whether to trust the server when it starts",
    },
    ClientSpec {
        name: "codex",
        title: "Codex",
        format: ConfigFormat::Toml,
        container: "mcp_servers",
        shape: EntryShape::Plain,
        remote: RemoteShape::HttpHeaders,
        sign_in: Some("sign in with `codex mcp login memoranda`"),
        user: &[(BaseDir::Codex, "config.toml")],
        project: Some((BaseDir::Project, ".codex/config.toml")),
        signs: &[(BaseDir::Codex, "")],
        program: Some("codex"),
        tools: ToolChoice::Recommended,
        hooks: Some(HookClient::Codex),
        after: "start a new session",
    },
    ClientSpec {
        name: "gemini",
        title: "Gemini CLI",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::HttpUrl,
        sign_in: Some("sign in with `/mcp auth memoranda` in a session"),
        user: &[(BaseDir::Home, ".gemini/settings.json")],
        project: Some((BaseDir::Project, ".gemini/settings.json")),
        signs: &[(BaseDir::Home, ".gemini")],
        program: Some("gemini"),
        tools: ToolChoice::Core,
        hooks: Some(HookClient::Gemini),
        after: "start a new session; in a folder that Gemini CLI does not trust the server is \
                disabled (`/permissions` trusts it); with `gemini -p` add \
                `--allowed-mcp-server-names memoranda`, or its tools are left out",
    },
    ClientSpec {
        name: "zed",
        title: "Zed",
        format: ConfigFormat::Json,
        container: "context_servers",
        shape: EntryShape::Plain,
        remote: RemoteShape::Url,
        sign_in: Some("sign in at the server in Zed's settings, under AI"),
        user: &[(BaseDir::Config, "zed/settings.json")],
        project: Some((BaseDir::Project, ".zed/settings.json")),
        signs: &[(BaseDir::Config, "zed")],
        program: Some("zed"),
        tools: ToolChoice::Core,
        hooks: None,
        after: "Zed notices at once",
    },
    ClientSpec {
        name: "windsurf",
        title: "Windsurf",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::ServerUrl,
        sign_in: Some("sign in at the server in Windsurf's MCP settings"),
        user: &[(BaseDir::Home, ".codeium/windsurf/mcp_config.json")],
        project: None,
        signs: &[(BaseDir::Home, ".codeium/windsurf")],
        program: Some("windsurf"),
        tools: ToolChoice::Core,
        hooks: Some(HookClient::Windsurf),
        after: "press Refresh in Windsurf's MCP settings",
    },
    ClientSpec {
        name: "cline",
        title: "Cline",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::StreamableUrl,
        sign_in: Some("sign in at the server in Cline's MCP settings"),
        user: &[
            (BaseDir::Home, ".cline/data/settings/cline_mcp_settings.json"),
            (
                BaseDir::Support,
                "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ),
            (BaseDir::Home, ".cline/mcp.json"),
        ],
        project: None,
        signs: &[
            (BaseDir::Home, ".cline"),
            (BaseDir::Support, "Code/User/globalStorage/saoudrizwan.claude-dev"),
        ],
        program: Some("cline"),
        tools: ToolChoice::Core,
        hooks: Some(HookClient::Cline),
        after: "Cline notices at once",
    },
    ClientSpec {
        name: "goose",
        title: "Goose",
        format: ConfigFormat::Yaml,
        container: "extensions",
        shape: EntryShape::Goose,
        remote: RemoteShape::Goose,
        sign_in: Some("Goose opens a browser to sign in"),
        user: &[
            (BaseDir::Config, "goose/config.yaml"),
            (BaseDir::Config, "Block/goose/config/config.yaml"),
        ],
        project: None,
        signs: &[(BaseDir::Config, "goose"), (BaseDir::Config, "Block/goose")],
        program: Some("goose"),
        tools: ToolChoice::Core,
        hooks: None,
        after: "start a new session",
    },
    ClientSpec {
        name: "opencode",
        title: "OpenCode",
        format: ConfigFormat::Json,
        container: "mcp",
        shape: EntryShape::OneList,
        remote: RemoteShape::Remote,
        sign_in: Some("sign in with `opencode mcp auth memoranda`"),
        user: &[
            (BaseDir::Config, "opencode/opencode.json"),
            (BaseDir::Config, "opencode/opencode.jsonc"),
        ],
        project: Some((BaseDir::Project, "opencode.json")),
        signs: &[(BaseDir::Config, "opencode")],
        program: Some("opencode"),
        tools: ToolChoice::Core,
        hooks: Some(HookClient::OpenCode),
        after: "start a new session",
    },
    ClientSpec {
        name: "lm-studio",
        title: "LM Studio",
        format: ConfigFormat::Json,
        container: "mcpServers",
        shape: EntryShape::Plain,
        remote: RemoteShape::Url,
        sign_in: None,
        user: &[
            (BaseDir::Home, ".lmstudio/mcp.json"),
            (BaseDir::Home, ".cache/lm-studio/mcp.json"),
        ],
        project: None,
        signs: &[(BaseDir::Home, ".lmstudio"), (BaseDir::Home, ".cache/lm-studio")],
        program: Some("lms"),
        tools: ToolChoice::Core,
        hooks: None,
        after: "LM Studio notices at once",
    },
];

/// Finds a client by name, ignoring case and punctuation.
pub fn client(name: &str) -> Option<&'static ClientSpec> {
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
    use memoranda_tools::{ToolAdvice, ToolDef, ToolSelection};

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
            .entry("memoranda", &["mcp", "--toolsets", "core"].map(str::to_owned));
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
            // Leaves room for the tools of other servers.
            let most = if row.tools == ToolChoice::Recommended { 60 } else { 15 };
            assert!(tools.len() <= most, "{}: {} tools", row.name, tools.len());
            let unwanted = |tool: &&&ToolDef| tool.advice != ToolAdvice::Recommended;
            assert!(tools.iter().find(unwanted).is_none(), "{}: {tools:?}", row.name);
        }
    }
}
