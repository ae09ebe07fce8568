//! Authorization of programs by people: the seam between the OAuth endpoints of a team server and
//! what keeps clients, sign-ins, grants and tokens.
//!
//! A program asks for access, a person signs in and consents, the program exchanges a code for
//! tokens. Nothing is kept in a server between two of these steps.

#[cfg(feature = "postgres")]
mod client_document;
#[cfg(feature = "postgres")]
mod issuer;
#[cfg(feature = "postgres")]
mod public_address;
mod redirect_uri;

#[cfg(feature = "postgres")]
pub use client_document::ClientDocuments;
#[cfg(feature = "postgres")]
pub(crate) use client_document::shown_name;
#[cfg(feature = "postgres")]
pub use issuer::{Issuer, IssuerIdentity, IssuerKind, IssuerRound};
pub use redirect_uri::{check_redirect_uri, is_registered_uri};

use crate::directory::{DirectoryResult, SpaceKind, SpaceRole, TokenAccess};

/// Clients, sign-ins, grants and tokens. Every method may take a round trip.
///
/// A *ticket* is the secret of one authorization on its way through sign-in and consent. The
/// person's browser has it as a cookie.
pub trait AuthorizationDirectory: Send + Sync {
    /// Returns the names of the issuers by which people sign in.
    fn issuer_names(&self) -> Vec<String>;

    /// Returns a client by its identifier. An identifier that is an address is a document to fetch.
    fn find_client(&self, client_id: &str) -> DirectoryResult<Result<OAuthClient, ClientRefusal>>;

    /// Registers a client.
    fn register_client(
        &self,
        name: &str,
        redirect_uris: &[String],
    ) -> DirectoryResult<Result<OAuthClient, ClientRefusal>>;

    /// Keeps a request until its person has decided. Returns its ticket and its number.
    fn begin_authorization(
        &self,
        request: &AuthorizationRequest,
    ) -> DirectoryResult<AuthorizationTicket>;

    /// Returns the request of a ticket. `None` if it is unknown, decided or too old.
    fn pending_authorization(&self, ticket: &str) -> DirectoryResult<Option<PendingAuthorization>>;

    /// Signs in with the password of an account. Returns the ticket that replaces the given one.
    fn sign_in_with_password(
        &self,
        ticket: &str,
        account: &str,
        password: &str,
    ) -> DirectoryResult<Result<String, SignInRefusal>>;

    /// Returns the address at which an issuer asks the person to sign in.
    fn issuer_address(
        &self,
        ticket: &str,
        issuer: &str,
        callback: &str,
    ) -> DirectoryResult<Result<String, SignInRefusal>>;

    /// Signs in with what an issuer sent to the callback. Returns the ticket that replaces the
    /// given one.
    fn sign_in_with_issuer(
        &self,
        ticket: &str,
        answer: &IssuerAnswer<'_>,
    ) -> DirectoryResult<Result<String, SignInRefusal>>;

    /// Lists the spaces of the account that signed in with a ticket, the private one first.
    fn spaces_of_ticket(&self, ticket: &str) -> DirectoryResult<Vec<SpaceChoice>>;

    /// Records the consent of the person, and returns the code for the client. `None` if the ticket
    /// is not signed in, or if no chosen space is the account's.
    fn approve(
        &self,
        ticket: &str,
        consent: &Consent,
    ) -> DirectoryResult<Option<(String, AuthorizationRequest)>>;

    /// Ends an authorization without consent.
    fn deny(&self, ticket: &str) -> DirectoryResult<Option<AuthorizationRequest>>;

    /// Exchanges a code for tokens, once.
    fn exchange_code(
        &self,
        exchange: &CodeExchange<'_>,
    ) -> DirectoryResult<Result<IssuedTokens, TokenRefusal>>;

    /// Exchanges a refresh token for new tokens, once.
    fn refresh_tokens(
        &self,
        exchange: &RefreshExchange<'_>,
    ) -> DirectoryResult<Result<IssuedTokens, TokenRefusal>>;

    /// Revokes the grant of a token of the client. An unknown token is no error.
    fn revoke(&self, token: &str, client_id: &str) -> DirectoryResult<()>;
}

/// A program that may ask for access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OAuthClient {
    /// Identifier.
    pub client_id: String,
    /// Name, by its own statement.
    pub name: String,
    /// Addresses to which a browser may be sent back.
    pub redirect_uris: Vec<String>,
}

