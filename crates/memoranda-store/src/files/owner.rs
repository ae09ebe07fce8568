//! The owners of files in a vault. A vault has one owner: its log is readable by that user alone.
//!
//! The superuser may write to any vault, such as under `sudo` or in a container. What it makes gets
//! the owner of the folder around it; the vault would be locked for its owner otherwise. Only what this
//! process has just made is given away, by its handle.
//!
//! A vault may be shared by a group if a platform or a person has opened its folders to that group.

use std::path::Path;
#[cfg(unix)]
use std::sync::LazyLock;

use cap_std::fs::Dir;

use crate::error::StoreError;

/// Gives a file that was just made to the owner of its folder if this process is the superuser. File
/// systems without owners refuse this, and need none.
#[cfg(unix)]
pub(super) fn give_to_folder_owner(folder: &Dir, file: &cap_std::fs::File) {
    let made = rustix::fs::fstat(file);
    // Somebody may have given the file a second name elsewhere.
    if made.is_ok_and(|made| made.st_nlink == 1)
        && let Some(owner) = owner_to_restore(rustix::fs::fstat(folder), made)
    {
        rustix::fs::fchown(file, Some(owner.user), Some(owner.group)).ok();
    }
}

#[cfg(not(unix))]
pub(super) fn give_to_folder_owner(_: &Dir, _: &cap_std::fs::File) {}

/// Does the same for a folder that was just made in another one.
#[cfg(unix)]
pub(super) fn give_folder_to_owner(folder: &Dir, name: impl AsRef<Path>) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let Ok(made) = open_folder(folder, name.as_ref()) else { return };
    if let Some(owner) = owner_to_restore(rustix::fs::fstat(folder), rustix::fs::fstat(&made)) {
        rustix::fs::fchown(&made, Some(owner.user), Some(owner.group)).ok();
    }
}

#[cfg(not(unix))]
pub(super) fn give_folder_to_owner(_: &Dir, _: impl AsRef<Path>) {}

/// Opens a folder in another one so that its owner and rights can be changed.
#[cfg(unix)]
fn open_folder(folder: &Dir, name: &Path) -> rustix::io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// Opens a private file that was just made in a folder of a vault to the group of this folder, if the
/// folder is open to its group.
#[cfg(unix)]
pub(super) fn share_with_group(folder: &Dir, file: &cap_std::fs::File) {
    open_to_group(folder, file, rustix::fs::Mode::RGRP | rustix::fs::Mode::WGRP);
}

#[cfg(not(unix))]
pub(super) fn share_with_group(_: &Dir, _: &cap_std::fs::File) {}

/// Does the same for a folder that was just made in another one.
#[cfg(unix)]
pub(super) fn share_folder_with_group(folder: &Dir, name: impl AsRef<Path>) {
    if let Ok(made) = open_folder(folder, name.as_ref()) {
        open_to_group(folder, &made, rustix::fs::Mode::RWXG);
    }
}

#[cfg(not(unix))]
pub(super) fn share_folder_with_group(_: &Dir, _: impl AsRef<Path>) {}

#[cfg(unix)]
fn open_to_group(folder: &Dir, made: impl std::os::fd::AsFd, rights: rustix::fs::Mode) {
    use rustix::fs::{Mode, fchmod, fstat};
    let (Ok(folder), Ok(found)) = (fstat(folder), fstat(&made)) else { return };
    if Mode::from_raw_mode(folder.st_mode).contains(Mode::RWXG) && folder.st_gid == found.st_gid {
        fchmod(made, Mode::from_raw_mode(found.st_mode) | rights).ok();
    }
}

