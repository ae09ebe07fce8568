//! Names that identify things: each its own type, so that none can be taken for another.

use std::fmt;

/// Crockford's base-32 alphabet in lower case: no `i`, `l`, `o`, `u` to misread or misspell.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The identity of one commit: twelve characters that a person can type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId([u8; 12]);

impl CommitId {
    /// Makes an id from 60 of the given random bits.
    pub fn from_random(random: u64) -> Self {
        let mut text = [b'0'; 12];
        for (i, byte) in text.iter_mut().enumerate() {
            *byte = ALPHABET[(random >> (5 * i)) as usize & 31];
        }
        Self(text)
    }

    /// Reads an id that was printed before; `None` if it could not have been.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 12] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(Self(bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        // Every constructor admits only bytes of the alphabet, which is ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitId({})", self.as_str())
    }
}

/// The identity of one observation, `obs_` and 26 characters that sort by time of creation; or,
/// for a fact typed by hand, an id derived from its text and place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObservationId(String);

impl ObservationId {
    /// Makes an id from the 128 bits of a time-ordered UUID.
    pub fn from_bits(bits: u128) -> Self {
        let mut text = String::with_capacity(30);
        text.push_str("obs_");
        for i in (0..26).rev() {
            let digit = ALPHABET[(bits >> (5 * i)) as usize & 31];
            text.push(char::from(digit.to_ascii_uppercase()));
        }
        Self(text)
    }

    /// Reads an id: `obs_` and one to 64 ASCII letters, digits, `_` or `-`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("obs_")?;
        let fits = (1..=64).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        fits.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a project: what a person would call a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProjectName(String);

/// Why a text cannot name a project.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name:?} cannot name a project: {reason}")]
pub struct ProjectNameError {
    /// What was given.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl ProjectName {
    /// Accepts a name that every system can use as a folder.
    pub fn parse(text: &str) -> Result<Self, ProjectNameError> {
        let bad = |reason| ProjectNameError { name: text.chars().take(80).collect(), reason };
        if text.is_empty() {
            return Err(bad("it is empty"));
        }
        if text.len() > 100 {
            return Err(bad("it is longer than 100 bytes"));
        }
        if text.starts_with('.') || text.ends_with('.') {
            return Err(bad("it begins or ends with a dot"));
        }
        if text.trim() != text {
            return Err(bad("it begins or ends with a blank"));
        }
        if text.chars().any(|c| c.is_control() || "/\\<>:\"|?*".contains(c)) {
            return Err(bad("it holds one of / \\ < > : \" | ? * or a control character"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The stable address of a note within its project, such as `specs/search`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Permalink(pub String);

impl Permalink {
    /// The permalink as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Permalink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The BLAKE3 hash of a file's bytes: which version of a text this is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut hash = [0u8; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Some(Self(hash))
    }

    /// The first eight digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_ids_round_trip_as_text() {
        for random in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let id = CommitId::from_random(random);
            assert_eq!(CommitId::parse(id.as_str()), Some(id));
        }
        for bad in ["", "short", "000000000000x", "00000000000l", "00000000000é"] {
            assert_eq!(CommitId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn observation_ids_sort_by_their_bits() {
        let ids: Vec<_> = [1u128, 31, 32, 1 << 80, u128::MAX].map(ObservationId::from_bits).into();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.as_str().len() == 30));
        assert!(ids.iter().all(|id| ObservationId::parse(id.as_str()).as_ref() == Some(id)));
    }

    #[test]
    fn project_names_are_portable_folder_names() {
        for good in ["main", "My Notes", "日本語", "a.b", "café"] {
            assert!(ProjectName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", ".hidden", "a/b", "a\\b", "..", " a", "a\0b", "x:", &"a".repeat(101)] {
            assert!(ProjectName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
