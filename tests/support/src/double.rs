//! A server in this process that stands for a real one: a socket, and what it knows.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// The server; it ends, with its connections, when this is dropped.
pub struct Double<S> {
    pub address: SocketAddr,
    state: Arc<Mutex<S>>,
    listening: JoinHandle<()>,
}

impl<S> Drop for Double<S> {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl<S: Default + Send + 'static> Double<S> {
    /// Serves each connection like this.
    pub async fn serving<F: Future<Output = ()> + Send + 'static>(
        serve: impl Fn(TcpStream, Arc<Mutex<S>>) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state: Arc<Mutex<S>> = Arc::default();
        let shared = state.clone();
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, shared.clone()));
            }
        });
        Self { address, state, listening }
    }

    /// What it keeps and knows.
    pub fn state(&self) -> MutexGuard<'_, S> {
        self.state.lock().expect("no test panicked with it")
    }

    /// Nobody listens any more.
    pub fn stop(&self) {
        self.listening.abort();
    }
}
