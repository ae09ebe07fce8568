//! Which files a record with `paths` is for.

use globset::{Glob, GlobBuilder};

/// Reads a pattern. Without a slash it fits a file's name in any folder, as in `.gitignore`; with
/// one at the end, everything in a folder.
pub(super) fn pattern(text: &str) -> Result<Glob, globset::Error> {
    let plain = text.trim();
    let plain = plain.strip_prefix("./").unwrap_or(plain);
    let rooted = plain.strip_prefix('/');
    let path = rooted.unwrap_or(plain);
    let mut whole = match path.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => path.to_owned(),
    };
    if rooted.is_none() && !path.contains('/') {
        whole.insert_str(0, "**/");
    }
    GlobBuilder::new(&whole).literal_separator(true).build()
}

/// Whether one of the patterns fits one of the files, which are named as seen from the root.
pub(super) fn fits(patterns: &[String], files: &[String]) -> bool {
    patterns.iter().any(|text| match pattern(text) {
        Ok(glob) => {
            let matcher = glob.compile_matcher();
            files.iter().any(|file| matcher.is_match(file))
        }
        // What a person wrote and cannot be read means itself.
        Err(_) => files.iter().any(|file| file == text),
    })
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
        ] {
            let found = fits(&[pattern.to_owned()], &[file.to_owned()]);
            assert_eq!(found, expected, "{pattern} {file}");
        }
    }
}
