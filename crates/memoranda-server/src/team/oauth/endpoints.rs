//! Endpoints for programs: registration, tokens, revocation.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use memoranda_remote::directory::TokenAccess;
use memoranda_remote::oauth::{
    AuthorizationDirectory, ClientRefusal, CodeExchange, IssuedTokens, RefreshExchange,
    TokenRefusal,
};
use serde_json::{Value, json};

use super::form::FormFields;
use super::{OAuthState, SCOPE_READ, SCOPE_WRITE};
use crate::http_error::HttpError;

/// A refusal in the form of OAuth: a code and a sentence.
struct OAuthError {
    status: StatusCode,
    code: &'static str,
    sentence: String,
    retry_after: Option<u64>,
}

impl OAuthError {
    fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        let status = match code {
            "invalid_client" => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        };
        Self { status, code, sentence: sentence.into(), retry_after: None }
    }
}

impl From<HttpError> for OAuthError {
    fn from(error: HttpError) -> Self {
        let code = match error.status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                "temporarily_unavailable"
            }
            _ => "server_error",
        };
        let retry_after = error.members.get("retry_after").and_then(Value::as_u64);
        Self { status: error.status, code, sentence: error.message, retry_after }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.code, "error_description": self.sentence });
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Registers a client (RFC 7591). Every client is a public one: the proof is PKCE.
pub(super) async fn register(State(oauth): State<Arc<OAuthState>>, body: Bytes) -> Response {
    let registered = try_register(&oauth, &body).await;
    registered.unwrap_or_else(OAuthError::into_response)
}

async fn try_register(oauth: &Arc<OAuthState>, body: &[u8]) -> Result<Response, OAuthError> {
    oauth.limit_strangers()?;
    let metadata: Value = serde_json::from_slice(body).map_err(|_| {
        OAuthError::new("invalid_client_metadata", "Send the metadata of the client as JSON.")
    })?;
    let uris = metadata["redirect_uris"].as_array().map(Vec::as_slice).unwrap_or_default();
    let uris: Vec<String> =
        uris.iter().map(|uri| uri.as_str().unwrap_or_default().to_owned()).collect();
    let name = metadata["client_name"].as_str().unwrap_or_default().to_owned();
    let client = oauth.ask(move |directory| directory.register_client(&name, &uris)).await?;
    let client = client.map_err(|refusal| match refusal {
        ClientRefusal::RedirectUri(reason) => OAuthError::new("invalid_redirect_uri", reason),
        ClientRefusal::Metadata(reason) => OAuthError::new("invalid_client_metadata", reason),
        ClientRefusal::Unknown => OAuthError::new("invalid_client_metadata", "It is not accepted."),
    })?;
    let body = json!({
        "client_id": client.client_id,
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": format!("{SCOPE_READ} {SCOPE_WRITE}"),
    });
    Ok((StatusCode::CREATED, Json(body)).into_response())
}

/// Exchanges a code or a refresh token for tokens.
pub(super) async fn token(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let issued = try_token(&oauth, &headers, &body).await;
    issued.unwrap_or_else(OAuthError::into_response)
}

