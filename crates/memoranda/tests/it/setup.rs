//! Connecting clients: their real files, with comments and odd formatting, before and after.

use std::path::{Path, PathBuf};

use super::support::Home;

/// Every client, where its file lies here, and the fixture that stands for it.
const CLIENTS: [(&str, &str, &str); 12] = [
    ("claude-code", ".claude.json", "claude-code.json"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "claude-desktop.json"),
    ("cursor", ".cursor/mcp.json", "cursor.json"),
    ("vscode", ".config/Code/User/mcp.json", "vscode.json"),
    ("codex", ".codex/config.toml", "codex.toml"),
    ("gemini", ".gemini/settings.json", "gemini.json"),
    ("zed", ".config/zed/settings.json", "zed.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "windsurf.json"),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", "cline.json"),
    ("goose", ".config/goose/config.yaml", "goose.yaml"),
    ("opencode", ".config/opencode/opencode.json", "opencode.json"),
    ("lm-studio", ".lmstudio/mcp.json", "lm-studio.json"),
];

/// Files of hooks that exist already.
const HOOKS: [(&str, &str); 3] = [
    (".claude/settings.json", "claude-settings.json"),
    (".cursor/hooks.json", "cursor-hooks.json"),
    (".codex/hooks.json", "codex-hooks.json"),
];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/setup");
    std::fs::read(folder.join(name)).unwrap()
}

fn put(home: &Home, place: &str, bytes: &[u8]) -> PathBuf {
    let path = home.path().join(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Every file below a folder, with its bytes.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push((path.clone(), std::fs::read(&path).unwrap()))
            }
        }
    }
    files.sort();
    files
}

/// Returns true if the second text differs from the first by insertions only.
fn only_grew(before: &[u8], after: &[u8]) -> bool {
    let mut rest = after.iter();
    before.iter().all(|byte| rest.any(|other| other == byte))
}

#[cfg(target_os = "linux")]
#[test]
fn every_client_is_connected_and_left_without_a_trace() {
    let home = Home::bare();
    for (_, place, name) in CLIENTS {
        put(&home, place, &fixture(name));
    }
    for (place, name) in HOOKS {
        put(&home, place, &fixture(name));
    }
    let before = tree(home.path());
    home.ok(&["setup", "--yes", "--hooks"]);
    let connected = tree(home.path());
    for (client, place, name) in CLIENTS {
        let (old, new) = (fixture(name), std::fs::read(home.path().join(place)).unwrap());
        let old = String::from_utf8(old).unwrap();
        let new = String::from_utf8(new).unwrap();
        assert!(new.contains("memoranda"), "{client}: {new}");
        assert!(only_grew(old.as_bytes(), new.as_bytes()), "{client}: {new}");
        assert_eq!(old.contains("\r\n"), new.contains("\r\n"), "{client}");
        let has_bare = |text: &str| text.replace("\r\n", "").contains('\n');
        assert_eq!(has_bare(&old), has_bare(&new), "{client}");
        assert_eq!(old.starts_with('\u{feff}'), new.starts_with('\u{feff}'), "{client}");
        let backup = home.path().join(format!("{place}.memoranda-backup"));
        assert_eq!(std::fs::read(backup).unwrap(), fixture(name), "{client}");
    }
    let again = home.run(&["setup", "--yes", "--hooks"]);
    assert!(again.err.contains("Nothing to do."), "{again:?}");
    assert_eq!(tree(home.path()), connected, "doing it again changes nothing");
    let table = home.json(&["setup"]);
    for row in table["clients"].as_array().unwrap() {
        assert_eq!(row["server"], "current", "{row}");
        assert_ne!(row["hooks"], "absent", "{row}");
        assert_eq!(row["action"], "none", "{row}");
    }
    home.ok(&["setup", "--remove", "--yes"]);
    assert_eq!(tree(home.path()), before, "every byte is as it was");
    assert!(!home.path().join(".copilot").exists(), "and the folders that were made are gone");
}

