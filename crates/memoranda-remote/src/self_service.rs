//! The part of a team that a person looks after without an operator: own spaces and their members, own
//! tokens, and the part of the audit that concerns them.

use jiff::Timestamp;

use crate::directory::{DirectoryResult, SpaceKind, SpaceRole, TokenAccess};

/// The seam between the page of a team server and what keeps its accounts. Every method may take a
/// round trip. A method that names a space fails if the account is no member of it, or if the
/// account is no owner and the method changes something.
pub trait SelfService: Send + Sync {
    /// Lists the spaces of an account, the private one first.
    fn spaces_of(&self, account: &str) -> DirectoryResult<Vec<SpaceDetails>>;

    /// Lists the tokens of an account, and what it allowed programs by consent.
    fn tokens_of(&self, account: &str) -> DirectoryResult<Vec<TokenRow>>;

    /// Makes a token of an account. Nobody can see it again.
    fn add_token(&self, token: &NewToken) -> DirectoryResult<String>;

    /// Revokes a token of an account, or what it allowed a program.
    fn revoke_token_of(&self, account: &str, name: &str) -> DirectoryResult<()>;

    /// Makes an account a member of a space, or changes its role.
    fn set_member_by(
        &self,
        owner: &str,
        space: &str,
        account: &str,
        role: SpaceRole,
    ) -> DirectoryResult<()>;

    /// Removes a member of a space.
    fn remove_member_by(&self, owner: &str, space: &str, account: &str) -> DirectoryResult<()>;

    /// Invites the person of an e-mail address to a space.
    fn invite_by(
        &self,
        owner: &str,
        space: &str,
        email: &str,
        role: SpaceRole,
    ) -> DirectoryResult<()>;

    /// Takes an invitation back.
    fn withdraw_by(&self, owner: &str, space: &str, email: &str) -> DirectoryResult<()>;

    /// Lists the newest entries of the audit that the account made, or that concern the account or a
    /// space that it owns.
    fn audit_of(&self, account: &str, limit: u32) -> DirectoryResult<Vec<AuditRow>>;
}

/// A space as a member sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceDetails {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpaceKind,
    /// Role of the account.
    pub role: SpaceRole,
    /// Number of log records.
    pub commits: u64,
    /// Size of the log, in bytes.
    pub bytes: u64,
    /// Maximum size of the log, in bytes; `None` if there is no limit.
    pub quota_bytes: Option<u64>,
    /// Members by name.
    pub members: Vec<MemberRow>,
    /// Invitations that wait; empty unless the account is an owner.
    pub invitations: Vec<InvitationRow>,
}

/// A member of a space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberRow {
    /// Name of the account.
    pub account: String,
    /// Role.
    pub role: SpaceRole,
    /// Time since which it is a member.
    pub since: Timestamp,
}

/// An invitation that was not accepted yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvitationRow {
    /// Name of the space.
    pub space: String,
    /// E-mail address, in lower case.
    pub email: String,
    /// Role in the space.
    pub role: SpaceRole,
    /// Name of the member who invited.
    pub invited_by: String,
    /// Time of expiry.
    pub expires_at: Timestamp,
}

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Name of the account.
    pub account: String,
    /// Name of the token, for the history.
    pub name: String,
    /// Maximum access of the token. The role of the account limits it further.
    pub access: TokenAccess,
    /// Names of the spaces that it reaches; empty for all of the account's.
    pub spaces: Vec<String>,
    /// Days until it expires; `None` if it does not.
    pub days: Option<u32>,
}

/// A token without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenRow {
    /// Name of the account.
    pub account: String,
    /// Name of the token.
    pub name: String,
    /// Beginning of the token; for a grant, the client that got it by consent.
    pub hint: String,
    /// Maximum access of the token.
    pub access: TokenAccess,
    /// Names of the spaces that it reaches; empty for all of the account's.
    pub spaces: Vec<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of expiry.
    pub expires_at: Option<Timestamp>,
    /// Last use, to the minute.
    pub used_at: Option<Timestamp>,
    /// Time of revocation.
    pub revoked_at: Option<Timestamp>,
}

/// An entry of the audit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditRow {
    /// Time.
    pub at: Timestamp,
    /// Name of the account that did it.
    pub actor: String,
    /// The recorded action.
    pub action: String,
    /// To what.
    pub target: String,
}
