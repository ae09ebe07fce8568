//! Stores the content of a file: words, passages, facts, relations and tags. Of a file that the index
//! contains already, only what changed is written, because every changed page is written whole.

use memoranda_core::id::ObservationId;
use memoranda_core::note::tag_key;
use memoranda_core::tokenize::index_text;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::extract::{ExtractedFile, ExtractedPassage, FileKind};
use super::passage_reuse::ReusablePassages;
use super::write::{IndexBatch, IndexedFile, PASSAGES_PER_FILE, first_passage};
use super::{links, passage_tokens, passages, vectors};
use crate::error::Result;

/// Statements for the rows of a table that belong to a file, in the order of their second column.
struct FileTable {
    select: &'static str,
    delete: &'static str,
    insert: &'static str,
}

const OBSERVATIONS: FileTable = FileTable {
    select: "SELECT file, n, observation_id, category, text, context, tags, line, version, time_ms, \
             confidence, importance, thread, superseded_by, supersedes, struck \
             FROM observations WHERE file = ? ORDER BY n",
    delete: "DELETE FROM observations WHERE file = ? AND n = ?",
    insert: "INSERT INTO observations (file, n, observation_id, category, text, context, tags, line, \
             version, time_ms, confidence, importance, thread, superseded_by, supersedes, struck) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

const RELATIONS: FileTable = FileTable {
    select: "SELECT file, n, project, relation_type, target, target_key, target_file, context, line, \
             exact_name, form, time_ms, confidence, importance, whole, whole_key \
             FROM relations WHERE file = ? ORDER BY n",
    delete: "DELETE FROM relations WHERE file = ? AND n = ?",
    insert: "INSERT INTO relations (file, n, project, relation_type, target, target_key, \
             target_file, context, line, exact_name, form, time_ms, confidence, importance, \
             whole, whole_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

const TAGS: FileTable = FileTable {
    select: "SELECT file, tag FROM tags WHERE file = ? ORDER BY tag",
    delete: "DELETE FROM tags WHERE file = ? AND tag = ?",
    insert: "INSERT INTO tags (file, tag) VALUES (?, ?)",
};

impl FileTable {
    /// Replaces the rows of a file. Equal rows stay as they are.
    fn replace(
        &self,
        db: &Connection,
        file: i64,
        is_known: bool,
        rows: &[Vec<Value>],
    ) -> Result<()> {
        let before = if is_known { self.read(db, file)? } else { Vec::new() };
        if before == rows {
            return Ok(());
        }
        let mut delete = db.prepare_cached(self.delete)?;
        for row in before.iter().filter(|row| !rows.contains(row)) {
            delete.execute(params_from_iter(row.iter().take(2)))?;
        }
        let mut insert = db.prepare_cached(self.insert)?;
        for row in rows.iter().filter(|row| !before.contains(row)) {
            insert.execute(params_from_iter(row))?;
        }
        Ok(())
    }

    fn read(&self, db: &Connection, file: i64) -> Result<Vec<Vec<Value>>> {
        let mut select = db.prepare_cached(self.select)?;
        let columns = select.column_count();
        let rows = select.query_map([file], |row| (0..columns).map(|n| row.get(n)).collect())?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl IndexBatch<'_> {
    /// Stores the content of a file. `stays` are the passages whose words the index contains already.
    pub(super) fn put_content(
        &self,
        put: &IndexedFile<'_>,
        file: i64,
        is_known: bool,
        extracted: &ExtractedFile,
        stays: &ReusablePassages,
    ) -> Result<()> {
        let mut keys: Vec<_> = extracted.tags.iter().map(|tag| tag_key(tag)).collect();
        keys.sort_unstable();
        keys.dedup();
        let tags = keys.join(" ");
        let untold;
        // A note without text is still found by its title.
        let told = match extracted.passages.as_slice() {
            [] if extracted.kind != FileKind::Other => {
                untold = [ExtractedPassage::empty(&extracted.title)];
                &untold
            }
            passages => passages,
        };
        self.put_words(file, &extracted.title, &tags, told, stays)?;
        let importance = extracted.max_importance();
        let about = passage_tokens::NoteAttributes { tags: &tags, importance };
        passage_tokens::put(self.db, file, &about, told)?;
        passages::put(self.db, file, told)?;
        vectors::put(self.db, (put.project, file), told)?;
        let observations = self.observation_rows(put, file, extracted)?;
        OBSERVATIONS.replace(self.db, file, is_known, &observations)?;
        let relations = self.relation_rows(put, file, extracted)?;
        RELATIONS.replace(self.db, file, is_known, &relations)?;
        let tag_row = |tag: String| vec![Value::Integer(file), Value::Text(tag)];
        let tags: Vec<_> = keys.into_iter().map(tag_row).collect();
        TAGS.replace(self.db, file, is_known, &tags)
    }

    /// Replaces the words of a file's passages. Row numbers never fall, since FTS5 would flush its
    /// pending data.
    fn put_words(
        &self,
        file: i64,
        title: &str,
        tags: &str,
        told: &[ExtractedPassage],
        stays: &ReusablePassages,
    ) -> Result<()> {
        let held = vectors::count_of(self.db, file)?;
        let mut delete = self.db.prepare_cached("DELETE FROM words WHERE rowid = ?")?;
        let mut insert = self.db.prepare_cached(
            "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, ?, ?, ?, ?)",
        )?;
        let first = first_passage(file);
        let most = told.len().min(PASSAGES_PER_FILE as usize);
        for place in (0..most.max(held as usize)).filter(|place| !stays.at(*place)) {
            let row = first + place as i64;
            if row < first + held {
                delete.execute([row])?;
            }
            let Some(passage) = told.get(place).filter(|_| place < most) else { continue };
            let (heading, body) = passage.words(told.get(place + 1));
            // Title and tags belong to the note, so they are indexed once, with its first passage.
            let (title, tags) = if place == 0 { (title, tags) } else { ("", "") };
            let (title, tags) = (index_text(title), index_text(tags));
            insert.execute(params![row, title, heading, tags, body])?;
        }
        Ok(())
    }

    fn observation_rows(
        &self,
        put: &IndexedFile<'_>,
        file: i64,
        extracted: &ExtractedFile,
    ) -> Result<Vec<Vec<Value>>> {
        // A fact that was reworded externally has a higher version than its metadata.
        let reworded = if extracted.observations.iter().any(|(_, o)| o.meta.is_some()) {
            super::history::reworded(self.db, put.project, put.path, None)?
        } else {
            Default::default()
        };
        let row = |(n, (id, observation)): (usize, &(ObservationId, _))| {
            let observation: &memoranda_core::note::Observation = observation;
            let fact = observation.meta.as_ref();
            let version =
                fact.map_or(1, |fact| fact.version.max(reworded.get(id).copied().unwrap_or(0)));
            let id_of = |id: Option<&ObservationId>| text_or_null(id.map(ObservationId::as_str));
            vec![
                Value::Integer(file),
                Value::Integer(n as i64),
                Value::Text(id.as_str().to_owned()),
                text_or_null(observation.category.as_deref()),
                Value::Text(observation.text.clone()),
                text_or_null(observation.context.as_deref()),
                Value::Text(serde_json::to_string(&observation.tags).unwrap_or_default()),
                Value::Integer(observation.line as i64),
                Value::Integer(i64::from(version)),
                time_or_null(fact.and_then(|fact| fact.time)),
                fact.and_then(|fact| fact.confidence).into(),
                fact.and_then(|fact| fact.importance).into(),
                text_or_null(fact.and_then(|fact| fact.thread.as_deref())),
                id_of(fact.and_then(|fact| fact.superseded_by.as_ref())),
                id_of(fact.and_then(|fact| fact.supersedes.as_ref())),
                Value::Integer(i64::from(observation.struck)),
            ]
        };
        Ok(extracted.observations.iter().enumerate().map(row).collect())
    }

    fn relation_rows(
        &self,
        put: &IndexedFile<'_>,
        file: i64,
        extracted: &ExtractedFile,
    ) -> Result<Vec<Vec<Value>>> {
        let mut rows = Vec::with_capacity(extracted.relations.len());
        for (n, relation) in extracted.relations.iter().enumerate() {
            let rating = relation.meta.as_ref();
            let links::RelationTarget { project, key, whole_key, target } =
                links::resolve_relation(self.db, put.project, put.path, relation)?;
            let is_exact = rating.is_some() && put.path.parent().is_some();
            let whole = relation.whole.as_deref().filter(|_| whole_key.is_some());
            rows.push(vec![
                Value::Integer(file),
                Value::Integer(n as i64),
                Value::Integer(project),
                Value::Text(relation.relation_type.clone()),
                Value::Text(relation.target.clone()),
                Value::Text(key),
                target.into(),
                text_or_null(relation.context.as_deref()),
                Value::Integer(relation.line as i64),
                is_exact.then(|| relation.name().to_owned()).into(),
                Value::Integer(if is_exact { 2 } else { i64::from(relation.is_stated) }),
                time_or_null(rating.and_then(|rating| rating.time)),
                rating.and_then(|rating| rating.confidence).into(),
                rating.and_then(|rating| rating.importance).into(),
                text_or_null(whole),
                whole_key.into(),
            ]);
        }
        Ok(rows)
    }

    /// Removes the content of a file, except its vectors.
    pub(super) fn forget_content(&self, file: i64) -> Result<()> {
        self.put_words(file, "", "", &[], &ReusablePassages::default())?;
        passages::remove(self.db, file)?;
        passage_tokens::remove(self.db, file)?;
        for rows in [OBSERVATIONS, RELATIONS, TAGS] {
            rows.replace(self.db, file, true, &[])?;
        }
        Ok(())
    }
}

fn text_or_null(text: Option<&str>) -> Value {
    text.map_or(Value::Null, |text| Value::Text(text.to_owned()))
}

fn time_or_null(time: Option<jiff::Timestamp>) -> Value {
    time.map_or(Value::Null, |time| Value::Integer(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use memoranda_core::id::{ContentHash, ProjectName};
    use memoranda_core::path::NotePath;

    use super::*;
    use crate::files::FileStat;
    use crate::index::extract::extract;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn a_new_line_changes_few_rows() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let put = |text: &str| {
            let path = NotePath::parse("a.md").unwrap();
            let mut batch = IndexBatch::new(&db);
            let project = batch.project(&ProjectName::parse("main").unwrap()).unwrap();
            let put = IndexedFile {
                project,
                path: &path,
                hash: ContentHash([0; 32]),
                stat: FileStat::default(),
                checked_ns: 0,
                permalink: None,
                first_seen_ms: None,
            };
            batch.put(&put, &extract(&path, text.as_bytes())).unwrap();
            batch.finish().unwrap();
        };
        let count = |table: &str| -> i64 {
            db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        let lines = |line: fn(usize) -> String| (0..40).map(line).collect::<String>();
        let text = format!(
            "{}\n{}",
            lines(|n| format!("- [fact] number {n} #tag{n}\n")),
            lines(|n| format!("- knows [[Note {n}]]\n"))
        );
        put(&text);
        assert_eq!(["observations", "relations", "tags"].map(count), [40, 40, 40]);
        let before = db.total_changes();
        put(&format!("{text}- [fact] one more #tag7\n"));
        let changes = db.total_changes() - before;
        assert_eq!(["observations", "relations", "tags"].map(count), [41, 40, 40]);
        assert!(changes < 60, "{changes} rows");
        // Lines that move change their rows, and what is gone leaves none.
        put("- [fact] one more #tag7\n");
        assert_eq!(["observations", "relations", "tags"].map(count), [1, 0, 1]);
        put("");
        assert_eq!(["observations", "relations", "tags"].map(count), [0, 0, 0]);
    }
}
