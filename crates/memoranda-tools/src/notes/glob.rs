//! Globs for files, and patterns for addresses. Both ignore case and Unicode form.

use globset::{GlobBuilder, GlobMatcher};
use memoranda_core::path::name_key;
use memoranda_engine::matches_wildcard;

/// A glob for files: `*` and `?` within a name, `[a-z]` for one letter, `{a,b}` for either, `**` for
/// any folders. It matches names, or with a `/` paths relative to a folder.
pub(super) struct FileGlob {
    whole: String,
    /// `None` if the text is not a valid glob, but may be the name of a file.
    matcher: Option<GlobMatcher>,
}

impl FileGlob {
    /// Parses a glob. An invalid glob matches itself.
    pub(super) fn new(text: &str) -> Self {
        let whole = text.trim().trim_start_matches("./").trim_start_matches('/').to_owned();
        let key = name_key(&whole);
        let mut builder = GlobBuilder::new(&key);
        builder.literal_separator(true).backslash_escape(false).empty_alternates(true);
        let matcher = builder.build().ok().map(|glob| glob.compile_matcher());
        Self { whole, matcher }
    }

    fn matches_paths(&self) -> bool {
        self.whole.contains('/')
    }

    /// Returns the depth of the glob in levels, up to a maximum.
    pub(super) fn depth(&self, max: usize) -> usize {
        if self.whole.contains("**") && self.matches_paths() {
            max
        } else {
            self.whole.split('/').count().min(max)
        }
    }

    /// Returns true if the path relative to the folder matches. A file named like the glob matches,
    /// too.
    pub(super) fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let compared = name_key(if self.matches_paths() { path } else { name });
        self.matcher.as_ref().is_some_and(|glob| glob.is_match(compared.as_str()))
            || matches_pattern(&self.whole, name)
    }
}

/// Returns true if a name or address matches a pattern: `*` matches any text, `?` one character.
/// Brackets have no special meaning.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    matches_wildcard(&name_key(pattern.trim()), &name_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_globs() {
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
            assert_eq!(FileGlob::new(glob).matches(path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn the_depth_of_a_glob_is_its_number_of_levels() {
        for (glob, depth) in
            [("*.md", 1), ("**/*.md", 10), ("a/b/*", 3), ("{a,b/c}", 2), ("**", 1), ("a/**", 10)]
        {
            assert_eq!(FileGlob::new(glob).depth(10), depth, "{glob}");
        }
    }

    #[test]
    fn globs_match_in_linear_time() {
        let braces = FileGlob::new(&"{a,b}".repeat(1000));
        assert!(!braces.matches(&"ab".repeat(400)));
        let stars = FileGlob::new(&format!("{}b", "**/a/".repeat(100)));
        assert!(!stars.matches(&format!("{}c", "a/".repeat(1000))));
        assert!(stars.matches(&format!("{}b", "a/".repeat(1000))));
    }

    #[test]
    fn names_match_patterns() {
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
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn brackets_have_no_special_meaning() {
        assert!(!matches_pattern("n0[12]", "n01"));
        assert!(matches_pattern("n0[12]", "n0[12]"));
    }
}
