//! Document frequencies of query terms, and corrections of words that no text contains: prefixes or
//! typos.

use memoranda_core::porter::porter_stem;
use memoranda_core::query::{
    Query, QueryTerm, TermKind, TermRequirement, edit_distance, max_typos, prefix_stem_words,
};
use memoranda_core::tokenize::{fold_for_index, is_unspaced, tokenize};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::postings::{PostingList, PostingLookup, posting_list};
use super::text_match::MAX_COMPARED;
use crate::error::Result;
use crate::index::fts5_query::term_expression;
use crate::index::passages;
use crate::index::write::PASSAGES_PER_FILE;

/// Minimum length of a word that is tried as a prefix.
const MIN_PREFIX_CHARS: usize = 3;
/// Shortest stem offered as a spelling correction.
const MIN_CORRECTION_CHARS: usize = 4;
/// Maximum number of stems that are counted for a prefix.
const MAX_PREFIX_STEMS: i64 = 100;

/// Number of passages at either end of the index from which a term's frequency is estimated.
const SAMPLE_PASSAGES: i64 = 400;
/// Maximum estimate for which the exact number is read.
const MAX_COUNTED_PASSAGES: i64 = 10_000;

/// A word that was replaced, because no text contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermCorrection {
    /// The word as typed.
    pub typed: String,
    /// The replacement, with `*` at the end for a prefix.
    pub meant: String,
    /// Position of the term in the query.
    pub term: usize,
}

/// The corrected query, with the number of passages that contain each term.
pub(super) struct TermStats {
    pub(super) query: Query,
    pub(super) holders: Vec<u64>,
    /// Posting lists of rare terms.
    pub(super) lists: Vec<Option<PostingList>>,
    pub(super) corrections: Vec<TermCorrection>,
}

/// Looks up every term.
pub(super) fn look_up_terms(db: &Connection, query: &Query) -> Result<TermStats> {
    let mut known = TermStats {
        query: query.clone(),
        holders: Vec::with_capacity(query.terms.len()),
        lists: Vec::with_capacity(query.terms.len()),
        corrections: Vec::new(),
    };
    for (at, term) in known.query.terms.iter_mut().enumerate() {
        let (mut held, posting_list) = holders(db, term)?;
        let is_word = term.kind == TermKind::Word && term.need != TermRequirement::Excluded;
        if held == 0
            && is_word
            && let Some(typed) = term.words.first().cloned()
        {
            let folded = fold_for_index(&typed).into_owned();
            if !folded.starts_with(is_unspaced) && folded.chars().count() >= MIN_PREFIX_CHARS {
                // A word that no stem starts with is rather a typo than a longer form of a shorter
                // stem.
                let slip = match stem_prefix_holders(db, &folded)? {
                    0 => likely_correction(db, &folded)?,
                    _ => None,
                };
                if let Some((meant, of)) = slip {
                    term.words = vec![meant];
                    held = of;
                } else {
                    held = prefix_holders(db, &folded)?;
                    term.kind = if held > 0 { TermKind::Prefix } else { term.kind };
                }
            }
            if held > 0 {
                let star = if term.kind == TermKind::Prefix { "*" } else { "" };
                let meant = format!("{}{star}", term.words.join(" "));
                known.corrections.push(TermCorrection { typed, meant, term: at });
            }
        }
        known.holders.push(held);
        known.lists.push(posting_list);
    }
    Ok(known)
}

