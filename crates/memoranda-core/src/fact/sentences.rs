//! Sentence splitter that recognizes the dots of versions, numbers, addresses, file names,
//! abbreviations and initials.

/// Abbreviations that end in a dot, in lower case and without the dot.
const ABBREVIATIONS: &[&str] = &[
    "eg", "ie", "etc", "vs", "cf", "ca", "al", "approx", "incl", "excl", "resp", "no", "nr", "vol",
    "fig", "sec", "ch", "p", "pp", "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "inc", "ltd",
    "co", "corp", "dept", "est", "min", "max", "avg", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "tues", "wed", "thu", "thur", "thurs",
    "fri", "sat", "sun",
];

/// Abbreviations that can end a sentence before a capital.
const MAY_END: &[&str] = &["etc", "no", "co", "inc", "ltd", "corp", "min", "max", "a.m", "p.m"];

/// Words that begin a sentence and are not names; only these begin a sentence after an initial or
/// `U.S.`.
const BEGINNINGS: &[&str] = &[
    "a", "after", "all", "also", "an", "and", "are", "as", "at", "before", "both", "but", "by",
    "can", "does", "each", "for", "from", "had", "has", "he", "her", "his", "however", "i", "if",
    "in", "is", "it", "its", "knows", "likes", "lives", "made", "must", "my", "needs", "no", "not",
    "now", "on", "or", "our", "owns", "prefers", "runs", "she", "so", "some", "that", "the",
    "their", "then", "there", "these", "they", "this", "those", "to", "today", "uses", "wants",
    "was", "we", "were", "when", "which", "who", "will", "with", "works", "you",
];

/// Returns the number of sentences of a text.
pub fn sentence_count(text: &str) -> usize {
    sentences(text).len()
}

/// Returns the sentences of a text, trimmed, with their end marks.
pub fn sentences(text: &str) -> Vec<&str> {
    let quotes = quotes(text);
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                let mut is_closed = false;
                // Adjacent marks with closing quotes or brackets are one end.
                while let Some((_, c)) = chars.next_if(|(_, c)| ".!?…\"'”’)]".contains(*c)) {
                    is_closed |= "\"”".contains(c);
                }
                let next = chars.peek().map_or(text.len(), |(at, _)| *at);
                let after = text.get(next..).unwrap_or_default();
                let is_quoted = quotes.iter().any(|quote| quote.contains(&at));
                // A quotation is one unit; only its end can end the sentence.
                let goes_on = is_quoted && (!is_closed || begins_lowercase(after));
                !goes_on && ends_sentence(text.get(start..at).unwrap_or_default(), c, after)
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

/// Returns the quotations within a text, unless the whole text is one. An inch mark opens no
/// quotation.
fn quotes(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut open, mut before) = (None, None::<char>);
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('"' | '“', None) if before.is_none_or(|c| c.is_whitespace() || "([".contains(c)) => {
                open = Some(at);
            }
            ('"' | '”', Some(start)) => {
                found.push(start..at);
                open = None;
            }
            _ => {}
        }
        before = Some(c);
    }
    let is_whole = |quote: &std::ops::Range<usize>| {
        let rest = text.get(quote.end..).unwrap_or_default();
        text.get(..quote.start).unwrap_or_default().trim().is_empty()
            && !rest.contains(char::is_alphanumeric)
    };
    found.retain(|quote| !is_whole(quote));
    found
}

/// Returns true if the text begins with a lower-case letter.
fn begins_lowercase(text: &str) -> bool {
    text.trim_start().chars().next().is_some_and(char::is_lowercase)
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

/// Returns true if a mark between `before` and `after` ends a sentence.
fn ends_sentence(before: &str, mark: char, after: &str) -> bool {
    let Some(next) = after.chars().next() else { return true };
    if !next.is_whitespace() {
        // The dot is inside a version, number, address or file name.
        return false;
    }
    let mut further = after.split_whitespace();
    let Some(next) = further.next() else { return true };
    if mark != '.' {
        return true;
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || "([\"'“‘".contains(c)).next();
    let word = word.unwrap_or_default();
    let lower = word.to_lowercase();
    if MAY_END.contains(&lower.as_str()) {
        return next.starts_with(char::is_uppercase);
    }
    if ABBREVIATIONS.contains(&lower.as_str()) {
        return false;
    }
    // `J. Smith` and `the U.S. Army` continue; `plan B. Then` and `in the U.S. It` end.
    if is_dotted(word) {
        let next = next.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_sentence = BEGINNINGS.contains(&next.as_str());
        return word == "I"
            || (!begins_lowercase(after) && is_sentence && !is_initial(before, word));
    }
    // `1. first` is a list number.
    let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    if is_number && (begins_lowercase(after) || is_next_number(before, word)) {
        return false;
    }
    // People write `one fact. another fact`; a short capitalized word is more likely an
    // abbreviation.
    let letters = word.chars().count();
    !begins_lowercase(after) || letters > 4 || (letters > 2 && word.starts_with(char::is_lowercase))
}

/// Returns true if a number begins a sentence or continues a numbering: `1. this 2. that`.
fn is_next_number(before: &str, word: &str) -> bool {
    let previous = word.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
    before.trim() == word
        || previous.is_some_and(|n| before.split_whitespace().any(|word| word == format!("{n}.")))
}

/// Returns true if a word is a letter, or letters with dots: `J`, `U.S.A`, `Ph.D`.
fn is_dotted(word: &str) -> bool {
    let is_letter = |part: &str| {
        let count = part.chars().count();
        (count == 1 || (count == 2 && word.contains('.'))) && part.chars().all(char::is_alphabetic)
    };
    word.split('.').all(is_letter)
}

/// Returns true if a letter begins a sentence and is therefore an initial.
fn is_initial(before: &str, word: &str) -> bool {
    !word.contains('.') && before.trim() == word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_within_words_end_no_sentence() {
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
            ("The U.N. and the E.U. met in the U.K. last week", 1),
            ("The U.S. Army works with the U.N. Security Council and the E.U. too", 1),
            ("Lives in the U.S. He works at M.I.T. It is far.", 3),
            ("Meets at 5 p.m. on Mon. and Wed. each week", 1),
            ("Ends at 5 p.m. Starts at 3 a.m. Closed on Sun.", 3),
            ("Has a Ph.D. from St. Andrews, an M.Sc. from M.I.T. and a B.A. too", 1),
            ("U.S.A. is big. J. R. R. Tolkien wrote it.", 2),
            ("The trilogy of books was written by J. R. R. Tolkien and C. S. Lewis", 1),
            ("They chose plan B. Then they left. It was late.", 3),
            ("1. one 2. two 3. three items", 1),
            ("1. Install node 2. Run it 3. Check it", 1),
            ("Step 1. install 2. run 3. check", 1),
            ("He said \"Hi. Bye. Ok.\" loudly", 1),
            ("He asked \"Why? What for?\" and left", 1),
            ("\"Works at Google. Lives in Kyiv. Uses Rust.\"", 3),
            ("Has a 5\" disk. It spins. It hums at 3\" away.", 3),
            ("Works at Acme Inc. in Washington D.C. with Bob Jr. and others", 1),
            ("Paper by J. Doe et al. in vol. 3, p. 7, no. 12", 1),
            ("Takes approx. 5 min. to run on avg. hardware", 1),
            ("works at google. lives in kyiv. uses windows.", 3),
            ("Works at Google. lives in Berlin. uses Windows.", 3),
        ] {
            assert_eq!(sentence_count(text), count, "{text:?}: {:?}", sentences(text));
        }
    }
}
