//! Entity types: free text, normalized and with advice instead of errors.

use super::similar_names::similar_names;

/// Suggested entity types; any other type is accepted.
pub const COMMON_ENTITY_TYPES: &[&str] = &[
    "Person",
    "Document",
    "File",
    "Code",
    "Task",
    "Knowledge",
    "API",
    "Database",
    "Service",
    "Configuration",
    "Patient",
    "Doctor",
    "Diagnosis",
    "Customer",
    "Product",
    "Order",
    "Project",
    "Organization",
    "Event",
    "Concept",
    "Tool",
    "Location",
];

/// Type of an entity without a stated type.
pub const DEFAULT_ENTITY_TYPE: &str = "Note";

/// A normalized entity type with warnings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NormalizedEntityType {
    /// The type with an initial capital.
    pub name: String,
    /// Advice for the caller; never an error.
    pub warnings: Vec<String>,
}

/// Normalizes a type to an initial capital and collects warnings.
pub fn normalize_entity_type(given: &str) -> NormalizedEntityType {
    let trimmed = given.trim();
    let mut warnings = Vec::new();
    let mut chars = trimmed.chars();
    let name: String = match chars.next() {
        Some(first) if first.is_lowercase() => first.to_uppercase().chain(chars).collect(),
        _ => trimmed.to_owned(),
    };
    if name != trimmed {
        warnings
            .push(format!("entityType '{trimmed}' is saved as '{name}' (capital first letter)"));
    }
    if name.contains(char::is_whitespace) {
        warnings.push(format!(
            "entityType '{name}' contains spaces; consider '{}'",
            pascal_case(&name)
        ));
    }
    let alike = COMMON_ENTITY_TYPES.iter().copied().filter(|t| t.len().abs_diff(name.len()) <= 2);
    if !COMMON_ENTITY_TYPES.contains(&name.as_str())
        && let Some(near) = similar_names(&name, alike, 1).pop()
    {
        warnings.push(format!("entityType '{name}' is close to the common type '{near}'"));
    }
    NormalizedEntityType { name, warnings }
}

fn pascal_case(text: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        first + &chars.as_str().to_lowercase()
    };
    text.split_whitespace().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_capitalized_with_warnings() {
        let check = |given: &str, name: &str, words: &[&str]| {
            let found = normalize_entity_type(given);
            assert_eq!(found.name, name);
            assert_eq!(found.warnings.len(), words.len(), "{:?}", found.warnings);
            for (warning, word) in found.warnings.iter().zip(words) {
                assert!(warning.contains(word), "{warning}");
            }
        };
        check("Person", "Person", &[]);
        check("person", "Person", &["'Person'"]);
        check("API Key", "API Key", &["'ApiKey'"]);
        check("Persn", "Persn", &["common type 'Person'"]);
        check("Recipe", "Recipe", &[]);
        check("CodeArtifact", "CodeArtifact", &[]);
        check("日記", "日記", &[]);
    }
}
