//! What an imported note says of itself: where it came from, and what it held then.
//!
//! `imported_hash` is taken over the whole note without itself and without the time. So three
//! hashes tell everything: what came last time, what is here now, and what would come today.

use jiff::Timestamp;
use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::note::{MetaValue, parse};
use memoranda_engine::core::secrets;
use memoranda_engine::hash;

use crate::time;

/// The system that a note came from.
pub(crate) const FROM: &str = "imported_from";
/// What that system calls it.
pub(crate) const ID: &str = "imported_id";
/// When it came.
pub(crate) const AT: &str = "imported_at";
/// What it held when it came.
pub(crate) const HASH: &str = "imported_hash";

/// How many hexadecimal digits of the hash are written.
const HASH_DIGITS: usize = 16;

/// A note with its origin, ready to be compared and stamped.
#[derive(Clone, Debug)]
pub(crate) struct StampedNote {
    /// The text with its origin, without time and hash.
    text: String,
    /// The hash of that.
    pub(crate) hash: String,
}

/// What a note in the vault says of its import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedProvenance {
    /// What it held when it came; `None` if it does not say so.
    pub(crate) recorded: Option<String>,
    /// What it holds now.
    pub(crate) current: String,
}

impl StampedNote {
    /// Writes the origin into a note. A text whose frontmatter cannot be edited has none.
    pub(crate) fn new(text: &str, from: &str, id: &str) -> Option<Self> {
        let text = set_key(&without_stamp(text)?, FROM, from)?;
        let text = set_key(&text, ID, id)?;
        let hash = short_hash(&text);
        Some(Self { text, hash })
    }

    /// How many bytes it has, more or less.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Its title, if it states one.
    pub(crate) fn title(&self) -> Option<String> {
        parse(&self.text).title()
    }

    /// When it was changed last where it came from, if it states that.
    pub(crate) fn modified(&self) -> Option<Timestamp> {
        time::parse(&parse(&self.text).frontmatter.text("modified")?.into())
    }

    /// Whether a note says the same below its frontmatter.
    pub(crate) fn has_body_of(&self, here: &[u8]) -> bool {
        let body = |text: &str| text.get(parse(text).body).unwrap_or_default().trim().to_owned();
        std::str::from_utf8(here).is_ok_and(|here| body(here) == body(&self.text))
    }

    /// The whole note, as of a time.
    pub(crate) fn text_at(&self, at: Timestamp) -> Option<String> {
        self.stamp(&self.text, at)
    }

    /// Another text, marked as holding what came at a time.
    pub(crate) fn stamp(&self, text: &str, at: Timestamp) -> Option<String> {
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        set_key(&set_key(text, AT, &at.to_string())?, HASH, &self.hash)
    }
}

/// Reads what a note in the vault says of its import.
pub(crate) fn read_provenance(text: &str) -> Option<RecordedProvenance> {
    let recorded = parse(text).frontmatter.text(HASH);
    Some(RecordedProvenance { recorded, current: short_hash(&without_stamp(text)?) })
}

/// Whether a note holds what looks like a secret; the hash that was written here is none.
pub(crate) fn has_secret(text: &str) -> bool {
    let is_stamp = |line: usize| {
        let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        line.strip_prefix(HASH).is_some_and(|rest| rest.starts_with(':'))
    };
    secrets::find_secrets(text).iter().any(|secret| !is_stamp(secret.line))
}

fn without_stamp(text: &str) -> Option<String> {
    remove_key(&remove_key(text, AT)?, HASH)
}

fn set_key(text: &str, key: &str, value: &str) -> Option<String> {
    let value = MetaValue::Text(value.to_owned());
    apply_edit(text, &NoteEdit::SetKey { key: key.to_owned(), value }).ok()
}

fn remove_key(text: &str, key: &str) -> Option<String> {
    if !text.contains(key) {
        return Some(text.to_owned());
    }
    apply_edit(text, &NoteEdit::RemoveKey { key: key.to_owned() }).ok()
}

fn short_hash(text: &str) -> String {
    hash(text.as_bytes()).to_string().chars().take(HASH_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOON: Timestamp = Timestamp::constant(1_767_225_600, 0);

    #[test]
    fn a_hash_that_looks_like_a_card_is_no_secret() {
        let note = |key: &str| format!("---\n{key}: \"4111111111111111\"\n---\n");
        assert!(!has_secret(&note(HASH)));
        assert!(has_secret(&note("card")));
    }

    #[test]
    fn the_time_of_a_change_is_read_however_it_is_written() {
        for (written, expected) in [
            ("2019-05-05T10:00:00+02:00", Some("2019-05-05T08:00:00Z")),
            ("\"2019-05-05 10:00:00\"", Some("2019-05-05T10:00:00Z")),
            ("2019-05-05", Some("2019-05-05T00:00:00Z")),
            ("lately", None),
        ] {
            let stamped = StampedNote::new(&format!("---\nmodified: {written}\n---\n"), "x", "1");
            let found = stamped.unwrap().modified().map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn a_stamp_is_read_back() {
        for text in ["plain\n", "---\ntitle: T\n---\n\n# T\n", "---\r\na: 1\r\n---\r\ntext", ""] {
            let stamped = StampedNote::new(text, "claude", "id: 1").unwrap();
            let whole = stamped.text_at(NOON).unwrap();
            let found = read_provenance(&whole).unwrap();
            assert_eq!(found.recorded.as_ref(), Some(&stamped.hash), "{whole}");
            assert_eq!(found.current, stamped.hash, "{whole}");
            // The time says nothing about the text.
            let later = stamped.text_at(NOON + jiff::SignedDuration::from_hours(1)).unwrap();
            assert_eq!(super::read_provenance(&later).unwrap().current, stamped.hash);
            // An edit shows.
            let edited = super::read_provenance(&format!("{whole}more\n")).unwrap();
            assert_ne!(edited.current, stamped.hash);
            assert_eq!(edited.recorded, Some(stamped.hash.clone()));
        }
    }

    proptest! {
        #[test]
        fn no_text_loses_a_word(text in "(---\n(a: [a-z]{1,5}\n){0,2}---\n)?\\PC{0,80}") {
            if let Some(stamped) = StampedNote::new(&text, "x", "1") {
                let whole = stamped.text_at(NOON).unwrap();
                prop_assert_eq!(read_provenance(&whole).unwrap().current, stamped.hash);
                let body = &whole[parse(&whole).body];
                let was = &text[parse(&text).body];
                prop_assert!(body.ends_with(was.trim_start_matches('\n')));
            }
        }
    }
}
