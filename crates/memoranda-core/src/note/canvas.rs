//! Rewrites links in JSON Canvas files and leaves every other byte unchanged.

use std::ops::Range;

use super::rewrite_links::{LinkReplacement, rewrite_links, rewrite_paths};

/// Renames files by `path`, and links in texts by `name` and `path`. Returns the new canvas and the
/// number of changes.
pub fn rewrite_canvas_links<N: Into<LinkReplacement>>(
    text: &str,
    mut path: impl FnMut(&str) -> Option<String>,
    mut name: impl FnMut(&str) -> Option<N>,
) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut renamed, mut key) = (0, 0, String::new());
    for span in strings(text) {
        let raw = text.get(span.clone()).unwrap_or_default();
        let Some(value) = unescaped(raw) else { continue };
        if text.get(span.end..).unwrap_or_default().trim_start().starts_with(':') {
            key = value;
            continue;
        }
        let (new, count) = match std::mem::take(&mut key).as_str() {
            "file" => path(&value).map_or((value, 0), |new| (new, 1)),
            "text" => {
                let (text, names) = rewrite_links(&value, &mut name);
                let (text, paths) = rewrite_paths(&text, &mut path);
                (text, names + paths)
            }
            _ => continue,
        };
        if count > 0 {
            out.push_str(text.get(at..span.start).unwrap_or_default());
            out.push_str(&escaped(&new, raw));
            at = span.end;
            renamed += count;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, renamed)
}

/// Returns the byte ranges of the strings of a JSON text, with their quotes.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find('"')?;
        let mut is_escaped = false;
        let end = text.get(start + 1..)?.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        at = start + 1 + end + 1;
        Some(start..at)
    })
}

/// Decodes a JSON string; `None` if it is malformed.
fn unescaped(quoted: &str) -> Option<String> {
    let mut rest = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(rest.len());
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let sign = escape.chars().next()?;
        rest = escape.get(sign.len_utf8()..)?;
        match sign {
            '"' | '\\' | '/' => out.push(sign),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let first = unit(rest)?;
                let mut units = vec![first];
                rest = rest.get(4..)?;
                // A character outside the BMP is a surrogate pair.
                if let Some(second) = rest.strip_prefix("\\u").filter(|_| first >> 10 == 0x36) {
                    units.push(unit(second)?);
                    rest = second.get(4..)?;
                }
                out.push_str(&String::from_utf16(&units).ok()?);
            }
            _ => return None,
        }
    }
    out.push_str(rest);
    Some(out)
}

fn unit(digits: &str) -> Option<u16> {
    u16::from_str_radix(digits.get(..4)?, 16).ok()
}

/// Encodes a JSON string with the escaping style of another one.
fn escaped(value: &str, like: &str) -> String {
    let is_ascii = like.contains("\\u");
    let mut out = String::from('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || is_ascii && !c.is_ascii() => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter();
                out.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_links_in_texts_are_renamed() {
        let new = |name: &str| (name == "a/Old One.md").then(|| "b (x)/New.md".to_owned());
        let named = |name: &str| (name == "Old").then(|| "New".to_owned());
        let check = |found: (String, usize), expected: &str, count: usize| {
            assert_eq!(found, (expected.to_owned(), count));
        };
        let canvas = "{\"nodes\":[{\"file\": \"a/Old One.md\",\"x\":1},{\"file\":\"c.md\"}]}";
        let expected = "{\"nodes\":[{\"file\": \"b (x)/New.md\",\"x\":1},{\"file\":\"c.md\"}]}";
        check(rewrite_canvas_links(canvas, new, named), expected, 1);
        let broken = "\"file\" no drawing \"file\":";
        check(rewrite_canvas_links(broken, new, named), broken, 0);
        let canvas = "{\"text\": \"a \\\"b\\\" [[Old|x]]\\n[y](a/Old%20One.md) \\\\\", \"label\":\"[[Old]]\"}";
        let expected = "{\"text\": \"a \\\"b\\\" [[New|x]]\\n[y](b%20%28x%29/New.md) \\\\\", \"label\":\"[[Old]]\"}";
        check(rewrite_canvas_links(canvas, new, named), expected, 2);
        let umlaut =
            |name: &str| (name == "K\u{e4}se.md").then(|| "\u{1f9c0}/Br\u{f6}t.md".to_owned());
        let canvas = "{\"file\":\"K\\u00e4se.md\"}";
        let expected = "{\"file\":\"\\ud83e\\uddc0/Br\\u00f6t.md\"}";
        check(rewrite_canvas_links(canvas, umlaut, named), expected, 1);
    }

    #[test]
    fn json_strings_round_trip() {
        for text in ["", "a\"b\\c/\n\r\t\u{1}\u{8}", "\u{e4}\u{1f9c0}", "\\u00e4"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(unescaped(&json).as_deref(), Some(text), "{json}");
            for like in ["", "\\u00e4"] {
                let read: String = serde_json::from_str(&escaped(text, like)).unwrap();
                assert_eq!(read, text);
                assert_eq!(unescaped(&escaped(text, like)).as_deref(), Some(text));
            }
        }
        for broken in
            ["\"", "", "\"\\", "\"\\x\"", "\"\\ud83e\"", "\"\\u00\"", "\"\\ud83e\\u0041\""]
        {
            assert_eq!(unescaped(broken), None, "{broken}");
        }
    }
}
