//! Texts of passages, many in one row, because neighbouring passages are often shown together. The
//! ranking data is stored separately: most compared passages are never shown.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::extract::ExtractedPassage;
use super::write::{PASSAGES_PER_FILE, first_passage};
use crate::error::Result;

/// Number of passages in a row, which has the number of its first passage. Few notes have more; of
/// a very long one only some rows are read.
pub(super) const PASSAGES_PER_ROW: i64 = 64;

/// A passage in a row.
pub(super) struct StoredPassage<'r> {
    pub(super) id: i64,
    pub(super) heading: &'r str,
    pub(super) lines: (usize, usize),
    pub(super) text: &'r str,
}

/// Stores the passages of a file, and removes those that it had before.
pub(super) fn put(db: &Connection, file: i64, passages: &[ExtractedPassage]) -> Result<()> {
    // An update changes a row where it is.
    let mut update = db.prepare_cached("UPDATE passages SET data = ?2 WHERE id = ?1")?;
    let mut insert = db.prepare_cached("INSERT INTO passages (id, data) VALUES (?1, ?2)")?;
    let mut next = first_passage(file);
    for (id, row) in rows(file, passages) {
        let mut data = Vec::new();
        row.iter().for_each(|passage| write(passage, &mut data));
        if update.execute(params![id, data])? == 0 {
            insert.execute(params![id, data])?;
        }
        next = id + PASSAGES_PER_ROW;
    }
    remove_from(db, file, next)
}

/// Returns the rows of a file's passages, each with its number.
pub(super) fn rows(
    file: i64,
    passages: &[ExtractedPassage],
) -> impl Iterator<Item = (i64, &[ExtractedPassage])> {
    let numbers = (first_passage(file)..first_passage(file + 1)).step_by(PASSAGES_PER_ROW as usize);
    numbers.zip(passages.chunks(PASSAGES_PER_ROW as usize))
}

/// Removes the passages of a file.
pub(super) fn remove(db: &Connection, file: i64) -> Result<()> {
    remove_from(db, file, first_passage(file))
}

fn remove_from(db: &Connection, file: i64, first: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM passages WHERE id >= ? AND id < ?")?
        .execute([first, first_passage(file + 1)])?;
    Ok(())
}

/// Reads a range of passages of a file, in order.
pub(super) fn each(
    db: &Connection,
    wanted: RangeInclusive<i64>,
    mut each: impl FnMut(StoredPassage<'_>),
) -> Result<()> {
    let mut select =
        db.prepare_cached("SELECT id, data FROM passages WHERE id BETWEEN ? AND ? ORDER BY id")?;
    let mut rows = select.query([row_of(*wanted.start()), *wanted.end()])?;
    while let Some(row) = rows.next()? {
        let data = row.get_ref(1)?.as_blob().unwrap_or_default();
        in_row(row.get(0)?, data).filter(|kept| wanted.contains(&kept.id)).for_each(&mut each);
    }
    Ok(())
}

/// Reads one passage; `None` if it does not exist.
pub(super) fn one<T>(
    db: &Connection,
    passage: i64,
    read: impl FnOnce(StoredPassage<'_>) -> T,
) -> Result<Option<T>> {
    let mut select = db.prepare_cached("SELECT data FROM passages WHERE id = ?")?;
    let first = row_of(passage);
    let found = select.query_row([first], |row| {
        let data = row.get_ref(0)?.as_blob().unwrap_or_default();
        Ok(in_row(first, data).find(|kept| kept.id == passage).map(read))
    });
    Ok(found.optional()?.flatten())
}

/// Returns the number of the row that contains a passage.
pub(super) fn row_of(passage: i64) -> i64 {
    const { assert!(PASSAGES_PER_FILE % PASSAGES_PER_ROW == 0) };
    passage / PASSAGES_PER_ROW * PASSAGES_PER_ROW
}

/// Decodes the passages of a row, up to the first invalid byte.
fn in_row(first: i64, mut data: &[u8]) -> impl Iterator<Item = StoredPassage<'_>> {
    (first..).map_while(move |id| read(id, &mut data))
}

fn write(passage: &ExtractedPassage, data: &mut Vec<u8>) {
    let parts = [&passage.heading, &passage.text];
    let [heading, text] = parts.map(String::len);
    for number in [passage.first_line, passage.last_line, heading, text] {
        data.extend_from_slice(&(number as u32).to_le_bytes());
    }
    parts.iter().for_each(|part| data.extend_from_slice(part.as_bytes()));
}

fn read<'r>(id: i64, data: &mut &'r [u8]) -> Option<StoredPassage<'r>> {
    let (numbers, rest) = data.split_first_chunk::<16>()?;
    let mut numbers = numbers.as_chunks::<4>().0.iter().map(|n| u32::from_le_bytes(*n) as usize);
    let lines = (numbers.next()?, numbers.next()?);
    let (heading, rest) = rest.split_at_checked(numbers.next()?)?;
    let (text, rest) = rest.split_at_checked(numbers.next()?)?;
    *data = rest;
    let said = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
    Some(StoredPassage { id, heading: said(heading), lines, text: said(text) })
}

#[cfg(test)]
mod tests {
    use memoranda_core::path::NotePath;

    use super::*;
    use crate::index::extract::extract;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn passages_are_read_as_they_were_kept() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let text: String = (0..150).map(|n| format!("# Part {n}\n\nAnn: thing {n}\n\n")).collect();
        let made = extract(&NotePath::parse("long.md").unwrap(), text.as_bytes()).passages;
        assert!(made.len() > 2 * PASSAGES_PER_ROW as usize, "{}", made.len());
        for file in [6, 7, 8] {
            put(&db, file, &made).unwrap();
        }
        let first = first_passage(7);
        let last = first + made.len() as i64 - 1;
        let check = |from: i64, to: i64, expected: RangeInclusive<i64>| {
            let mut found = Vec::new();
            each(&db, from..=to, |kept| {
                let passage = &made[(kept.id - first) as usize];
                assert_eq!((kept.heading, kept.text), (&*passage.heading, &*passage.text));
                assert_eq!(kept.lines, (passage.first_line, passage.last_line));
                found.push(kept.id);
            })
            .unwrap();
            assert!(found.iter().copied().eq(expected), "{from} to {to}: {found:?}");
        };
        check(first, first + PASSAGES_PER_FILE - 1, first..=last);
        check(first, first, first..=first);
        check(first + 60, first + 70, first + 60..=first + 70);
        check(last, last + 9, last..=last);
        let text_of = |id| one(&db, id, |kept| kept.text.to_owned()).unwrap();
        assert_eq!(text_of(first + 70).as_ref(), Some(&made[70].text));
        assert_eq!(text_of(last + 1), None);
        remove(&db, 7).unwrap();
        assert_eq!(text_of(first), None);
        assert!(text_of(first_passage(6)).is_some() && text_of(first_passage(8)).is_some());
    }

    #[test]
    fn damaged_rows_end_where_the_damage_is() {
        let made =
            extract(&NotePath::parse("n.md").unwrap(), b"One.\n\n# Two\n\nThree.\n").passages;
        let mut data = Vec::new();
        made.iter().for_each(|passage| write(passage, &mut data));
        for length in 0..=data.len() {
            assert!(in_row(0, &data[..length]).count() <= made.len());
            let mut other = data.clone();
            other.iter_mut().skip(length).for_each(|byte| *byte ^= 0xa5);
            in_row(0, &other).for_each(drop);
        }
        assert_eq!(in_row(0, &data).count(), made.len());
    }
}
