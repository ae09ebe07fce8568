//! Readers of the sources, one file per source.

mod chatgpt;
mod claude;
mod claude_code;
mod folder;
mod graph;
mod jsonl;
mod mem0;
mod memories_sh;
pub(crate) mod memory_bank;
mod memory_service;
mod record;

use std::path::PathBuf;

use memoranda_engine::core::id::ProjectName;

use crate::error::{ImportError, Result};
use crate::input::ImportInput;
use crate::sink::ImportSink;
use crate::source::ImportSource;

pub use folder::project_name;
pub(crate) use graph::thread_of_file;
pub(crate) use memories_sh::MEMORIES_SH_DATABASE;

/// Requested location of the imported items.
#[derive(Clone, Debug, Default)]
pub struct ImportTarget {
    /// Project; `None` for the default of the source.
    pub project: Option<ProjectName>,
    /// Folder in the project; `None` for the default of the source.
    pub folder: Option<String>,
    /// Additional ignore file besides those of the folder.
    pub passing_over: Option<PathBuf>,
}

impl ImportTarget {
    fn project(&self, usual: &str) -> Result<ProjectName> {
        match &self.project {
            Some(project) => Ok(project.clone()),
            None => ProjectName::parse(usual)
                .map_err(|e| ImportError::Engine(memoranda_engine::EngineError::from(e))),
        }
    }

    fn folder(&self, usual: &str) -> String {
        self.folder.clone().unwrap_or_else(|| usual.to_owned())
    }
}

/// Reads a source and streams its items into the sink.
pub fn read(
    source: ImportSource,
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    match source {
        ImportSource::Claude => claude::read(input, target, sink),
        ImportSource::ChatGpt => chatgpt::read(input, target, sink),
        ImportSource::ClaudeCode => claude_code::read(input, target, sink),
        ImportSource::BasicMemory | ImportSource::Obsidian | ImportSource::Folder => {
            folder::read(source, input, target, sink)
        }
        ImportSource::McpMemory => graph::read(input, target, sink),
        ImportSource::MemoriesSh => memories_sh::read(input, target, sink),
        ImportSource::MemoryBank => memory_bank::read(input, target, sink),
        ImportSource::Mem0 => mem0::read(input, target, sink),
        ImportSource::MemoryService => memory_service::read(input, target, sink),
        ImportSource::Jsonl => jsonl::read(input, target, sink),
        ImportSource::Archive => Err(ImportError::NotThat(
            "an archive is a whole vault, and is brought back as one".to_owned(),
        )),
    }
}

/// Rejects folders and archives for sources that are a single file.
fn require_file(input: &ImportInput, what: &str) -> Result<()> {
    match input {
        ImportInput::File(_) | ImportInput::Bytes(_) => Ok(()),
        ImportInput::Folder(_) | ImportInput::Zip(_) => {
            Err(ImportError::NotThat(format!("{} is not {what}", input.display_name())))
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write what others export")]
mod tests {
    use std::fmt::Write as _;
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    const CONVERSATIONS: usize = 2000;

    fn claude() -> String {
        let one = |n| {
            let said = json!([{ "sender": "human", "text": "word ".repeat(20) }]);
            json!({ "uuid": format!("c{n}"), "name": "Talk", "chat_messages": said })
        };
        json!((0..CONVERSATIONS).map(one).collect::<Vec<_>>()).to_string()
    }

    fn chatgpt() -> String {
        let one = |n| {
            let content = json!({ "content_type": "text", "parts": ["word ".repeat(20)] });
            let message = json!({ "author": { "role": "user" }, "content": content });
            json!({ "id": format!("c{n}"), "mapping": { "a": { "message": message } } })
        };
        json!((0..CONVERSATIONS).map(one).collect::<Vec<_>>()).to_string()
    }

    fn jsonl() -> String {
        (0..CONVERSATIONS).fold(String::new(), |mut text, n| {
            let note = json!({ "project": "main", "path": format!("{n}.md"), "content": "word" });
            writeln!(text, "{note}").unwrap();
            text
        })
    }

    /// Checks that progress is monotonic and ends at an unchanged total.
    fn check(source: ImportSource, input: &ImportInput, items: usize) {
        let mut steps = Vec::new();
        let mut keep = |_, at| {
            steps.push(at);
            Ok(())
        };
        let mut sink = ImportSink::new(&mut keep);
        read(source, input, &ImportTarget::default(), &mut sink).unwrap();
        assert!(sink.problems.is_empty(), "{:?}", sink.problems);
        let name = source.name();
        assert_eq!(steps.len(), items, "{name}");
        let total = steps[0].total;
        assert!(steps.iter().all(|at| at.total == total), "{name}: the end stays where it is");
        assert!(steps.windows(2).all(|two| two[0].done <= two[1].done), "{name}");
        assert!(steps[0].done * 10 < total, "{name}: {:?}", steps[0]);
        assert!(steps[items / 2].done > total / 3, "{name}: {:?}", steps[items / 2]);
        assert_eq!(steps[items - 1].done, total, "{name}");
    }

    #[test]
    fn the_bar_moves_by_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let made: [(ImportSource, fn() -> String); 3] = [
            (ImportSource::Claude, claude),
            (ImportSource::ChatGpt, chatgpt),
            (ImportSource::Jsonl, jsonl),
        ];
        for (source, make) in made {
            let text = make();
            let file = folder.path().join("conversations.json");
            std::fs::write(&file, &text).unwrap();
            check(source, &ImportInput::File(file), CONVERSATIONS);
            check(source, &ImportInput::Bytes(text.into_bytes()), CONVERSATIONS);
        }
        // Several files share one progress.
        let zipped = folder.path().join("export.zip");
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for n in 0..3 {
            let name = format!("conversations-00{n}.json");
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            let text = chatgpt().replace("\"id\":\"c", &format!("\"id\":\"c{n}-"));
            zip.write_all(text.as_bytes()).unwrap();
        }
        std::fs::write(&zipped, zip.finish().unwrap().into_inner()).unwrap();
        check(ImportSource::ChatGpt, &ImportInput::Zip(zipped), 3 * CONVERSATIONS);
    }
}
