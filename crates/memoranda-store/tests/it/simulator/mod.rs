//! A whole machine in one process: any number of simulated processes on one vault, people, a clock, and
//! drives that forget what was not forced, all driven by one seed.
//!
//! The real code of the store runs; only the machine below it is simulated. After each time the files
//! are compared with a model that knows what was acknowledged and what people did. A failing seed
//! plays the same life again. `docs/simulator.md` tells more.

mod chance;
mod disk;
mod interrupted;
mod life;
mod model;
mod moments;
mod power;
mod remains;
mod rules;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The reaction to a life that fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterFailure {
    Stop,
    /// The other lives go on, so that all failing seeds are listed.
    GoOn,
}

/// Lives through seeds from a first one on, until so many steps are done. Returns the counts.
fn simulate(
    left_out: &str,
    first: u64,
    steps: u64,
    after_failure: AfterFailure,
) -> BTreeMap<&'static str, u64> {
    let (next, done, has_failed) =
        (AtomicU64::new(first), AtomicU64::new(0), AtomicBool::new(false));
    let totals = Mutex::new(BTreeMap::new());
    let failures = Mutex::new(Vec::new());
    let keep_going = || {
        while done.load(Ordering::SeqCst) < steps && !has_failed.load(Ordering::SeqCst) {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            match life::live(left_out, seed) {
                Ok(report) => {
                    done.fetch_add(report.steps, Ordering::SeqCst);
                    let mut totals = totals.lock().unwrap();
                    *totals.entry("lives").or_default() += 1;
                    *totals.entry("steps").or_default() += report.steps;
                    for (what, count) in report.counts {
                        *totals.entry(what).or_default() += count;
                    }
                }
                Err(failure) => {
                    if after_failure == AfterFailure::Stop {
                        has_failed.store(true, Ordering::SeqCst);
                    }
                    let done = done.load(Ordering::SeqCst);
                    failures.lock().unwrap().push(format!("after {done} steps: {failure}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // One step is one life.
        for _ in 0..steps.min(2) {
            scope.spawn(keep_going);
        }
    });
    let (failures, totals) = (failures.into_inner().unwrap(), totals.into_inner().unwrap());
    assert!(
        failures.is_empty(),
        "{}\n{} failures; {totals:?}",
        failures.join("\n"),
        failures.len()
    );
    totals
}

fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn nothing_is_lost_on_a_simulated_machine() {
    let first = asked("MEMORANDA_SIMULATE_SEED", 1);
    let steps = asked("MEMORANDA_SIMULATE_STEPS", 20_000);
    let left_out = std::env::var("MEMORANDA_SIMULATE_WITHOUT").unwrap_or_default();
    let after_failure = match std::env::var_os("MEMORANDA_SIMULATE_GO_ON") {
        Some(_) => AfterFailure::GoOn,
        None => AfterFailure::Stop,
    };
    let totals = simulate(&left_out, first, steps, after_failure);
    println!("{totals:?}");
}

#[test]
fn a_seed_plays_the_same_life_again() {
    for seed in 1..=6 {
        let live = || life::live("", seed).unwrap();
        assert_eq!(live(), live(), "seed {seed}");
    }
}
