//! The authorization endpoint: checks what a client asks for, and shows the person the way in.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use memoranda_remote::directory::TokenAccess;
use memoranda_remote::oauth::{
    AuthorizationRequest, ClientRefusal, OAuthClient, is_registered_uri,
};

use super::form::{FormFields, with_parameters};
use super::pages::{error_page, sign_in_page};
use super::{OAuthState, PAGE_CLIENT, SCOPE_READ, SCOPE_WRITE};

/// Maximum length of a client's state, in bytes.
const MAX_STATE_BYTES: usize = 4_096;

/// A refusal that the client is informed of.
struct ClientError {
    code: &'static str,
    sentence: &'static str,
}

/// Shows the sign-in page for a valid request.
pub(super) async fn authorize(
    State(oauth): State<Arc<OAuthState>>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = FormFields::parse(&query.unwrap_or_default());
    // Until client and address are known to belong together, nobody is sent anywhere.
    let (client, redirect_uri) = match find_client(&oauth, &fields).await {
        Ok(found) => found,
        Err(page) => return page,
    };
    let request = match read_request(&oauth, &fields, client, &redirect_uri) {
        Ok(request) => request,
        Err(error) => {
            let state = fields.single("state");
            return redirect(
                &oauth,
                &redirect_uri,
                state,
                &[("error", error.code), ("error_description", error.sentence)],
            );
        }
    };
    let kept = request.clone();
    match oauth.ask(move |directory| directory.begin_authorization(&kept)).await {
        Ok(ticket) => {
            let issuers = oauth.directory.issuer_names();
            let page = sign_in_page(&request, ticket.number, &issuers, None);
            page.with_cookie(oauth.set_cookie(&ticket.secret)).into_response()
        }
        Err(error) => error_page(error.status, &error.message).into_response(),
    }
}

/// Returns the client and the address to which the browser goes back, or a page that says why not.
async fn find_client(
    oauth: &Arc<OAuthState>,
    fields: &FormFields,
) -> Result<(OAuthClient, String), Response> {
    let refuse = |sentence: &str| error_page(StatusCode::BAD_REQUEST, sentence).into_response();
    let Some(client_id) = fields.single("client_id").map(str::to_owned) else {
        return Err(refuse("The program that sent you here did not say who it is (client_id)."));
    };
    let asked = match oauth.limit_strangers() {
        Ok(()) if let Some(page) = oauth.page_client(&client_id) => Ok(Ok(page)),
        Ok(()) => oauth.ask(move |directory| directory.find_client(&client_id)).await,
        Err(error) => Err(error),
    };
    let client = match asked {
        Ok(Ok(client)) => client,
        Ok(Err(ClientRefusal::Unknown)) => {
            return Err(refuse(
                "The program that sent you here is not registered. Remove the \
                               connection there, and add it again.",
            ));
        }
        Ok(Err(ClientRefusal::RedirectUri(reason) | ClientRefusal::Metadata(reason))) => {
            return Err(refuse(&format!(
                "The program that sent you here is not accepted: {reason}."
            )));
        }
        Err(error) => return Err(error_page(error.status, &error.message).into_response()),
    };
    let redirect_uri = match (fields.get("redirect_uri"), client.redirect_uris.as_slice()) {
        (Ok(Some(uri)), registered) if is_registered_uri(registered, uri) => uri.to_owned(),
        (Ok(None), [only]) => only.clone(),
        _ => {
            return Err(refuse(
                "The address to which you would be sent back (redirect_uri) is not \
                               one of this program's. Nothing was sent there.",
            ));
        }
    };
    Ok((client, redirect_uri))
}

fn read_request(
    oauth: &OAuthState,
    fields: &FormFields,
    client: OAuthClient,
    redirect_uri: &str,
) -> Result<AuthorizationRequest, ClientError> {
    let refuse = |code, sentence| ClientError { code, sentence };
    let get = |name| {
        let twice = |_| refuse("invalid_request", "A parameter was given more than once.");
        fields.get(name).map_err(twice)
    };
    if get("response_type")? != Some("code") {
        return Err(refuse("unsupported_response_type", "response_type must be code."));
    }
    let no_pkce = || refuse("invalid_request", "PKCE is required: code_challenge with S256.");
    if get("code_challenge_method")? != Some("S256") {
        return Err(no_pkce());
    }
    let challenge =
        get("code_challenge")?.and_then(|text| BASE64_URL_SAFE_NO_PAD.decode(text).ok());
    let challenge = challenge.and_then(|bytes| bytes.try_into().ok()).ok_or_else(no_pkce)?;
    let resource = match get("resource")? {
        _ if client.client_id == PAGE_CLIENT => oauth.public.page_resource(),
        None => oauth.public.default_resource(),
        Some(address) => oauth
            .public
            .resource(address)
            .ok_or_else(|| refuse("invalid_target", "This resource is not one of this server."))?,
    };
    let access = requested_access(get("scope")?.unwrap_or_default())
        .ok_or_else(|| refuse("invalid_scope", "Scopes are memory:read and memory:write."))?;
    let state = get("state")?.map(str::to_owned);
    if state.as_ref().is_some_and(|state| state.len() > MAX_STATE_BYTES) {
        return Err(refuse("invalid_request", "The state is too long."));
    }
    Ok(AuthorizationRequest {
        client_id: client.client_id,
        client_name: client.name,
        redirect_uri: redirect_uri.to_owned(),
        challenge,
        access,
        resource,
        state,
    })
}

/// Returns the access that scopes ask for; without scopes all of it. `None` if none is known.
fn requested_access(scope: &str) -> Option<TokenAccess> {
    let scopes: Vec<&str> = scope.split_whitespace().filter(|s| *s != "offline_access").collect();
    if scopes.is_empty() || scopes.contains(&SCOPE_WRITE) {
        return Some(TokenAccess::Write);
    }
    scopes.contains(&SCOPE_READ).then_some(TokenAccess::Read)
}

/// Sends the browser back to the client, with the name of this server (RFC 9207).
pub(super) fn redirect(
    oauth: &OAuthState,
    redirect_uri: &str,
    state: Option<&str>,
    parameters: &[(&str, &str)],
) -> Response {
    let issuer = oauth.public.issuer();
    let mut parameters = parameters.to_vec();
    parameters.extend(state.map(|state| ("state", state)));
    parameters.push(("iss", &issuer));
    let address = with_parameters(redirect_uri, &parameters);
    (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_a_hierarchy() {
        for (scope, access) in [
            ("", Some(TokenAccess::Write)),
            ("offline_access", Some(TokenAccess::Write)),
            ("memory:read", Some(TokenAccess::Read)),
            ("memory:write", Some(TokenAccess::Write)),
            ("openid memory:read", Some(TokenAccess::Read)),
            ("memory:read memory:write offline_access", Some(TokenAccess::Write)),
            ("admin", None),
        ] {
            assert_eq!(requested_access(scope), access, "{scope}");
        }
    }
}
