//! `cargo xtask bench team`: a team server on a real PostgreSQL, over HTTP on loopback, compared with
//! a server of one vault that has the same notes.
//!
//!   cargo xtask bench team --sizes 1000,10000
//!   cargo xtask bench team --sizes 1000 --binary target/debug/memoranda
//!   cargo xtask bench team --sizes 1000 --copies 1000    a million notes in 1,001 spaces

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::vault::query_mix;

use super::options::{self, BenchEffort};
use super::report::{number, time};
use super::samples::TimeSamples;
use super::team_copies;
use super::team_database::BenchDatabase;
use super::tools::{ProcessUse, load};
use super::{ScratchFolder, executable, rerun_optimised, target_folder};
use crate::{Result, workspace};

/// Sizes of the spaces unless others are given.
const SIZES: &str = "--sizes=1000,10000";
/// Number of writers that write side by side.
const WRITERS: usize = 8;
/// Number of servers with an empty cache that are started for each kind of first answer.
const COLD_SERVERS: usize = 5;
/// Number of commits by which the raw limit is measured.
const RAW_COMMITS: usize = 300;

/// Measurements of one server with one number of notes.
#[derive(Default)]
struct ServerSamples {
    search: TimeSamples,
    write: TimeSamples,
    /// CPU time of the server and of the database for a search, in milliseconds.
    search_cpu_ms: (f64, f64),
    /// CPU time of the server and of the database for a write, in milliseconds.
    write_cpu_ms: (f64, f64),
    /// Writes a second of several writers in one space.
    writes_per_second: f64,
}

/// First answers of servers that start with an empty cache, and their CPU time up to then.
#[derive(Default)]
struct ColdSamples {
    first_search: TimeSamples,
    search_cpu_ms: f64,
    first_note: TimeSamples,
    note_cpu_ms: f64,
}

/// Measures, and prints a section to paste into `docs/scale.md`.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let (binary, rest) = split_option(arguments, "--binary");
    let (copies, mut rest) = split_option(&rest, "--copies");
    let copies = copies.map_or(Ok(0), |copies| copies.parse())?;
    if !rest.iter().any(|argument| argument.starts_with("--sizes") || argument == "--quick") {
        rest.push(SIZES.to_owned());
    }
    let options = options::parse(&rest)?;
    let root = workspace::root()?;
    let binary = match binary {
        Some(binary) => std::path::absolute(binary)?,
        None if cfg!(debug_assertions) => return rerun_optimised("team", arguments),
        None => {
            let build = ["build", "--release", "--quiet", "--package", "memoranda"];
            let features = ["--features", "postgres"];
            workspace::status(workspace::cargo(&root).args(build).args(features))?;
            target_folder(&root).join("release").join(executable("memoranda"))
        }
    };
    let scratch = ScratchFolder::new(
        std::env::temp_dir().join(format!("memoranda-bench-team-{}", std::process::id())),
    )?;
    let bench = TeamBench { binary, scratch: scratch.0.clone(), effort: options.effort, copies };
    for notes in options.sizes {
        println!("{}", bench.measure(notes)?);
    }
    Ok(())
}

/// Takes an option with its value out of the arguments.
fn split_option(arguments: &[String], name: &str) -> (Option<String>, Vec<String>) {
    let mut rest = Vec::new();
    let mut found = None;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix(name) {
            Some("") => found = arguments.next().cloned(),
            Some(value) => found = Some(value.trim_start_matches('=').to_owned()),
            None => rest.push(argument.clone()),
        }
    }
    (found, rest)
}

struct TeamBench {
    binary: PathBuf,
    scratch: PathBuf,
    effort: BenchEffort,
    /// Number of further spaces with the same notes.
    copies: usize,
}

