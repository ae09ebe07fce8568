//! What a person can set about banks.

use memoranda_core::id::ProjectName;

use super::cache::BankCache;

/// How banks behave.
#[derive(Clone, Debug)]
pub struct BankSettings {
    /// The project that holds the banks.
    pub project: ProjectName,
    /// About how many tokens an answer of `activate` may have.
    pub answer_tokens: usize,
    /// A bank larger than this, in tokens, is tidied by the next update.
    pub optimize_tokens: usize,
    /// Whether banks are dumped for whoever looks for a mistake.
    pub diagnostics: DiagnosticsMode,
    /// The banks in memory.
    pub cache: BankCache,
}

/// Whether diagnostics are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticsMode {
    /// Nothing beside the banks.
    Off,
    /// `cache_memory_dump.json` in each bank that is used.
    Dump,
}

impl BankSettings {
    /// What holds without any configuration.
    pub fn standard() -> Self {
        Self {
            project: banks_project(),
            answer_tokens: 6000,
            optimize_tokens: 50_000,
            diagnostics: DiagnosticsMode::Off,
            cache: BankCache::default(),
        }
    }
}

#[expect(clippy::expect_used, reason = "the name is a constant that fits")]
fn banks_project() -> ProjectName {
    ProjectName::parse("banks").expect("a project name")
}
