//! Outputs of commands at 60, 80 and 160 columns.

mod every_command;
mod narrow;
mod standard;
mod wide;

use super::support::{Home, Said};

/// Commands whose output is compared as a whole.
const COMPARED: [&[&str]; 19] = [
    &["status"],
    &["project"],
    &["list"],
    &["log"],
    &["search", "boiler warranty"],
    &["recall", "boiler warranty"],
    &["recall"],
    &["show", BOILER, "--info"],
    &["show", BOILER, "--graph"],
    &["blame", "Kitchen tap"],
    &["remember", "I like tea", "--scope", "person"],
    &["forget", "spaces or tabs"],
    &["rm", "Garden and the irrigation of the beans"],
    &["undo"],
    &["show", "Garden and the irrigation of the peas"],
    &["import", "--list"],
    &["setup"],
    &["setup", "gemini", "--yes"],
    &["doctor"],
];

const BOILER: &str = "Boiler warranty and maintenance contract";

/// A vault with long titles, deep folders and a project in a folder with a long path.
fn vault() -> Home {
    let home = Home::new();
    home.ok(&[
        "add",
        "The kitchen tap takes cartridge 46374, and the shop at the harbour has it in stock until \
         the end of the year",
        "--title",
        "Kitchen tap",
    ]);
    let boiler = r#"{"title": "Boiler warranty and maintenance contract",
        "directory": "house/heating/central-heating-system",
        "content": "The warranty of the boiler lapses in March 2031 if the yearly maintenance is not recorded.\n\n- [manual] The boiler is in https://example.org/manuals/of/the/heat-exchanger-of-the-boiler-2031.pdf\n- depends_on [[Kitchen tap]]\n- see_also [[A note with a rather long title]]"}"#;
    home.ok(&["tool", "write_note", boiler]);
    home.ok(&["add", "Beans", "--title", "Garden and the irrigation of the beans"]);
    home.ok(&[
        "remember",
        "I prefer tabs over spaces in every language but Python, where the formatter decides",
    ]);
    let folder = "Documents/Obsidian Vaults/Work Notes of the Infrastructure Team";
    std::fs::create_dir_all(home.path().join(folder)).unwrap();
    std::fs::write(home.path().join(folder).join("Runbook.md"), "Call the team.\n").unwrap();
    home.ok(&["project", "add", "work-notes", folder]);
    for client in [".cursor", ".gemini"] {
        std::fs::create_dir(home.path().join(client)).unwrap();
    }
    home
}

/// Runs a command at a width. The program is at a path of fixed length, as an installed one is.
fn run_at(home: &Home, columns: usize, args: &[&str]) -> Said {
    home.run_with(&[("COLUMNS", &columns.to_string())], args)
}

/// Runs the compared commands at a width. Returns what each printed, messages included.
fn transcript(columns: usize) -> String {
    let home = vault();
    let mut text = String::new();
    for args in COMPARED {
        let said = run_at(&home, columns, args);
        let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        text.push_str(&format!("$ memoranda {}\n", args.join(" ")));
        text.push_str(&format!("{}{}\n", said.out, said.err));
    }
    mask(&home, &text)
}

fn quoted(argument: &str) -> String {
    if argument.contains(' ') { format!("'{argument}'") } else { argument.to_owned() }
}

/// Replaces what differs from run to run by as many letters: ids, hashes, times and sizes.
fn mask(home: &Home, text: &str) -> String {
    let history = home.json(&["log", "-n", "1000"]);
    let commits = history["commits"].as_array().unwrap().iter();
    let files = commits.clone().flat_map(|commit| commit["files"].as_array().unwrap());
    let records = files.filter_map(|file| {
        let name = file["path"].as_str()?.rsplit('/').next()?.strip_suffix(".md")?;
        (file["project"] == "records").then_some(name)
    });
    let ids: Vec<&str> = commits.filter_map(|c| c["id"].as_str()).chain(records).collect();
    let mut masked = text.to_owned();
    for id in ids.iter().flat_map(|id| [*id, id.get(..8).unwrap_or(id)]) {
        masked = masked.replace(id, &"x".repeat(id.len()));
    }
    let is_hash = |word: &str| {
        matches!(word.len(), 8 | 16) && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_varying = |line: &str, word: &str| {
        is_hash(word)
            || ["created", "updated", "history"].iter().any(|name| line.starts_with(name))
                && word.bytes().any(|b| b.is_ascii_digit())
            || line.contains("relevance 0.")
                && word.len() == 2
                && word.bytes().all(|b| b.is_ascii_digit())
    };
    masked.split_inclusive('\n').map(|line| mask_words(line, &is_varying)).collect()
}

/// Replaces the words of a line that vary.
fn mask_words(line: &str, is_varying: &dyn Fn(&str, &str) -> bool) -> String {
    let is_part = |c: char| c.is_alphanumeric();
    let mut masked = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
        masked.push_str(before);
        masked.push_str(&if is_varying(line, word) {
            "x".repeat(word.len())
        } else {
            word.to_owned()
        });
        rest = after;
    }
    masked + rest
}
