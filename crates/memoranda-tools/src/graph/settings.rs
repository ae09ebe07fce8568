//! Settings of the graph.

use memoranda_core::fact::FactLimits;
use memoranda_core::id::ProjectName;

/// The settings of the graph tools.
#[derive(Clone, Debug)]
pub struct GraphSettings {
    /// Project that contains the threads.
    pub project: ProjectName,
    /// Maximum length of an observation.
    pub limits: FactLimits,
    /// Maximum number of entities of a thread in which a search looks for parts of words.
    pub pieces_up_to: u64,
}

impl GraphSettings {
    /// Returns the settings without configuration.
    #[expect(clippy::expect_used, reason = "the name is a constant that fits")]
    pub fn standard() -> Self {
        Self {
            project: ProjectName::parse("graph").expect("a project name"),
            limits: FactLimits { chars: 150, sentences: 2 },
            pieces_up_to: 20_000,
        }
    }
}
