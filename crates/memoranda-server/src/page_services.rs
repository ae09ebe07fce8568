//! Services of the binary for the page, which the server's crates do not have: checks, settings, the
//! set-up of clients, rule files, import and export.

use std::io::Write;

use memoranda_engine::Memory;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::records::RecordScope;
use serde_json::Value;

/// Services of the binary for the page.
pub trait PageServices: Send + Sync {
    /// Checks the whole vault, as `memoranda doctor` does: a list of checks.
    fn check_vault(&self, memory: &Memory) -> ServiceResult<Value>;

    /// Returns the settings with their values, defaults, origins and descriptions.
    fn settings(&self) -> ServiceResult<Value>;

    /// Sets a setting in the configuration file; removes it if `value` is `None`.
    fn change_setting(&self, key: &str, value: Option<&str>) -> ServiceResult<()>;

    /// Returns the clients with the changes that connect and disconnect each of them.
    fn clients(&self) -> ServiceResult<Vec<PageClient>>;

    /// Writes a change of a client's files if it is still the shown one. Returns the backups.
    fn change_client(
        &self,
        name: &str,
        action: ClientAction,
        shown_digest: &str,
    ) -> ServiceResult<Vec<String>>;

    /// Returns the files that the rules of a scope become.
    fn rule_files(
        &self,
        memory: &Memory,
        scope: &RecordScope,
    ) -> ServiceResult<Vec<GeneratedRuleFile>>;

    /// Appends parts of files to an upload, and returns its id. A new upload begins without an id.
    fn stage_upload(&self, upload: Option<&str>, parts: &[UploadPart]) -> ServiceResult<String>;

    /// Imports an upload, or says what would come.
    fn import(&self, memory: &Memory, import: &UploadImport<'_>) -> ServiceResult<Value>;

    /// Deletes an upload.
    fn discard_upload(&self, upload: &str);

    /// Writes the vault or a project in a form: `archive`, `jsonl` or `mcp-memory`.
    fn export(
        &self,
        memory: &Memory,
        form: &str,
        project: Option<&ProjectName>,
        to: &mut dyn Write,
    ) -> ServiceResult<()>;
}

/// Result of a service.
pub type ServiceResult<T> = Result<T, ServiceError>;

/// A service that refused or failed.
#[derive(Clone, Debug)]
pub struct ServiceError {
    /// The kind.
    pub kind: ServiceErrorKind,
    /// One sentence with the invalid value, without a full stop.
    pub message: String,
    /// Next steps.
    pub hints: Vec<String>,
}

/// Kind of a service's error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceErrorKind {
    /// The request cannot be accepted.
    Refused,
    /// A thing does not exist.
    NotFound,
    /// Something changed since it was shown.
    Conflict,
    /// The machine failed.
    Failed,
}

/// A client of this machine.
#[derive(Clone, Debug)]
pub struct PageClient {
    /// Name on the command line.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// True if the client seems to be installed.
    pub is_found: bool,
    /// True if an entry of Memoranda is in its file.
    pub is_connected: bool,
    /// True if hooks of Memoranda are installed; `None` if the client runs no hooks.
    pub has_hooks: Option<bool>,
    /// Reason why its files cannot be changed.
    pub problem: Option<String>,
    /// Step that the user does after connecting.
    pub after: String,
    /// The possible changes. A change without files does nothing.
    pub changes: Vec<(ClientAction, ClientChange)>,
}

/// A change of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientAction {
    /// Adds the server.
    Connect,
    /// Adds the server and the hooks.
    ConnectWithHooks,
    /// Removes everything of Memoranda.
    Disconnect,
}

impl ClientAction {
    /// All actions.
    pub const ALL: [Self; 3] = [Self::Connect, Self::ConnectWithHooks, Self::Disconnect];

    /// Returns the name in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::ConnectWithHooks => "connect_with_hooks",
            Self::Disconnect => "disconnect",
        }
    }

    /// Finds an action by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// Files of a client before and after a change.
#[derive(Clone, Debug, Default)]
pub struct ClientChange {
    /// The files that differ.
    pub files: Vec<ClientFileDiff>,
}

/// A file before and after a change.
#[derive(Clone, Debug)]
pub struct ClientFileDiff {
    /// Path for people.
    pub path: String,
    /// Current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// New text; `None` if the file is deleted.
    pub after: Option<String>,
}

impl ClientChange {
    /// Returns a digest of the change: equal only if paths and texts are equal.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: Option<&str>| {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(text.unwrap_or_default().as_bytes());
        };
        for file in &self.files {
            add(Some(&file.path));
            add(file.before.as_deref());
            add(file.after.as_deref());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// A file that rules become.
#[derive(Clone, Debug)]
pub struct GeneratedRuleFile {
    /// Name of the reader.
    pub target: String,
    /// Path in a repository.
    pub path: String,
    /// Text of the file, or of the block between marks.
    pub text: String,
    /// True if the text is a block in a file that people write.
    pub is_block: bool,
}

/// A part of an uploaded file.
#[derive(Clone, Debug)]
pub struct UploadPart {
    /// Path of the file in the upload, with `/` as the separator.
    pub path: String,
    /// Position of the bytes in the file.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Time of the file's last change, in milliseconds; `None` if unknown.
    pub modified: Option<i64>,
}

/// A request to import an upload.
#[derive(Clone, Copy, Debug)]
pub struct UploadImport<'a> {
    /// Id of the upload.
    pub upload: &'a str,
    /// Project for the notes; `None` for the default of the source.
    pub project: Option<&'a ProjectName>,
    /// True if nothing is written.
    pub is_dry_run: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_texts_and_files_apart() {
        let file = |path: &str, before: Option<&str>, after: Option<&str>| ClientFileDiff {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let digest = |file: ClientFileDiff| ClientChange { files: vec![file] }.digest();
        let all = [
            digest(file("a", None, Some("x"))),
            digest(file("a", Some(""), Some("x"))),
            digest(file("ax", None, Some(""))),
            digest(file("a", Some("x"), None)),
            ClientChange::default().digest(),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(all.iter().skip(n + 1).all(|other| other != one), "{n}");
        }
        assert_eq!(digest(file("a", None, None)), digest(file("a", None, None)));
    }

    #[test]
    fn actions_have_names() {
        for action in ClientAction::ALL {
            assert_eq!(ClientAction::parse(action.as_str()), Some(action));
        }
        assert_eq!(ClientAction::parse("add"), None);
    }
}