/// Returns true if the group of a folder may list another folder that was made in it.
#[cfg(unix)]
pub(crate) fn is_open_to_group(folder: &Path, made: &Path) -> bool {
    use rustix::fs::{Mode, lstat, stat};
    let (Ok(folder), Ok(made)) = (stat(folder), lstat(made)) else { return false };
    Mode::from_raw_mode(made.st_mode).contains(Mode::RGRP | Mode::XGRP)
        && folder.st_gid == made.st_gid
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_group(_: &Path, _: &Path) -> bool {
    false
}

/// Returns the name of the user that owns a folder, if that is another user and this process
/// is not the superuser.
#[cfg(unix)]
pub(crate) fn other_owner(folder: &Path) -> Option<String> {
    let own = rustix::process::geteuid();
    let owner = rustix::fs::stat(folder).ok()?.st_uid;
    (!own.is_root() && owner != own.as_raw()).then(|| user_name(owner))
}

#[cfg(not(unix))]
pub(crate) fn other_owner(_: &Path) -> Option<String> {
    None
}

/// Returns the error that names the owner of a vault, if that is why this user may not look into it.
pub(crate) fn explain_refusal(error: StoreError, home: &Path) -> StoreError {
    let is_refused = matches!(&error, StoreError::Io { source, .. }
        if source.kind() == std::io::ErrorKind::PermissionDenied);
    let owner = || other_owner(&home.join(".memoranda")).or_else(|| other_owner(home));
    match is_refused.then(owner).flatten() {
        Some(owner) => StoreError::VaultOfOther { home: home.to_owned(), owner },
        None => error,
    }
}

/// Returns true if a file system records this process as the owner of what it made. Drives that
/// several systems share often have no owners.
#[cfg(unix)]
pub(crate) fn is_owner(made: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    rustix::fs::lstat(made).is_ok_and(|stat| stat.st_uid == own)
}

#[cfg(not(unix))]
pub(crate) fn is_owner(_: &Path) -> bool {
    true
}

#[cfg(unix)]
struct FileOwner {
    user: rustix::fs::Uid,
    group: rustix::fs::Gid,
}

/// Returns the owner of a folder if the superuser made something in the folder of another user.
#[cfg(unix)]
fn owner_to_restore(
    folder: rustix::io::Result<rustix::fs::Stat>,
    made: rustix::io::Result<rustix::fs::Stat>,
) -> Option<FileOwner> {
    use rustix::fs::{Gid, Uid};
    let (folder, made) = (folder.ok()?, made.ok()?);
    let is_foreign = made.st_uid == 0 && folder.st_uid != 0;
    let is_known = || USER_IDS.has(folder.st_uid) && GROUP_IDS.has(folder.st_gid);
    (is_foreign && rustix::process::geteuid().is_root() && is_known()).then(|| FileOwner {
        user: Uid::from_raw(folder.st_uid),
        group: Gid::from_raw(folder.st_gid),
    })
}

#[cfg(unix)]
static USER_IDS: LazyLock<NamespaceIds> = LazyLock::new(|| NamespaceIds::read("uid"));
#[cfg(unix)]
static GROUP_IDS: LazyLock<NamespaceIds> = LazyLock::new(|| NamespaceIds::read("gid"));

/// The ids of users or groups that the user namespace of this process has. The system shows an owner from
/// outside as the overflow id, which is another account inside, or nobody.
#[cfg(unix)]
struct NamespaceIds {
    /// First ids and numbers of ids; `None` if there are no namespaces.
    ranges: Option<Vec<(u32, u32)>>,
    overflow: Option<u32>,
}

#[cfg(unix)]
impl NamespaceIds {
    fn read(kind: &str) -> Self {
        let map = std::fs::read_to_string(format!("/proc/self/{kind}_map")).ok();
        let overflow = std::fs::read_to_string(format!("/proc/sys/kernel/overflow{kind}")).ok();
        Self::parse(map.as_deref(), overflow.as_deref())
    }

    fn parse(map: Option<&str>, overflow: Option<&str>) -> Self {
        let range = |line: &str| {
            let mut fields = line.split_whitespace();
            let (first, _, count) = (fields.next()?, fields.next()?, fields.next()?);
            Some((first.parse().ok()?, count.parse().ok()?))
        };
        Self {
            ranges: map.map(|map| map.lines().filter_map(range).collect()),
            overflow: overflow.and_then(|overflow| overflow.trim().parse().ok()),
        }
    }

    /// Returns true if an id is that of an account of this namespace.
    fn has(&self, id: u32) -> bool {
        let Some(ranges) = &self.ranges else { return true };
        // All ids but the invalid last one: nothing is outside.
        let is_whole = ranges.contains(&(0, u32::MAX));
        let is_mapped = ranges
            .iter()
            .any(|&(first, count)| id.checked_sub(first).is_some_and(|place| place < count));
        is_mapped && (is_whole || self.overflow != Some(id))
    }
}

/// Returns the name of an account, or its number if the accounts lie elsewhere.
#[cfg(unix)]
fn user_name(user: u32) -> String {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in_accounts(&accounts, user).unwrap_or_else(|| format!("user {user}"))
}

#[cfg(unix)]
fn name_in_accounts(accounts: &str, user: u32) -> Option<String> {
    let mut names = accounts.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(user)).then(|| name.to_owned())
    });
    names.next()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_numbers() {
        let accounts =
            "root:x:0:0:root:/root:/bin/sh\nbroken\nmara:x:1000:1000::/srv/mara:/bin/sh\n";
        assert_eq!(name_in_accounts(accounts, 1000).as_deref(), Some("mara"));
        assert_eq!(name_in_accounts(accounts, 0).as_deref(), Some("root"));
        assert_eq!(name_in_accounts(accounts, 7), None);
    }

    #[test]
    fn an_owner_from_outside_of_the_namespace_is_no_account() {
        let check = |map: Option<&str>, known: &[u32], unknown: &[u32]| {
            let ids = NamespaceIds::parse(map, Some("65534\n"));
            assert!(known.iter().all(|id| ids.has(*id)), "{map:?}");
            assert!(!unknown.iter().any(|id| ids.has(*id)), "{map:?}");
        };
        check(None, &[0, 1000, 65534], &[]);
        check(Some("         0          0 4294967295\n"), &[0, 1000, 65534], &[]);
        let rootless = "         0       1000          1\n         1     100000      65536\n";
        check(Some(rootless), &[0, 1, 1000, 65533, 65536], &[65534, 65537]);
        check(Some("0 1000 1\n"), &[0], &[1, 1000, 65534]);
        check(Some(""), &[], &[0, 65534]);
    }
}
