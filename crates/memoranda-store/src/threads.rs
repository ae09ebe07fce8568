//! Worker threads, which the system can refuse like anything else.

use std::sync::OnceLock;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::error::{ErrorContext as _, Result};
use crate::faults::{self, Step};
use crate::machine;

/// Returns the number of threads that can run at the same time. It is cached, because the system call
/// takes as long as a small search.
pub(crate) fn available() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Starts a worker thread that ends with its scope.
pub(crate) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    // On a simulated machine the order of calls must not depend on chance.
    let is_refused =
        if machine::is_simulated() { Err(std::io::ErrorKind::Unsupported.into()) } else { Ok(()) };
    let started = is_refused
        .and_then(|()| faults::at(Step::StartThread))
        .and_then(|()| faults::at(Step::AnyCall))
        .and_then(|()| Builder::new().spawn_scoped(scope, work));
    started.doing(|| "start a worker thread".into())
}

/// Waits for a worker thread, and does the work here if the thread could not be started.
pub(crate) fn join_or_run<T>(
    thread: Result<ScopedJoinHandle<'_, T>>,
    work: impl FnOnce() -> T,
) -> T {
    match thread {
        Ok(thread) => join(thread),
        Err(_) => work(),
    }
}

/// Waits for a worker thread. A panic of it goes on here.
pub(crate) fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