impl TeamBench {
    fn measure(&self, notes: usize) -> Result<String> {
        let home = self.scratch.join(format!("vault{notes}"));
        xtask::vault::write(&home.join("main"), notes)?;
        let database = BenchDatabase::start(&self.scratch.join(format!("database{notes}")))?;
        let raw_commit = database.raw_commit(RAW_COMMITS)?;
        self.command("local", &["--home", path(&home), "init"]).output()?;
        // Before the writes of the local server, so that both begin with the same notes.
        let secret = self.fill_space(&database, &home)?;
        let local = {
            let token = self.scratch.join("token");
            std::fs::write(&token, "bench-token-0123456789abcdef0123456789abcdef")?;
            let flags = ["--home", path(&home), "serve", "--token-file", path(&token)];
            let server = HttpServer::start(self.command("local", &flags))?;
            let own = std::fs::read_to_string(&token)?;
            self.measure_server(&server, &own, notes, None)?
        };
        let loaded = database.sql("bench", "select pg_size_pretty(pg_database_size('bench'))")?;
        let team = {
            let server = HttpServer::start(self.team_command("warm", &database))?;
            self.measure_server(&server, &secret, notes, Some(&database))?
        };
        let cold = self.measure_cold(&database, &secret)?;
        let mut report =
            self.report(notes, &database, raw_commit, (&local, &team), &cold, &loaded)?;
        if self.copies > 0 {
            report.push_str(&self.measure_among_copies(&database, &secret, notes)?);
        }
        Ok(report)
    }

    /// Measures the same server again after many other spaces were filled.
    fn measure_among_copies(
        &self,
        database: &BenchDatabase,
        secret: &str,
        notes: usize,
    ) -> Result<String> {
        let started = Instant::now();
        let size = team_copies::copy_space(database, "bench", self.copies)?;
        let copied = started.elapsed();
        let server = HttpServer::start(self.team_command("warm", database))?;
        let among = self.measure_server(&server, secret, notes, Some(database))?;
        Ok(format!(
            "\nAmong {} further spaces of the same notes (database of {size}, copied in {}; load {}): \
             search {} / {}, CPU a search {:.2} + {:.2} ms, write {} / {}, 8 writers {:.0} a second.\n",
            number(self.copies),
            time(copied),
            load(),
            time(among.search.p50()),
            time(among.search.p95()),
            among.search_cpu_ms.0,
            among.search_cpu_ms.1,
            time(among.write.p50()),
            time(among.write.p95()),
            among.writes_per_second,
        ))
    }

    /// Makes the tables, an account, and a space with the notes of a vault. Returns a token.
    fn fill_space(&self, database: &BenchDatabase, home: &Path) -> Result<String> {
        let address = database.address();
        let admin = |args: &[&str]| -> Result<Value> {
            let flags = ["admin", "--database", &address, "--json"];
            let done = self.command("admin", &[&flags, args].concat()).output()?;
            if !done.status.success() {
                return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
            }
            Ok(serde_json::from_slice(&done.stdout).unwrap_or_default())
        };
        admin(&["migrate"])?;
        admin(&["account", "add", "anna"])?;
        admin(&["space", "add", "bench", "--owner", "anna"])?;
        admin(&["space", "import", "bench", "--home", path(home)])?;
        let made = admin(&["token", "add", "anna", "bench", "--space", "bench"])?;
        Ok(made["token"].as_str().ok_or("no token was made")?.to_owned())
    }

