//! Sign-in and consent of a person. The cookie says which request a browser works on; a form also
//! names the number of the request, so that two tabs are never mixed up.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use memoranda_remote::directory::TokenAccess;
use memoranda_remote::oauth::{
    Consent, ConsentedSpaces, IssuerAnswer, PendingAuthorization, SignInRefusal,
};

use super::authorize::redirect;
use super::form::{FormFields, with_parameters};
use super::pages::{consent_page, error_page, reload_page, sign_in_page};
use super::{OAUTH_PATH, OAuthState, PAGE_CLIENT};
use crate::http_error::HttpError;

const EXPIRED: &str = "This sign-in is over: it took more than ten minutes, or was decided already. \
                       Begin again in your program.";
const OTHER_TAB: &str = "Another sign-in was begun in this browser since. Go on there, or begin \
                         again in your program.";

/// Shows where the request of the browser stands: sign-in or consent.
pub(super) async fn show(State(oauth): State<Arc<OAuthState>>, headers: HeaderMap) -> Response {
    let Some(ticket) = oauth.ticket(&headers) else { return refuse(EXPIRED) };
    let pending = match pending(&oauth, &ticket, None).await {
        Ok(pending) => pending,
        Err(page) => return page,
    };
    let Some(account) = &pending.account else {
        let issuers = oauth.directory.issuer_names();
        return sign_in_page(&pending.request, pending.number, &issuers, None).into_response();
    };
    if pending.request.client_id == PAGE_CLIENT {
        // Signing in to the page is the consent: it gives nothing to another program.
        let consent = Consent { access: TokenAccess::Write, spaces: ConsentedSpaces::All };
        return approve(&oauth, ticket, consent).await;
    }
    match oauth.ask(move |directory| directory.spaces_of_ticket(&ticket)).await {
        Ok(spaces) => {
            consent_page(&pending.request, pending.number, account, &spaces).into_response()
        }
        Err(error) => failed(&error),
    }
}

/// Signs in with a password.
pub(super) async fn sign_in(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = FormFields::parse(&body);
    let Some(ticket) = oauth.ticket(&headers) else { return refuse(EXPIRED) };
    let pending = match pending(&oauth, &ticket, Some(&fields)).await {
        Ok(pending) => pending,
        Err(page) => return page,
    };
    let account = fields.single("account").unwrap_or_default().trim().to_owned();
    let password = fields.single("password").unwrap_or_default().to_owned();
    if let Err(error) = oauth.limit_sign_in(&account) {
        return failed(&error);
    }
    let signed_in = oauth
        .ask(move |directory| directory.sign_in_with_password(&ticket, &account, &password))
        .await;
    match signed_in {
        Ok(Err(SignInRefusal::WrongPassword)) => {
            let issuers = oauth.directory.issuer_names();
            let wrong = Some("Account and password do not match.");
            let page = sign_in_page(&pending.request, pending.number, &issuers, wrong);
            page.with_status(StatusCode::FORBIDDEN).into_response()
        }
        Ok(signed_in) => after_sign_in(&oauth, signed_in),
        Err(error) => failed(&error),
    }
}

