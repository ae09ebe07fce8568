//! Passages weighed by the lists of the passages that hold a word each. The word index is asked
//! once for every word and not once more for every passage, which takes most of the time where few
//! passages hold a word. The weights are those that its own function gives.

use memoranda_core::porter::porter_stem;
use memoranda_core::query::{QueryTerm, TermKind};
use memoranda_core::tokenize::fold;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::Result;
use crate::index::doc_lengths::{DocLengths, totals};

/// What a word is worth by where it stands, for the word index.
pub(super) const WEIGHTS: &str = "4.0, 2.0, 3.0, 1.0";

/// The same, by the name of the column.
fn weight(column: ValueRef<'_>) -> f64 {
    match column {
        ValueRef::Text(b"title") => 4.0,
        ValueRef::Text(b"heading") => 2.0,
        ValueRef::Text(b"tags") => 3.0,
        _ => 1.0,
    }
}

/// How little is gained when a word stands in a passage once more;
const SATURATION: f64 = 1.2;
/// how much is lost because a passage is long;
const LENGTH: f64 = 0.75;
/// and what a word is worth that half of all passages hold.
const LEAST_WORTH: f64 = 1e-6;

/// The longest words that the index stems.
const LONGEST: usize = 63;

/// All passages that hold a word, in order, each with how often, by what that is worth where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PostingList(Vec<(i64, f64)>);

impl PostingList {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// What was found of a word's list.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum PostingLookup {
    Complete(PostingList),
    /// It is as long as it may be, or longer: its beginning, from the first to the last.
    Truncated(i64, i64),
}

/// The list of a term, unless that is `most` passages long; `None` if there is no such list: the
/// term is more than one word, or one that the index may write in a way of its own.
pub(super) fn posting_list(
    db: &Connection,
    term: &QueryTerm,
    most: usize,
) -> Result<Option<PostingLookup>> {
    let [word] = term.words.as_slice() else { return Ok(None) };
    let is_plain = word.len() <= LONGEST && word.bytes().all(|b| b.is_ascii_alphanumeric());
    if term.kind != TermKind::Word || !is_plain {
        return Ok(None);
    }
    let mut select = db.prepare_cached("SELECT doc, col FROM word_places WHERE term = ?")?;
    let mut places = select.query([porter_stem(&fold(word))])?;
    let mut posting_list: Vec<(i64, f64)> = Vec::new();
    while let Some(place) = places.next()? {
        let (passage, weight) = (place.get(0)?, weight(place.get_ref(1)?));
        match posting_list.last_mut() {
            Some((last, often)) if *last == passage => *often += weight,
            _ => posting_list.push((passage, weight)),
        }
        if let (Some((first, _)), true) = (posting_list.first(), posting_list.len() == most) {
            return Ok(Some(PostingLookup::Truncated(*first, passage)));
        }
    }
    Ok(Some(PostingLookup::Complete(PostingList(posting_list))))
}

/// How well the passages of some lists match, in no order.
pub(super) fn bm25(
    db: &Connection,
    lists: &[&PostingList],
    lengths: &mut DocLengths<'_>,
) -> Result<Vec<(i64, f64)>> {
    let (passages, words) = totals(db)?;
    let average = words as f64 / passages as f64;
    let mut places = Vec::with_capacity(lists.iter().map(|posting_list| posting_list.len()).sum());
    for posting_list in lists {
        let held = posting_list.len() as f64;
        let worth = ((passages as f64 - held + 0.5) / (held + 0.5)).ln();
        let worth = if worth <= 0.0 { LEAST_WORTH } else { worth };
        places.extend(posting_list.0.iter().map(|&(passage, often)| (passage, often, worth)));
    }
    if lists.len() > 1 {
        places.sort_by_key(|(passage, ..)| *passage);
    }
    let mut weighed = Vec::with_capacity(places.len());
    for same in places.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(passage, ..)) = same.first() else { continue };
        let Some(length) = lengths.of(passage)? else { continue };
        let long = SATURATION * (1.0 - LENGTH + LENGTH * f64::from(length) / average);
        let score = same.iter().fold(0.0, |score, (_, often, worth)| {
            score + worth * (often * (SATURATION + 1.0) / (often + long))
        });
        weighed.push((passage, score));
    }
    Ok(weighed)
}

#[cfg(test)]
mod tests {
    use memoranda_core::query::Query;
    use proptest::prelude::*;

