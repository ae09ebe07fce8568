//! The ledger: the history as lines that a person can read, each with what it wrote, who, and
//! whether it is taken back at present.

use std::collections::{HashMap, HashSet};

use memoranda_core::abbreviate::{abbreviate, join_words};
use memoranda_core::change::{ChangeChannel, Commit, CommitKind, FileChange};
use memoranda_core::diff::{DiffLineKind, diff_hunks};
use memoranda_core::id::CommitId;
use memoranda_core::note;
use memoranda_store::HistoryFilter;

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::history::agent::AgentIdentity;
use crate::history::undo::reversal_targets;
use crate::links::resolve::NoteLocation;

/// Maximum number of files of an entry.
const MAX_FILES: usize = 20;
/// Maximum number of bytes of a text that is compared for its sentence.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// Maximum number of characters of a sentence.
const MAX_SENTENCE_CHARS: usize = 240;
/// Number of commits that are read at a time.
const PAGE_SIZE: usize = 200;
/// Maximum number of commits that one page looks at.
const MAX_SCANNED: usize = 20_000;

/// Restricts the ledger.
#[derive(Clone, Debug, Default)]
pub struct LedgerFilter {
    /// Filter of the history.
    pub history: HistoryFilter,
    /// Only entries of the agent with this key.
    pub agent: Option<String>,
    /// Only entries of this tool.
    pub tool: Option<String>,
    /// Only entries of this channel.
    pub channel: Option<ChangeChannel>,
    /// Only entries after this commit.
    pub after: Option<CommitId>,
}

/// A page of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerPage {
    /// Entries, newest first.
    pub entries: Vec<LedgerEntry>,
    /// The commit before which the next page begins; `None` on the last page.
    pub next: Option<CommitId>,
}

/// One line of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerEntry {
    /// The commit, with its first files.
    pub commit: Commit,
    /// Author of the commit.
    pub agent: AgentIdentity,
    /// Id of the conversation that it belongs to.
    pub conversation: String,
    /// Text that was written, or a description of the change.
    pub sentence: String,
    /// Category of the fact, or type of the note.
    pub label: Option<String>,
    /// Line of the text in its file.
    pub line: Option<usize>,
    /// First files.
    pub files: Vec<LedgerFile>,
    /// Number of all files.
    pub file_count: usize,
    /// The undo that took it back; `None` if it is in force.
    pub undone_by: Option<CommitId>,
    /// Reason why it cannot be taken back; `None` if it can.
    pub why_not: Option<String>,
}

/// A file of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LedgerFile {
    /// Location after the commit.
    pub place: NoteLocation,
    /// Location before the commit, if the file was moved.
    pub moved_from: Option<NoteLocation>,
    /// Title, or the name of the file.
    pub title: String,
    /// `added`, `changed`, `moved` or `deleted`.
    pub action: &'static str,
    /// Number of the file in the index, if there is a file now.
    pub file: Option<i64>,
}

/// The line that stands for a change.
struct EntrySentence {
    sentence: String,
    label: Option<String>,
    line: Option<usize>,
}

impl Memory {
    /// Returns a page of the ledger, newest first.
    pub fn ledger(&self, filter: &LedgerFilter, limit: usize) -> Result<LedgerPage> {
        let read = |history: &HistoryFilter, limit| self.log_heads(history, limit);
        let (mut commits, next) = ledger_commits(filter, limit, read)?;
        // A scan can have thousands of files; its entry names only the first ones.
        let mut counts = Vec::with_capacity(commits.len());
        for commit in &mut commits {
            let (files, count) = self.snapshot()?.first_files(commit.id, MAX_FILES)?;
            commit.files = files;
            counts.push(count);
        }
        Ok(LedgerPage { entries: self.entries_of(&commits, &counts)?, next })
    }

    /// Counts the commits that a ledger would list, up to a limit.
    pub fn ledger_count(&self, filter: &LedgerFilter, limit: usize) -> Result<usize> {
        let read = |history: &HistoryFilter, limit| self.log_heads(history, limit);
        Ok(ledger_commits(filter, limit, read)?.0.len())
    }

    /// Returns the entries of some commits, which are ordered newest first.
    pub fn ledger_entries(&self, commits: &[Commit]) -> Result<Vec<LedgerEntry>> {
        let counts: Vec<usize> = commits.iter().map(|commit| commit.files.len()).collect();
        self.entries_of(commits, &counts)
    }

    fn entries_of(&self, commits: &[Commit], counts: &[usize]) -> Result<Vec<LedgerEntry>> {
        let undone = self.undone_commits()?;
        let conversations = self.conversations_of(commits)?;
        let mut entries = Vec::with_capacity(commits.len());
        for ((commit, file_count), conversation) in commits.iter().zip(counts).zip(conversations) {
            let undone_by = undone.get(&commit.id).copied();
            entries.push(self.ledger_entry(commit, *file_count, conversation, undone_by)?);
        }
        Ok(entries)
    }