/// Sends the browser to an issuer.
pub(super) async fn go_to_issuer(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = FormFields::parse(&query.unwrap_or_default());
    let Some(ticket) = oauth.ticket(&headers) else { return refuse(EXPIRED) };
    if let Err(page) = pending(&oauth, &ticket, Some(&fields)).await {
        return page;
    }
    if let Err(error) = oauth.limit_strangers() {
        return failed(&error);
    }
    let issuer = fields.single("name").unwrap_or_default().to_owned();
    let callback = callback_address(&oauth);
    let address =
        oauth.ask(move |directory| directory.issuer_address(&ticket, &issuer, &callback)).await;
    match address {
        Ok(Ok(address)) => (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response(),
        Ok(Err(refusal)) => refuse(&sentence(&refusal)),
        Err(error) => failed(&error),
    }
}

/// Takes the answer of an issuer. Browsers withhold the cookie while they come from another site;
/// so the page loads itself once more, from here.
pub(super) async fn callback(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = FormFields::parse(&query.unwrap_or_default());
    let (code, state) = (fields.single("code"), fields.single("state"));
    let (Some(code), Some(state)) = (code, state) else {
        return refuse("The sign-in was not completed there. Begin again in your program.");
    };
    let Some(ticket) = oauth.ticket(&headers) else {
        if fields.single("again").is_some() {
            return refuse(EXPIRED);
        }
        let parameters = [("code", code), ("state", state), ("again", "1")];
        return reload_page(&with_parameters("/oauth/callback", &parameters)).into_response();
    };
    let (code, state, callback) = (code.to_owned(), state.to_owned(), callback_address(&oauth));
    let signed_in = oauth
        .ask(move |directory| {
            let answer = IssuerAnswer { code: &code, state: &state, callback: &callback };
            directory.sign_in_with_issuer(&ticket, &answer)
        })
        .await;
    match signed_in {
        Ok(signed_in) => after_sign_in(&oauth, signed_in),
        Err(error) => failed(&error),
    }
}

/// Takes the decision of the person, and sends the browser back to the program.
pub(super) async fn decide(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = FormFields::parse(&body);
    let Some(ticket) = oauth.ticket(&headers) else { return refuse(EXPIRED) };
    let pending = match pending(&oauth, &ticket, Some(&fields)).await {
        Ok(pending) => pending,
        Err(page) => return page,
    };
    if fields.single("decision") != Some("allow") {
        return match oauth.ask(move |directory| directory.deny(&ticket)).await {
            Ok(Some(request)) => {
                let state = request.state.as_deref();
                let parameters =
                    [("error", "access_denied"), ("error_description", "The person said no.")];
                let sent = redirect(&oauth, &request.redirect_uri, state, &parameters);
                without_cookie(&oauth, sent)
            }
            Ok(None) => refuse(EXPIRED),
            Err(error) => failed(&error),
        };
    }
    if pending.account.is_none() {
        return refuse("Sign in first.");
    }
    let access = match fields.single("access") {
        Some("write") => TokenAccess::Write,
        _ => TokenAccess::Read,
    };
    let default = fields.single("default").map(str::to_owned);
    let spaces = ConsentedSpaces::Named { names: fields.all("space"), default };
    approve(&oauth, ticket, Consent { access, spaces }).await
}

/// Records a consent, and sends the browser back to the program with a code.
async fn approve(oauth: &Arc<OAuthState>, ticket: String, consent: Consent) -> Response {
    match oauth.ask(move |directory| directory.approve(&ticket, &consent)).await {
        Ok(Some((code, request))) => {
            let state = request.state.as_deref();
            let sent = redirect(oauth, &request.redirect_uri, state, &[("code", &code)]);
            without_cookie(oauth, sent)
        }
        Ok(None) => refuse("Choose one space at least. Go back, and choose again."),
        Err(error) => failed(&error),
    }
}

/// Returns the request of a ticket, or a page with the reason why it is missing.
async fn pending(
    oauth: &Arc<OAuthState>,
    ticket: &str,
    form: Option<&FormFields>,
) -> Result<PendingAuthorization, Response> {
    let ticket = ticket.to_owned();
    let found = oauth.ask(move |directory| directory.pending_authorization(&ticket)).await;
    let pending = found.map_err(|error| failed(&error))?.ok_or_else(|| refuse(EXPIRED))?;
    let named = form.map(|form| form.single("request").and_then(|number| number.parse().ok()));
    match named {
        Some(number) if number != Some(pending.number) => Err(refuse(OTHER_TAB)),
        _ => Ok(pending),
    }
}

/// Goes on to the consent with the new ticket, or says why the person is not signed in.
fn after_sign_in(oauth: &OAuthState, signed_in: Result<String, SignInRefusal>) -> Response {
    match signed_in {
        Ok(ticket) => {
            let cookie = oauth.set_cookie(&ticket);
            let address = format!("{OAUTH_PATH}/consent");
            (StatusCode::SEE_OTHER, [(LOCATION, address), (SET_COOKIE, cookie)]).into_response()
        }
        Err(refusal) => error_page(StatusCode::FORBIDDEN, &sentence(&refusal)).into_response(),
    }
}

fn sentence(refusal: &SignInRefusal) -> String {
    match refusal {
        SignInRefusal::Expired => EXPIRED.to_owned(),
        SignInRefusal::WrongPassword => "Account and password do not match.".to_owned(),
        SignInRefusal::UnknownIssuer => {
            "This way to sign in is not offered here. Begin again in your program.".to_owned()
        }
        SignInRefusal::IssuerFailed(reason) => {
            format!("The sign-in was not confirmed. {reason}. Begin again in your program.")
        }
        SignInRefusal::NotInvited(who) => format!(
            "No account belongs to {who}, and nobody invited this address. Ask an owner of a \
             space for an invitation."
        ),
        SignInRefusal::Disabled => {
            "This account is disabled. Ask the operator of this server.".to_owned()
        }
    }
}

fn callback_address(oauth: &OAuthState) -> String {
    format!("{}{OAUTH_PATH}/callback", oauth.public)
}

fn without_cookie(oauth: &OAuthState, mut response: Response) -> Response {
    if let Ok(cookie) = oauth.remove_cookie().parse() {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn refuse(sentence: &str) -> Response {
    error_page(StatusCode::BAD_REQUEST, sentence).into_response()
}

fn failed(error: &HttpError) -> Response {
    error_page(error.status, &error.message).into_response()
}
