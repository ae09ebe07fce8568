//! Rules of ignore files: which files of a folder are not notes.

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::DirEntryKind;

/// The rules of a folder and of those above it, the innermost last; at first none.
#[derive(Clone, Default)]
pub struct IgnoreRules(Arc<[Arc<CompiledRules>]>);

/// The rules of one file.
struct CompiledRules {
    /// The file.
    place: String,
    patterns: Gitignore,
}

impl IgnoreRules {
    /// The names of the files that hold rules.
    pub const FILES: [&str; 3] = [".gitignore", ".memorandaignore", ".bmignore"];

    /// These rules and those of a folder within, whose files of rules `read` reads by name.
    #[must_use]
    pub fn within(&self, folder: &str, read: impl Fn(&str) -> Option<Vec<u8>>) -> Self {
        let texts = Self::FILES.iter().filter_map(|name| Some((join(folder, name), read(name)?)));
        let more: Vec<_> = texts.filter_map(|(place, text)| rules(folder, place, &text)).collect();
        self.and(more)
    }

    /// These rules and those of a file that counts for the whole folder, wherever it lies.
    #[must_use]
    pub fn with_general(&self, place: &str, text: &[u8]) -> Self {
        self.and(rules("", place.to_owned(), text).into_iter().collect())
    }

    fn and(&self, more: Vec<CompiledRules>) -> Self {
        if more.is_empty() {
            return self.clone();
        }
        Self(self.0.iter().cloned().chain(more.into_iter().map(Arc::new)).collect())
    }

    /// The rule that leaves a place out. The innermost one that says something decides, as in git.
    pub fn ignoring(&self, place: &str, kind: DirEntryKind) -> Option<String> {
        for rule in self.0.iter().rev() {
            let verdict = rule.patterns.matched(place, kind == DirEntryKind::Folder);
            if let Some(glob) = verdict.inner() {
                let ignores = verdict.is_ignore();
                return ignores.then(|| format!("{} says {:?}", rule.place, glob.original()));
            }
        }
        None
    }
}

fn rules(folder: &str, place: String, text: &[u8]) -> Option<CompiledRules> {
    let mut builder = GitignoreBuilder::new(Path::new(folder));
    for line in String::from_utf8_lossy(text).lines() {
        // A bad pattern ignores nothing; the others still count.
        builder.add_line(None, line).ok();
    }
    Some(CompiledRules { place, patterns: builder.build().ok()? })
}

pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}
