//! Classifies a value after `password` and similar names: secret, placeholder, reference, code or
//! prose.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::embed::StaticEmbeddingModel;
use crate::query::is_filler;

/// Minimum length in bytes of a secret of letters only.
const MIN_LETTERS_ONLY: usize = 8;

/// Maximum number of bytes of a value, and of the context on either side.
const MAX_VALUE_BYTES: usize = 512;

/// Minimum number of characters of a value.
const MIN_VALUE_CHARS: usize = 6;

/// Minimum number of words of a passphrase.
const MIN_PHRASE_WORDS: usize = 3;
/// Maximum number of words of a passphrase; a longer text is prose.
const MAX_PHRASE_WORDS: usize = 16;

/// A value that may be a secret.
pub(super) struct SecretValue<'t> {
    text: &'t str,
    /// Offset of the value's name.
    name: usize,
    span: Range<usize>,
    bounds: ValueBounds,
}

/// Delimiter at the end of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueBounds {
    /// The quote that opened the value.
    Quotes,
    /// A blank, or a separator before the next value.
    Plain,
}

impl<'t> SecretValue<'t> {
    /// Reads the value at `start` whose name is at `name`.
    pub(super) fn read_at(text: &'t str, name: usize, start: usize) -> Self {
        let most = text.floor_char_boundary(start.saturating_add(MAX_VALUE_BYTES));
        let rest = text.get(start..most).unwrap_or_default();
        let quote = text[..start].chars().next_back().filter(|c| QUOTES.contains(c));
        let (length, bounds) = match quote.and_then(|quote| quoted_length(rest, quote)) {
            Some(length) => (length, ValueBounds::Quotes),
            None => {
                let before =
                    &text[text.floor_char_boundary(start.saturating_sub(MAX_VALUE_BYTES))..start];
                let is_table = before.rsplit('\n').next().is_some_and(|line| line.contains('|'));
                (
                    unquoted_length(
                        rest,
                        if is_table { ValueContext::Table } else { ValueContext::Text },
                    ),
                    ValueBounds::Plain,
                )
            }
        };
        Self { text, name, span: start..start + length, bounds }
    }

    /// Returns the byte range of the value.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the part of the value that decides; without quotes, the part before a separator.
    fn decisive_part(&self) -> &'t str {
        let value = &self.text[self.span()];
        match self.bounds {
            ValueBounds::Quotes => value,
            ValueBounds::Plain => {
                value.split(|c| QUOTES.contains(&c) || ",;|".contains(c)).next().unwrap_or_default()
            }
        }
    }

    /// Returns true if the value of `password: value` is a secret.
    pub(super) fn is_assigned_secret(&self) -> bool {
        let (lead, value) = (self.text_before(), trim_punctuation(self.decisive_part()));
        let end = self.span.end;
        let rest =
            &self.text[end..self.text.floor_char_boundary(end.saturating_add(MAX_VALUE_BYTES))];
        if is_short(self.decisive_part()) || is_placeholder(value, rest) || is_reference(value) {
            return false;
        }
        if value.contains(char::is_whitespace) {
            return is_secret_phrase(lead, value);
        }
        let has = |test: fn(char) -> bool| value.chars().any(test);
        if has(|c| c.is_ascii_digit()) {
            return has(|c| !c.is_ascii_digit()) || value.len() >= MIN_LETTERS_ONLY;
        }
        if has(|c| "!#%^*?+~@$=".contains(c)) {
            return true;
        }
        if has(|c| !c.is_alphabetic() && c != '-') || names_itself(value) {
            return false;
        }
        if value.contains('-') {
            return value.split('-').count() >= MIN_PHRASE_WORDS;
        }
        let is_alone = !lead.contains('\n') && !sentence_continues(rest);
        value.len() >= MIN_LETTERS_ONLY
            && value.is_ascii()
            && is_alone
            && !StaticEmbeddingModel::bundled().is_known_word(value)
    }

    /// Returns true if the value of `the password is value` is a secret: it must look random, or be
    /// a passphrase.
    pub(super) fn is_spoken_secret(&self) -> bool {
        let value = trim_punctuation(self.decisive_part());
        if is_short(self.decisive_part()) || is_placeholder(value, "") || is_reference(value) {
            return false;
        }
        if value.contains(char::is_whitespace) {
            is_secret_phrase(self.text_before(), value)
        } else {
            looks_random(value)
        }
    }

    /// Returns the text from the value's name to the value.
    fn text_before(&self) -> &'t str {
        &self.text[self.name..self.span.start]
    }
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Surroundings of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueContext {
    Text,
    Table,
}

