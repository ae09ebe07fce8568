//! Paths of notes: relative paths that cannot leave their project.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a file or folder name in bytes; the limit of common file systems.
const MAX_SEGMENT_BYTES: usize = 255;
/// Control directories of programs, and the Windows short name of `.git`.
const CONTROL_DIRS: [&str; 3] = [".git", ".memoranda", "git~1"];
/// Maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 2048;

/// A relative path of names joined by `/`: never empty or absolute, without `.`, `..`, backslash or
/// control character. The type guarantees that the path stays within its project.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NotePath(String);

/// Reason why a text is rejected as a note path.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{path:?} is not a path within a project: {reason}")]
pub struct PathError {
    /// Rejected text, cut to a printable length.
    pub path: String,
    /// Violated rule.
    pub reason: PathErrorKind,
}

/// Rule that a rejected path violates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathErrorKind {
    /// The path is empty.
    #[error("it is empty")]
    Empty,
    /// The path begins at the root of a file system or at a drive.
    #[error("it is absolute; give a path relative to the project")]
    Absolute,
    /// The path contains `.` or `..`.
    #[error("`.` and `..` are not allowed")]
    Dots,
    /// The path contains two slashes in a row or ends with a slash.
    #[error("a name between two slashes is empty")]
    EmptyName,
    /// The path contains a backslash, which some systems read as a separator.
    #[error("backslashes are not allowed; separate names with `/`")]
    Backslash,
    /// The path contains NUL, a newline or another control character.
    #[error("it holds a control character")]
    Control,
    /// A name is longer than 255 bytes.
    #[error("a name is longer than 255 bytes")]
    NameTooLong,
    /// The path is longer than 2048 bytes.
    #[error("it is longer than 2048 bytes")]
    PathTooLong,
}

/// Returns true for characters that some file systems ignore in names.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl NotePath {
    /// Parses a path; rejects every text that could name a place outside a project.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match Self::violated_rule(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(PathError { path: text.chars().take(120).collect(), reason }),
        }
    }

    fn violated_rule(text: &str) -> Option<PathErrorKind> {
        let bytes = text.as_bytes();
        let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
        if text.is_empty() {
            Some(PathErrorKind::Empty)
        } else if text.len() > MAX_PATH_BYTES {
            Some(PathErrorKind::PathTooLong)
        } else if text.starts_with('/') || drive {
            Some(PathErrorKind::Absolute)
        } else if text.contains('\\') {
            Some(PathErrorKind::Backslash)
        } else if text.chars().any(char::is_control) {
            Some(PathErrorKind::Control)
        } else {
            text.split('/').find_map(|name| match name {
                "" => Some(PathErrorKind::EmptyName),
                "." | ".." => Some(PathErrorKind::Dots),
                name if name.len() > MAX_SEGMENT_BYTES => Some(PathErrorKind::NameTooLong),
                _ => None,
            })
        }
    }

    /// Returns the path as text, with `/` between names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last name: the file itself.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the file name without its last extension; a leading dot starts no extension.
    pub fn stem(&self) -> &str {
        file_stem(&self.0)
    }

    /// Returns the extension without its dot, as written; empty without one.
    pub fn extension(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[dot + 1..],
            _ => "",
        }
    }

    /// Returns the folder of the file; `None` at the top of the project.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// Returns true if the extension is that of Markdown.
    pub fn is_markdown(&self) -> bool {
        let extension = self.extension();
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    }

    /// Returns true if the path is in a program's control directory, such as `.git`: a write there
    /// could run code. Names that some system treats as equal to such a directory count too.
    pub fn is_in_control_dir(&self) -> bool {
        self.0.split('/').any(|name| {
            let seen: String = name.chars().filter(|c| !is_ignorable(*c)).collect();
            let seen = seen.trim_end_matches(['.', ' ']).to_lowercase();
            CONTROL_DIRS.contains(&seen.split(':').next().unwrap_or(&seen))
        })
    }

    /// Returns true if the file or one of its folders is hidden (its name begins with a dot).
    pub fn is_hidden(&self) -> bool {
        self.0.split('/').any(|name| name.starts_with('.'))
    }

    /// Returns the path relative to the folder of another file, such as `../b/Plan.md`.
    pub fn relative_from(&self, from: &Self) -> String {
        let folder: Vec<&str> = from.parent().map(|f| f.split('/').collect()).unwrap_or_default();
        let names: Vec<&str> = self.as_str().split('/').collect();
        let last = names.len().saturating_sub(1);
        let shared = folder.iter().zip(names.iter().take(last)).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..", folder.len() - shared);
        up.chain(names.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
    }

    /// Returns true if the path is in the given folder, at any depth.
    pub fn is_within(&self, folder: &str) -> bool {
        folder.is_empty() || self.0.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns the path in NFC: accents in composed form.
    pub fn composed(&self) -> String {
        self.0.nfc().collect()
    }

    /// Returns the path folded as by a case-insensitive, normalizing file system. Two paths with
    /// the same key cannot both exist on every system.
    pub fn key(&self) -> String {
        name_key(&self.0)
    }
}

/// Returns the file name of a path without its last extension; a leading dot starts no extension.
pub fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.get(..dot).unwrap_or(name),
        _ => name,
    }
}

