//! Globs for files: over their names, or, with a `/` in them, over their paths below a folder.

use globset::{GlobBuilder, GlobMatcher};
use memoranda_core::path::name_key;

use super::pattern::fits;

/// A glob: `*` and `?` within a name, `[a-z]` for one letter, `{a,b}` for either, `**` for any folders.
/// Neither case counts, nor how accents are written.
pub(super) struct Glob {
    whole: String,
    /// `None` if it is no glob, but only what a file may be called.
    matcher: Option<GlobMatcher>,
}

impl Glob {
    /// Understands a glob; whatever it is, it means something.
    pub(super) fn new(text: &str) -> Self {
        let whole = text.trim().trim_start_matches("./").trim_start_matches('/').to_owned();
        let key = name_key(&whole);
        let mut builder = GlobBuilder::new(&key);
        builder.literal_separator(true).backslash_escape(false).empty_alternates(true);
        let matcher = builder.build().ok().map(|glob| glob.compile_matcher());
        Self { whole, matcher }
    }

    fn is_of_paths(&self) -> bool {
        self.whole.contains('/')
    }

    /// How many levels below the folder it looks, as far as it says; no more than a limit.
    pub(super) fn depth(&self, most: usize) -> usize {
        match self.whole.contains("**") && self.is_of_paths() {
            true => most,
            false => self.whole.split('/').count().min(most),
        }
    }

    /// Whether a file fits it, by its path below the folder. One that is called like the glob does, too.
    pub(super) fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let compared = name_key(if self.is_of_paths() { path } else { name });
        self.matcher.as_ref().is_some_and(|glob| glob.is_match(compared.as_str()))
            || fits(&self.whole, name)
    }
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
            ("n0[12].md", "n01.md", true),
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
            ("*m\u{fc}ller*", "Bu\u{308}ro Mu\u{308}ller.md", true),
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
        assert!(!braces.fits(&"ab".repeat(400)));
        let stars = Glob::new(&format!("{}b", "**/a/".repeat(100)));
        assert!(!stars.fits(&format!("{}c", "a/".repeat(1000))));
        assert!(stars.fits(&format!("{}b", "a/".repeat(1000))));
    }
}
