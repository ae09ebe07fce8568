//! The mechanism of every tool: its definition, its parameters, its run, its selection and its
//! truncation.

mod arguments;
mod client_meta;
mod elicitation;
mod error;
mod params;
mod prompt;
mod query_feedback;
mod resource;
mod runner;
mod selection;
mod tool;
mod truncate;

pub use arguments::{ArgsError, ToolArgs};
pub use elicitation::{
    ClientContext, ClientQuestion, Confirmation, FormSupport, SideContent, SideOutput,
};
pub use error::ToolError;
pub use params::{ItemTable, Param, ParamTable};
pub use prompt::{PromptArgument, PromptCall, PromptDef, PromptMessage};
pub use resource::ResourceDef;
pub use runner::call;
pub use selection::{AccessMode, SelectionError, ToolSelection};
pub use tool::{
    CallContext, ScanPolicy, SpaceMemory, TextFormat, ToolAdvice, ToolDef, ToolHints, ToolReach,
    ToolResult, ToolRun, ToolTier, Toolset,
};

pub(crate) use arguments::integer;
pub(crate) use error::{INVALID_ARGUMENTS, NOTE_NOT_FOUND, count, project_constrained};
pub(crate) use prompt::quote_lines;
pub(crate) use query_feedback::{BY_WORDS_ALONE, QueryFeedback, abbreviate_query};
