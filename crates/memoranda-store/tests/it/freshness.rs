//! A glance at some folders notices all that a look at every file would notice there.

use memoranda_store::Store;

use super::support::{TestVault, main_project, path, put, sync};

fn is_as_known(store: &Store) -> bool {
    let folders = [path("rule"), path("of/mine")];
    store.is_as_known(&main_project(), &folders).unwrap()
}

/// Does something to the files, and says whether a glance notices it.
#[track_caller]
fn check(what: &str, act: impl Fn(&TestVault), notices: bool) {
    let vault = TestVault::new();
    for place in ["rule/a.md", "rule/deep/b.md", "rule.md", "rules/c.md", "other/d.md"] {
        vault.write_by_hand(&format!("main/{place}"), place);
    }
    let store = vault.open();
    assert!(!is_as_known(&store), "{what}: nobody has looked yet");
    sync(&store);
    put(&store, "rule/ours.md", "Ours\n");
    assert!(is_as_known(&store), "{what}: our own writes are known");
    act(&vault);
    assert_eq!(is_as_known(&store), !notices, "{what}");
    // Another look at the whole project makes it known.
    store.sync_project(&main_project(), &mut |_| {}).unwrap();
    assert!(is_as_known(&store), "{what}: after a look");
    vault.assert_agrees(&store, what);
}

fn rename(vault: &TestVault, from: &str, to: &str) {
    let to = vault.home().join(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(vault.home().join(from), to).unwrap();
}

#[test]
fn what_people_do_there_is_noticed_and_nothing_else() {
    check("nothing", |_| (), false);
    check("edit", |vault| vault.write_by_hand("main/rule/a.md", "RULE/a.md"), true);
    check("edit ours", |vault| vault.write_by_hand("main/rule/ours.md", "Mine\n"), true);
    check("edit deep", |vault| vault.write_by_hand("main/rule/deep/b.md", "x"), true);
    check("add", |vault| vault.write_by_hand("main/rule/new.md", "x"), true);
    check("add a folder", |vault| vault.write_by_hand("main/of/mine/new.md", "x"), true);
    check(
        "remove",
        |vault| std::fs::remove_file(vault.home().join("main/rule/a.md")).unwrap(),
        true,
    );
    check(
        "remove all",
        |vault| std::fs::remove_dir_all(vault.home().join("main/rule")).unwrap(),
        true,
    );
    check("move in", |vault| rename(vault, "main/other/d.md", "main/of/mine/d.md"), true);
    check("move out", |vault| rename(vault, "main/rule/a.md", "main/other/a.md"), true);
    check("move within", |vault| rename(vault, "main/rule/a.md", "main/rule/z.md"), true);
    check("ignore one", |vault| vault.write_by_hand("main/rule/.gitignore", "a.md\n"), true);
    check("ignore all", |vault| vault.write_by_hand("main/.gitignore", "rule/\n"), true);
    check("hide", |vault| rename(vault, "main/rule/a.md", "main/rule/.a.md"), true);
    check("edit elsewhere", |vault| vault.write_by_hand("main/other/d.md", "x"), false);
    check("add beside", |vault| vault.write_by_hand("main/rules/x.md", "x"), false);
}

#[test]
fn a_project_that_is_not_there_holds_nothing() {
    let vault = TestVault::new();
    let store = vault.open();
    sync(&store);
    assert!(is_as_known(&store));
    put(&store, "rule/a.md", "A\n");
    assert!(is_as_known(&store));
    rename(&vault, "main", "elsewhere/main");
    assert!(!is_as_known(&store));
}

#[test]
fn very_many_files_of_the_last_moment_are_left_to_a_whole_look() {
    let vault = TestVault::new();
    let store = vault.open();
    sync(&store);
    for n in 0..200 {
        put(&store, &format!("rule/{n}.md"), "x\n");
    }
    // The disk's clock decides if their times are conclusive; after a scan they are.
    std::thread::sleep(std::time::Duration::from_millis(50));
    sync(&store);
    assert!(is_as_known(&store));
}
