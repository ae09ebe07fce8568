//! Whom a record concerns: everyone, or those who work on one repository.

use std::path::Path;

use memoranda_engine::{Repository, normal_remote};
use serde_json::Value;

use super::error::{RecordError, Result};
use crate::registry::{CallContext, ToolArgs};
use crate::settings::ToolSettings;

/// The longest name of a project, and the longest of its folder: file systems count bytes.
const MAX_ID_CHARS: usize = 200;
const MAX_FOLDER_BYTES: usize = 200;

/// Whom a record concerns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordScope {
    /// Everyone.
    Global,
    /// Those who work on one project.
    Project(ProjectId),
}

/// The name of a project, such as `github.com/acme/shop`. Upper and lower case are the same.
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
    /// The project of this name: `host/owner/repo`, the address of a remote, or any other name.
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

    /// The project that a folder belongs to, by the remote of its repository.
    pub fn of_workspace(folder: &Path) -> Option<Self> {
        Self::project(&Repository::of(folder)?.remote?)
    }

    /// `global`, or the project's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Global => "global",
            Self::Project(project) => &project.id,
        }
    }

    /// The folder of its records within the project `records`.
    pub fn folder(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Project(project) => format!("projects/{}", project.folder),
        }
    }

    /// Whether everyone who sees what is of another scope sees what is of this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        *self == Self::Global || self == other
    }

    /// How it is marked in a list.
    pub(super) fn marker(&self) -> &'static str {
        match self {
            Self::Global => "G",
            Self::Project(_) => "P",
        }
    }

    /// How it is said in a sentence.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Project(project) => format!("project: {}", project.id),
        }
    }

    /// Whether a record in its folder is its own. Names that differ can share a folder
    /// (`a-b/c` and `a/b-c`); then the record itself says whose it is.
    pub(super) fn owns(&self, frontmatter: &Value) -> bool {
        match (self, frontmatter.get("project").and_then(Value::as_str)) {
            (Self::Project(project), Some(named)) => {
                named.to_lowercase() == project.id.to_lowercase()
            }
            _ => true,
        }
    }

    /// The scope of a record that was found by its path.
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

/// What every system can use as the name of a folder.
fn folder_name(id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = id.to_lowercase().chars().map(plain).collect();
    let name = name.trim_matches(['.', '-', ' ']);
    // Names that share a folder stay apart by what their records say.
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = end.take_while(|end| *end <= MAX_FOLDER_BYTES).last().unwrap_or(0);
    name.get(..end).unwrap_or_default().to_owned()
}

/// What a call can see: everything global, and one project if there is one.
#[derive(Clone, Debug)]
pub(super) struct VisibleScopes {
    /// The project first.
    pub(super) scopes: Vec<RecordScope>,
    lack: NoProjectReason,
}

/// Why no project can be seen.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NoProjectReason {
    /// The caller wants what is global.
    Asked,
    /// The folder is in no repository, or in one without a remote.
    NoRemote,
    /// There are these remotes, and none names the project.
    Remotes(Vec<String>),
}

impl VisibleScopes {
    pub(super) fn new(project: Option<RecordScope>) -> Self {
        let project = project.filter(|scope| *scope != RecordScope::Global);
        Self {
            scopes: project.into_iter().chain([RecordScope::Global]).collect(),
            lack: NoProjectReason::NoRemote,
        }
    }

    /// One scope and no other.
    pub(super) fn only(scope: RecordScope) -> Self {
        Self { scopes: vec![scope], lack: NoProjectReason::Asked }
    }

    pub(super) fn project(&self) -> Option<&RecordScope> {
        self.scopes.iter().find(|scope| **scope != RecordScope::Global)
    }

    /// The line that says what was looked at.
    pub(super) fn describe(&self) -> String {
        let because = match (self.project(), &self.lack) {
            (Some(project), _) => {
                return format!("Scope: project {} and global", project.name());
            }
            (None, NoProjectReason::Asked) => return "Scope: global (as asked)".to_owned(),
            (None, NoProjectReason::NoRemote) => "no git remote was found".to_owned(),
            (None, NoProjectReason::Remotes(names)) if names.len() == 1 => {
                format!("the git remote {} names no host", names.join(""))
            }
            (None, NoProjectReason::Remotes(names)) => {
                format!("none of the git remotes {} is `origin` with a host", names.join(", "))
            }
        };
        format!("Scope: global (no project: {because}, and no project_id given)")
    }
}

/// The project that was named, or that the client works in.
pub(super) fn reach(settings: &ToolSettings, args: &ToolArgs) -> Result<VisibleScopes> {
    if let Some(named) = named(args)? {
        return Ok(VisibleScopes {
            lack: NoProjectReason::Asked,
            ..VisibleScopes::new(Some(named))
        });
    }
    let repository = settings.workspace.as_deref().and_then(Repository::of);
    let lack = match &repository {
        Some(found) if !found.other_remotes.is_empty() => {
            NoProjectReason::Remotes(found.other_remotes.clone())
        }
        _ => NoProjectReason::NoRemote,
    };
    let project = repository.and_then(|found| RecordScope::project(&found.remote?));
    Ok(VisibleScopes { lack, ..VisibleScopes::new(project) })
}

/// Where something new goes: where it was said, or else to the project at hand.
pub(super) fn target(call: &CallContext<'_>, args: &ToolArgs) -> Result<RecordScope> {
    let named = named(args)?;
    match (args.flag("global")?, named) {
        (Some(true), Some(RecordScope::Project(_))) => {
            Err(RecordError::new("Cannot set both global=true and project_id. Choose one scope."))
        }
        (Some(true), _) => Ok(RecordScope::Global),
        (_, Some(named)) => Ok(named),
        (_, None) => Ok(here(call.settings).unwrap_or(RecordScope::Global)),
    }
}

pub(super) fn named(args: &ToolArgs) -> Result<Option<RecordScope>> {
    let Some(name) = args.optional_text("project_id")?.filter(|name| !name.trim().is_empty())
    else {
        return Ok(None);
    };
    // What answers call the scope of everyone is understood as that.
    if name.trim().eq_ignore_ascii_case(RecordScope::Global.name()) {
        return Ok(Some(RecordScope::Global));
    }
    let expected = "the name of a project, such as github.com/owner/repo";
    let wrong = || args.wrong("project_id", expected, &Value::String(name.clone()));
    Ok(Some(RecordScope::project(&name).ok_or_else(wrong)?))
}

fn here(settings: &ToolSettings) -> Option<RecordScope> {
    RecordScope::of_workspace(settings.workspace.as_deref()?)
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
