//! The words of a small scope, in a full-text table of their own.
//!
//! The index lists the places of a word in all files, in the order of their numbers. For a few
//! records among many notes nearly all of them lie outside of the scope, and a word that the scope
//! lacks is compared with the whole vocabulary. The own table is filled from the index, by the same
//! tokenizer, so that every lookup has the same result in both.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memoranda_core::passage::PassageStart;
use memoranda_core::tokenize::index_text;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::Result;
use crate::index::connection::open_in_memory;
use crate::index::extract::ExtractedPassage;
use crate::index::write::first_passage;
use crate::index::{passage_tokens, passages};

/// Maximum number of passages of a scope with a table of its own.
pub(super) const MAX_SCOPE_PASSAGES: u64 = 2_000;

/// The words of the files of a scope.
#[derive(Debug)]
pub(super) struct ScopeWords(Mutex<Connection>);

impl ScopeWords {
    /// Reads the words of some files from the index.
    pub(super) fn read(db: &Connection, files: impl Iterator<Item = i64>) -> Result<Self> {
        let words = open_in_memory()?;
        let transaction = words.unchecked_transaction()?;
        for file in files {
            add(&words, db, file)?;
        }
        transaction.commit()?;
        Ok(Self(Mutex::new(words)))
    }

    /// Removes a file.
    pub(super) fn remove(&self, file: i64) -> Result<()> {
        self.tables()
            .prepare_cached("DELETE FROM words WHERE rowid >= ? AND rowid < ?")?
            .execute([first_passage(file), first_passage(file + 1)])?;
        Ok(())
    }

    /// Adds a file that is not contained.
    pub(super) fn add(&self, db: &Connection, file: i64) -> Result<()> {
        add(&self.tables(), db, file)
    }

    /// Returns the connection with the tables `words`, `word_counts` and `word_places`.
    pub(super) fn tables(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the words of a file as the index contains them.
fn add(words: &Connection, db: &Connection, file: i64) -> Result<()> {
    let first = first_passage(file);
    let all = first..=first_passage(file + 1) - 1;
    let mut title = db.prepare_cached("SELECT title FROM files WHERE id = ?")?;
    let title: Option<String> = title.query_row([file], |row| row.get(0)).optional()?;
    let mut tags = db.prepare_cached("SELECT tags FROM cuts WHERE id = ?")?;
    let tags: Option<String> = tags.query_row([first], |row| row.get(0)).optional()?;
    let (title, tags) = (title.unwrap_or_default(), tags.unwrap_or_default());
    let mut starts: Vec<PassageStart> = Vec::new();
    passage_tokens::each(db, all.clone(), |passage| starts.push(passage.begins))?;
    let mut stored: Vec<ExtractedPassage> = Vec::with_capacity(starts.len());
    passages::each(db, all, |passage| {
        let start = starts.get(stored.len()).copied().unwrap_or(PassageStart::NewBlock);
        stored.push(ExtractedPassage::stored(passage.heading, passage.text, start));
    })?;
    let mut insert = words.prepare_cached(
        "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, ?, ?, ?, ?)",
    )?;
    let next = stored.iter().skip(1).map(Some).chain([None]);
    for ((id, passage), next) in (first..).zip(&stored).zip(next) {
        let (heading, body) = passage.words(next);
        let is_first = id == first;
        let title = if is_first { index_text(&title) } else { "".into() };
        let tags = if is_first { index_text(&tags) } else { "".into() };
        insert.execute(params![id, title, heading, tags, body])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use memoranda_core::id::{ContentHash, ProjectName};
    use memoranda_core::path::NotePath;
    use memoranda_core::query::Query;
    use proptest::prelude::*;

    use crate::files::FileStat;
    use crate::index::connection::{IndexVersion, open_in_memory};
    use crate::index::extract::extract;
    use crate::index::search::scope::{ScopeCache, SearchScope};
    use crate::index::search::term_stats::look_up_terms;
    use crate::index::search::{FilterSql, SearchFilter};
    use crate::index::write::{IndexBatch, IndexedFile, project_id};

    fn texts() -> impl Strategy<Value = String> {
        let word = "(plan|Plans|planning|planned |release|released|relays|ox|über|Häuser|東京|\
                    lamp|lamps|bulb|[a-c]{3,6}|\n\n|\n# |\n- \\[fact\\] | #Tag| #tag)";
        let body = prop::collection::vec(word, 0..40).prop_map(|words| words.join(" "));
        ("(---\ntitle: Lamp plans\ntags: \\[Release, ox\\]\n---\n|)", body)
            .prop_map(|(head, body)| format!("{head}{body}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_table_of_its_own_gives_the_counts_of_the_index(
            files in prop::collection::vec((any::<bool>(), 0usize..8, texts()), 1..16),
            asked in prop::collection::vec(
                "plan|plans|plna|lam|lampe|bulbs|releas|relase|ox|haus|über|東京|\"a plan\"|[a-c]{3,5}",
                1..5,
            ),
        ) {
            let db = open_in_memory().unwrap();
            let cache = ScopeCache::default();
            let inside = ProjectName::parse("inside").unwrap();
            let rows = ["inside", "outside"]
                .map(|name| project_id(&db, &ProjectName::parse(name).unwrap()).unwrap());
            let filter = SearchFilter { projects: vec![inside], ..SearchFilter::default() };
            let condition = FilterSql::new(&Query::default(), &filter);
            let query = Query::parse(&asked.join(" "));
            for (is_inside, number, text) in files {
                // A number that comes again replaces its file.
                let path = NotePath::parse(&format!("{number}.md")).unwrap();
                let mut batch = IndexBatch::new(&db);
                let put = IndexedFile {
                    project: rows[usize::from(!is_inside)],
                    path: &path,
                    hash: ContentHash([0; 32]),
                    stat: FileStat::default(),
                    checked_ns: 0,
                    permalink: None,
                    first_seen_ms: None,
                };
                batch.put(&put, &extract(&path, text.as_bytes())).unwrap();
                batch.finish().unwrap();
                let now = IndexVersion::of(&db).unwrap();
                cache.scope(&db, now, &condition).unwrap();
                let cached = cache.scope(&db, now, &condition).unwrap();
                prop_assert!(cached.words().is_some());
                let read = SearchScope::read(&db, &condition).unwrap();
                prop_assert!(read.words().is_none());
                let own = look_up_terms(&db, &query, &cached).unwrap();
                let index = look_up_terms(&db, &query, &read).unwrap();
                prop_assert_eq!(own.query, index.query);
                prop_assert_eq!(own.holders, index.holders);
                prop_assert_eq!(own.lists, index.lists);
                prop_assert_eq!(own.beginnings, index.beginnings);
                prop_assert_eq!(own.corrections, index.corrections);
            }
        }
    }
}
