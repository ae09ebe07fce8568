//! The workspace's own chores: `tidy`, `docs`, `bench`, `commands`, `dist`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a chore prints to its terminal, reads the workspace and runs cargo"
)]

mod bench;
mod commands;
mod dist;
mod docs;
mod simulate;
mod statement_weights;
mod statements;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// Errors of a chore are only read by a person, so text is enough.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
Usage: cargo xtask <chore>

  tidy                       check what the compiler cannot: layers, doors, sizes, text, prose, names, docs
  docs [--check]             write the reference pages from the binary's own tables
  bench [--quick] [--sizes 100,1000,10000,100000]
                             measure against the raw limits, write docs/benchmarks.md
  bench tools [--quick] [--sizes 100,1000,10000] [--only=TOOL]
                             measure every tool over stdio, write its section of docs/benchmarks.md
  bench team [--quick] [--sizes 1000,10000] [--binary FILE]
                             measure a team server on a PostgreSQL that is started for it (Linux)
  bench retrieval FILE [--ranked FILE] [--ablation] [-n N] [--json]
                             measure how well search finds, on questions with known evidence
  bench statements FILE      measure how well kind and scope are guessed, on the facts of BEAM
  statements                 learn the weights by which kind and scope of a statement are guessed
  commands [--binary FILE] [PAGE]
                             run every command that the pages show, and compare what it prints
  dist [--target TRIPLE] [--binary FILE] [--out DIR]
                             make every package of a release from one build, with checksums
  simulate [--seed N] [--steps M] [--release]
                             try to lose data on a simulated machine; one life without --steps";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (chore, rest) = match arguments.split_first() {
        Some((chore, rest)) => (chore.as_str(), rest),
        None => ("", &[][..]),
    };
    let result = match chore {
        "tidy" => tidy::run(rest),
        "docs" => docs::run(rest),
        "bench" => bench::run(rest),
        "commands" => commands::run(rest),
        "dist" => dist::run(rest),
        "simulate" => simulate::run(rest),
        "statements" => statement_weights::run(),
        "bench-child" => bench::children::run(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{chore}: {e}");
            ExitCode::FAILURE
        }
    }
}
