//! Starts the user's pager for long output on a terminal.

#![allow(clippy::disallowed_methods, reason = "this is a door to other programs")]

use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::env;

/// Options of `less` if the user has set none: leave short output on the screen, keep colours,
/// and do not clear the screen at the end.
const LESS_OPTIONS: &str = "FRX";

/// A running pager. Dropping it waits until the user closes it.
pub(crate) struct Pager {
    child: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts the pager; `None` if it cannot be started.
    pub(crate) fn start(command: &str) -> Option<Self> {
        let mut program = shell(command);
        if env::LESS.text().is_none() {
            program.env(env::LESS.name, LESS_OPTIONS);
        }
        let mut child = program.stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take();
        Some(Self { child, input })
    }

    /// Sends bytes to the pager.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        self.input = None;
        // The result of the pager does not matter.
        self.child.wait().ok();
    }
}

/// `less` is started directly, so that a system without it prints as usual. Another command may
/// contain arguments, so a shell splits it.
fn shell(command: &str) -> Command {
    if cfg!(not(unix)) || !command.contains(char::is_whitespace) {
        return Command::new(command);
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}
