//! Folders of conversation threads. Characters that a folder name cannot contain are
//! percent-encoded, so that an id cannot name a path.

use crate::percent;

/// Returns the folder of a thread.
pub fn thread_folder(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    let last = id.chars().count().saturating_sub(1);
    for (n, c) in id.chars().enumerate() {
        let at_end = (n == 0 || n == last) && (c == '.' || c.is_whitespace());
        if at_end || c.is_control() || "%/\\<>:\"|?*".contains(c) {
            percent::push_encoded(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns the thread of a folder; `None` if the folder belongs to no thread.
pub fn thread_of_folder(folder: &str) -> Option<String> {
    let id = percent::decode(folder)?.into_owned();
    (thread_folder(&id) == folder).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::NotePath;

    #[test]
    fn thread_folders_are_never_paths() {
        for (id, folder) in [
            ("portfolio-update-2026", "portfolio-update-2026"),
            ("a/b", "a%2Fb"),
            ("..", "%2E%2E"),
            ("../../etc", "%2E.%2F..%2Fetc"),
            (".hidden", "%2Ehidden"),
            ("C:\\x", "C%3A%5Cx"),
            ("100%", "100%25"),
            ("日本 語", "日本 語"),
            ("a\0b", "a%00b"),
        ] {
            assert_eq!(thread_folder(id), folder);
            assert_eq!(thread_of_folder(folder).as_deref(), Some(id));
            let path = NotePath::parse(&format!("{folder}/x.md")).unwrap();
            assert_eq!((path.parent(), path.is_hidden()), (Some(folder), false));
        }
        for none in ["a/b", "100%", "%zz", "%61"] {
            assert_eq!(thread_of_folder(none), None);
        }
    }
}
