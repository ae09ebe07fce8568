//! The token of `memoranda serve`: made once for a vault, kept from others, found by commands.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Http;
use crate::support::Home;

fn view() -> Value {
    json!({ "command": "view", "path": "/memories" })
}

fn status(http: &Http, authorization: &str) -> u16 {
    http.post("/api/tools/memory", &[("Authorization", authorization)], &view()).0
}

fn token_file(http: &Http) -> PathBuf {
    PathBuf::from(http.listening["token_file"].as_str().unwrap())
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_token_is_made_on_first_start_and_kept() {
    let home = Home::bare();
    let http = Http::start(&home, &[], &[]);
    let file = token_file(&http);
    assert!(file.starts_with(home.path().join(".local/state/memoranda")), "{file:?}");
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let digits = token.strip_prefix("memoranda_").unwrap();
    assert!(digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{token}");
    #[cfg(unix)]
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(!http.listening.to_string().contains(digits), "the token is never printed");

    assert_eq!(status(&http, &format!("Bearer {token}")), 200);
    for wrong in ["", "Bearer", &format!("Bearer {digits}"), &format!("Basic {token}")] {
        assert_eq!(status(&http, wrong), 401, "{wrong:?}");
    }
    let (_, refused) = http.post("/mcp", &[("Authorization", "")], &view());
    let message = refused["error"].as_str().unwrap();
    assert!(message.contains(file.to_str().unwrap()), "{message}");

    assert_eq!(home.ok(&["token"]).trim(), token);
    let printed = home.json(&["token"]);
    assert_eq!(printed["token"], token.as_str());
    assert_eq!(printed["file"].as_str(), file.to_str());
    drop(http);
    let again = Http::start(&home, &[], &[]);
    assert_eq!(token_file(&again), file);
    assert_eq!(status(&again, &format!("Bearer {token}")), 200);
    // One that was deleted is replaced when the server starts again.
    std::fs::remove_file(&file).unwrap();
    assert_ne!(home.ok(&["token"]).trim(), token);
}

#[test]
fn two_vaults_have_two_tokens_and_two_ways_to_one_vault_have_one() {
    let home = Home::new();
    let first = home.ok(&["token"]);
    home.ok(&["--home", "other", "init"]);
    let second = home.ok(&["--home", "other", "token"]);
    assert_ne!(first, second);
    let http = Http::start(&home, &["--home", "other"], &[]);
    assert_eq!(status(&http, &format!("Bearer {}", second.trim())), 200);
    assert_eq!(status(&http, &format!("Bearer {}", first.trim())), 401);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("memoranda", home.path().join("link")).unwrap();
        assert_eq!(home.ok(&["--home", "link", "token"]), first);
        assert_eq!(home.ok(&["--home", "other/../memoranda", "token"]), first);
    }
}

#[test]
fn first_starts_at_once_agree_on_one_token() {
    let home = Home::new();
    let ask = || {
        let mut command = home.command(&["token"]);
        command.stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let asked: Vec<_> = (0..8).map(|_| ask()).collect();
    let mut printed: Vec<String> = asked
        .into_iter()
        .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    printed.dedup();
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert!(printed[0].starts_with("memoranda_"));
}

#[test]
fn no_token_is_explicit_and_for_this_machine_alone() {
    let home = Home::new();
    let http = Http::start(&home, &["--no-token"], &[]);
    assert_eq!(http.listening["token"], json!(false));
    assert_eq!(http.listening["token_file"], Value::Null);
    assert_eq!(status(&http, ""), 200);
    assert_eq!(http.post("/mcp", &[("Origin", "http://localhost:3000")], &view()).0, 403);
    // The file exists for the sessions of the page, and only its owner can read it.
    let state = home.path().join(".local/state/memoranda");
    let made = std::fs::read_dir(state).unwrap().flatten().map(|entry| entry.path());
    for file in made.map(|path| path.join("http-token")).filter(|file| file.exists()) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    home.fails(&["serve", "--no-token", "--token-file", "x"], 2, &["--no-token"]);
    // A server that others can reach always has a token.
    let wide = Http::spawn(home.command(&["serve", "--bind", "0.0.0.0:0", "--json"]));
    assert_eq!(wide.listening["token"], json!(true));
    assert_eq!(status(&wide, ""), 401);
    assert_eq!(wide.post("/api/tools/memory", &[], &view()).0, 200);
}

#[test]
fn a_token_file_that_is_broken_or_open_to_others_is_named() {
    let home = Home::new();
    let bare = Home::bare();
    bare.fails(&["token"], 3, &["there is no vault", "hint:"]);
    home.ok(&["token"]);
    let file = home.json(&["token"])["file"].as_str().unwrap().to_owned();
    std::fs::write(&file, "\n").unwrap();
    for command in [&["serve"][..], &["token"]] {
        home.fails(command, 3, &["16 or more", &file, "hint:"]);
    }
    std::fs::write(&file, "correct-horse-battery-staple\n").unwrap();
    assert_eq!(home.ok(&["token"]), "correct-horse-battery-staple\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let said = home.run(&["token"]);
        assert!(said.err.contains("others can read the token"), "{said:?}");
    }
    let printed = home.run_with(&[("MEMORANDA_TOKEN", "from-the-environment")], &["token"]);
    assert_eq!(printed.out, "from-the-environment\n");
}

#[test]
fn origins_are_allowed_by_flag_variable_and_setting() {
    let home = Home::new();
    let (app, other) = ("https://app.example:8443", "https://other.example");
    let is_allowed = |http: &Http, origin: &str| {
        let headers = [("Origin", origin), ("Sec-Fetch-Site", "cross-site")];
        http.post("/api/tools/memory", &headers, &view()).0 == 200
    };
    let flags: &[&str] = &["--allow-origin", app, "--allow-origin", other];
    let both = Http::start(&home, flags, &[]);
    assert!(is_allowed(&both, app) && is_allowed(&both, other));
    let variable = [("MEMORANDA_ALLOW_ORIGINS", app)];
    let by_variable = Http::start(&home, &[], &variable);
    assert!(is_allowed(&by_variable, app) && !is_allowed(&by_variable, other));
    let by_flag = Http::start(&home, &["--allow-origin", other], &variable);
    assert!(!is_allowed(&by_flag, app) && is_allowed(&by_flag, other));
    home.ok(&["config", "set", "serve.allow_origins", &format!("{app}, {other}")]);
    let by_setting = Http::start(&home, &[], &[]);
    assert!(is_allowed(&by_setting, app) && is_allowed(&by_setting, other));
    assert!(!is_allowed(&by_setting, "https://app.example"));
    home.ok(&["config", "set", "serve.allow_hosts", "notes.example"]);
    let by_host = Http::start(&home, &[], &[]);
    assert_eq!(by_host.post("/api/tools/memory", &[("Host", "notes.example")], &view()).0, 200);
    let bare = Home::bare();
    for origin in ["*", "null", "notes.example"] {
        bare.fails(&["serve", "--allow-origin", origin], 3, &["is not an origin", "hint:"]);
    }
    assert!(!bare.file("main").exists(), "refused before a vault is made");
}

/// With few file descriptors, connections that send nothing must not shut the owner out.
#[cfg(unix)]
#[test]
fn half_requests_shut_nobody_out_with_few_descriptors() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_memoranda");
    let mut command = home.command(&[]);
    let limited = format!("ulimit -n 128; exec {program} serve --bind 127.0.0.1:0 --json");
    let environment: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = Command::new("sh");
    command.args(["-c", &limited]).env_clear().envs(environment).current_dir(home.path());
    let http = Http::spawn(command);
    let half: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(&http.address).unwrap();
            // One that was closed already may refuse it.
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").ok();
            stream
        })
        .collect();
    let started = std::time::Instant::now();
    for _ in 0..20 {
        assert_eq!(http.post("/api/tools/memory", &[], &view()).0, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // The oldest was closed before its time for a head was over.
    let mut oldest = &half[0];
    oldest.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    match oldest.read(&mut [0; 16]) {
        Ok(length) => assert_eq!(length, 0),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}
