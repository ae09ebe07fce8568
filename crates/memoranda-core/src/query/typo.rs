//! Words that were mistyped: how far two words are apart, and how far they may be.

/// How many slips a word may have and still be meant: none in a short one, where nearly every
/// slip is another word.
pub fn tolerance(word: &str) -> usize {
    match word.chars().count() {
        0..=4 => 0,
        5..=8 => 1,
        _ => 2,
    }
}

/// How many letters must be put in, left out, changed or swapped with their neighbour to make one
/// word of the other; `None` if more than `most`.
pub fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
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

    #[test]
    fn slips_are_counted() {
        let check = |a, b, most, expected| assert_eq!(distance(a, b, most), expected, "{a} {b}");
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
