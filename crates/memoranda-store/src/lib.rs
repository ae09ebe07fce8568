//! Commit log, files, index and watcher of a vault.
