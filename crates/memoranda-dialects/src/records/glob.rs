//! Which files a record with `paths` is for.

use std::path::Path;

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

/// Whether one of the patterns fits one of the files. Files may be absolute below the root.
pub(super) fn fits(patterns: &[String], files: &[String], root: Option<&Path>) -> bool {
    let files: Vec<String> = files.iter().map(|file| relative(file, root)).collect();
    patterns.iter().any(|text| match pattern(text) {
        Ok(glob) => {
            let matcher = glob.compile_matcher();
            files.iter().any(|file| matcher.is_match(file))
        }
        // What a person wrote and cannot be read means itself.
        Err(_) => files.iter().any(|file| file == text),
    })
}

fn relative(file: &str, root: Option<&Path>) -> String {
    let file = file.trim().replace('\\', "/");
    let root = root.map(|root| root.to_string_lossy().replace('\\', "/"));
    let inner =
        root.and_then(|root| file.strip_prefix(root.trim_end_matches('/')).map(str::to_owned));
    let file = inner.unwrap_or(file);
    file.trim_start_matches("./").trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_people_expect() {
        let root = Path::new("/srv/shop");
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
            ("src/api/**", "/srv/shop/src/api/a.ts", true),
            ("src/api/**", "./src/api/a.ts", true),
            ("src/api/**", "src\\api\\a.ts", true),
            ("a[", "a[", true),
        ] {
            let found = fits(&[pattern.to_owned()], &[file.to_owned()], Some(root));
            assert_eq!(found, expected, "{pattern} {file}");
        }
    }
}
