//! Writes that wait for a yes: a proposer's call is kept, and made when an editor approves it.

use std::sync::Arc;

use memoranda_remote::directory::{
    DirectoryError, Proposal, ProposalDecision, ProposedCall, SpaceGrant, TokenAccess,
};
use memoranda_tools::{ClientContext, RepositorySource, ToolDef, ToolResult};
use serde_json::{Value, json};

use super::request::{CallChannels, TeamRequest, refuse_while_away};
use crate::tool_call::ToolCall;

/// Number of characters of the arguments that a list shows.
const SHOWN_CHARS: usize = 600;

impl TeamRequest {
    /// Keeps a call until somebody decides on it.
    pub(super) fn propose(
        &self,
        space: &SpaceGrant,
        call: &ToolCall,
        tool: &ToolDef,
        arguments: &Value,
    ) -> ToolResult {
        if self.as_of.is_some() {
            return refuse_while_away();
        }
        let repository = match &call.settings.repository {
            RepositorySource::Named(repository) => Some(repository.name().to_owned()),
            _ => None,
        };
        let proposed = ProposedCall {
            account: self.grant.account.clone(),
            token: self.grant.token.clone(),
            client: call.author.client.clone(),
            tool: tool.name.to_owned(),
            arguments: arguments.to_string(),
            repository,
        };
        match self.team.directory.add_proposal(space.id, &proposed) {
            Ok(number) => {
                self.team.metrics.count_proposal();
                let name = &space.name;
                let structured = json!({
                    "result": "proposed", "proposal": number, "space": name, "is_error": false,
                });
                ToolResult::ok(
                    format!(
                        "Nothing is written yet: this is proposal {number} in the space {name}, and \
                         waits until an editor or an owner approves it."
                    ),
                    structured,
                )
            }
            Err(DirectoryError::Refused(reason)) => ToolResult::error(format!(
                "Nothing was written, and this call was not kept: {reason}."
            )),
            Err(error) => {
                tracing::warn!(%error, "a proposal was not kept");
                refuse_while_away()
            }
        }
    }

    /// Lists the calls that wait in a space. A proposer sees only its own.
    pub(super) fn list_proposals(&self, spaces: &[&SpaceGrant]) -> ToolResult {
        let (mut text, mut list) = (String::new(), Vec::new());
        for space in spaces {
            let waiting = match self.team.directory.waiting_proposals(space.id) {
                Ok(waiting) => waiting,
                Err(_) => return refuse_while_away(),
            };
            let sees_all = space.role.access() == TokenAccess::Write;
            let is_seen =
                |proposal: &&Proposal| sees_all || proposal.call.account == self.grant.account;
            for proposal in waiting.iter().filter(is_seen) {
                let Proposal { number, call, proposed_at } = proposal;
                let shown: String = call.arguments.chars().take(SHOWN_CHARS).collect();
                let cut = if shown.len() < call.arguments.len() { "…" } else { "" };
                text.push_str(&format!(
                    "- {number} in {}: {} by {} ({}), {proposed_at}\n  {shown}{cut}\n",
                    space.name, call.tool, call.account, call.client
                ));
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                list.push(json!({
                    "proposal": number,
                    "space": space.name,
                    "tool": call.tool,
                    "arguments": arguments,
                    "account": call.account,
                    "client": call.client,
                    "repository": call.repository,
                    "proposed_at": proposed_at.to_string(),
                }));
            }
        }
        if list.is_empty() {
            text.push_str("No proposal waits.");
        }
        ToolResult::ok(text.trim_end().to_owned(), json!({ "proposals": list }))
    }

    /// Approves or rejects a call that waits.
    pub(super) fn decide(
        &self,
        space: &SpaceGrant,
        number: i64,
        is_approved: bool,
        channels: CallChannels<'_>,
    ) -> ToolResult {
        if space.access < TokenAccess::Write {
            return ToolResult::error(format!(
                "Only editors and owners decide on proposals of the space {}.",
                space.name
            ));
        }
        if self.as_of.is_some() {
            return refuse_while_away();
        }
        let (directory, by) = (&self.team.directory, self.grant.account.as_str());
        let proposal = match directory.claim_proposal(space.id, number, by) {
            Ok(Some(proposal)) => proposal,
            Ok(None) => {
                return ToolResult::error(format!(
                    "No proposal {number} waits in the space {}. list_proposals lists those that do.",
                    space.name
                ));
            }
            Err(_) => return refuse_while_away(),
        };
        let made = if is_approved { Some(self.make(space, &proposal, channels)) } else { None };
        let decision = match &made {
            None => ProposalDecision::Rejected,
            Some(result) if result.is_error => ProposalDecision::Returned,
            Some(_) => ProposalDecision::Approved,
        };
        if let Err(error) = directory.settle_proposal(space.id, number, by, decision) {
            tracing::warn!(%error, "a decision was not recorded");
        }
        let account = &proposal.call.account;
        match made {
            None => ToolResult::ok(
                format!("Proposal {number} of {account} is rejected. Nothing was changed."),
                json!({ "proposal": number, "decision": "rejected" }),
            ),
            Some(result) if result.is_error => ToolResult::error(format!(
                "Proposal {number} cannot be made, and waits on: {}",
                result.text
            )),
            Some(result) => ToolResult::ok(
                format!("Proposal {number} of {account} is approved and made.\n{}", result.text),
                json!({ "proposal": number, "decision": "approved", "answer": result.structured }),
            ),
        }
    }

    /// Makes a proposed call as its author, with the name of the account that approved it.
    fn make(
        &self,
        space: &SpaceGrant,
        proposal: &Proposal,
        channels: CallChannels<'_>,
    ) -> ToolResult {
        let call = &proposal.call;
        let Some(tool) = memoranda_tools::tool(&call.tool) else {
            return ToolResult::error(format!("there is no tool {:?}", call.tool));
        };
        let settings = &self.team.config.settings;
        let settings = match settings.for_remote_client(call.repository.as_deref()) {
            Some(settings) => Arc::new(settings),
            None => return ToolResult::error("its repository has no valid name"),
        };
        let open = match self.open(space) {
            Ok((open, _)) => open,
            Err(error) => return super::request::space_failed(space, &error),
        };
        let author = memoranda_engine::Author::new(
            call.client.clone(),
            tool.name,
            memoranda_engine::core::change::ChangeChannel::Mcp,
        )
        .with_account(Some(call.account.clone()))
        .with_token(Some(call.token.clone()))
        .with_source(Some(format!(
            "proposal {}, approved by {}",
            proposal.number, self.grant.account
        )));
        let job = ToolCall {
            memory: Arc::clone(&open.memory),
            settings,
            tool,
            author,
            arguments: serde_json::from_str(&call.arguments).unwrap_or_default(),
            client: ClientContext::default(),
            team: None,
            space: None,
            others: Vec::new(),
        };
        job.run_blocking(channels.progress, channels.cancelled).0
    }
}