/// The entry of a server in each client's file: the key of the address, that of the headers, and the
/// set of tools.
const REMOTE: [(&str, &str, &str, &str); 11] = [
    ("claude-code", "url", "headers", "recommended"),
    ("cursor", "url", "headers", "recommended"),
    ("vscode", "url", "headers", "core"),
    ("codex", "url", "http_headers", "recommended"),
    ("gemini", "httpUrl", "headers", "core"),
    ("zed", "url", "headers", "core"),
    ("windsurf", "serverUrl", "headers", "core"),
    ("cline", "url", "headers", "core"),
    ("goose", "uri", "headers", "core"),
    ("opencode", "url", "headers", "core"),
    ("lm-studio", "url", "headers", "core"),
];

#[cfg(target_os = "linux")]
#[test]
fn every_client_is_connected_to_a_server_and_left_without_a_trace() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::bare();
    for (_, place, name) in CLIENTS {
        put(&home, place, &fixture(name));
    }
    let secret = "mem_pat_AbCdEf0123456789AbCdEf0123456789AbCdEf01";
    let token = put(&home, ".acme-token", secret.as_bytes());
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let before = tree(home.path());
    // A shown change contains no secret.
    let shown = home.ok(&[
        "setup",
        "cursor",
        "--url",
        "https://team.example",
        "--token-file",
        ".acme-token",
        "--dry-run",
    ]);
    assert!(shown.contains("https://team.example/t/mcp/x/recommended"), "{shown}");
    assert!(shown.contains("Bearer …") && !shown.contains(secret), "{shown}");
    assert_eq!(tree(home.path()), before, "nothing was written");
    for (flags, path, is_secret) in [
        (&["--token-file", ".acme-token", "--hooks"][..], "/t/mcp/x/", true),
        (&["--token-file", ".acme-token", "--space", "acme"], "/t/mcp/x/", true),
        (&[], "/mcp/x/", false),
    ] {
        if !is_secret {
            // Installed hooks would go on without a token.
            let args = ["setup", "claude-code", "--url", "https://team.example", "--yes"];
            home.fails(&args, 2, &["need a file with a token", "--remove"]);
            home.ok(&["setup", "--remove", "--yes"]);
        }
        for (client, address, headers, tools) in REMOTE {
            if client == "lm-studio" && !is_secret {
                continue;
            }
            let args = ["setup", client, "--url", "https://team.example/mcp", "--yes"];
            home.ok(&[&args, flags].concat());
            let (_, place, name) = CLIENTS.iter().find(|row| row.0 == client).unwrap();
            let text = std::fs::read_to_string(home.path().join(place)).unwrap();
            assert!(only_grew(&fixture(name), text.as_bytes()), "{client}: {text}");
            let url = format!("https://team.example{path}{tools}");
            assert!(text.contains(address) && text.contains(&url), "{client}: {text}");
            assert_eq!(text.contains(secret), is_secret, "{client}: {text}");
            assert!(!is_secret || text.contains(headers), "{client}: {text}");
            assert_eq!(text.contains("Memoranda-Space"), flags.contains(&"--space"), "{client}");
        }
        let hooks = std::fs::read_to_string(home.path().join(".claude/settings.json")).ok();
        if flags.contains(&"--hooks") {
            let hooks = hooks.unwrap();
            let file = token.display();
            let flags = format!("--server https://team.example --token-file {file}");
            assert!(hooks.contains(&flags) && !hooks.contains(secret), "{hooks}");
        }
        let table = home.json(&[&["setup", "--url", "https://team.example"], flags].concat());
        for row in table["clients"].as_array().unwrap() {
            let is_wired =
                !["claude-desktop", "lm-studio"].contains(&row["name"].as_str().unwrap());
            assert!(!is_wired || row["server"] == "current", "{row}");
        }
    }
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("connects to https://team.example/mcp/x/core"), "{doctor:?}");
    home.ok(&["setup", "--remove", "--yes"]);
    assert_eq!(tree(home.path()), before, "every byte is as it was");
}

