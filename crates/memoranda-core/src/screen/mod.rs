//! Finding secrets in a text before it is remembered: keys, tokens, passwords, card and
//! social-security numbers. The rules are data in `rules.rs`; this file only applies them.

mod rules;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use rules::{Proof, RULES};

/// A secret that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secret {
    /// What kind of secret, in words for a person.
    pub kind: &'static str,
    /// The line it is on, from 1.
    pub line: usize,
    /// Its bytes.
    pub span: Range<usize>,
}

/// The secrets in a text, in order, without overlap.
pub fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    for n in SET.matches(text) {
        let (Some(rule), Some(pattern)) = (RULES.get(n), PATTERNS.get(n)) else { continue };
        for captures in pattern.captures_iter(text) {
            let Some(matched) = captures.name("secret").or(captures.get(0)) else { continue };
            let proven = match rule.proof {
                Proof::Pattern => true,
                Proof::Luhn => passes_luhn(matched.as_str()),
                Proof::Varied => is_varied(matched.as_str()),
                Proof::Random => {
                    let is_digit = |c: char| c.is_ascii_digit();
                    is_varied(matched.as_str()) && matched.as_str().contains(is_digit)
                }
            };
            if proven {
                found.push((matched.range(), rule.kind));
            }
        }
    }
    found.sort_by_key(|(span, _)| (span.start, usize::MAX - span.end));
    let mut secrets: Vec<Secret> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (span, kind) in found {
        if secrets.last().is_some_and(|last| span.start < last.span.end) {
            continue;
        }
        line += text.as_bytes()[counted..span.start].iter().filter(|&&b| b == b'\n').count();
        counted = span.start;
        secrets.push(Secret { kind, line, span });
    }
    secrets
}

/// The secrets that a change brought into a text: those in what is new, and those that only what
/// is new made whole. A secret that was there before and has not been touched is not told again.
pub fn brought(before: &str, after: &str) -> Vec<Secret> {
    let mut found = secrets(after);
    if found.is_empty() || before.is_empty() {
        return found;
    }
    let new = changed(before.as_bytes(), after.as_bytes());
    let known = secrets(before);
    let known: Vec<&str> = known.iter().filter_map(|s| before.get(s.span.clone())).collect();
    found.retain(|secret| {
        let is_touched = secret.span.start < new.end && new.start < secret.span.end;
        is_touched || after.get(secret.span.clone()).is_none_or(|text| !known.contains(&text))
    });
    found
}

/// The bytes of a text that were not at its beginning or its end before.
fn changed(before: &[u8], after: &[u8]) -> Range<usize> {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (before, rest) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(rest.iter().rev()).take_while(same).count();
    start..after.len() - end
}

/// The text with every secret replaced by what it was.
pub fn redact(text: &str) -> String {
    redact_these(text, &secrets(text))
}

/// The text with these secrets of it replaced by what they were.
pub fn redact_these(text: &str, secrets: &[Secret]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        redacted.push_str(text.get(at..secret.span.start).unwrap_or_default());
        redacted.push_str("[redacted: ");
        redacted.push_str(secret.kind);
        redacted.push(']');
        at = secret.span.end;
    }
    redacted.push_str(text.get(at..).unwrap_or_default());
    redacted
}

/// All patterns at once: most texts hold no secret, and this says so in one pass.
static SET: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(patterns()).unwrap_or_else(|_| RegexSet::empty()));

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| patterns().filter_map(|pattern| Regex::new(&pattern).ok()).collect());

/// The patterns with ends of words as ASCII has them. Secrets are ASCII, and a Unicode boundary
/// keeps the search off its fast path in every text that is not.
fn patterns() -> impl Iterator<Item = String> {
    RULES.iter().map(|rule| rule.pattern.replace(r"\b", r"(?-u:\b)"))
}

/// The check digit of card numbers.
fn passes_luhn(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, &digit)| match (n % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled @ 0..=9) => doubled,
            (_, doubled) => doubled - 9,
        })
        .sum();
    (13..=19).contains(&digits.len())
        && sum.is_multiple_of(10)
        && digits.iter().any(|&d| d != digits[0])
}

