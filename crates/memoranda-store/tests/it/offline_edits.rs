//! Edits while no process runs: the scan of the next process notices each of them, however few bytes
//! of a file it compares.

use std::time::Duration;

use crate::support::{TestVault, sync};

/// More files than are looked up one by one.
const FILES: usize = 700;

/// Counts of changed, added, removed and moved files.
type EditCounts = (usize, usize, usize, usize);

#[track_caller]
fn check(what: &str, act: impl Fn(&TestVault), expected: EditCounts) {
    let vault = TestVault::new();
    for n in 0..FILES {
        vault.write_by_hand(&place(n), format!("Text {n:04}\n"));
    }
    // Within one tick of the clock the times of a file prove nothing.
    std::thread::sleep(Duration::from_millis(50));
    sync(&vault.open());
    act(&vault);
    let store = vault.open();
    let report = sync(&store);
    let counts = (report.changed, report.added, report.removed, report.moved);
    assert_eq!((counts, report.seen), (expected, seen(expected)), "{what}");
    vault.assert_agrees(&store, what);
    drop(store);
    let store = vault.open();
    let again = sync(&store);
    assert_eq!((again.changed, again.added, again.removed, again.moved), (0, 0, 0, 0), "{what}");
    vault.assert_agrees(&store, what);
}

fn seen((_, added, removed, _): EditCounts) -> usize {
    FILES + added - removed
}

fn place(n: usize) -> String {
    format!("main/{}/{n}.md", n % 9)
}

fn rename(vault: &TestVault, from: &str, to: &str) {
    std::fs::rename(vault.home().join(from), vault.home().join(to)).unwrap();
}

#[test]
fn each_edit_is_noticed() {
    check("nothing", |_| (), (0, 0, 0, 0));
    let edit = |n: usize| {
        move |vault: &TestVault| (0..n).for_each(|n| vault.write_by_hand(&place(n), "Other\n"))
    };
    check("one edit", edit(1), (1, 0, 0, 0));
    check("most files", edit(600), (600, 0, 0, 0));
    let remove = |n: usize| {
        move |vault: &TestVault| {
            (0..n).for_each(|n| std::fs::remove_file(vault.home().join(place(n))).unwrap());
        }
    };
    check("one file less", remove(1), (0, 0, 1, 0));
    check("few files left", remove(600), (0, 0, 600, 0));
    check("one more", |vault| vault.write_by_hand("main/new.md", "New\n"), (0, 1, 0, 0));
    check("another name", |vault| rename(vault, &place(5), "main/renamed.md"), (0, 0, 0, 1));
    let mixed = |vault: &TestVault| {
        edit(3)(vault);
        rename(vault, &place(5), "main/renamed.md");
        std::fs::remove_file(vault.home().join(place(9))).unwrap();
        vault.write_by_hand("main/new.md", "New\n");
    };
    check("all at once", mixed, (3, 1, 1, 1));
}

#[cfg(unix)]
#[test]
fn an_edit_that_keeps_size_and_time_is_noticed() {
    let same_time = |vault: &TestVault| {
        let file = vault.home().join(place(4));
        let before = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, "Else 0004\n").unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    };
    check("same size and time", same_time, (1, 0, 0, 0));
    let exchange = |vault: &TestVault| {
        // Two files of one size and time trade their names.
        for n in [0, 9] {
            let file = std::fs::File::options().write(true).open(vault.home().join(place(n)));
            file.unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        sync(&vault.open());
        rename(vault, &place(0), "main/0/aside.md");
        rename(vault, &place(9), &place(0));
        rename(vault, "main/0/aside.md", &place(9));
    };
    check("exchanged names", exchange, (2, 0, 0, 0));
}

#[cfg(unix)]
#[test]
fn a_change_of_permissions_is_no_edit() {
    use std::os::unix::fs::PermissionsExt as _;
    let protect = |vault: &TestVault| {
        let file = vault.home().join(place(7));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    check("other permissions", protect, (0, 0, 0, 0));
}
