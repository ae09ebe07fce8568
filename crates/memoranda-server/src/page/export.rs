//! Export: the vault or a project as a file, sent while it is written.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Frame;
use memoranda_engine::clock;
use memoranda_engine::core::id::ProjectName;
use serde_json::Map;
use tokio::sync::mpsc;

use super::PageState;
use super::query_string::QueryString;
use super::request::PageRequest;
use crate::http_error::HttpError;
use crate::page_services::PageServices;
use crate::team::TeamRequest;

/// Size of the pieces that are sent, in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Maximum number of pieces that wait for a slow reader.
const MAX_WAITING: usize = 16;

/// A form of export.
struct DownloadFormat {
    name: &'static str,
    media_type: &'static str,
    extension: &'static str,
}

const FORMS: [DownloadFormat; 3] = [
    DownloadFormat { name: "archive", media_type: "application/x-tar", extension: "tar" },
    DownloadFormat { name: "jsonl", media_type: "application/x-ndjson", extension: "jsonl" },
    DownloadFormat {
        name: "mcp-memory",
        media_type: "application/x-ndjson",
        extension: "memory.jsonl",
    },
];

/// Answers with the bytes of an export.
pub(super) async fn export(
    page: Arc<PageState>,
    query: QueryString,
    team: Option<Arc<TeamRequest>>,
) -> Response {
    let checked = tokio::task::spawn_blocking(move || {
        let request = PageRequest { page: &page, team, query, body: Map::new() };
        let (form, project, services) = check(&request)?;
        if let Some(team) = &request.team {
            team.record_export()?;
        }
        Ok::<_, HttpError>((form, project, services, Arc::clone(&page)))
    });
    match checked.await {
        Ok(Ok((form, project, services, page))) => send(page, form, project, services),
        Ok(Err(error)) => error.into_response(),
        Err(_) => HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The export broke down.")
            .into_response(),
    }
}

type CheckedExport = (&'static DownloadFormat, Option<ProjectName>, Arc<dyn PageServices>);

fn check(request: &PageRequest<'_>) -> Result<CheckedExport, HttpError> {
    request.services()?;
    let name = request.text("form").unwrap_or("archive");
    let form = FORMS.iter().find(|form| form.name == name).ok_or_else(|| {
        let names = FORMS.map(|form| form.name).join(", ");
        HttpError::bad_request(format!("form must be one of {names}."))
    })?;
    let project = request.project()?;
    if form.name == "archive" && project.is_some() {
        let message = "An archive holds the whole vault; jsonl holds one project.";
        return Err(HttpError::bad_request(message));
    }
    let services = request.page.services.clone();
    services
        .map(|services| (form, project, services))
        .ok_or_else(|| HttpError::not_found("This server exports nothing."))
}

fn send(
    page: Arc<PageState>,
    form: &'static DownloadFormat,
    project: Option<ProjectName>,
    services: Arc<dyn PageServices>,
) -> Response {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    tokio::task::spawn_blocking(move || {
        let pieces = PieceWriter(sender.clone());
        let mut to = BufWriter::with_capacity(PIECE_BYTES, pieces);
        let done = services.export(&page.catalog.memory, form.name, project.as_ref(), &mut to);
        let done = done.map_err(|error| error.message);
        let done = done.and_then(|()| to.flush().map_err(|error| error.to_string()));
        if let Err(message) = done {
            tracing::warn!(%message, "an export broke off");
            // The reader sees a broken answer, never a file that looks whole.
            sender.blocking_send(Err(io::Error::other(message))).ok();
        }
    });
    let mut response = Body::new(PieceBody(receiver)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.media_type));
    let day = clock::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let name = format!("attachment; filename=\"memoranda-{day}.{}\"", form.extension);
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    response
}

/// Sends every written piece.
struct PieceWriter(mpsc::Sender<io::Result<Bytes>>);

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Ok(Bytes::copy_from_slice(bytes));
        self.0.blocking_send(piece).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Body of the pieces.
struct PieceBody(mpsc::Receiver<io::Result<Bytes>>);

impl hyper::body::Body for PieceBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
