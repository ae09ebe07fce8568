//! Passages that hold the words of a query, compared with each other.
//!
//! A common word must not cost a look at everything that holds it. So the rarest words say which
//! passages are looked at, as many words as there is room for; the others are weighed when the
//! best passages are read.

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

/// No more passages than this are compared with each other.
pub(super) const MAX_COMPARED: i64 = 2000;
/// So many passages that hold the two rarest words are enough to need no others.
const ENOUGH_WITH_BOTH: usize = 30;

/// Passages that were compared with each other.
pub(super) struct TextMatches {
    /// The passages and how well they match, best first.
    pub(super) best: Vec<(i64, f64)>,
    /// Whether more match than were compared.
    pub(super) partial: bool,
}

/// Compares the passages that match a query and fit, but never more than `most` of them.
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
    // What is demanded may stand anywhere in a note, which the condition sees to: the rarest of it
    // says which passages are looked at.
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
        // Everything asked for is common: what holds two of the words comes before the newest.
        if let Some(both) = with(&rarest, TermRequirement::Required) {
            let compared = newest_matching(db, both, condition, most)?;
            if compared.best.len() >= ENOUGH_WITH_BOTH {
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

/// Compares the newest passages that match and fit, as many as are worth it.
fn newest_matching(
    db: &Connection,
    expression: String,
    condition: &FilterSql,
    most: i64,
) -> Result<TextMatches> {
    // Only what fits is weighed, and that only until there is enough of it.
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

/// Those of some passages that fit.
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

/// The best first.
fn in_order(mut best: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    best
}
