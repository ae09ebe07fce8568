//! How much of a figure is luck: a setting chosen on one half of the questions is judged by the
//! other half, many times over.

use serde::Serialize;

use super::measure::Measured;
use super::report::merit;

const ROUNDS: u64 = 200;

/// What choosing among the settings is worth.
#[derive(Serialize)]
pub(super) struct Validation {
    settings: usize,
    rounds: u64,
    /// The merit of the chosen setting on the half on which it was chosen.
    chosen: f64,
    /// The same on the other half.
    held_out: f64,
    /// The merit of the search as it is on that other half.
    search: f64,
    /// The standard error of the search's merit over all questions.
    error: f64,
}

/// Chooses among all settings of the search; nothing if there is no choice.
pub(super) fn validate(measured: &Measured) -> Option<Validation> {
    let from = measured.methods.iter().position(|&method| method == "search")?;
    let settings = measured.methods.get(from..).filter(|settings| settings.len() > 1)?;
    let of = |setting: &'static str| -> Vec<f64> {
        measured.questions.iter().filter_map(|asked| merit(asked, setting)).collect()
    };
    let merits: Vec<Vec<f64>> = settings.iter().map(|&setting| of(setting)).collect();
    let search = merits.first()?;
    let mut validation = Validation {
        settings: settings.len(),
        rounds: ROUNDS,
        chosen: 0.0,
        held_out: 0.0,
        search: 0.0,
        error: error(search),
    };
    for round in 0..ROUNDS {
        let mean_of = |merits: &[f64], half: u64| {
            let in_half = |at: &usize| mixed(round << 32 | *at as u64) & 1 == half;
            mean(merits.iter().enumerate().filter(|(at, _)| in_half(at)).map(|(_, merit)| *merit))
        };
        let best = merits.iter().max_by(|a, b| mean_of(a, 0).total_cmp(&mean_of(b, 0)))?;
        validation.chosen += mean_of(best, 0) / ROUNDS as f64;
        validation.held_out += mean_of(best, 1) / ROUNDS as f64;
        validation.search += mean_of(search, 1) / ROUNDS as f64;
    }
    Some(validation)
}

impl Validation {
    pub(super) fn sentence(&self) -> String {
        format!(
            "The best of {} settings on half of the questions, {} times: merit {:.3} there and \
             {:.3} on the other half; the search as it is {:.3} ± {:.3}.",
            self.settings, self.rounds, self.chosen, self.held_out, self.search, self.error
        )
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}

fn error(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    let variance = mean(values.iter().map(|value| (value - middle).powi(2)));
    (variance / values.len().max(1) as f64).sqrt()
}

/// A number in which every bit depends on all of the given one, so that halves look drawn by lot
/// and are the same in every run.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::measure::{Asked, Ranking};
    use super::*;

    #[test]
    fn a_setting_that_is_good_by_luck_is_found_out() {
        // Each setting finds what the other does not; "search" finds most.
        let found = |is_found: bool| Ranking {
            sessions: if is_found { vec!["a".to_owned()] } else { Vec::new() },
            ..Ranking::default()
        };
        let asked = |at: u64| Asked {
            qid: at.to_string(),
            kind: String::new(),
            abstention: false,
            gold_sessions: vec!["a".to_owned()],
            gold_turns: Vec::new(),
            rankings: BTreeMap::from([
                ("search", found(mixed(at) % 8 > 1)),
                ("lucky", found(mixed(at) % 8 < 6)),
            ]),
        };
        let measured = |methods: &[&'static str]| Measured {
            questions: (0..60).map(asked).collect(),
            methods: methods.to_vec(),
        };
        assert!(validate(&measured(&["search"])).is_none());
        let validation = validate(&measured(&["vectors", "search", "lucky"])).unwrap();
        assert_eq!(validation.settings, 2);
        assert!(validation.chosen > validation.held_out, "{}", validation.sentence());
        assert!((0.03..0.08).contains(&validation.error), "{}", validation.sentence());
    }
}
