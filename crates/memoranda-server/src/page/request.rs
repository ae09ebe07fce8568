//! A request of the page: its parameters, checked, and the vault.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use jiff::{Timestamp, Zoned};
use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::{CommitId, ContentHash, ProjectName};
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    Author, EngineError, IndexProgress, Memory, NoteLocation, PointInTime, StoreError, SyncScope,
};
use serde_json::{Map, Value, json};

use super::query_string::QueryString;
use super::{PageState, write_refusal};
use crate::http_error::HttpError;
use crate::team::TeamRequest;

/// Maximum time that a request waits for an index or for edits from before this process.
const INDEX_TIMEOUT: Duration = Duration::from_millis(1500);
/// Default number of items of a list.
const DEFAULT_ITEMS: usize = 50;
/// Maximum number of items of a list.
const MAX_ITEMS: usize = 200;

/// A request of the page.
pub(crate) struct PageRequest<'a> {
    pub(crate) page: &'a PageState,
    /// Person and space of the request; `None` on a server of one vault.
    pub(crate) team: Option<Arc<TeamRequest>>,
    pub(crate) query: QueryString,
    pub(crate) body: Map<String, Value>,
}

impl PageRequest<'_> {
    /// Returns the vault, after a short wait for its index.
    pub(crate) fn memory(&self) -> &Memory {
        let memory = self.vault();
        if matches!(memory.await_index(INDEX_TIMEOUT, &|_, _| ()), Ok(IndexProgress::Whole))
            && let Err(error) = memory.await_edits(&SyncScope::Everything, INDEX_TIMEOUT)
        {
            tracing::warn!(%error, "edits by hand may be missing from the page");
        }
        memory
    }

    /// Returns the vault at once.
    pub(crate) fn vault(&self) -> &Memory {
        &self.page.catalog.memory
    }

    /// Returns the author of the page's changes.
    pub(crate) fn author(&self, tool: &str) -> Author {
        let author = Author::new("page", tool, ChangeChannel::Page);
        match &self.team {
            Some(team) => team.author(author),
            None => author,
        }
    }

    /// Returns the reason why this request can change nothing; `None` if it can.
    pub(crate) fn write_refusal(&self) -> Option<HttpError> {
        write_refusal(self.page, self.team.as_deref())
    }

    /// Returns a parameter of the query string, or a text of the body.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let sent = self.body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        sent.or_else(|| self.query.get(name))
    }

    /// Returns a parameter that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, HttpError> {
        self.text(name).ok_or_else(|| HttpError::bad_request(format!("{name} is missing.")))
    }

    /// Returns true if a flag of the body or the query string is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.body.get(name).and_then(Value::as_bool).unwrap_or_else(|| self.query.is_set(name))
    }

    /// Returns a number of the query string within its limits.
    pub(crate) fn number(
        &self,
        name: &str,
        default: usize,
        max: usize,
    ) -> Result<usize, HttpError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse::<usize>().map_err(|_| {
            HttpError::bad_request(format!("{name} must be a number from 1 to {max}."))
        })?;
        Ok(number.clamp(1, max))
    }

    /// Returns the number of items of a list.
    pub(crate) fn limit(&self) -> Result<usize, HttpError> {
        self.number("limit", DEFAULT_ITEMS, MAX_ITEMS)
    }

    /// Returns the project that a list is restricted to: the requested one, or the only one that
    /// this server may show.
    pub(crate) fn project(&self) -> Result<Option<ProjectName>, HttpError> {
        let requested = self.text("project").map(|name| self.known_project(name)).transpose()?;
        match (self.only_project()?, requested) {
            (Some(only), Some(requested)) if only != requested => Err(hidden_project(&requested)),
            (Some(only), _) => Ok(Some(only)),
            (None, requested) => Ok(requested),
        }
    }

    /// Returns the only project that this server may show; `None` if it may show all.
    pub(crate) fn only_project(&self) -> Result<Option<ProjectName>, HttpError> {
        let only = &self.page.catalog.settings.notes.only_project;
        only.as_deref().map(|name| self.known_project(name)).transpose()
    }

    /// Returns true if this server may show a project.
    pub(crate) fn may_show(&self, project: &ProjectName) -> Result<bool, HttpError> {
        Ok(self.only_project()?.is_none_or(|only| only == *project))
    }

    /// Rejects a project that this server may not show.
    pub(crate) fn check_shown(&self, project: &ProjectName) -> Result<(), HttpError> {
        if self.may_show(project)? { Ok(()) } else { Err(hidden_project(project)) }
    }

    fn known_project(&self, name: &str) -> Result<ProjectName, HttpError> {
        Ok(self.vault().project(name)?.name)
    }

    /// Returns the file that `project` and `path` name. It need not exist.
    pub(crate) fn place(&self) -> Result<NoteLocation, HttpError> {
        let project = self.required("project")?;
        let project = ProjectName::parse(project)
            .map_err(|error| HttpError::bad_request(format!("project: {error}.")))?;
        self.check_shown(&project)?;
        let path = NotePath::parse(self.required("path")?)
            .map_err(|error| HttpError::bad_request(format!("path: {error}.")))?;
        Ok(NoteLocation { project, path })
    }

    /// Returns a moment: a commit or a time. `None` if the parameter is absent or `now`.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<PointInTime>, HttpError> {
        let Some(text) = self.text(name).filter(|text| *text != "now") else { return Ok(None) };
        if let Some(time) = parse_time(text) {
            return Ok(Some(PointInTime::Time(time)));
        }
        let commit = self.vault().commit(text)?;
        Ok(Some(PointInTime::Commit(commit.id)))
    }

    /// Returns a time of the query string.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, HttpError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let time = parse_time(text).ok_or_else(|| {
            HttpError::bad_request(format!("{name} must be a time such as 2026-01-31T12:00:00Z."))
        })?;
        Ok(Some(time))
    }

    /// Returns the commit that a cursor names.
    pub(crate) fn cursor(&self) -> Result<Option<CommitId>, HttpError> {
        let parse = |text: &str| {
            CommitId::parse(text).ok_or_else(|| HttpError::bad_request("cursor is not valid."))
        };
        self.text("cursor").map(parse).transpose()
    }

    /// Returns the position that a cursor of a list names.
    pub(crate) fn offset(&self) -> Result<usize, HttpError> {
        let parse = |text: &str| {
            text.parse::<usize>().map_err(|_| HttpError::bad_request("cursor is not valid."))
        };
        self.text("cursor").map_or(Ok(0), parse)
    }

    /// Returns the version that a change is based on; `None` if the file must not exist.
    pub(crate) fn expected(&self) -> Result<Option<ContentHash>, HttpError> {
        match self.body.get("expected") {
            None => Err(HttpError::bad_request(
                "expected is missing: the hash of the version, or null for a new file.",
            )),
            Some(Value::Null) => Ok(None),
            Some(hash) => {
                let hash = hash.as_str().and_then(ContentHash::parse);
                let hash = hash.ok_or_else(|| HttpError::bad_request("expected is not a hash."))?;
                Ok(Some(hash))
            }
        }
    }
}

