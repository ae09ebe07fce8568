//! Scores the passages with the words of a query.
//!
//! A common word must not require reading all of its passages. The rarest words select the
//! passages, as many words as the limit allows. The other words count when the best passages are
//! ranked.

use memoranda_core::query::{Query, QueryTerm, TermRequirement};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::bm25::{bm25_score, inverse_document_frequency};
use super::caches::SearchCaches;
use super::filter_sql::FilterSql;
use super::postings::{PostingList, bm25};
use super::scope::SearchScope;
use super::term_stats::TermStats;
use crate::error::Result;
use crate::index::doc_lengths::DocLengths;
use crate::index::fts5_query::{match_expression, term_expression};
use crate::index::write::PASSAGES_PER_FILE;

/// Maximum number of passages that are compared.
pub(super) const MAX_COMPARED: i64 = 2000;
/// Number of passages with the two rarest words that makes others unnecessary.
const ENOUGH_PASSAGES_WITH_BOTH: usize = 30;
/// Columns that are read for common words, with the term frequency of a match in them.
const COMMON_WORD_COLUMNS: [(&str, f64); 2] = [("", 1.0), ("{title tags} : ", 3.0)];

/// Scored passages.
pub(super) struct TextMatches {
    /// The passages with their scores, best first.
    pub(super) best: Vec<(i64, f64)>,
    /// True if more passages match than were compared.
    pub(super) partial: bool,
}

/// The terms of a query in their scope, while its passages are scored.
pub(super) struct TextSearch<'s> {
    pub(super) db: &'s Connection,
    pub(super) caches: Option<&'s SearchCaches<'s>>,
    pub(super) known: &'s TermStats,
    pub(super) scope: &'s SearchScope,
    /// Filter of the files, with the required terms of the query.
    pub(super) condition: &'s FilterSql,
}