#[test]
fn a_server_is_refused_where_it_cannot_be_used() {
    let home = Home::bare();
    put(&home, ".token", b"mem_pat_AbCdEf0123456789AbCdEf0123456789AbCdEf01");
    let url = ["--url", "https://team.example", "--yes"];
    let before = tree(home.path());
    for (args, code, words) in [
        (&["setup", "cursor", "--url", "http://team.example"][..], 2, "in the open"),
        (&["setup", "cursor", "--url", "team.example/mcp"], 2, "does not begin with https://"),
        (&["setup", "cursor", "--url", "https://team.example/x"], 2, "a host and a port"),
        (&["setup", "cursor", "--token-file", ".token"], 2, "--url"),
        (&["setup", "cursor", "--remove", "--url", "https://team.example"], 2, "--url"),
    ] {
        home.fails(args, code, &[words]);
    }
    for (args, words) in [
        (&["setup", "claude-desktop"][..], "Settings, Connectors, https://team.example/mcp"),
        (&["setup", "lm-studio"], "needs a token"),
        (&["setup", "claude-code", "--hooks"], "need a file with a token"),
        (&["setup", "cursor", "--token-file", ".token", "--scope", "project"], "is shared"),
    ] {
        home.fails(&[args, &url].concat(), 2, &[words]);
    }
    // A variable is for the commands that call a server; it may hold the token of another one.
    let variable = [("MEMORANDA_TOKEN", "mem_pat_AbCdEf0123456789AbCdEf0123456789AbCdEf01")];
    let said = home.run_with(&variable, &["setup", "lm-studio", "--url", "https://team.example"]);
    assert!(said.code == 2 && said.err.contains("needs a token"), "{said:?}");
    home.fails(
        &["setup", "cursor", "--url", "https://team.example", "--token-file", "none"],
        3,
        &["there is no token file"],
    );
    assert_eq!(tree(home.path()), before, "nothing was written");
}

#[cfg(unix)]
#[test]
fn a_new_file_with_a_token_is_for_its_person_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::bare();
    put(&home, ".token", b"mem_pat_AbCdEf0123456789AbCdEf0123456789AbCdEf01");
    let args = ["--url", "https://team.example", "--token-file", ".token", "--yes"];
    home.ok(&[&["setup", "cursor"], &args[..]].concat());
    let mode = |place: &str| {
        std::fs::metadata(home.path().join(place)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(".cursor/mcp.json"), 0o600);
    let codex = put(&home, ".codex/config.toml", b"model = \"x\"\n");
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = home.run(&[&["setup", "codex"], &args[..]].concat());
    assert!(said.err.contains("chmod 600"), "{said:?}");
    assert_eq!(mode(".codex/config.toml"), 0o644, "the person's own choice stays");
}

#[test]
fn the_file_of_a_project_names_its_repository_to_the_server() {
    let home = Home::bare();
    put(&home, "shop/.git/config", b"[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n");
    put(&home, "shop/.git/HEAD", b"ref: refs/heads/main\n");
    let mut command = home.command(&[
        "setup",
        "claude-code",
        "--scope",
        "project",
        "--url",
        "https://team.example",
        "--yes",
    ]);
    let done = command.current_dir(home.path().join("shop")).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let text = std::fs::read_to_string(home.path().join("shop/.mcp.json")).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        entry["mcpServers"]["memoranda"],
        serde_json::json!({
            "type": "http",
            "url": "https://team.example/mcp/x/recommended",
            "headers": { "X-Memoranda-Repository": "github.com/acme/shop" },
        })
    );
}

#[cfg(target_os = "linux")]
#[test]
fn what_others_wrote_meanwhile_stays() {
    let home = Home::bare();
    for (_, place, name) in CLIENTS {
        put(&home, place, &fixture(name));
    }
    home.ok(&["setup", "--yes", "--hooks"]);
    // The person adds a line at the end of what is theirs.
    for (client, old, new) in [
        ("cursor", "// the browser", "// the browser, and more"),
        ("codex", "[profiles.fast]", "[profiles.slow]"),
        ("goose", "smart_approve", "auto"),
        ("claude-code", "\"numStartups\": 42", "\"numStartups\": 43"),
    ] {
        let (_, place, name) = CLIENTS.iter().find(|row| row.0 == client).unwrap();
        let path = home.path().join(place);
        let text = std::fs::read_to_string(&path).unwrap().replace(old, new);
        std::fs::write(&path, text).unwrap();
        home.ok(&["setup", client, "--remove", "--yes"]);
        let expected = String::from_utf8(fixture(name)).unwrap().replace(old, new);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{client}");
        assert!(!home.path().join(format!("{place}.memoranda-backup")).exists(), "{client}");
    }
}

