//! One request of a team server: which space each of its calls is for, and what it may do there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use memoranda_engine::core::statement::StatementScope;
use memoranda_engine::{Author, Memory, SpaceFreshness};
use memoranda_remote::directory::{SpaceGrant, SpaceKind, TokenAccess, TokenGrant};
use memoranda_tools::{SideOutput, ToolDef, ToolResult, remembered_scope};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::authorization::{RequestAuthorization, SPACE_HEADER, named_in, unavailable};
use super::spaces::{OpenSpace, SpaceError};
use super::{TeamState, team_tools};
use crate::http_error::HttpError;
use crate::tool_call::{CallProgress, ToolCall};

/// Argument by which a call names a space.
pub(crate) const SPACE_ARGUMENT: &str = "space";

/// Maximum size of the arguments of a reading call, in bytes. A question takes time by its length, and
/// everybody waits for the same processors.
const MAX_READ_ARGUMENTS: usize = 64 << 10;

/// A request with the spaces that its token opens.
pub(crate) struct TeamRequest {
    pub(crate) team: Arc<TeamState>,
    pub(crate) grant: Arc<TokenGrant>,
    /// Time to which the spaces are known; `None` if they are known as they are.
    pub(crate) as_of: Option<Timestamp>,
    /// The only space of this request, if its header names one.
    only: Option<String>,
}

/// Channels of a running call.
#[derive(Clone, Copy)]
pub(crate) struct CallChannels<'a> {
    pub(crate) progress: Option<&'a mpsc::Sender<CallProgress>>,
    pub(crate) cancelled: &'a AtomicBool,
}

