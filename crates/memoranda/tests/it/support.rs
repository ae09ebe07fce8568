//! A person's home in a temporary folder, and the binary run in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home that vanishes with its test.
pub(crate) struct Home {
    folder: TempDir,
}

/// Output of a run of the binary.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) bytes: Vec<u8>,
}

impl Home {
    /// A home without a vault.
    pub(crate) fn bare() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// A home with a vault.
    pub(crate) fn new() -> Self {
        let home = Self::bare();
        home.ok(&["init"]);
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a note's file.
    pub(crate) fn file(&self, place: &str) -> PathBuf {
        self.path().join("memoranda").join(place)
    }

    /// Writes a note's file as a person would.
    pub(crate) fn write(&self, place: &str, text: impl AsRef<[u8]>) {
        let path = self.file(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a note's file as a person would.
    pub(crate) fn read(&self, place: &str) -> Vec<u8> {
        std::fs::read(self.file(place)).unwrap()
    }

    /// The binary, with nothing of the real environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memoranda"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .current_dir(self.path())
            .stdin(Stdio::null());
        #[cfg(windows)]
        command
            .env("USERPROFILE", self.path())
            .env("APPDATA", self.path().join("AppData"))
            .env("LOCALAPPDATA", self.path().join("LocalAppData"))
            .env("SYSTEMROOT", std::env::var_os("SYSTEMROOT").unwrap_or_default());
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        said(self.command(args).output().unwrap())
    }

    /// Runs the binary with more in its environment.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Said {
        said(self.command(args).envs(variables.iter().copied()).output().unwrap())
    }

    /// Runs the binary with something on its standard input.
    pub(crate) fn run_fed(&self, input: &[u8], args: &[&str]) -> Said {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        said(child.wait_with_output().unwrap())
    }

    /// Runs the binary, which must succeed, and gives what it printed.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        said.out
    }

    /// Runs the binary with `--json` and gives what it printed.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}"))
    }

    /// Runs the binary, which must fail with this code and say these words.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str], code: i32, words: &[&str]) {
        let said = self.run(args);
        assert_eq!(said.code, code, "{args:?}: {said:?}");
        for word in words {
            assert!(said.err.contains(word), "{args:?} does not say {word:?}: {}", said.err);
        }
    }
}

pub(crate) fn said(output: Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        bytes: output.stdout,
    }
}

/// An editor that is a line of shell, with the file as `$1`.
#[cfg(unix)]
pub(crate) fn editor(home: &Home, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = home.path().join("editor.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Repetitions of a test of chance: more with `MEMORANDA_TEST_ROUNDS`.
pub(crate) fn rounds(usual: usize) -> usize {
    let asked = std::env::var("MEMORANDA_TEST_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(usual)
}
