//! JSON as programs send it. A mark before it, and half a surrogate pair, which programs make when
//! they cut a text, are no reason to lose what was to be written.

use serde_json::{Error, Map, Value};

const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads an object, mended if it is broken in a way that leaves no doubt.
pub fn json_object(text: &[u8]) -> Result<Map<String, Value>, Error> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    serde_json::from_slice(text).or_else(|error| {
        let mended = mended(text).and_then(|text| serde_json::from_slice(&text).ok());
        mended.ok_or(error)
    })
}

/// JSON of any kind, mended in the same way, for those who read it themselves.
pub fn readable_json(text: Vec<u8>) -> Result<Vec<u8>, Error> {
    let rest = text.strip_prefix(MARK).unwrap_or(&text);
    match serde_json::from_slice::<Value>(rest) {
        Ok(_) if rest.len() == text.len() => Ok(text),
        Ok(_) => Ok(rest.to_vec()),
        Err(error) => {
            let mended = mended(rest).filter(|text| serde_json::from_slice::<Value>(text).is_ok());
            mended.ok_or(error)
        }
    }
}

/// The text with U+FFFD in the place of escaped halves of surrogate pairs, if there are any.
fn mended(text: &[u8]) -> Option<Vec<u8>> {
    let mut line = text.to_vec();
    let escaped = |line: &[u8], at: usize| -> Option<u16> {
        let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut at, mut is_mended) = (0, false);
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
                is_mended = true;
                6
            }
            _ => 2,
        };
    }
    is_mended.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_mended_and_nothing_else() {
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
    fn what_is_no_json_says_where() {
        for text in ["", "{", r#"{"a":"\ud83d""#, r#"{"a":"\ud83"}"#, "{\"a\":\"\\"] {
            let error = json_object(text.as_bytes()).unwrap_err();
            assert_eq!(error.line(), 1, "{text}: {error}");
            assert!(readable_json(text.as_bytes().to_vec()).is_err(), "{text}");
        }
    }
}
