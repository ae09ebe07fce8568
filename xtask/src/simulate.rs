//! Runs the simulator of the store: lives of a vault on a simulated machine, from a seed on.

use std::process::Command;

use crate::Result;

const TEST: &str = "simulator::nothing_is_lost_on_a_simulated_machine";

/// Simulates lives from the first seed on until `--steps` steps are done: `--seed N`, `--steps M`,
/// `--without PARTS`, `--go-on`, `--calls`, `--release`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let request = SimulateRequest::parse(arguments)?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "-p", "memoranda-store", "--features", "faults", "--test", "it"]);
    if request.is_release {
        cargo.arg("--release");
    }
    cargo.args(["--", TEST, "--exact", "--nocapture"]);
    cargo.env("MEMORANDA_SIMULATE_WITHOUT", request.without);
    cargo.env("MEMORANDA_SIMULATE_SEED", request.seed.to_string());
    cargo.env("MEMORANDA_SIMULATE_STEPS", request.steps.to_string());
    if request.after_failure == AfterFailure::GoOn {
        cargo.env("MEMORANDA_SIMULATE_GO_ON", "1");
    }
    if request.story == FailureStory::Calls {
        cargo.env("MEMORANDA_SIMULATE_CALLS", "1");
    }
    if cargo.status()?.success() { Ok(()) } else { Err("the simulator found a failure".into()) }
}

/// The reaction to a life that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterFailure {
    Stop,
    GoOn,
}

/// Amount of detail in the report of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureStory {
    /// The last events.
    Events,
    /// Every event and every call on files.
    Calls,
}

#[derive(Debug, PartialEq, Eq)]
struct SimulateRequest {
    seed: u64,
    /// One life takes more than one step, so 1 is a single life.
    steps: u64,
    /// Parts of the world that are left out, separated by commas.
    without: String,
    after_failure: AfterFailure,
    story: FailureStory,
    is_release: bool,
}

impl SimulateRequest {
    fn parse(arguments: &[String]) -> Result<Self> {
        let (without, after_failure) = (String::new(), AfterFailure::Stop);
        let story = FailureStory::Events;
        let mut request =
            Self { seed: 1, steps: 1, without, after_failure, story, is_release: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut number = || -> Result<u64> {
                let value = rest.next().ok_or_else(|| format!("{argument} needs a number"))?;
                Ok(value.parse().map_err(|_| format!("{argument} {value}: not a number"))?)
            };
            match argument.as_str() {
                "--seed" => request.seed = number()?,
                "--steps" => request.steps = number()?,
                "--without" => {
                    request.without = rest.next().ok_or("--without needs a list of parts")?.clone();
                }
                "--go-on" => request.after_failure = AfterFailure::GoOn,
                "--calls" => request.story = FailureStory::Calls,
                "--release" => request.is_release = true,
                other => return Err(format!("{other} is unknown; try --seed N --steps M").into()),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_and_steps_are_read() {
        let parse = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            SimulateRequest::parse(&words)
        };
        let request =
            parse("--seed 7 --steps 1000 --without cuts,imports --go-on --calls --release")
                .unwrap();
        let expected = SimulateRequest {
            seed: 7,
            steps: 1000,
            without: "cuts,imports".to_owned(),
            after_failure: AfterFailure::GoOn,
            story: FailureStory::Calls,
            is_release: true,
        };
        assert_eq!(request, expected);
        let life = SimulateRequest {
            seed: 1,
            steps: 1,
            without: String::new(),
            after_failure: AfterFailure::Stop,
            story: FailureStory::Events,
            is_release: false,
        };
        assert_eq!(parse("").unwrap(), life);
        assert!(parse("--without").is_err());
        assert!(parse("--seed").is_err());
        assert!(parse("--seed many").is_err());
        assert!(parse("--sead 1").is_err());
    }
}
