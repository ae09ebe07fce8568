//! `cargo xtask commands`: runs every command that the README and the guides show, in a separate home
//! folder, and compares the output with the page.

mod page;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, workspace};

/// Commands that cannot run here, and the check that runs them instead.
const SKIPPED_COMMANDS: &[(&str, &str)] = &[
    ("cargo ", "builds and tests have their own steps"),
    ("claude ", "the client may not be here; `.ci/packages` runs it"),
    ("codex ", "the client may not be here; `.ci/packages` runs it"),
    ("gemini ", "the client may not be here; `.ci/packages` runs it"),
    ("code ", "the client is not here"),
    ("docker ", "needs a daemon"),
    ("memoranda serve", "runs until Ctrl-C; the server's tests start it"),
    ("memoranda admin", "needs a database; `.ci/team` does the same"),
    ("memoranda setup claude-code --url", "needs a token; `.ci/team` does the same"),
    ("memoranda clone", "needs a team server; `.ci/team` does the same"),
    ("memoranda --home ~/acme", "needs a team server; `.ci/team` does the same"),
    ("memoranda mcp", "is started by clients; the server's tests start it"),
    ("memoranda watch", "runs until Ctrl-C; the tests of the command line start it"),
    ("curl ", "asks a server; the server's tests do"),
    ("pip ", "needs a network; `.ci/clients` runs it"),
    ("npm ", "needs a network; `.ci/clients` runs it"),
    ("npx ", "needs a network; `.ci/clients` runs it"),
    ("python", "needs packages; `.ci/clients` runs it"),
    ("ANTHROPIC_API_KEY", "needs packages; `.ci/clients` runs it"),
    ("rustup ", "changes the toolchain"),
    ("sudo ", "changes the machine"),
    ("apt-get ", "changes the machine"),
];

/// Runs the commands of all pages, or of the given ones.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let root = workspace::root()?;
    let mut binary = None;
    let mut pages = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--binary" => binary = rest.next().map(PathBuf::from),
            page => pages.push(page.to_owned()),
        }
    }
    if pages.is_empty() {
        let files = workspace::text_files(&root)?;
        let is_page = |path: &str| {
            path == "README.md" || path == "docs/concepts.md" || path.starts_with("docs/guides/")
        };
        pages.extend(files.into_iter().map(|file| file.path).filter(|path| is_page(path)));
    }
    let binary = match binary {
        Some(binary) => binary.canonicalize()?,
        None => {
            let mut build = workspace::cargo(&root);
            workspace::status(build.args(["build", "--quiet", "--package", "memoranda"]))?;
            let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
            target.unwrap_or_else(|| root.join("target")).join("debug/memoranda").canonicalize()?
        }
    };
    let (mut done, mut left, mut wrong) = (0, 0, Vec::new());
    for page in &pages {
        let text = std::fs::read_to_string(root.join(page))?;
        let home = ReaderHome::new(&root, &binary)?;
        for step in page::steps(&text) {
            if let Some((_, why)) = find_skipped(&step.command) {
                println!("commands: {page}:{}: left out: {why}", step.line);
                left += 1;
                continue;
            }
            done += 1;
            if let Err(what) = home.run(&step) {
                wrong.push(format!("{page}:{}: `{}` {what}", step.line, step.command));
            }
        }
    }
    for what in &wrong {
        println!("commands: {what}");
    }
    println!("commands: {} pages, {done} commands run, {left} left out", pages.len());
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{n} commands do not do what their page says").into()),
    }
}

fn find_skipped(command: &str) -> Option<&'static (&'static str, &'static str)> {
    SKIPPED_COMMANDS.iter().find(|(beginning, _)| command.starts_with(beginning))
}

/// A temporary home folder with the program on the PATH.
struct ReaderHome {
    folder: tempfile::TempDir,
    path: std::ffi::OsString,
    root: PathBuf,
}

impl ReaderHome {
    fn new(root: &Path, binary: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let programs = folder.path().join(".local/bin");
        std::fs::create_dir_all(&programs)?;
        std::fs::hard_link(binary, programs.join("memoranda"))
            .or_else(|_| std::fs::copy(binary, programs.join("memoranda")).map(drop))?;
        let old = std::env::var_os("PATH").unwrap_or_default();
        // Installed clients must not change the output.
        let system = std::env::split_paths(&old)
            .filter(|dir| dir.starts_with("/usr") || dir.starts_with("/bin"));
        let path = std::env::join_paths(std::iter::once(programs).chain(system))?;
        Ok(Self { folder, path, root: root.to_owned() })
    }

    fn run(&self, step: &page::PageCommand) -> std::result::Result<(), String> {
        let home = self.folder.path();
        let output = Command::new("bash")
            .args(["-c", &step.command])
            .current_dir(home)
            .env_clear()
            .envs([("HOME", home.as_os_str()), ("PATH", self.path.as_os_str())])
            .envs([("LANG", "C.UTF-8"), ("TZ", "UTC"), ("COLUMNS", "100")])
            .env("REPOSITORY", &self.root)
            .output()
            .map_err(|e| format!("does not start: {e}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let at = home.display().to_string();
        match &step.shown {
            None if output.status.success() => Ok(()),
            None => Err(format!("fails: {out}{err}")),
            // A page may show the messages on standard error, or leave them out.
            Some(shown)
                if page::fits(shown, &out, &at)
                    || page::fits(shown, &format!("{out}{err}"), &at)
                    || page::fits(shown, &err, &at) =>
            {
                Ok(())
            }
            Some(shown) => Err(format!("prints\n{out}{err}and the page shows\n{shown}")),
        }
    }
}
