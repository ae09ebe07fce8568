//! The door to other programs: the person's editor, and no other.

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

/// The editor's command may have words of its own, such as `code --wait`: a shell takes it apart.
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
