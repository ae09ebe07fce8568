//! Serves the programs of a person's machine: connects clients, answers their hooks, writes their
//! rule files, and checks the vault and the entries in clients' files.
//!
//! The command line prints the results, the server's page shows them. Both pass in the folders, the
//! environment and the settings that they know.

pub mod doctor;
mod error;
pub mod files;
pub mod hook;
pub mod rules;
pub mod setup;

pub use error::{ClientsError, Result, io_reason};
