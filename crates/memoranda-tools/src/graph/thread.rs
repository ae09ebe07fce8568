//! The thread of a call.

use std::ops::Deref;

use memoranda_engine::graph::{GraphError, GraphThread, WeightPolicy};
use serde_json::Value;

use super::error::UNKNOWN_ENTITY;
use crate::registry::{ArgsError, ToolArgs, ToolError};
use crate::settings::ToolSettings;

/// Id of the thread of calls that name none, as in the reference server.
pub(super) const DEFAULT_THREAD: &str = "default";

/// The shape of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AnswerShape {
    /// The shapes of the reference server: observations are texts.
    Reference,
    /// Observations with id, version, time and thread.
    Thread,
}

/// The thread of a call with the shape of its answer.
#[derive(Clone, Debug)]
pub(super) struct CallThread {
    thread: GraphThread,
    pub(super) shape: AnswerShape,
}

impl Deref for CallThread {
    type Target = GraphThread;

    fn deref(&self) -> &GraphThread {
        &self.thread
    }
}

impl CallThread {
    /// Reads the thread that a call names. Without one, returns the default thread in the shapes of
    /// the reference server.
    pub(super) fn from_args_or_default(
        args: &ToolArgs,
        settings: &ToolSettings,
    ) -> Result<Self, ArgsError> {
        match args.optional_text("threadId")? {
            None => Self::new(DEFAULT_THREAD, settings, AnswerShape::Reference)
                .ok_or_else(|| args.missing("threadId", "the thread's id")),
            Some(_) => Self::from_args(args, settings),
        }
    }

    /// Reads the thread that a call must name.
    pub(super) fn from_args(args: &ToolArgs, settings: &ToolSettings) -> Result<Self, ArgsError> {
        let id = args
            .optional_text("threadId")?
            .ok_or_else(|| args.missing("threadId", "the id of the conversation or project"))?;
        Self::new(&id, settings, AnswerShape::Thread).ok_or_else(|| {
            let expected = "a text of 1 to about 100 characters";
            args.wrong("threadId", expected, &Value::String(id))
        })
    }

    /// Returns the thread of an id; `None` if the id cannot name a folder.
    pub(super) fn new(id: &str, settings: &ToolSettings, shape: AnswerShape) -> Option<Self> {
        let weights = match shape {
            AnswerShape::Reference => WeightPolicy::Given,
            AnswerShape::Thread => WeightPolicy::Complete,
        };
        let thread = GraphThread::new(id, &settings.graph.project, weights)?;
        Some(Self { thread, shape })
    }

    /// Returns the same thread with answers in the shape of threads.
    pub(super) fn with_thread_shape(self) -> Self {
        Self { shape: AnswerShape::Thread, ..self }
    }

    /// Returns the problem if an item of a request names another thread than the request.
    pub(super) fn thread_mismatch(&self, args: &ToolArgs) -> Option<String> {
        let named = match args.optional_text("agentThreadId") {
            Ok(named) => named?,
            Err(error) => return Some(error.to_string()),
        };
        let here = match self.shape {
            AnswerShape::Thread => format!("threadId {:?}", self.id),
            AnswerShape::Reference => {
                format!("{:?}, the thread of calls without threadId", self.id)
            }
        };
        (named.trim() != self.id).then(|| {
            format!(
                "agentThreadId {named:?} is another thread than {here}. One call writes to one \
                 thread: leave agentThreadId out, or give that thread as threadId."
            )
        })
    }

    /// Adds the thread and the next step to the error about an unknown entity.
    pub(super) fn explain(&self, error: GraphError) -> ToolError {
        match error {
            GraphError::UnknownEntity { name, near, is_searched: true } => {
                ToolError::new(UNKNOWN_ENTITY, self.unknown_entity_text(&name, &near))
            }
            other => other.into(),
        }
    }

    fn unknown_entity_text(&self, name: &str, near: &[String]) -> String {
        let hint = match near {
            [] => "list_entities and search_nodes show what there is.".to_owned(),
            near => format!("Did you mean '{}'?", near.join("' or '")),
        };
        let hint = match self.shape {
            // A caller that saved with a thread has probably forgotten it here.
            AnswerShape::Reference => format!("No threadId was given. {hint}"),
            AnswerShape::Thread => hint,
        };
        format!("Entity with name {name} not found in thread '{}'. {hint}", self.id)
    }
}
