//! Connections that wait for the next delivery.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long an idle connection is kept: a backlog needs few connections, and a quiet practice holds none open.
const IDLE: Duration = Duration::from_secs(60);

type Idle<C> = Mutex<Vec<(C, Instant)>>;

/// The idle connections of one destination.
pub(super) struct Pool<C>(Arc<Idle<C>>);

impl<C> Default for Pool<C> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

fn lock<C>(idle: &Idle<C>) -> MutexGuard<'_, Vec<(C, Instant)>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C: Send + 'static> Pool<C> {
    /// The connection that was used last and `is_usable`, if any is left. Unusable ones are closed.
    pub(super) fn take(&self, is_usable: impl Fn(&mut C) -> bool) -> Option<C> {
        let mut idle = lock(&self.0);
        while let Some((mut connection, _)) = idle.pop() {
            if is_usable(&mut connection) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection for a while.
    pub(super) fn give_back(&self, connection: C) {
        lock(&self.0).push((connection, Instant::now()));
        let idle = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            sleep(IDLE).await;
            if let Some(idle) = idle.upgrade() {
                lock(&idle).retain(|(_, since)| since.elapsed() < IDLE);
            }
        });
    }
}
