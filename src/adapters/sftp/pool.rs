//! Connections that wait for the next delivery.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::connection::Connection;

/// How long one waits: a backlog goes over few connections, and a quiet practice holds none open.
const IDLE: Duration = Duration::from_secs(60);

type Idle = Mutex<Vec<(Connection, Instant)>>;

/// Of one destination.
#[derive(Default)]
pub(super) struct Pool(Arc<Idle>);

fn lock(idle: &Idle) -> MutexGuard<'_, Vec<(Connection, Instant)>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// The one that was used last, if any is left.
    pub(super) fn take(&self) -> Option<Connection> {
        let mut idle = lock(&self.0);
        while let Some((mut connection, _)) = idle.pop() {
            if !connection.is_closed() {
                connection.is_reused = true;
                return Some(connection);
            }
        }
        None
    }

    /// Keeps one for a while.
    pub(super) fn give_back(&self, connection: Connection) {
        lock(&self.0).push((connection, Instant::now()));
        let idle = Arc::downgrade(&self.0);
        tokio::spawn(close_after(idle));
    }
}

async fn close_after(idle: Weak<Idle>) {
    sleep(IDLE).await;
    if let Some(idle) = idle.upgrade() {
        lock(&idle).retain(|(_, since)| since.elapsed() < IDLE);
    }
}
