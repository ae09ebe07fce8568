//! A bank: its type, its id, and where its files lie.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::Place;

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 100;
/// The diagnostic file that `--debug` writes into a bank. It is no part of the bank.
pub(super) const DUMP_FILE: &str = "cache_memory_dump.json";

/// The types of banks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BankType {
    /// What holds in every conversation.
    Global,
    /// What belongs to a project.
    Project,
    /// What belongs to a repository.
    Code,
}

impl BankType {
    /// All types, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Global, Self::Project, Self::Code];

    /// Reads a type's name, also that of its list.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|kind| text == kind.as_str() || text == kind.plural())
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
            Self::Code => "code",
        }
    }

    /// The name of its list, and of the folder that holds its banks.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "projects",
            Self::Code => "code",
        }
    }
}

/// One bank.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryBank {
    pub(crate) kind: BankType,
    pub(crate) id: String,
    folder: NotePath,
}

impl MemoryBank {
    /// The bank of an id; `None` if no folder can be called so.
    pub(crate) fn new(kind: BankType, id: &str) -> Option<Self> {
        let usable = !id.is_empty()
            && id.len() <= MAX_ID_BYTES
            && !id.starts_with('.')
            && !id.contains(['/', '\\'])
            && id.trim() == id;
        let folder = NotePath::parse(&format!("{}/{id}", kind.plural())).ok()?;
        usable.then(|| Self { kind, id: id.to_owned(), folder })
    }

    /// The name under which it is shared in memory and noted in the history.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.id)
    }

    /// Its folder within the project of all banks.
    pub(crate) fn folder(&self) -> &NotePath {
        &self.folder
    }

    /// Where one of its files lies; `None` if the name leads elsewhere.
    pub(crate) fn place(&self, project: &ProjectName, file: &str) -> Option<Place> {
        let file = NotePath::parse(file).ok()?;
        let path = NotePath::parse(&format!("{}/{file}", self.folder)).ok()?;
        Some(Place { project: project.clone(), path })
    }

    /// A file's name within the bank.
    pub(crate) fn name_of<'p>(&self, path: &'p NotePath) -> &'p str {
        let path = path.as_str();
        path.strip_prefix(self.folder.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(path)
    }
}

/// A name as an id: lower case, with `_` for spaces and `-` for what no system takes in a name.
pub(crate) fn bank_id(name: &str) -> String {
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
    fn no_id_leads_out_of_its_folder() {
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