/// Reason why a client is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientRefusal {
    /// The client is not registered.
    Unknown,
    /// An address to be sent back to is not accepted.
    RedirectUri(String),
    /// The description of the client is not accepted.
    Metadata(String),
}

/// A request of a client for access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuthorizationRequest {
    /// Identifier of the client.
    pub client_id: String,
    /// Name of the client.
    pub client_name: String,
    /// Address to which the browser is sent back.
    pub redirect_uri: String,
    /// SHA-256 of the verifier that the client sends with the code.
    pub challenge: [u8; 32],
    /// Maximum access.
    pub access: TokenAccess,
    /// Address at which the tokens are valid.
    pub resource: String,
    /// Text that the client gets back.
    pub state: Option<String>,
}

/// The secret and the number of an authorization.
#[derive(Clone, Debug)]
pub struct AuthorizationTicket {
    /// Secret, for the cookie.
    pub secret: String,
    /// Number, for the forms of the page. The number is not secret.
    pub number: i64,
}

/// An authorization that waits for its person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PendingAuthorization {
    /// Number.
    pub number: i64,
    /// The request.
    pub request: AuthorizationRequest,
    /// Account that signed in; `None` if nobody has.
    pub account: Option<String>,
}

/// Answer of an issuer, as its callback received it.
#[derive(Clone, Copy, Debug)]
pub struct IssuerAnswer<'a> {
    /// Code of the issuer.
    pub code: &'a str,
    /// State, which must be that of the ticket.
    pub state: &'a str,
    /// Address of the callback.
    pub callback: &'a str,
}

/// Reason why a person is not signed in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignInRefusal {
    /// The ticket is unknown, decided or too old.
    Expired,
    /// Account and password do not match.
    WrongPassword,
    /// The issuer is not one of the server's.
    UnknownIssuer,
    /// The answer of the issuer was not for this ticket, or the issuer did not confirm it.
    IssuerFailed(String),
    /// No account and no invitation has this e-mail address.
    NotInvited(String),
    /// The account is disabled.
    Disabled,
}

/// A space that a person can give a client access to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceChoice {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpaceKind,
    /// Role of the account.
    pub role: SpaceRole,
}

/// Decision of a person to give a client access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consent {
    /// Maximum access.
    pub access: TokenAccess,
    /// The spaces.
    pub spaces: ConsentedSpaces,
}

/// The spaces of a consent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConsentedSpaces {
    /// Every space of the account, also later ones.
    All,
    /// Some of them.
    Named {
        /// Names.
        names: Vec<String>,
        /// Name of the space for calls that name none; `None` for the first.
        default: Option<String>,
    },
}

/// A code with the proof that it belongs to the client.
#[derive(Clone, Copy, Debug)]
pub struct CodeExchange<'a> {
    /// The code.
    pub code: &'a str,
    /// Identifier of the client.
    pub client_id: &'a str,
    /// Address to which the browser was sent; `None` if the client did not repeat it.
    pub redirect_uri: Option<&'a str>,
    /// Text whose SHA-256 is the challenge.
    pub verifier: &'a str,
    /// Address for which the tokens are valid; `None` for that of the grant.
    pub resource: Option<&'a str>,
}

/// A refresh token with the client that sends it.
#[derive(Clone, Copy, Debug)]
pub struct RefreshExchange<'a> {
    /// The refresh token.
    pub token: &'a str,
    /// Identifier of the client.
    pub client_id: &'a str,
    /// Address for which the tokens are valid; `None` for that of the grant.
    pub resource: Option<&'a str>,
}

/// Tokens of a grant. They cannot be seen again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IssuedTokens {
    /// Token for calls.
    pub access_token: String,
    /// Token for the next tokens.
    pub refresh_token: String,
    /// Seconds until the access token expires.
    pub expires_in: u64,
    /// Access of both.
    pub access: TokenAccess,
}

/// Reason why no tokens are issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenRefusal {
    /// The code or the refresh token is unknown, expired, revoked, used before, or of another
    /// client: one answer for all.
    InvalidGrant,
    /// The verifier does not belong to the challenge.
    WrongVerifier,
    /// The address is not that of the authorization.
    WrongRedirectUri,
    /// The tokens would be valid at another address than the person consented to.
    WrongResource,
}
