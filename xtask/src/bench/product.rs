//! The only file of the benchmark that uses the engine: it opens a vault, scans it, writes a note
//! and searches.

use std::path::Path;
use std::time::Duration;

use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::core::embed::StaticEmbeddingModel;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::core::rank::RankOptions;
use memoranda_engine::core::{note, passage};
use memoranda_engine::{
    DEFAULT_PROJECT, Memory, OpenOptions, SearchFilter, SearchRequest, WriteMode, WriteOutcome,
    WriteRequest,
};

use super::fulltext::HITS;
use crate::Result;

/// Maximum length of a quotation in characters, the default of a caller.
const SNIPPET_CHARS: usize = 300;

/// An open vault.
pub(super) struct BenchVault {
    memory: Memory,
    project: ProjectName,
    author: Author,
}

impl BenchVault {
    /// Opens the vault at `home`, with its index in `cache`.
    pub(super) fn open(home: &Path, cache: &Path) -> Result<Self> {
        let memory = Memory::open(OpenOptions {
            home: home.to_owned(),
            cache: cache.to_owned(),
            state: cache.join("state"),
            file_sync: Duration::from_secs(60),
            lock_patience: Duration::from_secs(30),
        })?;
        let author = Author::new("bench", "write", ChangeChannel::Cli);
        Ok(Self { memory, project: ProjectName::parse(DEFAULT_PROJECT)?, author })
    }

    /// Scans the files into the index.
    pub(super) fn sync(&self) -> Result<()> {
        self.memory.sync(&mut |_| ())?;
        Ok(())
    }

    /// Starts the background work of a server.
    pub(super) fn serve(&self) -> Result<()> {
        self.memory.start_background()?;
        Ok(())
    }

    /// Writes a new note durably; the next search finds it.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<()> {
        let outcome = self.memory.write(
            &self.author,
            &WriteRequest {
                project: self.project.clone(),
                path: NotePath::parse(path)?,
                content: text.as_bytes().to_vec(),
                mode: WriteMode::Create,
                message: None,
            },
        )?;
        match outcome {
            WriteOutcome::Written(_) => Ok(()),
            WriteOutcome::Unchanged(..) | WriteOutcome::Exists(..) | WriteOutcome::Conflict(..) => {
                Err(format!("{path} was not written: {outcome:?}").into())
            }
        }
    }

    /// Searches as a caller would and returns the number of hits.
    pub(super) fn search(&self, typed: &str) -> Result<usize> {
        self.search_by(typed, RankOptions::STANDARD)
    }

    /// Searches by words only, as the raw query does.
    pub(super) fn search_words(&self, typed: &str) -> Result<usize> {
        self.search_by(typed, RankOptions::WORDS)
    }

    fn search_by(&self, typed: &str, options: RankOptions) -> Result<usize> {
        let page = self.memory.search(&SearchRequest {
            text: typed.to_owned(),
            filter: SearchFilter { projects: vec![self.project.clone()], ..Default::default() },
            limit: HITS,
            offset: 0,
            snippet_chars: SNIPPET_CHARS,
            options,
            ..SearchRequest::default()
        })?;
        Ok(page.results.len())
    }
}

/// Embeds a query; returns true if it has an embedding.
pub(super) fn embed(typed: &str) -> bool {
    !StaticEmbeddingModel::bundled().embed(typed).is_zero()
}

/// Returns the texts of a note's passages, as the index embeds them.
pub(super) fn passages(text: &str) -> Vec<String> {
    let passages = passage::split_note_passages(text, &note::parse(text));
    passages.iter().map(|passage| passage.text(text).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use xtask::vault;

    use super::*;

    #[test]
    fn existing_and_written_notes_are_found() {
        let folder = std::env::temp_dir().join(format!("xtask-product-{}", std::process::id()));
        vault::write(&folder.join("home/main"), 30).unwrap();
        let product = BenchVault::open(&folder.join("home"), &folder.join("cache")).unwrap();
        product.sync().unwrap();
        let new = vault::note(30);
        product.write(&new.path, &new.text).unwrap();
        for number in [0, 29, 30] {
            let text = vault::rare_word(number);
            assert!(product.search(&text).unwrap() >= 1, "note {number}");
            assert_eq!(product.search_words(&text).unwrap(), 1, "note {number}");
        }
        drop(product);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
