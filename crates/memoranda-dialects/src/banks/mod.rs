//! Banks: context that a conversation starts from and keeps current.

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
pub(crate) const BRIEF: &str = "BANKS: `activate` at the start brings the bank and how to keep it current; `update` as things are learned.\n";
