//! Starts the user's editor.

#![allow(clippy::disallowed_methods, reason = "this is the door to other programs")]

use std::path::Path;
use std::process::Command;

use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Opens a file in the editor and waits until it is closed.
pub(crate) fn open(editor: &str, path: &Path) -> Result<()> {
    let mut command = command(editor);
    let status = command.arg(path).status().map_err(|e| {
        CommandError::io(&format!("start the editor {editor:?}"), &e)
            .hint("`memoranda config set editor nano`, or set EDITOR")
    })?;
    if status.success() {
        return Ok(());
    }
    let message =
        format!("the editor {editor:?} ended with a failure ({status}); nothing was changed");
    Err(CommandError::new(Exit::Internal, message)
        .hint("`memoranda config set editor nano`, or set EDITOR"))
}

/// The editor command may contain arguments, such as `code --wait`, so a shell splits it.
#[cfg(unix)]
fn command(editor: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor);
    command
}

#[cfg(not(unix))]
fn command(editor: &str) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("notepad"));
    command.args(words);
    command
}
