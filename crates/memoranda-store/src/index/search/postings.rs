//! Posting lists of rare words, and the BM25 scores of their passages.
//!
//! FTS5's `bm25()` queries the index once per passage, which dominates the time of a search for rare
//! words. Here the index is queried once per word. The scores equal those of `bm25()`.

use memoranda_core::porter::porter_stem;
use memoranda_core::query::{QueryTerm, TermKind};
use memoranda_core::tokenize::fold;
use rusqlite::Connection;

use super::bm25::{bm25_score, column_weight, inverse_document_frequency};
use super::scope::SearchScope;
use crate::error::Result;
use crate::index::doc_lengths::DocLengths;

/// Maximum length in bytes of a word that the FTS5 tokenizer stems.
const MAX_STEMMED_BYTES: usize = 63;

/// All passages of a scope that contain a word, in ascending order, each with the weighted term frequency.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PostingList(Vec<(i64, f64)>);

impl PostingList {
    /// Makes a list of passages in ascending order, each with the weighted term frequency.
    pub(super) fn new(postings: Vec<(i64, f64)>) -> Self {
        Self(postings)
    }

    /// Returns true if the list contains a passage.
    pub(super) fn contains(&self, passage: i64) -> bool {
        self.0.binary_search_by_key(&passage, |(passage, _)| *passage).is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The posting list of a word, if it is short enough.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum PostingLookup {
    Complete(PostingList),
    /// The list reached the maximum length: the first and the last passage of the part that was read.
    Truncated(i64, i64),
}

/// Reads the posting list of a term within a scope, up to `most` passages. `None` if the term is a
/// phrase or a prefix or has several forms, or if FTS5 may tokenize its word differently.
pub(super) fn posting_list(
    db: &Connection,
    term: &QueryTerm,
    scope: &SearchScope,
    most: usize,
) -> Result<Option<PostingLookup>> {
    let [word] = term.words.as_slice() else { return Ok(None) };
    let is_plain =
        word.len() <= MAX_STEMMED_BYTES && word.bytes().all(|b| b.is_ascii_alphanumeric());
    if term.kind != TermKind::Word || !is_plain || !term.forms.is_empty() {
        return Ok(None);
    }
    let mut select = db.prepare_cached("SELECT doc, col FROM word_places WHERE term = ?")?;
    let mut places = select.query([porter_stem(&fold(word))])?;
    let mut posting_list: Vec<(i64, f64)> = Vec::new();
    while let Some(place) = places.next()? {
        let passage = place.get(0)?;
        if !scope.covers(passage) {
            continue;
        }
        let weight = column_weight(place.get_ref(1)?);
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

/// Computes the BM25 score of every passage in some posting lists, in ascending order of passages.
/// `passages` is the number of passages that were searched. Without an average length that of the
/// listed passages is used, on which passages outside of the scope have no influence.
pub(super) fn bm25(
    passages: u64,
    average_length: Option<f64>,
    lists: &[&PostingList],
    lengths: &mut DocLengths<'_>,
) -> Result<Vec<(i64, f64)>> {
    let mut postings = Vec::with_capacity(lists.iter().map(|list| list.len()).sum());
    for list in lists {
        let idf = inverse_document_frequency(passages, list.len());
        postings.extend(list.0.iter().map(|&(passage, frequency)| (passage, frequency, idf)));
    }
    if lists.len() > 1 {
        postings.sort_by_key(|(passage, ..)| *passage);
    }
    let mut found = Vec::with_capacity(postings.len());
    for same in postings.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(passage, ..)) = same.first() else { continue };
        let Some(length) = lengths.of(passage)? else { continue };
        found.push((passage, length, same));
    }
    let words: f64 = found.iter().map(|&(_, length, _)| f64::from(length)).sum();
    let average_length = average_length.unwrap_or((words / found.len() as f64).max(1.0));
    let score = |&(passage, length, same): &(i64, u32, &[(i64, f64, f64)])| {
        let terms = same.iter().map(|&(_, frequency, idf)| (frequency, idf));
        (passage, bm25_score(length, average_length, terms))
    };
    Ok(found.iter().map(score).collect())
}

#[cfg(test)]
mod tests {
    use memoranda_core::query::Query;
    use proptest::prelude::*;

    use super::super::bm25::bm25_sql;
    use super::*;
    use crate::index::connection::IndexVersion;
    use crate::index::doc_lengths::totals;
    use crate::index::extract::ExtractedPassage;
    use crate::index::fts5_query::term_expression;
    use crate::index::search::{FilterSql, SearchFilter};
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

    fn whole(db: &Connection) -> SearchScope {
        let everything = FilterSql::new(&Query::default(), &SearchFilter::default());
        SearchScope::read(db, &everything).unwrap()
    }

    /// Scores of FTS5 itself for passages with any of some words.
    fn by_index(db: &Connection, query: &Query) -> Vec<(i64, f64)> {
        let terms: Vec<_> = query.terms.iter().map(term_expression).collect();
        let sql =
            format!("SELECT rowid, -{} FROM words WHERE words MATCH ? ORDER BY rowid", bm25_sql());
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
        fn scores_equal_those_of_fts5(
            passages in prop::collection::vec([texts(), texts(), texts(), texts()], 1..20),
            removed in 0usize..4,
            asked in prop::collection::vec("plan|plans|OX|planned|7|[a-d]{1,3}(s|ed|ing|ly|ness|)", 1..4),
        ) {
            let db = index(&passages, removed);
            let query = Query::parse(&asked.join(" "));
            let mut lists = Vec::new();
            for term in &query.terms {
                match posting_list(&db, term, &whole(&db), 100).unwrap() {
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
                let (passages, words) = totals(&db).unwrap();
                let average = words as f64 / passages as f64;
                let weighed = bm25(passages, Some(average), &lists, &mut lengths).unwrap();
                prop_assert_eq!(weighed.len(), expected.len());
                for (ours, theirs) in weighed.iter().zip(&expected) {
                    prop_assert_eq!(ours.0, theirs.0);
                    prop_assert!((ours.1 - theirs.1).abs() <= 1e-12 * theirs.1.abs(), "{ours:?} {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn only_rare_plain_words_have_posting_lists() {
        let text = |body: &str| [String::new(), String::new(), String::new(), body.to_owned()];
        let db = index(&["plans and plans", "a planning", "ox", "мой naïve"].map(text), 0);
        let check = |asked: &str, most: usize, expected: Option<PostingLookup>| {
            let query = Query::parse(asked);
            assert_eq!(
                posting_list(&db, &query.terms[0], &whole(&db), most).unwrap(),
                expected,
                "{asked}"
            );
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
