//! Names the writer of a memory in a brief: the person, an agent through its client, a hook, or an
//! import.

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_engine::{Memory, NoteLocation};

/// Names the writer of the present text of a note, as in "the agent claude-code 2.1". `None` if the
/// history does not contain it.
pub fn last_writer(memory: &Memory, place: &NoteLocation) -> Option<String> {
    memory.writing_commit(place).ok()?.map(|commit| writer_name(&commit.author))
}

/// Names the writer of a commit.
fn writer_name(author: &Author) -> String {
    let client = author.client.as_str();
    match author.channel {
        ChangeChannel::Cli if author.tool.starts_with("hook ") => format!("a hook of {client}"),
        ChangeChannel::Cli => "the person, by command".to_owned(),
        ChangeChannel::Page => "the person, on the page".to_owned(),
        ChangeChannel::Disk => "the person or a program, in the file".to_owned(),
        ChangeChannel::Import => format!("an import, {}", author.tool),
        ChangeChannel::Mcp | ChangeChannel::Http => format!("the agent {client}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_not_the_person() {
        for (client, tool, channel, name) in [
            ("claude-code 2", "memory", ChangeChannel::Mcp, "the agent claude-code 2"),
            ("curl/8", "add_memory", ChangeChannel::Http, "the agent curl/8"),
            ("Claude Code", "hook stop", ChangeChannel::Cli, "a hook of Claude Code"),
            ("memoranda 0.1.0", "add", ChangeChannel::Cli, "the person, by command"),
            ("person", "editor", ChangeChannel::Disk, "the person or a program, in the file"),
            ("memoranda 0.1.0", "obsidian", ChangeChannel::Import, "an import, obsidian"),
        ] {
            assert_eq!(writer_name(&Author::new(client, tool, channel)), name);
        }
    }
}
