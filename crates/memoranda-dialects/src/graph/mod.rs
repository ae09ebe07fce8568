//! Entities, their facts and relations: small, checked, versioned.

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
pub(crate) const BRIEF: &str = "GRAPH: `save_memory` stores entities with short atomic facts and at least one relation each; it says what to mend.\n";
