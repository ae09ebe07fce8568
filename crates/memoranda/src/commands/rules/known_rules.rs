//! The rules that this vault knows or once knew. What a generated file says beyond them was written
//! there by somebody, or came with a colleague's vault, and exists nowhere else.

use std::cell::OnceCell;
use std::collections::HashSet;

use memoranda_clients::rules::rules_in;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::records::{RecordKind, RecordScope, records_of_kind};
use memoranda_engine::{HistoryFilter, Memory};

use super::import::normalized_words;
use super::record_error;
use crate::error::Result;

/// The rules of some scopes and of everyone, now and at any time before.
pub(super) struct KnownRules<'m> {
    memory: &'m Memory,
    scopes: Vec<RecordScope>,
    now: OnceCell<HashSet<String>>,
    before: OnceCell<HashSet<String>>,
}

impl<'m> KnownRules<'m> {
    pub(super) fn new(memory: &'m Memory, scopes: &[RecordScope]) -> Self {
        let mut scopes = scopes.to_vec();
        // An earlier run may have written those too.
        if !scopes.contains(&RecordScope::Global) {
            scopes.push(RecordScope::Global);
        }
        Self { memory, scopes, now: OnceCell::new(), before: OnceCell::new() }
    }

    /// Returns the parts of a generated text that were never a rule.
    pub(super) fn unknown_in(&self, text: &str) -> Result<Vec<String>> {
        let found = rules_in(text);
        let mut unknown: Vec<String> = found.rules.into_iter().map(|(_, rule)| rule.text).collect();
        let keep_unknown = |unknown: &mut Vec<String>, known: &HashSet<String>| {
            unknown.retain(|text| !known.contains(&normalized_words(text)));
        };
        keep_unknown(&mut unknown, known(&self.now, || self.rules_now())?);
        if !unknown.is_empty() {
            keep_unknown(&mut unknown, known(&self.before, || self.rules_before())?);
        }
        // Nothing but rules is ever generated.
        unknown.extend(found.prose);
        Ok(unknown)
    }

    /// Returns true if a rule ever had this text.
    pub(super) fn has(&self, text: &str) -> Result<bool> {
        let words = normalized_words(text);
        Ok(known(&self.now, || self.rules_now())?.contains(&words)
            || known(&self.before, || self.rules_before())?.contains(&words))
    }

    fn rules_now(&self) -> Result<HashSet<String>> {
        let mut known = HashSet::new();
        for scope in &self.scopes {
            let rules =
                records_of_kind(self.memory, scope, RecordKind::Rule).map_err(record_error)?;
            known.extend(rules.iter().map(|rule| normalized_words(&rule.content)));
        }
        Ok(known)
    }

    fn rules_before(&self) -> Result<HashSet<String>> {
        let mut known = HashSet::new();
        for scope in &self.scopes {
            let folder = format!("{}/{}", scope.folder(), RecordKind::Rule.as_str());
            let filter = HistoryFilter {
                project: ProjectName::parse("records").ok(),
                path: NotePath::parse(&folder).ok(),
                ..HistoryFilter::default()
            };
            for commit in self.memory.log(&filter, usize::MAX, 0)? {
                let files = commit.files.iter().filter(|file| file.path.is_within(&folder));
                for hash in files.filter_map(|file| file.before) {
                    // Purged text is unknown.
                    let Ok(bytes) = self.memory.version_content(hash) else { continue };
                    let text = String::from_utf8_lossy(&bytes);
                    let body = note::parse(&text).body;
                    known.insert(normalized_words(text.get(body).unwrap_or_default()));
                }
            }
        }
        Ok(known)
    }
}

/// Returns the cached set, computed on first use.
fn known(
    cell: &OnceCell<HashSet<String>>,
    look: impl FnOnce() -> Result<HashSet<String>>,
) -> Result<&HashSet<String>> {
    if cell.get().is_none() {
        let found = look()?;
        return Ok(cell.get_or_init(|| found));
    }
    Ok(cell.get_or_init(HashSet::new))
}
