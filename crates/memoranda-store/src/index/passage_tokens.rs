//! Tokens of passages, the ranking data of notes. Rows contain no texts, so that they are short and
//! adjacent on disk.

use std::ops::RangeInclusive;
use std::sync::Arc;

use memoranda_core::passage::PassageStart;
use memoranda_core::rank::PassageTokens;
use rusqlite::{Connection, params};

use super::extract::{ExtractedPassage, PassageStatus};
use super::passages::{PASSAGES_PER_ROW, row_of, rows};
use super::write::first_passage;
use crate::error::Result;

/// Ranking data of a note, stored with its first passages.
pub(super) struct NoteAttributes<'n> {
    /// Normalised tags, separated by spaces.
    pub(super) tags: &'n str,
    /// Highest importance of a current fact.
    pub(super) importance: Option<f64>,
}

/// A passage in a row.
pub(super) struct TokenizedPassage {
    pub(super) id: i64,
    pub(super) age: PassageStatus,
    pub(super) begins: PassageStart,
    pub(super) cut: PassageTokens,
}

/// Stores the tokens of a file's passages, and removes those that it had before.
pub(super) fn put(
    db: &Connection,
    file: i64,
    about: &NoteAttributes<'_>,
    passages: &[ExtractedPassage],
) -> Result<()> {
    // An update changes a row where it is.
    let mut update =
        db.prepare_cached("UPDATE cuts SET tags = ?2, importance = ?3, data = ?4 WHERE id = ?1")?;
    let mut insert =
        db.prepare_cached("INSERT INTO cuts (id, tags, importance, data) VALUES (?1, ?2, ?3, ?4)")?;
    let mut next = first_passage(file);
    for (id, row) in rows(file, passages) {
        let mut data = Vec::new();
        for passage in row {
            let is_past = u8::from(passage.age == PassageStatus::Superseded);
            data.push(is_past | u8::from(passage.begins == PassageStart::ContinuesBlock) << 1);
            passage.cut().write(&mut data);
        }
        // Attributes of the note are stored once.
        let about = Some(about).filter(|_| id == first_passage(file));
        let values = params![
            id,
            about.map_or("", |about| about.tags),
            about.and_then(|about| about.importance),
            data
        ];
        if update.execute(values)? == 0 {
            insert.execute(values)?;
        }
        next = id + PASSAGES_PER_ROW;
    }
    remove_from(db, file, next)
}

/// Removes the tokens of a file's passages.
pub(super) fn remove(db: &Connection, file: i64) -> Result<()> {
    remove_from(db, file, first_passage(file))
}

fn remove_from(db: &Connection, file: i64, first: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM cuts WHERE id >= ? AND id < ?")?
        .execute([first, first_passage(file + 1)])?;
    Ok(())
}

/// Reads a range of passages of a file, in order.
pub(super) fn each(
    db: &Connection,
    wanted: RangeInclusive<i64>,
    mut each: impl FnMut(TokenizedPassage),
) -> Result<()> {
    let mut select =
        db.prepare_cached("SELECT id, data FROM cuts WHERE id BETWEEN ? AND ? ORDER BY id")?;
    let mut rows = select.query([row_of(*wanted.start()), *wanted.end()])?;
    while let Some(row) = rows.next()? {
        let data = row.get_ref(1)?.as_blob().unwrap_or_default();
        let data = data.into();
        let passages = in_row(row.get(0)?, &data);
        passages.filter(|passage| wanted.contains(&passage.id)).for_each(&mut each);
    }
    Ok(())
}

/// Decodes the passages of a row, up to the first invalid byte.
pub(super) fn in_row(first: i64, data: &Arc<[u8]>) -> impl Iterator<Item = TokenizedPassage> {
    let mut place = 0;
    (first..).map_while(move |id| {
        let signs = *data.get(place)?;
        let age = if signs & 1 == 0 { PassageStatus::Current } else { PassageStatus::Superseded };
        let begins =
            if signs & 2 == 0 { PassageStart::NewBlock } else { PassageStart::ContinuesBlock };
        place += 1;
        Some(TokenizedPassage { id, age, begins, cut: PassageTokens::read(data, &mut place)? })
    })
}

#[cfg(test)]
mod tests {
    use memoranda_core::path::NotePath;

    use super::*;
    use crate::index::extract::extract;
    use crate::index::passages::PASSAGES_PER_ROW;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn what_is_compared_is_read_as_it_was_kept() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let text: String = (0..150).map(|n| format!("# Part {n}\n\nAnn: thing {n}\n\n")).collect();
        let text = text + "- [plan] ~~an old one~~\n\n" + &"a long line ".repeat(60);
        let made = extract(&NotePath::parse("long.md").unwrap(), text.as_bytes()).passages;
        assert!(made.len() > 2 * PASSAGES_PER_ROW as usize, "{}", made.len());
        assert!(made.iter().any(|passage| passage.age == PassageStatus::Superseded));
        assert!(made.iter().any(|passage| passage.begins == PassageStart::ContinuesBlock));
        for file in [6, 7, 8] {
            let about = NoteAttributes { tags: "a b", importance: Some(0.5) };
            put(&db, file, &about, &made).unwrap();
        }
        let first = first_passage(7);
        let row: Vec<u8> =
            db.query_row("SELECT data FROM cuts WHERE id = ?", [first], |row| row.get(0)).unwrap();
        assert_eq!(in_row(first, &row.into()).count(), PASSAGES_PER_ROW as usize);
        let check = |from: i64, to: i64, expected: RangeInclusive<i64>| {
            let mut found = Vec::new();
            each(&db, first + from..=first + to, |read| {
                let made = &made[(read.id - first) as usize];
                let kept = (read.age, read.begins, &read.cut);
                assert_eq!(kept, (made.age, made.begins, made.cut()));
                found.push(read.id - first);
            })
            .unwrap();
            assert!(found.iter().copied().eq(expected), "{from} to {to}: {found:?}");
        };
        let last = made.len() as i64 - 1;
        check(0, 65_535, 0..=last);
        check(0, 0, 0..=0);
        check(60, 70, 60..=70);
        check(last, last + 9, last..=last);
        let told = "SELECT count(*) FROM cuts WHERE tags = 'a b' AND importance = 0.5";
        let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count(told), 3, "once for each note");
        remove(&db, 7).unwrap();
        assert_eq!(count(told), 2);
        assert_eq!(count("SELECT count(*) FROM cuts") as usize, 2 * made.len().div_ceil(64));
    }

    #[test]
    fn damaged_rows_end_where_the_damage_is() {
        let made =
            extract(&NotePath::parse("n.md").unwrap(), b"One.\n\n# Two\n\nThree.\n").passages;
        let mut data = Vec::new();
        for passage in &made {
            data.push(0);
            passage.cut().write(&mut data);
        }
        for length in 0..=data.len() {
            assert!(in_row(0, &data[..length].into()).count() <= made.len());
            let mut other = data.clone();
            other.iter_mut().skip(length).for_each(|byte| *byte ^= 0xa5);
            in_row(0, &other.into()).for_each(drop);
        }
        assert_eq!(in_row(0, &data.into()).count(), made.len());
    }
}
