//! Identity of observations over time: edits by a person, and ids of observations without a
//! comment.

use std::collections::HashMap;

use super::{Note, Observation};
use crate::change::FactEdit;
use crate::id::ObservationId;

/// Returns the observations whose text changed while their comments stayed the same. Each edit is a
/// new version.
pub fn fact_edits(before: &Note, after: &Note) -> Vec<FactEdit> {
    let mut old = HashMap::new();
    for (fact, observation) in facts(before) {
        old.entry(&fact.id).or_insert((fact, observation));
    }
    facts(after)
        .filter_map(|(fact, now)| {
            let (known, was) = old.remove(&fact.id)?;
            let same =
                was.text == now.text && was.category == now.category && was.context == now.context;
            let edited = known.version == fact.version && !same;
            edited
                .then(|| FactEdit { id: fact.id.clone(), version: fact.version.saturating_add(1) })
        })
        .collect()
}

fn facts(note: &Note) -> impl Iterator<Item = (&super::ObservationMeta, &Observation)> {
    note.observations.iter().filter_map(|o| o.meta.as_ref().map(|fact| (fact, o)))
}

/// Derives the id of an observation without a comment: the same text in the same note yields the
/// same id. `occurrence` distinguishes equal lines of one note, from 0.
pub fn derive_observation_id(
    note_path_key: &str,
    observation: &Observation,
    occurrence: usize,
) -> ObservationId {
    let category = observation.category.as_deref().unwrap_or_default();
    let context = observation.context.as_deref().unwrap_or_default();
    let occurrence = occurrence.to_string();
    let mut hash = FnvHasher::new();
    for part in [note_path_key, category, &observation.text, context, &occurrence] {
        hash.add(part.as_bytes());
        // A byte that never occurs in UTF-8, so that different lists of parts hash different bytes.
        hash.add(&[0xff]);
    }
    ObservationId::from_bits(hash.0)
}

/// 128-bit FNV-1a. Ids are stored, so the hash must never change, unlike those of the standard
/// library.
struct FnvHasher(u128);

impl FnvHasher {
    const fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn reworded_facts_are_new_versions() {
        let before =
            "- [a1] one (c) <!-- obs_A v1 -->\n- [a1] two <!-- obs_B v3 -->\n- [a1] free\n";
        let check = |after: &str, expected: &[(&str, u32)]| {
            let edits = fact_edits(&parse(before), &parse(after));
            let found: Vec<_> = edits.iter().map(|e| (e.id.as_str(), e.version)).collect();
            assert_eq!(found, expected, "{after}");
        };
        check(before, &[]);
        check(
            "- [a1] uno (c) <!-- obs_A v1 -->\n- [b2] two <!-- obs_B v3 -->\n",
            &[("obs_A", 2), ("obs_B", 4)],
        );
        check("- [a1] one <!-- obs_A v1 -->\n", &[("obs_A", 2)]);
        check("- [a1] uno (c) <!-- obs_A v2 -->\n", &[]);
        check("* [a1] one (c) <!-- obs_A v1 -->\n", &[]);
        check("- [a1] other <!-- obs_C v1 -->\n", &[]);
        check("- [a1] free!\n", &[]);
    }

    #[test]
    fn derived_ids_are_stable_and_distinct() {
        let note = parse("- [a1] one\n- [a1] one\n- [a1] two\n- [b2] one\n");
        let mut ids: Vec<_> =
            note.observations.iter().map(|o| derive_observation_id("n.md", o, 0)).collect();
        assert_eq!(ids[0], ids[1]);
        ids.push(derive_observation_id("n.md", &note.observations[0], 1));
        ids.push(derive_observation_id("m.md", &note.observations[0], 0));
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 5);
        // The ids are stored in files and logs: this value must never change.
        let kept = derive_observation_id("n.md", &note.observations[0], 0);
        assert_eq!(kept.as_str(), "obs_00QQ1S38NGT61WVRYCDBJ096EZ");
    }
}
