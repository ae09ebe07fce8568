//! One call of a tool: it runs on the blocking pool, reports progress, and is cancelled when its
//! caller is gone.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memoranda_engine::{Author, IndexProgress, Memory, SyncScope};
use memoranda_tools::{
    CallContext, ClientContext, SideOutput, SpaceMemory, ToolDef, ToolResult, ToolSettings,
};
use serde_json::Value;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc};

use crate::mcp::ClientLogSubscriber;
use crate::team::{CallChannels, TeamRequest};

/// Minimum time between two progress notifications.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum time that a call waits for the first scan into a new index.
const FIRST_SCAN_TIMEOUT: Duration = Duration::from_secs(10);

/// The pool of threads keeps an idle one for longer than this.
const THREAD_KEPT: Duration = Duration::from_secs(5);

/// Maximum time that a call waits until edits from before this process are indexed.
const EDITS_TIMEOUT: Duration = Duration::from_secs(1);

/// Progress of a call.
pub(crate) struct CallProgress {
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) message: String,
}

/// A prepared call of a tool.
pub(crate) struct ToolCall {
    pub(crate) memory: Arc<Memory>,
    pub(crate) settings: Arc<ToolSettings>,
    pub(crate) tool: &'static ToolDef,
    pub(crate) author: Author,
    pub(crate) arguments: Value,
    pub(crate) client: ClientContext,
    /// The request of a team server that the call came with; `None` on a server of one vault.
    pub(crate) team: Option<Arc<TeamRequest>>,
    /// Name of the space of `memory`, if others are read with it.
    pub(crate) space: Option<String>,
    /// Further spaces that a reading call covers.
    pub(crate) others: Vec<SpaceMemory>,
}

/// Time when a thread of the pool last became idle.
static LAST_IDLE: Mutex<Option<Instant>> = Mutex::new(None);

/// Returns true if a thread of the pool is there, or the system starts one. Without both, the pool
/// panics, and the call would never be answered.
fn has_thread() -> bool {
    let last = *LAST_IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    last.is_some_and(|last| last.elapsed() < THREAD_KEPT)
        || std::thread::Builder::new().spawn(|| ()).is_ok()
}

/// The tool panicked, or could not be started. The reason is logged and not sent to the caller.
#[derive(Debug)]
pub(crate) struct ToolPanicked;

/// Orders the calls of one client as they arrive. A model may send several calls at once that
/// depend on each other: a writing call waits for all earlier calls, a reading call for earlier
/// writes.
#[derive(Clone, Default)]
pub(crate) struct CallOrder(Arc<RwLock<()>>);

/// Permission to run a call, held until it is dropped.
pub(crate) enum CallPermit {
    /// The transport has no order of calls.
    Free,
    Reading(#[expect(dead_code, reason = "held")] OwnedRwLockReadGuard<()>),
    Writing(#[expect(dead_code, reason = "held")] OwnedRwLockWriteGuard<()>),
}

impl CallOrder {
    /// Waits until this tool may run.
    pub(crate) async fn acquire(&self, tool: &ToolDef) -> CallPermit {
        let order = Arc::clone(&self.0);
        if tool.hints.read_only {
            CallPermit::Reading(order.read_owned().await)
        } else {
            CallPermit::Writing(order.write_owned().await)
        }
    }
}

impl ToolCall {
    /// Runs the call. Dropping the future cancels the tool; the permit is released when it stops.
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
            *LAST_IDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            done
        };
        if !has_thread() {
            tracing::error!(tool = tool.name, "the system starts no further thread");
            return Err(ToolPanicked);
        }
        let start = || {
            tokio::task::spawn_blocking(move || match log {
                Some(log) => tracing::subscriber::with_default(log, work),
                None => work(),
            })
        };
        // The last thread of the system can be taken since: the pool panics then, and the call is
        // answered all the same.
        let Ok(task) = std::panic::catch_unwind(AssertUnwindSafe(start)) else {
            tracing::error!(tool = tool.name, "the system starts no further thread");
            return Err(ToolPanicked);
        };
        task.await.map_err(|error| {
            tracing::error!(tool = tool.name, %error, "the tool broke down");
            ToolPanicked
        })
    }

    pub(crate) fn run_blocking(
        self,
        progress: Option<&mpsc::Sender<CallProgress>>,
        cancelled: &AtomicBool,
    ) -> (ToolResult, SideOutput) {
        if let Some(team) = self.team.clone() {
            return team.run(self, CallChannels { progress, cancelled });
        }
        let throttle = ProgressThrottle::default();
        let report = |done: u64, total: u64, message: &str| {
            if let Some(progress) = progress
                && throttle.allows(done)
            {
                // A slow client gets fewer notifications.
                progress.try_send(CallProgress { done, total, message: message.to_owned() }).ok();
            }
        };
        if self.tool.hints.read_only {
            self.memory.count_read(&self.author.client);
        }
        let call = CallContext {
            memory: &self.memory,
            who: self.author,
            settings: &self.settings,
            progress: &report,
            cancelled,
            client: &self.client,
            space: self.space.as_deref(),
            others: &self.others,
        };
        // A note that the index knows is read from its file: nothing else need be looked at.
        if self.tool.can_precede_scan() && matches!(self.memory.is_indexed(), Ok(true)) {
            let result = memoranda_tools::call(self.tool, &call, self.arguments.clone());
            if !result.is_error {
                // Later calls need the edits of all files.
                if let Err(error) = self.memory.start_background() {
                    tracing::warn!(%error, "the files are not watched");
                }
                return (result, self.client.into_side_output());
            }
        }
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
        if let Some(warning) = incomplete_index_warning(state) {
            result.add_warning(&warning);
        }
        (result, self.client.into_side_output())
    }
}

/// Waits for the first scan of the files: a new index is then complete, and an existing one has
/// the edits since its last use that concern the answer. `None` if the state is unknown.
pub(crate) fn await_first_scan(
    memory: &Memory,
    concern: &SyncScope,
    report: &dyn Fn(usize, usize),
) -> Option<IndexProgress> {
    let state = memory.await_index(FIRST_SCAN_TIMEOUT, report).ok();
    if state == Some(IndexProgress::Whole)
        && let Err(error) = memory.await_edits(concern, EDITS_TIMEOUT)
    {
        tracing::warn!(%error, "edits by hand may be missing from the first answers");
    }
    state
}

/// Returns the warning for an answer from an incomplete index.
fn incomplete_index_warning(state: Option<IndexProgress>) -> Option<String> {
    let Some(IndexProgress::Part { done, total }) = state else { return None };
    let far = match total {
        0 => String::new(),
        _ => format!(" ({done} of {total} files so far)"),
    };
    Some(format!(
        "The index is still being built{far}: what is not read yet is missing here, and counts \
         are too low. Ask again in a moment."
    ))
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Limits progress notifications to new values and to a minimum interval.
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

/// Returns the name and version of a client as one short line of printable text, for the history.
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
            (Some(IndexProgress::Whole), None),
            (Some(IndexProgress::Part { done: 0, total: 0 }), Some("still being built: what")),
            (
                Some(IndexProgress::Part { done: 3, total: 9 }),
                Some("built (3 of 9 files so far): what"),
            ),
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
