//! Patterns for names: `*` stands for any letters, `?` for one; neither case counts, nor how accents
//! are written.

use memoranda_core::path::name_key;

/// One piece of a pattern.
#[derive(Debug)]
enum Piece {
    Any,
    One,
    Is(char),
    /// One letter of these ranges, or of no such range.
    Among(Vec<(char, char)>),
    NotAmong(Vec<(char, char)>),
}

impl Piece {
    fn takes(&self, c: char) -> bool {
        let holds = |ranges: &[(char, char)]| ranges.iter().any(|(a, z)| (*a..=*z).contains(&c));
        match self {
            Self::Any | Self::One => true,
            Self::Is(own) => *own == c,
            Self::Among(ranges) => holds(ranges),
            Self::NotAmong(ranges) => !holds(ranges),
        }
    }
}

/// Whether an address fits a pattern; brackets in it are nothing but brackets.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    is_match(&pieces(&letters(pattern), Brackets::Letters), name)
}

/// Whether the name of a file fits a glob, in which `[ab]`, `[a-z]` and `[!a]` stand for one letter.
/// A file that is called like the glob fits it, too.
pub(super) fn fits_glob(glob: &str, name: &str) -> bool {
    is_match(&pieces(&letters(glob), Brackets::Sets), name) || fits(glob, name)
}

/// What brackets in a pattern mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Letters,
    Sets,
}

fn letters(text: &str) -> Vec<char> {
    name_key(text.trim()).chars().collect()
}

fn pieces(pattern: &[char], brackets: Brackets) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        pieces.push(match first {
            '*' => Piece::Any,
            '?' => Piece::One,
            '[' if brackets == Brackets::Sets => match set(after) {
                Some((piece, after)) => {
                    rest = after;
                    piece
                }
                None => Piece::Is('['),
            },
            other => Piece::Is(*other),
        });
    }
    pieces
}

/// The set that an opening bracket begins, and what comes after it; `None` if none closes it. A
/// closing bracket that comes first is one of the letters.
fn set(text: &[char]) -> Option<(Piece, &[char])> {
    let (is_negated, inside) = match text.split_first() {
        Some(('!', rest)) => (true, rest),
        _ => (false, text),
    };
    let end = inside.iter().skip(1).position(|c| *c == ']')? + 1;
    let (mut inside, after) = (inside.get(..end)?, inside.get(end + 1..)?);
    let mut ranges = Vec::new();
    while let Some((from, rest)) = inside.split_first() {
        match rest {
            ['-', to, rest @ ..] => {
                ranges.push((*from, *to));
                inside = rest;
            }
            _ => {
                ranges.push((*from, *from));
                inside = rest;
            }
        }
    }
    Some((if is_negated { Piece::NotAmong(ranges) } else { Piece::Among(ranges) }, after))
}

fn is_match(pattern: &[Piece], name: &str) -> bool {
    let name: Vec<char> = name_key(name).chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(c) = name.get(n) {
        match pattern.get(p) {
            Some(Piece::Any) => {
                back = Some((p + 1, n));
                p += 1;
            }
            Some(piece) if piece.takes(*c) => {
                p += 1;
                n += 1;
            }
            _ => match back {
                // Let the last star take one letter more.
                Some((after, taken)) => {
                    back = Some((after, taken + 1));
                    (p, n) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|piece| matches!(piece, Piece::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        for (pattern, name, expected) in [
            ("*.md", "Plan.md", true),
            ("*.md", "Plan.mdx", false),
            ("plan*", "Plan.md", true),
            ("p?an.md", "Plan.md", true),
            ("*a*n*", "Plan.md", true),
            ("*x*", "Plan.md", false),
            ("", "a", false),
            ("*m\u{fc}ller*", "Bu\u{308}ro Mu\u{308}ller.md", true),
            ("M\u{fc}ll?r", "Mu\u{308}ller", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
            assert_eq!(fits_glob(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_set_stands_for_one_letter() {
        for (glob, name, expected) in [
            ("n0[12].md", "n01.md", true),
            ("n0[12].md", "n02.md", true),
            ("n0[12].md", "n03.md", false),
            ("n0[!12].md", "n03.md", true),
            ("n0[!12].md", "n01.md", false),
            ("[A-C]*.md", "beta.md", true),
            ("[a-c]*.md", "Delta.md", false),
            ("[]x]", "]", true),
            ("[!]x]", "]", false),
            ("[!]x]", "a", true),
            ("[a-]", "-", true),
            ("[ab", "[ab", true),
            ("a[]", "a[]", true),
            ("Plan [old].md", "Plan [old].md", true),
            ("Plan [old].md", "Plan o.md", true),
            ("*[0-9]*[0-9].md", "n12.md", true),
        ] {
            assert_eq!(fits_glob(glob, name), expected, "{glob} {name}");
        }
        assert!(!fits("n0[12]", "n01"), "an address has no sets");
    }
}