impl TeamRequest {
    /// Asks the directory what a request may do. Blocks.
    pub(crate) fn new(
        team: &Arc<TeamState>,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Self, HttpError> {
        Self::authorized(team, headers, team.authorize(path, headers)?)
    }

    /// Asks the directory again for a request that goes on, which counts for no limit. Blocks.
    pub(crate) fn unlimited(
        team: &Arc<TeamState>,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Self, HttpError> {
        Self::authorized(team, headers, team.authorize_again(path, headers)?)
    }

    fn authorized(
        team: &Arc<TeamState>,
        headers: &HeaderMap,
        authorized: RequestAuthorization,
    ) -> Result<Self, HttpError> {
        let only = match named_in(headers) {
            Ok(None) => None,
            Ok(Some(name)) if authorized.grant.space(Some(name)).is_some() => Some(name.to_owned()),
            Ok(Some(_)) | Err(()) => {
                let message = format!(
                    "This token opens no space of the name in {SPACE_HEADER}. It opens: {}.",
                    names(&authorized.grant.spaces.iter().collect::<Vec<_>>())
                );
                return Err(HttpError::coded(StatusCode::FORBIDDEN, "no-such-space", message));
            }
        };
        let (grant, as_of) = (authorized.grant, authorized.as_of);
        Ok(Self { team: Arc::clone(team), grant, as_of, only })
    }

    /// Returns the spaces of this request, the one for calls that name none first.
    pub(crate) fn spaces(&self) -> Vec<&SpaceGrant> {
        let is_one =
            |space: &&SpaceGrant| self.only.as_ref().is_none_or(|only| *only == space.name);
        self.grant.spaces.iter().filter(is_one).collect()
    }

    /// Returns true if some space can be written, or written to after a yes.
    pub(crate) fn can_write(&self) -> bool {
        self.spaces().iter().any(|space| space.access > TokenAccess::Read)
    }

    /// Returns true if the token may only read although its account may write: another scope would
    /// help.
    pub(crate) fn lacks_write_scope(&self) -> bool {
        let spaces = self.spaces();
        !self.can_write() && spaces.iter().any(|space| space.role.access() > TokenAccess::Read)
    }

    /// Opens the first space of the request, in its current state.
    pub(crate) fn open_first(&self) -> Result<Arc<OpenSpace>, HttpError> {
        self.opened_first(|space| Ok(self.open(space)?.0))
    }

    /// Opens the first space of the request in whatever state it is.
    pub(crate) fn open_first_to_call(&self) -> Result<Arc<OpenSpace>, HttpError> {
        self.opened_first(|space| self.team.spaces.open(&self.team.config, space))
    }

    fn opened_first(
        &self,
        open: impl FnOnce(&SpaceGrant) -> Result<Arc<OpenSpace>, SpaceError>,
    ) -> Result<Arc<OpenSpace>, HttpError> {
        let first = self.spaces().first().copied().ok_or_else(unavailable)?;
        match open(first) {
            Ok(open) => Ok(open),
            Err(error) if error.is_away() => Err(unavailable()),
            Err(error) => {
                tracing::error!(%error, "a space cannot be opened");
                let message = "The space cannot be opened; the server's log tells more.";
                Err(HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
            }
        }
    }

    /// Opens a space in its current state.
    pub(crate) fn open(
        &self,
        space: &SpaceGrant,
    ) -> Result<(Arc<OpenSpace>, SpaceFreshness), SpaceError> {
        let (open, freshness) = self.team.spaces.current(&self.team.config, space)?;
        let freshness = match (self.as_of, freshness) {
            (Some(as_of), SpaceFreshness::Current) => SpaceFreshness::AsOf(as_of),
            (_, freshness) => freshness,
        };
        Ok((open, freshness))
    }

    /// Returns what answers a reading call in a space that is not whole on this server yet; `None` if
    /// the call is for the whole space.
    pub(super) fn answering_early(
        &self,
        space: &SpaceGrant,
        call: &ToolCall,
    ) -> Option<Arc<Memory>> {
        if self.as_of.is_some() || !call.tool.hints.read_only {
            return None;
        }
        let asked = (call.tool.name, &call.arguments);
        let early = self.team.spaces.answering_early(&self.team.config, space, asked)?;
        self.team.metrics.count_early_answer();
        Some(early)
    }

    /// Adds person and token to the author of a call.
    pub(crate) fn author(&self, author: Author) -> Author {
        author
            .with_account(Some(self.grant.account.clone()))
            .with_token(Some(self.grant.token.clone()))
    }

    /// Adds the argument by which a call names a space to the schema of a tool.
    pub(crate) fn add_space_argument(&self, schema: &mut Map<String, Value>) {
        let spaces = self.spaces();
        if spaces.len() < 2 {
            return;
        }
        let names: Vec<&str> = spaces.iter().map(|space| space.name.as_str()).collect();
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            let described = "Space; without it all are read, and your own is written";
            properties.insert(
                SPACE_ARGUMENT.to_owned(),
                json!({ "type": "string", "enum": names, "description": described }),
            );
        }
    }

    /// Runs a call in the space that it names, or in those that suit it. Blocks.
    pub(crate) fn run(
        &self,
        mut call: ToolCall,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        call.team = None;
        call.author = self.author(call.author);
        let (result, output) = match self.named_space(&mut call.arguments) {
            Ok(named) => self.run_planned(call, named.as_deref(), channels),
            Err(refusal) => (refusal, SideOutput::default()),
        };
        self.team.metrics.count_tool_call(result.is_error);
        (result, output)
    }

    fn run_planned(
        &self,
        call: ToolCall,
        named: Option<&str>,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        if call.tool.hints.read_only && is_too_long(&call.arguments) {
            let message = format!(
                "A reading call may have {MAX_READ_ARGUMENTS} bytes of arguments at the most. Ask with \
                 fewer words or values.",
            );
            return (ToolResult::error(message), SideOutput::default());
        }
        let spaces = self.spaces();
        if team_tools::is_team_tool(call.tool) {
            return (team_tools::run(self, &call, named, channels), SideOutput::default());
        }
        let named = named.and_then(|name| spaces.iter().copied().find(|space| space.name == name));
        match (named, spaces.as_slice()) {
            (Some(space), _) | (None, &[space]) => self.run_in(space, call, channels),
            (None, []) => (ToolResult::error("This token opens no space."), SideOutput::default()),
            (None, several) if call.tool.hints.read_only => {
                self.run_in_several(several, call, channels)
            }
            (None, several) => {
                let space = self.space_to_write(several, &call);
                let (mut result, output) = self.run_in(space, call, channels);
                if result.is_error {
                    let others: Vec<_> =
                        several.iter().copied().filter(|other| *other != space).collect();
                    add_line(
                        &mut result,
                        &format!(
                            "This was tried in the space {}; `space` names another: {}.",
                            space.name,
                            names(&others)
                        ),
                    );
                }
                (result, output)
            }
        }
    }

    /// Returns the space for a writing call that names none: what is about a repository goes to the
    /// first shared space, everything else to the first space.
    fn space_to_write<'a>(&self, spaces: &[&'a SpaceGrant], call: &ToolCall) -> &'a SpaceGrant {
        let can_write = |space: &&&SpaceGrant| space.access > TokenAccess::Read;
        let of_kind = |kind: SpaceKind| {
            let mut of_kind = spaces.iter().filter(can_write).filter(|space| space.kind == kind);
            of_kind.next().copied()
        };
        let suited = match call.tool.name {
            "remember" => remembered_scope(&call.settings, &call.arguments),
            _ => None,
        };
        let suited = match suited {
            Some(StatementScope::Repository) => of_kind(SpaceKind::Shared),
            Some(StatementScope::Person) => of_kind(SpaceKind::Private),
            None => None,
        };
        suited.or_else(|| spaces.iter().find(can_write).copied()).unwrap_or(spaces[0])
    }

    /// Runs a call in one space.
    pub(super) fn run_in(
        &self,
        space: &SpaceGrant,
        mut call: ToolCall,
        channels: CallChannels<'_>,
    ) -> (ToolResult, SideOutput) {
        let none = SideOutput::default;
        if !call.tool.hints.read_only {
            match space.access {
                TokenAccess::Read => return (self.refuse_to_write(space, call.tool), none()),
                TokenAccess::Propose => {
                    let proposed = self.propose(space, &call, call.tool, &call.arguments);
                    return (proposed, none());
                }
                TokenAccess::Write => {}
            }
            if self.as_of.is_some() {
                return (refuse_while_away(), none());
            }
        }
        let (memory, freshness) = match self.answering_early(space, &call) {
            Some(early) => (early, SpaceFreshness::Current),
            None => match self.open(space) {
                Ok((open, freshness)) => (Arc::clone(&open.memory), freshness),
                Err(error) => return (space_failed(space, &error), none()),
            },
        };
        call.memory = memory;
        let (mut result, output) = call.run_blocking(channels.progress, channels.cancelled);
        self.mark(&mut result, &[space], &[freshness]);
        (result, output)
    }

    /// Says from which spaces an answer comes, and as of when.
    pub(super) fn mark(
        &self,
        result: &mut ToolResult,
        spaces: &[&SpaceGrant],
        freshness: &[SpaceFreshness],
    ) {
        if self.grant.spaces.len() > 1 {
            let label = if spaces.len() == 1 { "Space" } else { "Spaces" };
            add_line(result, &format!("{label}: {}", names(spaces)));
            if let Value::Object(structured) = &mut result.structured {
                let names: Vec<&str> = spaces.iter().map(|space| space.name.as_str()).collect();
                let value = if let [one] = names.as_slice() { json!(one) } else { json!(names) };
                structured.entry(SPACE_ARGUMENT).or_insert(value);
            }
        }
        let oldest = freshness.iter().filter_map(|freshness| match freshness {
            SpaceFreshness::AsOf(time) => Some(*time),
            SpaceFreshness::Current => None,
        });
        if let Some(time) = oldest.min() {
            self.team.metrics.count_stale_answer();
            let time = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            add_line(
                result,
                &format!(
                    "As of {time}: the database cannot be reached, so later changes are missing"
                ),
            );
            if let Value::Object(structured) = &mut result.structured {
                structured.insert("as_of".to_owned(), json!(time));
            }
        }
    }

    fn refuse_to_write(&self, space: &SpaceGrant, tool: &ToolDef) -> ToolResult {
        let why = match space.role.access() {
            TokenAccess::Read => format!("{} is a reader there", self.grant.account),
            _ => "the token may only read".to_owned(),
        };
        ToolResult::error(format!(
            "{} writes, and the space {} cannot be written with this token: {why}. Nothing was \
             changed.",
            tool.name, space.name
        ))
    }

    /// Takes the argument that names a space out of the arguments.
    fn named_space(&self, arguments: &mut Value) -> Result<Option<String>, ToolResult> {
        let Value::Object(arguments) = arguments else { return Ok(None) };
        let name = match arguments.remove(SPACE_ARGUMENT) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(name)) if name.is_empty() => return Ok(None),
            Some(name) => name,
        };
        let spaces = self.spaces();
        let known = name.as_str().filter(|name| spaces.iter().any(|space| space.name == *name));
        match known {
            Some(name) => Ok(Some(name.to_owned())),
            None => {
                let shown: String = name.to_string().chars().take(60).collect();
                Err(ToolResult::error(format!(
                    "This token opens no space {shown}. It opens: {}.",
                    names(&spaces)
                )))
            }
        }
    }
}

