//! Records that say the same as a statement, or nearly the same.

use memoranda_core::note;
use memoranda_core::statement::{StatementDifference, compare_statements};
use memoranda_store::UnindexedText;

use super::RememberResult;
use crate::records::{
    MemoryRecord, RecordError, RecordKind, RecordQuery, RecordScope, VisibleScopes,
    records_project, search_records,
};
use crate::{EngineError, LOW_RELEVANCE, Memory};

/// Maximum number of records that are compared.
const MAX_COMPARED: usize = 12;
/// Maximum number of words of a statement that are searched for.
const MAX_QUERY_WORDS: usize = 24;
/// Maximum number of records that are named as candidates.
const MAX_CANDIDATES: usize = 3;

/// Records of one scope, compared with a statement.
#[derive(Default)]
pub(super) struct SimilarStatements {
    /// The record with the same words.
    pub(super) same: Option<MemoryRecord>,
    /// The records of the same kind with another value of the same subject.
    pub(super) values: Vec<MemoryRecord>,
    /// Records that the statement may replace.
    pub(super) near: Vec<MemoryRecord>,
}

/// Compares a statement with the active records of a scope.
pub(super) fn find_similar(
    memory: &Memory,
    scope: &RecordScope,
    kind: RecordKind,
    content: &str,
) -> RememberResult<SimilarStatements> {
    let query = query_words(content);
    if query.is_empty() {
        return Ok(SimilarStatements::default());
    }
    // A pending commit can only add a record that says something similar.
    let is_similar = |file: &UnindexedText| {
        let text = file.text.as_deref().unwrap_or_default();
        let body = text.get(note::parse(text).body).unwrap_or_default();
        file.project == records_project()
            && compare_statements(body, content) != StatementDifference::Unrelated
    };
    let places = |found: &SimilarStatements| {
        let records = found.same.iter().chain(&found.values).chain(&found.near);
        records.map(|record| record.place.clone()).collect()
    };
    memory
        .search_beside_pending(is_similar, places, || search(memory, scope, kind, content, &query))
}

/// Searches for similar records.
fn search(
    memory: &Memory,
    scope: &RecordScope,
    kind: RecordKind,
    content: &str,
    query: &str,
) -> RememberResult<SimilarStatements> {
    let visible = VisibleScopes::only(scope.clone());
    let now = memory.local_now();
    let is_active = |record: &MemoryRecord| record.is_active(&now);
    let query =
        RecordQuery { text: query, limit: MAX_COMPARED, min_relevance: Some(LOW_RELEVANCE) };
    let found = match search_records(memory, &visible, &RecordKind::ALL, query, &is_active) {
        // A statement may contain no word that can be searched.
        Err(RecordError::Engine(EngineError::Invalid(_))) => Vec::new(),
        other => other?.records,
    };
    let mut similar = SimilarStatements::default();
    for record in found {
        match compare_statements(&record.content, content) {
            StatementDifference::Same if similar.same.is_none() => similar.same = Some(record),
            // Two events differ in a value and both happened.
            StatementDifference::Value if record.kind == kind && kind != RecordKind::Note => {
                similar.values.push(record);
            }
            StatementDifference::Value | StatementDifference::Near => similar.near.push(record),
            StatementDifference::Same | StatementDifference::Unrelated => {}
        }
    }
    similar.near.truncate(MAX_CANDIDATES);
    Ok(similar)
}

/// Returns the words of a statement without the signs that a search understands.
pub(crate) fn query_words(content: &str) -> String {
    let plain: String =
        content.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    plain.split_whitespace().take(MAX_QUERY_WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_a_query_are_left_out() {
        assert_eq!(
            query_words("Use -Werror, \"always\" NOT tag:x!"),
            "use werror always not tag x"
        );
        assert_eq!(query_words("→ ←"), "");
        assert_eq!(query_words(&"a ".repeat(100)).len(), 2 * MAX_QUERY_WORDS - 1);
    }
}
