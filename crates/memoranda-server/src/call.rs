//! One call of a tool: on the blocking pool, with progress on the way and an end when nobody
//! wants the answer any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memoranda_engine::{Concern, Known, Memory, Who};
use memoranda_tools::{CallContext, ClientContext, SideOutput, ToolDef, ToolResult, ToolSettings};
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc};

use crate::mcp::Notes;

/// The shortest time between two words about progress.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// How long a call waits for the first look at the files, when the index was just made.
const FIRST_LOOK: Duration = Duration::from_secs(10);

/// How long a call waits until edits that were made before this process are taken in.
const EDITS: Duration = Duration::from_secs(1);

/// How far a call has come.
pub(crate) struct Progress {
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) doing: String,
}

/// A call that can be made.
pub(crate) struct Job {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) tool: &'static ToolDef,
    pub(crate) who: Who,
    pub(crate) arguments: Value,
    pub(crate) client: ClientContext,
}

/// The tool broke down. Nothing about why reaches the caller.
#[derive(Debug)]
pub(crate) struct Broken;

/// The calls of one client, in the order in which they came. A model may ask for several things at
/// once of which one needs another: what writes waits for all that came before it, and what reads
/// for the writes.
#[derive(Clone, Default)]
pub(crate) struct Turns(Arc<RwLock<()>>);

/// A call's turn, which lasts until it is dropped.
pub(crate) enum Turn {
    /// Nobody said what came before.
    Free,
    Reading(#[expect(dead_code, reason = "held")] OwnedRwLockReadGuard<()>),
    Writing(#[expect(dead_code, reason = "held")] OwnedRwLockWriteGuard<()>),
}

impl Turns {
    /// Waits until it is this tool's turn.
    pub(crate) async fn take(&self, tool: &ToolDef) -> Turn {
        let turns = Arc::clone(&self.0);
        match tool.hints.read_only {
            true => Turn::Reading(turns.read_owned().await),
            false => Turn::Writing(turns.write_owned().await),
        }
    }
}

impl Job {
    /// Makes the call. Dropping the future tells the tool that the answer is no longer wanted; its
    /// turn ends when it has stopped.
    pub(crate) async fn run(
        self,
        turn: Turn,
        progress: Option<mpsc::Sender<Progress>>,
        notes: Option<Notes>,
    ) -> Result<(ToolResult, SideOutput), Broken> {
        let cancelled = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&cancelled.0);
        let tool = self.tool;
        let work = move || {
            let done = self.run_here(progress.as_ref(), &flag);
            drop(turn);
            done
        };
        let task = tokio::task::spawn_blocking(move || match notes {
            Some(notes) => tracing::subscriber::with_default(notes, work),
            None => work(),
        });
        task.await.map_err(|error| {
            tracing::error!(tool = tool.name, %error, "the tool broke down");
            Broken
        })
    }

    fn run_here(
        self,
        progress: Option<&mpsc::Sender<Progress>>,
        cancelled: &AtomicBool,
    ) -> (ToolResult, SideOutput) {
        let throttle = Throttle::default();
        let tell = |done: u64, total: u64, doing: &str| {
            if let Some(progress) = progress
                && throttle.lets_through(done)
            {
                // A listener that does not keep up hears less.
                progress.try_send(Progress { done, total, doing: doing.to_owned() }).ok();
            }
        };
        let call = CallContext {
            memory: &self.memory,
            who: self.who,
            settings: &self.settings,
            progress: &tell,
            cancelled,
            client: &self.client,
        };
        let known = match self.tool.scan_scope(&self.settings, &self.arguments) {
            Some(scope) => first_look(&self.memory, &scope, &|done, total| {
                tell(done as u64, total as u64, "reading the files into the index");
            }),
            // The tool does not use the index, but a later call may: start to build it.
            None => {
                self.memory.await_index(Duration::ZERO, &|_, _| ()).ok();
                None
            }
        };
        let mut result = memoranda_tools::call(self.tool, &call, self.arguments);
        if let Some(warning) = warning(known) {
            result.text.push_str(&warning);
        }
        (result, self.client.into_side_output())
    }
}

/// Waits for the first look at the files, so that an index that was just made answers like any
/// other, and one that was made before knows what people did since, where it concerns the answer;
/// `None` if that cannot be known.
pub(crate) fn first_look(
    memory: &Memory,
    concern: &Concern,
    tell: &dyn Fn(usize, usize),
) -> Option<Known> {
    let known = memory.await_index(FIRST_LOOK, tell).ok();
    if known == Some(Known::Whole)
        && let Err(error) = memory.await_edits(concern, EDITS)
    {
        tracing::warn!(%error, "edits by hand may be missing from the first answers");
    }
    known
}

/// What is said below an answer that may lack something.
fn warning(known: Option<Known>) -> Option<String> {
    let Some(Known::Part { done, total }) = known else { return None };
    let far = match total {
        0 => String::new(),
        _ => format!(" ({done} of {total} files so far)"),
    };
    Some(format!(
        "\n[The index is still being built{far}: what is not read yet is missing here, and counts \
         are too low. Ask again in a moment.]"
    ))
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets a word about progress through if it is news, and not too soon after the last.
#[derive(Default)]
struct Throttle(Mutex<Option<(Instant, u64)>>);

impl Throttle {
    fn lets_through(&self, done: u64) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = last
            .is_none_or(|(at, before)| done > before && now.duration_since(at) >= PROGRESS_PAUSE);
        if news {
            *last = Some((now, done));
        }
        news
    }
}

/// A client's name and version, as the history keeps it: one short line of printable text.
pub(crate) fn client_name<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const LONGEST: usize = 100;
    let joined = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let joined = joined.collect::<Vec<_>>().join(" ");
    let name: String = joined.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_names_are_one_short_line() {
        assert_eq!(client_name(["claude-code", "2.1"]).as_deref(), Some("claude-code 2.1"));
        assert_eq!(client_name([" a\nb\u{1b}[0m ", ""]).as_deref(), Some("ab[0m"));
        assert_eq!(client_name(["", " "]), None);
        assert_eq!(client_name(["x".repeat(500).as_str()]).unwrap().len(), 100);
    }

    #[test]
    fn an_answer_from_part_of_the_files_says_so() {
        for (known, expected) in [
            (None, None),
            (Some(Known::Whole), None),
            (Some(Known::Part { done: 0, total: 0 }), Some("still being built: what")),
            (Some(Known::Part { done: 3, total: 9 }), Some("built (3 of 9 files so far): what")),
        ] {
            let said = warning(known);
            assert_eq!(said.is_some(), expected.is_some(), "{known:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{known:?}");
        }
    }

    #[test]
    fn progress_is_told_once_a_while_and_never_backwards() {
        let throttle = Throttle::default();
        assert!(throttle.lets_through(1));
        assert!(!throttle.lets_through(2));
        std::thread::sleep(PROGRESS_PAUSE);
        assert!(!throttle.lets_through(1));
        assert!(throttle.lets_through(2));
    }
}
