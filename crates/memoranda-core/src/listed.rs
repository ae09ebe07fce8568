//! Lists within a sentence, cut where they grow long.

use std::fmt::Display;

/// Joins items by commas. Of a longer list the first `max` are named, and the rest is counted.
pub fn shortened_list<T: Display>(items: &[T], max: usize) -> String {
    let named = items.iter().take(max).map(T::to_string).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(max) {
        0 => named,
        more => format!("{named}, … and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        for (count, expected) in [(0, ""), (1, "0"), (3, "0, 1, 2"), (40, "0, 1, 2, … and 37 more")]
        {
            assert_eq!(shortened_list(&(0..count).collect::<Vec<_>>(), 3), expected);
        }
    }
}
