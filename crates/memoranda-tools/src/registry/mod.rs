//! The mechanism of every tool: its row, its parameters, how it is run, chosen and cut to size.

mod arguments;
mod elicitation;
mod prompt;
mod query_feedback;
mod resource;
mod selection;
mod tool;
mod truncate;

pub use elicitation::{ClientContext, ClientQuestion, SideContent, SideOutput};
pub use prompt::{PromptArgument, PromptCall, PromptDef, PromptMessage};
pub use resource::ResourceDef;
pub use selection::{AccessMode, SelectionError, ToolSelection};
pub use tool::{CallContext, ToolDef, ToolHints, ToolResult, ToolTier, Toolset, call};

pub(crate) use arguments::{ArgsError, ToolArgs, integer};
pub(crate) use prompt::quote_lines;
pub(crate) use query_feedback::{QueryFeedback, abbreviate_query};
