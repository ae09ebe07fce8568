//! Detects secrets in a text before it is stored: keys, tokens, passwords, card and social-security
//! numbers. The rules are data in `rules.rs`.

mod rules;
mod value;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use rules::{RULES, SecretValidator};
use value::SecretValue;

/// A detected secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretMatch {
    /// Kind of the secret, for display.
    pub kind: &'static str,
    /// Line of the secret, from 1.
    pub line: usize,
    /// Byte range of the secret.
    pub span: Range<usize>,
}

/// Finds the secrets of a text, in order, without overlap.
///
/// ```
/// let found = memoranda_core::secrets::find_secrets("password: hunter2!x");
/// assert_eq!((found.len(), found[0].line), (1, 1));
/// ```
pub fn find_secrets(text: &str) -> Vec<SecretMatch> {
    let Some(visible) = VisibleText::of(text) else { return find_visible_secrets(text) };
    let mut secrets = find_visible_secrets(&visible.text);
    for secret in &mut secrets {
        secret.span = visible.original_span(&secret.span);
    }
    secrets
}

/// A text without characters that nobody sees, which would hide a token from the rules.
struct VisibleText {
    text: String,
    /// Offsets in the visible text behind which a character was left out, and its length.
    hidden: Vec<(usize, usize)>,
}

impl VisibleText {
    /// Returns `None` if every character is visible.
    fn of(text: &str) -> Option<Self> {
        let is_hidden = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
        if text.is_ascii() || !text.contains(is_hidden) {
            return None;
        }
        let mut visible = Self { text: String::with_capacity(text.len()), hidden: Vec::new() };
        for c in text.chars() {
            if is_hidden(c) {
                visible.hidden.push((visible.text.len(), c.len_utf8()));
            } else {
                visible.text.push(c);
            }
        }
        Some(visible)
    }

    /// Returns the range in the original text, with the hidden characters inside of it.
    fn original_span(&self, span: &Range<usize>) -> Range<usize> {
        let hidden_until = |is_before: &dyn Fn(usize) -> bool| -> usize {
            self.hidden.iter().filter(|(at, _)| is_before(*at)).map(|(_, length)| length).sum()
        };
        let start = span.start + hidden_until(&|at| at <= span.start);
        let end = span.end + hidden_until(&|at| at < span.end);
        start..end
    }
}

fn find_visible_secrets(text: &str) -> Vec<SecretMatch> {
    let mut found = Vec::new();
    for n in SET.matches(text) {
        let (Some(rule), Some(pattern)) = (RULES.get(n), PATTERNS.get(n)) else { continue };
        let mut from = 0;
        while let Some(captures) = pattern.captures_at(text, from) {
            let (Some(whole), Some(matched)) =
                (captures.get(0), captures.name("secret").or(captures.get(0)))
            else {
                break;
            };
            let (span, proven) = match rule.proof {
                SecretValidator::Pattern => (matched.range(), true),
                SecretValidator::Luhn => (matched.range(), passes_luhn(matched.as_str())),
                SecretValidator::Iban => (matched.range(), is_iban(matched.as_str())),
                SecretValidator::NoExample => {
                    (matched.range(), !matched.as_str().ends_with("EXAMPLE"))
                }
                SecretValidator::NoPlaceholder => {
                    (matched.range(), !value::is_placeholder(matched.as_str(), ""))
                }
                SecretValidator::Random => (matched.range(), value::is_random(matched.as_str())),
                SecretValidator::Assigned => {
                    let value = SecretValue::read_at(text, whole.start(), matched.start());
                    (value.span(), value.is_assigned_secret())
                }
                SecretValidator::Spoken => {
                    let value = SecretValue::read_at(text, whole.start(), matched.start());
                    (value.span(), value.is_spoken_secret())
                }
            };
            // A rejected value can contain the name of another one: `token: x?token=…`.
            let at_least = text.ceil_char_boundary(whole.start() + 1);
            from = if proven { whole.end().max(span.end) } else { span.start }.max(at_least);
            if proven {
                found.push((span, rule.kind));
            }
            if from > text.len() {
                break;
            }
        }
    }
    found.sort_by_key(|(span, _)| (span.start, usize::MAX - span.end));
    let mut secrets: Vec<SecretMatch> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (span, kind) in found {
        if secrets.last().is_some_and(|last| span.start < last.span.end) {
            continue;
        }
        line += text.as_bytes()[counted..span.start].iter().filter(|&&b| b == b'\n').count();
        counted = span.start;
        secrets.push(SecretMatch { kind, line, span });
    }
    secrets
}

