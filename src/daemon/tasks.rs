//! The tasks that run as long as the daemon. A task that panics (a defect) starts again, because otherwise nobody would
//! notice that it is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::pipeline::{Shared, Stage, run_stage};

/// How long to wait after a panic: at first, and at most.
const WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The running tasks.
pub(super) struct Tasks {
    running: JoinSet<()>,
    stop: CancellationToken,
}

impl Tasks {
    /// No tasks yet. A task that panics starts no more once `stop` is cancelled.
    pub(super) fn new(stop: CancellationToken) -> Self {
        Self { running: JoinSet::new(), stop }
    }

    /// Runs the future that `begin` returns, and begins again after each panic, with growing pauses. A future that
    /// returns has ended.
    pub(super) fn keep<F, T>(&mut self, name: &'static str, begin: F)
    where
        F: Fn() -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let stop = self.stop.clone();
        self.running.spawn(async move {
            let mut wait = WAIT;
            loop {
                let began = Instant::now();
                if AssertUnwindSafe(Box::pin(begin())).catch_unwind().await.is_ok() {
                    return;
                }
                if began.elapsed() > LONGEST_WAIT {
                    wait = WAIT;
                }
                tracing::error!(
                    event = "internal_error",
                    task = name,
                    "the task {name} of docsyncd panicked and begins again in {} s. Please report this",
                    wait.as_secs()
                );
                if stop.run_until_cancelled(sleep(wait)).await.is_none() {
                    return;
                }
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        });
    }

    /// [`Self::keep`], for a part of the daemon.
    pub(super) fn part<F, T>(&mut self, name: &'static str, context: &Shared, begin: F)
    where
        F: Fn(Shared) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let context = context.clone();
        self.keep(name, move || begin(context.clone()));
    }

    /// [`Self::keep`], for a stage.
    pub(super) fn stage<S: Stage>(&mut self, context: &Shared, stage: S) {
        let stage = Arc::new(stage);
        self.part(S::NAME, context, move |context| run_stage(context, Arc::clone(&stage)));
    }

    /// Waits until all tasks have ended.
    pub(super) async fn ended(&mut self) {
        while let Some(ended) = self.running.join_next().await {
            if let Err(error) = ended {
                tracing::error!(event = "internal_error", "a task ended unexpectedly: {error}");
            }
        }
    }

    /// Aborts the tasks that still run.
    pub(super) fn abort(&mut self) {
        self.running.abort_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_begins_again_until_it_returns_or_the_daemon_stops() {
        let stop = CancellationToken::new();
        let mut tasks = Tasks::new(stop.clone());
        let begun = Arc::new(AtomicUsize::new(0));
        let count = begun.clone();
        tasks.keep("odd", move || {
            let count = count.clone();
            async move {
                tokio::task::yield_now().await;
                assert!(count.fetch_add(1, Ordering::Relaxed) == 3, "on purpose");
            }
        });
        tasks.ended().await;
        assert_eq!(begun.load(Ordering::Relaxed), 4);
        tasks.keep("always", || async { panic!("on purpose") });
        stop.cancel();
        tasks.ended().await;
    }
}
