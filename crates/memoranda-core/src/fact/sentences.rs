//! Counting sentences without being fooled by the dots of versions, numbers, addresses, file
//! names, abbreviations and initials.

/// Words that end in a dot without ending a sentence, in lower case and without the dot.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "ca", "approx", "incl", "excl", "resp", "no",
    "nr", "vol", "fig", "sec", "ch", "p", "pp", "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr",
    "inc", "ltd", "co", "corp", "dept", "est", "min", "max", "avg", "a.m", "p.m", "u.s", "u.k",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Abbreviations that are also the last word of a sentence: they end one before a capital.
const MAY_END: &[&str] =
    &["etc", "no", "co", "inc", "ltd", "corp", "a.m", "p.m", "u.s", "u.k", "min", "max"];

/// How many sentences a text has.
pub fn sentence_count(text: &str) -> usize {
    sentences(text).len()
}

/// The sentences of a text, each trimmed and with its mark.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                // Marks in a row, and quotes or brackets that close behind them, are one end.
                while chars.peek().is_some_and(|(_, c)| ".!?…\"'”’)]".contains(*c)) {
                    chars.next();
                }
                let next = chars.peek().map_or(text.len(), |(at, _)| *at);
                ends_sentence(text.get(start..at).unwrap_or_default(), c, text.get(next..))
            }
            _ => false,
        };
        if ends {
            let end = chars.peek().map_or(text.len(), |(at, _)| *at);
            push(&mut found, text.get(start..end));
            start = end;
        }
    }
    push(&mut found, text.get(start..));
    found
}

fn push<'t>(found: &mut Vec<&'t str>, part: Option<&'t str>) {
    let part = part.unwrap_or_default().trim();
    if part.chars().any(char::is_alphanumeric) {
        found.push(part);
    } else if let Some(last) = found.last_mut()
        && part.is_empty()
    {
        *last = last.trim_end();
    }
}

/// Whether a mark after `before` and with `after` behind it ends a sentence.
fn ends_sentence(before: &str, mark: char, after: Option<&str>) -> bool {
    let after = after.unwrap_or_default();
    let Some(next) = after.chars().next() else { return true };
    if !next.is_whitespace() {
        // Inside a version, a number, an address, a file name.
        return false;
    }
    let Some(first) = after.trim_start().chars().next() else { return true };
    if mark != '.' {
        return true;
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || "([\"'“‘".contains(c)).next();
    let word = word.unwrap_or_default();
    let lower = word.to_lowercase();
    let mut letters = word.chars();
    let single = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
    // `J. Smith`, but not `plan B. Then`: an initial stands before a name and after nothing long.
    if single && first.is_uppercase() {
        return word == "I" || before.split_whitespace().count() > 3;
    }
    // `1. first` numbers what follows.
    let numbered =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) && before.trim() == word;
    if numbered {
        return false;
    }
    if ABBREVIATIONS.contains(&lower.as_str()) {
        return MAY_END.contains(&lower.as_str()) && first.is_uppercase();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_within_words_end_nothing() {
        for (text, count) in [
            ("Uses python-docx 1.2.0", 1),
            ("Uses lxml 6.0.2", 1),
            ("update_portfolio.py is main script", 1),
            ("Final file: shevchenko-viktoria-yevgenivna-v4.docx", 1),
            ("Runs on https://example.com/a.b?c=d.e!f and 10.0.0.1", 1),
            ("See e.g. the docs, i.e. README.md, etc.", 1),
            ("Costs 3.50 USD vs. 4.00 USD", 1),
            ("Written by J. Smith", 1),
            ("Dr. Smith works at Acme Inc. in Berlin", 1),
            ("1. Install node.js", 1),
            ("Is it done? Yes! Good.", 3),
            ("One. Two. Three", 3),
            ("one fact. another fact. a third fact", 3),
            ("Really?! No way...", 2),
            ("Works at Google Inc. Lives in Kyiv.", 2),
            ("He said \"stop.\" Then he left.", 2),
            ("first line\nsecond line\n\nthird", 3),
            ("東京に住む。犬が好き。", 2),
            ("...", 0),
            ("", 0),
            (".env holds the keys", 1),
        ] {
            assert_eq!(sentence_count(text), count, "{text:?}: {:?}", sentences(text));
        }
    }
}
