//! Merges the segments of the full-text index after the first scan of a vault.
//!
//! FTS5 merges segments of one level, of whatever size. A scan writes large ones on the lowest level,
//! and every few notes written later would merge them again. So nothing is merged while a new index
//! is filled. Then all segments become one, several levels above those of later writes.

use rusqlite::{Connection, params};

use crate::error::Result;

/// Number of times that the segments are moved up by two levels.
const LIFTS: i64 = 3;
/// Number of pages that one step of the merge writes.
const STEP_PAGES: i64 = 2_000;
/// Number of segments of a level that FTS5 merges bit by bit, and that it merges at once. These are
/// its defaults.
const USUAL_SEGMENTS: (i64, i64) = (4, 16);
/// Numbers of segments during the first scan, when nothing is merged bit by bit.
const SCAN_SEGMENTS: (i64, i64) = (0, 1_000);
/// Number of pages of words below which merging them later costs little.
const FEW_PAGES: i64 = 100;
/// Word of the rows that lift the others. It is removed in the same transaction.
const LIFTING_WORD: &str = "lift";

/// Stops merging until the end of the first scan.
pub(crate) fn suspend(db: &Connection) -> Result<()> {
    let mut is_suspended =
        db.prepare_cached("SELECT 1 FROM words_config WHERE k = 'automerge' AND v = 0")?;
    if is_suspended.exists([])? { Ok(()) } else { configure_segments(db, SCAN_SEGMENTS) }
}

/// Returns true if there are enough words to merge them.
pub(crate) fn has_many(db: &Connection) -> Result<bool> {
    let mut pages = db.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words_data LIMIT ?)")?;
    Ok(pages.query_row([FEW_PAGES], |row| row.get::<_, i64>(0))? >= FEW_PAGES)
}

/// Begins to merge all segments into one. FTS5 moves all of them to a new level before it merges
/// those of different levels, so a row on the lowest level lifts the others.
pub(crate) fn begin(db: &Connection) -> Result<()> {
    let transaction = db.unchecked_transaction()?;
    // Passages have larger numbers.
    for row in 1..=LIFTS {
        db.prepare_cached("INSERT INTO words (rowid, title) VALUES (?, ?)")?
            .execute(params![row, LIFTING_WORD])?;
        merge(db, -1)?;
    }
    for row in 1..=LIFTS {
        db.prepare_cached("DELETE FROM words WHERE rowid = ?")?.execute([row])?;
    }
    transaction.commit()?;
    Ok(())
}

/// Does a part of the merge. Returns true if there is more to do.
pub(crate) fn step(db: &Connection) -> Result<bool> {
    let transaction = db.unchecked_transaction()?;
    let before = db.total_changes();
    merge(db, STEP_PAGES)?;
    let is_unfinished = db.total_changes().saturating_sub(before) > 1;
    transaction.commit()?;
    Ok(is_unfinished)
}

/// Ends the merge: FTS5 merges the segments of later writes as they come.
pub(crate) fn end(db: &Connection) -> Result<()> {
    configure_segments(db, USUAL_SEGMENTS)
}

fn configure_segments(db: &Connection, (gradual, at_once): (i64, i64)) -> Result<()> {
    let transaction = db.unchecked_transaction()?;
    configure(db, "automerge", gradual)?;
    configure(db, "crisismerge", at_once)?;
    transaction.commit()?;
    Ok(())
}

fn merge(db: &Connection, pages: i64) -> Result<()> {
    configure(db, "merge", pages)
}

fn configure(db: &Connection, setting: &str, value: i64) -> Result<()> {
    db.prepare_cached("INSERT INTO words (words, rank) VALUES (?, ?)")?
        .execute(params![setting, value])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of segments of each level, the lowest first.
    fn levels(db: &Connection) -> Vec<u64> {
        let select = "SELECT block FROM words_data WHERE id = 10";
        let block: Vec<u8> = db.query_row(select, [], |row| row.get(0)).unwrap();
        // A cookie and the mark of the second version come first.
        let mut numbers = super::super::doc_lengths::numbers(&block[8..]);
        let mut next = || numbers.next().unwrap();
        let (levels, _, _) = (next(), next(), next());
        let level = |_| {
            let (_, segments) = (next(), next());
            (0..segments * 8).for_each(|_| assert!(next() < u64::MAX));
            segments
        };
        (0..levels).map(level).collect()
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn all_segments_of_a_scan_become_one_above_those_of_later_writes() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let add = |row: i64, words: i64| {
            let insert = "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)";
            let body: String = (0..words).map(|word| format!("w{row}x{word} ")).collect();
            let title = format!("note{row}");
            db.execute(insert, params![65_536 * row, title, format!("a cat {body}")]).unwrap();
        };
        let count = |word: &str| -> i64 {
            let count = "SELECT count(*) FROM words WHERE words MATCH ?";
            db.query_row(count, [word], |row| row.get(0)).unwrap()
        };
        assert!(!has_many(&db).unwrap());
        suspend(&db).unwrap();
        suspend(&db).unwrap();
        (1..=40).for_each(|row| add(row, 600));
        assert_eq!(levels(&db), [40]);
        assert!(has_many(&db).unwrap());
        begin(&db).unwrap();
        // A write between two steps does not end the merge.
        add(41, 1);
        while step(&db).unwrap() {}
        end(&db).unwrap();
        let merged = levels(&db);
        assert!(merged.len() > 5, "{merged:?}");
        assert_eq!((merged[0], merged.iter().sum()), (1, 2), "{merged:?}");
        assert_eq!(merged.last(), Some(&1), "{merged:?}");
        assert_eq!([count("cat"), count("note7"), count(LIFTING_WORD)], [41, 1, 0]);
        let left = "SELECT count(*) FROM word_counts WHERE term = ?";
        let left: i64 = db.query_row(left, [LIFTING_WORD], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
        // Later writes are merged with each other. The large segment stays as it is.
        (42..=200).for_each(|row| add(row, 1));
        let later = levels(&db);
        assert_eq!(later.last(), Some(&1), "{later:?}");
        assert!(later.iter().sum::<u64>() < 20, "{later:?}");
        assert_eq!(count("cat"), 200);
    }
}
