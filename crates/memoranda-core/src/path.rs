//! Where a note lies within its project: a relative path that cannot point anywhere else.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

/// The longest name that the common file systems accept for one file or folder, in bytes.
const MAX_SEGMENT_BYTES: usize = 255;
/// Folders in which programs keep what they obey, and the short name that Windows gives to one.
const OF_PROGRAMS: [&str; 3] = [".git", ".memoranda", "git~1"];
/// The longest whole path that is accepted, in bytes.
const MAX_PATH_BYTES: usize = 2048;

/// A relative path of plain names joined by `/`: never empty, never absolute, no `.` or `..`,
/// no backslash, no control character. Holding one is the proof that it names no other place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NotePath(String);

/// Why a text cannot be the path of a note.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{path:?} is not a path within a project: {reason}")]
pub struct PathError {
    /// What was given, cut to a printable length.
    pub path: String,
    /// What is wrong with it.
    pub reason: PathErrorKind,
}

/// The ways in which a path can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathErrorKind {
    /// No name at all.
    #[error("it is empty")]
    Empty,
    /// Begins at the root of a file system or at a drive.
    #[error("it is absolute; give a path relative to the project")]
    Absolute,
    /// Holds `.` or `..`.
    #[error("`.` and `..` are not allowed")]
    Dots,
    /// Two slashes in a row, or one at the end.
    #[error("a name between two slashes is empty")]
    EmptyName,
    /// A backslash, which some systems read as a separator.
    #[error("backslashes are not allowed; separate names with `/`")]
    Backslash,
    /// NUL, newline or another control character.
    #[error("it holds a control character")]
    Control,
    /// A name beyond what file systems accept.
    #[error("a name is longer than 255 bytes")]
    NameTooLong,
    /// A path beyond what systems accept.
    #[error("it is longer than 2048 bytes")]
    PathTooLong,
}

/// Characters that some file systems do not see in a name.
fn is_passed_over(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl NotePath {
    /// Accepts exactly the paths that name a place within a project.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        match Self::fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(reason) => Err(PathError { path: text.chars().take(120).collect(), reason }),
        }
    }

    fn fault(text: &str) -> Option<PathErrorKind> {
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

    /// The path as text, with `/` between names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last name: the file itself.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The file's name without its last extension; a leading dot begins no extension.
    pub fn stem(&self) -> &str {
        file_stem(&self.0)
    }

    /// The extension without its dot, as written; empty if there is none.
    pub fn extension(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[dot + 1..],
            _ => "",
        }
    }

    /// The folder that holds the file; `None` at the top of the project.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    /// Whether the file is Markdown, by its extension.
    pub fn is_markdown(&self) -> bool {
        let extension = self.extension();
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    }

    /// Whether it is, or lies in, a folder in which a program keeps what it obeys: `.git`, and our
    /// own. Whoever writes there decides what runs. Names that some system takes for these count.
    pub fn is_of_a_program(&self) -> bool {
        self.0.split('/').any(|name| {
            let seen: String = name.chars().filter(|c| !is_passed_over(*c)).collect();
            let seen = seen.trim_end_matches(['.', ' ']).to_lowercase();
            OF_PROGRAMS.contains(&seen.split(':').next().unwrap_or(&seen))
        })
    }

    /// Whether the file or one of its folders is hidden (its name begins with a dot).
    pub fn is_hidden(&self) -> bool {
        self.0.split('/').any(|name| name.starts_with('.'))
    }

    /// How the path is written in a file at another one: `../b/Plan.md`.
    pub fn seen_from(&self, from: &Self) -> String {
        let folder: Vec<&str> = from.parent().map(|f| f.split('/').collect()).unwrap_or_default();
        let names: Vec<&str> = self.as_str().split('/').collect();
        let last = names.len().saturating_sub(1);
        let shared = folder.iter().zip(names.iter().take(last)).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..", folder.len() - shared);
        up.chain(names.into_iter().skip(shared)).collect::<Vec<_>>().join("/")
    }

    /// Whether this path lies in the given folder, at any depth.
    pub fn is_within(&self, folder: &str) -> bool {
        folder.is_empty() || self.0.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The path in composed form: what a person sees, however its accents are written.
    pub fn composed(&self) -> String {
        self.0.nfc().collect()
    }

    /// What the path looks like to a file system that knows neither case nor composition: two
    /// paths with the same key cannot both exist on every system.
    pub fn key(&self) -> String {
        name_key(&self.0)
    }
}

/// The name of the file at a path without its last extension; a leading dot begins no extension.
pub fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.get(..dot).unwrap_or(name),
        _ => name,
    }
}

/// The same of a name, or of a pattern of names.
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
    fn names_are_taken_apart_at_the_last_dot() {
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
    fn what_programs_obey_is_known_by_its_name() {
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
            assert_eq!(NotePath::parse(path).unwrap().is_of_a_program(), expected, "{path}");
        }
    }

    #[test]
    fn twins_share_a_key() {
        let key = |text: &str| NotePath::parse(text).unwrap().key();
        assert_eq!(key("Caf\u{e9}.md"), key("cafe\u{301}.md"));
        assert_eq!(key("NOTE.MD"), key("note.md"));
        assert_ne!(key("note.md"), key("notes.md"));
    }
}
