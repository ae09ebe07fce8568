//! Exit codes of the program.

use std::process::ExitCode;

/// Exit status of a command. Scripts may rely on the codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// The command succeeded.
    Success,
    /// The requested item was not found, or a check failed.
    NotFound,
    /// The command line is invalid.
    Usage,
    /// The configuration is invalid, or there is no vault.
    Configuration,
    /// Another process changed or locked the item.
    Conflict,
    /// An I/O error or a bug.
    Internal,
    /// Interrupted with Ctrl-C.
    Interrupted,
}

/// Table of exit codes for the program and its reference page.
pub(crate) const TABLE: [(Exit, u8, &str); 7] = [
    (Exit::Success, 0, "Done. Also when the reader of a pipe went away."),
    (Exit::NotFound, 1, "What was asked for is not there, or a check failed."),
    (Exit::Usage, 2, "The command line is wrong, or names something that cannot be."),
    (Exit::Configuration, 3, "The configuration is wrong, or there is no vault."),
    (Exit::Conflict, 4, "Someone else changed it, or holds it; nothing was changed."),
    (Exit::Internal, 5, "It could not be done: a disk, a permission, or a fault of the program."),
    (Exit::Interrupted, 130, "Interrupted with Ctrl-C; what was acknowledged is kept."),
];

impl Exit {
    /// Returns the numeric exit code.
    pub(crate) fn code(self) -> u8 {
        TABLE.iter().find(|(exit, _, _)| *exit == self).map_or(5, |(_, code, _)| *code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