    fn measure_server(
        &self,
        server: &HttpServer,
        secret: &str,
        notes: usize,
        database: Option<&BenchDatabase>,
    ) -> Result<ServerSamples> {
        let mut samples = ServerSamples::default();
        let mut client = server.client(secret)?;
        let queries = query_mix(notes);
        // The first search builds the index.
        client.call("search_notes", &json!({ "query": "first" }))?;
        if let Some(database) = database {
            // What is measured next would wait for the same processors.
            Self::await_image(database)?;
        }
        let cpu = || {
            (ProcessUse::of(server.child.id()).cpu_ms, database.map_or(0.0, BenchDatabase::cpu_ms))
        };
        let per = |before: (f64, f64), after: (f64, f64), calls: usize| {
            ((after.0 - before.0) / calls as f64, (after.1 - before.1) / calls as f64)
        };
        for query in &queries {
            client.call("search_notes", &json!({ "query": query.typed_text() }))?;
        }
        let (before, mut calls) = (cpu(), 0);
        for query in (0..self.effort.rounds()).flat_map(|_| &queries) {
            let arguments = json!({ "query": query.typed_text() });
            samples.search.time(|| client.call("search_notes", &arguments))?;
            calls += 1;
        }
        samples.search_cpu_ms = per(before, cpu(), calls);
        let (before, calls) = (cpu(), self.effort.repetitions());
        for serial in 0..calls {
            let note = written_note("alone", serial);
            samples.write.time(|| client.call("write_note", &note))?;
        }
        samples.write_cpu_ms = per(before, cpu(), calls);
        let each = self.effort.repetitions() / 2;
        let started = Instant::now();
        let outcomes: Vec<std::result::Result<(), String>> = std::thread::scope(|scope| {
            let write = |writer: usize| -> std::result::Result<(), String> {
                let mut client = server.client(secret).map_err(|error| error.to_string())?;
                for serial in 0..each {
                    let note = written_note(&format!("writer{writer}"), serial);
                    client.call("write_note", &note).map_err(|error| error.to_string())?;
                }
                Ok(())
            };
            let writers: Vec<_> =
                (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
            let ended =
                |writer: std::thread::ScopedJoinHandle<'_, std::result::Result<(), String>>| {
                    writer.join().unwrap_or_else(|_| Err("a writer broke down".to_owned()))
                };
            writers.into_iter().map(ended).collect()
        });
        outcomes.into_iter().collect::<std::result::Result<Vec<()>, String>>()?;
        samples.writes_per_second = (WRITERS * each) as f64 / started.elapsed().as_secs_f64();
        Ok(samples)
    }

