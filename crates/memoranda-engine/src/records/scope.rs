//! Scopes of records: everyone, or the users of one repository.

use std::path::Path;

use serde_json::Value;

use crate::{GitRepository, normal_remote};

/// Maximum length of a project name, in characters.
const MAX_ID_CHARS: usize = 200;
/// Maximum length of a folder name, in bytes: file systems limit bytes.
const MAX_FOLDER_BYTES: usize = 200;

/// The scope of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordScope {
    /// Every project.
    Global,
    /// One project.
    Project(ProjectId),
}

/// The name of a project, such as `github.com/acme/shop`. Comparison ignores case.
#[derive(Clone, Debug)]
pub struct ProjectId {
    id: String,
    folder: String,
}

impl PartialEq for ProjectId {
    fn eq(&self, other: &Self) -> bool {
        self.id.to_lowercase() == other.id.to_lowercase()
    }
}

impl Eq for ProjectId {}

impl RecordScope {
    /// Parses the name of a project: `host/owner/repo`, the address of a remote, or any other name.
    pub fn project(name: &str) -> Option<Self> {
        let name = name.trim();
        let id = match normal_remote(name) {
            Some(id) => id,
            None => {
                let name = name.trim_matches('/');
                name.strip_suffix(".git").unwrap_or(name).to_owned()
            }
        };
        let folder = folder_name(&id);
        let fits = !folder.is_empty()
            && id.chars().count() <= MAX_ID_CHARS
            && !id.chars().any(char::is_control);
        fits.then_some(Self::Project(ProjectId { id, folder }))
    }

    /// Returns the project of a folder, by the remote of its repository.
    pub fn of_workspace(folder: &Path) -> Option<Self> {
        Self::project(&GitRepository::of(folder)?.remote?)
    }

    /// Returns `global`, or the name of the project.
    pub fn name(&self) -> &str {
        match self {
            Self::Global => "global",
            Self::Project(project) => &project.id,
        }
    }

    /// Returns the folder of the scope within the project `records`.
    pub fn folder(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Project(project) => format!("projects/{}", project.folder),
        }
    }

    /// Returns true if everyone who sees records of `other` also sees records of this scope.
    pub(super) fn covers(&self, other: &Self) -> bool {
        *self == Self::Global || self == other
    }

    /// Returns true if a record in the folder of this scope belongs to it. Different names can share
    /// a folder (`a-b/c` and `a/b-c`); the frontmatter of the record distinguishes them.
    pub(super) fn owns(&self, frontmatter: &Value) -> bool {
        match (self, frontmatter.get("project").and_then(Value::as_str)) {
            (Self::Project(project), Some(named)) => {
                named.to_lowercase() == project.id.to_lowercase()
            }
            _ => true,
        }
    }

    /// Returns the scope of a record from its folder and its frontmatter.
    pub(super) fn from_folder(folder: &str, frontmatter: &Value) -> Self {
        match folder.strip_prefix("projects/") {
            None => Self::Global,
            Some(folder) => {
                let named = frontmatter.get("project").and_then(Value::as_str);
                let id = named.unwrap_or(folder).to_owned();
                Self::Project(ProjectId { id, folder: folder.to_owned() })
            }
        }
    }
}

/// Converts a project name to a folder name that every file system accepts.
fn folder_name(id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = id.to_lowercase().chars().map(plain).collect();
    let name = name.trim_matches(['.', '-', ' ']);
    // Projects that share a folder are distinguished by the frontmatter of their records.
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = end.take_while(|end| *end <= MAX_FOLDER_BYTES).last().unwrap_or(0);
    name.get(..end).unwrap_or_default().to_owned()
}

/// The scopes that a caller sees: global, and one project if there is one.
#[derive(Clone, Debug)]
pub struct VisibleScopes {
    /// The scopes, the project first.
    pub scopes: Vec<RecordScope>,
    /// Reason why no project is visible.
    pub no_project: NoProjectReason,
}

