//! How long a memory is meant to last, in the words of memories.sh: rules, what is at work now,
//! and all else. Here that follows from the type and the expiry.

use jiff::{SignedDuration, Timestamp};

use super::error::Result;
use super::kind::RecordKind;
use super::record::MemoryRecord;
use crate::registry::ToolArgs;

/// How long what is at work now is kept.
const WORKING_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// How long a memory is meant to last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MemoryLayer {
    /// A rule.
    Rule,
    /// It expires.
    Working,
    /// It stays.
    LongTerm,
}

impl MemoryLayer {
    pub(super) fn read(args: &ToolArgs) -> Result<Option<Self>> {
        let word = args.choice("layer", &["rule", "working", "long_term"])?;
        Ok(word.as_deref().and_then(Self::parse))
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "rule" => Some(Self::Rule),
            "working" => Some(Self::Working),
            "long_term" => Some(Self::LongTerm),
            _ => None,
        }
    }

    pub(super) fn includes(self, record: &MemoryRecord) -> bool {
        let is_rule = record.kind == RecordKind::Rule;
        match self {
            Self::Rule => is_rule,
            Self::Working => !is_rule && record.expires.is_some(),
            Self::LongTerm => !is_rule && record.expires.is_none(),
        }
    }

    /// When something new in this layer expires.
    pub(super) fn expiry(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Working => now.checked_add(WORKING_LIFETIME).ok(),
            Self::Rule | Self::LongTerm => None,
        }
    }
}
