//! Reuses tokens, vectors and index entries of unchanged passages when a file changes. A new line
//! in a long note leaves most passages as they were.

use std::collections::HashMap;

use memoranda_core::embed::StaticVector;
use rusqlite::Connection;

use super::extract::ExtractedPassage;
use super::write::first_passage;
use super::{passage_tokens, passages, vectors};
use crate::error::Result;

/// Minimum number of passages for reuse. Of fewer, hardly one keeps its words.
const MIN_REUSE_PASSAGES: i64 = 5;

/// Passages with the same text at the same position as before.
#[derive(Default)]
pub(super) struct ReusablePassages(Vec<bool>);

impl ReusablePassages {
    /// Returns true if the words of the passage at a position are reusable. The first passage
    /// contains title and tags, so it is always rewritten. Each passage contains words of the next,
    /// so both must be unchanged.
    pub(super) fn at(&self, place: usize) -> bool {
        let is_same = |place| self.0.get(place).copied().unwrap_or(false);
        place > 0 && is_same(place) && is_same(place + 1)
    }
}

/// Positions of one text in a file.
struct TextPositions {
    /// Old position.
    before: Option<usize>,
    /// New positions.
    now: Vec<usize>,
}

/// Copies tokens and vectors of unchanged passages and returns which kept their position.
pub(super) fn find_reusable(
    db: &Connection,
    file: i64,
    told: &[ExtractedPassage],
) -> Result<ReusablePassages> {
    let held = vectors::count_of(db, file)?;
    if held < MIN_REUSE_PASSAGES {
        return Ok(ReusablePassages::default());
    }
    let mut said: Vec<TextPositions> = Vec::with_capacity(told.len());
    let mut by_text = HashMap::with_capacity(told.len());
    for (place, passage) in told.iter().enumerate() {
        let text = (passage.heading.as_str(), passage.text.as_str());
        let at = *by_text.entry(text).or_insert(said.len());
        match said.get_mut(at) {
            Some(same) => same.now.push(place),
            None => said.push(TextPositions { before: None, now: vec![place] }),
        }
    }
    let first = first_passage(file);
    let all = first..=first + held - 1;
    let mut stays = vec![false; told.len()];
    passages::each(db, all.clone(), |kept| {
        let place = (kept.id - first) as usize;
        let text = (kept.heading, kept.text);
        if let Some(said) = by_text.get(&text).and_then(|at| said.get_mut(*at)) {
            said.before.get_or_insert(place);
        }
        if let (Some(passage), Some(stays)) = (told.get(place), stays.get_mut(place)) {
            *stays = (passage.heading.as_str(), passage.text.as_str()) == text;
        }
    })?;
    let now: HashMap<usize, Vec<usize>> =
        said.into_iter().filter_map(|said| Some((said.before?, said.now))).collect();
    let same = |before: usize| {
        let places = now.get(&before).into_iter().flatten();
        places.filter_map(|&place| told.get(place))
    };
    passage_tokens::each(db, all, |kept| {
        let place = (kept.id - first) as usize;
        same(place).for_each(|passage| passage.reuse_tokens(&kept.cut));
        if let (Some(passage), Some(stays)) = (told.get(place), stays.get_mut(place)) {
            *stays &= passage.begins == kept.begins;
        }
    })?;
    let (scales, numbers) = vectors::of_file(db, file)?;
    for (place, (scale, numbers)) in scales.into_iter().zip(numbers).enumerate() {
        same(place).for_each(|passage| passage.reuse_vector(StaticVector { scale, numbers }));
    }
    Ok(ReusablePassages(stays))
}

#[cfg(test)]
mod tests {
    use memoranda_core::id::{ContentHash, ProjectName};
    use memoranda_core::path::NotePath;
    use proptest::prelude::*;

    use super::*;
    use crate::files::FileStat;
    use crate::index::extract::extract;
    use crate::index::write::{IndexBatch, IndexedFile};

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn index(texts: &[&str]) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        texts.iter().for_each(|text| put(&db, text));
        db
    }

    fn put(db: &Connection, text: &str) {
        let path = NotePath::parse("long.md").unwrap();
        let mut batch = IndexBatch::new(db);
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
    }

    /// Returns all rows about passages in an index.
    fn all(db: &Connection) -> Vec<String> {
        let mut all = Vec::new();
        for sql in [
            "SELECT doc || ' ' || term || ' ' || col || ' ' || offset FROM word_places",
            "SELECT id || ' ' || hex(data) FROM passages",
            "SELECT id || ' ' || tags || ' ' || hex(data) FROM cuts",
            "SELECT file || ' ' || passages || ' ' || hex(lengths) || hex(data) FROM vectors",
        ] {
            let mut select = db.prepare(sql).unwrap();
            let rows = select.query_map([], |row| row.get(0)).unwrap();
            all.extend(rows.map(std::result::Result::unwrap));
        }
        all.sort_unstable();
        all
    }

    fn note(title: &str, parts: &[u8]) -> String {
        let words = ["plan", "ox", "café", "~~old~~", "tea", "[x] not", "#tag", "", "Ann: hi"];
        let mut text = format!("---\ntitle: {title}\ntags: [{title}]\n---\n");
        for part in parts {
            let word = words[usize::from(*part) % words.len()];
            match part % 4 {
                0 => text.push_str(&format!("# Part {part}\n\n")),
                1 => text.push_str(&format!("- [fact] {word} {part}\n")),
                2 => text.push_str(&format!("{}\n", format!("{word} {part} ").repeat(80))),
                _ => text.push_str(&format!("{}\n\n", format!("{word} {part} ").repeat(30))),
            }
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn reused_passages_equal_recomputed_ones(
            before in prop::collection::vec(0u8..40, 40..80),
            title in "One|Two",
            cut in (0usize..40, 0usize..12),
            added in prop::collection::vec(0u8..40, 0..6),
        ) {
            let mut after = before.clone();
            after.splice(cut.0..(cut.0 + cut.1).min(before.len()), added);
            let texts = [note("One", &before), note(&title, &after)];
            prop_assert_eq!(all(&index(&[&texts[0], &texts[1]])), all(&index(&[&texts[1]])));
        }
    }

    #[test]
    fn vectors_of_unchanged_passages_are_reused() {
        let parts: Vec<u8> = (0..40).collect();
        let text = note("One", &parts);
        let db = index(&[&text]);
        // A recomputed vector differs from these zeros.
        let cleared = "UPDATE vectors SET data = zeroblob(length(data))";
        db.execute(cleared, []).unwrap();
        put(&db, &format!("{text}\nOne line more, of its own.\n"));
        let known = vectors::of_file(&db, 1).unwrap().0;
        let anew = known.iter().filter(|scale| **scale != 0.0).count();
        assert!(
            known.len() as i64 > MIN_REUSE_PASSAGES && (1..=2).contains(&anew),
            "{anew} of {}",
            known.len()
        );
    }
}
