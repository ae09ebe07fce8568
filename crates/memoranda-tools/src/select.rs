//! Which tools are offered: sets, single names, exclusions, and read-only as the upper bound.

use std::collections::BTreeSet;

use crate::tool::{Tier, ToolDef, Toolset};
use crate::tools;

/// A choice of tools, as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Sets by name, `default` and `all` among them; nothing means `default`.
    pub toolsets: Vec<String>,
    /// Single tools beside the sets.
    pub tools: Vec<String>,
    /// Tools that are left out whatever else is asked.
    pub exclude: Vec<String>,
    /// Only tools that change nothing.
    pub read_only: ReadOnly,
}

/// Whether tools that change something are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadOnly {
    /// Every tool that was chosen.
    #[default]
    No,
    /// Only those that change nothing.
    Yes,
}

/// A name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No such set.
    #[error("there is no toolset {name:?}; there are: default, all, {known}")]
    NoToolset {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No such tool.
    #[error("there is no tool {0:?}; `memoranda tool --list` shows them all")]
    NoTool(String),
    /// Nothing is left.
    #[error(
        "no tool is left to offer: each that was chosen changes something, or was left out; add a \
         toolset that reads, or allow changes"
    )]
    Nothing,
}

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Self { toolsets: vec!["all".into()], ..Self::default() }
    }

    /// The tools that are offered, in their order.
    pub fn resolve(&self) -> Result<Vec<&'static ToolDef>, SelectionError> {
        let mut sets: BTreeSet<Toolset> = BTreeSet::new();
        let named = self.toolsets.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let mut any = false;
        let mut default = false;
        for name in named {
            any = true;
            match Toolset::ALL.into_iter().find(|set| set.as_str() == name) {
                Some(set) => drop(sets.insert(set)),
                None if name == "all" => sets.extend(Toolset::ALL),
                None if name == "default" => default = true,
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
                || default && tool.tier == Tier::Default
                || holds(&self.tools, tool))
                && !holds(&self.exclude, tool)
                && (self.read_only == ReadOnly::No || tool.hints.read_only)
        });
        Ok(offered.collect())
    }

    /// This choice, narrowed by another: nothing that this one leaves out comes back.
    pub fn narrowed(&self, other: &Self) -> Result<Vec<&'static ToolDef>, SelectionError> {
        let asked = other.resolve()?;
        let mut allowed = self.resolve()?;
        allowed.retain(|tool| asked.iter().any(|other| other.name == tool.name));
        Ok(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selection: &Selection) -> Vec<&'static str> {
        selection.resolve().unwrap().into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn exclusion_and_read_only_always_win() {
        let memory = || vec!["memory".to_owned()];
        let excluded = Selection { exclude: memory(), tools: memory(), ..Selection::all() };
        let others: Vec<_> =
            tools().map(|tool| tool.name).filter(|name| *name != "memory").collect();
        assert_eq!(names(&excluded), others);
        let read_only = Selection { read_only: ReadOnly::Yes, ..Selection::all() };
        assert!(read_only.resolve().unwrap().iter().all(|tool| tool.hints.read_only));
        assert!(!names(&read_only).contains(&"memory"));
        let narrowed = excluded.narrowed(&Selection::all()).unwrap();
        assert!(narrowed.iter().all(|tool| tool.name != "memory"));
        let one = Selection { tools: memory(), ..Selection::default() };
        assert!(excluded.narrowed(&one).unwrap().is_empty());
    }

    #[test]
    fn sets_are_chosen_by_name() {
        let of = |sets: &[&str]| Selection {
            toolsets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Selection::default()
        };
        let filtered = |keep: &dyn Fn(&ToolDef) -> bool| -> Vec<&str> {
            tools().filter(|tool| keep(tool)).map(|tool| tool.name).collect()
        };
        let default = filtered(&|tool| tool.tier == Tier::Default);
        assert_eq!(names(&Selection::default()), default);
        assert_eq!(names(&of(&["default"])), default);
        assert_eq!(names(&of(&["all"])), filtered(&|_| true));
        for set in Toolset::ALL {
            assert_eq!(names(&of(&[set.as_str()])), filtered(&|tool| tool.toolset == set));
        }
        assert_eq!(names(&of(&["memory"])), ["memory"]);
    }

    #[test]
    fn unknown_names_are_refused() {
        let set = Selection { toolsets: vec!["memroy".into()], ..Selection::default() };
        assert!(set.resolve().unwrap_err().to_string().contains("\"memroy\""));
        let tool = Selection { tools: vec!["nope".into()], ..Selection::default() };
        assert_eq!(tool.resolve().unwrap_err(), SelectionError::NoTool("nope".into()));
    }
}
