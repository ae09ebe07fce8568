//! Outputs of commands at 60, 80 and 160 columns.

use unicode_width::UnicodeWidthStr as _;

use super::support::Home;

fn vault() -> Home {
    let home = Home::new();
    let tap = "The kitchen tap takes cartridge 46374, and the shop at the harbour has it in stock \
               until the end of the year";
    home.ok(&["add", tap, "--title", "Kitchen tap"]);
    let boiler = r#"{"title": "Boiler", "directory": "house", "content": "See [[Kitchen tap]]."}"#;
    home.ok(&["tool", "write_note", boiler]);
    home
}

/// Runs a command at a width. Commit ids, which differ from run to run, are replaced.
fn at(home: &Home, columns: &str, args: &[&str]) -> String {
    let said = home.run_with(&[("COLUMNS", columns)], args);
    assert_eq!(said.code, 0, "{said:?}");
    let is_id = |word: &str| {
        word.len() == 8 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    let line = |line: &str| match line.split_once(' ') {
        Some((id, rest)) if is_id(id) => format!("COMMIT-1 {rest}\n"),
        _ => format!("{line}\n"),
    };
    said.out.lines().map(line).collect()
}

#[test]
fn outputs_use_the_width_that_there_is() {
    let home = vault();
    let check = |columns: &str, args: &[&str], expected: &str| {
        assert_eq!(at(&home, columns, args), expected, "{args:?} at {columns}");
    };
    check(
        "60",
        &["log"],
        "COMMIT    WHEN      WHO              WHAT\n\
         COMMIT-1  just now  memoranda 0.1.0  added main/house/Boile…\n\
         COMMIT-1  just now  memoranda 0.1.0  added main/Kitchen tap…\n",
    );
    for columns in ["80", "160"] {
        check(
            columns,
            &["log"],
            "COMMIT    WHEN      WHO              TOOL        WHAT\n\
             COMMIT-1  just now  memoranda 0.1.0  write_note  added main/house/Boiler.md\n\
             COMMIT-1  just now  memoranda 0.1.0  add         added main/Kitchen tap.md\n",
        );
    }
    check(
        "60",
        &["search", "cartridge"],
        "Kitchen tap  main/Kitchen tap.md:1  just now\n  \
           The kitchen tap takes cartridge 46374, and the shop at the\n  \
           harbour has it in stock until the end of the year\n",
    );
    check(
        "80",
        &["search", "cartridge"],
        "Kitchen tap  main/Kitchen tap.md:1  just now\n  \
           The kitchen tap takes cartridge 46374, and the shop at the harbour has it in\n  \
           stock until the end of the year\n",
    );
    check(
        "160",
        &["search", "cartridge"],
        "Kitchen tap  main/Kitchen tap.md:1  just now\n  \
           The kitchen tap takes cartridge 46374, and the shop at the harbour has it in stock until \
           the end of the year\n",
    );
    for columns in ["60", "80", "160"] {
        check(
            columns,
            &["list"],
            "TITLE        PLACE        TYPE  CHANGED\n\
             Kitchen tap  main/        note  just now\n\
             Boiler       main/house/  note  just now\n",
        );
    }
    check(
        "60",
        &["setup"],
        "not here: claude-code, claude-desktop, cursor, vscode,\n\
         codex, gemini, zed, windsurf, cline, goose, opencode,\n\
         lm-studio\n",
    );
}

#[test]
fn no_line_is_longer_than_the_width() {
    let home = vault();
    for columns in [60, 80, 160] {
        for args in [
            &["log"][..],
            &["list"],
            &["recent"],
            &["search", "cartridge"],
            &["project"],
            &["rules"],
            &["reminders"],
            &["import", "--list"],
            &["setup"],
            &["activity"],
        ] {
            let said = at(&home, &columns.to_string(), args);
            let long = said.lines().find(|line| line.width() > columns);
            assert_eq!(long, None, "{args:?} at {columns}");
        }
    }
}
