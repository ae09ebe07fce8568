//! Fingerprint of an index's content. Two indexes of equal files and log have equal fingerprints,
//! regardless of how they were built.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::Result;

/// The content of each table, in an order that depends only on the content.
const TABLES: &[(&str, &str)] = &[
    (
        "files",
        "SELECT p.name, f.path, f.kind, f.hash, f.title, f.permalink, f.note_type, f.created_ms, \
         f.updated_ms, f.metadata, f.problems FROM files f JOIN projects p ON p.id = f.project \
         ORDER BY 1, 2",
    ),
    (
        "passages",
        "SELECT p.name, f.path, s.data FROM passages s \
         JOIN files f ON f.id = s.id / 65536 JOIN projects p ON p.id = f.project ORDER BY 1, 2, s.id",
    ),
    (
        "cuts",
        "SELECT p.name, f.path, s.tags, s.importance, s.data FROM cuts s \
         JOIN files f ON f.id = s.id / 65536 JOIN projects p ON p.id = f.project ORDER BY 1, 2, s.id",
    ),
    (
        "vectors",
        "SELECT p.name, f.path, v.data FROM vectors v JOIN files f ON f.id = v.file \
         JOIN projects p ON p.id = f.project WHERE length(v.data) > 0 ORDER BY 1, 2",
    ),
    (
        "observations",
        "SELECT p.name, f.path, o.line, o.observation_id, o.category, o.text, o.context, o.tags, \
         o.version, o.time_ms, o.confidence, o.importance, o.thread, o.superseded_by, o.supersedes, \
         o.struck FROM observations o JOIN files f ON f.id = o.file \
         JOIN projects p ON p.id = f.project ORDER BY 1, 2, 3, 4",
    ),
    (
        "relations",
        "SELECT p.name, f.path, r.line, r.relation_type, r.target, r.target_key, r.whole_key, t.path, r.context, \
         r.exact_name, r.form, r.time_ms, r.confidence, r.importance FROM relations r JOIN files f ON f.id = r.file JOIN projects p ON p.id = f.project \
         LEFT JOIN files t ON t.id = r.target_file ORDER BY 1, 2, 3, 4, 5",
    ),
    (
        "nodes",
        "SELECT p.name, f.path, n.folder, n.importance, n.confidence, n.facts, n.relations, \
         n.placeholder FROM nodes n JOIN files f ON f.id = n.file \
         JOIN projects p ON p.id = n.project ORDER BY 1, 2",
    ),
    (
        "tags",
        "SELECT p.name, f.path, t.tag FROM tags t JOIN files f ON f.id = t.file \
         JOIN projects p ON p.id = f.project ORDER BY 1, 2, 3",
    ),
    (
        "link names",
        "SELECT p.name, f.path, k.key FROM link_keys k JOIN files f ON f.id = k.file \
         JOIN projects p ON p.id = f.project ORDER BY 1, 2, 3",
    ),
    ("words", "SELECT term, doc, cnt FROM word_counts ORDER BY 1"),
    (
        "commits",
        "SELECT id, logical_ms, time_ms, device, segment, offset, client, tool, channel, message, \
         folders, account, token, conversation, source FROM commits ORDER BY 1",
    ),
    (
        "changes",
        "SELECT k.id, p.name, c.path, c.moved_from, c.moved_to, c.before, c.after, c.permalink, \
         c.facts FROM changes c JOIN commits k ON k.row = c.commit_row \
         JOIN projects p ON p.id = c.project ORDER BY 1, c.n",
    ),
];

/// Returns the fingerprint of every table.
pub(crate) fn fingerprint(db: &Connection) -> Result<Vec<(&'static str, [u8; 32])>> {
    TABLES.iter().map(|(name, sql)| Ok((*name, hash_rows(db, sql)?))).collect()
}

fn hash_rows(db: &Connection, sql: &str) -> Result<[u8; 32]> {
    let mut query = db.prepare(sql)?;
    let columns = query.column_count();
    let mut rows = query.query([])?;
    let mut hasher = blake3::Hasher::new();
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let (kind, bytes): (u8, Vec<u8>) = match row.get_ref(column)? {
                ValueRef::Null => (0, Vec::new()),
                ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
                ValueRef::Real(number) => (2, number.to_le_bytes().to_vec()),
                ValueRef::Text(text) => (3, text.to_vec()),
                ValueRef::Blob(blob) => (4, blob.to_vec()),
            };
            hasher.update(&[kind]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
        }
    }
    Ok(*hasher.finalize().as_bytes())
}