    /// Waits until the server has left an image of its index; not long, since a small space has none.
    fn await_image(database: &BenchDatabase) -> Result<()> {
        const PATIENCE: Duration = Duration::from_secs(20);
        let started = Instant::now();
        let count = "select count(*) from memoranda.images where parts > 0";
        while database.sql("bench", count)? == "0" && started.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Measures servers whose cache is empty: a search, and on other servers a note by its name.
    fn measure_cold(&self, database: &BenchDatabase, secret: &str) -> Result<ColdSamples> {
        let mut cold = ColdSamples::default();
        let search = ("search_notes", json!({ "query": "alone" }));
        let note = ("read_note", json!({ "identifier": "Note alone 1" }));
        let mut serial = 0;
        let mut first = |(tool, arguments): &(&str, Value), samples: &mut TimeSamples| {
            serial += 1;
            let cache = format!("cold{serial}");
            let server = HttpServer::start(self.team_command(&cache, database))?;
            let mut client = server.client(secret)?;
            let before = ProcessUse::of(server.child.id()).cpu_ms;
            samples.time(|| client.call(tool, arguments))?;
            let cpu_ms = ProcessUse::of(server.child.id()).cpu_ms - before;
            drop(server);
            std::fs::remove_dir_all(self.scratch.join(cache))?;
            Result::Ok(cpu_ms)
        };
        for _ in 0..COLD_SERVERS {
            cold.search_cpu_ms += first(&search, &mut cold.first_search)? / COLD_SERVERS as f64;
            cold.note_cpu_ms += first(&note, &mut cold.first_note)? / COLD_SERVERS as f64;
        }
        Ok(cold)
    }

    fn report(
        &self,
        notes: usize,
        database: &BenchDatabase,
        raw_commit: Duration,
        (local, team): (&ServerSamples, &ServerSamples),
        cold: &ColdSamples,
        loaded: &str,
    ) -> Result<String> {
        let both =
            |samples: &TimeSamples| format!("{} / {}", time(samples.p50()), time(samples.p95()));
        let milliseconds = |value: f64| format!("{value:.2} ms");
        let rows = [
            ("search, p50 / p95", both(&local.search), both(&team.search)),
            (
                "CPU a search: server, database",
                milliseconds(local.search_cpu_ms.0),
                format!(
                    "{}, {}",
                    milliseconds(team.search_cpu_ms.0),
                    milliseconds(team.search_cpu_ms.1)
                ),
            ),
            ("write, p50 / p95", both(&local.write), both(&team.write)),
            (
                "CPU a write: server, database",
                milliseconds(local.write_cpu_ms.0),
                format!(
                    "{}, {}",
                    milliseconds(team.write_cpu_ms.0),
                    milliseconds(team.write_cpu_ms.1)
                ),
            ),
            (
                "8 writers in one space",
                format!("{:.0} a second", local.writes_per_second),
                format!("{:.0} a second", team.writes_per_second),
            ),
            ("cold: first search, p50 / p95", "-".to_owned(), both(&cold.first_search)),
            ("cold: CPU of it", "-".to_owned(), milliseconds(cold.search_cpu_ms)),
            ("cold: a note by its name, p50 / p95", "-".to_owned(), both(&cold.first_note)),
            ("cold: CPU of it", "-".to_owned(), milliseconds(cold.note_cpu_ms)),
        ];
        let mut text = format!(
            "### {} notes\n\nPostgreSQL {}, one commit of one row {}; log of {loaded}; load {}.\n\n\
             | What | One vault | Team server |\n|---|---|---|\n",
            number(notes),
            database.version()?,
            time(raw_commit),
            load(),
        );
        for (what, one, other) in rows {
            text.push_str(&format!("| {what} | {one} | {other} |\n"));
        }
        Ok(text)
    }

    fn team_command(&self, cache: &str, database: &BenchDatabase) -> Command {
        self.command(
            cache,
            &["serve", "--database", &database.address(), "--max-requests", "1000000"],
        )
    }

    /// Returns the program with folders of its own.
    fn command(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        let folder = self.scratch.join(name);
        command.args(args).env("HOME", &folder).env_remove("MEMORANDA_HOME");
        for (variable, part) in [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
        ] {
            command.env(variable, folder.join(part));
        }
        command
    }
}

fn written_note(writer: &str, serial: usize) -> Value {
    let text = format!("- [fact] {writer} wrote number {serial} of the bench #bench\n");
    json!({ "title": format!("Note {writer} {serial}"), "folder": writer, "content": text })
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// A running server. It is killed when it is dropped.
struct HttpServer {
    child: Child,
    address: String,
}

impl HttpServer {
    fn start(mut command: Command) -> Result<Self> {
        command.args(["--bind", "127.0.0.1:0", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let started: Value = serde_json::from_str(&line).unwrap_or_default();
        let address = started["address"].as_str().unwrap_or_default().to_owned();
        let server = Self { child, address };
        if server.address.is_empty() { Err("the server does not start".into()) } else { Ok(server) }
    }

    fn client(&self, secret: &str) -> Result<HttpClient> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let head = format!(
            "Host: {}\r\nAuthorization: Bearer {secret}\r\nContent-Type: application/json\r\n",
            self.address
        );
        Ok(HttpClient { stream: BufReader::new(stream), head })
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// One connection that stays open.
struct HttpClient {
    stream: BufReader<TcpStream>,
    head: String,
}

impl HttpClient {
    /// Calls a tool, which must succeed.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<()> {
        let body = arguments.to_string();
        let request = format!(
            "POST /api/tools/{tool} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if status.is_empty() {
                status = line;
            } else if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            } else if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if status.contains(" 200 ") && answer["is_error"] == json!(false) {
            return Ok(());
        }
        Err(format!("{tool} {body}: {status} {answer}").into())
    }
}
