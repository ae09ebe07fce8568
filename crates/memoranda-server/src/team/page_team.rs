//! The team on the page: spaces, members, tokens, writes that wait, and the audit. Every account
//! sees and changes only its own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use memoranda_remote::directory::{DirectoryError, SpaceRole, TokenAccess};
use memoranda_remote::self_service::{AuditRow, NewToken, SpaceDetails, TokenRow};
use memoranda_tools::ToolResult;
use serde_json::{Map, Value, json};

use super::TeamState;
use super::authorization::unavailable;
use super::page_routes::read_object;
use super::request::{CallChannels, TeamRequest};
use super::routes::enter;
use crate::connections::ConnectionTicket;
use crate::http_error::HttpError;

/// Number of entries of the audit that the page shows.
const AUDIT_ENTRIES: u32 = 200;
/// Maximum lifetime of a token, in days.
const MAX_TOKEN_DAYS: u64 = 3_650;

type TeamHandler = fn(&TeamRequest, &Map<String, Value>) -> Result<Value, HttpError>;

/// Routes of the team: method, path, function.
pub(super) const ROUTES: [(&str, &str, TeamHandler); 10] = [
    ("GET", "/api/page/team", team),
    ("GET", "/api/page/team/audit", audit),
    ("GET", "/api/page/team/proposals", proposals),
    ("POST", "/api/page/team/proposals/decide", decide_proposal),
    ("POST", "/api/page/team/tokens", add_token),
    ("POST", "/api/page/team/tokens/revoke", revoke_token),
    ("POST", "/api/page/team/members", set_member),
    ("POST", "/api/page/team/members/remove", remove_member),
    ("POST", "/api/page/team/invitations", invite),
    ("POST", "/api/page/team/invitations/withdraw", withdraw),
];

/// Answers a request, on the blocking pool.
pub(super) async fn answer(
    handler: TeamHandler,
    State(team): State<Arc<TeamState>>,
    request: Request,
) -> Result<Json<Value>, HttpError> {
    let ticket = request.extensions().get::<ConnectionTicket>().cloned();
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    let (entered, _) = enter(team, path, headers, ticket).await?;
    let body = read_object(request).await?;
    let task = tokio::task::spawn_blocking(move || {
        if entered.as_of.is_some() {
            return Err(unavailable());
        }
        handler(&entered, &body)
    });
    task.await.map(|answer| answer.map(Json)).unwrap_or_else(|error| {
        tracing::error!(%error, "a route of the page broke down");
        Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The page's request broke down."))
    })
}

/// The spaces of the person with their members, and the tokens.
fn team(request: &TeamRequest, _: &Map<String, Value>) -> Result<Value, HttpError> {
    let (account, people) = (&request.grant.account, &request.team.people);
    let mut answer = request.page_json();
    if !request.is_of_page() {
        // A token shows the spaces that it opens, and nothing else of the person.
        return Ok(answer);
    }
    let spaces = people.spaces_of(account).map_err(refused)?;
    let tokens = people.tokens_of(account).map_err(refused)?;
    answer["spaces"] = spaces.iter().map(space_json).collect();
    answer["tokens"] = tokens.iter().map(token_json).collect();
    Ok(answer)
}

fn space_json(space: &SpaceDetails) -> Value {
    let members = space.members.iter().map(|member| {
        json!({
            "account": member.account,
            "role": member.role.name(),
            "since": member.since.to_string(),
        })
    });
    let invitations = space.invitations.iter().map(|invitation| {
        json!({
            "email": invitation.email,
            "role": invitation.role.name(),
            "invited_by": invitation.invited_by,
            "expires_at": invitation.expires_at.to_string(),
        })
    });
    json!({
        "name": space.name,
        "kind": space.kind.name(),
        "role": space.role.name(),
        "access": space.role.access().name(),
        "commits": space.commits,
        "bytes": space.bytes,
        "quota_bytes": space.quota_bytes,
        "members": members.collect::<Vec<_>>(),
        "invitations": invitations.collect::<Vec<_>>(),
    })
}

fn token_json(token: &TokenRow) -> Value {
    let time = |time: Option<jiff::Timestamp>| time.map(|time| time.to_string());
    json!({
        "name": token.name,
        "hint": token.hint,
        "access": token.access.name(),
        "spaces": token.spaces,
        "created_at": token.created_at.to_string(),
        "expires_at": time(token.expires_at),
        "used_at": time(token.used_at),
        "revoked_at": time(token.revoked_at),
    })
}

fn audit(request: &TeamRequest, _: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let entries = request.team.people.audit_of(&request.grant.account, AUDIT_ENTRIES);
    let entry = |entry: &AuditRow| {
        json!({
            "at": entry.at.to_string(),
            "actor": entry.actor,
            "action": entry.action,
            "target": entry.target,
        })
    };
    let items: Vec<Value> = entries.map_err(refused)?.iter().map(entry).collect();
    Ok(json!({ "items": items }))
}

