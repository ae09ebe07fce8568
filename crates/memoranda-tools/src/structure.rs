//! Holding a structured result to a size, so that what is left still fits its schema: lists end
//! early and long texts are cut, but no field is lost.

use serde_json::Value;

/// A text this short is a name, a time or a kind; cut it would mean something else.
const SHORT: usize = 200;
/// What a number, a word or a bracket takes.
const SCALAR: usize = 6;

/// Whether something had to be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// Everything is there.
    Whole,
    /// Lists end early, or texts are cut.
    Cut,
}

/// Cuts a structure down to about so many characters.
pub(crate) fn hold(value: &mut Value, room: usize) -> Held {
    if weight(value) <= room {
        return Held::Whole;
    }
    let mut room = room;
    cut(value, &mut room);
    Held::Cut
}

fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count() + SCALAR,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + SCALAR,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + weight(value)).sum::<usize>() + SCALAR
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => SCALAR,
    }
}

/// Cuts a value that does not fit into the room, and takes up what is left of it.
fn cut(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => {
            let most = (*room).max(SHORT);
            if let Some((at, _)) = text.char_indices().nth(most) {
                text.truncate(at);
            }
            take(room, text.chars().count());
        }
        Value::Array(items) => {
            let mut kept = 0;
            for item in items.iter_mut() {
                if !fits(item, room) {
                    // Something of the first, so that asking for less has a beginning.
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
                matches!(value, Value::Array(_) | Value::Object(_)) || weight(value) > SHORT
            };
            for (name, value) in fields.iter() {
                take(room, name.len() + if is_large(value) { 0 } else { weight(value) });
            }
            for value in fields.values_mut().filter(|value| is_large(value)) {
                if !fits(value, room) {
                    cut(value, room);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Takes up the room of a value, if there is enough.
fn fits(value: &Value, room: &mut usize) -> bool {
    match room.checked_sub(weight(value)) {
        Some(left) => {
            *room = left;
            true
        }
        None => false,
    }
}

fn take(room: &mut usize, amount: usize) {
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
        assert_eq!(hold(&mut value, 1_000_000), Held::Whole);
        assert_eq!(hold(&mut value, 1_000), Held::Cut);
        assert_eq!((&value["status"], &value["total"]), (&json!("ok"), &json!(100)));
        let items = value["items"].as_array().unwrap();
        assert!((1..10).contains(&items.len()), "{}", items.len());
        assert_eq!(items[0], item(0));
        assert!(value["note"].as_str().unwrap().chars().count() <= 900);
        assert!(weight(&value) < 2_000, "{}", weight(&value));
    }

    #[test]
    fn one_long_text_is_cut() {
        let mut value = json!({ "result": "é".repeat(5_000) });
        assert_eq!(hold(&mut value, 1_000), Held::Cut);
        assert_eq!(value["result"].as_str().unwrap().chars().count(), 994);
        let mut nested = json!([[["z".repeat(5_000)]]]);
        assert_eq!(hold(&mut nested, 300), Held::Cut);
        assert_eq!(nested, json!([[["z".repeat(300)]]]));
    }
}
