//! Threads: each is a graph of its own, in a folder of its own.

use memoranda_core::fact::thread_folder;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{FolderGraph, Memory, Place};

use crate::registry::{ArgsError, ToolArgs};
use crate::settings::ToolSettings;

/// The thread of those who name none, as in the reference server.
pub(crate) const DEFAULT_THREAD: &str = "default";
/// No file system takes much longer names.
const MAX_FOLDER_BYTES: usize = 200;

/// Which shapes answers have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerShape {
    /// Those of the reference server: texts.
    Reference,
    /// Facts with id, version, time, and the thread.
    Thread,
}

/// One graph.
#[derive(Clone, Debug)]
pub(crate) struct GraphThread {
    pub(crate) id: String,
    pub(crate) folder: String,
    pub(crate) project: ProjectName,
    pub(crate) shape: AnswerShape,
}

impl GraphThread {
    /// The thread that a call names; without one, the default thread in the reference's shapes.
    pub(crate) fn from_args_or_default(
        args: &mut ToolArgs,
        settings: &ToolSettings,
    ) -> Result<Self, ArgsError> {
        unify_thread_names(args)?;
        match args.optional_text("threadId")? {
            None => Self::new(DEFAULT_THREAD, settings, AnswerShape::Reference)
                .ok_or_else(|| args.missing("threadId", "the thread's id")),
            Some(_) => Self::from_args(args, settings),
        }
    }

    /// The thread that a call must name.
    pub(crate) fn from_args(
        args: &mut ToolArgs,
        settings: &ToolSettings,
    ) -> Result<Self, ArgsError> {
        unify_thread_names(args)?;
        let id = args
            .optional_text("threadId")?
            .ok_or_else(|| args.missing("threadId", "the id of the conversation or project"))?;
        Self::new(&id, settings, AnswerShape::Thread).ok_or_else(|| {
            let expected = "a text of 1 to about 100 characters";
            args.wrong("threadId", expected, &serde_json::Value::String(id))
        })
    }

    /// A thread by its id; `None` if it is empty or too long for a folder's name.
    pub(crate) fn new(id: &str, settings: &ToolSettings, shape: AnswerShape) -> Option<Self> {
        let id = id.trim();
        let folder = thread_folder(id);
        let fits = !id.is_empty() && folder.len() <= MAX_FOLDER_BYTES;
        fits.then(|| Self {
            id: id.to_owned(),
            folder,
            project: settings.graph.project.clone(),
            shape,
        })
    }

    /// What is wrong if something within a request names another thread than the request.
    pub(crate) fn thread_mismatch(&self, args: &ToolArgs) -> Option<String> {
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

    /// The thread as the store sees it.
    pub(crate) fn folder_graph<'m>(&self, memory: &'m Memory) -> FolderGraph<'m> {
        memory.store().folder(&self.project, &self.folder)
    }

    pub(crate) fn place(&self, path: NotePath) -> Place {
        Place { project: self.project.clone(), path }
    }

    /// Where its notes are, for answers.
    pub(crate) fn address(&self) -> String {
        format!("{}/{}", self.project, self.folder)
    }
}

/// The names that the thread goes by in calls.
const THREAD_ALIASES: [&str; 2] = ["thread_id", "agentThreadId"];

/// Takes the thread by whichever name it goes; two that differ are refused.
fn unify_thread_names(args: &mut ToolArgs) -> Result<(), ArgsError> {
    let mut first: Option<(&str, String)> = None;
    for name in ["threadId", THREAD_ALIASES[0], THREAD_ALIASES[1]] {
        let Some(id) = args.optional_text(name)? else { continue };
        match &first {
            None => first = Some((name, id)),
            Some((known, other)) if *other != id => {
                let expected = format!("the same thread as `{known}` ({other:?})");
                return Err(args.wrong(name, &expected, &serde_json::Value::String(id)));
            }
            Some(_) => {}
        }
    }
    args.rename(&[("threadId", &THREAD_ALIASES)]);
    Ok(())
}