/// Folds a name, or a pattern of names, as [`NotePath::key`] folds a path.
pub fn name_key(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).nfc().collect()
}

impl fmt::Display for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_within_a_project_are_paths() {
        for good in
            ["a.md", "a/b/c.md", "日本/語.md", "a b/c d.md", ".hidden/x", "..a/b..md", "%2e%2e/x"]
        {
            assert_eq!(NotePath::parse(good).map(|p| p.0), Ok(good.to_owned()));
        }
        for (bad, reason) in [
            ("", PathErrorKind::Empty),
            ("/etc/passwd", PathErrorKind::Absolute),
            ("C:/x", PathErrorKind::Absolute),
            ("..", PathErrorKind::Dots),
            ("a/../b", PathErrorKind::Dots),
            ("./a", PathErrorKind::Dots),
            ("a//b", PathErrorKind::EmptyName),
            ("a/", PathErrorKind::EmptyName),
            ("..\\a", PathErrorKind::Backslash),
            ("a\0b", PathErrorKind::Control),
            ("a\nb", PathErrorKind::Control),
            (&"x".repeat(256), PathErrorKind::NameTooLong),
            (&"x/".repeat(1100), PathErrorKind::PathTooLong),
        ] {
            assert_eq!(NotePath::parse(bad).map_err(|e| e.reason), Err(reason), "{bad:?}");
        }
    }

    #[test]
    fn file_names_split_at_the_last_dot() {
        let cases = [
            ("a/b.md", "b.md", "b", "md", Some("a")),
            ("b", "b", "b", "", None),
            (".x", ".x", ".x", "", None),
            ("v2.0.md", "v2.0.md", "v2.0", "md", None),
        ];
        for (path, name, stem, extension, parent) in cases {
            let path = NotePath::parse(path).unwrap();
            let parts = (path.file_name(), path.stem(), path.extension(), path.parent());
            assert_eq!(parts, (name, stem, extension, parent));
        }
    }

    #[test]
    fn control_directories_are_recognized() {
        for (path, expected) in [
            (".git/config", true),
            ("a/.GIT/hooks/x", true),
            (".git", true),
            (".g\u{200c}it/config", true),
            (".git /config", true),
            (".git./config", true),
            (".git::$INDEX_ALLOCATION/config", true),
            ("GIT~1/config", true),
            (".memoranda/lock", true),
            (".gitignore", false),
            (".github/x.md", false),
            ("git/config", false),
            ("a.git/x", false),
            (".memorandaignore", false),
            (".hidden/x", false),
        ] {
            assert_eq!(NotePath::parse(path).unwrap().is_in_control_dir(), expected, "{path}");
        }
    }

    #[test]
    fn colliding_names_share_a_key() {
        let key = |text: &str| NotePath::parse(text).unwrap().key();
        assert_eq!(key("Caf\u{e9}.md"), key("cafe\u{301}.md"));
        assert_eq!(key("NOTE.MD"), key("note.md"));
        assert_ne!(key("note.md"), key("notes.md"));
    }
}