#[test]
fn without_a_name_nothing_is_done() {
    let home = Home::bare();
    put(&home, ".cursor/mcp.json", &fixture("cursor.json"));
    let before = tree(home.path());
    let said = home.run(&["setup"]);
    assert_eq!(said.code, 0);
    let row = said.out.lines().find(|line| line.starts_with("cursor")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words, ["cursor", "no", "no", "connect", "~/.cursor/mcp.json"]);
    // Clients that are not here take one line.
    let absent = said.out.lines().find(|line| line.starts_with("not here: ")).unwrap();
    assert!(absent.contains("claude-code") && absent.contains("zed"), "{absent}");
    assert_eq!(said.out.lines().count(), 3, "{said:?}");
    assert!(said.err.contains("`memoranda setup cursor`"), "{said:?}");
    let dry = home.ok(&["setup", "cursor", "--dry-run", "--hooks"]);
    assert!(
        dry.contains("+\t\t\"memoranda\": {") && dry.contains("+++ ~/.cursor/hooks.json"),
        "{dry}"
    );
    home.fails(&["setup", "cursor"], 2, &["not done without a yes", "--yes"]);
    let printed = home.ok(&["setup", "cursor", "--print"]);
    let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(value["mcpServers"]["memoranda"]["args"][0], "mcp");
    assert_eq!(tree(home.path()), before);
}

