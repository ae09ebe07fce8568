//! Settings of banks.

use memoranda_core::id::ProjectName;
use memoranda_engine::banks::BankCache;

/// The settings of banks.
#[derive(Clone, Debug)]
pub struct BankSettings {
    /// Project that contains the banks.
    pub project: ProjectName,
    /// Size of an answer of `activate`, in tokens.
    pub answer_tokens: usize,
    /// Size in tokens from which an update removes repetitions.
    pub optimize_tokens: usize,
    /// Diagnostic files.
    pub diagnostics: DiagnosticsMode,
    /// The cached banks.
    pub cache: BankCache,
}

/// The diagnostic files of banks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticsMode {
    /// No diagnostic files are written.
    Off,
    /// `cache_memory_dump.json` in each used bank.
    Dump,
}

impl BankSettings {
    /// Returns the settings without configuration.
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
