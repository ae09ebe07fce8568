//! Metadata that clients discover: of the resource (RFC 9728) and of the authorization server
//! (RFC 8414).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::public_url::is_resource_path;
use super::{OAUTH_PATH, OAuthState, SCOPE_READ, SCOPE_WRITE};
use crate::http_error::HttpError;

/// Describes a resource of this server.
pub(super) async fn resource(
    State(oauth): State<Arc<OAuthState>>,
    Path(path): Path<String>,
) -> Result<Json<Value>, HttpError> {
    let path = format!("/{path}");
    if !is_resource_path(&path) {
        return Err(HttpError::not_found("There is no such resource."));
    }
    Ok(Json(json!({
        "resource": format!("{}{path}", oauth.public),
        "resource_name": "Memoranda",
        "authorization_servers": [oauth.public.issuer()],
        "scopes_supported": [SCOPE_READ, SCOPE_WRITE],
        "bearer_methods_supported": ["header"],
    })))
}

/// Describes the authorization server. Claude takes client ID metadata documents only where `none`
/// is a supported method too.
pub(super) async fn authorization_server(State(oauth): State<Arc<OAuthState>>) -> Json<Value> {
    let endpoint = |name: &str| format!("{}{OAUTH_PATH}/{name}", oauth.public);
    Json(json!({
        "issuer": oauth.public.issuer(),
        "authorization_endpoint": endpoint("authorize"),
        "token_endpoint": endpoint("token"),
        "registration_endpoint": endpoint("register"),
        "revocation_endpoint": endpoint("revoke"),
        "scopes_supported": [SCOPE_READ, SCOPE_WRITE, "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
    }))
}
