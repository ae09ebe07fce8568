//! Other processes: this test binary, started again with a task in its environment. A child says
//! what was acknowledged in a file, because that outlives its own death.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const TASK: &str = "MEMORANDA_TEST_TASK";

/// A task for another process.
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl Task {
    pub(crate) fn new(name: &str, folder: &Path, arguments: &[&dyn std::fmt::Display]) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { name: name.to_owned(), folder: folder.to_owned(), arguments }
    }

    pub(crate) fn start(&self) -> Child {
        self.command().spawn().unwrap()
    }

    /// Runs to the end as a user without rights; says whether that could be done.
    #[cfg(unix)]
    pub(crate) fn run_as_nobody(&self) -> bool {
        self.run_as(65534)
    }

    /// Runs to the end as another user; says whether that could be done.
    #[cfg(unix)]
    pub(crate) fn run_as(&self, user: u32) -> bool {
        self.run_as_member(user, user)
    }

    /// Runs to the end as another user of a group; says whether that could be done.
    #[cfg(unix)]
    pub(crate) fn run_as_member(&self, user: u32, group: u32) -> bool {
        use std::os::unix::process::CommandExt as _;
        let Ok(child) = self.command().uid(user).gid(group).spawn() else { return false };
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} as user {user}: {said}", self.name);
        true
    }

    /// Starts the child as a user of its own, to which limits apply; `None` if that is not
    /// possible.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with_own_limits(&self) -> Option<Child> {
        let direct = self.command();
        let unshare = || {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user"]);
            command
        };
        if !unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        let mut command = unshare();
        command.arg(direct.get_program()).args(direct.get_args());
        command.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdout(Stdio::null()).spawn().ok()
    }

    fn command(&self) -> Command {
        let mut task = vec![self.name.clone(), self.folder.display().to_string()];
        task.extend(self.arguments.iter().cloned());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["child::run", "--exact", "--nocapture", "--test-threads=1"])
            .env(TASK, task.join("\n"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Runs to the end; what a child that failed has said is the message.
    pub(crate) fn run(&self) {
        let output = self.start().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {:?}: {said}", self.name, self.arguments);
    }

    /// Runs to whatever end; says whether it was its own.
    pub(crate) fn run_to_its_death(&self) -> bool {
        let output = self.start().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{} {:?}: {said}", self.name, self.arguments);
        output.status.success()
    }

    /// Runs to the end after a shell has done this, such as `umask 0`.
    pub(crate) fn run_after(&self, first: &str) {
        let direct = self.command();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{first}; exec \"$0\" \"$@\""));
        command.arg(direct.get_program());
        command.args(direct.get_args());
        command.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs to whatever end, even a panic.
    pub(crate) fn run_to_whatever(&self) {
        self.start().wait_with_output().unwrap();
    }

    pub(crate) fn number(&self, n: usize) -> usize {
        self.arguments[n].parse().unwrap()
    }

    /// Notes something that the parent may rely on.
    pub(crate) fn acknowledge(&self, what: impl std::fmt::Display) {
        let path = self.folder.join("acknowledged");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{what}\n").as_bytes()).unwrap();
    }
}

/// Returns the writes that children have acknowledged so far.
pub(crate) fn acknowledged(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("acknowledged")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn run() {
    let Ok(task) = std::env::var(TASK) else { return };
    let mut lines = task.lines().map(str::to_owned);
    let name = lines.next().unwrap();
    let folder = PathBuf::from(lines.next().unwrap());
    let task = Task { name, folder, arguments: lines.collect() };
    #[cfg(unix)]
    end_with_parent();
    match task.name.as_str() {
        "write" => crate::processes::write(&task),
        "hammer" => crate::processes::hammer(&task),
        "leave-wal" => crate::damage::leave_wal(&task),
        "flip" => crate::bounds::flip_folder(&task),
        "private" => crate::bounds::write_private(&task),
        "watch" => crate::user_edits::watch(&task),
        #[cfg(target_os = "linux")]
        "few-watches" => crate::watch_limits::watch_with_few(&task),
        #[cfg(target_os = "linux")]
        "closed" => crate::watch_limits::watch_closed_folders(&task),
        "clock" => crate::history::write_with_a_bad_clock(&task),
        "beside" => crate::history::write_beside_a_vacuum(&task),
        "remove-project" => crate::project_removal::die_while_removing(&task),
        "vacuum" => crate::history::die_in_a_vacuum(&task),
        "edit" => crate::processes::edit(&task),
        "append" => crate::processes::append_beside_editor(&task),
        #[cfg(unix)]
        "fault" => crate::recovery::act_under_a_fault(&task),
        "crash" => crate::crash::be_crashed(&task),
        "stream" => crate::crash::stream(&task),
        #[cfg(unix)]
        "own-vault" => crate::owners::own_a_vault(&task),
        #[cfg(unix)]
        "stranger" => crate::owners::write_as_a_stranger(&task),
        #[cfg(unix)]
        "member" => crate::owners::write_as_a_member(&task),
        "locked" => crate::disk::meet_locked_folders(&task),
        "fail-plainly" => crate::disk::fail_plainly(&task),
        "fail" => crate::disk::fail_everywhere(&task),
        "stick" => crate::disk::write_to_a_stick(&task),
        "nth-call" => crate::nth_call::fail_each_call(&task),
        "read-only" => crate::disk::read_without_writing(&task),
        "crowd" => crate::disk::move_a_crowd(&task),
        "read-only-first" => crate::drives::write_after_read_only(&task),
        "set-back" => crate::drives::write_with_a_clock_set_back(&task),
        "removable" => crate::drives::write_to_a_removable_vault(&task),
        #[cfg(target_os = "linux")]
        "hold-lock" => crate::suspended::hold_lock(&task),
        other => panic!("no such task: {other}"),
    }
}

/// Ends this process when the test that started it ends, however it ends.
#[cfg(unix)]
fn end_with_parent() {
    let parent = std::os::unix::process::parent_id();
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        std::process::exit(1);
    });
}
