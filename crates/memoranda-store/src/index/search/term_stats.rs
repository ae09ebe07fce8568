//! Document frequencies of query terms within a scope, further words that begin with a term, and
//! corrections of words that no text of the scope contains: prefixes or typos.

use std::collections::BTreeMap;

use memoranda_core::porter::porter_stem;
use memoranda_core::query::{
    Query, QueryTerm, TermKind, TermRequirement, edit_distance, max_typos,
};
use memoranda_core::tokenize::{fold_for_index, is_unspaced, tokenize};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::postings::{PostingList, PostingLookup, posting_list};
use super::scope::SearchScope;
use super::scope_words::ScopeWords;
use crate::error::Result;
use crate::index::fts5_query::term_expression;
use crate::index::passages;
use crate::index::search::word_forms::FormLookup;
use crate::index::write::PASSAGES_PER_FILE;

/// Minimum length of a word that is tried as a prefix.
const MIN_PREFIX_CHARS: usize = 3;
/// Minimum length of a word that matches longer words although texts contain it.
const MIN_BEGINNING_CHARS: usize = 4;
/// Number of passages with a word from which on longer words are not counted: they rank below it.
const ENOUGH_EXACT_PASSAGES: u64 = 40;
/// Maximum number of longer words, and of their passages, for one word.
const MAX_BEGINNINGS: usize = 16;
const MAX_BEGINNING_PASSAGES: usize = 400;
/// Term frequency of a longer word, compared with the word itself.
const BEGINNING_WEIGHT: f64 = 0.25;
/// Shortest stem offered as a spelling correction.
const MIN_CORRECTION_CHARS: usize = 4;

/// Number of passages at either end of the scope from which a term's frequency is estimated.
const SAMPLE_PASSAGES: usize = 400;

/// Maximum estimate for which the passages are counted.
const MAX_COUNTED_PASSAGES: u64 = 2_000;

/// A word that was replaced, because no text of the scope contains it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TermCorrection {
    /// The word as typed.
    pub typed: String,
    /// The replacement, with `*` at the end for a prefix.
    pub meant: String,
    /// A word of the scope that begins with the word as typed, if that is how it was read.
    pub example: Option<String>,
    /// Position of the term in the query.
    pub term: usize,
}

/// The corrected query, with the number of passages of the scope that contain each term.
pub(super) struct TermStats {
    pub(super) query: Query,
    pub(super) holders: Vec<u64>,
    /// Posting lists of rare terms.
    pub(super) lists: Vec<Option<PostingList>>,
    /// Posting lists of longer words that begin with a term.
    pub(super) beginnings: Vec<Option<PostingList>>,
    pub(super) corrections: Vec<TermCorrection>,
}

/// Looks up every term in a scope, in a table of its own if it is small.
pub(super) fn look_up_terms(
    db: &Connection,
    query: &Query,
    scope: &SearchScope,
) -> Result<TermStats> {
    let mut known = TermStats {
        query: query.clone(),
        holders: Vec::with_capacity(query.terms.len()),
        lists: Vec::with_capacity(query.terms.len()),
        beginnings: Vec::with_capacity(query.terms.len()),
        corrections: Vec::new(),
    };
    if scope.passages() == 0 {
        // No passage contains a word, nor another one that could replace it.
        known.holders.resize(query.terms.len(), 0);
        known.lists.resize_with(query.terms.len(), || None);
        known.beginnings.resize_with(query.terms.len(), || None);
        return Ok(known);
    }
    let own = scope.words().map(ScopeWords::tables);
    let words = own.as_deref().unwrap_or(db);
    let forms = FormLookup::new(words, query, scope)?;
    for (at, term) in known.query.terms.iter_mut().enumerate() {
        term.forms = forms.of(term)?;
        let (mut held, mut list) = holders(words, term, scope)?;
        let mut beginnings = None;
        let is_word = term.kind == TermKind::Word && term.need != TermRequirement::Excluded;
        let typed = term.words.first().filter(|_| is_word).cloned();
        let folded = typed.as_ref().map(|typed| fold_for_index(typed).into_owned());
        let is_long = |folded: &String, least: usize| {
            !folded.starts_with(is_unspaced) && folded.chars().count() >= least
        };
        let is_optional = term.need == TermRequirement::Optional && term.groups == 0;
        if held == 0
            && let Some((typed, folded)) = typed.zip(folded.as_ref())
        {
            if is_long(folded, MIN_PREFIX_CHARS) {
                // A word that no stem starts with is rather a typo than a longer form of a shorter
                // stem.
                let slip = if has_stem_with_prefix(words, folded, scope)? {
                    None
                } else {
                    likely_correction((db, words), folded, scope)?
                };
                if let Some(meant) = slip {
                    term.words = vec![meant];
                    (held, list) = holders(words, term, scope)?;
                } else {
                    let begun = QueryTerm { kind: TermKind::Prefix, ..term.clone() };
                    held = estimate_holders(words, &term_expression(&begun), None, scope)?;
                    term.kind = if held > 0 { TermKind::Prefix } else { term.kind };
                }
            }
            if held > 0 {
                let star = if term.kind == TermKind::Prefix { "*" } else { "" };
                let meant = format!("{}{star}", term.words.join(" "));
                let example = match term.kind {
                    TermKind::Prefix => first_word_with_prefix((db, words), term, folded, scope)?,
                    TermKind::Word | TermKind::Phrase => None,
                };
                known.corrections.push(TermCorrection { typed, meant, example, term: at });
            }
        } else if held < ENOUGH_EXACT_PASSAGES
            && is_optional
            && let Some(folded) = folded.filter(|folded| is_long(folded, MIN_BEGINNING_CHARS))
        {
            let (stems, passages) = longer_words(words, &folded, &term.forms, scope)?;
            term.beginnings = stems;
            beginnings = Some(passages).filter(|passages| passages.len() > 0);
        }
        known.holders.push(held);
        known.lists.push(list);
        known.beginnings.push(beginnings);
    }
    Ok(known)
}

