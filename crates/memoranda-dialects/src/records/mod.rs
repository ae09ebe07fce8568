//! Rules, facts, decisions, context and reminders, global or of one repository.

use crate::prompts::PromptDef;
use crate::resource::ResourceDef;
use crate::tool::ToolDef;

/// The tools' rows.
pub(crate) const TOOLS: &[ToolDef] = &[];
/// The prompts' rows.
pub(crate) const PROMPTS: &[PromptDef] = &[];
/// The resources' rows.
pub(crate) const RESOURCES: &[ResourceDef] = &[];

/// What a client's model is told of this set, in at most 200 bytes.
pub(crate) const BRIEF: &str = "RECORDS: `get_context` first in every task: the rules, what is relevant, what is due. `add_memory` keeps what lasts.\n";