async fn try_token(
    oauth: &Arc<OAuthState>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, OAuthError> {
    let form = read_form(headers, body)?;
    let client_id = client_id(&form, headers)?;
    check_client(oauth, &client_id).await?;
    let resource = match optional(&form, "resource")? {
        None => None,
        Some(address) => Some(oauth.public.resource(&address).ok_or_else(|| {
            OAuthError::new("invalid_target", "This resource is not one of this server.")
        })?),
    };
    let issued = match required(&form, "grant_type")?.as_str() {
        "authorization_code" => {
            let code = required(&form, "code")?;
            let verifier = required(&form, "code_verifier")?;
            let redirect_uri = optional(&form, "redirect_uri")?;
            let exchange = move |directory: &dyn AuthorizationDirectory| {
                directory.exchange_code(&CodeExchange {
                    code: &code,
                    client_id: &client_id,
                    redirect_uri: redirect_uri.as_deref(),
                    verifier: &verifier,
                    resource: resource.as_deref(),
                })
            };
            oauth.ask(exchange).await?
        }
        "refresh_token" => {
            let token = required(&form, "refresh_token")?;
            let exchange = move |directory: &dyn AuthorizationDirectory| {
                directory.refresh_tokens(&RefreshExchange {
                    token: &token,
                    client_id: &client_id,
                    resource: resource.as_deref(),
                })
            };
            oauth.ask(exchange).await?
        }
        _ => {
            let sentence = "grant_type is authorization_code or refresh_token.";
            return Err(OAuthError::new("unsupported_grant_type", sentence));
        }
    };
    let IssuedTokens { access_token, refresh_token, expires_in, access } =
        issued.map_err(refused)?;
    Ok(Json(json!({
        "access_token": access_token,
        "token_type": "Bearer",
        "expires_in": expires_in,
        "refresh_token": refresh_token,
        "scope": scope_of(access),
    }))
    .into_response())
}

/// Revokes the grant of a token (RFC 7009). An unknown token is revoked already.
pub(super) async fn revoke(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let revoked = try_revoke(&oauth, &headers, &body).await;
    revoked.unwrap_or_else(OAuthError::into_response)
}

async fn try_revoke(
    oauth: &Arc<OAuthState>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, OAuthError> {
    let form = read_form(headers, body)?;
    let client_id = client_id(&form, headers)?;
    let token = required(&form, "token")?;
    oauth.ask(move |directory| directory.revoke(&token, &client_id)).await?;
    Ok(StatusCode::OK.into_response())
}

/// Returns the scopes of an access.
fn scope_of(access: TokenAccess) -> String {
    match access {
        TokenAccess::Read | TokenAccess::Propose => SCOPE_READ.to_owned(),
        TokenAccess::Write => format!("{SCOPE_READ} {SCOPE_WRITE}"),
    }
}

fn refused(refusal: TokenRefusal) -> OAuthError {
    match refusal {
        TokenRefusal::InvalidGrant => OAuthError::new(
            "invalid_grant",
            "The code or token is unknown, expired, revoked, used before, or of another client.",
        ),
        TokenRefusal::WrongVerifier => OAuthError::new(
            "invalid_grant",
            "The code_verifier does not belong to the code_challenge of the authorization.",
        ),
        TokenRefusal::WrongRedirectUri => {
            OAuthError::new("invalid_grant", "The redirect_uri is not that of the authorization.")
        }
        TokenRefusal::WrongResource => {
            OAuthError::new("invalid_target", "The authorization was for another resource.")
        }
    }
}

/// Rejects a client that is not registered, so that it registers again. The document of a client
/// was checked when its person consented, and the code is bound to it.
async fn check_client(oauth: &Arc<OAuthState>, client_id: &str) -> Result<(), OAuthError> {
    let is_document = client_id.starts_with("https://") || client_id.starts_with("http://");
    if is_document || oauth.page_client(client_id).is_some() {
        return Ok(());
    }
    let client_id = client_id.to_owned();
    let found = oauth.ask(move |directory| directory.find_client(&client_id)).await?;
    found.map(drop).map_err(|_| {
        OAuthError::new("invalid_client", "This client is not registered here. Register it again.")
    })
}

fn read_form(headers: &HeaderMap, body: &[u8]) -> Result<FormFields, OAuthError> {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = declared.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let text = std::str::from_utf8(body).ok();
    match text {
        Some(text) if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") => {
            Ok(FormFields::parse(text))
        }
        _ => Err(OAuthError::new(
            "invalid_request",
            "Send a form: Content-Type: application/x-www-form-urlencoded.",
        )),
    }
}

/// Returns the client that a request names, in its form or its header.
fn client_id(form: &FormFields, headers: &HeaderMap) -> Result<String, OAuthError> {
    if let Some(client_id) = optional(form, "client_id")? {
        return Ok(client_id);
    }
    let basic = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let basic = basic.and_then(|value| value.strip_prefix("Basic "));
    let decoded = basic.and_then(|value| BASE64_STANDARD.decode(value.trim()).ok());
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let named =
        decoded.as_deref().and_then(|pair| pair.split_once(':')).map(|(id, _)| id.to_owned());
    named.ok_or_else(|| OAuthError::new("invalid_client", "Send the client_id."))
}

fn optional(form: &FormFields, name: &'static str) -> Result<Option<String>, OAuthError> {
    let value = form.get(name).map_err(|name| {
        OAuthError::new("invalid_request", format!("{name} may be given only once."))
    })?;
    Ok(value.map(str::to_owned))
}

fn required(form: &FormFields, name: &'static str) -> Result<String, OAuthError> {
    let missing = || OAuthError::new("invalid_request", format!("{name} is missing."));
    optional(form, name)?.ok_or_else(missing)
}
