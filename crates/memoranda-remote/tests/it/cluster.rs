//! A PostgreSQL server in a temporary folder, on loopback, on a free port. It ends with the test.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use memoranda_remote::postgres::Database;

/// The account under which a server runs if the tests run as root, which PostgreSQL refuses.
const NOBODY: u32 = 65_534;

/// Durability of a commit: tests that kill the server need it on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskForce {
    On,
    Off,
}

pub(crate) struct Cluster {
    bin: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    force: DiskForce,
    running: Option<(Child, ChildStdin)>,
}

impl Cluster {
    /// Starts a server; `None` if there is no PostgreSQL here.
    pub(crate) fn start(force: DiskForce) -> Option<Self> {
        let bin = binaries()?;
        let folder = std::env::temp_dir().join(format!("memoranda-pg-{}", unique()));
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut initdb = command(&bin.join("initdb"), &folder);
        initdb.args(["--username=memoranda", "--auth=trust", "--no-sync", "--no-locale"]);
        initdb.args(["--encoding=UTF8", "--pgdata"]).arg(folder.join("data"));
        let made = initdb.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut cluster = Self { bin, folder, port: free_port(), force, running: None };
        cluster.run();
        Some(cluster)
    }

    /// Starts a standby of this server, whose commits wait for it from now on.
    pub(crate) fn start_standby(&self) -> Self {
        let folder = std::env::temp_dir().join(format!("memoranda-pg-{}", unique()));
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut backup = command(&self.bin.join("pg_basebackup"), &folder);
        backup.args(["--host=127.0.0.1", "--username=memoranda", "--write-recovery-conf"]);
        backup.args(["--wal-method=stream", "--checkpoint=fast", "--no-sync"]);
        backup.arg(format!("--port={}", self.port)).arg("--pgdata").arg(folder.join("data"));
        let made = backup.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let (bin, force) = (self.bin.clone(), self.force);
        let mut standby = Self { bin, folder, port: free_port(), force, running: None };
        standby.run();
        self.sql("postgres", "alter system set synchronous_standby_names = '*'");
        self.sql("postgres", "alter system set synchronous_commit = 'remote_apply'");
        self.sql("postgres", "select pg_reload_conf()");
        let started = Instant::now();
        let attached = "select count(*) from pg_stat_replication where sync_state = 'sync'";
        while self.sql("postgres", attached) != "1" {
            assert!(started.elapsed() < Duration::from_secs(60), "no standby was attached");
            std::thread::sleep(Duration::from_millis(50));
        }
        standby
    }

    /// Starts the server on the folder that it had before.
    pub(crate) fn run(&mut self) {
        // The shell ends the server when the test process is gone, however it ended.
        let script = "\"$0\" \"$@\" & server=$!; read -r line || is_gone=1; \
                      kill -QUIT $server 2>/dev/null; wait $server; \
                      [ -z \"$is_gone\" ] || rm -rf \"$PWD\"";
        let mut shell = command(Path::new("sh"), &self.folder);
        shell.arg("-c").arg(script).arg(self.bin.join("postgres")).arg("-D");
        shell.arg(self.folder.join("data"));
        let fsync = if self.force == DiskForce::On { "fsync=on" } else { "fsync=off" };
        for setting in [
            "listen_addresses=127.0.0.1",
            &format!("port={}", self.port),
            "unix_socket_directories=",
            "shared_buffers=32MB",
            "max_connections=200",
            "logging_collector=off",
            fsync,
        ] {
            shell.args(["-c", setting]);
        }
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        self.running = Some((child, input));
        let database = Database::new(&self.address("postgres"), None).unwrap();
        let started = Instant::now();
        while let Err(error) = database.stats()
            && error.is_away()
        {
            assert!(started.elapsed() < Duration::from_secs(60), "{error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills the server as a crash of the machine would: nothing is written any more.
    pub(crate) fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        // The server's own processes end by themselves when the first one is gone.
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        self.end_shell();
        let started = Instant::now();
        while is_used(self.port) && started.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills one process that serves a connection to a database, as the system does when memory is
    /// short.
    pub(crate) fn kill_backend(&self, database: &str) {
        let select = format!(
            "select pid from pg_stat_activity where datname = '{database}' \
             and backend_type = 'client backend' order by backend_start limit 1"
        );
        let pid = self.sql("postgres", &select);
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success(), "{pid}");
    }

    fn end_shell(&mut self) {
        if let Some((mut child, mut input)) = self.running.take() {
            input.write_all(b"\n").ok();
            drop(input);
            child.wait().ok();
        }
    }

    pub(crate) fn address(&self, database: &str) -> String {
        address(self.port, database)
    }

    /// Makes a database with all tables.
    pub(crate) fn new_database(&self) -> (Database, String) {
        let name = format!("t_{}", unique().replace('-', "_"));
        self.sql("postgres", &format!("create database {name}"));
        let database = Database::new(&self.address(&name), None).unwrap();
        database.migrate().unwrap();
        (database, name)
    }

    /// Makes an empty database that belongs to a role without special rights, as an operator would.
    /// Returns its name and its address for that role.
    pub(crate) fn plain_database(&self) -> (String, String) {
        let name = format!("p_{}", unique().replace('-', "_"));
        self.sql("postgres", &format!("create role {name} login"));
        self.sql("postgres", &format!("create database {name} owner {name}"));
        let address = format!("postgres://{name}@127.0.0.1:{}/{name}", self.port);
        (name, address)
    }

    /// Runs SQL as the owner of a database, and returns the values of all rows.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let mut client =
            postgres::Client::connect(&self.address(database), postgres::NoTls).unwrap();
        let mut words = Vec::new();
        for message in client.simple_query(sql).unwrap() {
            if let postgres::SimpleQueryMessage::Row(row) = message {
                words.extend((0..row.len()).map(|n| row.get(n).unwrap_or_default().to_owned()));
            }
        }
        words.join(" ")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end_shell();
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// The server that the tests of one process share; `None` if there is no PostgreSQL here.
pub(crate) fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(DiskForce::Off)).as_ref()
}

pub(crate) fn address(port: u16, database: &str) -> String {
    format!("postgres://memoranda@127.0.0.1:{port}/{database}")
}

/// Says that a test was skipped. `cargo test` hides what a passed test prints with `eprintln!`, so this
/// writes to the stream itself.
pub(crate) fn skipped(test: &str) {
    let sentence = "skipped: there is no PostgreSQL (MEMORANDA_TEST_PG_BIN names its folder)";
    let line = format!("{test} {sentence}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn binaries() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEMORANDA_TEST_PG_BIN").filter(|name| !name.is_empty()) {
        let named = PathBuf::from(named);
        assert!(named.join("initdb").exists(), "no initdb in {}", named.display());
        return Some(named);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C").env("TZ", "UTC");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_used(port: u16) -> bool {
    std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn unique() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}
