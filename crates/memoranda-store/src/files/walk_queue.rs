//! The tasks of a walk, which several threads share.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tasks that are left. A task can add further ones.
pub(super) struct WalkQueue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    waiting: Vec<T>,
    /// Number of tasks that threads work on.
    running: usize,
}

impl<T> Default for WalkQueue<T> {
    fn default() -> Self {
        let state = QueueState { waiting: Vec::new(), running: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> WalkQueue<T> {
    pub(super) fn add(&self, task: T) {
        self.lock().waiting.push(task);
        self.changed.notify_one();
    }

    /// Returns the number of waiting tasks.
    pub(super) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Runs tasks, the last one first, until so many wait or all have ended. Waits as long as tasks of
    /// other threads may add further ones.
    pub(super) fn run_until(&self, waiting: usize, mut run: impl FnMut(T)) {
        while let Some(task) = self.next(waiting) {
            // Also if the task panics: the other threads wait for it.
            let _end = TaskEnd(self);
            run(task);
        }
    }

    fn next(&self, waiting: usize) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.waiting.len() >= waiting {
                return None;
            }
            if let Some(task) = state.waiting.pop() {
                state.running += 1;
                return Some(task);
            }
            if state.running == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a running task.
struct TaskEnd<'q, T>(&'q WalkQueue<T>);

impl<T> Drop for TaskEnd<'_, T> {
    fn drop(&mut self) {
        let Self(queue) = self;
        let mut state = queue.lock();
        state.running -= 1;
        if state.running == 0 && state.waiting.is_empty() {
            queue.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_task_is_run_once_by_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let (queue, sum) = (WalkQueue::default(), AtomicUsize::new(0));
            queue.add(12);
            let work = || {
                queue.run_until(usize::MAX, |task: usize| {
                    sum.fetch_add(1, Ordering::Relaxed);
                    (0..2).filter(|_| task > 0).for_each(|_| queue.add(task - 1));
                });
            };
            std::thread::scope(|scope| {
                (0..threads).for_each(|_| drop(scope.spawn(work)));
            });
            assert_eq!(sum.load(Ordering::Relaxed), (1 << 13) - 1, "{threads} threads");
        }
    }

    #[test]
    fn a_limited_run_leaves_the_tasks_to_others() {
        let queue = WalkQueue::default();
        queue.add(8);
        let mut run = 0;
        queue.run_until(3, |task: usize| {
            run += 1;
            (0..2).for_each(|_| queue.add(task - 1));
        });
        assert_eq!((run, queue.len()), (2, 3));
    }
}
