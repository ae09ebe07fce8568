//! Filters on frontmatter values.

/// A condition on one frontmatter key. A list matches if one of its items does.
#[derive(Clone, PartialEq, Debug)]
pub struct MetaFilter {
    /// Path of keys to the value, outermost first; never empty.
    pub key: Vec<String>,
    /// Condition on the value.
    pub test: MetaTest,
}

/// Operand of a comparison. A text stays a text: `"1.10"` is a version and differs from the number
/// 1.1.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaScalar {
    /// A text, compared case-insensitively.
    Text(String),
    /// A number, compared by value.
    Number(f64),
}

/// Condition on a value. If both sides parse as numbers, compare numerically; otherwise compare as
/// text, for example `"2026"` with the date `2026-01-05`.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaTest {
    /// All of these equal the value or one of its items.
    HasAll(Vec<MetaScalar>),
    /// One of these equals the value or one of its items.
    HasAny(Vec<MetaScalar>),
    /// The value is greater.
    Above(MetaScalar),
    /// The value is greater or equal.
    AtLeast(MetaScalar),
    /// The value is less.
    Below(MetaScalar),
    /// The value is less or equal.
    AtMost(MetaScalar),
    /// The value is between these bounds, both included.
    Between(MetaScalar, MetaScalar),
}

/// Rejected frontmatter key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} cannot be a frontmatter key; keys hold letters, digits, `_`, `-`, and `.` between names"
)]
pub struct FrontmatterKeyError(pub String);

/// Parses a key path such as `status` or `review.state`.
pub fn parse_frontmatter_key(text: &str) -> Result<Vec<String>, FrontmatterKeyError> {
    let fits = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    };
    let names: Vec<String> = text.trim().split('.').map(str::to_owned).collect();
    if names.iter().all(|name| fits(name)) {
        Ok(names)
    } else {
        Err(FrontmatterKeyError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_with_dots_between() {
        let check = |text: &str, expected: Option<&[&str]>| {
            let expected = expected
                .map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(parse_frontmatter_key(text).ok(), expected, "{text:?}");
        };
        check("status", Some(&["status"]));
        check("review.state", Some(&["review", "state"]));
        check("größe_1-a", Some(&["größe_1-a"]));
        for bad in ["", ".", "a.", "a b", "a\"b", "$.x", "a[0]"] {
            check(bad, None);
        }
    }
}