/// Finds the secrets that a change adds to a text: new ones, and those that the change completes.
/// An untouched secret of the old text is left out.
pub fn newly_added(before: &str, after: &str) -> Vec<SecretMatch> {
    let mut found = find_secrets(after);
    if found.is_empty() || before.is_empty() {
        return found;
    }
    let new = changed_range(before.as_bytes(), after.as_bytes());
    let known = find_secrets(before);
    let known: Vec<&str> = known.iter().filter_map(|s| before.get(s.span.clone())).collect();
    found.retain(|secret| {
        let is_touched = secret.span.start < new.end && new.start < secret.span.end;
        is_touched || after.get(secret.span.clone()).is_none_or(|text| !known.contains(&text))
    });
    found
}

/// Returns the range of the new text that differs from the old one.
fn changed_range(before: &[u8], after: &[u8]) -> Range<usize> {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let start = before.iter().zip(after).take_while(same).count();
    let (before, rest) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(rest.iter().rev()).take_while(same).count();
    start..after.len() - end
}

/// Replaces every secret by its kind.
pub fn redact_all(text: &str) -> String {
    redact(text, &find_secrets(text))
}

/// Replaces the given secrets by their kind.
pub fn redact(text: &str, secrets: &[SecretMatch]) -> String {
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

/// All patterns in one set: most texts contain no secret, and one pass rejects them.
static SET: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(patterns()).unwrap_or_else(|_| RegexSet::empty()));

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| patterns().filter_map(|pattern| Regex::new(&pattern).ok()).collect());

/// Returns the patterns with ASCII word boundaries. Secrets are ASCII, and Unicode boundaries would
/// disable the fast search in non-ASCII texts.
fn patterns() -> impl Iterator<Item = String> {
    RULES.iter().map(|rule| rule.pattern.replace(r"\b", r"(?-u:\b)"))
}

/// Verifies the check digit of a card number.
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

