//! Services of this program for the web page: settings, set-up of clients, import, export.

use std::io::Write;

use memoranda_clients::setup::{ClientSetup, SetupScope};
use memoranda_engine::Memory;
use memoranda_engine::core::id::ProjectName;
use memoranda_server::{
    PageServices, ServiceError, ServiceErrorKind, ServiceResult, UploadImport, UploadPart,
};
use serde_json::Value;

use super::import::{StagedUploads, import_upload};
use super::{config, export, setup};
use crate::cli::GlobalArgs;
use crate::config::AppSettings;
use crate::error::{CommandError, FailureKind, Result};
use crate::exit::Exit;

/// Services of this program for the page.
pub(crate) struct CommandServices {
    args: GlobalArgs,
    uploads: StagedUploads,
}

impl CommandServices {
    /// Creates the services of a run with these flags.
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        Self { args: args.clone(), uploads: StagedUploads::default() }
    }

    /// Reads the settings again, because the page or a person may have changed the file.
    fn settings(&self) -> Result<AppSettings> {
        AppSettings::load(&self.args)
    }
}

impl PageServices for CommandServices {
    fn settings(&self) -> ServiceResult<Value> {
        self.settings().map(|settings| config::page_settings(&settings)).map_err(service_error)
    }

    fn change_setting(&self, key: &str, value: Option<&str>) -> ServiceResult<()> {
        config::change_setting(key, value).map_err(service_error)
    }

    fn client_setup(&self) -> ServiceResult<ClientSetup> {
        let settings = self.settings().map_err(service_error)?;
        Ok(setup::client_setup(&settings, SetupScope::User, None))
    }

    fn stage_upload(&self, upload: Option<&str>, parts: &[UploadPart]) -> ServiceResult<String> {
        self.uploads.add_parts(upload, parts).map_err(service_error)
    }

    fn import(&self, memory: &Memory, import: &UploadImport<'_>) -> ServiceResult<Value> {
        let settings = self.settings().map_err(service_error)?;
        import_upload(&settings, memory, &self.uploads, import).map_err(service_error)
    }

    fn discard_upload(&self, upload: &str) {
        self.uploads.discard(upload);
    }

    fn export(
        &self,
        memory: &Memory,
        form: &str,
        project: Option<&ProjectName>,
        to: &mut dyn Write,
    ) -> ServiceResult<()> {
        export::write_for_page(memory, form, project, to).map_err(service_error)
    }
}

fn service_error(error: CommandError) -> ServiceError {
    let kind = match error.kind {
        FailureKind::Exit(Exit::Usage | Exit::Configuration) => ServiceErrorKind::Refused,
        FailureKind::Exit(Exit::NotFound) => ServiceErrorKind::NotFound,
        FailureKind::Exit(Exit::Conflict) => ServiceErrorKind::Conflict,
        FailureKind::Exit(_) | FailureKind::BrokenPipe => ServiceErrorKind::Failed,
    };
    ServiceError { kind, message: error.message, hints: error.hints }
}
