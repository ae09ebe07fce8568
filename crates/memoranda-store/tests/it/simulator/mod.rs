//! A whole machine in one process: any number of simulated processes on one vault, people, a clock, and
//! drives that forget what was not forced, all driven by one seed.
//!
//! The real code of the store runs; only the machine below it is simulated. After each time the files
//! are compared with a model that knows what was acknowledged and what people did. A failing seed
//! plays the same life again. `docs/simulator.md` tells more.

mod chance;
mod disk;
mod life;
mod model;
mod rules;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rules::LEFT_OUT;

/// Lives through seeds from a first one on, until so many steps are done. Returns the counts.
fn simulate(left_out: &str, first: u64, steps: u64) -> BTreeMap<&'static str, u64> {
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
                    has_failed.store(true, Ordering::SeqCst);
                    let done = done.load(Ordering::SeqCst);
                    failures.lock().unwrap().push(format!("after {done} steps: {failure}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(keep_going);
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    totals.into_inner().unwrap()
}

fn asked(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn nothing_is_lost_on_a_simulated_machine() {
    let first = asked("MEMORANDA_SIMULATE_SEED", 1);
    let steps = asked("MEMORANDA_SIMULATE_STEPS", 20_000);
    // `cargo xtask simulate` leaves nothing out unless it is asked to.
    let left_out = std::env::var("MEMORANDA_SIMULATE_WITHOUT").unwrap_or(LEFT_OUT.to_owned());
    let totals = simulate(&left_out, first, steps);
    println!("{totals:?}");
}

#[test]
fn a_seed_plays_the_same_life_again() {
    for seed in 1..=6 {
        let live = || life::live(LEFT_OUT, seed).unwrap();
        assert_eq!(live(), live(), "seed {seed}");
    }
}