#[test]
fn what_cannot_be_done_is_explained() {
    let home = Home::bare();
    put(&home, ".cursor/mcp.json", b"{\n  \"mcpServers\": {\n    oops\n  }\n}\n");
    put(&home, ".codex/config.toml", b"model = \n");
    let before = tree(home.path());
    home.fails(
        &["setup", "cursor", "-y"],
        3,
        &["~/.cursor/mcp.json was left alone: line 3", "hint:"],
    );
    home.fails(&["setup", "codex", "-y"], 3, &["~/.codex/config.toml was left alone: line 1"]);
    home.fails(&["setup", "emacs"], 2, &["no client \"emacs\"", "there are: claude-code"]);
    home.fails(
        &["setup", "windsurf", "--scope", "project", "-y"],
        2,
        &["no settings of a project"],
    );
    home.fails(&["setup", "zed", "--toolsets", "nope", "-y"], 2, &["no toolset \"nope\""]);
    assert_eq!(tree(home.path()), before);
    // One that is broken does not keep the others from being connected.
    put(&home, ".lmstudio/mcp.json", &fixture("lm-studio.json"));
    let said = home.run(&["setup", "--yes"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(home.path().join(".lmstudio/mcp.json.memoranda-backup").exists());
}

#[test]
fn what_cannot_be_read_is_not_connected() {
    let home = Home::bare();
    put(&home, ".codex/config.toml", b"model = \"\xff\"\n");
    let only = home.run(&["setup"]);
    assert!(!only.err.contains("connected."), "{only:?}");
    home.ok(&["setup", "lm-studio", "-y"]);
    let said = home.run(&["setup"]);
    assert!(said.err.contains("Every other client that is here is connected."), "{said:?}");
    assert!(said.err.contains("config.toml"), "{said:?}");
    home.fails(&["setup", "codex", "-y"], 3, &["config.toml", "memoranda setup --print CLIENT"]);
    std::fs::remove_file(home.path().join(".codex/config.toml")).unwrap();
    home.ok(&["setup", "codex", "-y"]);
    assert!(home.run(&["setup"]).err.contains("Every client that is here is connected."));
}

/// Every folder below another.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.push(path.clone());
                pending.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn only_folders_that_were_made_go_again() {
    let home = Home::bare();
    // Signs of clients that were started once, and have no file yet.
    for place in [".codex", ".gemini", ".cursor", ".lmstudio", ".config/goose", ".local/state"] {
        std::fs::create_dir_all(home.path().join(place)).unwrap();
    }
    let before = (folders(home.path()), tree(home.path()));
    let names: Vec<&str> = CLIENTS.iter().map(|(name, ..)| *name).collect();
    for flags in [&["-y"][..], &["-y", "--hooks"]] {
        for _ in 0..2 {
            home.ok(&[&["setup"], &names[..], flags].concat());
        }
        home.ok(&["setup", "--remove", "--yes"]);
        assert_eq!((folders(home.path()), tree(home.path())), before, "{flags:?}");
    }
}

#[test]
fn a_project_names_no_machine() {
    let home = Home::bare();
    home.ok(&["setup", "claude-code", "vscode", "--scope", "project", "--hooks", "-y"]);
    for file in
        [".mcp.json", ".vscode/mcp.json", ".claude/settings.json", ".github/hooks/memoranda.json"]
    {
        let text = std::fs::read_to_string(home.path().join(file)).unwrap();
        assert!(text.contains("\"memoranda"), "{file}: {text}");
        assert!(!text.contains(env!("CARGO_BIN_EXE_memoranda")), "{file}: {text}");
    }
    home.ok(&["setup", "--remove", "--scope", "project", "-y"]);
    assert_eq!(tree(home.path()), [], "files that were made are gone again");
}

#[test]
fn the_vault_that_was_named_is_the_one_that_is_served() {
    let home = Home::bare();
    home.ok(&["setup", "lm-studio", "-y", "--home", "elsewhere"]);
    let text = std::fs::read_to_string(home.path().join(".lmstudio/mcp.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let args = &value["mcpServers"]["memoranda"]["args"];
    let there = home.path().canonicalize().unwrap().join("elsewhere");
    let named = PathBuf::from(args[2].as_str().unwrap());
    assert_eq!(named.file_name(), there.file_name());
    assert!(named.is_absolute(), "{args}");
    assert_eq!(
        (&args[1], &args[3], &args[4]),
        (&"--home".into(), &"--toolsets".into(), &"core".into())
    );
    // The written command starts.
    let command = value["mcpServers"]["memoranda"]["command"].as_str().unwrap();
    assert!(Path::new(command).is_file(), "{command}");
}

#[cfg(unix)]
#[test]
fn rights_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::bare();
    let real = put(&home, "dotfiles/claude.json", &fixture("claude-code.json"));
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    let link = home.path().join(".claude.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    home.ok(&["setup", "claude-code", "-y"]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert!(link.is_symlink());
    assert_eq!(mode(&real), 0o600);
    assert_eq!(mode(&home.path().join(".claude.json.memoranda-backup")), 0o600);
    assert!(std::fs::read_to_string(&real).unwrap().contains("memoranda"));
}

#[test]
fn what_was_connected_twice_is_left_without_a_trace_too() {
    // With a file that was there, and with none.
    for is_there in [true, false] {
        let home = Home::bare();
        for (client, place, name) in CLIENTS {
            if is_there {
                put(&home, place, &fixture(name));
            }
            let before = tree(home.path());
            home.ok(&["setup", client, "-y", "--toolsets", "memory"]);
            home.ok(&["setup", client, "-y", "--toolsets", "notes", "--hooks"]);
            home.ok(&["setup", client, "-y"]);
            home.ok(&["setup", client, "-y", "--remove"]);
            assert_eq!(tree(home.path()), before, "{client}, {is_there}");
        }
    }
}

#[test]
fn files_of_next_to_nothing_come_back_as_they_were() {
    let texts = ["", "\n", "{}", "{ }\n", "\u{feff}{}\r\n", "{\"mcpServers\": {}}", "// mine\n{}"];
    let json = texts.map(|text| ("cursor", ".cursor/mcp.json", text));
    let toml =
        ["", "# mine\n", "[mcp_servers]\n"].map(|text| ("codex", ".codex/config.toml", text));
    let nothing = ["extensions:\n", "extensions: ~\n", "extensions: null # none\nA: b\n"];
    let yaml = ["", "# mine\n", "extensions: {}\n", "extensions: {a: {enabled: true}}\n"]
        .into_iter()
        .chain(nothing)
        .map(|text| ("goose", ".config/goose/config.yaml", text));
    for (client, place, text) in json.into_iter().chain(toml).chain(yaml) {
        let home = Home::bare();
        put(&home, place, text.as_bytes());
        let before = tree(home.path());
        home.ok(&["setup", client, "-y"]);
        home.ok(&["setup", client, "-y", "--toolsets", "notes"]);
        assert!(std::fs::read_to_string(home.path().join(place)).unwrap().contains("memoranda"));
        home.ok(&["setup", client, "-y", "--remove"]);
        assert_eq!(tree(home.path()), before, "{client}: {text:?}");
    }
}

#[test]
fn the_doctor_looks_at_clients_before_there_is_a_vault() {
    let home = Home::bare();
    home.ok(&["setup", "codex", "-y"]);
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.out,
        "note  there is no vault at ~/memoranda yet\n\
         ok    Codex starts this program (~/.codex/config.toml)\n"
    );
    assert!(said.err.contains("`memoranda init` makes it"), "{said:?}");
    assert!(!home.path().join("memoranda").exists(), "looking makes no vault");
    put(&home, ".cursor/mcp.json", b"{\"mcpServers\": {\"memoranda\": {\"command\": \"/gone\"}}}");
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("Cursor starts /gone, which is not there"), "{said:?}");
}

#[test]
fn what_is_left_to_the_person_is_said() {
    let trust = "Codex: start `codex` and trust the hooks when it asks (`/hooks`); until then they do \
                 not run";
    let home = Home::bare();
    put(&home, ".codex/hooks.json", b"{}");
    for (args, is_said) in [
        (&["setup", "codex", "-y"][..], false),
        (&["setup", "codex", "-y", "--hooks", "-n"], false),
        (&["setup", "codex", "-y", "--hooks"], true),
        // They are there already, and trusted or not.
        (&["setup", "codex", "-y", "--hooks", "--toolsets", "memory"], false),
        (&["setup", "codex", "-y", "--remove"], false),
        (&["setup", "claude-code", "-y", "--hooks"], false),
    ] {
        let said = home.run(args);
        assert_eq!((said.code, said.err.contains(trust)), (0, is_said), "{args:?}: {said:?}");
    }
    // Hooks of an earlier version are brought up to date, and must be trusted again.
    home.ok(&["setup", "codex", "-y", "--hooks"]);
    let path = home.path().join(".codex/hooks.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("|fork", "")).unwrap();
    let said = home.run(&["setup", "codex", "-y"]);
    assert!(said.err.contains(trust), "{said:?}");
    assert!(std::fs::read_to_string(&path).unwrap().contains("compact|fork"));
    let said = home.run(&["setup", "gemini", "-y"]);
    assert!(said.err.contains("`--allowed-mcp-server-names memoranda`"), "{said:?}");
}

#[test]
fn empty_objects_of_ones_own_stay_after_another_edit() {
    for (before, edited, after) in [
        (
            "{\n  \"a\": 1,\n  \"mcpServers\": {}\n}\n",
            ("\"a\": 1", "\"a\": 2"),
            "{\n  \"a\": 2,\n  \"mcpServers\": {}\n}\n",
        ),
        ("{\n  \"a\": 1\n}\n", ("\"a\": 1", "\"a\": 2"), "{\n  \"a\": 2\n}\n"),
    ] {
        let home = Home::bare();
        let path = put(&home, ".cursor/mcp.json", before.as_bytes());
        home.ok(&["setup", "cursor", "-y"]);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(edited.0, edited.1)).unwrap();
        home.ok(&["setup", "cursor", "-y", "--remove"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
    }
}

#[cfg(unix)]
#[test]
fn the_doctor_looks_at_what_clients_start() {
    let home = Home::new();
    let clients = |said: &str| {
        let report: serde_json::Value = serde_json::from_str(said).unwrap();
        let rows = report["clients"].as_array().unwrap().iter().map(|row| {
            let word = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
            [word("name"), word("part"), word("state")].join(" ")
        });
        rows.collect::<Vec<_>>()
    };
    assert_eq!(clients(&home.ok(&["doctor", "--json"])), [""; 0]);
    home.ok(&["setup", "cursor", "goose", "opencode", "codex", "-y", "--hooks"]);
    put(
        &home,
        ".gemini/settings.json",
        b"{\"mcpServers\": {\"memoranda\": {\"httpUrl\": \"http://x\"}}}",
    );
    put(&home, ".lmstudio/mcp.json", b"{\"mcpServers\": {\"fetch\": {\"command\": \"gone\"}}}");
    put(&home, ".config/zed/settings.json", b"{ oops }");
    let well = [
        "cursor server well",
        "cursor hooks well",
        "codex server well",
        "codex hooks untrusted",
        "gemini server address",
        "zed server unreadable",
        "goose server well",
        "opencode server well",
        "opencode hooks well",
    ];
    let said = home.run(&["doctor", "--json"]);
    assert_eq!((said.code, clients(&said.out)), (0, well.map(str::to_owned).to_vec()));
    let said = home.run(&["doctor"]);
    assert!(said.out.contains("Cursor starts this program (~/.cursor/mcp.json)"), "{said:?}");
    assert!(said.out.contains("settings.json of Zed cannot be read: line 1"), "{said:?}");
    assert!(said.out.contains("note  Codex has the hooks, but has not noted that you"), "{said:?}");
    assert!(said.err.contains("hint: Codex: start `codex` and trust the hooks"), "{said:?}");

    // As Codex writes it down; every hook must be there.
    let settings = home.path().join(".codex/config.toml");
    let mut text = std::fs::read_to_string(&settings).unwrap();
    let events = ["pre_compact", "post_compact", "session_start", "session_end", "stop"];
    for event in events {
        assert!(home.run(&["doctor"]).out.contains("has not noted that you trust"), "{event}");
        let hooks = home.path().join(".codex/hooks.json");
        let key = format!("{}:{event}:0:0", hooks.display());
        text.push_str(&format!("\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:0\"\n"));
        std::fs::write(&settings, &text).unwrap();
    }
    let said = home.run(&["doctor"]);
    assert!(said.out.contains("Codex, for hooks, starts this program"), "{said:?}");

    let change = |place: &str, to: &str| {
        let path = home.path().join(place);
        let text = std::fs::read_to_string(&path).unwrap();
        // The folder of the build may be a link.
        let program = Path::new(env!("CARGO_BIN_EXE_memoranda"));
        let real = program.canonicalize().unwrap();
        let names = [program.to_str().unwrap(), real.to_str().unwrap()];
        let text = names.iter().fold(text, |text, name| text.replace(name, to));
        std::fs::write(path, text).unwrap();
    };
    change(".cursor/mcp.json", "/bin/sh");
    change(".cursor/hooks.json", "/old/memoranda");
    change(".config/goose/config.yaml", "memoranda-that-is-on-no-path");
    let said = home.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    for words in [
        "Cursor starts another program: /bin/sh (~/.cursor/mcp.json)",
        "FAIL  clients cannot start Memoranda:",
        "Cursor, for hooks, starts /old/memoranda, which is not there (~/.cursor/hooks.json)",
        "Goose starts memoranda-that-is-on-no-path, which is not there",
    ] {
        assert!(said.out.contains(words), "{words}: {said:?}");
    }
    assert!(said.err.contains("`memoranda setup goose` repairs it"), "{said:?}");
    home.ok(&["setup", "goose", "cursor", "-y", "--hooks"]);
    home.ok(&["doctor"]);
}

#[cfg(unix)]
#[test]
fn a_program_in_a_temporary_folder_is_warned_about() {
    let home = Home::new();
    let binary = home.file(".npm/_npx/a1b7/node_modules/@memoranda/linux-x64/bin/memoranda");
    std::fs::create_dir_all(binary.parent().unwrap()).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_memoranda"), &binary).unwrap();
    let run = |program: &Path, arguments: &[&str]| {
        let command = home.command(arguments);
        let mut other = std::process::Command::new(program);
        other.env_clear().args(arguments).current_dir(home.path());
        other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        crate::support::said(other.output().unwrap())
    };
    let said = run(&binary, &["setup", "cursor", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = "warning: clients cannot start this program after npx deletes it\n\
                    hint: install it first: `npm install --global memoranda`\n";
    assert!(said.err.starts_with(expected), "{said:?}");
    let said = run(&binary, &["setup", "cursor", "--remove", "--yes"]);
    assert!(!said.err.contains("npx"), "{said:?}");
    let installed = Path::new(env!("CARGO_BIN_EXE_memoranda"));
    let said = run(installed, &["setup", "cursor", "--yes"]);
    assert!(!said.err.contains("npx"), "{said:?}");
}

#[test]
fn an_empty_file_of_somebody_else_stays() {
    let home = Home::bare();
    let file = home.path().join(".cursor/mcp.json");
    std::fs::create_dir(home.path().join(".cursor")).unwrap();
    std::fs::write(home.path().join(".claude.json"), "{}").unwrap();
    std::fs::write(&file, "{}").unwrap();
    home.ok(&["setup", "claude-code", "--yes"]);
    home.ok(&["setup", "--remove", "--yes"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
}
