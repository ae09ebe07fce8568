//! Actions of the page on this machine: settings, set-up of clients, import and vacuum. Only a page
//! of a server that no other machine reaches may do it.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use memoranda_clients::ClientsError;
use memoranda_clients::setup::{ClientAction, ClientChange, ClientFileDiff, ClientReview};
use memoranda_engine::core::word_diff::word_diff;
use memoranda_engine::records::RecordError;
use memoranda_engine::{VacuumExtent, VacuumReport, VacuumRequest, clock};
use serde_json::{Value, json};

use super::history_json::hunks_json;
use super::request::PageRequest;
use crate::http_error::HttpError;
use crate::page_services::{
    PageServices, ServiceError, ServiceErrorKind, UploadImport, UploadPart,
};

/// Maximum number of purged notes that are named.
const MAX_NAMED_NOTES: usize = 200;
/// Default age of deleted content that a vacuum purges, in days.
const VACUUM_DAYS: usize = 30;
/// Number of context lines of a difference in a client's file.
const CONTEXT_LINES: usize = 3;

impl From<ServiceError> for HttpError {
    fn from(error: ServiceError) -> Self {
        let status = match error.kind {
            ServiceErrorKind::Refused => StatusCode::BAD_REQUEST,
            ServiceErrorKind::NotFound => StatusCode::NOT_FOUND,
            ServiceErrorKind::Conflict => StatusCode::CONFLICT,
            ServiceErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        described(status, &error.message, error.hints)
    }
}

impl From<ClientsError> for HttpError {
    fn from(error: ClientsError) -> Self {
        let (message, hints) = (error.to_string(), error.hints());
        let status = match error {
            ClientsError::Engine(error) | ClientsError::Record(RecordError::Engine(error)) => {
                return error.into();
            }
            ClientsError::Io { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            ClientsError::FileChanged { .. } | ClientsError::NotAsShown { .. } => {
                StatusCode::CONFLICT
            }
            ClientsError::NoClient(_) => StatusCode::NOT_FOUND,
            ClientsError::Server(_) => StatusCode::BAD_GATEWAY,
            ClientsError::InvalidAddress { .. }
            | ClientsError::NoAddress { .. }
            | ClientsError::NeedsToken { .. }
            | ClientsError::HooksNeedToken { .. }
            | ClientsError::SharedToken { .. }
            | ClientsError::UnreadableFile { .. }
            | ClientsError::InvalidFile { .. }
            | ClientsError::NoVault(_)
            | ClientsError::NoProjectFile { .. }
            | ClientsError::InvalidHookInput
            | ClientsError::BriefGiven
            | ClientsError::Record(_) => StatusCode::BAD_REQUEST,
        };
        described(status, &message, hints)
    }
}

/// Makes a sentence of a message.
fn described(status: StatusCode, text: &str, hints: Vec<String>) -> HttpError {
    let mut message = String::new();
    let mut chars = text.chars();
    message.extend(chars.next().into_iter().flat_map(char::to_uppercase));
    message.extend(chars);
    if !message.ends_with(['.', '!', '?']) {
        message.push('.');
    }
    HttpError::new(status, message).with("hints", hints)
}

impl PageRequest<'_> {
    /// Returns the services of the binary.
    pub(super) fn services(&self) -> Result<&dyn PageServices, HttpError> {
        self.page.services.as_deref().ok_or_else(|| {
            let message = "This server was started without the services of the command line.";
            HttpError::coded(StatusCode::NOT_FOUND, "no-services", message)
        })
    }

