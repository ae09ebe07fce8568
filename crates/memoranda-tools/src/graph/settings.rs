//! What a person can set about the graph.

use memoranda_core::fact::FactLimits;
use memoranda_core::id::ProjectName;

/// How the graph's tools behave.
#[derive(Clone, Debug)]
pub struct GraphSettings {
    /// The project that holds the threads.
    pub project: ProjectName,
    /// How long a fact may be.
    pub limits: FactLimits,
    /// In threads of more entities, a search looks for words and not for every piece of one.
    pub pieces_up_to: u64,
}

impl GraphSettings {
    /// What holds without any configuration.
    #[expect(clippy::expect_used, reason = "the name is a constant that fits")]
    pub fn standard() -> Self {
        Self {
            project: ProjectName::parse("graph").expect("a project name"),
            limits: FactLimits { chars: 150, sentences: 2 },
            pieces_up_to: 20_000,
        }
    }
}
