//! Services of the binary for the page, which need the settings and paths of the command line:
//! settings, the set-up of clients, import and export.

use std::io::Write;

use memoranda_clients::setup::ClientSetup;
use memoranda_engine::Memory;
use memoranda_engine::core::id::ProjectName;
use serde_json::Value;

/// Services of the binary for the page.
pub trait PageServices: Send + Sync {
    /// Returns the settings with their values, defaults, origins and descriptions.
    fn settings(&self) -> ServiceResult<Value>;

    /// Sets a setting in the configuration file; removes it if `value` is `None`.
    fn change_setting(&self, key: &str, value: Option<&str>) -> ServiceResult<()>;

    /// Returns the set-up of clients on this machine.
    fn client_setup(&self) -> ServiceResult<ClientSetup>;

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
