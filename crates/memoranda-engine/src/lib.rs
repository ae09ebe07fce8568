//! The one API of a vault.