/// Returns the length of a quoted value; `None` if the quote is not closed in its line.
fn quoted_length(rest: &str, quote: char) -> Option<usize> {
    let line = rest.lines().next().unwrap_or_default();
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        // An apostrophe within a word does not close the value.
        let goes_on = || line[at + 1..].starts_with(char::is_alphanumeric);
        if is_end && (quote != '\'' || !goes_on()) {
            return Some(at);
        }
    }
    None
}

/// Returns the length of an unquoted value. A comma or quote before a word belongs to the value,
/// unless the name of another value follows.
fn unquoted_length(rest: &str, row: ValueContext) -> usize {
    static NAME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"^["'`]?[A-Za-z_][\w .-]{0,40}["'`]?[ \t]*[:=]"#).ok());
    let ends = |(at, c): &(usize, char)| {
        let after = &rest[at + c.len_utf8()..];
        match *c {
            ',' | ';' => {
                !after.starts_with(char::is_alphanumeric)
                    || NAME.as_ref().is_some_and(|name| name.is_match(after))
            }
            '|' => row == ValueContext::Table || !after.starts_with(char::is_alphanumeric),
            c if QUOTES.contains(&c) => !after.starts_with(char::is_alphanumeric),
            c => c.is_whitespace(),
        }
    };
    rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at)
}

fn is_short(value: &str) -> bool {
    value.chars().nth(MIN_VALUE_CHARS - 1).is_none()
}

/// Returns true if one word looks random, or if all words look like a passphrase and none is a
/// function word.
fn is_secret_phrase(lead: &str, value: &str) -> bool {
    let words =
        value.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> =
        words.filter(|word| !word.is_empty()).take(MAX_PHRASE_WORDS + 1).collect();
    if words.len() > MAX_PHRASE_WORDS {
        return false;
    }
    let said = words.iter().filter(|word| is_sentence_word(word)).count();
    if words.iter().any(|word| looks_random(word) || has_inner_sign(word)) {
        return said * 2 < words.len();
    }
    let is_small = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let is_capital = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && is_small(&word.get(1..).unwrap_or_default())
    };
    let lead = lead.to_lowercase();
    let names_password = ["pass", "pwd", "kennwort"].iter().any(|name| lead.contains(name));
    names_password
        && said == 0
        && words.len() >= MIN_PHRASE_WORDS
        && words.iter().all(|word| word.len() > 2)
        && (words.iter().all(is_small) || words.iter().all(is_capital))
}

/// Words about passwords, and common words of sentences about them.
const SENTENCE_WORDS: &str = "\
    account admin after allowed ask authentication before cannot change changed character \
    characters choose confirm contain contains credentials default digits each email empty \
    encrypted enter environment error every example expired failed field file forgot forgotten \
    form format generated hashed here hidden incorrect input invalid kept key keys label least \
    length letters login lowercase manager match maximum minimum missing more most name needed \
    new no none not number numbers old only optional parameter passphrase passphrases passwd \
    password passwords please policy prompt protected pwd repeat required reset rotated same \
    secret secrets see set settings short sign stored strength string strong symbols text \
    token tokens too type under unknown until update uppercase use used user username uses \
    using valid value variable vault via weak within without wrong";

/// Returns true if a word is a stop word or a word about passwords.
fn is_sentence_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| SENTENCE_WORDS.split_whitespace().collect());
    is_filler(word) || WORDS.contains(word.to_ascii_lowercase().as_str())
}

/// Returns true if a word contains a symbol.
fn has_inner_sign(word: &str) -> bool {
    word.contains(['!', '$', '%', '^', '@', '#']) && !word.contains('.')
}

/// Returns true if a word has lower-case letters and a digit, and is not a common term with digits.
fn looks_random(word: &str) -> bool {
    static COMMON: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // Algorithms and versions, quantities, file names, tests.
        let common = r"(?xi) ^(?: (?:sha|md|base|utf|oauth|argon|https?|ed|aes|rsa|pbkdf|fido|ipv|v|ver|python|step|part|page|line|version|level|type|option|test|user|slide|issue|chapter|section|item|figure|table|build|run|round|phase|stage|case|job)-?[0-9]+(?:[^a-z0-9].*|[a-z]{0,7})
            | [0-9]+(?:st|nd|rd|th|-.*|[a-z]+) | [0-9]+(?:[.,][0-9]+)?[a-zµ%]+(?:-[0-9.,]+[a-zµ%]+)? | tests?[_-].* | .*\.[a-z]{1,4} )$";
        Regex::new(common).ok()
    });
    let word = word.trim_start_matches('(');
    is_random(word)
        && word.chars().any(|c| c.is_ascii_lowercase())
        && !is_placeholder(word, "")
        && !is_reference(word)
        && !word.contains(['/', '\\'])
        && !COMMON.as_ref().is_some_and(|common| common.is_match(word))
}

/// Returns true if a value contains a digit and another character.
pub(super) fn is_random(value: &str) -> bool {
    value.chars().any(|c| c.is_ascii_digit()) && value.chars().any(|c| !c.is_ascii_digit())
}

/// Removes punctuation at the end of a sentence.
fn trim_punctuation(value: &str) -> &str {
    value.trim_end_matches(['.', ')', ':', '*'])
}

/// Returns true if the whole value is a placeholder; `example` can be part of a password.
pub(super) fn is_placeholder(value: &str, rest: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words = "(?i)^(?:(?:your|the|some|new|old|an?|example|sample|dummy|placeholder|change|me|here|goes|insert|enter|redacted|hidden|removed|secret|password|passphrase|passwd|pwd|pass|token|key|api|access|auth|client|db|user|value|string|none|null|undefined|true|false|todo|tbd)[-_. ]?)+[0-9]?$";
        Regex::new(words).ok()
    });
    let line = rest.lines().next().unwrap_or_default();
    let inner = value.trim_matches(['<', '>', '[', ']', '{', '}', '(']);
    let is_bracketed = value.starts_with('<') && (value.contains('>') || line.contains('>'));
    is_bracketed
        || value.starts_with("[redacted")
        || inner.chars().all(|c| "*xX.•_-#?".contains(c))
        || WORDS.as_ref().is_some_and(|words| words.is_match(inner))
}

/// Returns true if a value is a variable, call, field, path or address.
fn is_reference(value: &str) -> bool {
    static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let reference = r"(?x) ^(?: \$\{.* | \$\(.* | \{\{.* | [\#%]\{.* | \$[A-Z_][A-Z0-9_]* | %[A-Z0-9_]+%?
            | &?[A-Za-z_][\w.:]*[\[(<].* | [a-z][a-z0-9+.-]*://.* | (?:~|\.\.?)/.*
            | [0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T\ ].*)? | v?[0-9]+(?:\.[0-9]+)+ )$";
        Regex::new(reference).ok()
    });
    REFERENCE.as_ref().is_some_and(|reference| reference.is_match(value))
}

/// Returns true if a value is an identifier that names its purpose: `accessToken`, `SecretStr`.
fn names_itself(value: &str) -> bool {
    let lower = value.to_lowercase();
    ["password", "passwd", "secret", "token", "key", "string"].iter().any(|n| lower.contains(n))
}

/// Returns true if a sentence continues after the value.
fn sentence_continues(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    line.trim_start_matches(['"', '\'', '`', '*', '.', ')'])
        .trim_start_matches([' ', '\t'])
        .starts_with(|c: char| c.is_alphanumeric())
}
