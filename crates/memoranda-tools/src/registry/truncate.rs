//! Truncates a structured result to a size and keeps it valid for its schema: lists end early and
//! long texts are cut, but every field stays.

use serde_json::Value;

/// Length in characters below which a text is never cut: a name, a time or a kind.
const MIN_CUT_CHARS: usize = 200;
/// Estimated size in characters of a number, a literal or a pair of brackets.
const SCALAR_CHARS: usize = 6;

/// Outcome of a truncation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truncated {
    /// The value is complete.
    No,
    /// Lists end early or texts are cut.
    Yes,
}

/// Truncates a value to about `max_chars` characters.
pub(crate) fn truncate_json(value: &mut Value, max_chars: usize) -> Truncated {
    if size(value) <= max_chars {
        return Truncated::No;
    }
    let mut room = max_chars;
    cut(value, &mut room);
    Truncated::Yes
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count() + SCALAR_CHARS,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + SCALAR_CHARS,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + size(value)).sum::<usize>()
                + SCALAR_CHARS
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => SCALAR_CHARS,
    }
}

/// Cuts a value that exceeds the room and reserves the size of the rest.
fn cut(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => {
            let max_chars = (*room).max(MIN_CUT_CHARS);
            if let Some((at, _)) = text.char_indices().nth(max_chars) {
                text.truncate(at);
            }
            reserve(room, text.chars().count());
        }
        Value::Array(items) => {
            let mut kept = 0;
            for item in items.iter_mut() {
                if !reserve_if_fits(item, room) {
                    // Keep a part of the first item: an empty list would look like no result.
                    if kept == 0 && !matches!(item, Value::Null | Value::Bool(_)) {
                        cut(item, room);
                        kept = 1;
                    }
                    break;
                }
                kept += 1;
            }
            items.truncate(kept);
        }
        Value::Object(fields) => {
            let is_large = |value: &Value| {
                matches!(value, Value::Array(_) | Value::Object(_)) || size(value) > MIN_CUT_CHARS
            };
            for (name, value) in fields.iter() {
                reserve(room, name.len() + if is_large(value) { 0 } else { size(value) });
            }
            for value in fields.values_mut().filter(|value| is_large(value)) {
                if !reserve_if_fits(value, room) {
                    cut(value, room);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reserves the room of a value. Returns false if the room is too small.
fn reserve_if_fits(value: &Value, room: &mut usize) -> bool {
    match room.checked_sub(size(value)) {
        Some(left) => {
            *room = left;
            true
        }
        None => false,
    }
}

fn reserve(room: &mut usize, amount: usize) {
    *room = room.saturating_sub(amount);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_end_early_and_every_field_stays() {
        let item = |n: usize| json!({ "id": n, "text": "x".repeat(90) });
        let all: Vec<Value> = (0..100).map(item).collect();
        let mut value =
            json!({ "status": "ok", "items": all, "total": 100, "note": "y".repeat(900) });
        assert_eq!(truncate_json(&mut value, 1_000_000), Truncated::No);
        assert_eq!(truncate_json(&mut value, 1_000), Truncated::Yes);
        assert_eq!((&value["status"], &value["total"]), (&json!("ok"), &json!(100)));
        let items = value["items"].as_array().unwrap();
        assert!((1..10).contains(&items.len()), "{}", items.len());
        assert_eq!(items[0], item(0));
        assert!(value["note"].as_str().unwrap().chars().count() <= 900);
        assert!(size(&value) < 2_000, "{}", size(&value));
    }

    #[test]
    fn one_long_text_is_cut() {
        let mut value = json!({ "result": "é".repeat(5_000) });
        assert_eq!(truncate_json(&mut value, 1_000), Truncated::Yes);
        assert_eq!(value["result"].as_str().unwrap().chars().count(), 994);
        let mut nested = json!([[["z".repeat(5_000)]]]);
        assert_eq!(truncate_json(&mut nested, 300), Truncated::Yes);
        assert_eq!(nested, json!([[["z".repeat(300)]]]));
    }
}
