//! Table of import sources for the program, its help and its tests.

/// A source of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportSource {
    /// An archive of a whole vault with its history.
    Archive,
    /// Notes as JSON lines.
    Jsonl,
    /// Basic Memory.
    BasicMemory,
    /// Obsidian.
    Obsidian,
    /// A folder of files.
    Folder,
    /// The data export of Claude.
    Claude,
    /// The data export of ChatGPT.
    ChatGpt,
    /// The auto memory of Claude Code.
    ClaudeCode,
    /// The reference memory server of the Model Context Protocol.
    McpMemory,
    /// The system memories.sh.
    MemoriesSh,
    /// The Memory Bank for Claude Desktop.
    MemoryBank,
    /// The system mem0.
    Mem0,
    /// The system mcp-memory-service.
    MemoryService,
}

/// One row of the table.
pub struct SourceRow {
    /// The source.
    pub source: ImportSource,
    /// Name on the command line and in the provenance of notes.
    pub name: &'static str,
    /// Description of the accepted input.
    pub reads: &'static str,
    /// Description of the imported notes.
    pub becomes: &'static str,
}

/// All sources in the order of the help.
pub const SOURCES: &[SourceRow] = &[
    SourceRow {
        source: ImportSource::BasicMemory,
        name: "basic-memory",
        reads: "a project folder; without a path, every project in ~/.basic-memory/config.json",
        becomes: "a project of that folder, its files as they are (--copy copies them)",
    },
    SourceRow {
        source: ImportSource::Obsidian,
        name: "obsidian",
        reads: "a vault; without a path, every vault that Obsidian knows",
        becomes: "a project of that folder, its files as they are (--copy copies them)",
    },
    SourceRow {
        source: ImportSource::ClaudeCode,
        name: "claude-code",
        reads: "its auto memory; without a path, that of every project in ~/.claude",
        becomes: "memories/claude-code/<project>/",
    },
    SourceRow {
        source: ImportSource::Claude,
        name: "claude",
        reads: "the data export of Claude: the zip, its folder, or conversations.json",
        becomes: "notes in main/claude/: conversations, projects, memory",
    },
    SourceRow {
        source: ImportSource::ChatGpt,
        name: "chatgpt",
        reads: "the data export of ChatGPT: the zip, its folder, or conversations.json",
        becomes: "notes in main/chatgpt/conversations/",
    },
    SourceRow {
        source: ImportSource::McpMemory,
        name: "mcp-memory",
        reads: "the file of the reference memory server: JSON lines or JSON; a folder of thread-<id>.jsonl",
        becomes: "entities in graph/default/ or graph/<id>/, with the versions of their observations",
    },
    SourceRow {
        source: ImportSource::MemoriesSh,
        name: "memories-sh",
        reads: "its database or data folder, or its JSON or YAML export; without a path, ~/.config/memories/local.db",
        becomes: "records, of the type and scope that they had",
    },
    SourceRow {
        source: ImportSource::MemoryBank,
        name: "memory-bank",
        reads: "its folder with global/, projects/ and code/; without a path, ~/.claude-desktop/memory",
        becomes: "the same banks, in banks/",
    },
    SourceRow {
        source: ImportSource::Mem0,
        name: "mem0",
        reads: "its JSON export, or what get_all gives",
        becomes: "records of type fact",
    },
    SourceRow {
        source: ImportSource::MemoryService,
        name: "mcp-memory-service",
        reads: "its SQLite database or JSON export",
        becomes: "records",
    },
    SourceRow {
        source: ImportSource::Folder,
        name: "folder",
        reads: "any folder of files, or one file",
        becomes: "a copy in main/<folder>/ (--in-place makes the folder itself a project)",
    },
    SourceRow {
        source: ImportSource::Jsonl,
        name: "jsonl",
        reads: "what `memoranda export jsonl` wrote",
        becomes: "the same files in the same projects",
    },
    SourceRow {
        source: ImportSource::Archive,
        name: "archive",
        reads: "what `memoranda export FILE.tar` wrote",
        becomes: "a whole vault with its history; the vault must be empty",
    },
];

impl ImportSource {
    /// Returns the row of the source.
    pub fn row(self) -> &'static SourceRow {
        // A test checks that every source has a row.
        SOURCES.iter().find(|row| row.source == self).unwrap_or(&SOURCES[0])
    }

    /// Returns the name of the source.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a source by name.
    pub fn parse(name: &str) -> Option<Self> {
        SOURCES.iter().find(|row| row.name == name).map(|row| row.source)
    }

    /// Returns true if the source is a folder that can become a project in place.
    pub fn is_folder(self) -> bool {
        matches!(self, Self::BasicMemory | Self::Obsidian | Self::Folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_its_own_row() {
        for row in SOURCES {
            assert_eq!(row.source.name(), row.name);
            assert_eq!(ImportSource::parse(row.name), Some(row.source));
        }
        assert_eq!(ImportSource::parse("nothing"), None);
    }
}
