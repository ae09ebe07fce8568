//! Rules for good facts: short, atomic, connected. All rules are computed without a model; a
//! rejected fact comes back with a suggestion.

mod conflict;
mod entity_type;
mod inverse;
mod sentences;
mod similar_names;
mod split;
mod thread;

pub use conflict::{FactContradiction, find_contradictions, find_opposed_statements};
pub use entity_type::{
    COMMON_ENTITY_TYPES, DEFAULT_ENTITY_TYPE, NormalizedEntityType, normalize_entity_type,
};
pub use inverse::inverse_relation_type;
pub use sentences::{sentence_count, sentences};
pub use similar_names::similar_names;
pub use split::atomic_facts;
pub use thread::{thread_folder, thread_of_folder};

/// Maximum length of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FactLimits {
    /// Maximum number of characters.
    pub chars: usize,
    /// Maximum number of sentences.
    pub sentences: usize,
}

/// Scores the completeness of a graph from 0 to 1; two relations per entity and short facts score
/// best. `observation_chars` lists the length of every fact.
pub fn quality_score(
    entities: usize,
    relations: usize,
    observation_chars: &[usize],
    most_chars: usize,
) -> f64 {
    if entities == 0 {
        return 0.0;
    }
    let tied = 0.7 * (relations as f64 / entities as f64 / 2.0).min(1.0);
    if observation_chars.is_empty() {
        return rounded(tied);
    }
    let mean = observation_chars.iter().sum::<usize>() as f64 / observation_chars.len() as f64;
    let short = 0.3 * (1.0 - (mean / most_chars.max(1) as f64).min(1.0));
    rounded(tied + short)
}

fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_is_relations_and_brevity() {
        assert_eq!(quality_score(0, 0, &[], 150), 0.0);
        assert_eq!(quality_score(2, 4, &[], 150), 0.7);
        assert_eq!(quality_score(1, 1, &[75], 150), 0.5);
        assert_eq!(quality_score(3, 6, &[15; 9], 150), 0.97);
        assert_eq!(quality_score(1, 9, &[400], 150), 0.7);
    }
}
