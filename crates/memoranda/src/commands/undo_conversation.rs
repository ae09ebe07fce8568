//! `memoranda undo --conversation`: reverse all writes of a conversation by one commit.

use memoranda_engine::core::change::Commit;
use memoranda_engine::{Memory, UndoPlan, UndoSelection, UndoSetOutcome};
use serde::Serialize;

use super::undo::{changed_since, confirm_deletions};
use crate::context::CommandContext;
use crate::diff_color;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, PlaceJson, short_id};
use crate::output::{FAINT, counted};

#[derive(Serialize)]
struct UndoneSetJson {
    undone: Vec<CommitJson>,
    commit: Option<CommitJson>,
    changed_since: Vec<PlaceJson>,
    dry_run: bool,
}

/// A conversation that is to be undone.
pub(super) struct ConversationUndo<'m> {
    memory: &'m Memory,
    selection: UndoSelection,
    plan: UndoPlan,
}

impl<'m> ConversationUndo<'m> {
    /// Plans the undo of a conversation.
    pub(super) fn plan(memory: &'m Memory, id: &str) -> Result<Self> {
        let selection = UndoSelection::Conversation(id.to_owned());
        let plan = memory.plan_undo(&selection)?;
        Ok(Self { memory, selection, plan })
    }

    /// Undoes it.
    pub(super) fn apply(&self, context: &CommandContext) -> Result<Exit> {
        let newest = self.newest()?;
        let deletions = self.plan.files.iter().filter(|file| file.restored.is_none()).count();
        confirm_deletions(context, "Undo", newest, deletions)?;
        match self.memory.undo_set(&context.author(), &self.selection)? {
            UndoSetOutcome::Undone { undone, commit } => {
                let count = counted(undone.len(), "commit");
                let by = short_id(&commit);
                let json = UndoneSetJson {
                    undone: commits_json(&undone),
                    commit: Some(CommitJson::from(&*commit)),
                    changed_since: Vec::new(),
                    dry_run: false,
                };
                let sentence = format!("Undid {count} {FAINT}(commit {by}){FAINT:#}");
                context.printer.done(&json, sentence)?;
                context.hint_after("`memoranda redo` reverses this");
                Ok(Exit::Success)
            }
            UndoSetOutcome::Unchanged => {
                context.printer.say("Everything is as it was before already.");
                Ok(Exit::Success)
            }
            UndoSetOutcome::ChangedSince(places) => {
                Err(changed_since(&places, "that conversation; nothing was undone"))
            }
        }
    }

    /// Shows what it would change.
    pub(super) fn print(&self, context: &CommandContext) -> Result<Exit> {
        self.newest()?;
        let plan = &self.plan;
        if context.is_json() {
            context.printer.json(&UndoneSetJson {
                undone: commits_json(&plan.commits),
                commit: None,
                changed_since: plan.changed_since.iter().map(PlaceJson::from).collect(),
                dry_run: true,
            })?;
            return Ok(Exit::Success);
        }
        let count = counted(plan.commits.len(), "commit");
        context.printer.say(format!("Would undo {count}:"));
        let diffs = self.memory.plan_diffs(plan, usize::MAX)?;
        diff_color::print_file_diffs(&context.printer, &diffs)?;
        for place in &plan.changed_since {
            context.printer.warn(format!("{place} was changed since, so nothing would be undone"));
        }
        Ok(Exit::Success)
    }

    fn newest(&self) -> Result<&Commit> {
        self.plan.commits.first().ok_or_else(|| {
            CommandError::new(Exit::NotFound, "there is nothing to undo")
                .hint("`memoranda log` lists the commits")
        })
    }
}

fn commits_json(commits: &[Commit]) -> Vec<CommitJson> {
    commits.iter().map(CommitJson::from).collect()
}
