//! A PostgreSQL server in the scratch folder, on loopback, with its costs.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// The account of the server if the benchmark runs as root, which PostgreSQL refuses.
const NOBODY: u32 = 65_534;
/// Name of the server's role and of its database.
const ROLE: &str = "bench";

/// A running PostgreSQL server. It is stopped when it is dropped.
pub(super) struct BenchDatabase {
    bin: PathBuf,
    folder: PathBuf,
    port: u16,
    server: Child,
}

impl BenchDatabase {
    /// Starts a server that forces commits to disk, as a real one does.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let bin =
            binaries().ok_or("there is no PostgreSQL; MEMORANDA_TEST_PG_BIN names its folder")?;
        // The folder of the build may be closed to others.
        let folder = folder.to_owned();
        std::fs::create_dir_all(&folder)?;
        if is_root() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY))?;
        }
        let data = folder.join("data");
        let mut initdb = command(&bin.join("initdb"), &folder);
        initdb.args(["--username=postgres", "--auth=trust", "--no-locale", "--encoding=UTF8"]);
        let made = initdb.arg("--pgdata").arg(&data).output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut postgres = command(&bin.join("postgres"), &folder);
        postgres.arg("-D").arg(&data);
        for setting in [
            "listen_addresses=127.0.0.1",
            &format!("port={port}"),
            "unix_socket_directories=",
            "shared_buffers=256MB",
        ] {
            postgres.args(["-c", setting]);
        }
        let server = postgres.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let database = Self { bin, folder, port, server };
        let started = Instant::now();
        while database.sql("postgres", "select 1").is_err() {
            if started.elapsed() > Duration::from_secs(30) {
                return Err("PostgreSQL does not start".into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        database.sql("postgres", &format!("create role {ROLE} login"))?;
        database.sql("postgres", &format!("create database {ROLE} owner {ROLE}"))?;
        Ok(database)
    }

    /// Returns the address for the team server.
    pub(super) fn address(&self) -> String {
        format!("postgres://{ROLE}@127.0.0.1:{}/{ROLE}", self.port)
    }

    /// Runs SQL as the superuser and returns its output.
    pub(super) fn sql(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = self.client("psql");
        let done = psql.args(["--no-psqlrc", "--tuples-only", "--no-align", "-c", sql, database]);
        let done = done.output()?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned().into());
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Returns the version of the server.
    pub(super) fn version(&self) -> Result<String> {
        self.sql("postgres", "show server_version")
    }

    /// Returns the mean time of a commit of one row by one client: the limit of a write.
    pub(super) fn raw_commit(&self, commits: usize) -> Result<Duration> {
        self.sql("postgres", "create table if not exists raw (text text)")?;
        let script = self.folder.join("raw.sql");
        std::fs::write(&script, "insert into raw values (repeat('x', 600));\n")?;
        let mut pgbench = self.client("pgbench");
        pgbench.args(["--no-vacuum", "--protocol=prepared", "--file"]).arg(&script);
        let done = pgbench.args(["--transactions", &commits.to_string(), "postgres"]).output()?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("latency average = "));
        let number = line.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
        let number = number.ok_or("pgbench does not tell its latency")?;
        Ok(Duration::from_secs_f64(number / 1e3))
    }

    /// Returns the CPU time of all running processes of the server so far, in milliseconds.
    pub(super) fn cpu_ms(&self) -> f64 {
        let main = self.server.id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let of = |process: u32| -> Option<f64> {
            let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).ok();
            let stat = read("stat")?;
            let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()?;
            if process != main && parent != main {
                return None;
            }
            // Each process has one thread. Its time is in nanoseconds; that in `stat` is too coarse.
            let nanoseconds: f64 = read("schedstat")?.split(' ').next()?.parse().ok()?;
            Some(nanoseconds / 1e6)
        };
        processes.filter_map(of).sum()
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        let port = self.port.to_string();
        command.env("PGHOST", "127.0.0.1").env("PGPORT", port).env("PGUSER", "postgres");
        command
    }
}

impl Drop for BenchDatabase {
    fn drop(&mut self) {
        // The fast shutdown: sessions are ended.
        let id = self.server.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().ok();
        self.server.wait().ok();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

fn binaries() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEMORANDA_TEST_PG_BIN").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
