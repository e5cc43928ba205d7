//! Runs blocking work that may never end: a call into a share whose server is gone can hang without limit.
//!
//! System calls cannot be cancelled. So the wait is bounded, not the work. While the work hangs, no second one under
//! the same key begins: two at once would share a temporary file.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One set per process, because a reloaded configuration builds new adapters while old work may still hang.
static UNDER_WAY: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Notified whenever a key becomes free.
static FREED: Condvar = Condvar::new();

fn under_way() -> MutexGuard<'static, BTreeSet<String>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stuck {
    /// The work did not end in time and goes on.
    Now,
    /// Earlier work under the same key has not ended yet.
    Before,
    /// The work panicked: a bug.
    Broken,
}

/// Runs `work` on a thread that may block and waits for it up to `limit`.
pub(super) async fn run<T: Send + 'static>(
    key: String,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stuck> {
    let claim = Claim::on(key).ok_or(Stuck::Before)?;
    let task = tokio::task::spawn_blocking(move || {
        let _claim = claim;
        work()
    });
    match tokio::time::timeout(limit, task).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(Stuck::Broken),
        Err(_) => Err(Stuck::Now),
    }
}

/// Waits for `work` while `answers` confirms after each `every` that there is an answer at all. A large PDF over a
/// slow line takes minutes, but a hard-mounted share may hang for ever.
pub(super) async fn while_answered<T, A: Future<Output = bool>>(
    work: impl Future<Output = Result<T, Stuck>>,
    every: Duration,
    answers: impl Fn() -> A,
) -> Result<T, Stuck> {
    let mut work = pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout(every, &mut work).await {
            return done;
        }
        if !answers().await {
            return Err(Stuck::Now);
        }
    }
}

/// A key that this process uses. Dropping the claim frees the key.
pub(super) struct Claim(String);

impl Claim {
    /// `None` if the key is in use.
    pub(super) fn on(key: String) -> Option<Self> {
        // Only built if the key was free: dropping a claim frees its key.
        under_way().insert(key.clone()).then(|| Self(key))
    }

    /// Blocks the thread until the key is free.
    pub(super) fn wait_for(key: String) -> Self {
        let mut under_way = under_way();
        while !under_way.insert(key.clone()) {
            under_way = FREED.wait(under_way).unwrap_or_else(PoisonError::into_inner);
        }
        Self(key)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        under_way().remove(&self.0);
        FREED.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_that_hangs_is_not_waited_for_and_not_begun_twice() {
        let (end, ended) = mpsc::channel::<()>();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let limit = Duration::from_secs(60);
        let key = || "hanging".to_owned();
        let hang = move || {
            let _ = ended.recv();
            let _ = done.send(());
        };
        assert_eq!(run(key(), Duration::ZERO, hang).await, Err(Stuck::Now));
        assert_eq!(run(key(), limit, || ()).await, Err(Stuck::Before));
        assert_eq!(run("other".to_owned(), limit, || 7).await, Ok(7));
        drop(end);
        is_done.await.unwrap();
        // The key is freed right after the work's last step.
        while run(key(), limit, || ()).await == Err(Stuck::Before) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_work_is_waited_for_while_there_is_an_answer_and_no_longer() {
        let (every, asked) = (Duration::from_secs(60), std::cell::Cell::new(0));
        let work = async |seconds: u64| {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Ok(seconds)
        };
        let answers = |most: u32| {
            asked.set(asked.get() + 1);
            std::future::ready(asked.get() <= most)
        };
        assert_eq!(while_answered(work(600), every, || answers(100)).await, Ok(600));
        asked.set(0);
        let began = tokio::time::Instant::now();
        assert_eq!(while_answered(work(1800), every, || answers(2)).await, Err(Stuck::Now));
        assert_eq!(began.elapsed(), every * 3);
        assert_eq!(while_answered(work(1), every, || answers(0)).await, Ok(1));
    }

    #[test]
    fn who_waits_for_a_key_gets_it_when_it_is_given_back() {
        let first = Claim::on("turn".to_owned()).unwrap();
        assert!(Claim::on("turn".to_owned()).is_none());
        std::thread::scope(|scope| {
            let second = scope.spawn(|| Claim::wait_for("turn".to_owned()));
            drop(first);
            let second = second.join().unwrap();
            assert!(Claim::on("turn".to_owned()).is_none());
            drop(second);
        });
        assert!(Claim::on("turn".to_owned()).is_some());
    }

    #[tokio::test]
    async fn a_panic_gives_the_key_back() {
        let work = || -> u8 { panic!("on purpose") };
        assert_eq!(run("panics".to_owned(), Duration::from_secs(60), work).await, Err(Stuck::Broken));
        assert_eq!(run("panics".to_owned(), Duration::from_secs(60), || 1).await, Ok(1));
    }
}
