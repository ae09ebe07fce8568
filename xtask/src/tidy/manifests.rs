//! Every crate has a description and the lints of the workspace.

use super::{RuleFindings, WorkspaceTree};

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let texts = tree.by_path();
    let mut problems = Vec::new();
    for member in &tree.metadata.members {
        let path = format!("{}/Cargo.toml", member.folder);
        if member.description.as_ref().is_none_or(|description| description.trim().is_empty()) {
            problems.push(format!("{path}: has no `description`"));
        }
        if !texts.get(path.as_str()).is_some_and(|text| takes_workspace_lints(text)) {
            problems.push(format!("{path}: has no `[lints]` table with `workspace = true`"));
        }
    }
    RuleFindings { problems, ..RuleFindings::default() }
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]")
        && lines.take_while(|line| !line.starts_with('[')).any(|line| line == "workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_are_taken_from_the_workspace() {
        assert!(takes_workspace_lints("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(!takes_workspace_lints("[package]\n"));
        assert!(!takes_workspace_lints("[lints]\n\n[dependencies.a]\nworkspace = true\n"));
    }
}
