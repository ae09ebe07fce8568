//! Settings: their sources, and the messages for invalid ones.

use super::support::Home;

fn write_config(home: &Home, text: &str) {
    let folder = home.path().join(".config/memoranda");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

fn variables(home: &Home) -> [(&'static str, String); 1] {
    [("MEMORANDA_CONFIG", home.path().join(".config/memoranda/config.toml").display().to_string())]
}

#[track_caller]
fn run(home: &Home, args: &[&str]) -> super::support::Said {
    let [(name, value)] = variables(home);
    home.run_with(&[(name, &value)], args)
}

#[test]
fn a_wrong_file_is_told_by_line() {
    let home = Home::new();
    for (text, words) in [
        (
            "color = \"auto\"\nhome = \n",
            &["config.toml line 2:", "hint: `memoranda config edit`"][..],
        ),
        (
            "\ncolour = \"auto\"\n",
            &["line 2: there is no setting \"colour\"", "did you mean `color`?"],
        ),
        (
            "color = \"green\"\n",
            &["line 1: color cannot be \"green\"; it takes auto, always, never"],
        ),
        ("lock_wait_seconds = 0\n", &["it takes whole seconds"]),
        ("home = [1]\n", &["home must be a folder"]),
    ] {
        write_config(&home, text);
        let said = run(&home, &["list"]);
        assert_eq!(said.code, 3, "{text}: {said:?}");
        for word in words {
            assert!(said.err.contains(word), "{word}: {}", said.err);
        }
    }
    let path = run(&home, &["config", "path"]);
    assert!(path.out.ends_with("config.toml\n"), "{path:?}");
}

#[test]
fn flags_come_before_variables_before_the_file() {
    let home = Home::new();
    write_config(&home, "# mine\ncolor = \"always\" # loud\n");
    let origin = |args: &[&str], more: &[(&str, &str)]| {
        let [(name, value)] = variables(&home);
        let all = [&[(name, value.as_str())], more].concat();
        let args = [args, &["config", "show", "--origin", "--plain"]].concat();
        let out = home.run_with(&all, &args).out;
        let line = out.lines().find(|line| line.starts_with("color")).unwrap().to_owned();
        line.replace(&home.path().display().to_string(), "~")
    };
    assert_eq!(origin(&[], &[]), "color\talways\t~/.config/memoranda/config.toml");
    assert_eq!(origin(&[], &[("NO_COLOR", "1")]), "color\tnever\tNO_COLOR");
    assert_eq!(origin(&["--color", "auto"], &[("NO_COLOR", "1")]), "color\tauto\t--color");
    run(&home, &["config", "unset", "color"]);
    assert_eq!(origin(&[], &[]), "color\tauto\tbuilt-in");
}

#[test]
fn setting_a_value_keeps_comments() {
    let home = Home::new();
    write_config(&home, "# mine\ncolor = \"always\" # loud\n\n# end\n");
    assert_eq!(run(&home, &["config", "set", "color", "never"]).code, 0);
    assert_eq!(run(&home, &["config", "set", "lock_wait_seconds", "5"]).code, 0);
    let text = std::fs::read_to_string(home.path().join(".config/memoranda/config.toml")).unwrap();
    assert!(text.starts_with("# mine\ncolor = \"never\" # loud\n"), "{text}");
    assert!(text.contains("lock_wait_seconds = 5\n") && text.contains("# end\n"), "{text}");
    assert_eq!(run(&home, &["config", "get", "color"]).out, "never\n");
    for args in [["config", "set", "colr", "x"], ["config", "set", "color", "x"]] {
        assert_eq!(run(&home, &args).code, 2);
    }
}

#[test]
fn a_table_without_a_setting_goes_with_its_last_one() {
    let home = Home::new();
    let text =
        || std::fs::read_to_string(home.path().join(".config/memoranda/config.toml")).unwrap();
    write_config(&home, "color = \"never\"\n");
    run(&home, &["config", "set", "memory.view_chars", "500"]);
    run(&home, &["config", "set", "memory.guidance", "Be brief."]);
    run(&home, &["config", "unset", "memory.view_chars"]);
    assert!(text().contains("[memory]\nguidance"), "{}", text());
    run(&home, &["config", "unset", "memory.guidance"]);
    assert_eq!(text(), "color = \"never\"\n");
    write_config(&home, "# about memory\n[memory]\nview_chars = 500\n");
    run(&home, &["config", "unset", "memory.view_chars"]);
    assert_eq!(text(), "# about memory\n[memory]\n");
}

#[test]
fn the_vault_is_where_it_is_said_to_be() {
    let home = Home::bare();
    write_config(&home, "home = \"~/notes\"\ndefault_project = \"work\"\n");
    assert_eq!(run(&home, &["add", "--title", "T", "text"]).code, 0);
    assert!(home.path().join("notes/work/T.md").exists());
    assert_eq!(run(&home, &["show", "T"]).out, "text\n");
    let other = home.path().join("other");
    let named = [("MEMORANDA_HOME", other.to_str().unwrap())];
    assert_eq!(home.run_with(&named, &["add", "--title", "T", "text"]).code, 0);
    assert!(other.join("work/T.md").exists());
}

#[test]
fn the_earlier_name_of_a_wording_is_read() {
    let home = Home::new();
    write_config(&home, "[mcp]\nwording = \"seed\"\n");
    assert_eq!(run(&home, &["config", "get", "mcp.wording"]).out, "mcp\n");
    let set = run(&home, &["config", "set", "mcp.wording", "seed"]);
    assert!(set.out.starts_with("Set mcp.wording to \"mcp\" in "), "{set:?}");
    let refused = run(&home, &["config", "set", "mcp.wording", "other"]);
    assert!(refused.err.contains("it takes mcp, claude"), "{refused:?}");
}
