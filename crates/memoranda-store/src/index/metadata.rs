//! Frontmatter as a condition on `files f`.

use memoranda_core::query::{MetaFilter, MetaScalar, MetaTest};
use memoranda_core::tokenize::unicode_forms;
use rusqlite::types::Value;

use super::search::SearchFilter;

/// An SQL condition on one value `j` of a key, and its bound values.
type SqlTest = (String, Vec<Value>);

/// SQL test for a numeric value. SQLite converts a text to a number only if all of it is numeric,
/// and orders every number before every text.
const IS_NUMBER: &str = "(j.atom <= CAST('9e999' AS REAL))";
const AS_NUMBER: &str = "CAST(j.atom AS REAL)";

/// Adds the frontmatter conditions of a filter.
pub(super) fn conditions(filter: &SearchFilter, sql: &mut String, values: &mut Vec<Value>) {
    for meta in &filter.metadata {
        one(meta, sql, values);
    }
}

fn one(filter: &MetaFilter, sql: &mut String, values: &mut Vec<Value>) {
    // `json_each` treats a scalar as a list of one. Names in keys need no escaping.
    let path: String = filter.key.iter().map(|name| format!(".\"{name}\"")).collect();
    // Parsing JSON is slow, so texts that do not contain the value are excluded first.
    if let MetaTest::HasAll(wanted) = &filter.test {
        for value in wanted {
            if let MetaScalar::Text(text) = value
                && is_unescaped(text)
            {
                sql.push_str(" AND f.metadata LIKE ?");
                values.push(Value::Text(format!("%{text}%")));
            }
        }
    }
    let path = Value::Text(format!("${path}"));
    let mut any = |(test, with): SqlTest| {
        // A mapping is not a list of its values.
        sql.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM json_each(f.metadata, ?) j \
             WHERE json_type(f.metadata, ?) <> 'object' AND {test})"
        ));
        values.extend([path.clone(), path.clone()]);
        values.extend(with);
    };
    match &filter.test {
        MetaTest::HasAll(wanted) => {
            wanted.iter().for_each(|value| any(one_of(&filter.key, std::slice::from_ref(value))));
        }
        MetaTest::HasAny(wanted) => any(one_of(&filter.key, wanted)),
        MetaTest::Above(bound) => any(compared(">", bound)),
        MetaTest::AtLeast(bound) => any(compared(">=", bound)),
        MetaTest::Below(bound) => any(compared("<", bound)),
        MetaTest::AtMost(bound) => any(compared("<=", bound)),
        MetaTest::Between(low, high) => {
            let ((low, mut with), (high, more)) = (compared(">=", low), compared("<=", high));
            with.extend(more);
            any((format!("{low} AND {high}"), with));
        }
    }
}

/// Returns true if JSON and a LIKE pattern contain the value unescaped.
fn is_unescaped(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '.' | ':' | '/'))
}

/// Builds the test for one of several values, bound as one list.
fn one_of(key: &[String], wanted: &[MetaScalar]) -> SqlTest {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for value in wanted {
        match value {
            MetaScalar::Text(text) => texts.push(text.as_str()),
            MetaScalar::Number(number) => numbers.push(*number),
        }
    }
    let (mut tests, mut with) = (Vec::new(), Vec::new());
    let mut add = |test: String, list: serde_json::Value| {
        tests.push(test);
        with.push(Value::Text(list.to_string()));
    };
    if !texts.is_empty() && key == ["tags"] {
        // Tags can be one text with commas and number signs.
        let bare = texts.iter().map(|tag| tag.trim_start_matches('#'));
        let list: serde_json::Value = bare.flat_map(spellings).collect();
        add(
            "(replace(j.atom, '#', '') COLLATE NOCASE IN (SELECT w.value FROM json_each(?) w))"
                .to_owned(),
            list.clone(),
        );
        add(
            "(instr(j.atom, ',') > 0 AND EXISTS (SELECT 1 FROM json_each(?) w WHERE \
             instr(',' || replace(replace(lower(j.atom), '#', ''), ', ', ',') || ',', \
             ',' || lower(w.value) || ',') > 0))"
                .to_owned(),
            list,
        );
    } else if !texts.is_empty() {
        let spellings = texts.iter().copied().flat_map(spellings).collect();
        add("j.atom COLLATE NOCASE IN (SELECT w.value FROM json_each(?) w)".to_owned(), spellings);
    }
    if !numbers.is_empty() {
        let test = format!("({IS_NUMBER} AND {AS_NUMBER} IN (SELECT w.value FROM json_each(?) w))");
        add(test, numbers.into_iter().collect());
    }
    (format!("({})", tests.join(" OR ")), with)
}

/// Returns a value in the case and Unicode variants that people write. SQLite folds ASCII case
/// itself.
fn spellings(value: &str) -> Vec<String> {
    let mut spellings = vec![value.to_owned()];
    if !value.is_ascii() {
        let lower = value.to_lowercase();
        let mut rest = lower.chars();
        let first = rest.next().into_iter().flat_map(char::to_uppercase);
        spellings.push(first.chain(rest.clone()).collect());
        spellings.push(value.to_uppercase());
        spellings.push(lower);
        spellings = spellings.iter().flat_map(|spelling| unicode_forms(spelling)).collect();
        spellings.dedup();
    }
    spellings
}

/// Builds a comparison with a bound.
fn compared(operator: &str, bound: &MetaScalar) -> SqlTest {
    let by_number = format!("({IS_NUMBER} AND {AS_NUMBER} {operator} ?)");
    let text = match bound {
        MetaScalar::Number(number) => return (by_number, vec![Value::Real(*number)]),
        MetaScalar::Text(text) => text,
    };
    let by_text = format!("(j.atom <> '' AND j.atom {operator} ?)");
    let own = Value::Text(text.clone());
    match text.trim().parse::<f64>().ok().filter(|number| number.is_finite()) {
        Some(number) => {
            let test = format!("({by_number} OR (NOT {IS_NUMBER} AND {by_text}))");
            (test, vec![Value::Real(number), own])
        }
        None => (by_text, vec![own]),
    }
}
