//! Wildcards in names and texts.

/// Returns true if a whole text matches a pattern: `*` matches any text, `?` one character. Takes
/// time proportional to the product of the lengths, however many stars the pattern has.
pub fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Position after the last star, and the end of the text that the star matches.
    let mut last_star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                last_star = Some((p, t));
            }
            Some(own) if *own == '?' || own == c => (p, t) = (p + 1, t + 1),
            // Backtrack: the last star matches one more character.
            _ => match last_star {
                Some((after, end)) => {
                    last_star = Some((after, end + 1));
                    (p, t) = (after, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|own| *own == '*')
}

#[cfg(test)]
mod tests {
    use super::matches_wildcard;

    #[test]
    fn stars_match_any_text_and_question_marks_one_character() {
        for (pattern, text, expected) in [
            ("a/*", "a/b/c", true),
            ("a/*", "b/a/c", false),
            ("*/c", "a/c/b/c", true),
            ("*/c", "a/cd", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*", "", true),
            ("?", "", false),
            ("n?te", "note", true),
            ("é?", "és", true),
            ("a**", "a", true),
        ] {
            assert_eq!(matches_wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let text = "a".repeat(5_000);
        assert!(!matches_wildcard(&format!("{}b", "a*".repeat(50)), &text));
    }
}
