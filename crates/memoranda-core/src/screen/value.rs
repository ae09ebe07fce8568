//! What stands where a password could stand: a secret, or a placeholder, a reference, code, prose.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::embed::Model;

/// Letters alone are a secret from this length on; with digits or signs the pattern's will do.
const LEAST_PLAIN: usize = 8;

/// The most bytes that one value has.
const MOST_BYTES: usize = 512;

/// The whole of a value that a pattern has the beginning of.
pub(super) fn whole(text: &str, begun: Range<usize>) -> Range<usize> {
    let most = text.floor_char_boundary(begun.start.saturating_add(MOST_BYTES));
    let rest = text.get(begun.end..most).unwrap_or_default();
    let ends = |c: char| c.is_whitespace() || "\"'`,;|".contains(c);
    begun.start..begun.end + rest.find(ends).unwrap_or(rest.len())
}

/// Whether the value of `password: value` is a secret. `lead` is what stood before it from the
/// name on, `rest` all that follows.
pub(super) fn is_assigned_secret(lead: &str, value: &str, rest: &str) -> bool {
    let value = bare(value);
    if is_placeholder(value, rest) || is_reference(value) {
        return false;
    }
    let has = |test: fn(char) -> bool| value.chars().any(test);
    if has(|c| c.is_ascii_digit()) {
        return has(|c| !c.is_ascii_digit()) || value.len() >= LEAST_PLAIN;
    }
    if has(|c| "!#%^*?+~@$=".contains(c)) {
        return true;
    }
    if has(|c| !c.is_alphabetic() && c != '-') || names_itself(value) {
        return false;
    }
    // A passphrase is of three words and more; with fewer it says where to look.
    if value.contains('-') {
        return value.matches('-').count() >= 2;
    }
    let is_alone = !lead.contains('\n') && !goes_on(rest);
    value.len() >= LEAST_PLAIN && value.is_ascii() && is_alone && !Model::embedded().is_word(value)
}

/// Whether the value of `the password is value` is a secret: it needs small letters and a digit,
/// and must be none of the things with digits that a sentence goes on with.
pub(super) fn is_spoken_secret(value: &str) -> bool {
    static COMMON: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // Algorithms and versions, quantities, file names.
        let common = r"(?xi) ^(?: (?:sha|md|base|utf|oauth|argon|https?|ed|aes|rsa|pbkdf|fido|ipv|v|ver|python|step|part|page|line|version|level|type|option|test|user|slide|issue|chapter)-?[0-9]+(?:[^a-z0-9].*|[a-z]{0,7})
            | [0-9]+(?:st|nd|rd|th|-.*|[a-z]+) | .*\.[a-z]{1,4} )$";
        Regex::new(common).ok()
    });
    let value = bare(value);
    is_random(value)
        && value.chars().any(|c| c.is_ascii_lowercase())
        && !is_placeholder(value, "")
        && !is_reference(value)
        && !value.contains(['/', '\\'])
        && !COMMON.as_ref().is_some_and(|common| common.is_match(value))
}

/// Whether a value has a digit and something else.
pub(super) fn is_random(value: &str) -> bool {
    value.chars().any(|c| c.is_ascii_digit()) && value.chars().any(|c| !c.is_ascii_digit())
}

/// Without what only ends a sentence.
fn bare(value: &str) -> &str {
    value.trim_end_matches(['.', ')', ':', '*'])
}

/// Whether a value stands for another one. The whole of it must: `example` can be part of a
/// password.
fn is_placeholder(value: &str, rest: &str) -> bool {
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

/// Whether a value says where to find another: a variable, a call, a field, a path, an address.
fn is_reference(value: &str) -> bool {
    static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let reference = r"(?x) ^(?: \$\{.* | \$\(.* | \{\{.* | [\#%]\{.* | \$[A-Z_][A-Z0-9_]* | %[A-Z0-9_]+%?
            | &?[A-Za-z_][\w.:]*[\[(<].* | [a-z][a-z0-9+.-]*://.* | (?:~|\.\.?)/.*
            | [0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T\ ].*)? | v?[0-9]+(?:\.[0-9]+)+ )$";
        Regex::new(reference).ok()
    });
    REFERENCE.as_ref().is_some_and(|reference| reference.is_match(value))
}

/// Whether a value is an identifier that tells what it is for: `accessToken`, `SecretStr`.
fn names_itself(value: &str) -> bool {
    let lower = value.to_lowercase();
    ["password", "passwd", "secret", "token", "key", "string"].iter().any(|n| lower.contains(n))
}

/// Whether the sentence goes on after a value.
fn goes_on(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    line.trim_start_matches(['"', '\'', '`', '*', '.', ')'])
        .trim_start_matches([' ', '\t'])
        .starts_with(|c: char| c.is_alphanumeric())
}
