//! Path patterns: the files that a record with `paths` applies to.

use globset::{Glob, GlobBuilder};

/// A pattern that can never match.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathPatternError {
    /// The pattern excludes files.
    #[error("a pattern cannot exclude files; name those that the memory is for")]
    Excludes,
    /// The pattern is empty.
    #[error("it names no file")]
    Empty,
    /// The pattern has invalid syntax.
    #[error("{0}")]
    Unreadable(String),
}

/// Checks that a pattern can match something.
pub fn check_path_pattern(text: &str) -> Result<(), PathPatternError> {
    if text.trim().starts_with('!') {
        return Err(PathPatternError::Excludes);
    }
    let globs = normalize_globs(text);
    if globs.is_empty() {
        return Err(PathPatternError::Empty);
    }
    let unreadable = |error: globset::Error| PathPatternError::Unreadable(error.kind().to_string());
    globs.iter().try_for_each(|glob| compile_glob(glob).map(drop).map_err(unreadable))
}

/// Converts a pattern to globs relative to the root that every program reads alike. A pattern without
/// a slash matches a name in any folder, as in `.gitignore`. A folder matches everything in it.
pub fn normalize_globs(text: &str) -> Vec<String> {
    let text = text.trim();
    // Windows separators. With slashes in the pattern, a backslash escapes the next character.
    let text = if text.contains('/') { text.to_owned() } else { text.replace('\\', "/") };
    let mut path = text.as_str();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let is_rooted = path.starts_with('/');
    let path = path.trim_start_matches('/');
    let folder = path.trim_end_matches('/');
    if folder.is_empty() || folder == "." {
        return Vec::new();
    }
    let is_anywhere = !is_rooted && !folder.contains('/') && folder != "**";
    let whole = format!("{}{folder}", if is_anywhere && path == folder { "**/" } else { "" });
    if path != folder {
        return vec![format!("{whole}/**")];
    }
    let name = folder.rsplit('/').next().unwrap_or(folder);
    // A name without an extension may be a folder.
    let may_be_folder = !name.contains(['*', '?', '[', '{']) && !name.contains('.');
    let within = may_be_folder.then(|| format!("{whole}/**"));
    [whole].into_iter().chain(within).collect()
}

fn compile_glob(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

/// Returns true if one of the patterns matches one of the files. Files are relative to the root.
pub(super) fn matches_any(patterns: &[String], files: &[String]) -> bool {
    patterns.iter().flat_map(|text| normalize_globs(text)).any(|glob| {
        // Some frameworks name folders `[id]`, which must also match literally.
        let literal = glob.contains('[').then(|| escape_brackets(&glob));
        let globs = [Some(glob.as_str()), literal.as_deref()];
        let globs: Vec<_> = globs.into_iter().flatten().flat_map(compile_glob).collect();
        let matchers: Vec<_> = globs.iter().map(Glob::compile_matcher).collect();
        let is_match = |file: &str| matchers.iter().any(|matcher| matcher.is_match(file));
        files.iter().any(|file| {
            is_match(file)
                // A folder includes its content, even if its name looks like a pattern.
                || glob.ends_with("/**") && is_match(&format!("{file}/x"))
                || file.strip_prefix(&glob).is_some_and(|rest| rest.starts_with('/'))
        })
    })
}

/// Escapes brackets so that they match literally.
fn escape_brackets(glob: &str) -> String {
    let plain = |c: char| match c {
        '[' => "[[]".to_owned(),
        ']' => "[]]".to_owned(),
        c => c.to_string(),
    };
    glob.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_folders_and_globs() {
        for (pattern, file, expected) in [
            ("src/api/**", "src/api/a.ts", true),
            ("src/api/**", "src/api/deep/a.ts", true),
            ("src/api/**", "src/web/a.ts", false),
            ("src/*.ts", "src/a.ts", true),
            ("src/*.ts", "src/deep/a.ts", false),
            ("*.ts", "src/deep/a.ts", true),
            ("/*.ts", "src/a.ts", false),
            ("/*.ts", "a.ts", true),
            ("**/*.{ts,tsx}", "a.tsx", true),
            ("./src/", "src/deep/a.ts", true),
            ("src/?.rs", "src/a.rs", true),
            ("src/[ab].rs", "src/c.rs", false),
            ("a[", "a[", true),
            // A folder matches its content and itself.
            ("src/api", "src/api/deep/a.ts", true),
            ("src/api", "src/api", true),
            ("src/api", "src/apis/a.ts", false),
            ("src/v1.2", "src/v1.2/a.ts", true),
            ("src/a.ts", "src/a.ts", true),
            ("api", "src/api/a.ts", true),
            ("src/api/**", "src/api", true),
            ("src/api/", "src/api", true),
            ("src/api/**", "src", false),
            ("api/", "src/api/a.ts", false),
            ("src\\api\\**", "src/api/a.ts", true),
            ("src\\api", "src/api/a.ts", true),
            ("src/\\[id\\]/a.ts", "src/[id]/a.ts", true),
            // Brackets may be part of a name.
            ("src/[id]/page.tsx", "src/[id]/page.tsx", true),
            ("app/[...slug]/**", "app/[...slug]/page.tsx", true),
            ("app/[[...slug]]/*.tsx", "app/[[...slug]]/page.tsx", true),
            ("src/[id]/page.tsx", "src/i/page.tsx", true),
            ("**", "a/b", true),
            ("*", "a/b", true),
            ("!src/**", "src/a", false),
        ] {
            let found = matches_any(&[pattern.to_owned()], &[file.to_owned()]);
            assert_eq!(found, expected, "{pattern} {file}");
        }
    }

    #[test]
    fn patterns_that_never_match_are_rejected() {
        for (pattern, expected) in [
            ("!src/**", Err(PathPatternError::Excludes)),
            ("", Err(PathPatternError::Empty)),
            ("./", Err(PathPatternError::Empty)),
            ("/", Err(PathPatternError::Empty)),
            ("src/**", Ok(())),
            ("src\\api\\**", Ok(())),
            ("src/[id]/page.tsx", Ok(())),
        ] {
            assert_eq!(check_path_pattern(pattern), expected, "{pattern}");
        }
        assert!(matches!(check_path_pattern("a{b"), Err(PathPatternError::Unreadable(_))));
    }

    #[test]
    fn patterns_become_globs_relative_to_the_root() {
        for (pattern, expected) in [
            ("*.sql", &["**/*.sql"][..]),
            ("src/api/", &["src/api/**"]),
            ("./x/**", &["x/**"]),
            ("/top.md", &["top.md"]),
            ("src/*.{ts,tsx}", &["src/*.{ts,tsx}"]),
            ("src/api", &["src/api", "src/api/**"]),
            ("src\\api\\**", &["src/api/**"]),
            ("Makefile", &["**/Makefile", "**/Makefile/**"]),
            ("**", &["**"]),
            ("*", &["**/*"]),
            ("/", &[]),
        ] {
            assert_eq!(normalize_globs(pattern), expected, "{pattern}");
        }
    }
}