/// Parses a time or a day.
fn parse_time(text: &str) -> Option<Timestamp> {
    let zoned = || text.parse::<Zoned>().ok().map(|zoned| zoned.timestamp());
    let day = || {
        let date = text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == 10)?;
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    text.parse::<Timestamp>().ok().or_else(day).or_else(zoned)
}

fn hidden_project(project: &ProjectName) -> HttpError {
    HttpError::not_found(format!("This server does not show project {project}."))
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<EngineError> for HttpError {
    fn from(error: EngineError) -> Self {
        let message = format!("{error}.");
        match error {
            EngineError::NotFound { suggestions, .. } => {
                let places: Vec<Value> = suggestions.iter().map(place_json).collect();
                Self::not_found(message).with("suggestions", places)
            }
            EngineError::NotThen { .. } => Self::coded(StatusCode::NOT_FOUND, "not-then", message),
            EngineError::Store(StoreError::NoCommit(_) | StoreError::NoProject { .. }) => {
                Self::not_found(message)
            }
            EngineError::Ambiguous { candidates, .. } => {
                let places: Vec<Value> = candidates.iter().map(place_json).collect();
                Self::coded(StatusCode::CONFLICT, "ambiguous", message).with("candidates", places)
            }
            EngineError::Ignored { .. } => Self::coded(StatusCode::NOT_FOUND, "ignored", message),
            EngineError::FirstScan { .. } => {
                Self::coded(StatusCode::CONFLICT, "first-scan", message)
            }
            EngineError::NotText(_) => {
                Self::coded(StatusCode::UNPROCESSABLE_ENTITY, "not-text", message)
            }
            EngineError::Store(error) if error.is_disk_full() => {
                Self::coded(StatusCode::INSUFFICIENT_STORAGE, "disk-full", message)
            }
            EngineError::Store(StoreError::VaultUnreachable { .. }) => {
                Self::coded(StatusCode::SERVICE_UNAVAILABLE, "vault-absent", message)
            }
            EngineError::Store(error) if error.is_unwritable() => {
                Self::coded(StatusCode::SERVICE_UNAVAILABLE, "vault-read-only", message)
            }
            EngineError::Store(StoreError::ProjectUnavailable { .. }) => {
                Self::coded(StatusCode::SERVICE_UNAVAILABLE, "project-absent", message)
            }
            EngineError::Store(error) => {
                tracing::warn!(%error, "a request of the page failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
            }
            _ => Self::bad_request(message),
        }
    }
}

/// Returns a place as JSON.
pub(crate) fn place_json(place: &NoteLocation) -> Value {
    json!({ "project": place.project.as_str(), "path": place.path.as_str() })
}

/// Splits a text at byte ranges into parts that hit and parts that do not.
pub(crate) fn segments(text: &str, hits: &[std::ops::Range<usize>]) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut push = |range: std::ops::Range<usize>, hit: bool| {
        let part = text.get(range).unwrap_or_default();
        if !part.is_empty() {
            parts.push(json!({ "text": part, "hit": hit }));
        }
    };
    for hit in hits {
        push(at..hit.start.max(at), false);
        push(hit.start.max(at)..hit.end, true);
        at = hit.end.max(at);
    }
    push(at..text.len(), false);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_the_text() {
        let shown = |text: &str, hits: &[std::ops::Range<usize>]| {
            let parts = segments(text, hits);
            let part = |part: &Value| {
                let text = part["text"].as_str().unwrap_or_default().to_owned();
                if part["hit"] == true { format!("<{text}>") } else { text }
            };
            parts.iter().map(part).collect::<String>()
        };
        assert_eq!(shown("abcd", &[1..2, 3..4]), "a<b>c<d>");
        assert_eq!(shown("", &[]), "");
        assert_eq!(shown("né", std::slice::from_ref(&(0..3))), "<né>");
        assert_eq!(shown("abc", &[0..2, 1..3]), "<ab><c>");
    }

    #[test]
    fn times_and_days_are_times() {
        for text in ["2026-01-31T12:00:00Z", "2026-01-31", "2026-01-31T12:00:00+01:00"] {
            assert!(parse_time(text).is_some(), "{text}");
        }
        for text in ["", "now", "2026", "yesterday", "0123456789ab"] {
            assert!(parse_time(text).is_none(), "{text}");
        }
    }
}