/// Returns the number of passages with a term, possibly estimated, and its posting list if it is
/// rare.
fn holders(
    db: &Connection,
    term: &QueryTerm,
    scope: &SearchScope,
) -> Result<(u64, Option<PostingList>)> {
    let oldest = match posting_list(db, term, scope, SAMPLE_PASSAGES)? {
        Some(PostingLookup::Complete(list)) => {
            return Ok((list.len() as u64, Some(list).filter(|list| list.len() > 0)));
        }
        Some(PostingLookup::Truncated(first, last)) => Some((first, last)),
        None => None,
    };
    Ok((estimate_holders(db, &term_expression(term), oldest, scope)?, None))
}

/// Estimates the number of passages with a term from the newest and the oldest of them, because
/// counting a common word reads all of its passages. The lower estimate is used. A number up to
/// the size of the sample is exact. `oldest` can be given if it is known.
fn estimate_holders(
    db: &Connection,
    expression: &str,
    oldest: Option<(i64, i64)>,
    scope: &SearchScope,
) -> Result<u64> {
    let mut ends = [oldest, None];
    for (order, end) in ["ASC", "DESC"].into_iter().zip(&mut ends) {
        if end.is_some() {
            continue;
        }
        let mut select = db.prepare_cached(&format!(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid {order}"
        ))?;
        let mut rows = select.query([expression])?;
        let (mut held, mut range) = (0, None);
        while held < SAMPLE_PASSAGES
            && let Some(row) = rows.next()?
        {
            let passage: i64 = row.get(0)?;
            if scope.covers(passage) {
                held += 1;
                let (first, last) = range.unwrap_or((passage, passage));
                range = Some((first.min(passage), last.max(passage)));
            }
        }
        if held < SAMPLE_PASSAGES {
            return Ok(held as u64);
        }
        *end = range;
    }
    let place = |(first, last): (i64, i64)| (scope.position(first), scope.position(last));
    let [oldest, newest] = ends.map(Option::unwrap_or_default).map(place);
    let range = newest.1.saturating_sub(oldest.0) as f64;
    let guess = |(first, last): (u64, u64)| {
        SAMPLE_PASSAGES as f64 * range / last.saturating_sub(first).max(1) as f64
    };
    let guess = guess(oldest).min(guess(newest)) as u64;
    if guess <= MAX_COUNTED_PASSAGES {
        return count_holders(db, expression, scope);
    }
    Ok(guess.min(scope.passages()).max(SAMPLE_PASSAGES as u64))
}

/// Counts the passages of the scope with a term.
fn count_holders(db: &Connection, expression: &str, scope: &SearchScope) -> Result<u64> {
    let mut select = db.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?")?;
    let mut rows = select.query([expression])?;
    let mut held = 0;
    while let Some(row) = rows.next()? {
        held += u64::from(scope.covers(row.get(0)?));
    }
    Ok(held)
}