    use super::*;
    use crate::index::connection::IndexVersion;
    use crate::index::extract::ExtractedPassage;
    use crate::index::fts5_query::term_expression;
    use crate::index::vectors::{self, VectorCache};
    use crate::index::write::first_passage;

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn index(passages: &[[String; 4]], removed: usize) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        let insert = "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, ?, ?, ?, ?)";
        for (file, [title, heading, tags, body]) in (1..).zip(passages) {
            let first = first_passage(file);
            db.execute(insert, (first, title, heading, tags, body)).unwrap();
            db.execute(insert, (first + 1, "", heading, "", body)).unwrap();
            let told = [ExtractedPassage::empty("one"), ExtractedPassage::empty("two")];
            vectors::put(&db, (1, file), &told).unwrap();
        }
        for file in 1..=removed as i64 {
            let first = first_passage(file);
            db.execute("DELETE FROM words WHERE rowid IN (?, ?)", [first, first + 1]).unwrap();
            vectors::remove(&db, file).unwrap();
        }
        db
    }

    /// What the word index itself says of passages that hold any of some words.
    fn by_index(db: &Connection, query: &Query) -> Vec<(i64, f64)> {
        let terms: Vec<_> = query.terms.iter().map(term_expression).collect();
        let sql = format!(
            "SELECT rowid, -bm25(words, {WEIGHTS}) FROM words WHERE words MATCH ? ORDER BY rowid"
        );
        let mut select = db.prepare(&sql).unwrap();
        let rows = select.query_map([terms.join(" OR ")], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().map(std::result::Result::unwrap).collect()
    }

    fn texts() -> impl Strategy<Value = String> {
        let word = "(plan|Plans|planning|ox|Ox's|café|7|x_ox|[a-d]{1,3}(s|ed|ing|ly|ness|)) ";
        prop::collection::vec(word, 0..12).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lists_weigh_as_the_index_does(
            passages in prop::collection::vec([texts(), texts(), texts(), texts()], 1..20),
            removed in 0usize..4,
            asked in prop::collection::vec("plan|plans|OX|planned|7|[a-d]{1,3}(s|ed|ing|ly|ness|)", 1..4),
        ) {
            let db = index(&passages, removed);
            let query = Query::parse(&asked.join(" "));
            let mut lists = Vec::new();
            for term in &query.terms {
                match posting_list(&db, term, 100).unwrap() {
                    Some(PostingLookup::Complete(posting_list)) => lists.push(posting_list),
                    other => prop_assert!(false, "{term:?}: {other:?}"),
                }
            }
            prop_assume!(!lists.is_empty());
            let lists: Vec<_> = lists.iter().collect();
            let expected = by_index(&db, &query);
            let cache = VectorCache::default();
            let now = IndexVersion::of(&db).unwrap();
            cache.refresh(&db, now).unwrap();
            prop_assert!(cache.in_memory(now).is_some());
            for in_memory in [None, cache.in_memory(now)] {
                let mut lengths = DocLengths::new(&db, in_memory).unwrap();
                let weighed = bm25(&db, &lists, &mut lengths).unwrap();
                prop_assert_eq!(weighed.len(), expected.len());
                for (ours, theirs) in weighed.iter().zip(&expected) {
                    prop_assert_eq!(ours.0, theirs.0);
                    prop_assert!((ours.1 - theirs.1).abs() <= 1e-12 * theirs.1.abs(), "{ours:?} {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn only_words_that_few_passages_hold_have_lists() {
        let text = |body: &str| [String::new(), String::new(), String::new(), body.to_owned()];
        let db = index(&["plans and plans", "a planning", "ox", "мой naïve"].map(text), 0);
        let check = |asked: &str, most: usize, expected: Option<PostingLookup>| {
            let query = Query::parse(asked);
            assert_eq!(posting_list(&db, &query.terms[0], most).unwrap(), expected, "{asked}");
        };
        let place = |file: i64, at: i64, often: f64| (first_passage(file) + at, often);
        let plans = vec![place(1, 0, 2.0), place(1, 1, 2.0), place(2, 0, 1.0), place(2, 1, 1.0)];
        check("plan", 5, Some(PostingLookup::Complete(PostingList(plans))));
        check("plan", 4, Some(PostingLookup::Truncated(first_passage(1), first_passage(2) + 1)));
        check("plan", 1, Some(PostingLookup::Truncated(first_passage(1), first_passage(1))));
        check("nothing", 5, Some(PostingLookup::Complete(PostingList(Vec::new()))));
        check("\"plan ox\"", 5, None);
        check("pla*", 5, None);
        check("мой", 5, None);
        check("naïve", 5, None);
        check(&"x".repeat(64), 5, None);
    }
}
