//! Paths as Claude writes them: `/memories/…`, with or without the first slash, and every way of
//! writing one that would lead out.

use memoranda_core::path::{NotePath, PathErrorKind};

/// A place in the memory directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryPath {
    /// The directory itself.
    Root,
    /// Something in it.
    At(NotePath),
}

/// Why a text is no place in the memory directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryPathError {
    /// It does not begin with `/memories`.
    NoPrefix,
    /// It leads up, and did not begin with `/memories` either.
    LeadsUp,
    /// It leads out again.
    Escapes,
    /// Not every file system would take it; why, if that is known.
    Unusable(Option<PathErrorKind>),
}

/// Reads a path. Encoded and backslashed ways of writing `..` count as `..`.
pub(crate) fn parse(text: &str) -> Result<MemoryPath, MemoryPathError> {
    let rest = text.strip_prefix('/').unwrap_or(text);
    let rest = match rest.strip_prefix("memories") {
        Some("") => return Ok(MemoryPath::Root),
        Some(rest) if rest.starts_with('/') => rest,
        _ if leads_up(text) => return Err(MemoryPathError::LeadsUp),
        _ => return Err(MemoryPathError::NoPrefix),
    };
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

/// A place as the one who wrote `like` would write it.
pub(crate) fn shown_like(like: &str, at: &str) -> String {
    let slash = if like.starts_with('/') { "/" } else { "" };
    format!("{slash}memories/{}", on_one_line(at))
}

/// A name as it can stand in a line: one with a newline in it would pass for two entries.
pub(crate) fn on_one_line(name: &str) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    name.chars().map(shown).collect()
}

/// Whether a text holds `..` as a name once its encodings are taken off, or hides a NUL.
pub(crate) fn leads_up(text: &str) -> bool {
    let mut decoded = text.to_owned();
    // Nobody encodes more often than this except to hide something, and then it is refused too.
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

/// Takes one layer of percent encoding off, overlong forms of dots and slashes included.
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
    // Two bytes for one ASCII character are never right, and are read as it by the careless.
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
    fn places_are_found_and_ways_out_are_not() {
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
