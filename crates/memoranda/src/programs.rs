//! Starts the user's browser.

#![allow(clippy::disallowed_methods, reason = "this is the door to the browser")]

use std::process::{Command, Stdio};

use crate::error::{CommandError, Result};

/// Opens an address in the user's browser, and does not wait for it.
pub(crate) fn open_browser(url: &str) -> Result<()> {
    // The link is in a command line for a moment, and works once.
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error: &std::io::Error| {
        CommandError::io(&format!("start {program}"), error)
            .hint("`memoranda open --print` prints the link")
    };
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    std::thread::Builder::new().spawn(move || child.wait()).ok();
    Ok(())
}