/// Returns the number of passages with a term, possibly estimated, and its posting list if it is
/// rare.
fn holders(db: &Connection, term: &QueryTerm) -> Result<(u64, Option<PostingList>)> {
    let oldest = match posting_list(db, term, SAMPLE_PASSAGES as usize)? {
        Some(PostingLookup::Complete(posting_list)) if posting_list.len() > 0 => {
            return Ok((posting_list.len() as u64, Some(posting_list)));
        }
        Some(PostingLookup::Truncated(first, last)) => Some((first, last)),
        Some(PostingLookup::Complete(_)) | None => None,
    };
    let held = match (term.kind, term.words.as_slice()) {
        // FTS5 may tokenize it differently.
        (TermKind::Prefix, [word]) => match prefix_holders(db, &fold_for_index(word))? {
            0 => count_matches(db, term)?,
            held => held,
        },
        (TermKind::Word, [word]) => match estimate_holders(db, &term_expression(term), oldest)? {
            TermEstimate::Exact(held) => held,
            TermEstimate::Approximate(guess) if guess > MAX_COUNTED_PASSAGES as u64 => guess,
            TermEstimate::Approximate(guess) => {
                match stem_holders(db, &porter_stem(&fold_for_index(word)))? {
                    0 => guess,
                    held => held,
                }
            }
        },
        _ => count_matches(db, term)?,
    };
    Ok((held, None))
}

/// Counts the passages with a term, up to the maximum that is compared.
fn count_matches(db: &Connection, term: &QueryTerm) -> Result<u64> {
    let mut count = db
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)")?;
    let expression = term_expression(term);
    let held: i64 = count.query_row(params![expression, MAX_COMPARED + 1], |row| row.get(0))?;
    Ok(held as u64)
}

/// Number of passages with a word.
enum TermEstimate {
    /// The exact number.
    Exact(u64),
    /// An estimate.
    Approximate(u64),
}

