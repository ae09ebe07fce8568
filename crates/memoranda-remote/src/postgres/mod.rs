//! Spaces in PostgreSQL: the log of each space, accounts, members and tokens.
//!
//! No extension is needed. All names are qualified and nothing is kept in a session, so that a
//! pooler may hand out connections by transaction.

mod account_removal;
mod accounts;
mod authorization;
mod changes;
mod connection;
mod directory;
mod images;
mod invitations;
mod log;
mod log_replacement;
mod migrate;
mod oauth_clients;
mod oauth_requests;
mod oauth_secrets;
mod passwords;
mod proposals;
mod self_service;
mod sign_in;
mod spaces;
mod stats;
mod token_grant;
mod tokens;

pub use account_removal::AccountRemoval;
pub use accounts::AccountRow;
pub use authorization::TeamSignIn;
pub use connection::Database;
pub use log::PostgresLog;
pub use log_replacement::LogReplacement;
pub use migrate::{MigrationReport, SCHEMA_VERSION};
pub use spaces::SpaceRow;
pub use stats::DatabaseStats;
pub use tokens::{TOKEN_PREFIX, token_digest};

/// A failure of the database. No text of it contains a password or a token.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The address of the database is not one.
    #[error("the address of the database is not valid; one looks like postgres://user@host/name")]
    BadAddress,
    /// A certificate of the authority file cannot be used.
    #[error("the certificates of the database's authority cannot be read: {reason}")]
    BadAuthority {
        /// The problem.
        reason: String,
    },
    /// The database cannot be reached.
    #[error("the database cannot be reached: {reason}")]
    Away {
        /// Error of the connection.
        reason: String,
        /// True if the statement may have been executed.
        may_be_done: bool,
    },
    /// The tables are missing or older than this program.
    #[error(
        "the database has schema {found}, and this program needs {needed}; `memoranda admin \
         migrate` brings it there"
    )]
    OlderSchema {
        /// Version of the tables; 0 if there are none.
        found: i32,
        /// Version of this program.
        needed: i32,
    },
    /// The tables were made by a later version.
    #[error(
        "the database has schema {found}, and this program knows schemas up to {known}; use a \
         newer memoranda; nothing was changed"
    )]
    NewerSchema {
        /// Version of the tables.
        found: i32,
        /// Version of this program.
        known: i32,
    },
    /// The change cannot be made.
    #[error("{0}")]
    Refused(String),
    /// The database rejected a statement.
    #[error("the database failed: {0}")]
    Failed(String),
}

impl DatabaseError {
    /// Returns true if the database may be reached again later.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Away { .. })
    }
}

/// The result of most calls.
pub type DatabaseResult<T> = Result<T, DatabaseError>;
