//! Finds files that may contain a link outside of relations: in frontmatter, in drawings, and as a
//! path in Markdown or HTML.

use std::collections::BTreeSet;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::tokenize::{index_text, is_unspaced, tokenize};
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::extract::ExtractedFile;
use super::passages::PASSAGES_PER_ROW;
use super::project_id_of;
use super::write::PASSAGES_PER_FILE;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// SQL test for a Markdown link or link definition with a path, or `href=` or `src=` in HTML, in a
/// row of passages.
const HAS_PATH: &str = "(instr(p.data, x'5D28') > 0 OR instr(p.data, x'5D3A') > 0 \
     OR instr(p.data, x'687265663D') > 0 OR instr(p.data, x'7372633D') > 0)";

/// Bytes that each such link in Markdown or HTML contains.
const PATH_SIGNS: [&[u8]; 4] = [b"](", b"]:", b"href=", b"src="];

/// Returns true if a file may contain such a link.
pub(crate) fn may_mention(
    path: &NotePath,
    extracted: Option<&ExtractedFile>,
    content: &[u8],
) -> bool {
    let has = |sign: &[u8]| content.windows(sign.len()).any(|bytes| bytes == sign);
    path.as_str().to_lowercase().ends_with(".canvas")
        || extracted.is_none_or(|extracted| extracted.metadata.contains("[["))
        || PATH_SIGNS.into_iter().any(has)
}

impl Snapshot<'_> {
    /// Returns the files of a project that contain one of these texts in such a place, and all
    /// drawings, which can encode a text in many ways. A file of a pending commit may not contain it
    /// any more.
    pub fn mentioning(&self, project: &ProjectName, texts: &[String]) -> Result<Vec<NotePath>> {
        self.query_about(|pending| pending.may_mention(project), |db| {
            let project = Value::Integer(project_id_of(db, project)?);
            let any = |found: &str| vec![format!("{found} > 0"); texts.len()].join(" OR ");
            let texts_after = |mut values: Vec<Value>| {
                values.extend(texts.iter().cloned().map(Value::Text));
                values
            };
            let mut found = BTreeSet::new();
            let mut look = |sql: &str, values: Vec<Value>| -> Result<()> {
                let mut query = db.prepare(sql)?;
                let mut rows = query.query(params_from_iter(values))?;
                while let Some(row) = rows.next()? {
                    found.extend(NotePath::parse(row.get_ref(0)?.as_str().unwrap_or_default()));
                }
                Ok(())
            };
            look(
                "SELECT path FROM files INDEXED BY files_drawn \
                 WHERE project = ? AND lower(substr(path, -7)) = '.canvas'",
                vec![project.clone()],
            )?;
            look(
                &format!(
                    "SELECT f.path FROM files f WHERE f.project = ? AND instr(f.metadata, '[[') > 0 AND ({})",
                    any("instr(f.metadata, ?)")
                ),
                texts_after(vec![project.clone()]),
            )?;
            // FTS5 narrows the passages by the words of the texts, if there are any.
            let (passages, among, first) = match expression(texts) {
                Some(expression) => (
                    format!(
                        "words w CROSS JOIN passages p ON p.id = w.rowid / {PASSAGES_PER_ROW} * {PASSAGES_PER_ROW}"
                    ),
                    "words MATCH ? AND",
                    vec![Value::Text(expression), project],
                ),
                None => (String::from("passages p"), "", vec![project]),
            };
            look(
                &format!(
                    "SELECT f.path FROM {passages} CROSS JOIN files f ON f.id = p.id / {PASSAGES_PER_FILE} \
                     WHERE {among} f.project = ? AND f.kind IN (1, 2) AND ({}) AND {HAS_PATH}",
                    any("instr(p.data, CAST(? AS BLOB))")
                ),
                texts_after(first),
            )?;
            Ok(found.into_iter().collect())
        })
    }
}

/// Returns the FTS5 expression for passages with one of these texts. `None` if a text has no words,
/// or a word of a script without spaces.
fn expression(texts: &[String]) -> Option<String> {
    let phrase = |text: &String| {
        let is_told = tokenize(text).next().is_some() && !text.contains(is_unspaced);
        is_told.then(|| format!("\"{}\"", index_text(text).replace('\0', " ").replace('"', "\"\"")))
    };
    let phrases: Option<Vec<_>> = texts.iter().map(phrase).collect();
    Some(format!("body : ({})", phrases?.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_up_where_they_are_told_apart() {
        let check = |texts: &[&str], expected: Option<&str>| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(expression(&texts).as_deref(), expected, "{texts:?}");
        };
        check(&["My Note", "My%20Note"], Some("body : (\"My Note\" OR \"My%20Note\")"));
        check(&["a\"b"], Some("body : (\"a\"\"b\")"));
        check(&["\u{6771}\u{4eac}"], None);
        check(&["A", "\u{1f331}"], None);
    }
}
