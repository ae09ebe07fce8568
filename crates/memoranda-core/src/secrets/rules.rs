//! Detection rules, one row per kind of secret. The group `secret`, if present, is the part to
//! redact. Patterns follow the formats that the issuers publish.

/// Validation of a match beyond its pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretValidator {
    /// The pattern is sufficient.
    Pattern,
    /// The check digit must be valid.
    Luhn,
    /// The check digits of a bank account number must be valid.
    Iban,
    /// The value must not be the example of the issuer's documents.
    NoExample,
    /// The value must not be a placeholder, such as `password`.
    NoPlaceholder,
    /// Value after `password:` or `key =`; the pattern matches its beginning. Rejects placeholders,
    /// references, code and prose.
    Assigned,
    /// Value after a blank, after "is" or in the next table cell; must look random.
    Spoken,
    /// The value must contain a digit and another character; hyphenated words are rejected.
    Random,
}

/// A kind of secret.
pub(super) struct SecretRule {
    pub(super) kind: &'static str,
    pub(super) pattern: &'static str,
    pub(super) proof: SecretValidator,
}

const fn rule(kind: &'static str, pattern: &'static str) -> SecretRule {
    SecretRule { kind, pattern, proof: SecretValidator::Pattern }
}

/// All rules, the most specific first.
pub(super) const RULES: &[SecretRule] = &[
    // Up to the end line or, if that is missing, as far as key lines follow.
    rule(
        "private key",
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:",
            r"(?:[^-]|-{1,4}[^-])*-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
            r#"|(?:(?:[\s>|"',+]|\\+[nr])*[A-Z][A-Za-z-]{2,20}: [^\n\\]*)*"#,
            r#"(?:(?:[\s>|"',+]|\\+[nr])*[A-Za-z0-9+/]{16,}={0,2})+"#,
            r#"(?:(?:[\s>|"',+]|\\+[nr])*[A-Za-z0-9+/]+={1,2})?"#,
            r"|)",
        ),
    ),
    SecretRule {
        kind: "AWS access key",
        pattern: r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        proof: SecretValidator::NoExample,
    },
    rule(
        "AWS secret key",
        r#"(?i)aws_?secret_?(?:access_?)?key["']?\s*[:=]\s*["']?(?P<secret>[a-z0-9/+]{40})"#,
    ),
    rule("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    rule("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    rule("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    rule(
        "Slack webhook",
        r"https://hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{20,}",
    ),
    rule("Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    rule("Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}"),
    rule("Google refresh token", r"\b1//0[A-Za-z0-9_-]{30,}"),
    rule("Twilio key", r"\bSK[a-f0-9]{32}\b"),
    rule(
        "Twilio token",
        r#"(?i)\btwilio(?-i:[^\n]){0,40}?token["'`*]{0,3}\s*[:= ]\s*["'`*]{0,3}(?P<secret>[a-f0-9]{32})\b"#,
    ),
    rule("Mailgun key", r"\bkey-[a-f0-9]{32}\b"),
    rule("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    rule("Azure signature", r"(?i)[?&]sig=(?P<secret>[a-z0-9%+/]{40,}={0,2})"),
    rule("Stripe key", r"\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{20,}"),
    rule("Anthropic API key", r"\bsk-ant-[A-Za-z0-9_-]{32,}"),
    rule("OpenAI API key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}"),
    rule("Groq API key", r"\bgsk_[A-Za-z0-9]{40,}"),
    rule("xAI API key", r"\bxai-[A-Za-z0-9]{60,}"),
    rule("Replicate token", r"\br8_[A-Za-z0-9]{37}\b"),
    rule("Linear API key", r"\blin_api_[A-Za-z0-9]{40}"),
    rule("Shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    rule("Supabase token", r"\bsbp_[a-f0-9]{40}"),
    rule("Databricks token", r"\bdapi[a-f0-9]{32}\b"),
    rule("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    rule("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    rule("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    rule("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}"),
    rule("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    rule("Telegram bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    rule("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    SecretRule {
        kind: "password in an address",
        // The password may contain `@` and `:`; the host follows the last `@`.
        pattern: concat!(
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]*:(?P<secret>",
            r#"[^\s:/@"]{3,}(?:[@:][^\s:/@"'`<>,;|()]+)*|[^\s:/@"]{1,2}(?:[@:][^\s:/@"'`<>,;|()]+)+)@"#,
        ),
        proof: SecretValidator::NoPlaceholder,
    },
    rule("Azure account key", r"(?i)\bAccountKey=(?P<secret>[a-z0-9+/]{40,}={0,2})"),
    SecretRule {
        kind: "password or key",
        pattern: concat!(
            r"(?i)(?:\b|_)(?:passwor[dt]|passwd|passphrase|pwd|kennwort|secret|token",
            r"|(?:api|access|account|secret|secret[_ -]?access|auth)[_ -]?key",
            r"|(?:auth|access|api)[_ -]?token|client[_ -]?secret)",
            r#"["'`*]{0,3}\s*(?:=>|:=|[:=])["'`*]{0,3}\s*(?:[|>][+-]?\s*\n\s*)?["'`*]{0,3}(?P<secret>[^\s"'`,;|][^\n]{5})"#,
        ),
        proof: SecretValidator::Assigned,
    },
    // Upper-case `PASS` and `FAIL` are test results.
    SecretRule {
        kind: "password or key",
        pattern: concat!(
            r"(?:\b[Pp]ass|_(?i:pass))",
            r#"["'`*]{0,3}[ \t]*(?:=>|:=|[:=])["'`*]{0,3}[ \t]*["'`*]{0,3}(?P<secret>[^\s"'`,;|][^\n]{5})"#,
        ),
        proof: SecretValidator::Spoken,
    },
    SecretRule {
        kind: "password or key",
        pattern: concat!(
            r"(?i)(?:\b|_)(?:(?:passwor[dt]|passwd|passphrase|pwd|kennwort|secret|token|(?:api|access|account|secret|auth)[_ -]?key)",
            r"(?:[ \t]+(?:is|was|ist|war|lautet)[ \t]*:?[ \t]+|[`*]{0,3}[ \t]*\|[ \t]*)",
            r"|(?:passwor[dt]|passwd|passphrase|pwd|kennwort|(?:api|access|account|secret|auth)[_ -]?key)[ \t]+)",
            r#"["'`*]{0,3}(?P<secret>[^\s"'`,;|][^\n]{5})"#,
        ),
        proof: SecretValidator::Spoken,
    },
    // "The password for the wifi is …", "das Passwort für das WLAN lautet …".
    SecretRule {
        kind: "password or key",
        pattern: concat!(
            r"(?i)\b(?:passwor[dt]|passphrase|kennwort|(?:api|access|auth)[_ -]?key)[ \t]+",
            r"(?:for|of|to|from|für|fuer|vom|von|zum|zur|des|der)[ \t]+(?:[^\s:.;]+[ \t]+){1,5}?",
            r#"(?:is|was|ist|war|lautet)[ \t]*:?[ \t]+["'`*]{0,3}(?P<secret>[^\s"'`,;|][^\n]{5})"#,
        ),
        proof: SecretValidator::Spoken,
    },
    rule(
        "seed phrase",
        concat!(
            r"(?i)\b(?:seed|recovery|backup|mnemonic)[ -]?(?:phrase|words?)(?:[ \t]+(?:is|ist|lautet))?",
            r#"["'`*]{0,3}\s*[:=]?["'`*]{0,3}\s*["'`]{0,3}(?P<secret>(?-i:[a-z]{3,8}[ \t\n]+){11,23}[a-z]{3,8})\b"#,
        ),
    ),
    SecretRule {
        kind: "bank account number",
        pattern: r"\b(?P<secret>[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?)\b",
        proof: SecretValidator::Iban,
    },
    SecretRule {
        kind: "basic authentication",
        pattern: r#"(?i)\bauthorization[ :="']{1,5}basic\s+(?P<secret>[a-z0-9+/]{8,}={0,2})"#,
        proof: SecretValidator::Pattern,
    },
    SecretRule {
        kind: "bearer token",
        pattern: r"(?i)\bbearer\s+(?P<secret>[a-z0-9._~+/-]{16,}=*)",
        proof: SecretValidator::Random,
    },
    SecretRule {
        kind: "payment card number",
        pattern: r"\b(?P<secret>[2-6][0-9]{3}[ .-]?[0-9]{4}[ .-]?[0-9]{4}[ .-]?[0-9]{1,7})\b",
        proof: SecretValidator::Luhn,
    },
    SecretRule {
        kind: "payment card number",
        pattern: r"\b(?P<secret>3[47][0-9]{2}[ .-]?[0-9]{6}[ .-]?[0-9]{5})\b",
        proof: SecretValidator::Luhn,
    },
    // Area 001–665 and 667–899 except 555 (fiction); group 00 and serial 0000 are invalid.
    rule(
        "social security number",
        r"\b(?:00[1-9]|0[1-9][0-9]|[1-4][0-9]{2}|5[0-46-9][0-9]|55[0-46-9]|6[0-57-9][0-9]|66[0-57-9]|[78][0-9]{2})-(?:0[1-9]|[1-9][0-9])-(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\b",
    ),
    // Without hyphens, any nine digits look like a number; a name must precede it.
    rule(
        "social security number",
        r"(?i)\b(?:ssn|social security(?: number| no\.?)?)[ :#=]{1,4}(?:is\s+)?(?P<secret>[0-8][0-9]{2}[ .-]?[0-9]{2}[ .-]?[0-9]{4})\b",
    ),
    rule(
        "PIN",
        r#"(?i)\bpin(?:[ -]?(?:code|number))?["'`*]{0,3}(?:\s*[:=]|[ \t]+is)["'`*]{0,3}\s*["'`*]{0,3}(?P<secret>[0-9]{4,8})\b"#,
    ),
];
