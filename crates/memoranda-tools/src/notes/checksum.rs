//! `expected_checksum`: the version of a note that a caller knows.

use memoranda_core::id::ContentHash;
use serde_json::Value;

use crate::registry::{ToolArgs, ToolError};

/// The version of a note that the caller knows: a whole checksum or its beginning.
pub(super) struct ExpectedChecksum(String);

impl ExpectedChecksum {
    /// Reads `expected_checksum`.
    pub(super) fn read(args: &ToolArgs) -> Result<Option<Self>, ToolError> {
        let Some(text) = args.optional_text("expected_checksum")? else { return Ok(None) };
        let text = text.trim().to_lowercase();
        let fits = (8..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !fits {
            let expected = "8 to 64 hexadecimal digits, as read_note gives them";
            return Err(args.wrong("expected_checksum", expected, &Value::String(text)).into());
        }
        Ok(Some(Self(text)))
    }

    /// Returns true if a version has this checksum.
    pub(super) fn matches(&self, hash: ContentHash) -> bool {
        hash.to_string().starts_with(&self.0)
    }

    /// Returns the checksum as given.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