/// Returns true if the scope contains a stem that starts with a prefix.
fn has_stem_with_prefix(db: &Connection, begin: &str, scope: &SearchScope) -> Result<bool> {
    let mut select =
        db.prepare_cached("SELECT doc FROM word_places WHERE term >= ?1 AND term < ?2")?;
    let mut places = select.query(params![begin, format!("{begin}\u{10ffff}")])?;
    while let Some(place) = places.next()? {
        if scope.covers(place.get(0)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the stems of the scope that begin with a word, other than its own, and the passages with
/// them.
fn longer_words(
    db: &Connection,
    begin: &str,
    forms: &[String],
    scope: &SearchScope,
) -> Result<(Vec<String>, PostingList)> {
    let mut select =
        db.prepare_cached("SELECT term, doc FROM word_places WHERE term >= ?1 AND term < ?2")?;
    let mut places = select.query(params![begin, format!("{begin}\u{10ffff}")])?;
    let forms = forms.iter().map(|form| porter_stem(form));
    let own: Vec<String> = std::iter::once(porter_stem(begin)).chain(forms).collect();
    let mut stems: Vec<String> = Vec::new();
    let mut passages: BTreeMap<i64, f64> = BTreeMap::new();
    while let Some(place) = places.next()? {
        let (stem, passage) = (place.get_ref(0)?.as_str().unwrap_or_default(), place.get(1)?);
        if own.iter().any(|own| own == stem) || !scope.covers(passage) {
            continue;
        }
        if stems.last().is_none_or(|last| last != stem) {
            if stems.len() == MAX_BEGINNINGS || passages.len() >= MAX_BEGINNING_PASSAGES {
                break;
            }
            stems.push(stem.to_owned());
        }
        *passages.entry(passage).or_default() += BEGINNING_WEIGHT;
    }
    Ok((stems, PostingList::new(passages.into_iter().collect())))
}

/// Returns a word of the scope that begins with a prefix.
fn first_word_with_prefix(
    (db, words): (&Connection, &Connection),
    term: &QueryTerm,
    begin: &str,
    scope: &SearchScope,
) -> Result<Option<String>> {
    let mut select =
        words.prepare_cached("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid")?;
    let mut rows = select.query([term_expression(term)])?;
    while let Some(row) = rows.next()? {
        let passage = row.get(0)?;
        if scope.covers(passage) {
            return find_word(db, passage, |word| word.starts_with(begin));
        }
    }
    Ok(None)
}

/// Returns the most likely correction: fewest typos, then most common in the scope. The first letter
/// must match, since it is rarely mistyped.
fn likely_correction(
    (db, words): (&Connection, &Connection),
    folded: &str,
    scope: &SearchScope,
) -> Result<Option<String>> {
    let stem = porter_stem(folded);
    let most = max_typos(folded, &stem);
    let Some(first) = folded.chars().next().filter(|c| most > 0 && c.is_alphabetic()) else {
        return Ok(None);
    };
    let mut select =
        words.prepare_cached("SELECT term FROM word_counts WHERE term >= ?1 AND term < ?2")?;
    let end = char::from_u32(first as u32 + 1).unwrap_or(char::MAX);
    let mut rows = select.query(params![first.to_string(), end.to_string()])?;
    let mut alike: Vec<(usize, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let term = row.get_ref(0)?.as_str().unwrap_or_default();
        let is_short = term.chars().nth(MIN_CORRECTION_CHARS - 1).is_none();
        let slips = edit_distance(&stem, term, most).filter(|_| !is_short);
        alike.extend(slips.map(|slips| (slips, term.to_owned())));
    }
    alike.sort();
    let mut best: Option<(usize, usize, String)> = None;
    for (slips, term) in alike {
        if best.as_ref().is_some_and(|(least, ..)| *least < slips) {
            break;
        }
        let (held, passage) = passages_with_stem(words, &term, scope)?;
        let is_better = best.as_ref().is_none_or(|(_, most, _)| held > *most);
        if let Some(passage) = passage.filter(|_| is_better)
            && let Some(word) = word_of(&term)
        {
            let shown = find_word(db, passage, |word| porter_stem(word) == term)?;
            best = Some((slips, held, shown.unwrap_or(word)));
        }
    }
    Ok(best.map(|(.., word)| word))
}

/// Counts the passages of the scope with a stem, up to the size of a sample, and returns the first
/// of them.
pub(super) fn passages_with_stem(
    db: &Connection,
    stem: &str,
    scope: &SearchScope,
) -> Result<(usize, Option<i64>)> {
    let mut select = db.prepare_cached("SELECT doc FROM word_places WHERE term = ?")?;
    let mut places = select.query([stem])?;
    let (mut held, mut first, mut last) = (0, None, None);
    while held < SAMPLE_PASSAGES
        && let Some(place) = places.next()?
    {
        let passage: i64 = place.get(0)?;
        if last != Some(passage) && scope.covers(passage) {
            held += 1;
            first = first.or(Some(passage));
            last = Some(passage);
        }
    }
    Ok((held, first))
}

/// Returns the first word of a passage or of the title of its note that passes a test.
fn find_word(
    db: &Connection,
    passage: i64,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Option<String>> {
    let mut select = db.prepare_cached("SELECT title FROM files WHERE id = ?")?;
    let title = select.query_row([passage / PASSAGES_PER_FILE], |row| row.get(0)).optional()?;
    // The word can be in the overlap with the next passage.
    let mut text: String = title.unwrap_or_default();
    passages::each(db, passage..=passage + 1, |kept| {
        text.extend([" ", kept.text, " ", kept.heading]);
    })?;
    Ok(tokenize(&text)
        .map(|word| fold_for_index(word.text).into_owned())
        .find(|word| is_wanted(word)))
}

/// Returns a word that is stemmed to this stem, because the query is stemmed again: `coffe` would
/// become `coff`.
pub(super) fn word_of(stem: &str) -> Option<String> {
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