/// Estimates the number of passages with a word from the newest and the oldest of them, because
/// counting a common word reads all of its passages. The lower estimate is used. `oldest` can be
/// given if it is known.
fn estimate_holders(
    db: &Connection,
    expression: &str,
    oldest: Option<(i64, i64)>,
) -> Result<TermEstimate> {
    let mut ends = [oldest, None];
    for (order, end) in ["ASC", "DESC"].into_iter().zip(&mut ends) {
        if end.is_some() {
            continue;
        }
        let mut select = db.prepare_cached(&format!(
            "SELECT count(*), min(rowid), max(rowid) FROM ( \
               SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid {order} LIMIT ?)"
        ))?;
        let (held, first, last): (i64, Option<i64>, Option<i64>) = select
            .query_row(params![expression, SAMPLE_PASSAGES], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        *end = first.zip(last).filter(|_| held == SAMPLE_PASSAGES);
        if end.is_none() {
            return Ok(TermEstimate::Exact(held as u64));
        }
    }
    let [oldest, newest] = ends.map(Option::unwrap_or_default);
    let range = (newest.1 - oldest.0) as f64;
    let guess =
        |(first, last): (i64, i64)| SAMPLE_PASSAGES as f64 * range / (last - first).max(1) as f64;
    Ok(TermEstimate::Approximate(guess(oldest).min(guess(newest)) as u64))
}

fn stem_holders(db: &Connection, stem: &str) -> Result<u64> {
    let mut select = db.prepare_cached("SELECT doc FROM word_counts WHERE term = ?")?;
    let held: Option<i64> = select.query_row([stem], |row| row.get(0)).optional()?;
    Ok(held.unwrap_or(0) as u64)
}

/// Counts the passages with a prefix, including stems shorter than the prefix.
fn prefix_holders(db: &Connection, begin: &str) -> Result<u64> {
    let mut held = stem_prefix_holders(db, begin)?;
    for word in prefix_stem_words(begin) {
        held += stem_holders(db, &porter_stem(&word))?;
    }
    Ok(held)
}

/// Counts the passages with a stem that starts with a prefix.
fn stem_prefix_holders(db: &Connection, begin: &str) -> Result<u64> {
    let mut select = db.prepare_cached(
        "SELECT sum(doc) FROM (SELECT doc FROM word_counts WHERE term >= ?1 AND term < ?2 LIMIT ?3)",
    )?;
    let end = format!("{begin}\u{10ffff}");
    let held: Option<i64> =
        select.query_row(params![begin, end, MAX_PREFIX_STEMS], |row| row.get(0))?;
    Ok(held.unwrap_or(0) as u64)
}

/// Returns the most likely correction: fewest typos, then most common. The first letter must match,
/// since it is rarely mistyped.
fn likely_correction(db: &Connection, folded: &str) -> Result<Option<(String, u64)>> {
    let stem = porter_stem(folded);
    let most = max_typos(folded, &stem);
    let Some(first) = folded.chars().next().filter(|c| most > 0 && c.is_alphabetic()) else {
        return Ok(None);
    };
    let mut select =
        db.prepare_cached("SELECT term, doc FROM word_counts WHERE term >= ?1 AND term < ?2")?;
    let end = char::from_u32(first as u32 + 1).unwrap_or(char::MAX);
    let mut rows = select.query(params![first.to_string(), end.to_string()])?;
    let mut best: Option<(usize, i64, String, String)> = None;
    while let Some(row) = rows.next()? {
        let term = row.get_ref(0)?.as_str().unwrap_or_default();
        let is_short = term.chars().nth(MIN_CORRECTION_CHARS - 1).is_none();
        let Some(slips) = edit_distance(&stem, term, most).filter(|_| !is_short) else { continue };
        let held: i64 = row.get(1)?;
        let is_better = best
            .as_ref()
            .is_none_or(|(least, commonest, ..)| (slips, -held) < (*least, -*commonest));
        if is_better && let Some(word) = word_of(term) {
            best = Some((slips, held, term.to_owned(), word));
        }
    }
    let Some((_, held, stem, word)) = best else { return Ok(None) };
    Ok(Some((displayed_word(db, &stem, &word)?.unwrap_or(word), held as u64)))
}

/// Returns a word with this stem as it occurs in a text, for display.
fn displayed_word(db: &Connection, stem: &str, word: &str) -> Result<Option<String>> {
    let mut select = db.prepare_cached(&format!(
        "SELECT words.rowid, f.title FROM words \
         JOIN files f ON f.id = words.rowid / {PASSAGES_PER_FILE} WHERE words MATCH ? LIMIT 1"
    ))?;
    let expression = format!("\"{}\"", word.replace('"', "\"\""));
    let found = select.query_row([expression], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
    let Some((passage, title)) = found.optional()? else { return Ok(None) };
    // The word can be in the overlap with the next passage.
    let mut text = title;
    passages::each(db, passage..=passage + 1, |kept| {
        text.extend([" ", kept.text, " ", kept.heading]);
    })?;
    Ok(tokenize(&text)
        .map(|word| fold_for_index(word.text).into_owned())
        .find(|word| porter_stem(word) == stem))
}

/// Returns a word that is stemmed to this stem, because the query is stemmed again: `coffe` would
/// become `coff`.
fn word_of(stem: &str) -> Option<String> {
    let prefix_holders = ["", "e", "s", "y", "ed", "ing", "al", "er"];
    prefix_holders
        .map(|ending| format!("{stem}{ending}"))
        .into_iter()
        .find(|word| porter_stem(word) == stem)
}

#[cfg(test)]
mod tests {
    use memoranda_core::tokenize::index_text;

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn a_word_is_kept_as_the_index_keeps_it() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        let insert =
            "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, '', '', '', ?)";
        let letters = ['0'..='\u{24f}', '\u{370}'..='\u{556}', '\u{1e00}'..='\u{1fff}'];
        let letters = letters.into_iter().flatten().filter(|c| c.is_alphabetic());
        for letter in letters.clone() {
            db.execute(insert, (u32::from(letter), index_text(&format!("a{letter}")))).unwrap();
        }
        let mut term = db.prepare("SELECT term FROM word_places WHERE doc = ?").unwrap();
        let other = letters.filter(|&letter| {
            let found: String = term.query_row([u32::from(letter)], |row| row.get(0)).unwrap();
            found != fold_for_index(&format!("a{letter}"))
        });
        // Signs in the shape of letters, letters that two alphabets share, and some of few languages.
        assert_eq!(other.collect::<String>(), "µſǠǡͿϐϑϕϖϰϱϵԨԪԬԮẛ");
    }
}
