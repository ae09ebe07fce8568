//! Escapes the marks of generated files in the text of rules, and words that make a client include
//! another file.

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

/// Escapes every `@` that begins a word: clients replace `@path` in a file of rules by the content of
/// that file. Markdown shows `\@` as `@`.
pub(super) fn escape_imports(text: &str) -> String {
    change_imports(text, |slashes| slashes + 1)
}

/// Reverses `escape_imports`.
pub(super) fn unescape_imports(text: &str) -> String {
    change_imports(text, |slashes| slashes.saturating_sub(1))
}

/// Changes the number of backslashes before each `@` that begins a word.
fn change_imports(text: &str, change: impl Fn(usize) -> usize) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    let mut begins_word = true;
    while let Some(first) = rest.chars().next() {
        let slashes = rest.len() - rest.trim_start_matches('\\').len();
        let is_import =
            begins_word && rest.get(slashes..).is_some_and(|rest| rest.starts_with('@'));
        let taken = if is_import {
            done.extend(std::iter::repeat_n('\\', change(slashes)));
            slashes
        } else {
            0
        };
        let next = if is_import { '@' } else { first };
        done.push(next);
        begins_word = !next.is_alphanumeric();
        rest = rest.get(taken + next.len_utf8()..).unwrap_or_default();
    }
    done
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
    fn no_rule_includes_a_file() {
        for (text, expected) in [
            ("@~/.ssh/id_rsa", r"\@~/.ssh/id_rsa"),
            ("see @docs/x.md and\n@y", "see \\@docs/x.md and\n\\@y"),
            ("(@x) \"@x\" -@x @@x", r#"(\@x) "\@x" -\@x \@\@x"#),
            ("ann@example.org", "ann@example.org"),
            (r"\@x \\@x a\@x", r"\\@x \\\@x a\\@x"),
            (r"C:\x é@x", r"C:\x é@x"),
        ] {
            assert_eq!(escape_imports(text), expected);
            assert_eq!(unescape_imports(expected), text);
        }
    }

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
