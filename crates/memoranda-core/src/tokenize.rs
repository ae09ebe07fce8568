//! Tokenization. The full-text index, queries and snippets must tokenize alike; otherwise a note
//! would match by a word that no snippet can show.
//!
//! Tokens equal those of SQLite's `unicode61` tokenizer: runs of letters and digits with combining
//! marks. Scripts without spaces (Chinese, Japanese, Korean, Thai) yield one token per character;
//! [`index_text`] makes the index do the same.
//!
//! A letter can be one character or several (`й`, or `и` with a combining breve as in macOS file
//! names). Index and query use the composed form (NFC).

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::{compose, decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Prepares a text for the full-text index: NFC, with spaces around characters of scripts without
/// spaces.
pub fn index_text(text: &str) -> Cow<'_, str> {
    match to_nfc(text) {
        Cow::Borrowed(text) => space_unspaced(text),
        Cow::Owned(text) => Cow::Owned(space_unspaced(&text).into_owned()),
    }
}

/// Composes a text to NFC; returns most texts unchanged.
pub fn to_nfc(text: &str) -> Cow<'_, str> {
    let is_composed = text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes;
    if is_composed { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Returns the distinct Unicode forms of a text: unchanged, NFC and NFD. For byte-wise comparison
/// with texts of unknown form.
pub fn unicode_forms(text: &str) -> Vec<String> {
    let mut forms = vec![text.to_owned()];
    if !text.is_ascii() {
        let others: [String; 2] = [text.nfc().collect(), text.nfd().collect()];
        forms.extend(others.into_iter().filter(|other| other != text));
        forms.dedup();
    }
    forms
}

/// Adds spaces around characters of scripts without spaces.
fn space_unspaced(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unspaced) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut spaced = String::with_capacity(text.len() + rest.len() / 2);
    spaced.push_str(before);
    let mut previous = before.chars().next_back().unwrap_or(' ');
    for c in rest.chars() {
        let joined = (is_unspaced(c) && continues_word(previous))
            || (is_unspaced(previous) && begins_word(c));
        if joined {
            spaced.push(' ');
        }
        spaced.push(c);
        // A combining mark belongs to the character before it, which decides about the next one.
        if !is_combining_mark(c) {
            previous = c;
        }
    }
    Cow::Owned(spaced)
}

/// Returns the words of a text in order, with their byte ranges.
pub fn tokenize(text: &str) -> WordTokens<'_> {
    WordTokens { text, at: 0 }
}

/// Iterator over the words of a text; see [`tokenize`].
#[derive(Clone, Debug)]
pub struct WordTokens<'t> {
    text: &'t str,
    at: usize,
}

/// A word of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordToken<'t> {
    /// The word as written.
    pub text: &'t str,
    /// Byte range in the text.
    pub span: Range<usize>,
}

impl<'t> Iterator for WordTokens<'t> {
    type Item = WordToken<'t>;

    fn next(&mut self) -> Option<WordToken<'t>> {
        // Fast path: a word of ASCII letters between ASCII separators.
        let rest = self.text.as_bytes().get(self.at..)?;
        let gap = rest.iter().take_while(|b| kind(b) == ByteKind::Between).count();
        let start = self.at + gap;
        let word = rest.get(gap..)?;
        let length = word.iter().take_while(|b| kind(b) == ByteKind::Plain).count();
        if length > 0 && word.get(length).is_none_or(u8::is_ascii) {
            self.at = start + length;
            return Some(WordToken { text: self.text.get(start..self.at)?, span: start..self.at });
        }
        self.next_from(start)
    }
}

impl<'t> WordTokens<'t> {
    fn next_from(&mut self, start: usize) -> Option<WordToken<'t>> {
        let start = start + self.text.get(start..)?.find(begins_word)?;
        let word = self.text.get(start..)?;
        let mut chars = word.char_indices();
        let (_, first) = chars.next()?;
        let length = if is_unspaced(first) {
            // Characters that compose with the first one belong to it, such as the letters of a
            // Korean syllable.
            let parts = chars.scan(first, |whole, (_, part)| {
                *whole = compose(*whole, part)?;
                Some(part.len_utf8())
            });
            first.len_utf8() + parts.sum::<usize>()
        } else {
            let end = chars.find(|&(_, c)| !continues_word(c) || is_unspaced(c));
            end.map_or(word.len(), |(end, _)| end)
        };
        self.at = start + length;
        Some(WordToken { text: word.get(..length)?, span: start..self.at })
    }
}

/// Class of a byte for tokenization.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    /// An ASCII separator.
    Between,
    /// An ASCII letter or digit.
    Plain,
    /// Part of a non-ASCII character.
    Other,
}

