//! Questions about frontmatter: what a key must hold for a note to be found.

/// One key of the frontmatter, and what its value must be. A list fits if one of its items does.
#[derive(Clone, PartialEq, Debug)]
pub struct MetaFilter {
    /// The names that lead to the value, outermost first; never empty.
    pub key: Vec<String>,
    /// What the value must be.
    pub test: MetaTest,
}

/// A value to be equal to, or a bound. What is asked for as a text is one: `"1.10"` is a version, and
/// not 1.1.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaScalar {
    /// The same text; letters may differ in case.
    Text(String),
    /// The same number, however it is written.
    Number(f64),
}

/// What a value must be. A number is compared with numbers alone; so is a text that is one with a
/// value that is one, and all else is compared as text: `"2026"` with the date `2026-01-05`.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaTest {
    /// Each of these is the value, or one of its items.
    HasAll(Vec<MetaScalar>),
    /// One of these is.
    HasAny(Vec<MetaScalar>),
    /// More than this.
    Above(MetaScalar),
    /// This or more.
    AtLeast(MetaScalar),
    /// Less than this.
    Below(MetaScalar),
    /// This or less.
    AtMost(MetaScalar),
    /// From the first to the second, both included.
    Between(MetaScalar, MetaScalar),
}

/// A text that cannot name a frontmatter key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0:?} cannot be a frontmatter key; keys hold letters, digits, `_`, `-`, and `.` between names"
)]
pub struct FrontmatterKeyError(pub String);

/// Takes `status` or `review.state` apart.
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