/// Returns true if the texts of some arguments are longer than those of any sensible question.
fn is_too_long(arguments: &Value) -> bool {
    fn length(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| 1 + length(item)).sum(),
            Value::Object(fields) => fields.iter().map(|(name, v)| name.len() + length(v)).sum(),
            _ => 1,
        }
    }
    length(arguments) > MAX_READ_ARGUMENTS
}

/// Returns the refusal of a write while the database cannot be reached.
pub(super) fn refuse_while_away() -> ToolResult {
    ToolResult::error(
        "The database of this server cannot be reached, so nothing was written. Reading goes on; \
         try to write again soon.",
    )
}

pub(super) fn space_failed(space: &SpaceGrant, error: &SpaceError) -> ToolResult {
    if error.is_away() {
        return ToolResult::error(format!(
            "The space {} cannot be read at the moment: the database of this server cannot be \
             reached. Try again soon.",
            space.name
        ));
    }
    tracing::error!(%error, "a space cannot be opened");
    ToolResult::error(format!(
        "The space {} cannot be opened; the server's log tells more.",
        space.name
    ))
}

/// Lists the names of spaces.
pub(super) fn names(spaces: &[&SpaceGrant]) -> String {
    spaces.iter().map(|space| space.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Adds a line in brackets to a text that is no JSON.
pub(super) fn add_line(result: &mut ToolResult, line: &str) {
    if serde_json::from_str::<Value>(&result.text).is_ok_and(|value| !value.is_string()) {
        return;
    }
    let line = line.trim_end_matches('.');
    result.text.push_str(&format!("\n[{line}.]"));
}
