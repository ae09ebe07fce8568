//! Texts of all kinds, which come out as they went in.

use super::support::Home;

#[test]
fn bytes_that_are_no_text_are_shown_and_left() {
    let home = Home::new();
    let bytes = b"caf\xe9 needle\n";
    home.write("main/latin.md", bytes);
    assert!(home.ok(&["search", "needle"]).contains("main/latin.md"));
    assert_eq!(home.run(&["show", "latin.md"]).bytes, bytes);
    assert_eq!(home.run(&["show", "latin.md", "--raw"]).bytes, bytes);
    let note = home.json(&["show", "latin.md"]);
    assert!(note["text"].is_null());
    assert!(home.ok(&["doctor"]).contains("main/latin.md:1: the text is not UTF-8"));
}

#[test]
fn a_line_of_a_megabyte_is_no_problem() {
    let home = Home::new();
    let line = format!("start {} needle\n", "word ".repeat(200_000));
    home.write("main/long.md", &line);
    let found = home.ok(&["search", "needle"]);
    assert!(found.len() < 1000 && found.contains("main/long.md:1"), "{}", found.len());
    home.ok(&["edit", "long.md", "--append", "end"]);
    assert_eq!(home.read("main/long.md").len(), line.len() + 4);
    assert!(home.ok(&["diff", "long.md"]).ends_with("+end\n"));
}

#[test]
fn line_endings_stay() {
    let home = Home::new();
    home.write("main/dos.md", "---\r\ntags: [a]\r\n---\r\none\r\ntwo\r\n");
    home.ok(&["edit", "dos.md", "--append", "three\nfour", "--set", "status=ok"]);
    let text = "---\r\ntags: [a]\r\nstatus: ok\r\n---\r\none\r\ntwo\r\nthree\r\nfour\r\n";
    assert_eq!(String::from_utf8(home.read("main/dos.md")).unwrap(), text);
    home.ok(&["edit", "dos.md", "--set", "status="]);
    home.ok(&["undo"]);
    assert_eq!(String::from_utf8(home.read("main/dos.md")).unwrap(), text);
}

#[test]
fn names_with_blanks_quotes_and_other_letters() {
    let home = Home::new();
    for title in ["It's a \"plan\"", "日本語のノート", "a -- b", "-dash"] {
        let said = home.run(&["add", &format!("--title={title}"), "--", "-text of it"]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(home.ok(&["show", "--", title]).contains("-text of it\n"), "{title}");
    }
    assert_eq!(home.ok(&["list", "--plain"]).lines().count(), 4);
}
