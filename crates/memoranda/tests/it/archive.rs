//! A whole vault as a file, and back.

use super::support::Home;

#[test]
fn an_archive_brings_everything_back() {
    let home = Home::new();
    home.ok(&["add", "--title", "Plan", "one"]);
    home.ok(&["edit", "Plan", "--append", "two"]);
    home.ok(&["add", "--title", "Gone", "deleted text"]);
    home.ok(&["rm", "Gone"]);
    home.write("main/data/picture.bin", [0u8, 159, 146, 150]);
    home.ok(&["scan"]);
    let history = home.ok(&["log", "--plain"]);

    home.ok(&["export", "memory.tar"]);
    home.fails(&["export", "memory.tar"], 4, &["memory.tar exists", "export --yes memory.tar"]);
    home.ok(&["export", "--yes", "memory.tar"]);
    home.fails(&["import", "memory.tar"], 4, &["needs an empty one", "hint: `--home DIR`"]);

    let two = ["--home", "two"];
    home.ok(&[&["import", "memory.tar"][..], &two].concat());
    assert_eq!(home.ok(&[&["log", "--plain"][..], &two].concat()), history);
    assert_eq!(home.ok(&[&["show", "Plan"][..], &two].concat()), "one\ntwo\n");
    home.ok(&[&["restore", "Gone.md"][..], &two].concat());
    assert_eq!(home.ok(&[&["show", "Gone"][..], &two].concat()), "deleted text\n");
    assert!(home.path().join("two/main/data/picture.bin").exists());
    home.ok(&[&["doctor"][..], &two].concat());

    let piped = home.run(&["export", "-"]);
    assert_eq!(piped.code, 0);
    let said = home.run_fed(&piped.bytes, &["import", "-", "--home", "three"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(home.ok(&["log", "--plain", "--home", "three"]), history);

    let broken = home.run_fed(b"no archive at all", &["import", "-", "--home", "four"]);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert!(broken.err.contains("standard input is not a whole tar archive"), "{broken:?}");
    let half = home.run_fed(&piped.bytes[..700], &["import", "-", "--home", "five"]);
    assert_eq!(half.code, 2, "{half:?}");
}
