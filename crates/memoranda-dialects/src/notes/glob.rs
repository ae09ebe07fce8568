//! Globs for files: over their names, or, with a `/` in them, over their paths below a folder.

use super::pattern::{fits, fits_glob};

/// How many globs one may stand for by its braces.
const MOST: usize = 100;

/// A glob: `*` and `?` within a name, `[a-z]` for one letter, `{a,b}` for either, `**` for any folders.
pub(super) struct Glob {
    whole: String,
    /// What it stands for, without braces.
    alternatives: Vec<String>,
}

impl Glob {
    /// Understands a glob; whatever it is, it means something.
    pub(super) fn new(text: &str) -> Self {
        let whole = text.trim().trim_start_matches("./").trim_start_matches('/').to_owned();
        let alternatives = expanded(&whole).unwrap_or_else(|| vec![whole.clone()]);
        Self { whole, alternatives }
    }

    /// How many levels below the folder it looks, as far as it says; no more than a limit.
    pub(super) fn depth(&self, most: usize) -> usize {
        let depth = |glob: &String| match glob.split('/').any(|part| part == "**") {
            true if glob.contains('/') => most,
            _ => glob.split('/').count(),
        };
        self.alternatives.iter().map(depth).max().unwrap_or(1).min(most)
    }

    /// Whether a file fits it, by its path below the folder. One that is called like the glob does, too.
    pub(super) fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let fits_one = |glob: &String| match glob.contains('/') {
            true => fits_path(glob, path),
            false => fits_glob(glob, name),
        };
        self.alternatives.iter().any(fits_one) || fits(&self.whole, name)
    }
}

/// Whether a path fits a glob part by part, where `**` takes any number of them.
fn fits_path(glob: &str, path: &str) -> bool {
    let globs: Vec<&str> = glob.split('/').filter(|part| !part.is_empty()).collect();
    let names: Vec<&str> = path.split('/').collect();
    let (mut g, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(name) = names.get(n) {
        match globs.get(g) {
            Some(&"**") => {
                back = Some((g + 1, n));
                g += 1;
            }
            Some(glob) if fits_glob(glob, name) => {
                g += 1;
                n += 1;
            }
            _ => match back {
                // Let the last stars take one folder more.
                Some((after, taken)) => {
                    back = Some((after, taken + 1));
                    (g, n) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    globs.get(g..).unwrap_or_default().iter().all(|glob| *glob == "**")
}

/// The globs that one with braces stands for; `None` if they do not close, or are too many.
fn expanded(glob: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![glob.to_owned()];
    while let Some(glob) = open.pop() {
        if done.len() + open.len() >= MOST {
            return None;
        }
        let Some(start) = glob.find('{') else {
            done.push(glob);
            continue;
        };
        let (before, inside) = (glob.get(..start)?, glob.get(start + 1..)?);
        let (parts, after) = choices(inside)?;
        open.extend(parts.into_iter().rev().map(|part| format!("{before}{part}{after}")));
    }
    Some(done)
}

/// What stands between the commas up to the brace that closes, and what comes after it.
fn choices(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                parts.push(text.get(from..at)?);
                return Some((parts, text.get(at + 1..)?));
            }
            ',' if depth == 0 => {
                parts.push(text.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_globs() {
        for (glob, path, expected) in [
            ("*.md", "a/b/Plan.md", true),
            ("**/*.md", "Plan.md", true),
            ("**/*.md", "a/b/Plan.md", true),
            ("**/*.md", "a/b/Plan.txt", false),
            ("**", "a/b", true),
            ("a/**", "a/b/c.md", true),
            ("a/**", "b/a/c.md", false),
            ("a/**/c.md", "a/c.md", true),
            ("a/**/c.md", "a/x/y/c.md", true),
            ("**/b/**/*.md", "a/b/c/d.md", true),
            ("**/b/*.md", "a/b/c/d.md", false),
            ("a/b/*", "a/b/c.md", true),
            ("a/b/*", "a/b/c/d.md", false),
            ("/A/B/*", "a/b/c.md", true),
            ("./a/*", "a/c.md", true),
            ("a/?.md", "a/c.md", true),
            ("a/[cd].md", "a/e.md", false),
            ("{d,e}.md", "x/e.md", true),
            ("{d,e}.md", "f.md", false),
            ("{a,b}/{c,d}*", "b/dx.md", true),
            ("{a,b/{c,d}}.md", "b/d.md", true),
            ("*.{md,txt}", "a.txt", true),
            ("{a,}b.md", "b.md", true),
            ("{d,e}.md", "{d,e}.md", true),
            ("{d.md", "{d.md", true),
            ("d}.md", "d}.md", true),
            ("", "a", false),
        ] {
            assert_eq!(Glob::new(glob).fits(path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn a_glob_looks_as_deep_as_it_says() {
        for (glob, depth) in
            [("*.md", 1), ("**/*.md", 10), ("a/b/*", 3), ("{a,b/c}", 2), ("**", 1), ("a/**", 10)]
        {
            assert_eq!(Glob::new(glob).depth(10), depth, "{glob}");
        }
    }

    #[test]
    fn no_glob_takes_long() {
        let braces = Glob::new(&"{a,b}".repeat(1000));
        assert_eq!(braces.alternatives.len(), 1);
        let stars = Glob::new(&"**/a/".repeat(100));
        assert!(!stars.fits(&"a/".repeat(1000)));
    }
}
