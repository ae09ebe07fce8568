//! Escapes the marks of generated files in the text of rules.

/// Text of the marks after `<`.
const SIGNS: [&str; 2] = ["!-- memoranda:rules:", "!-- Made by `memoranda rules generate`"];
const ESCAPED: &str = "lt;";
/// Part of an escape that is escaped again.
const NESTED: &str = "amp;";

/// Escapes the marks in a text.
pub(super) fn escape_marks(text: &str) -> String {
    replace_before_signs(text, |before| match before.strip_suffix('<') {
        Some(before) => Some(format!("{before}&{ESCAPED}")),
        None => {
            let (before, escapes) = split_escapes(before)?;
            Some(format!("{before}&{NESTED}{escapes}{ESCAPED}"))
        }
    })
}

/// Reverses `escape_marks`.
pub(super) fn unescape_marks(text: &str) -> String {
    replace_before_signs(text, |before| {
        let (before, escapes) = split_escapes(before)?;
        Some(match escapes.strip_prefix(NESTED) {
            Some(escapes) => format!("{before}&{escapes}{ESCAPED}"),
            None => format!("{before}<"),
        })
    })
}

/// Splits an escaped `<` from a text; the second part counts nested escapes.
fn split_escapes(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_suffix(ESCAPED)?;
    let start = text.trim_end_matches(NESTED).len();
    let (before, escapes) = text.split_at_checked(start)?;
    Some((before.strip_suffix('&')?, escapes))
}

/// Changes the text before each mark.
fn replace_before_signs(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let mut done = String::new();
    let mut rest = text;
    loop {
        let next = SIGNS.iter().filter_map(|sign| Some((rest.find(sign)?, sign.len()))).min();
        let Some((before, at, after)) = next.and_then(|(start, length)| {
            Some((
                rest.get(..start)?,
                rest.get(start..start + length)?,
                rest.get(start + length..)?,
            ))
        }) else {
            done.push_str(rest);
            return done;
        };
        done.push_str(change(before).as_deref().unwrap_or(before));
        done.push_str(at);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_escaped_is_read_as_it_was() {
        for (text, expected) in [
            ("plain & <b>", "plain & <b>"),
            ("<!-- memoranda:rules:end -->", "&lt;!-- memoranda:rules:end -->"),
            ("a &lt;!-- memoranda:rules:x", "a &amp;lt;!-- memoranda:rules:x"),
            ("&amp;lt;!-- memoranda:rules:", "&amp;amp;lt;!-- memoranda:rules:"),
            ("lt;!-- memoranda:rules:", "lt;!-- memoranda:rules:"),
            (
                "<!-- Made by `memoranda rules generate`",
                "&lt;!-- Made by `memoranda rules generate`",
            ),
            (
                "<!-- memoranda:rules:<!-- memoranda:rules:",
                "&lt;!-- memoranda:rules:&lt;!-- memoranda:rules:",
            ),
        ] {
            assert_eq!(escape_marks(text), expected);
            assert_eq!(unescape_marks(expected), text);
        }
    }
}
