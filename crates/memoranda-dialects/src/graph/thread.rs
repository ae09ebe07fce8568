//! Threads: each is a graph of its own, in a folder of its own. An id can name no path: what a
//! folder's name cannot hold is written as `%xx`.

use std::fmt::Write as _;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{Folder, Memory, Place};

use crate::args::{Args, BadArgs};
use crate::settings::Settings;

/// The thread of those who name none, as in the reference server.
pub(crate) const DEFAULT: &str = "default";
/// No file system takes much longer names.
const LONGEST_FOLDER: usize = 200;

/// Which shapes answers have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Those of the reference server: texts.
    Reference,
    /// Facts with id, version, time, and the thread.
    Thread,
}

/// One graph.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) id: String,
    pub(crate) folder: String,
    pub(crate) project: ProjectName,
    pub(crate) shape: Shape,
}

impl Thread {
    /// The thread that a call names; without one, the default thread in the reference's shapes.
    pub(crate) fn optional(args: &mut Args, settings: &Settings) -> Result<Self, BadArgs> {
        args.rename(&[("threadId", &["thread_id", "agentThreadId"])]);
        match args.optional_text("threadId")? {
            None => Self::new(DEFAULT, settings, Shape::Reference)
                .ok_or_else(|| args.missing("threadId", "the thread's id")),
            Some(_) => Self::named(args, settings),
        }
    }

    /// The thread that a call must name.
    pub(crate) fn named(args: &mut Args, settings: &Settings) -> Result<Self, BadArgs> {
        args.rename(&[("threadId", &["thread_id", "agentThreadId"])]);
        let id = args
            .optional_text("threadId")?
            .ok_or_else(|| args.missing("threadId", "the id of the conversation or project"))?;
        Self::new(&id, settings, Shape::Thread).ok_or_else(|| {
            let expected = "a text of 1 to about 100 characters";
            args.wrong("threadId", expected, &serde_json::Value::String(id))
        })
    }

    /// A thread by its id; `None` if it is empty or too long for a folder's name.
    pub(crate) fn new(id: &str, settings: &Settings, shape: Shape) -> Option<Self> {
        let id = id.trim();
        let folder = folder_of(id);
        let fits = !id.is_empty() && folder.len() <= LONGEST_FOLDER;
        fits.then(|| Self {
            id: id.to_owned(),
            folder,
            project: settings.graph.project.clone(),
            shape,
        })
    }

    /// The thread as the store sees it.
    pub(crate) fn within<'m>(&self, memory: &'m Memory) -> Folder<'m> {
        memory.store().folder(&self.project, &self.folder)
    }

    pub(crate) fn place(&self, path: NotePath) -> Place {
        Place { project: self.project.clone(), path }
    }

    /// Where its notes are, for answers.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}", self.project, self.folder)
    }
}

/// The folder of a thread.
pub(crate) fn folder_of(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    let last = id.chars().count().saturating_sub(1);
    for (n, c) in id.chars().enumerate() {
        let at_end = (n == 0 || n == last) && (c == '.' || c.is_whitespace());
        if at_end || c.is_control() || "%/\\<>:\"|?*".contains(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The thread whose folder this is; `None` for a folder that is none's.
pub(crate) fn id_of(folder: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(folder.len());
    let mut rest = folder.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first == b'%' {
            let code = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = tail.get(2..)?;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    let id = String::from_utf8(bytes).ok()?;
    (folder_of(&id) == folder).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_folders_and_never_paths() {
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
            assert_eq!(folder_of(id), folder);
            assert_eq!(id_of(folder).as_deref(), Some(id));
            let path = NotePath::parse(&format!("{folder}/x.md")).unwrap();
            assert_eq!((path.parent(), path.is_hidden()), (Some(folder), false));
        }
        for none in ["a/b", "100%", "%zz", "%61"] {
            assert_eq!(id_of(none), None);
        }
    }
}