    /// Returns the commits that are taken back at present, each with the undo that did it.
    pub(crate) fn undone_commits(&self) -> Result<HashMap<CommitId, CommitId>> {
        let mut decided = HashSet::new();
        let mut undone = HashMap::new();
        for row in self.snapshot()?.reversals()? {
            let (is_undo, newest) = match row.kind {
                CommitKind::Undo(target) => (true, target),
                CommitKind::Redo(target) => (false, target),
                CommitKind::FirstScan | CommitKind::Scan | CommitKind::Purge => continue,
            };
            for target in reversal_targets(newest, row.message.as_deref()) {
                if decided.insert(target) && is_undo {
                    undone.insert(target, row.commit);
                }
            }
        }
        Ok(undone)
    }

    fn ledger_entry(
        &self,
        commit: &Commit,
        file_count: usize,
        conversation: String,
        undone_by: Option<CommitId>,
    ) -> Result<LedgerEntry> {
        let EntrySentence { sentence, label, line } = self.sentence_of(commit, file_count);
        let mut files = Vec::new();
        for file in commit.files.iter().take(MAX_FILES) {
            files.push(self.ledger_file(file)?);
        }
        let why_not = if commit.files.is_empty() {
            Some("it changed no file".to_owned())
        } else {
            let refusal = self.check_undoable(commit).err().map(|error| match error {
                EngineError::FirstScan { commit, project, is_in_vault, .. } => {
                    EngineError::FirstScan { commit, project, files: file_count, is_in_vault }
                }
                other => other,
            });
            refusal.map(|error| error.to_string())
        };
        Ok(LedgerEntry {
            agent: self.agent_of(&commit.author),
            commit: commit.clone(),
            conversation,
            sentence,
            label,
            line,
            files,
            file_count,
            undone_by,
            why_not,
        })
    }

    /// Describes a file of a commit.
    pub fn ledger_file(&self, file: &FileChange) -> Result<LedgerFile> {
        let at = |path| NoteLocation::new(&file.project, path);
        let place = at(file.path.clone());
        let known = self.snapshot()?.file(&place.project, &place.path)?;
        let title = known.as_ref().map(|known| known.title.clone()).unwrap_or_default();
        let title = if title.is_empty() { file_title(&place) } else { title };
        let action = match (file.before, file.after) {
            (None, _) => "added",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) if file.moved_from.is_some() => "moved",
            (Some(_), Some(_)) => "changed",
        };
        let moved_from = file.moved_from.clone().map(at);
        let file = known.map(|known| known.id);
        Ok(LedgerFile { place, moved_from, title, action, file })
    }

    /// Returns the line that stands for a commit: the first text that it wrote.
    fn sentence_of(&self, commit: &Commit, file_count: usize) -> EntrySentence {
        let plain = |sentence: String| EntrySentence { sentence, label: None, line: None };
        if commit.kind == Some(CommitKind::FirstScan) {
            let project = commit.files.first().map(|file| file.project.to_string());
            let files = if file_count == 1 { "file" } else { "files" };
            return plain(format!(
                "Began to follow {} ({file_count} {files})",
                project.unwrap_or_default()
            ));
        }
        let Some(file) = commit.files.first() else {
            return plain(commit.message.clone().unwrap_or_default());
        };
        let text = |hash| {
            let bytes = self.store().content(hash).ok()?;
            if bytes.len() > MAX_TEXT_BYTES {
                return None;
            }
            String::from_utf8(bytes).ok()
        };
        let place = NoteLocation::new(&file.project, file.path.clone());
        let before = file.before.and_then(text);
        let after = file.after.and_then(text);
        let found = match (&before, &after) {
            (before, Some(after)) => written_line(before.as_deref().unwrap_or_default(), after),
            (Some(before), None) => written_line("", before),
            (None, None) => None,
        };
        found.unwrap_or_else(|| plain(file_title(&place)))
    }
}

/// Returns the commits that fit, newest first, and the one before which the next page begins.
fn ledger_commits(
    filter: &LedgerFilter,
    limit: usize,
    read: impl Fn(&HistoryFilter, usize) -> Result<Vec<Commit>>,
) -> Result<(Vec<Commit>, Option<CommitId>)> {
    let mut history = filter.history.clone();
    let mut found: Vec<Commit> = Vec::new();
    let mut scanned = 0;
    loop {
        let page_size = PAGE_SIZE.min(limit.saturating_add(1));
        let page = read(&history, page_size)?;
        let is_last_page = page.len() < page_size;
        for commit in page {
            scanned += 1;
            history.before = Some(commit.id);
            if filter.after == Some(commit.id) {
                return Ok((found, None));
            }
            if !filter.fits(&commit) {
                continue;
            }
            if found.len() == limit {
                let next = found.last().map(|commit| commit.id);
                return Ok((found, next));
            }
            found.push(commit);
        }
        if is_last_page {
            return Ok((found, None));
        }
        if scanned >= MAX_SCANNED {
            // The next page goes on where this one stopped to look.
            return Ok((found, history.before));
        }
    }
}

