//! Markdown notes and the graph between them.

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
pub(crate) const BRIEF: &str = "NOTES: `search_notes` before writing, then `write_note`, or `edit_note` for what exists; `build_context` follows the links of a `memory://` address.\n";
