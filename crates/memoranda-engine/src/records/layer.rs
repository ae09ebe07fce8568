//! Layers of memories.sh: rules, working memory and long-term memory. A layer follows from kind and
//! expiry.

use jiff::{SignedDuration, Timestamp};

use super::kind::RecordKind;
use super::record::MemoryRecord;

/// Lifetime of a new record of the working layer.
const WORKING_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// The intended lifetime of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryLayer {
    /// Rules.
    Rule,
    /// Records that expire.
    Working,
    /// Records that do not expire.
    LongTerm,
}

impl MemoryLayer {
    /// Names of all layers.
    pub const NAMES: [&'static str; 3] = ["rule", "working", "long_term"];

    /// Parses the name of a layer.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "rule" => Some(Self::Rule),
            "working" => Some(Self::Working),
            "long_term" => Some(Self::LongTerm),
            _ => None,
        }
    }

    /// Returns true if a record belongs to this layer.
    pub fn includes(self, record: &MemoryRecord) -> bool {
        let is_rule = record.kind == RecordKind::Rule;
        match self {
            Self::Rule => is_rule,
            Self::Working => !is_rule && record.expires.is_some(),
            Self::LongTerm => !is_rule && record.expires.is_none(),
        }
    }

    /// Returns the expiry of a new record in this layer; `None` if it does not expire.
    pub fn expiry(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Working => now.checked_add(WORKING_LIFETIME).ok(),
            Self::Rule | Self::LongTerm => None,
        }
    }
}
