//! Frontmatter as a condition on `files f`.

use memoranda_core::query::{MetaFilter, MetaScalar, MetaTest};
use rusqlite::types::Value;

use super::search::SearchFilter;

/// Adds what a filter asks of frontmatter.
pub(super) fn conditions(filter: &SearchFilter, sql: &mut String, values: &mut Vec<Value>) {
    for meta in &filter.metadata {
        one(meta, sql, values);
    }
}

fn one(filter: &MetaFilter, sql: &mut String, values: &mut Vec<Value>) {
    // A scalar is a list of itself to `json_each`. Names in keys hold nothing to be escaped.
    let path: String = filter.key.iter().map(|name| format!(".\"{name}\"")).collect();
    // Reading JSON takes its time: a text that does not hold the value at all is not read.
    if let MetaTest::HasAll(wanted) = &filter.test {
        for value in wanted {
            if let MetaScalar::Text(text) = value
                && is_written_as_it_is(text)
            {
                sql.push_str(" AND f.metadata LIKE ?");
                values.push(Value::Text(format!("%{text}%")));
            }
        }
    }
    let mut any = |test: &str, with: Vec<Value>| {
        sql.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM json_each(f.metadata, ?) j WHERE {test})"
        ));
        values.push(Value::Text(format!("${path}")));
        values.extend(with);
    };
    match &filter.test {
        MetaTest::HasAll(wanted) => {
            for value in wanted {
                let (test, with) = equal(&filter.key, value);
                any(&test, with);
            }
        }
        MetaTest::HasAny(wanted) => {
            let (tests, with): (Vec<_>, Vec<_>) =
                wanted.iter().map(|value| equal(&filter.key, value)).unzip();
            any(&format!("({})", tests.join(" OR ")), with.concat());
        }
        MetaTest::Above(bound) => any(&compared(">", bound), vec![bind(bound)]),
        MetaTest::AtLeast(bound) => any(&compared(">=", bound), vec![bind(bound)]),
        MetaTest::Below(bound) => any(&compared("<", bound), vec![bind(bound)]),
        MetaTest::AtMost(bound) => any(&compared("<=", bound), vec![bind(bound)]),
        MetaTest::Between(low, high) => {
            let test = format!("{} AND {}", compared(">=", low), compared("<=", high));
            any(&test, vec![bind(low), bind(high)]);
        }
    }
}

/// Whether JSON writes a value as it is, and a pattern means nothing more by it.
fn is_written_as_it_is(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '.' | ':' | '/'))
}

/// Whether a key has this value.
fn equal(key: &[String], value: &MetaScalar) -> (String, Vec<Value>) {
    let value = match value {
        MetaScalar::Text(text) => text.as_str(),
        MetaScalar::Number(number) => return (as_number("="), vec![Value::Real(*number)]),
    };
    let (test, value) = match key {
        // Tags may stand in one text, with commas between them, and with their marks.
        [tags] if tags == "tags" => (
            "instr(',' || replace(replace(lower(j.atom), '#', ''), ', ', ',') || ',', \
             ',' || lower(?) || ',') > 0",
            value.trim_start_matches('#'),
        ),
        _ => ("j.atom = ? COLLATE NOCASE", value),
    };
    let spellings = spellings(value);
    let tests = vec![test; spellings.len()].join(" OR ");
    (format!("({tests})"), spellings.into_iter().map(Value::Text).collect())
}

/// A value in the cases in which people write it. SQLite knows those of ASCII letters by itself.
fn spellings(value: &str) -> Vec<String> {
    let mut spellings = vec![value.to_owned()];
    if !value.is_ascii() {
        let lower = value.to_lowercase();
        let mut rest = lower.chars();
        let first = rest.next().into_iter().flat_map(char::to_uppercase);
        spellings.push(first.chain(rest.clone()).collect());
        spellings.push(value.to_uppercase());
        spellings.push(lower);
        spellings.dedup();
    }
    spellings
}

/// A comparison: of numbers if the bound is one, and then only with what looks like a number.
fn compared(operator: &str, bound: &str) -> String {
    match number(bound) {
        Some(_) => as_number(operator),
        None => format!("(j.atom <> '' AND j.atom {operator} ?)"),
    }
}

fn as_number(operator: &str) -> String {
    format!(
        "(j.atom GLOB '*[0-9]*' AND j.atom NOT GLOB '*[^-+.0-9eE]*' \
         AND CAST(j.atom AS REAL) {operator} ?)"
    )
}

fn bind(bound: &str) -> Value {
    number(bound).map_or_else(|| Value::Text(bound.to_owned()), Value::Real)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
