//! Provenance of an imported note in its frontmatter: source, id, time and content hash.
//!
//! `imported_hash` covers the whole note without itself and the time. Comparing the hashes of the
//! last import, the current note and the new item decides on the outcome.

use jiff::Timestamp;
use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::note::{MetaValue, parse};
use memoranda_engine::core::secrets;
use memoranda_engine::hash;

use crate::time;

/// Frontmatter key of the source.
pub(crate) const FROM: &str = "imported_from";
/// Frontmatter key of the id at the source.
pub(crate) const ID: &str = "imported_id";
/// Frontmatter key of the import time.
pub(crate) const AT: &str = "imported_at";
/// Frontmatter key of the content hash.
pub(crate) const HASH: &str = "imported_hash";

/// Number of hexadecimal digits of the content hash.
const HASH_DIGITS: usize = 16;

/// A note with source and id, ready to be compared and stamped.
#[derive(Clone, Debug)]
pub(crate) struct StampedNote {
    /// Text with source and id, without time and hash.
    text: String,
    /// Hash of the text.
    pub(crate) hash: String,
}

/// Provenance of a note in the vault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordedProvenance {
    /// Content hash recorded by the last import; `None` before the first one.
    pub(crate) recorded: Option<String>,
    /// Hash of the current content.
    pub(crate) current: String,
}

impl StampedNote {
    /// Writes source and id into a note; `None` if its frontmatter cannot be edited.
    pub(crate) fn new(text: &str, from: &str, id: &str) -> Option<Self> {
        let text = set_key(&without_stamp(text)?, FROM, from)?;
        let text = set_key(&text, ID, id)?;
        let hash = short_hash(&text);
        Some(Self { text, hash })
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the title of the frontmatter.
    pub(crate) fn title(&self) -> Option<String> {
        parse(&self.text).title()
    }

    /// Returns the modification time of the frontmatter.
    pub(crate) fn modified(&self) -> Option<Timestamp> {
        time::parse(&parse(&self.text).frontmatter.text("modified")?.into())
    }

    /// Returns true if a note has the same body.
    pub(crate) fn has_body_of(&self, here: &[u8]) -> bool {
        let body = |text: &str| text.get(parse(text).body).unwrap_or_default().trim().to_owned();
        std::str::from_utf8(here).is_ok_and(|here| body(here) == body(&self.text))
    }

    /// Returns the note stamped with a time.
    pub(crate) fn text_at(&self, at: Timestamp) -> Option<String> {
        self.stamp(&self.text, at)
    }

    /// Stamps another text with a time and the hash of this note.
    pub(crate) fn stamp(&self, text: &str, at: Timestamp) -> Option<String> {
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        set_key(&set_key(text, AT, &at.to_string())?, HASH, &self.hash)
    }
}

/// Reads the provenance of a note in the vault.
pub(crate) fn read_provenance(text: &str) -> Option<RecordedProvenance> {
    let recorded = parse(text).frontmatter.text(HASH);
    Some(RecordedProvenance { recorded, current: short_hash(&without_stamp(text)?) })
}

/// Returns true if a note seems to contain a secret outside the content hash.
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
            // The time is not part of the hash.
            let later = stamped.text_at(NOON + jiff::SignedDuration::from_hours(1)).unwrap();
            assert_eq!(super::read_provenance(&later).unwrap().current, stamped.hash);
            // An edit changes the hash.
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