impl TextSearch<'_> {
    /// Scores at most `most` of the passages that match the query and the condition.
    pub(super) fn best_passages(&self, most: i64) -> Result<Option<TextMatches>> {
        let TermStats { query, holders, lists, beginnings, .. } = self.known;
        let need = |at: usize| query.terms.get(at).map(|term| term.need);
        let mut optional: Vec<(u64, usize)> = holders
            .iter()
            .copied()
            .zip(0..query.terms.len())
            .filter(|&(_, at)| need(at) == Some(TermRequirement::Optional))
            .collect();
        optional.sort_unstable();
        let is_demanding = query
            .terms
            .iter()
            .any(|term| term.need == TermRequirement::Required || term.groups != 0);
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
        let required: Vec<usize> = (0..query.terms.len())
            .filter(|&at| need(at) == Some(TermRequirement::Required))
            .collect();
        let demanded = required.iter().copied().min_by_key(|&at| holders.get(at));
        let rarest: Vec<usize> = optional.iter().map(|&(_, at)| at).take(2).collect();
        let are_common = optional.first().is_some_and(|&(held, _)| held > most as u64);
        if are_common && rarest.len() == 2 && !is_demanding {
            // All words are common: passages with two of them are preferred to the newest.
            let compared =
                self.newest_matching(&rarest, TermRequirement::Required, demanded, most)?;
            if let Some(compared) = compared
                && compared.best.len() >= ENOUGH_PASSAGES_WITH_BOTH
            {
                return Ok(Some(TextMatches { partial: true, ..compared }));
            }
        }
        let mut scored = [chosen.as_slice(), required.as_slice()].concat();
        scored.retain(|&at| holders.get(at).is_some_and(|held| *held > 0));
        scored.sort_unstable();
        let exact = scored.iter().map(|&at| lists.get(at)?.as_ref());
        let mut exact: Vec<_> = exact.collect::<Option<_>>().unwrap_or_default();
        let size = exact.iter().map(|list: &&PostingList| list.len()).sum::<usize>();
        if (1..=most as usize).contains(&size) {
            exact.extend(beginnings.iter().flatten());
            let in_memory = self.caches.and_then(|caches| caches.table.in_memory(caches.now));
            let mut lengths = DocLengths::new(self.db, in_memory)?;
            let mut weighed = bm25(self.scope.passages(), None, &exact, &mut lengths)?;
            if let Some(demanded) = demanded {
                let list = lists.get(demanded).and_then(Option::as_ref);
                weighed.retain(|(passage, _)| list.is_some_and(|list| list.contains(*passage)));
            }
            let best = self.fitting(weighed)?;
            return Ok(Some(TextMatches { best: in_order(best), partial: false }));
        }
        self.newest_matching(&chosen, TermRequirement::Optional, demanded, most)
    }

    /// Scores the newest passages with some terms, at most `most`; `None` if there is no term.
    fn newest_matching(
        &self,
        chosen: &[usize],
        need: TermRequirement,
        demanded: Option<usize>,
        most: i64,
    ) -> Result<Option<TextMatches>> {
        let mut asked = Query::default();
        for (at, term) in self.known.query.terms.iter().enumerate() {
            let need = match term.need {
                TermRequirement::Required if demanded == Some(at) => TermRequirement::Required,
                TermRequirement::Required => TermRequirement::Optional,
                TermRequirement::Optional if chosen.contains(&at) => need,
                TermRequirement::Optional | TermRequirement::Excluded => continue,
            };
            asked.terms.push(QueryTerm { need, ..term.clone() });
        }
        let Some(expression) = match_expression(&asked) else { return Ok(None) };
        // Filter in SQL, so that only matching passages are scored, up to the limit.
        let condition = self.condition;
        let fitting = if condition.is_unrestricted() {
            String::from("WHERE words MATCH ?")
        } else {
            format!(
                "CROSS JOIN files f ON f.id = words.rowid / {PASSAGES_PER_FILE} \
                 WHERE words MATCH ? AND {}",
                condition.sql
            )
        };
        let mut query = self.db.prepare_cached(&format!(
            "SELECT words.rowid FROM words {fitting} ORDER BY words.rowid DESC LIMIT ?"
        ))?;
        let mut values = vec![Value::Text(expression)];
        values.extend(condition.values.iter().cloned());
        values.push(Value::Integer(most + 1));
        let rows = query.query_map(params_from_iter(values), |row| row.get(0))?;
        let mut passages = rows.collect::<rusqlite::Result<Vec<i64>>>()?;
        let partial = passages.len() as i64 > most;
        passages.truncate(most as usize);
        let best = self.score_by_presence(&asked, passages)?;
        Ok(Some(TextMatches { best: in_order(best), partial }))
    }

    /// Scores passages in descending order by the terms that they contain. The number of occurrences
    /// is not counted, because FTS5 counts it together with the frequency in the whole vault.
    fn score_by_presence(&self, asked: &Query, passages: Vec<i64>) -> Result<Vec<(i64, f64)>> {
        let Some(&oldest) = passages.last() else { return Ok(Vec::new()) };
        let mut lengths = {
            let in_memory = self.caches.and_then(|caches| caches.table.in_memory(caches.now));
            DocLengths::new(self.db, in_memory)?
        };
        let mut found = Vec::with_capacity(passages.len());
        for passage in passages {
            found.push((passage, lengths.of(passage)?.unwrap_or(1), Vec::<(f64, f64)>::new()));
        }
        let mut select = self.db.prepare_cached(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? ORDER BY rowid DESC",
        )?;
        for term in &asked.terms {
            let terms = self.known.query.terms.iter().zip(&self.known.holders);
            let held = terms.filter(|(known, _)| known.words == term.words).map(|(_, held)| *held);
            let held = held.max().unwrap_or_default();
            let idf = inverse_document_frequency(self.scope.passages(), held as usize);
            let mut frequencies = vec![0.0; found.len()];
            for (column, frequency) in COMMON_WORD_COLUMNS {
                let expression = format!("{column}({})", term_expression(term));
                let mut rows = select.query(params![expression, oldest])?;
                let mut at = 0;
                while let Some(row) = rows.next()? {
                    let passage: i64 = row.get(0)?;
                    while found.get(at).is_some_and(|(other, ..)| *other > passage) {
                        at += 1;
                    }
                    if found.get(at).is_some_and(|(other, ..)| *other == passage)
                        && let Some(sum) = frequencies.get_mut(at)
                    {
                        *sum += frequency;
                    }
                }
            }
            for ((.., terms), frequency) in found.iter_mut().zip(frequencies) {
                if frequency > 0.0 {
                    terms.push((frequency, idf));
                }
            }
        }
        let words: f64 = found.iter().map(|(_, length, _)| f64::from(*length)).sum();
        let average_length = (words / found.len() as f64).max(1.0);
        let score = |(passage, length, terms): (i64, u32, Vec<(f64, f64)>)| {
            (passage, bm25_score(length, average_length, terms.into_iter()))
        };
        Ok(found.into_iter().map(score).collect())
    }

    /// Returns those passages that match the condition.
    fn fitting(&self, passages: Vec<(i64, f64)>) -> Result<Vec<(i64, f64)>> {
        if self.condition.is_unrestricted() {
            return Ok(passages);
        }
        let mut check = self.condition.check(self.db, self.caches)?;
        let mut fitting = Vec::with_capacity(passages.len());
        for (passage, score) in passages {
            if check.fits(passage / PASSAGES_PER_FILE)? {
                fitting.push((passage, score));
            }
        }
        Ok(fitting)
    }
}

/// Sorts by score, best first.
fn in_order(mut best: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    best
}
