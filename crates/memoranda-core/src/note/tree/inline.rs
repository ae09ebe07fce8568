//! Inline parts of the tree: safe links, tags, invisible characters, secrets.

use super::{TreeInline, is_invisible};

/// Masks the secrets of a text, and splits text into parts.
pub(super) struct InlineText {
    /// Texts that are not shown.
    pub(super) secrets: Vec<String>,
}

impl InlineText {
    /// Splits plain text into text, tags, invisible characters and secrets.
    pub(super) fn split(&self, text: &str) -> Vec<TreeInline> {
        let mut parts = Vec::new();
        let mut rest = text;
        let next_secret = |rest: &str| {
            let found = self.secrets.iter().filter_map(|secret| Some((rest.find(secret)?, secret)));
            found.min_by_key(|(at, secret)| (*at, std::cmp::Reverse(secret.len())))
        };
        while let Some((at, secret)) = next_secret(rest) {
            split_plain(rest.get(..at).unwrap_or_default(), &mut parts);
            parts.push(TreeInline::Secret);
            rest = rest.get(at + secret.len()..).unwrap_or_default();
        }
        split_plain(rest, &mut parts);
        parts
    }

    /// Masks secrets in text that has no parts, such as code.
    pub(super) fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), "••••••••");
            }
        }
        masked
    }
}

/// Splits text without secrets.
fn split_plain(text: &str, parts: &mut Vec<TreeInline>) {
    let mut plain = String::new();
    let flush = |plain: &mut String, parts: &mut Vec<TreeInline>| {
        if !plain.is_empty() {
            parts.push(TreeInline::Text(std::mem::take(plain)));
        }
    };
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        if is_invisible(c) {
            // A joiner between letters or signs is part of them.
            flush(&mut plain, parts);
            parts.push(TreeInline::Invisible(c));
        } else if c == '#' && (before.is_whitespace() || before == '(') {
            let tail = text.get(at + 1..).unwrap_or_default();
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
            let length: usize = tail.chars().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
            let tag = tail.get(..length).unwrap_or_default();
            if tag.chars().any(char::is_alphabetic) {
                flush(&mut plain, parts);
                parts.push(TreeInline::Tag(format!("#{tag}")));
                while chars.next_if(|(next, _)| *next <= at + length).is_some() {}
            } else {
                plain.push(c);
            }
        } else {
            plain.push(c);
        }
        before = c;
    }
    flush(&mut plain, parts);
}

/// Returns the host of an address that may be a link; `None` for any other scheme.
pub(super) fn link_host(href: &str) -> Option<String> {
    if href.chars().any(|c| c.is_control() || c.is_whitespace() || is_invisible(c)) {
        return None;
    }
    let (scheme, rest) = href.split_once(':')?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => {
            let rest = rest.strip_prefix("//")?;
            let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
            // Text before an @ looks like a host, but is a user name.
            let host = authority.rsplit('@').next().unwrap_or_default();
            (!host.is_empty()).then(|| host.to_owned())
        }
        "mailto" => Some(rest.split('?').next().unwrap_or_default().to_owned()),
        _ => None,
    }
}

/// Returns true if an address names a file of the vault: it has no scheme and no host.
pub(super) fn is_vault_path(href: &str) -> bool {
    let first = href.split('/').next().unwrap_or_default();
    !href.is_empty()
        && !href.starts_with("//")
        && !href.starts_with('\\')
        && !first.contains(':')
        && !href.chars().any(|c| c.is_control() || is_invisible(c))
}
