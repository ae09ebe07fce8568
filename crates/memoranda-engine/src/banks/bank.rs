//! A bank: its type, its id and the location of its files.

use crate::NoteLocation;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

/// Maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 100;
/// Name of the diagnostic file in the folder of a bank. The file is not part of the bank.
pub const DUMP_FILE: &str = "cache_memory_dump.json";

/// The type of a bank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BankType {
    /// Context of every conversation.
    Global,
    /// Context of a project.
    Project,
    /// Context of a repository.
    Code,
}

impl BankType {
    /// All types, in listing order.
    pub const ALL: [Self; 3] = [Self::Global, Self::Project, Self::Code];

    /// Parses the name of a type, singular or plural.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|kind| text == kind.as_str() || text == kind.plural())
    }

    /// Returns the name of the type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
            Self::Code => "code",
        }
    }

    /// Returns the plural name, which is the name of the folder of its banks.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "projects",
            Self::Code => "code",
        }
    }
}

/// A bank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemoryBank {
    /// The type.
    pub kind: BankType,
    /// The id, which is the name of its folder.
    pub id: String,
    folder: NotePath,
}

impl MemoryBank {
    /// Returns the bank of an id; `None` if the id cannot name a folder.
    pub fn new(kind: BankType, id: &str) -> Option<Self> {
        let usable = !id.is_empty()
            && id.len() <= MAX_ID_BYTES
            && !id.starts_with('.')
            && !id.contains(['/', '\\'])
            && id.trim() == id;
        let folder = NotePath::parse(&format!("{}/{id}", kind.plural())).ok()?;
        usable.then(|| Self { kind, id: id.to_owned(), folder })
    }

    /// Returns `type:id`, the key in the cache and in the history.
    pub fn key(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.id)
    }

    /// Returns the folder within the project of the banks.
    pub fn folder(&self) -> &NotePath {
        &self.folder
    }

    /// Returns the location of a file; `None` if the name is not within the bank.
    pub fn place(&self, project: &ProjectName, file: &str) -> Option<NoteLocation> {
        let file = NotePath::parse(file).ok()?;
        let path = NotePath::parse(&format!("{}/{file}", self.folder)).ok()?;
        Some(NoteLocation::new(project, path))
    }

    /// Returns the name of a file within the bank.
    pub fn name_of<'p>(&self, path: &'p NotePath) -> &'p str {
        let path = path.as_str();
        path.strip_prefix(self.folder.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(path)
    }
}

/// Converts a name to an id: lower case, `_` for spaces, `-` for characters that file names reject.
pub fn bank_id(name: &str) -> String {
    let words = name.split_whitespace().collect::<Vec<_>>().join("_").to_lowercase();
    let fits = |c: char| !c.is_control() && !r#"/\<>:"|?*"#.contains(c);
    let id: String = words.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let id = id.trim_matches(['.', '-', '_']);
    id.get(..id.floor_char_boundary(MAX_ID_BYTES)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids() {
        for (name, id) in [
            ("My Project", "my_project"),
            ("my-repo", "my-repo"),
            ("  Shop  2.0 ", "shop_2.0"),
            ("../../etc", "etc"),
            ("a/b\\c:d", "a-b-c-d"),
            ("Café", "café"),
            ("...", ""),
            ("", ""),
        ] {
            assert_eq!(bank_id(name), id, "{name:?}");
        }
    }

    #[test]
    fn ids_cannot_leave_their_folder() {
        for id in ["", ".", "..", "a/b", "a\\b", ".hidden", " a", "a\0", &"x".repeat(101)] {
            assert_eq!(MemoryBank::new(BankType::Code, id), None, "{id:?}");
        }
        let bank = MemoryBank::new(BankType::Project, "x").unwrap();
        assert_eq!((bank.folder().as_str(), bank.key().as_str()), ("projects/x", "project:x"));
        let banks = ProjectName::parse("banks").unwrap();
        assert!(bank.place(&banks, "../y.md").is_none() && bank.place(&banks, "/y.md").is_none());
        let place = bank.place(&banks, "doc/y.md").unwrap();
        assert_eq!(place.path.as_str(), "projects/x/doc/y.md");
        assert_eq!(bank.name_of(&place.path), "doc/y.md");
    }
}