impl LedgerFilter {
    fn fits(&self, commit: &Commit) -> bool {
        let author = &commit.author;
        self.channel.is_none_or(|channel| author.channel == channel)
            && self.tool.as_ref().is_none_or(|tool| author.tool == *tool)
            && self.agent.as_ref().is_none_or(|key| AgentIdentity::key_of(author) == *key)
    }
}

/// Returns the name of a file without its folder and extension.
fn file_title(place: &NoteLocation) -> String {
    let name = place.path.as_str().rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".md").unwrap_or(name).to_owned()
}

/// Returns the first text line that a change added, or else the first that it removed.
fn written_line(before: &str, after: &str) -> Option<EntrySentence> {
    let hunks = diff_hunks(before, after, 0);
    let mut added: Vec<(usize, &str)> = Vec::new();
    let mut removed: Vec<&str> = Vec::new();
    for hunk in &hunks {
        let mut number = hunk.after.start;
        for line in &hunk.lines {
            match line.kind {
                DiffLineKind::Removed => removed.push(line.text),
                DiffLineKind::Added | DiffLineKind::Kept => {
                    number += 1;
                    if line.kind == DiffLineKind::Added {
                        added.push((number, line.text));
                    }
                }
            }
        }
    }
    let parsed = note::parse(after);
    let body_line = after.get(..parsed.body.start).unwrap_or_default().lines().count();
    let note_type = Some(parsed.note_type()).filter(|kind| !kind.is_empty() && kind != "note");
    let in_body = added.iter().filter(|(number, _)| *number > body_line);
    let is_heading = |text: &str| text.trim_start().starts_with('#') && text.contains("# ");
    let mut texts = in_body.clone().filter(|(_, text)| !is_heading(text));
    let fact = in_body.clone().find_map(|(number, _)| {
        parsed.observations.iter().find(|fact| fact.line == *number && !fact.struck)
    });
    if let Some(fact) = fact {
        return Some(EntrySentence {
            sentence: shortened(&fact.text),
            label: fact.category.clone().or(note_type),
            line: Some(fact.line),
        });
    }
    let line_of =
        |line: Option<&(usize, &str)>| line.map(|(number, text)| (*number, plain_line(text)));
    let text = line_of(texts.find(|(_, text)| !plain_line(text).is_empty()))
        .or_else(|| line_of(in_body.clone().find(|(_, text)| !plain_line(text).is_empty())));
    if let Some((number, text)) = text {
        return Some(EntrySentence {
            sentence: shortened(&text),
            label: note_type,
            line: Some(number),
        });
    }
    let gone = removed.into_iter().map(plain_line).find(|text| !text.is_empty())?;
    Some(EntrySentence {
        sentence: shortened(&gone),
        label: Some("removed".to_owned()),
        line: None,
    })
}

/// Returns a line of Markdown without list marks, heading marks and a trailing comment.
fn plain_line(line: &str) -> String {
    let line = line.trim();
    let line = line.split("<!--").next().unwrap_or_default().trim_end();
    let line = line.trim_start_matches(['#', '>', ' ']);
    let line = line.strip_prefix("- ").or(line.strip_prefix("* ")).unwrap_or(line);
    if line == "---" { String::new() } else { line.trim().to_owned() }
}

fn shortened(text: &str) -> String {
    abbreviate(&join_words(text), MAX_SENTENCE_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_the_text_that_was_written() {
        let fact =
            "# T\n\n- [decision] Use SQLite #db <!-- obs_01j9zz0000000000000000000a v1 -->\n";
        for (before, after, sentence, label, line) in [
            ("", "Deploys go out on Tuesdays\n", "Deploys go out on Tuesdays", None, Some(1)),
            ("", fact, "Use SQLite #db", Some("decision"), Some(3)),
            ("a\nb\n", "a\nx\nb\n", "x", None, Some(2)),
            ("a\nb\n", "a\n", "b", Some("removed"), None),
            (
                "",
                "---\ntype: rule\n---\nNever on Fridays\n",
                "Never on Fridays",
                Some("rule"),
                Some(4),
            ),
            ("", "# Only a heading\n", "Only a heading", None, Some(1)),
        ] {
            let found = written_line(before, after).unwrap();
            assert_eq!(found.sentence, sentence, "{after:?}");
            assert_eq!(found.label.as_deref(), label, "{after:?}");
            assert_eq!(found.line, line, "{after:?}");
        }
        assert!(written_line("a\n", "a\n").is_none());
    }
}
