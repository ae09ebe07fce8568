//! Estimates how many tokens of a model's context a text uses.

/// Average number of bytes per token in ordinary text.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates the number of tokens of a text.
///
/// ```
/// assert_eq!(memoranda_core::token_estimate::estimate_tokens("eight by"), 2);
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// Truncates a text to a number of tokens, at the end of a line or word if one is in the second
/// half of the rest.
pub fn truncate_to_tokens(text: &str, tokens: usize) -> &str {
    let most = tokens.saturating_mul(BYTES_PER_TOKEN);
    if text.len() <= most {
        return text;
    }
    let head = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
    let least = head.len() / 2;
    let line = head.rfind('\n').map(|end| end + 1).filter(|&end| end >= least);
    let end = line.or_else(|| head.rfind(char::is_whitespace).filter(|&end| end >= least));
    end.and_then(|end| head.get(..end)).unwrap_or(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn truncation_ends_at_a_line_or_word() {
        let check = |text, tokens, expected| assert_eq!(truncate_to_tokens(text, tokens), expected);
        check("", 0, "");
        check("word", 0, "");
        check("word", 1, "word");
        check("one two three", 2, "one two");
        check("one two\nthree", 3, "one two\n");
        check("unbroken", 1, "unbr");
        check("日本語", 1, "日");
    }

    proptest! {
        #[test]
        fn truncation_keeps_a_prefix_within_the_budget(text in "\\PC{0,60}", tokens in 0usize..20) {
            let cut = truncate_to_tokens(&text, tokens);
            prop_assert!(text.starts_with(cut) && estimate_tokens(cut) <= tokens);
        }
    }
}
