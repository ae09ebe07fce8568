//! Offers the tools that a person used before, to the clients that still name the old server.

use memoranda_clients::setup::{CLIENTS, SetupScope};
use memoranda_import::ImportSource;

use crate::context::CommandContext;
use crate::error::Result;
use crate::files;

/// A memory server that agents know, and the toolset with its tools.
struct OldServer {
    source: ImportSource,
    toolset: &'static str,
    /// Words by which a client's file names the server.
    marks: &'static [&'static str],
}

const OLD_SERVERS: [OldServer; 4] = [
    OldServer {
        source: ImportSource::BasicMemory,
        toolset: "notes",
        marks: &["basic-memory", "basic_memory"],
    },
    OldServer {
        source: ImportSource::McpMemory,
        toolset: "graph",
        marks: &["server-memory", "mcp/memory"],
    },
    OldServer {
        source: ImportSource::MemoriesSh,
        toolset: "records",
        marks: &["memories.sh", "memories-sh", "@memories/"],
    },
    OldServer {
        source: ImportSource::MemoryBank,
        toolset: "banks",
        marks: &["memory-bank", "memory_bank"],
    },
];

/// Hints at the command that gives a client the tools of the server that it used before.
pub(super) fn offer(context: &CommandContext, source: ImportSource) -> Result<()> {
    let Some(server) = OLD_SERVERS.iter().find(|server| server.source == source) else {
        return Ok(());
    };
    let dirs = context.settings()?.directories.clients();
    for client in &CLIENTS {
        let file = client.file(&dirs, SetupScope::User);
        let text = file.and_then(|file| files::read_text(&file).ok().flatten());
        let names_server = |text: &String| server.marks.iter().any(|mark| text.contains(mark));
        if text.as_ref().is_some_and(names_server) {
            let (name, title, set) = (client.name, client.title, server.toolset);
            context.printer.hint(format!(
                "`memoranda setup {name} --tools {},{set}` offers {title} the tools that it had",
                client.tools.set_name()
            ));
        }
    }
    Ok(())
}
