//! The token that HTTP clients send: where it comes from, and the one that is made for a vault.
//!
//! `memoranda serve` and every command that talks to a server look for it in the same places, in
//! this order:
//!
//! 1. a file named on the command line;
//! 2. `MEMORANDA_TOKEN`;
//! 3. the file that `MEMORANDA_TOKEN_FILE` names;
//! 4. the file of the vault in this device's state folder, which is made on first use.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use memoranda_engine::{clock, hash};
use memoranda_server::{BearerToken, ServerError};

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::{env, files};

/// Start of every token that is made here, by which people and scanners recognise one.
const TOKEN_PREFIX: &str = "memoranda_";

/// A token, and where it came from.
pub(crate) struct HttpToken {
    /// The text of the token.
    pub(crate) text: String,
    /// The file that contains it; `None` if it came from a variable.
    pub(crate) file: Option<PathBuf>,
}

impl HttpToken {
    /// Reads the token that a person chose; `None` if they chose none.
    pub(crate) fn chosen(printer: &Printer, file: Option<&Path>) -> Result<Option<Self>> {
        let named = || env::MEMORANDA_TOKEN_FILE.get().map(PathBuf::from);
        match (file, env::MEMORANDA_TOKEN.text()) {
            (Some(file), _) => Self::read(printer, file).map(Some),
            (None, Some(text)) => Ok(Some(Self { text: text.trim().to_owned(), file: None })),
            (None, None) => named().map(|file| Self::read(printer, &file)).transpose(),
        }
    }

    /// Reads the token of an existing vault, and creates the token on first use.
    pub(crate) fn of_vault(context: &CommandContext) -> Result<Self> {
        let file = vault_file(context)?;
        let or_another = |error: CommandError| {
            error.hint("`memoranda serve --token-file FILE` takes a token from another file")
        };
        if files::read_text(&file).map_err(|error| or_another(error.into()))?.is_none() {
            let token = format!("{}\n", new_token());
            files::create_private(&file, token.as_bytes()).map_err(or_another)?;
        }
        Self::read(&context.printer, &file)
    }

    fn read(printer: &Printer, file: &Path) -> Result<Self> {
        let text = files::read_text(file)?.ok_or_else(|| {
            CommandError::configuration(format!("there is no token file {}", file.display()))
                .hint("`openssl rand -hex 32` prints a good token")
        })?;
        if files::is_readable_by_others(file) {
            let shown = file.display();
            printer.warn(format!("others can read the token in {shown}; `chmod 600 {shown}`"));
        }
        Ok(Self { text: text.trim().to_owned(), file: Some(file.to_owned()) })
    }

    /// Returns the token as the server checks it.
    pub(crate) fn bearer(&self) -> Result<BearerToken> {
        let token = BearerToken::parse(&self.text).map_err(|error| self.explain(&error))?;
        Ok(match &self.file {
            Some(file) => token.in_file(file),
            None => token,
        })
    }

    fn explain(&self, error: &ServerError) -> CommandError {
        let message = match &self.file {
            Some(file) => format!("{error}; {} does not contain one", file.display()),
            None => error.to_string(),
        };
        CommandError::configuration(message).hint("`openssl rand -hex 32` prints a good token")
    }
}

/// Returns the file for the token of this vault.
fn vault_file(context: &CommandContext) -> Result<PathBuf> {
    Ok(vault_state_folder(context)?.join("http-token"))
}

/// Returns the folder for this device's state of the vault. It is named by a hash of the vault's
/// path, so that two vaults have two tokens.
pub(crate) fn vault_state_folder(context: &CommandContext) -> Result<PathBuf> {
    let settings = context.settings()?;
    let home = files::canonical(&settings.home())?;
    let key: String =
        hash(home.as_os_str().as_encoded_bytes()).to_string().chars().take(16).collect();
    Ok(settings.directories.state.join(key))
}

/// Makes a token of 256 random bits.
fn new_token() -> String {
    clock::secret().iter().fold(TOKEN_PREFIX.to_owned(), |mut token, byte| {
        // Writing to a text cannot fail.
        write!(token, "{byte:02x}").ok();
        token
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_token_has_256_bits_and_is_recognisable() {
        let (one, other) = (new_token(), new_token());
        assert_ne!(one, other);
        let digits = one.strip_prefix(TOKEN_PREFIX).unwrap();
        assert!(digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert!(BearerToken::parse(&one).is_ok());
    }
}
