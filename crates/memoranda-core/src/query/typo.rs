//! Typo tolerance: edit distance and the maximum accepted distance.

use crate::embed::StaticEmbeddingModel;

/// Returns the number of typos accepted in a word: 0 for short words and for dictionary words, else
/// 1 or 2. The stem must be long enough too, because stems are compared.
pub fn max_typos(word: &str, stem: &str) -> usize {
    let is_word = |word: &str| StaticEmbeddingModel::bundled().is_known_word(word);
    if is_word(word) || is_word(stem) || is_word(&format!("{stem}e")) {
        return 0;
    }
    let by_word = match word.chars().count() {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    };
    let by_stem = match stem.chars().count() {
        0..=3 => 0,
        4..=8 => 1,
        _ => 2,
    };
    by_stem.min(by_word)
}

/// Computes the edit distance with transpositions (optimal string alignment); `None` if it exceeds
/// `most`.
pub fn edit_distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&row, j + 1) + 1).min(at(&next, j) + 1);
            best = best.min(at(&row, j) + usize::from(x != y));
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(&y) && b.get(j - 1) == Some(&x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        if next.iter().all(|&cost| cost > most) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|&cost| cost <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::porter::porter_stem;

    #[test]
    fn dictionary_words_allow_no_typos() {
        let check = |word: &str, expected| {
            assert_eq!(max_typos(word, &porter_stem(word)), expected, "{word}");
        };
        for word in [
            "wedding", "jogging", "heating", "parking", "singing", "baking", "bathing", "skiing",
            "housing", "gaming", "sewing", "posters", "contact", "decide", "cats", "xyz", "qwx",
        ] {
            check(word, 0);
        }
        for word in
            ["cofee", "postgras", "recieve", "hazlenuts", "kuberntes", "ngnix", "electrcity"]
        {
            check(word, 1);
        }
        for word in ["accomodatoin", "refridgeratr"] {
            check(word, 2);
        }
    }

    #[test]
    fn edit_distance_counts_typos() {
        let check =
            |a, b, most, expected| assert_eq!(edit_distance(a, b, most), expected, "{a} {b}");
        check("same", "same", 0, Some(0));
        check("kuberntes", "kubernetes", 1, Some(1));
        check("recieve", "receive", 1, Some(1));
        check("postgras", "postgres", 1, Some(1));
        check("cat", "dog", 2, None);
        check("", "ab", 2, Some(2));
        check("naïve", "naive", 1, Some(1));
        check("abcdef", "badcfe", 3, Some(3));
        check("abcdef", "badcfe", 2, None);
    }
}
