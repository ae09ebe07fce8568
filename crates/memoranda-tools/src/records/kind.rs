//! The five kinds of records. The folder that a record lies in says which it is.

/// What a record is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordKind {
    /// A standard that is always to be followed.
    Rule,
    /// A choice, with its reason.
    Decision,
    /// Something to know later.
    Fact,
    /// Everything else.
    Note,
    /// A workflow that can be used again.
    Skill,
}

impl RecordKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Rule, Self::Decision, Self::Fact, Self::Note, Self::Skill];
    /// Their names.
    pub(crate) const NAMES: [&'static str; 5] = ["rule", "decision", "fact", "note", "skill"];

    /// Its name on the wire, in frontmatter, and of its folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Decision => "decision",
            Self::Fact => "fact",
            Self::Note => "note",
            Self::Skill => "skill",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// How it is marked in a list.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Rule => "📌 RULE",
            Self::Decision => "💡 DECISION",
            Self::Fact => "📋 FACT",
            Self::Note => "📝 NOTE",
            Self::Skill => "🔧 SKILL",
        }
    }
}
