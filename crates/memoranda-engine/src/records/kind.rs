//! The kinds of records. The folder of a record determines its kind.

/// The kind of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordKind {
    /// A standard to follow always.
    Rule,
    /// A choice with its reason.
    Decision,
    /// Knowledge for later.
    Fact,
    /// Everything else.
    Note,
    /// A reusable workflow.
    Skill,
}

impl RecordKind {
    /// All kinds, in listing order.
    pub const ALL: [Self; 5] = [Self::Rule, Self::Decision, Self::Fact, Self::Note, Self::Skill];
    /// Names of all kinds, in listing order.
    pub const NAMES: [&'static str; 5] = ["rule", "decision", "fact", "note", "skill"];

    /// Returns the name of the kind, used in frontmatter and as the name of its folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Decision => "decision",
            Self::Fact => "fact",
            Self::Note => "note",
            Self::Skill => "skill",
        }
    }

    /// Parses the name of a kind.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
