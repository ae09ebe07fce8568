//! Identifiers, each a type of its own so that the compiler rejects a mix-up.

use std::fmt;

/// Crockford's base-32 alphabet in lower case, without the easily misread `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Identity of a commit: twelve characters that a person can type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId([u8; 12]);

impl CommitId {
    /// Builds an id from the low 60 bits.
    pub fn from_random(random: u64) -> Self {
        let mut text = [b'0'; 12];
        for (i, byte) in text.iter_mut().enumerate() {
            *byte = ALPHABET[(random >> (5 * i)) as usize & 31];
        }
        Self(text)
    }

    /// Parses an id; `None` if the text has another length or other characters.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 12] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(Self(bytes))
    }

    /// Returns the first eight characters, which are what people see and type.
    pub fn short(&self) -> &str {
        self.as_str().get(..8).unwrap_or_default()
    }

    /// Returns the id as text.
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

/// Identity of an observation: `obs_` and 26 characters that sort by time of creation. The id of an
/// observation typed by hand is derived from its text and position.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObservationId(String);

impl ObservationId {
    /// Builds an id from the 128 bits of a time-ordered UUID.
    pub fn from_bits(bits: u128) -> Self {
        let mut text = String::with_capacity(30);
        text.push_str("obs_");
        for i in (0..26).rev() {
            let digit = ALPHABET[(bits >> (5 * i)) as usize & 31];
            text.push(char::from(digit.to_ascii_uppercase()));
        }
        Self(text)
    }

    /// Parses an id: `obs_` and 1 to 64 ASCII letters, digits, `_` or `-`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("obs_")?;
        let fits = (1..=64).contains(&rest.len())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of a project; valid as a folder name on every system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProjectName(String);

/// Reason why a text is rejected as a project name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{name:?} cannot name a project: {reason}")]
pub struct ProjectNameError {
    /// Rejected text, cut to a printable length.
    pub name: String,
    /// Explanation for the user.
    pub reason: &'static str,
}

impl ProjectName {
    /// Parses a name that every system accepts as a folder name.
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

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Stable address of a note within its project, such as `specs/search`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Permalink(pub String);

impl Permalink {
    /// Returns the permalink as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Permalink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// BLAKE3 hash of a file's bytes; identifies a version of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Parses 64 hexadecimal digits.
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

    /// Returns the first eight digits, for display.
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
