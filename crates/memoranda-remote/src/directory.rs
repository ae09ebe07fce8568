//! Accounts, roles and proposals of spaces: the interface between a team server and its database.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use memoranda_store::remote::{RemoteHead, RemoteLog};

/// The result of most calls of a directory.
pub type DirectoryResult<T> = Result<T, DirectoryError>;

/// Accounts, spaces, members and tokens. Every method may take a round trip.
pub trait SpaceDirectory: Send + Sync {
    /// Returns what a token opens. `None` if it is unknown, revoked or expired, or if its account
    /// is disabled or has no space left that the token names.
    fn authorize(&self, secret: &str) -> DirectoryResult<Option<TokenGrant>>;

    /// Records that a token was used.
    fn record_token_use(&self, token_id: i64) -> DirectoryResult<()>;

    /// Returns the log of a space. Nothing is read yet.
    fn space_log(&self, space: &SpaceGrant) -> Arc<dyn RemoteLog>;

    /// Lists all spaces as devices of the log, with the epoch of each. A copy of any other is of no
    /// use, and contains what somebody wanted to be gone.
    fn space_epochs(&self) -> DirectoryResult<Vec<(String, u32)>>;

    /// Removes index images of logs that were rewritten or removed by an earlier version.
    fn remove_stale_images(&self) -> DirectoryResult<()>;

    /// Fails if the directory cannot be reached, or has another version than this program.
    fn check_ready(&self) -> DirectoryResult<()>;

    /// Adds an entry to the audit.
    fn record_event(&self, actor: &str, action: &str, target: &str) -> DirectoryResult<()>;

    /// Keeps a call until somebody decides on it. Returns its number.
    fn add_proposal(&self, space: i64, proposal: &ProposedCall) -> DirectoryResult<i64>;

    /// Lists the calls of a space that wait, the oldest first.
    fn waiting_proposals(&self, space: i64) -> DirectoryResult<Vec<Proposal>>;

    /// Takes a waiting call to decide on it. `None` if no call of this number waits, or if somebody
    /// else is deciding on it at this moment.
    fn claim_proposal(
        &self,
        space: i64,
        number: i64,
        by: &str,
    ) -> DirectoryResult<Option<Proposal>>;

    /// Records the decision on a call that was claimed.
    fn settle_proposal(
        &self,
        space: i64,
        number: i64,
        by: &str,
        decision: ProposalDecision,
    ) -> DirectoryResult<()>;
}

/// A failure of a directory. No text of it contains a password or a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    /// The directory cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// The change cannot be made.
    #[error("{0}")]
    Refused(String),
    /// The directory rejected the call.
    #[error("{0}")]
    Failed(String),
}

/// The kind of a space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceKind {
    /// Of one account.
    Private,
    /// Of several.
    Shared,
}

/// The role of a member, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SpaceRole {
    /// Reads.
    Reader,
    /// Reads, and writes what waits for the yes of an editor or an owner.
    Proposer,
    /// Reads and writes.
    Editor,
    /// Reads, writes, and decides on members.
    Owner,
}

/// Maximum access of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TokenAccess {
    /// Read.
    Read,
    /// Read, and propose writes.
    Propose,
    /// Read and write.
    Write,
}

impl SpaceKind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Shared => "shared",
        }
    }

    /// Parses the name of a kind. One that this version does not know is shared.
    pub fn parse(text: &str) -> Self {
        if text == "private" { Self::Private } else { Self::Shared }
    }
}

impl SpaceRole {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Reader, Self::Proposer, Self::Editor, Self::Owner];

    /// Returns the name of the role.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Proposer => "proposer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    /// Parses the name of a role. A role that this version does not know may only read.
    pub fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|role| role.name() == text).unwrap_or(Self::Reader)
    }

    /// Returns what a member of this role may do.
    pub fn access(self) -> TokenAccess {
        match self {
            Self::Reader => TokenAccess::Read,
            Self::Proposer => TokenAccess::Propose,
            Self::Editor | Self::Owner => TokenAccess::Write,
        }
    }
}

impl fmt::Display for SpaceRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TokenAccess {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Propose => "propose",
            Self::Write => "write",
        }
    }

    /// Parses the name. One that this version does not know may only read.
    pub fn parse(text: &str) -> Self {
        match text {
            "write" => Self::Write,
            "propose" => Self::Propose,
            _ => Self::Read,
        }
    }
}

/// Access of a valid token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenGrant {
    /// Name of the account.
    pub account: String,
    /// Name of the token.
    pub token: String,
    /// Number of the token or of the grant.
    pub token_id: i64,
    /// Address at which the token is valid; `None` for a personal access token, which is valid
    /// everywhere.
    pub audience: Option<String>,
    /// The spaces, the one for calls that name none first.
    pub spaces: Vec<SpaceGrant>,
}

/// A space that a token opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceGrant {
    /// Number, the key of its log.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpaceKind,
    /// Name as a device of the log.
    pub device: String,
    /// Role of the account.
    pub role: SpaceRole,
    /// Access that both the role and the token allow.
    pub access: TokenAccess,
    /// End of its log at the time of the query.
    pub head: RemoteHead,
}

impl TokenGrant {
    /// Returns a space by its name, or without a name the first one.
    pub fn space(&self, name: Option<&str>) -> Option<&SpaceGrant> {
        match name {
            Some(name) => self.spaces.iter().find(|space| space.name == name),
            None => self.spaces.first(),
        }
    }
}

/// A call of a tool that a proposer made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProposedCall {
    /// Name of the account.
    pub account: String,
    /// Name of the token.
    pub token: String,
    /// Client program.
    pub client: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments, as a JSON object.
    pub arguments: String,
    /// Repository that the request named.
    pub repository: Option<String>,
}

/// A call that waits for a decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Number within its space.
    pub number: i64,
    /// The call.
    pub call: ProposedCall,
    /// Time at which it was made.
    pub proposed_at: Timestamp,
}

/// Decision on a claimed call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProposalDecision {
    /// The change was made.
    Approved,
    /// The change was not made.
    Rejected,
    /// The change could not be made, and waits again.
    Returned,
}

impl ProposalDecision {
    /// Returns the state in which the decision leaves a proposal.
    pub fn state(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Returned => "waiting",
        }
    }
}