/// Classifies a byte by table lookup; every byte of every compared text passes here.
fn kind(byte: &u8) -> ByteKind {
    const KINDS: [ByteKind; 256] = {
        let mut kinds = [ByteKind::Between; 256];
        let mut byte = 0;
        while byte < 256 {
            if byte >= 128 {
                kinds[byte] = ByteKind::Other;
            } else if (byte as u8).is_ascii_alphanumeric() {
                kinds[byte] = ByteKind::Plain;
            }
            byte += 1;
        }
        kinds
    };
    KINDS[usize::from(*byte)]
}

/// Returns true if a character belongs to a script without spaces between words.
pub fn is_unspaced(c: char) -> bool {
    // Thai vowel signs and tone marks are excluded, because the index treats them as separators.
    matches!(c,
        '\u{0E01}'..='\u{0E30}' | '\u{0E32}'..='\u{0E33}' | '\u{0E40}'..='\u{0E46}'
        | '\u{1100}'..='\u{11FF}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{3105}'..='\u{312F}'
        | '\u{3131}'..='\u{318E}' | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9D}' | '\u{20000}'..='\u{323AF}')
}

/// Folds a word for comparison: lower case, without diacritics, at most 64 characters.
pub fn fold(word: &str) -> Cow<'_, str> {
    const MAX_FOLDED_CHARS: usize = 64;
    if word.is_ascii() {
        let word = word.get(..MAX_FOLDED_CHARS).unwrap_or(word);
        if word.bytes().any(|b| b.is_ascii_uppercase()) {
            return Cow::Owned(word.to_ascii_lowercase());
        }
        return Cow::Borrowed(word);
    }
    // A letter decomposes into at most four characters.
    let decomposed =
        word.chars().take(4 * MAX_FOLDED_CHARS).nfd().filter(|&c| !is_combining_mark(c));
    Cow::Owned(decomposed.flat_map(char::to_lowercase).nfc().take(MAX_FOLDED_CHARS).collect())
}

/// Folds a word as the index does before stemming: lower case, without diacritics on Latin letters.
/// In other scripts a marked letter is a letter of its own: `й` differs from `и`.
pub fn fold_for_index(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return fold(word);
    }
    let mut kept = String::with_capacity(word.len());
    for c in to_nfc(word).chars().filter(|&c| !is_combining_mark(c)) {
        let mut base = None;
        decompose_canonical(c, |part| base = base.or(Some(part)));
        match base.filter(char::is_ascii) {
            Some(base) => kept.push(base.to_ascii_lowercase()),
            // The final sigma is the same letter.
            None if c == 'ς' => kept.push('σ'),
            None => kept.extend(c.to_lowercase()),
        }
    }
    Cow::Owned(kept)
}

/// Removes the most common English suffixes. An approximation for snippets and titles, where the
/// index's stemmer is not used.
pub(crate) fn stem(word: &str) -> &str {
    let strip = |ending: &str, least: usize| {
        word.strip_suffix(ending).filter(|rest| rest.chars().nth(least - 1).is_some())
    };
    let rest = strip("ies", 2)
        .or_else(|| strip("ied", 2))
        .or_else(|| strip("ing", 3))
        .or_else(|| strip("es", 3))
        .or_else(|| strip("ed", 3))
        .or_else(|| strip("s", 2).filter(|rest| !rest.ends_with('s')))
        .unwrap_or(word);
    // `note` and `notes`, `study` and `studies`, `plan` and `planned` get the same stem.
    let rest = rest.strip_suffix(['e', 'y']).filter(|rest| rest.len() > 1).unwrap_or(rest);
    let mut last = rest.chars().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && a.is_ascii_alphabetic() && rest.len() > 3 => {
            rest.get(..rest.len() - 1).unwrap_or(rest)
        }
        _ => rest,
    }
}

fn begins_word(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c)
}

