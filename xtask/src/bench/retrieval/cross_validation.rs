//! Repeated two-fold cross-validation: a setting chosen on one half of the questions is judged on
//! the other half.

use serde::Serialize;

use super::measure::Measurement;
use super::report::merit;

const ROUNDS: u64 = 200;

/// The result of choosing the best setting on half of the questions.
#[derive(Serialize)]
pub(super) struct CrossValidation {
    settings: usize,
    rounds: u64,
    /// Merit of the chosen setting on the half on which it was chosen.
    chosen: f64,
    /// Merit of the chosen setting on the other half.
    held_out: f64,
    /// Merit of the standard search on the other half.
    search: f64,
    /// Standard error of the standard search's merit over all questions.
    error: f64,
}

/// Cross-validates all settings of the search; `None` if there is only one.
pub(super) fn cross_validate(measured: &Measurement) -> Option<CrossValidation> {
    let from = measured.methods.iter().position(|&method| method == "search")?;
    let settings = measured.methods.get(from..).filter(|settings| settings.len() > 1)?;
    let of = |setting: &'static str| -> Vec<f64> {
        measured.questions.iter().filter_map(|asked| merit(asked, setting)).collect()
    };
    let merits: Vec<Vec<f64>> = settings.iter().map(|&setting| of(setting)).collect();
    let search = merits.first()?;
    let mut validation = CrossValidation {
        settings: settings.len(),
        rounds: ROUNDS,
        chosen: 0.0,
        held_out: 0.0,
        search: 0.0,
        error: error(search),
    };
    for round in 0..ROUNDS {
        let mean_of = |merits: &[f64], half: u64| {
            let in_half = |at: &usize| hashed(round << 32 | *at as u64) & 1 == half;
            mean(merits.iter().enumerate().filter(|(at, _)| in_half(at)).map(|(_, merit)| *merit))
        };
        let best = merits.iter().max_by(|a, b| mean_of(a, 0).total_cmp(&mean_of(b, 0)))?;
        validation.chosen += mean_of(best, 0) / ROUNDS as f64;
        validation.held_out += mean_of(best, 1) / ROUNDS as f64;
        validation.search += mean_of(search, 1) / ROUNDS as f64;
    }
    Some(validation)
}

impl CrossValidation {
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

/// Hashes a number (SplitMix64), so that halves look random and are the same in every run.
pub(super) fn hashed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::measure::{MethodRanking, QuestionRankings};
    use super::*;

    #[test]
    fn a_setting_that_is_good_by_luck_scores_lower_on_the_other_half() {
        // Each setting finds what the other does not; "search" finds most.
        let found = |is_found: bool| MethodRanking {
            sessions: if is_found { vec!["a".to_owned()] } else { Vec::new() },
            ..MethodRanking::default()
        };
        let asked = |at: u64| QuestionRankings {
            qid: at.to_string(),
            kind: String::new(),
            abstention: false,
            gold_sessions: vec!["a".to_owned()],
            gold_turns: Vec::new(),
            rankings: BTreeMap::from([
                ("search", found(hashed(at) % 8 > 1)),
                ("lucky", found(hashed(at) % 8 < 6)),
            ]),
        };
        let measured = |methods: &[&'static str]| Measurement {
            questions: (0..60).map(asked).collect(),
            methods: methods.to_vec(),
        };
        assert!(cross_validate(&measured(&["search"])).is_none());
        let validation = cross_validate(&measured(&["vectors", "search", "lucky"])).unwrap();
        assert_eq!(validation.settings, 2);
        assert!(validation.chosen > validation.held_out, "{}", validation.sentence());
        assert!((0.03..0.08).contains(&validation.error), "{}", validation.sentence());
    }
}
