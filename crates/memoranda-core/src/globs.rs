//! Splits comma-separated lists of globs.

/// Splits a text at commas and trims the parts. A comma within balanced braces belongs to its glob
/// (`src/*.{ts,tsx}`); unbalanced braces have no effect.
pub fn split_globs(text: &str) -> Vec<String> {
    let is_closed = depth_after(text) == Some(0);
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for c in text.chars() {
        match c {
            '{' if is_closed => depth += 1,
            '}' if is_closed => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let parts = parts.into_iter().map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns the number of braces open at the end; `None` if a brace closes that was never opened.
fn depth_after(text: &str) -> Option<usize> {
    text.chars().try_fold(0_usize, |depth, c| match c {
        '{' => Some(depth + 1),
        '}' => depth.checked_sub(1),
        _ => Some(depth),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_within_braces_is_part_of_a_glob() {
        for (text, expected) in [
            ("", &[][..]),
            (" , ", &[]),
            ("a, b,", &["a", "b"]),
            ("src/**/*.{ts,tsx}", &["src/**/*.{ts,tsx}"]),
            ("src/*.{ts,{c,m}js}, *.md", &["src/*.{ts,{c,m}js}", "*.md"]),
            ("a{b, c", &["a{b", "c"]),
            ("a}b, c{", &["a}b", "c{"]),
        ] {
            assert_eq!(split_globs(text), expected, "{text}");
        }
    }
}
