//! Reads JSON with two faults that programs make: a byte order mark before it, and half a surrogate
//! pair where a text was cut.

use serde_json::{Error, Map, Value};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Parses an object and repairs the two known faults.
pub fn json_object(text: &[u8]) -> Result<Map<String, Value>, Error> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    serde_json::from_slice(text).or_else(|error| {
        let repaired = repair_surrogates(text).and_then(|text| serde_json::from_slice(&text).ok());
        repaired.ok_or(error)
    })
}

/// Returns any JSON with the two known faults repaired, for another parser.
pub fn readable_json(text: Vec<u8>) -> Result<Vec<u8>, Error> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    match serde_json::from_slice::<Value>(rest) {
        Ok(_) if rest.len() == text.len() => Ok(text),
        Ok(_) => Ok(rest.to_vec()),
        Err(error) => {
            let repaired = repair_surrogates(rest)
                .filter(|text| serde_json::from_slice::<Value>(text).is_ok());
            repaired.ok_or(error)
        }
    }
}

/// Replaces escaped halves of surrogate pairs by U+FFFD. `None` if there are none.
fn repair_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut line = text.to_vec();
    let escaped = |line: &[u8], at: usize| -> Option<u16> {
        let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut at, mut is_repaired) = (0, false);
    while let Some(&byte) = line.get(at) {
        if byte != b'\\' {
            at += 1;
            continue;
        }
        let second = || escaped(&line, at + 6).is_some_and(|code| (0xdc00..0xe000).contains(&code));
        at += match escaped(&line, at) {
            Some(0xd800..0xdc00) if second() => 12,
            Some(0xd800..0xe000) => {
                line.splice(at..at + 6, *b"\\ufffd");
                is_repaired = true;
                6
            }
            _ => 2,
        };
    }
    is_repaired.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_half_surrogate_pairs_are_repaired() {
        for (text, expected) in [
            (r#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#),
            (r#"{"a":"\ude00\uD83D x"}"#, r#"{"a":"\ufffd\ufffd x"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"a":"\ud83d\n"}"#, r#"{"a":"\ufffd\n"}"#),
            (r#"{"a":"\\ud83d \ud83d"}"#, r#"{"a":"\\ud83d \ufffd"}"#),
            (r#"{"a":"\ud83d\ude00 \\ud83d"}"#, r#"{"a":"\ud83d\ude00 \\ud83d"}"#),
            ("\u{feff}{\"a\":1}", r#"{"a":1}"#),
            ("\u{feff}{\"a\":\"\\ud83d\"}", r#"{"a":"\ufffd"}"#),
        ] {
            let found =
                String::from_utf8(readable_json(text.as_bytes().to_vec()).unwrap()).unwrap();
            assert_eq!(found, expected);
            let [found, expected] = [text, expected].map(|text| json_object(text.as_bytes()));
            assert_eq!(found.unwrap(), expected.unwrap(), "{text}");
        }
    }

    #[test]
    fn invalid_json_is_an_error_with_its_line() {
        for text in ["", "{", r#"{"a":"\ud83d""#, r#"{"a":"\ud83"}"#, "{\"a\":\"\\"] {
            let error = json_object(text.as_bytes()).unwrap_err();
            assert_eq!(error.line(), 1, "{text}: {error}");
            assert!(readable_json(text.as_bytes().to_vec()).is_err(), "{text}");
        }
    }
}
