//! Patterns for names: `*` stands for any letters, `?` for one; neither case counts, nor how accents
//! are written.

use memoranda_core::path::name_key;

/// One piece of a pattern.
#[derive(Debug)]
enum Piece {
    Any,
    One,
    Is(char),
}

impl Piece {
    fn of(c: char) -> Self {
        match c {
            '*' => Self::Any,
            '?' => Self::One,
            other => Self::Is(other),
        }
    }

    fn takes(&self, c: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Is(own) => *own == c,
        }
    }
}

/// Whether an address fits a pattern; brackets in it are nothing but brackets.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let pieces: Vec<Piece> = name_key(pattern.trim()).chars().map(Piece::of).collect();
    is_match(&pieces, name)
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
        }
    }

    #[test]
    fn an_address_has_no_sets() {
        assert!(!fits("n0[12]", "n01"));
        assert!(fits("n0[12]", "n0[12]"));
    }
}
