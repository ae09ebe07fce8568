//! Agents: the same program in every version, and the person.

use memoranda_core::change::{ChangeChannel, UNNAMED_PERSON};

use crate::{Author, Memory};

/// A program or a person that writes; versions of a program are not distinguished.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AgentIdentity {
    /// Stable key, such as `claude-code`; `person` for the person.
    pub key: String,
    /// Name to show, such as `Claude Code`.
    pub name: String,
}

/// Names under which programs announce themselves, their key, and their name to show.
const KNOWN_AGENTS: &[(&[&str], &str, &str)] = &[
    (&["claude-code"], "claude-code", "Claude Code"),
    (&["claude-ai", "claude-desktop", "claude"], "claude-desktop", "Claude"),
    (&["cursor", "cursor-vscode", "cursor-agent"], "cursor", "Cursor"),
    (&["codex", "codex-mcp-client", "codex-cli"], "codex", "Codex"),
    (&["gemini-cli", "gemini-cli-mcp-client"], "gemini-cli", "Gemini CLI"),
    (&["visual-studio-code", "vscode"], "vscode", "VS Code"),
    (&["windsurf", "windsurf-client"], "windsurf", "Windsurf"),
    (&["opencode"], "opencode", "OpenCode"),
    (&["zed"], "zed", "Zed"),
    (&["cline"], "cline", "Cline"),
    (&["goose"], "goose", "Goose"),
];

/// Maximum number of characters of a name.
const MAX_NAME_CHARS: usize = 60;

impl AgentIdentity {
    /// Key of the person.
    pub const PERSON: &str = "person";

    /// Returns the key of the agent of a change.
    pub fn key_of(author: &Author) -> String {
        Self::of(author, "").key
    }

    /// Returns the agent of a change. Edits in files, on the command line and on the page are the
    /// person's, who has the name `person`.
    fn of(author: &Author, person: &str) -> Self {
        if author.is_person() {
            return Self { key: Self::PERSON.to_owned(), name: person.to_owned() };
        }
        match author.channel {
            ChangeChannel::Import => Self { key: "import".to_owned(), name: "Import".to_owned() },
            _ => Self::of_client(&author.client),
        }
    }

    /// Returns the agent of a client's name, with or without a version.
    pub fn of_client(client: &str) -> Self {
        let is_version = |word: &&str| {
            let digits = word.strip_prefix('v').unwrap_or(word);
            digits.starts_with(|c: char| c.is_ascii_digit())
        };
        let words = client.split_whitespace().take_while(|word| !is_version(word));
        let words: Vec<&str> =
            words.map(|word| word.split('/').next().unwrap_or_default()).collect();
        let key = words.join("-").to_lowercase();
        let key: String = key.chars().take(MAX_NAME_CHARS).collect();
        if key.is_empty() || key == "unknown" {
            return Self { key: "unknown".to_owned(), name: "Unknown".to_owned() };
        }
        if let Some((_, key, name)) =
            KNOWN_AGENTS.iter().find(|(names, ..)| names.contains(&key.as_str()))
        {
            return Self { key: (*key).to_owned(), name: (*name).to_owned() };
        }
        let capitalised = |word: &str| {
            let mut chars = word.chars();
            chars.next().map_or(String::new(), |first| {
                format!("{}{}", first.to_uppercase(), chars.as_str())
            })
        };
        let name = key.split(['-', '_']).map(capitalised).collect::<Vec<_>>().join(" ");
        Self { key, name }
    }
}

impl Memory {
    /// Sets the name of the person whose vault it is.
    #[must_use]
    pub fn with_person(self, person: Option<String>) -> Self {
        Self { person, ..self }
    }

    /// Returns the agent of a change.
    pub fn agent_of(&self, author: &Author) -> AgentIdentity {
        AgentIdentity::of(author, self.person.as_deref().unwrap_or(UNNAMED_PERSON))
    }

    /// Returns the name that people know an author by.
    pub fn author_name(&self, author: &Author) -> String {
        author.display_name(self.person.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_the_same_in_every_version() {
        for (client, key, name) in [
            ("claude-code 2.1", "claude-code", "Claude Code"),
            ("claude-code", "claude-code", "Claude Code"),
            ("Visual Studio Code 1.99", "vscode", "VS Code"),
            ("codex-mcp-client v0.4", "codex", "Codex"),
            ("curl/9.1", "curl", "Curl"),
            ("my_agent 3", "my_agent", "My Agent"),
            ("<b>x</b> 1", "<b>x<", "<b>x<"),
            ("", "unknown", "Unknown"),
            ("7", "unknown", "Unknown"),
        ] {
            let agent = AgentIdentity::of_client(client);
            assert_eq!((agent.key.as_str(), agent.name.as_str()), (key, name), "{client}");
        }
    }

    #[test]
    fn the_person_is_one_on_every_channel() {
        let hook = Author::new("Claude Code", "hook stop", ChangeChannel::Cli);
        assert_eq!(AgentIdentity::key_of(&hook), "claude-code");
        for (channel, key) in [
            (ChangeChannel::Disk, "person"),
            (ChangeChannel::Cli, "person"),
            (ChangeChannel::Page, "person"),
            (ChangeChannel::Mcp, "memoranda"),
            (ChangeChannel::Http, "memoranda"),
            (ChangeChannel::Import, "import"),
        ] {
            let author = Author::new("memoranda 1", "t", channel);
            assert_eq!(AgentIdentity::key_of(&author), key, "{channel:?}");
        }
    }
}
