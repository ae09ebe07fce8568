//! Parses paths of the memory tool: `/memories/…`, with or without the first slash. Rejects every
//! spelling of a path that leaves the directory.

use memoranda_core::path::{NotePath, PathErrorKind};

/// A path in the memory directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryPath {
    /// The directory itself.
    Root,
    /// A file or directory in it.
    At(NotePath),
}

/// Reason why a text is not a path in the memory directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryPathError {
    /// The path does not start with `/memories`.
    NoPrefix,
    /// The path contains `..` and does not start with `/memories`.
    LeadsUp,
    /// The path leaves the directory.
    Escapes,
    /// Some file systems reject the path. The reason, if known.
    Unusable(Option<PathErrorKind>),
}

/// Parses a path. Percent-encoded and backslashed spellings of `..` count as `..`.
pub(crate) fn parse(text: &str) -> Result<MemoryPath, MemoryPathError> {
    let rest = text.strip_prefix('/').unwrap_or(text);
    let rest = match rest.strip_prefix("memories") {
        Some("") => return Ok(MemoryPath::Root),
        Some(rest) if rest.starts_with('/') => rest,
        _ if leads_up(text) => return Err(MemoryPathError::LeadsUp),
        _ => return Err(MemoryPathError::NoPrefix),
    };
    parse_names(rest)
}

/// Parses a path that may be relative to the directory, as in `user/preferences.md`. `/` and `.` are
/// the directory.
pub(crate) fn parse_relative(text: &str) -> Result<MemoryPath, MemoryPathError> {
    match parse(text) {
        Err(MemoryPathError::NoPrefix) if text == "/" => Ok(MemoryPath::Root),
        Err(MemoryPathError::NoPrefix) if is_relative(text) => parse_names(text),
        parsed => parsed,
    }
}

/// Returns true for a path that starts with a name: neither at the root nor at a drive.
fn is_relative(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['/', '\\', '~']) && !text.contains([':', '\\'])
}

fn parse_names(rest: &str) -> Result<MemoryPath, MemoryPathError> {
    let mut names: Vec<&str> = Vec::new();
    for name in rest.split('/') {
        match name {
            "" | "." => {}
            ".." if names.pop().is_none() => return Err(MemoryPathError::Escapes),
            ".." => {}
            name if leads_up(name) => return Err(MemoryPathError::Escapes),
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Ok(MemoryPath::Root);
    }
    NotePath::parse(&names.join("/"))
        .map(MemoryPath::At)
        .map_err(|bad| MemoryPathError::Unusable(Some(bad.reason)))
}

/// Writes a path with or without the first slash, like the path `like`.
pub(crate) fn shown_like(like: &str, at: &str) -> String {
    let slash = if like.starts_with('/') { "/" } else { "" };
    format!("{slash}memories/{}", on_one_line(at))
}

/// Escapes control characters: a name with a newline would look like two entries.
pub(crate) fn on_one_line(name: &str) -> String {
    let shown =
        |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(shown).collect()
}

/// Returns true if a text contains `..` as a name after decoding, or a NUL character.
pub(crate) fn leads_up(text: &str) -> bool {
    let mut decoded = text.to_owned();
    // More layers of encoding only serve to hide something, and are rejected, too.
    for _ in 0..4 {
        let names =
            decoded.split(['/', '\\']).any(|name| name.trim_end_matches([' ', '\t']) == "..");
        if names || decoded.contains('\0') {
            return true;
        }
        let next = percent_decoded(&decoded);
        if next == decoded {
            return false;
        }
        decoded = next;
    }
    true
}

/// Decodes one layer of percent encoding, including overlong forms of dots and slashes.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    // Two bytes for one ASCII character are invalid UTF-8, but careless decoders accept them.
    let overlong: [(&[u8], u8); 3] =
        [(&[0xc0, 0xae], b'.'), (&[0xc0, 0xaf], b'/'), (&[0xc1, 0x9c], b'\\')];
    for (pair, plain) in overlong {
        while let Some(at) = bytes.windows(2).position(|window| window == pair) {
            bytes.splice(at..at + 2, [plain]);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, MemoryPathError>) {
        let expected = expected.map(|place| match place {
            "" => MemoryPath::Root,
            place => MemoryPath::At(NotePath::parse(place).unwrap()),
        });
        assert_eq!(parse(text), expected, "{text:?}");
    }

    #[test]
    fn paths_are_parsed_and_escapes_are_rejected() {
        check("/memories", Ok(""));
        check("memories", Ok(""));
        check("/memories/", Ok(""));
        check("/memories/.", Ok(""));
        check("/memories/sub/..", Ok(""));
        check("/memories/a.md", Ok("a.md"));
        check("memories/a/b.md", Ok("a/b.md"));
        check("/memories//etc/x", Ok("etc/x"));
        check("/memories/a/", Ok("a"));
        check("/memories/a/./b/../c", Ok("a/c"));
        check("/memories/100%", Ok("100%"));
        check("/memories/..hidden/x..md", Ok("..hidden/x..md"));
        check("/memoriesfoo/x", Err(MemoryPathError::NoPrefix));
        check("/etc/passwd", Err(MemoryPathError::NoPrefix));
        check("", Err(MemoryPathError::NoPrefix));
        check("user/preferences.md", Err(MemoryPathError::NoPrefix));
        for (relative, path) in [("user/preferences.md", "user/preferences.md"), ("a", "a")] {
            let path = MemoryPath::At(NotePath::parse(path).unwrap());
            assert_eq!(parse_relative(relative), Ok(path), "{relative}");
        }
        for root in ["/", ".", "./", "/memories", "memories/"] {
            assert_eq!(parse_relative(root), Ok(MemoryPath::Root), "{root}");
        }
        for outside in ["/etc/passwd", "../x", "a/../../x", "~/x", "C:\\x", "", "a%2f..%2f.."] {
            assert!(parse_relative(outside).is_err(), "{outside}");
        }
        for way_out in [
            "/memories/..",
            "/memories/../x",
            "/memories/a/../../x",
            "/memories/..\\x",
            "/memories/a\\..\\..\\x",
            "/memories/%2e%2e%2fx",
            "/memories/%2E%2E/x",
            "/memories/..%2fx",
            "/memories/..%5cx",
            "/memories/%252e%252e%252fx",
            "/memories/%25252e%25252e/x",
            "/memories/%c0%ae%c0%ae/x",
            "/memories/.. /x",
            "/memories/a\0b",
        ] {
            check(way_out, Err(MemoryPathError::Escapes));
        }
        check("../etc/passwd", Err(MemoryPathError::LeadsUp));
        check("%2e%2e%2fetc", Err(MemoryPathError::LeadsUp));
        let unusable = |reason| Err(MemoryPathError::Unusable(Some(reason)));
        check("/memories/a\nb", unusable(PathErrorKind::Control));
        check("/memories/a:b.md", unusable(PathErrorKind::Absolute));
        check(&format!("/memories/{}", "x".repeat(300)), unusable(PathErrorKind::NameTooLong));
    }
}
