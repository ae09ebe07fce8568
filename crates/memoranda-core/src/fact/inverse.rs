//! Inverse relation types. Inverses are derived on read, so that each relation is stored in one
//! line only.

const PAIRS: &[(&str, &str)] = &[
    ("created", "created by"),
    ("contains", "contained in"),
    ("uses", "used by"),
    ("manages", "managed by"),
    ("owns", "owned by"),
    ("modifies", "modified by"),
    ("updates", "updated by"),
    ("depends on", "required by"),
    ("part of", "has part"),
];

/// Returns the relation type as read from the target.
pub fn inverse_relation_type(relation_type: &str) -> String {
    let plain = relation_type.replace('_', " ").to_lowercase();
    for (there, back) in PAIRS {
        if plain == *there {
            return (*back).to_owned();
        }
        if plain == *back {
            return (*there).to_owned();
        }
    }
    if let Some(there) = relation_type.strip_suffix(" by").filter(|there| !there.is_empty()) {
        return there.to_owned();
    }
    if let Some(there) = relation_type.strip_suffix(" (inverse)") {
        return there.to_owned();
    }
    format!("{relation_type} (inverse)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relation_types_are_inverted() {
        for (there, back) in [
            ("created", "created by"),
            ("uses", "used by"),
            ("contains", "contained in"),
            ("likes", "likes (inverse)"),
        ] {
            assert_eq!(inverse_relation_type(there), back);
            assert_eq!(inverse_relation_type(back), there);
        }
        assert_eq!(inverse_relation_type("reviewed by"), "reviewed");
        assert_eq!(inverse_relation_type("depends_on"), "required by");
    }
}