fn continues_word(c: char) -> bool {
    begins_word(c) || (!c.is_ascii() && is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_equal_those_of_the_index() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<_> = tokenize(text).map(|word| word.text).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("", &[]);
        check(" -- ++", &[]);
        check("foo-bar a.b user@x C++", &["foo", "bar", "a", "b", "user", "x", "C"]);
        check("snake_case v2", &["snake", "case", "v2"]);
        check("cafe\u{301} naïve", &["cafe\u{301}", "naïve"]);
        check("Rust言語です", &["Rust", "言", "語", "で", "す"]);
        check("東京 2026年", &["東", "京", "2026", "年"]);
        check("ที่", &["ท"]);
        check("हिन्दी", &["हिन्दी"]);
        check(
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}",
            &["\u{1112}\u{1161}\u{11ab}", "\u{1100}\u{116e}"],
        );
        check("하\u{11ab}국", &["하\u{11ab}", "국"]);
        check("か\u{3099}き", &["か\u{3099}", "き"]);
    }

    #[test]
    fn only_unspaced_scripts_are_spaced_out() {
        for same in ["", "plain text", "naïve café", "日 本"] {
            assert_eq!(index_text(same), same);
        }
        assert!(matches!(index_text("ascii"), Cow::Borrowed(_)));
        assert_eq!(index_text("Rust言語、です!"), "Rust 言 語、で す!");
        assert_eq!(index_text("2026年x"), "2026 年 x");
        assert_eq!(index_text("한국어"), "한 국 어");
        assert_eq!(index_text("ท\u{301}1"), "ท\u{301} 1");
    }

    #[test]
    fn queries_are_normalized_to_nfc() {
        for (written, expected) in [
            ("и\u{306}од", "йод"),
            ("\u{1112}\u{1161}\u{11ab}국어", "한 국 어"),
            ("α\u{301}λλα", "άλλα"),
            ("Vie\u{323}\u{302}t", "Việt"),
            ("か\u{3099}き", "が き"),
            ("q\u{301}", "q\u{301}"),
        ] {
            assert_eq!(index_text(written), expected);
            assert_eq!(to_nfc(&to_nfc(written)), to_nfc(written));
        }
        for (text, count) in
            [("plain", 1), ("йод", 2), ("и\u{306}од", 2), ("йи\u{306}", 3), ("語", 1)]
        {
            assert_eq!(unicode_forms(text).len(), count, "{text}");
            assert_eq!(unicode_forms(text)[0], text);
        }
        for same in ["plain", "naïve йод", "한국어", "हिन्दी", "ที่"] {
            assert!(matches!(to_nfc(same), Cow::Borrowed(_)), "{same}");
        }
    }

    #[test]
    fn index_folding_keeps_non_latin_letters() {
        for (word, expected) in [
            ("Plain", "plain"),
            ("CAFÉ", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("Vie\u{323}\u{302}t", "viet"),
            ("Й\u{301}од", "йод"),
            ("И\u{306}од", "йод"),
            ("ΛΌΓΟΣ", "λόγοσ"),
            ("λο\u{301}γος", "λόγοσ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
        ] {
            assert_eq!(fold_for_index(word), expected);
        }
    }

    #[test]
    fn folding_removes_case_and_accents() {
        for (word, folded) in [
            ("Plain", "plain"),
            ("CAFÉ", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("한", "한"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("ß", "ß"),
        ] {
            assert_eq!(fold(word), folded);
        }
        assert_eq!(fold(&"x".repeat(1000)).len(), 64);
        assert_eq!(fold(&"и\u{306}".repeat(1000)), fold(&"й".repeat(1000)));
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["note", "notes", "noted", "noting"][..],
            &["study", "studies", "studied", "studying"],
            &["plan", "plans", "planned", "planning"],
            &["match", "matches", "matched", "matching"],
            &["class", "classes"],
        ] {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
        for short in ["", "s", "as", "is", "yes", "red", "ring", "é", "ss", "ies"] {
            assert!(short.starts_with(stem(short)));
        }
        assert_ne!(stem("bus"), stem("but"));
    }

    proptest! {
        #[test]
        fn the_ascii_fast_path_equals_the_slow_path(text in "\\PC{0,60}|[a語 ที่é_\u{301}-]{0,40}") {
            let mut long = WordTokens { text: &text, at: 0 };
            let long = std::iter::from_fn(|| long.next_from(long.at));
            prop_assert!(tokenize(&text).eq(long));
        }

        #[test]
        fn tokens_are_ordered_and_survive_indexing(text in "\\PC{0,60}|[a語 ที่é_-]{0,40}|[aи\u{306}か\u{3099}\u{1112}\u{1161}\u{11ab} ]{0,40}") {
            let mut end = 0;
            for word in tokenize(&text) {
                prop_assert!(end <= word.span.start && word.span.start < word.span.end);
                prop_assert_eq!(&text[word.span.clone()], word.text);
                end = word.span.end;
            }
            let indexed = index_text(&text);
            let whole = to_nfc(&text);
            prop_assert!(tokenize(&whole).map(|w| w.text).eq(tokenize(&indexed).map(|w| w.text)));
            prop_assert!(tokenize(&text).map(|w| fold(w.text)).eq(tokenize(&whole).map(|w| fold(w.text))));
            let again = index_text(&indexed);
            prop_assert_eq!(&again, &indexed);
        }
    }
}