    /// Rejects a request to a server that other machines can reach.
    pub(super) fn check_local(&self) -> Result<(), HttpError> {
        if self.page.is_local {
            return Ok(());
        }
        let message = "This server is reachable from other machines, so its page changes nothing \
                       of this one: use the command line.";
        Err(HttpError::coded(StatusCode::FORBIDDEN, "not-local", message))
    }
}

/// Returns the settings.
pub(super) fn settings(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let settings = match &request.page.services {
        Some(services) => services.settings()?,
        None => json!([]),
    };
    Ok(json!({ "settings": settings }))
}

/// Changes a setting in the configuration file.
pub(super) fn change_setting(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.check_local()?;
    let key = request.required("key")?;
    let value = match request.body.get("value") {
        None => return Err(HttpError::bad_request("value is missing: a text, or null.")),
        Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err(HttpError::bad_request("value must be a text, or null.")),
    };
    request.services()?.change_setting(key, value)?;
    settings(request)
}

/// Returns the clients of this machine with the difference of each possible change.
pub(super) fn clients(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.check_local()?;
    let clients = request.services()?.client_setup()?.review();
    Ok(json!({ "clients": clients.iter().map(client_json).collect::<Vec<_>>() }))
}

fn client_json(client: &ClientReview) -> Value {
    let changes = client.changes.iter().map(|(action, change)| {
        json!({
            "action": action.as_str(),
            "digest": change.digest(),
            "files": change_json(change),
        })
    });
    json!({
        "name": client.name,
        "title": client.title,
        "found": client.is_found,
        "connected": client.is_connected,
        "hooks": client.has_hooks,
        "problem": client.problem,
        "after": client.after,
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn change_json(change: &ClientChange) -> Vec<Value> {
    let file = |file: &ClientFileDiff| {
        let action = match (&file.before, &file.after) {
            (None, _) => "added",
            (Some(_), None) => "deleted",
            (Some(_), Some(_)) => "changed",
        };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let hunks = word_diff(&text(&file.before), &text(&file.after), CONTEXT_LINES);
        json!({ "path": file.path, "action": action, "hunks": hunks_json(&hunks) })
    };
    change.files.iter().map(file).collect()
}

/// Connects or disconnects a client as it was shown.
pub(super) fn change_client(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.check_local()?;
    let name = request.required("client")?;
    let action = ClientAction::parse(request.required("action")?).ok_or_else(|| {
        let names = ClientAction::ALL.map(ClientAction::as_str).join(", ");
        HttpError::bad_request(format!("action must be one of {names}."))
    })?;
    let setup = request.services()?.client_setup()?;
    let backups = setup.apply_shown(name, action, request.required("digest")?)?;
    Ok(json!({ "client": name, "action": action.as_str(), "backups": backups }))
}

/// Appends parts of files to an upload.
pub(super) fn stage_upload(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.check_local()?;
    let parts = request.body.get("parts").and_then(Value::as_array);
    let parts = parts.ok_or_else(|| HttpError::bad_request("parts is missing: a list."))?;
    let part = |part: &Value| {
        let path = part.get("path").and_then(Value::as_str);
        let data = part.get("data").and_then(Value::as_str);
        let bytes = data.and_then(|data| STANDARD.decode(data).ok());
        let offset = part.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let modified = part.get("modified").and_then(Value::as_i64);
        match (path, bytes) {
            (Some(path), Some(bytes)) => {
                Ok(UploadPart { path: path.to_owned(), offset, bytes, modified })
            }
            _ => Err(HttpError::bad_request("A part needs path, offset and data in Base64.")),
        }
    };
    let parts: Vec<UploadPart> = parts.iter().map(part).collect::<Result<_, _>>()?;
    let upload = request.services()?.stage_upload(request.text("upload"), &parts)?;
    Ok(json!({ "upload": upload }))
}

/// Says what an upload would bring.
pub(super) fn plan_import(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    import(request, true)
}

/// Brings an upload.
pub(super) fn import_upload(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    import(request, false)
}

fn import(request: &PageRequest<'_>, is_dry_run: bool) -> Result<Value, HttpError> {
    request.check_local()?;
    let project = request.project()?;
    let import =
        UploadImport { upload: request.required("upload")?, project: project.as_ref(), is_dry_run };
    Ok(request.services()?.import(request.memory(), &import)?)
}

/// Deletes an upload.
pub(super) fn discard_upload(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.services()?.discard_upload(request.required("upload")?);
    Ok(json!({ "discarded": true }))
}

/// Returns what a vacuum would purge.
pub(super) fn plan_vacuum(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let vacuum = vacuum_request(request)?;
    let plan = request.memory().plan_vacuum(&vacuum)?;
    Ok(vacuum_json(&vacuum, &plan))
}

/// Purges what was shown.
pub(super) fn vacuum(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    request.check_local()?;
    let memory = request.memory();
    let before = request.time("before")?;
    let before = before.ok_or_else(|| HttpError::bad_request("before is missing: a time."))?;
    let vacuum = VacuumRequest { before, ..vacuum_request(request)? };
    let shown = request.body.get("contents").and_then(Value::as_u64);
    let plan = memory.plan_vacuum(&vacuum)?;
    if shown != Some(plan.contents) {
        let message = "Something was deleted or restored since; nothing was purged. Look again.";
        return Err(HttpError::new(StatusCode::CONFLICT, message));
    }
    let report = memory.vacuum(&request.author("vacuum"), &vacuum)?;
    Ok(vacuum_json(&vacuum, &report))
}

fn vacuum_request(request: &PageRequest<'_>) -> Result<VacuumRequest, HttpError> {
    let days = match request.text("days") {
        Some("0") => 0,
        _ => request.number("days", VACUUM_DAYS, 36_500)?,
    };
    let age = SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(i64::MAX / 24));
    let before = clock::now().saturating_sub(age).unwrap_or(Timestamp::UNIX_EPOCH);
    let what = if request.is_set("versions") {
        VacuumExtent::DeletedAndVersions
    } else {
        VacuumExtent::Deleted
    };
    Ok(VacuumRequest { project: request.project()?, before, what })
}

fn vacuum_json(vacuum: &VacuumRequest, report: &VacuumReport) -> Value {
    let notes = report.notes.iter().take(MAX_NAMED_NOTES);
    let notes = notes.map(|(project, path)| json!({ "project": project.as_str(), "path": path }));
    json!({
        "before": vacuum.before.to_string(),
        "versions": vacuum.what == VacuumExtent::DeletedAndVersions,
        "contents": report.contents,
        "bytes": report.bytes,
        "note_count": report.notes.len(),
        "notes": notes.collect::<Vec<_>>(),
        "still_on": report.still_on,
    })
}