/// Whether a value looks made up by a machine or a careful person rather than a word, a
/// placeholder or a reference to somewhere else.
fn is_varied(value: &str) -> bool {
    const PLACEHOLDERS: [&str; 9] =
        ["example", "changeme", "placeholder", "your", "xxxx", "redacted", "${", "{{", "<"];
    let lower = value.to_lowercase();
    let kinds = [
        value.chars().any(|c| c.is_ascii_lowercase()),
        value.chars().any(|c| c.is_ascii_uppercase()),
        value.chars().any(|c| c.is_ascii_digit()),
        value.chars().any(|c| !c.is_alphanumeric()),
    ];
    kinds.into_iter().filter(|&kind| kind).count() >= 2
        && !PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let kinds: Vec<_> = secrets(text).iter().map(|secret| secret.kind).collect();
        assert_eq!(kinds, expected, "{text:?}");
    }

    #[test]
    fn every_rule_compiles() {
        assert_eq!(PATTERNS.len(), RULES.len());
        assert_eq!(SET.len(), RULES.len());
    }

    #[test]
    fn secrets_are_found() {
        // Put together here, so that no scanner takes this file for a leak.
        let aws = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
        check(&format!("id {aws} here"), &["AWS access key"]);
        check(&format!("ghp_{}", "a1B2".repeat(9)), &["GitHub token"]);
        check(&format!("sk-ant-api03-{}", "aB3-".repeat(10)), &["Anthropic API key"]);
        check(&format!("-----BEGIN {} PRIVATE KEY-----\nabc", "RSA"), &["private key"]);
        check("password: hunter2!x", &["password or key"]);
        check("api_key = \"Zx81kQ97plm\"", &["password or key"]);
        check("postgres://bob:s3cr3t@db/x", &["password in an address"]);
        check("card 4111 1111 1111 1111", &["payment card number"]);
        check("ssn 536-90-4399", &["social security number"]);
        let aws = format!("wJalrXUtnFEMI/K7MDENG/bPxRfiCY{}", "EXAMPLEKEY");
        check(&format!("aws_secret_access_key = {aws}"), &["AWS secret key"]);
        check("DB_PASSWORD=Zx81kQ97plm", &["password or key"]);
        check("Authorization: Bearer abcdefghijklmnop1234567890", &["bearer token"]);
        check("use bearer abc.DEF-123_456~789+0/x==", &["bearer token"]);
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "the password is kept in the safe",
            "password: <your password>",
            "token = ${GITHUB_TOKEN}",
            "order 4111 1111 1111 1112",
            "call 555-12-3456 or 000-12-3456",
            "sk-learn is a library, sk-ant too",
            "version 1.2.3-45-6789",
            "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "the bearer authentication-scheme-of-this-api is described there",
            "Bearer <your-token-goes-here-1>",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn redaction_says_what_was_there() {
        let text = "before\nlogin https://bob:s3cr3t@host/ after";
        assert_eq!(
            redact(text),
            "before\nlogin https://bob:[redacted: password in an address]@host/ after"
        );
        assert_eq!(secrets(text)[0].line, 2);
    }

    #[test]
    fn a_change_answers_for_what_it_brings() {
        for (before, after, expected) in [
            ("password: none\n", "password: hunter2!x\n", &["hunter2!x"][..]),
            // Made whole by what stood there before.
            ("password: abc\n", "password: abc123\n", &["abc123"]),
            ("hunter2!x\n", "password: hunter2!x\n", &["hunter2!x"]),
            // Known, and left as it was.
            ("password: hunter2!x\n", "password: hunter2!x\nmore\n", &[]),
            ("a\npassword: hunter2!x\n", "b\npassword: hunter2!x\n", &[]),
            // A second one of the same is a new one.
            ("password: hunter2!x\n", "password: hunter2!x\npassword: hunter2!x\n", &["hunter2!x"]),
            ("", "password: hunter2!x", &["hunter2!x"]),
            ("é", "password: hunter2!é", &["hunter2!é"]),
        ] {
            let found: Vec<&str> =
                brought(before, after).iter().map(|secret| &after[secret.span.clone()]).collect();
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_screened(text in "\\PC{0,200}|[a-z:= 0-9\n-]{0,200}") {
            for secret in secrets(&text) {
                prop_assert!(text.get(secret.span).is_some());
            }
            redact(&text);
        }
    }
}