fn proposals(request: &TeamRequest, _: &Map<String, Value>) -> Result<Value, HttpError> {
    let spaces: Vec<_> = request.grant.spaces.iter().collect();
    answer_of_tool(request.list_proposals(&spaces))
}

fn decide_proposal(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let name = text(body, "space")?;
    let space = request.grant.space(Some(name)).ok_or_else(|| no_space(name))?;
    let number = body.get("proposal").and_then(Value::as_i64);
    let number = number.ok_or_else(|| HttpError::bad_request("proposal must be a number."))?;
    let is_approved = match text(body, "decision")? {
        "approve" => true,
        "reject" => false,
        _ => return Err(HttpError::bad_request("decision must be approve or reject.")),
    };
    let never = AtomicBool::new(false);
    let channels = CallChannels { progress: None, cancelled: &never };
    answer_of_tool(request.decide(space, number, is_approved, channels))
}

fn add_token(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let access = match body.get("access").and_then(Value::as_str) {
        None | Some("write") => TokenAccess::Write,
        Some("read") => TokenAccess::Read,
        Some(_) => return Err(HttpError::bad_request("access must be read or write.")),
    };
    let days = match body.get("days") {
        None | Some(Value::Null) => None,
        Some(days) => {
            let days = days.as_u64().filter(|days| (1..=MAX_TOKEN_DAYS).contains(days));
            let days = days.and_then(|days| u32::try_from(days).ok()).ok_or_else(|| {
                HttpError::bad_request(format!("days must be a number from 1 to {MAX_TOKEN_DAYS}."))
            })?;
            Some(days)
        }
    };
    let names = body.get("spaces").and_then(Value::as_array).map(Vec::as_slice);
    let name = |name: &Value| {
        let name = name.as_str().map(str::to_owned);
        name.ok_or_else(|| HttpError::bad_request("spaces must be names of spaces."))
    };
    let token = NewToken {
        account: request.grant.account.clone(),
        name: text(body, "name")?.to_owned(),
        access,
        spaces: names.unwrap_or_default().iter().map(name).collect::<Result<_, _>>()?,
        days,
    };
    let secret = request.team.people.add_token(&token).map_err(refused)?;
    Ok(json!({ "name": token.name, "token": secret }))
}

fn revoke_token(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let name = text(body, "name")?;
    done(request.team.people.revoke_token_of(&request.grant.account, name))
}

fn set_member(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let (space, account, role) = (text(body, "space")?, text(body, "account")?, role(body)?);
    done(request.team.people.set_member_by(&request.grant.account, space, account, role))
}

fn remove_member(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let (space, account) = (text(body, "space")?, text(body, "account")?);
    done(request.team.people.remove_member_by(&request.grant.account, space, account))
}

fn invite(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let (space, email, role) = (text(body, "space")?, text(body, "email")?, role(body)?);
    done(request.team.people.invite_by(&request.grant.account, space, email, role))
}

fn withdraw(request: &TeamRequest, body: &Map<String, Value>) -> Result<Value, HttpError> {
    check_page(request)?;
    let (space, email) = (text(body, "space")?, text(body, "email")?);
    done(request.team.people.withdraw_by(&request.grant.account, space, email))
}

/// Rejects a token that is not the page's.
fn check_page(request: &TeamRequest) -> Result<(), HttpError> {
    if request.is_of_page() {
        return Ok(());
    }
    let message = "Sign in to look after members and tokens; a pasted token cannot.";
    Err(HttpError::coded(StatusCode::FORBIDDEN, "not-signed-in", message))
}

fn text<'b>(body: &'b Map<String, Value>, name: &str) -> Result<&'b str, HttpError> {
    let text = body.get(name).and_then(Value::as_str).map(str::trim);
    text.filter(|text| !text.is_empty())
        .ok_or_else(|| HttpError::bad_request(format!("{name} is missing.")))
}

fn role(body: &Map<String, Value>) -> Result<SpaceRole, HttpError> {
    let name = text(body, "role")?;
    SpaceRole::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
        let names = SpaceRole::ALL.map(SpaceRole::name).join(", ");
        HttpError::bad_request(format!("role must be one of {names}."))
    })
}

fn no_space(name: &str) -> HttpError {
    let shown: String = name.chars().take(60).collect();
    HttpError::not_found(format!("You have no space {shown}."))
}

fn done(result: Result<(), DirectoryError>) -> Result<Value, HttpError> {
    result.map(|()| json!({ "done": true })).map_err(refused)
}

fn refused(error: DirectoryError) -> HttpError {
    match error {
        DirectoryError::Refused(reason) => {
            let mut chars = reason.chars();
            let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
            HttpError::coded(StatusCode::CONFLICT, "refused", format!("{first}{}.", chars.as_str()))
        }
        error => {
            tracing::warn!(%error, "the directory cannot be asked");
            unavailable()
        }
    }
}

/// Returns the answer of a tool, or its refusal.
fn answer_of_tool(result: ToolResult) -> Result<Value, HttpError> {
    if result.is_error {
        return Err(HttpError::coded(StatusCode::CONFLICT, "refused", result.text));
    }
    Ok(result.structured)
}
