//! Names of temporary files in a person's folders.
//!
//! Invariant: only a name that this module makes is ever removed as a leftover of a dead process.
//! Any other name that begins alike, such as `.memoranda-token`, is a person's file.

use memoranda_core::id::CommitId;

use crate::{clock, machine};

const PREFIX: &str = ".memoranda-";
const RECOVERY: &str = "replay-";
const DISPLACED: &str = "-old";

/// Returns the temporary name of the n-th file of a commit, which recovery knows again.
pub(crate) fn of_commit(id: CommitId, n: usize) -> String {
    format!("{PREFIX}{id}-{n}")
}

/// Returns the commit and the number of the file that a temporary name belongs to.
pub(crate) fn commit_of(name: &str) -> Option<(CommitId, usize)> {
    let (id, n) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some((CommitId::parse(id)?, n.parse().ok()?))
}

/// Returns the name of the file that a temporary file replaces, while neither has the real name.
pub(crate) fn of_displaced(temporary: &str) -> String {
    format!("{temporary}{DISPLACED}")
}

/// Returns a new temporary name for a copy that belongs to no commit.
pub(crate) fn of_copy() -> String {
    format!("{PREFIX}{:016x}", clock::random_bits())
}

/// Returns the temporary name that recovery uses in this process.
pub(crate) fn of_recovery() -> String {
    format!("{PREFIX}{RECOVERY}{}", machine::process_id())
}

/// Returns true if the name is one that this module makes.
pub(crate) fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let rest = rest.trim_end_matches(DISPLACED);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_of_commit =
        rest.split_once('-').is_some_and(|(id, n)| CommitId::parse(id).is_some() && is_number(n));
    let is_of_copy = rest.len() == 16 && rest.bytes().all(|b| b"0123456789abcdef".contains(&b));
    is_of_commit || is_of_copy || rest.strip_prefix(RECOVERY).is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_are_temporary() {
        let commit = of_commit(CommitId::from_random(7), 12);
        assert_eq!(commit_of(&commit), Some((CommitId::from_random(7), 12)));
        assert_eq!(commit_of(&of_displaced(&commit)), None);
        assert_eq!(commit_of(&of_copy()), None);
        for name in [commit.clone(), of_displaced(&commit), of_copy(), of_recovery()] {
            assert!(is_temporary(&name), "{name}");
        }
        for name in [
            ".memoranda-token",
            ".memoranda-",
            ".memoranda-notes-1",
            ".memoranda-replay-",
            ".memoranda-replay-notes",
            ".memoranda-0123456789abcdeg",
            ".memoranda-backup-2026-old",
            "memoranda-0123456789abcdef",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
