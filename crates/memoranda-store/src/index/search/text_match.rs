//! Scores the passages with the words of a query.
//!
//! A common word must not require reading all of its passages. The rarest words select the
//! passages, as many words as the limit allows. The other words count when the best passages are
//! ranked.

use memoranda_core::query::{Query, QueryTerm, TermRequirement};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::bm25::bm25_sql;
use super::caches::SearchCaches;
use super::filter_sql::FilterSql;
use super::postings::{PostingList, bm25};
use super::term_stats::TermStats;
use crate::error::Result;
use crate::index::doc_lengths::DocLengths;
use crate::index::fts5_query::match_expression;
use crate::index::write::PASSAGES_PER_FILE;

/// Maximum number of passages that are compared.
pub(super) const MAX_COMPARED: i64 = 2000;
/// Number of passages with the two rarest words that makes others unnecessary.
const ENOUGH_PASSAGES_WITH_BOTH: usize = 30;

/// Scored passages.
pub(super) struct TextMatches {
    /// The passages with their scores, best first.
    pub(super) best: Vec<(i64, f64)>,
    /// True if more passages match than were compared.
    pub(super) partial: bool,
}

/// Scores at most `most` of the passages that match a query and a condition.
pub(super) fn match_text(
    db: &Connection,
    known: &TermStats,
    caches: Option<&SearchCaches<'_>>,
    condition: &FilterSql,
    most: i64,
) -> Result<Option<TextMatches>> {
    let TermStats { query, holders, lists, .. } = known;
    let mut optional: Vec<(u64, usize)> = holders
        .iter()
        .copied()
        .zip(0..query.terms.len())
        .filter(|&(_, at)| {
            query.terms.get(at).is_some_and(|term| term.need == TermRequirement::Optional)
        })
        .collect();
    optional.sort_unstable();
    let is_demanding =
        query.terms.iter().any(|term| term.need == TermRequirement::Required || term.groups != 0);
    let mut room = most as u64;
    let mut chosen = Vec::new();
    for &(held, at) in optional.iter().filter(|(held, _)| *held > 0) {
        if !is_demanding && !chosen.is_empty() && held > room {
            break;
        }
        room = room.saturating_sub(held);
        chosen.push(at);
    }
    // Required terms can occur anywhere in a note, as the condition tests. The rarest of them
    // selects the passages.
    let demanded = holders.iter().zip(&query.terms).enumerate();
    let demanded = demanded.filter(|(_, (_, term))| term.need == TermRequirement::Required);
    let demanded = demanded.min_by_key(|(_, (held, _))| **held).map(|(at, _)| at);
    let with = |chosen: &[usize], need: TermRequirement| {
        let mut asked = Query::default();
        for (at, term) in query.terms.iter().enumerate() {
            let need = match term.need {
                TermRequirement::Required if demanded == Some(at) => TermRequirement::Required,
                TermRequirement::Required => TermRequirement::Optional,
                TermRequirement::Optional if chosen.contains(&at) => need,
                TermRequirement::Optional | TermRequirement::Excluded => continue,
            };
            asked.terms.push(QueryTerm { need, ..term.clone() });
        }
        match_expression(&asked)
    };
    let rarest: Vec<usize> = optional.iter().map(|&(_, at)| at).take(2).collect();
    let are_common = optional.first().is_some_and(|&(held, _)| held > most as u64);
    if are_common && rarest.len() == 2 && !is_demanding {
        // All words are common: passages with two of them are preferred to the newest.
        if let Some(both) = with(&rarest, TermRequirement::Required) {
            let compared = newest_matching(db, both, condition, most)?;
            if compared.best.len() >= ENOUGH_PASSAGES_WITH_BOTH {
                return Ok(Some(TextMatches { partial: true, ..compared }));
            }
        }
    }
    if !is_demanding && !condition.is_expensive() {
        chosen.sort_unstable();
        let lists = chosen.iter().map(|&at| lists.get(at)?.as_ref());
        let lists: Vec<_> = lists.collect::<Option<_>>().unwrap_or_default();
        let room = 1..=most as usize;
        if room.contains(&lists.iter().map(|posting_list: &&PostingList| posting_list.len()).sum())
        {
            let in_memory = caches.and_then(|caches| caches.table.in_memory(caches.now));
            let weighed = bm25(db, &lists, &mut DocLengths::new(db, in_memory)?)?;
            let best = fitting(db, caches, weighed, condition)?;
            return Ok(Some(TextMatches { best: in_order(best), partial: false }));
        }
    }
    match with(&chosen, TermRequirement::Optional) {
        Some(expression) => newest_matching(db, expression, condition, most).map(Some),
        None => Ok(None),
    }
}

/// Scores the newest passages that match, at most `most`.
fn newest_matching(
    db: &Connection,
    expression: String,
    condition: &FilterSql,
    most: i64,
) -> Result<TextMatches> {
    // Filter in SQL, so that only matching passages are scored, up to the limit.
    let fitting = if condition.is_unrestricted() {
        String::from("WHERE words MATCH ?")
    } else {
        format!(
            "CROSS JOIN files f ON f.id = words.rowid / {PASSAGES_PER_FILE} \
             WHERE words MATCH ? AND {}",
            condition.sql
        )
    };
    let mut query = db.prepare_cached(&format!(
        "SELECT words.rowid, {} FROM words {fitting} ORDER BY words.rowid DESC LIMIT ?",
        bm25_sql()
    ))?;
    let mut values = vec![Value::Text(expression)];
    values.extend(condition.values.iter().cloned());
    values.push(Value::Integer(most + 1));
    let rows = query
        .query_map(params_from_iter(values), |row| Ok((row.get(0)?, -row.get::<_, f64>(1)?)))?;
    let mut best = rows.collect::<rusqlite::Result<Vec<(i64, f64)>>>()?;
    let partial = best.len() as i64 > most;
    best.truncate(most as usize);
    Ok(TextMatches { best: in_order(best), partial })
}

/// Returns those passages that match a condition.
fn fitting(
    db: &Connection,
    caches: Option<&SearchCaches<'_>>,
    passages: Vec<(i64, f64)>,
    condition: &FilterSql,
) -> Result<Vec<(i64, f64)>> {
    if condition.is_unrestricted() {
        return Ok(passages);
    }
    let mut check = condition.check(db, caches)?;
    let mut fitting = Vec::with_capacity(passages.len());
    for (passage, score) in passages {
        if check.fits(passage / PASSAGES_PER_FILE)? {
            fitting.push((passage, score));
        }
    }
    Ok(fitting)
}

/// Sorts by score, best first.
fn in_order(mut best: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    best
}
