//! Similar names, for suggestions after a failed lookup.

/// Minimum Jaro-Winkler similarity of a suggested name.
const MIN_SIMILARITY: f64 = 0.84;

/// Returns the most similar names, best first, at most `most`.
pub fn similar_names<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
    most: usize,
) -> Vec<&'n str> {
    let lower = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter(|name| *name != wanted)
        .map(|name| (likeness(&lower, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= MIN_SIMILARITY)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(most).map(|(_, name)| name).collect()
}

fn likeness(a: &str, b: &str) -> f64 {
    if a.chars().count() > 3 && b.chars().count() > 3 && (a.contains(b) || b.contains(a)) {
        return 0.95;
    }
    let likeness = strsim::jaro_winkler(a, b);
    if likeness < MIN_SIMILARITY {
        return likeness;
    }
    likeness.min(strsim::normalized_damerau_levenshtein(a, b) + 0.16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        let names = ["Portfolio", "Python Scripts", "Andrii", "Person"];
        let near = |wanted| similar_names(wanted, names, 2);
        assert_eq!(near("Portfolo"), ["Portfolio"]);
        assert_eq!(near("python script"), ["Python Scripts"]);
        assert_eq!(near("Andriy"), ["Andrii"]);
        assert!(near("NonExistent").is_empty());
        assert!(near("Portfolio").is_empty());
    }
}
