//! Which files a record with `paths` is for.

use globset::{Glob, GlobBuilder};

/// Why a pattern would never fit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum PathPatternError {
    /// It says which files are not meant.
    #[error("a pattern cannot exclude files; name those that the memory is for")]
    Excludes,
    /// Nothing is left of it.
    #[error("it names no file")]
    Empty,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Whether a pattern can fit something.
pub(super) fn check(text: &str) -> Result<(), PathPatternError> {
    if text.trim().starts_with('!') {
        return Err(PathPatternError::Excludes);
    }
    let meant = normalize_globs(text);
    if meant.is_empty() {
        return Err(PathPatternError::Empty);
    }
    let unreadable = |error: globset::Error| PathPatternError::Unreadable(error.kind().to_string());
    meant.iter().try_for_each(|glob| compiled(glob).map(drop).map_err(unreadable))
}

/// What a pattern means, as globs that name files from the root and that every program reads alike.
/// Without a slash it fits a name in any folder, as in `.gitignore`; a folder stands for everything
/// in it.
pub fn normalize_globs(text: &str) -> Vec<String> {
    let text = text.trim();
    // As Windows writes it: where there are slashes, too, a backslash takes a sign to the letter.
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
    // A name without an ending may be a folder's.
    let may_be_folder = !name.contains(['*', '?', '[', '{']) && !name.contains('.');
    let within = may_be_folder.then(|| format!("{whole}/**"));
    [whole].into_iter().chain(within).collect()
}

fn compiled(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

/// Whether one of the patterns fits one of the files, which are named as seen from the root.
pub(super) fn fits(patterns: &[String], files: &[String]) -> bool {
    patterns.iter().flat_map(|text| normalize_globs(text)).any(|glob| {
        // Some programs name folders `[id]`, which is no choice of letters.
        let literal = glob.contains('[').then(|| escape_brackets(&glob));
        let globs = [Some(glob.as_str()), literal.as_deref()];
        let globs: Vec<_> = globs.into_iter().flatten().flat_map(compiled).collect();
        let matchers: Vec<_> = globs.iter().map(Glob::compile_matcher).collect();
        let is_match = |file: &str| matchers.iter().any(|matcher| matcher.is_match(file));
        files.iter().any(|file| {
            is_match(file)
                // Who names a folder means what lies in it, whatever the folder's name looks like.
                || glob.ends_with("/**") && is_match(&format!("{file}/x"))
                || file.strip_prefix(&glob).is_some_and(|rest| rest.starts_with('/'))
        })
    })
}

/// A glob in which brackets are themselves.
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
    fn patterns_fit_as_people_expect() {
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
            // A folder stands for what lies in it, and is found by its own name.
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
            // What looks like a choice of letters may be a name.
            ("src/[id]/page.tsx", "src/[id]/page.tsx", true),
            ("app/[...slug]/**", "app/[...slug]/page.tsx", true),
            ("app/[[...slug]]/*.tsx", "app/[[...slug]]/page.tsx", true),
            ("src/[id]/page.tsx", "src/i/page.tsx", true),
            ("**", "a/b", true),
            ("*", "a/b", true),
            ("!src/**", "src/a", false),
        ] {
            let found = fits(&[pattern.to_owned()], &[file.to_owned()]);
            assert_eq!(found, expected, "{pattern} {file}");
        }
    }

    #[test]
    fn what_never_fits_is_refused() {
        for (pattern, expected) in [
            ("!src/**", Err(PathPatternError::Excludes)),
            ("", Err(PathPatternError::Empty)),
            ("./", Err(PathPatternError::Empty)),
            ("/", Err(PathPatternError::Empty)),
            ("src/**", Ok(())),
            ("src\\api\\**", Ok(())),
            ("src/[id]/page.tsx", Ok(())),
        ] {
            assert_eq!(check(pattern), expected, "{pattern}");
        }
        assert!(matches!(check("a{b"), Err(PathPatternError::Unreadable(_))));
    }

    #[test]
    fn other_programs_get_globs_from_the_root() {
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