/// Verifies the check digits of a bank account number (ISO 13616).
fn is_iban(number: &str) -> bool {
    let characters: Vec<char> = number.chars().filter(|c| *c != ' ').collect();
    if !(15..=34).contains(&characters.len()) {
        return false;
    }
    let rest = characters[4..].iter().chain(&characters[..4]).try_fold(0u32, |rest, c| {
        let digit = c.to_digit(36)?;
        Some(if digit < 10 { (rest * 10 + digit) % 97 } else { (rest * 100 + digit) % 97 })
    });
    rest == Some(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let kinds: Vec<_> = find_secrets(text).iter().map(|secret| secret.kind).collect();
        assert_eq!(kinds, expected, "{text:?}");
    }

    #[test]
    fn every_rule_compiles() {
        assert_eq!(PATTERNS.len(), RULES.len());
        assert_eq!(SET.len(), RULES.len());
    }

    #[test]
    fn secrets_are_found() {
        // Assembled here so that secret scanners ignore this file.
        let aws = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
        check(&format!("id {aws} here"), &["AWS access key"]);
        check(&format!("ghp_{}", "a1B2".repeat(9)), &["GitHub token"]);
        check(&format!("sk-ant-api03-{}", "aB3-".repeat(10)), &["Anthropic API key"]);
        check(&format!("sk-ant-{}", "aB3x".repeat(10)), &["Anthropic API key"]);
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
        for text in [
            "**Password:** Zx81kQ97plm",
            "- `password`: `Zx81kQ97plm`",
            "| password | Zx81kQ97plm |",
            "password hunter2x",
            "the password is hunter2!x",
            "API key is abcd1234efgh5678",
            "password: correcthorsebattery",
            "password: correct-horse-battery-staple",
            "api-key: 12345678",
            "apiKey=abcdefghijklmnop",
            "SECRET_KEY=Zx81kQ97plm",
            "password: MyExamplePass9!",
            "password: yourDog99!x",
            "password: $ecret1!",
            "token: https://host/?token=abc123456",
            "password: \"correct horse battery staple\"",
            "password: 'Correct Horse Battery Staple'",
            "passphrase=`purple monkey dishwasher`",
            "{\"password\": \"two words99\"}",
            "{\"password\": \"a \\\"b\\\" c3po&x\"}",
            "password: 'don't tell R0bert'",
            "the password is \"correct horse battery staple\"",
            "password: \"p@ss word\"",
            "password: \"I love my dog Rex99\"",
            "password: hunter2,more9",
            "api-key abcdef123456",
            "API key abcd1234efgh5678",
            "pass: hunter22",
            "user: bob, pass: hunter22",
            "DB_PASS=hunter22",
            "- **Pass**: `hunter22`",
        ] {
            check(text, &["password or key"]);
        }
        for text in [
            "redis://:s3cr3tpw@host",
            "postgres://u:p@ssw0rd@db/x",
            "postgres://u:pass@word@db/x",
            "postgres://u:a:b@db/x",
        ] {
            check(text, &["password in an address"]);
        }
        check("3782 822463 10005, 2223003122003222", &["payment card number"; 2]);
        check("Authorization: Basic dXNlcjpwYXNzd29yZA==", &["basic authentication"]);
        check(
            &format!("AccountKey={}==;EndpointSuffix=x", "Eby8vdM0".repeat(10)),
            &["Azure account key"],
        );
        check("ssn 536904399", &["social security number"]);
        check("SSN: 536 90 4399, ssn 536.90.4399", &["social security number"; 2]);
        check("4111.1111.1111.1111", &["payment card number"]);
        for text in ["PIN: 4711", "the PIN is 4711", "**PIN code:** `471108`", "pin = 4711"] {
            check(text, &["PIN"]);
        }
        check(&format!("sk_test_{}", "4eC39HqLyjWDarjtT1zdp7dc"), &["Stripe key"]);
        check(&format!("gsk_{}", "a1B2".repeat(13)), &["Groq API key"]);
        check(&format!("dapi{}", "0123456789abcdef".repeat(2)), &["Databricks token"]);
        check("password: |\n  Zx81kQ97plm\n", &["password or key"]);
        check("token: >-\n    Zx81kQ97plm\n", &["password or key"]);
    }

    #[test]
    fn secrets_of_further_issuers_are_found() {
        check(&format!("1//0{}", "gAb3-_xY9".repeat(5)), &["Google refresh token"]);
        check(&format!("SK{}", "0123456789abcdef".repeat(2)), &["Twilio key"]);
        let token = "0123456789abcdef".repeat(2);
        check(&format!("Twilio auth token: {token}"), &["Twilio token"]);
        check(&format!("key-{token}"), &["Mailgun key"]);
        let address = "https://a.blob.core.windows.net/c?sv=2024-01-01&sig=";
        check(&format!("{address}{}%3D", "aB3%2F".repeat(8)), &["Azure signature"]);
        check(&format!("AGE-SECRET-KEY-1{}", "QPZRY9X8GF".repeat(6)), &["age key"]);
        for text in ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"] {
            check(&format!("pay to {text} please"), &["bank account number"]);
        }
        for text in [
            "the password for the wifi is hunter2!x",
            "das Passwort für das WLAN ist hunter2!x",
            "Das Kennwort vom Router lautet: hunter2!x",
            "das Passwort lautet hunter2!x",
        ] {
            check(text, &["password or key"]);
        }
        let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        check(&format!("seed phrase: {words}"), &["seed phrase"]);
        check(
            &format!("My recovery words are safe.\nrecovery phrase is {words}"),
            &["seed phrase"],
        );
    }

    #[test]
    fn invisible_characters_hide_no_secret() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for hidden in ['\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}'] {
            let split = format!("{}{hidden}{}", &token[..10], &token[10..]);
            let text = format!("ä{hidden}\ntoken {split} here");
            assert_eq!(find_secrets(&text).first().map(|secret| secret.line), Some(2), "{text:?}");
            let expected = format!("ä{hidden}\ntoken [redacted: GitHub token] here");
            assert_eq!(redact_all(&text), expected, "{text:?}");
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let example = format!("the documents use AKIA{}", "IOSFODNN7EXAMPLE");
        check(&example, &[]);
        for text in [
            "",
            "postgres://user:password@localhost/db and postgres://user:pass@localhost",
            "the password for the wifi is on the fridge",
            "das Passwort für das WLAN ist im Tresor",
            "DE89 3704 0044 0532 0130 01 and AB12 CDEF GHIJ KLMN",
            "the recovery phrase is kept in the safe of the bank, and nobody knows the number",
            "the seed words should never leave this house without somebody watching them closely",
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
            "the password reset flow sends a mail",
            "password: required for every user",
            "Password: required",
            "a password hash with sha256 or argon2id, base64 encoded",
            "password sha256sum, password base64-encoded, password 12characters",
            "password 2-factor reset; password rules2.md; password v1.2.3-rc1",
            "the token is refreshed every 15minutes",
            "fn login(password: String, token: Option<String>)",
            "token: CancellationToken, secret: SecretStr",
            "let token = get_token();",
            "password = os.environ[\"DB_PASSWORD\"]",
            "api_key: settings.api_key",
            "password: process.env.PASSWORD",
            "token: /run/secrets/token",
            "token: 2026-01-20T15:30:00Z",
            "token: https://example.com/docs/v2/tokens",
            "password: your-password",
            "password: <password>",
            "password: example",
            "password: changeme",
            "password: ${X}",
            "password: $DB_PASSWORD_1",
            "password: {{ vault.password1 }}",
            "password: ***********",
            "password: xxxxxxxx",
            "password: YOUR_API_KEY_HERE",
            "| password | description |",
            "| token | string, at most 512 |",
            "## Password:\n\nconfiguration",
            "order 536904399 of 2026",
            "redis://localhost:6379/0 and http://[::1]:8080/@x",
            "a basic authorization: basic rights",
            "pin 13 is GPIO 27; pin: 27; the pin count is 4096",
            "PIN the message: 2026 was a good year",
            "password: |\n  see the vault\n",
            "password: \"at least 8 characters\"",
            "\"password\": \"Enter your new password here\"",
            "{\"password\": \"Your password, 8 to 64 characters\", \"name\": \"x\"}",
            "password: \"wrong or expired\"",
            "password: \"minimum eight characters\"",
            "password: \"see 'db-prod2' in the vault\"",
            "password: \"Stored in 1Password under db-prod2\"",
            "password: \"hashed with argon2id and base64 encoded\"",
            "password: \"\", user: \"bob\"",
            "password: \"<the one from the mail>\"",
            "token: \"next generation lexer\", secret: \"family recipe book\"",
            "the password \"is kept\" somewhere",
            "password: \"required\", minLength: 8",
            "fn login(password:String,token:u64,retries:u32)",
            "token: int32,int64",
            "password: it's kept in the vault",
            "pass: the test suite passes",
            "Low pass: 2.4GHz, first pass: 0.25mm, band pass: 20Hz-20kHz, second pass: 10.5kg",
            "pass: 12 of 14; first pass: required; second pass: phase2",
            "pass: test_login2 and test-parse64",
            "PASS: TestParse64 (0.00s)\n--- PASS: TestLogin2",
            "bypass: route66, passes: round12",
            "the api key rotation2.md; API key v2.1.3; api key (sha256)",
            "the API key expires after 30days",
            "http://host:8080 and mail to bob@example.org",
            "see http://localhost:3000, or ask a@b.org, c@d.org",
            "[\"https://example.org:80\",\"bob@example.org\"]",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn redaction_names_the_kind() {
        let text = "before\nlogin https://bob:s3cr3t@host/ after";
        assert_eq!(
            redact_all(text),
            "before\nlogin https://bob:[redacted: password in an address]@host/ after"
        );
        assert_eq!(find_secrets(text)[0].line, 2);
    }

    #[test]
    fn passwords_are_redacted_completely() {
        for (text, expected) in [
            ("password: \"Tr0ub4dor &3 zebra\"", "password: \"#\""),
            ("password: \"Tr0ub4dor, &3\" for x", "password: \"#\" for x"),
            ("{\"password\": \"two \\\"words99\", \"a\": 1}", "{\"password\": \"#\", \"a\": 1}"),
            ("password: 'it's R0bert' 'x'", "password: '#' 'x'"),
            ("password: \"Tr0ub4dor &3", "password: \"# &3"),
            ("password: hunter2,more9", "password: #"),
            ("password: hunter2;more9'x", "password: #"),
            ("password: hunter2|more9", "password: #"),
            ("password: hunter2, user: bob", "password: #, user: bob"),
            ("password=hunter2x,user=bob", "password=#,user=bob"),
            ("Password=hunter2x;User Id=bob;", "Password=#;User Id=bob;"),
            ("{password:hunter2x,\"user\":1}", "{password:#,\"user\":1}"),
            ("'password=hunter2x', 'user'", "'password=#', 'user'"),
            ("|password|hunter2x|bob|", "|password|#|bob|"),
            ("| x | password: hunter2x|bob|", "| x | password: #|bob|"),
            ("pass: hunter22 (bob)", "pass: # (bob)"),
            ("api-key abcdef123456 is it", "api-key # is it"),
        ] {
            assert_eq!(
                redact_all(text),
                expected.replace('#', "[redacted: password or key]"),
                "{text}"
            );
        }
        let address = "[redacted: password in an address]";
        for (text, expected) in [
            ("postgres://u:p@ssw0rd@db/x", "postgres://u:#@db/x"),
            ("postgres://u:pass@w:rd@db, a@b", "postgres://u:#@db, a@b"),
            ("[\"redis://:s3cr3t@h\",\"a@b\"]", "[\"redis://:#@h\",\"a@b\"]"),
        ] {
            assert_eq!(redact_all(text), expected.replace('#', address), "{text}");
        }
    }

    #[test]
    fn private_keys_are_redacted_completely() {
        let (line, kind) = ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "PRIVATE KEY");
        let begin = format!("-----BEGIN {kind}-----");
        let end = format!("-----END {kind}-----");
        for (text, expected) in [
            (format!("{begin}\n{line}\n{line}\nab==\n{end}\nafter"), "#\nafter"),
            (format!("{begin}\n{line}\n{line}\nab==\n\nafter it"), "#\n\nafter it"),
            (
                format!(r#"{{"k": "{begin}\n{line}\n{end}\n", "x": 1}}"#),
                r##"{"k": "#\n", "x": 1}"##,
            ),
            (format!(r#"{{"k": "{begin}\n{line}\nab=", "x": 1}}"#), r##"{"k": "#", "x": 1}"##),
            (format!("> {begin}\n> {line}\n> {end}\n> after"), "> #\n> after"),
            (format!("> {begin}\n> {line}\nafter"), "> #\nafter"),
            (format!("{begin}\nVersion: GnuPG v2.0 (GNU)\n\n{line}\n{end}"), "#"),
            (format!("{begin}\nProc-Type: 4,ENCRYPTED\n\n{line}\nafter"), "#\nafter"),
            (format!("a line {begin} begins it, and more"), "a line # begins it, and more"),
            (format!("{begin}\n{line}\n\n{begin}\n{line}\n{end}"), "#\n\n#"),
        ] {
            let expected = expected.replace('#', "[redacted: private key]");
            assert_eq!(redact_all(&text), expected, "{text}");
        }
    }

    #[test]
    fn newly_added_secrets_are_reported() {
        for (before, after, expected) in [
            ("password: none\n", "password: hunter2!x\n", &["hunter2!x"][..]),
            // Completed by the change.
            ("password: abc\n", "password: abc123\n", &["abc123"]),
            ("hunter2!x\n", "password: hunter2!x\n", &["hunter2!x"]),
            // Known and untouched.
            ("password: hunter2!x\n", "password: hunter2!x\nmore\n", &[]),
            ("a\npassword: hunter2!x\n", "b\npassword: hunter2!x\n", &[]),
            // A second copy of a known secret is new.
            ("password: hunter2!x\n", "password: hunter2!x\npassword: hunter2!x\n", &["hunter2!x"]),
            ("", "password: hunter2!x", &["hunter2!x"]),
            ("é", "password: hunter2!é", &["hunter2!é"]),
        ] {
            let found: Vec<&str> = newly_added(before, after)
                .iter()
                .map(|secret| &after[secret.span.clone()])
                .collect();
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_scanned_for_secrets(text in "\\PC{0,200}|[a-z:= 0-9\n-]{0,200}") {
            for secret in find_secrets(&text) {
                prop_assert!(text.get(secret.span).is_some());
            }
            redact_all(&text);
        }
    }
}
