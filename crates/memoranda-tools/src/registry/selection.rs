//! Selection of the offered tools: toolsets, single names, exclusions, and read-only access.

use std::collections::BTreeSet;

use super::tool::{ToolAdvice, ToolDef, ToolTier, Toolset};
use crate::tools;

/// A selection of tools as requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// Names of toolsets, including `default`, `recommended` and `all`. Empty means `default`.
    pub toolsets: Vec<String>,
    /// Single tools in addition to the toolsets.
    pub tools: Vec<String>,
    /// Tools that are never offered.
    pub exclude: Vec<String>,
    /// Access that the offered tools may have.
    pub access: AccessMode,
}

/// Access of the offered tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessMode {
    /// Every selected tool.
    #[default]
    ReadWrite,
    /// Only tools that change nothing.
    ReadOnly,
}

/// Reason why a selection is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Unknown toolset.
    #[error("there is no toolset {name:?}; there are: default, recommended, all, {known}")]
    NoToolset {
        /// The requested name.
        name: String,
        /// The known toolsets.
        known: String,
    },
    /// Unknown tool.
    #[error("there is no tool {0:?}; `memoranda tool --list` shows them all")]
    NoTool(String),
    /// The selection is empty.
    #[error(
        "no tool is left to offer: each that was chosen changes something, or was left out; add a \
         toolset that reads, or allow changes"
    )]
    Nothing,
}

impl ToolSelection {
    /// Selects every tool.
    pub fn all() -> Self {
        Self { toolsets: vec!["all".into()], ..Self::default() }
    }

    /// Returns the selected tools in the order of the registry.
    pub fn resolve(&self) -> Result<Vec<&'static ToolDef>, SelectionError> {
        let mut sets: BTreeSet<Toolset> = BTreeSet::new();
        let named = self.toolsets.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let mut any = false;
        let (mut default, mut recommended) = (false, false);
        for name in named {
            any = true;
            match Toolset::ALL.into_iter().find(|set| set.as_str() == name) {
                Some(set) => drop(sets.insert(set)),
                None if name == "all" => sets.extend(Toolset::ALL),
                None if name == "default" => default = true,
                None if name == "recommended" => recommended = true,
                None => {
                    let known: Vec<_> = Toolset::ALL.iter().map(|set| set.as_str()).collect();
                    let (name, known) = (name.to_owned(), known.join(", "));
                    return Err(SelectionError::NoToolset { name, known });
                }
            }
        }
        default |= !any && self.tools.is_empty();
        for name in self.tools.iter().chain(&self.exclude) {
            if crate::tool(name.trim()).is_none() {
                return Err(SelectionError::NoTool(name.clone()));
            }
        }
        let holds =
            |names: &[String], tool: &ToolDef| names.iter().any(|name| name.trim() == tool.name);
        let offered = tools().filter(|tool| {
            (sets.contains(&tool.toolset)
                || sets.contains(&Toolset::Core) && tool.tier == ToolTier::Core
                || default && tool.tier != ToolTier::Extra
                || recommended && is_recommended(tool)
                || holds(&self.tools, tool))
                && !holds(&self.exclude, tool)
                && (self.access == AccessMode::ReadWrite || tool.hints.read_only)
        });
        Ok(offered.collect())
    }

    /// Returns the tools that both selections contain.
    pub fn narrowed(&self, other: &Self) -> Result<Vec<&'static ToolDef>, SelectionError> {
        let asked = other.resolve()?;
        let mut allowed = self.resolve()?;
        allowed.retain(|tool| asked.iter().any(|other| other.name == tool.name));
        Ok(allowed)
    }
}

/// Returns true for the default tools that neither purge memories nor are deprecated.
fn is_recommended(tool: &ToolDef) -> bool {
    tool.tier != ToolTier::Extra && tool.advice == ToolAdvice::Recommended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_recommended_tool_is_deprecated_or_purges() {
        let select = |name: &str| {
            let toolsets = vec![name.to_owned()];
            names(&ToolSelection { toolsets, ..ToolSelection::default() })
        };
        let (recommended, default) = (select("recommended"), select("default"));
        let left_out: Vec<_> = default.iter().filter(|name| !recommended.contains(name)).collect();
        for name in ["vacuum_memories", "bulk_forget_memories"] {
            assert!(left_out.contains(&&name), "{name}: {left_out:?}");
        }
        for name in &recommended {
            assert!(default.contains(name), "{name}");
            let description = crate::tool(name).unwrap().description;
            assert!(!description.contains("eprecated"), "{name}: {description}");
        }
    }

    fn names(selection: &ToolSelection) -> Vec<&'static str> {
        selection.resolve().unwrap().into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn exclusion_and_read_only_always_win() {
        let memory = || vec!["memory".to_owned()];
        let excluded = ToolSelection { exclude: memory(), tools: memory(), ..ToolSelection::all() };
        let others: Vec<_> =
            tools().map(|tool| tool.name).filter(|name| *name != "memory").collect();
        assert_eq!(names(&excluded), others);
        let read_only = ToolSelection { access: AccessMode::ReadOnly, ..ToolSelection::all() };
        assert!(read_only.resolve().unwrap().iter().all(|tool| tool.hints.read_only));
        assert!(!names(&read_only).contains(&"memory"));
        let narrowed = excluded.narrowed(&ToolSelection::all()).unwrap();
        assert!(narrowed.iter().all(|tool| tool.name != "memory"));
        let one = ToolSelection { tools: memory(), ..ToolSelection::default() };
        assert!(excluded.narrowed(&one).unwrap().is_empty());
    }

    #[test]
    fn toolsets_are_selected_by_name() {
        let of = |sets: &[&str]| ToolSelection {
            toolsets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..ToolSelection::default()
        };
        let filtered = |keep: &dyn Fn(&ToolDef) -> bool| -> Vec<&str> {
            tools().filter(|tool| keep(tool)).map(|tool| tool.name).collect()
        };
        let default = filtered(&|tool| tool.tier != ToolTier::Extra);
        assert_eq!(names(&ToolSelection::default()), default);
        assert_eq!(names(&of(&["default"])), default);
        assert_eq!(names(&of(&["all"])), filtered(&|_| true));
        for set in Toolset::ALL {
            let is_core = |tool: &ToolDef| set == Toolset::Core && tool.tier == ToolTier::Core;
            let expected = filtered(&|tool| tool.toolset == set || is_core(tool));
            assert_eq!(names(&of(&[set.as_str()])), expected);
        }
        let core = [
            "remember",
            "recall",
            "get_context",
            "forget",
            "memory",
            "write_note",
            "read_note",
            "edit_note",
        ];
        assert_eq!(names(&of(&["core"])), core);
        assert_eq!(names(&of(&["memory"])), ["memory"]);
    }

    #[test]
    fn unknown_names_are_rejected() {
        let set = ToolSelection { toolsets: vec!["memroy".into()], ..ToolSelection::default() };
        assert!(set.resolve().unwrap_err().to_string().contains("\"memroy\""));
        let tool = ToolSelection { tools: vec!["nope".into()], ..ToolSelection::default() };
        assert_eq!(tool.resolve().unwrap_err(), SelectionError::NoTool("nope".into()));
    }
}
