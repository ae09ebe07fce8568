//! `cargo xtask bench`: measures every budget as a ratio to the same work done raw, in one run on
//! one disk. Absolute times depend on the machine, so no test asserts them.

pub(crate) mod children;
mod files;
mod fulltext;
mod machine;
mod mcp;
mod options;
mod process;
mod product;
mod report;
mod restarts;
mod retrieval;
mod samples;
mod size;
#[cfg(target_os = "linux")]
mod team;
mod team_copies;
#[cfg(target_os = "linux")]
mod team_database;
mod tool_cases;
mod tools;
mod volume;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, workspace};
use options::{BenchEffort, BenchOptions};
use report::BenchReport;

/// The page with the results.
const PAGE: &str = "docs/benchmarks.md";

/// Measures everything and writes the page.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some((first, rest)) = arguments.split_first() {
        match first.as_str() {
            "retrieval" => return retrieval::run(rest),
            "statements" => return crate::statements::run(&workspace::root()?, rest),
            "tools" => return tools::run(rest),
            #[cfg(target_os = "linux")]
            "team" => return team::run(rest),
            _ => {}
        }
    }
    let options = options::parse(arguments)?;
    let root = workspace::root()?;
    if cfg!(debug_assertions) {
        return rerun_optimised("", arguments);
    }
    workspace::status(workspace::cargo(&root).args([
        "build",
        "--release",
        "--quiet",
        "--package",
        "memoranda",
    ]))?;
    let scratch = ScratchFolder::new(target_folder(&root).join("bench"))?;
    let report = measure(&options, &root, &scratch.0)?;
    let page = report::render(&report);
    match options.effort {
        BenchEffort::Full => {
            std::fs::create_dir_all(root.join("docs"))?;
            let old = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
            let tools = tools::section_of(&old).unwrap_or_default();
            std::fs::write(root.join(PAGE), format!("{page}{tools}"))?;
            println!("bench: wrote {PAGE}");
        }
        BenchEffort::Quick => println!("\n{page}"),
    }
    Ok(())
}

/// Runs this chore again in an optimised build: numbers of another build mean nothing, and nobody
/// remembers `--release`. Paths in the arguments stay relative to the current folder.
fn rerun_optimised(subcommand: &str, arguments: &[String]) -> Result<()> {
    let root = workspace::root()?;
    let mut command = workspace::cargo(&root);
    command.current_dir(std::env::current_dir()?);
    command.args(["run", "--release", "--quiet", "--package", "xtask"]);
    command.arg("--manifest-path").arg(root.join("Cargo.toml"));
    command.args(["--", "bench"]).args(Some(subcommand).filter(|name| !name.is_empty()));
    workspace::status(command.args(arguments))
}

fn measure(options: &BenchOptions, root: &Path, scratch: &Path) -> Result<BenchReport> {
    let mut sizes = Vec::new();
    for &notes in &options.sizes {
        println!("bench: {notes} notes");
        let folder = scratch.join(notes.to_string());
        let at = size::measure(&folder, notes, options.effort)?;
        // A long run shows its results so far.
        print!("{}", report::growth_row(&at));
        sizes.push(at);
        std::fs::remove_dir_all(&folder)?;
    }
    println!("bench: processes");
    let binary = target_folder(root).join("release").join(executable("memoranda"));
    Ok(BenchReport {
        machine: machine::describe(scratch)?,
        command: options.command(),
        date: machine::today()?,
        processes: process::measure(&binary, scratch, options.effort)?,
        sizes,
    })
}

/// The folder for the measured vaults, removed after the run. It is on the disk of the workspace,
/// because a temporary folder may be in memory, where syncing costs nothing.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // If this fails, the next run removes the folder.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Returns a command that starts this program as a child process with a task.
fn this_program(task: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bench-child").arg(task);
    Ok(command)
}
