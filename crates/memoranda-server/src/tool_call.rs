//! One call of a tool: on the blocking pool, with progress on the way and an end when nobody
//! wants the answer any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memoranda_engine::{Concern, Known, Memory, Who};
use memoranda_tools::{CallContext, ClientContext, SideOutput, ToolDef, ToolResult, ToolSettings};
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc};

use crate::mcp::ClientLogSubscriber;

/// The shortest time between two words about progress.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How long a call waits for the first look at the files, when the index was just made.
const FIRST_SCAN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a call waits until edits that were made before this process are taken in.
const EDITS_TIMEOUT: Duration = Duration::from_secs(1);

/// How far a call has come.
pub(crate) struct CallProgress {
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) message: String,
}

/// A call that can be made.
pub(crate) struct ToolCall {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) tool: &'static ToolDef,
    pub(crate) author: Who,
    pub(crate) arguments: Value,
    pub(crate) client: ClientContext,
}

/// The tool broke down. Nothing about why reaches the caller.
#[derive(Debug)]
pub(crate) struct ToolPanicked;

/// The calls of one client, in the order in which they came. A model may ask for several things at
/// once of which one needs another: what writes waits for all that came before it, and what reads
/// for the writes.
#[derive(Clone, Default)]
pub(crate) struct CallOrder(Arc<RwLock<()>>);

/// A call's turn, which lasts until it is dropped.
pub(crate) enum CallPermit {
    /// Nobody said what came before.
    Free,
    Reading(#[expect(dead_code, reason = "held")] OwnedRwLockReadGuard<()>),
    Writing(#[expect(dead_code, reason = "held")] OwnedRwLockWriteGuard<()>),
}

impl CallOrder {
    /// Waits until it is this tool's turn.
    pub(crate) async fn acquire(&self, tool: &ToolDef) -> CallPermit {
        let order = Arc::clone(&self.0);
        match tool.hints.read_only {
            true => CallPermit::Reading(order.read_owned().await),
            false => CallPermit::Writing(order.write_owned().await),
        }
    }
}

impl ToolCall {
    /// Makes the call. Dropping the future tells the tool that the answer is no longer wanted; its
    /// turn ends when it has stopped.
    pub(crate) async fn run(
        self,
        permit: CallPermit,
        progress: Option<mpsc::Sender<CallProgress>>,
        log: Option<ClientLogSubscriber>,
    ) -> Result<(ToolResult, SideOutput), ToolPanicked> {
        let cancelled = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&cancelled.0);
        let tool = self.tool;
        let work = move || {
            let done = self.run_blocking(progress.as_ref(), &flag);
            drop(permit);
            done
        };
        let task = tokio::task::spawn_blocking(move || match log {
            Some(log) => tracing::subscriber::with_default(log, work),
            None => work(),
        });
        task.await.map_err(|error| {
            tracing::error!(tool = tool.name, %error, "the tool broke down");
            ToolPanicked
        })
    }

    fn run_blocking(
        self,
        progress: Option<&mpsc::Sender<CallProgress>>,
        cancelled: &AtomicBool,
    ) -> (ToolResult, SideOutput) {
        let throttle = ProgressThrottle::default();
        let report = |done: u64, total: u64, message: &str| {
            if let Some(progress) = progress
                && throttle.allows(done)
            {
                // A listener that does not keep up hears less.
                progress.try_send(CallProgress { done, total, message: message.to_owned() }).ok();
            }
        };
        let call = CallContext {
            memory: &self.memory,
            who: self.author,
            settings: &self.settings,
            progress: &report,
            cancelled,
            client: &self.client,
        };
        let state = match self.tool.scan_scope(&self.settings, &self.arguments) {
            Some(scope) => await_first_scan(&self.memory, &scope, &|done, total| {
                report(done as u64, total as u64, "reading the files into the index");
            }),
            // The tool does not use the index, but a later call may: start to build it.
            None => {
                self.memory.await_index(Duration::ZERO, &|_, _| ()).ok();
                None
            }
        };
        let mut result = memoranda_tools::call(self.tool, &call, self.arguments);
        if let Some(incomplete_index_warning) = incomplete_index_warning(state) {
            result.text.push_str(&incomplete_index_warning);
        }
        (result, self.client.into_side_output())
    }
}

/// Waits for the first look at the files, so that an index that was just made answers like any
/// other, and one that was made before knows what people did since, where it concerns the answer;
/// `None` if that cannot be known.
pub(crate) fn await_first_scan(
    memory: &Memory,
    concern: &Concern,
    report: &dyn Fn(usize, usize),
) -> Option<Known> {
    let state = memory.await_index(FIRST_SCAN_TIMEOUT, report).ok();
    if state == Some(Known::Whole)
        && let Err(error) = memory.await_edits(concern, EDITS_TIMEOUT)
    {
        tracing::warn!(%error, "edits by hand may be missing from the first answers");
    }
    state
}

/// What is said below an answer that may lack something.
fn incomplete_index_warning(state: Option<Known>) -> Option<String> {
    let Some(Known::Part { done, total }) = state else { return None };
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
struct ProgressThrottle(Mutex<Option<(Instant, u64)>>);

impl ProgressThrottle {
    fn allows(&self, done: u64) -> bool {
        let now = Instant::now();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = last.is_none_or(|(at, before)| {
            done > before && now.duration_since(at) >= MIN_PROGRESS_INTERVAL
        });
        if news {
            *last = Some((now, done));
        }
        news
    }
}

/// A client's name and version, as the history keeps it: one short line of printable text.
pub(crate) fn client_name<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const MAX_NAME_CHARS: usize = 100;
    let joined = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let joined = joined.collect::<Vec<_>>().join(" ");
    let name: String = joined.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
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
        for (state, expected) in [
            (None, None),
            (Some(Known::Whole), None),
            (Some(Known::Part { done: 0, total: 0 }), Some("still being built: what")),
            (Some(Known::Part { done: 3, total: 9 }), Some("built (3 of 9 files so far): what")),
        ] {
            let said = incomplete_index_warning(state);
            assert_eq!(said.is_some(), expected.is_some(), "{state:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()), "{state:?}");
        }
    }

    #[test]
    fn progress_is_told_once_a_while_and_never_backwards() {
        let throttle = ProgressThrottle::default();
        assert!(throttle.allows(1));
        assert!(!throttle.allows(2));
        std::thread::sleep(MIN_PROGRESS_INTERVAL);
        assert!(!throttle.allows(1));
        assert!(throttle.allows(2));
    }
}