/// Reason why no project is visible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoProjectReason {
    /// The caller asked for global records.
    Requested,
    /// The folder is in no repository, or its repository has no remote.
    NoRemote,
    /// The repository has these remotes, and none of them names the project.
    Remotes(Vec<String>),
    /// The client is elsewhere, and named no repository.
    Unknown,
    /// The caller may read only this project of the vault, which contains no records.
    Restricted(String),
}

impl VisibleScopes {
    /// Returns the scopes of a project, or global alone.
    pub fn new(project: Option<RecordScope>) -> Self {
        let project = project.filter(|scope| *scope != RecordScope::Global);
        Self {
            scopes: project.into_iter().chain([RecordScope::Global]).collect(),
            no_project: NoProjectReason::NoRemote,
        }
    }

    /// Returns the scopes that a caller named.
    pub fn requested(scope: RecordScope) -> Self {
        Self { no_project: NoProjectReason::Requested, ..Self::new(Some(scope)) }
    }

    /// Returns exactly one scope.
    pub fn only(scope: RecordScope) -> Self {
        Self { scopes: vec![scope], no_project: NoProjectReason::Requested }
    }

    /// Returns global alone, for a client that named no repository and whose folder is unknown.
    pub fn unknown() -> Self {
        Self { no_project: NoProjectReason::Unknown, ..Self::new(None) }
    }

    /// Returns no scope, for a caller that may read only another project of the vault.
    pub fn none(only_project: &str) -> Self {
        Self {
            scopes: Vec::new(),
            no_project: NoProjectReason::Restricted(only_project.to_owned()),
        }
    }

    /// Returns the scopes of the repository that a folder belongs to.
    pub fn of_workspace(folder: Option<&Path>) -> Self {
        let repository = folder.and_then(GitRepository::of);
        let no_project = match &repository {
            Some(found) if !found.other_remotes.is_empty() => {
                NoProjectReason::Remotes(found.other_remotes.clone())
            }
            _ => NoProjectReason::NoRemote,
        };
        let project = repository.and_then(|found| RecordScope::project(&found.remote?));
        Self { no_project, ..Self::new(project) }
    }

    /// Returns the visible project.
    pub fn project(&self) -> Option<&RecordScope> {
        self.scopes.iter().find(|scope| **scope != RecordScope::Global)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_one_name_and_one_folder() {
        for name in [
            "github.com/Acme/Shop",
            "https://github.com/Acme/Shop.git",
            "git@github.com:Acme/Shop.git",
            "ssh://git@GitHub.com/Acme/Shop",
            "/github.com/Acme/Shop/",
        ] {
            let scope = RecordScope::project(name).unwrap();
            assert_eq!(scope.name(), "github.com/Acme/Shop", "{name}");
            assert_eq!(scope.folder(), "projects/github.com-acme-shop", "{name}");
        }
        assert_eq!(RecordScope::project("my app").unwrap().folder(), "projects/my-app");
        assert_eq!(RecordScope::project("../../etc").unwrap().folder(), "projects/etc");
        let wide = RecordScope::project(&"記".repeat(150)).unwrap();
        assert_eq!(wide.folder(), format!("projects/{}", "記".repeat(66)));
        let long = "x".repeat(201);
        for name in ["", "  ", "/", "..", "a\nb", &long] {
            assert_eq!(RecordScope::project(name), None, "{name:?}");
        }
    }

    #[test]
    fn names_that_share_a_folder_stay_apart() {
        let (one, two) =
            (RecordScope::project("h/a-b/c").unwrap(), RecordScope::project("h/a/b-c").unwrap());
        assert_eq!(one.folder(), two.folder());
        assert_ne!(one, two);
        let of_one = serde_json::json!({ "project": "H/A-b/c" });
        assert!(one.owns(&of_one) && !two.owns(&of_one));
        assert!(two.owns(&serde_json::json!({})), "what people write there is of the folder");
    }
}
