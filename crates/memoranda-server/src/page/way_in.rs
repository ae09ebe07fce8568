//! The way in: one-time codes and sessions.

use serde_json::{Value, json};

use super::request::PageRequest;
use super::sessions::CODE_LIFETIME;
use super::status::vault_json;
use crate::http_error::HttpError;

/// Says how people come in: by a link of the command line, or by signing in to a team.
pub(super) fn way_in(_request: &PageRequest<'_>) -> Result<Value, HttpError> {
    Ok(json!({ "kind": "vault" }))
}

/// Makes a one-time code. The guard has checked the server's token.
pub(super) fn issue_code(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let code = request.page.sessions.issue_code();
    Ok(json!({ "code": code, "expires_in": CODE_LIFETIME.as_secs() }))
}

/// Exchanges a code or the server's token for a session.
pub(super) fn open_session(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let sessions = &request.page.sessions;
    let text = |name| request.body.get(name).and_then(Value::as_str);
    let session = match (text("code"), text("token")) {
        (Some(code), _) => sessions.redeem_code(code)?,
        (None, Some(token)) => sessions.redeem_token(token)?,
        (None, None) => {
            return Err(HttpError::bad_request("Send a code or the token of this server."));
        }
    };
    Ok(json!({
        "session": session,
        "vault": vault_json(request),
        "version": request.page.catalog.version,
        "read_only": request.page.is_read_only,
        "can_manage": request.page.is_local && !request.page.is_read_only,
    }))
}
