//! The API's webhooks as nudges: a call makes docsyncd poll at once, and its content is not trusted.
//!
//! `registration` keeps one webhook for each account at the API; this module answers the calls. Only calls that are
//! signed with that registration's secret count (`signature`). All others cost little, and the guards of the status
//! page limit that. Without webhooks, or if they fail, polling continues as usual.

mod registration;
mod signature;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::future::join_all;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::{Method, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use url::Url;

pub use registration::{Others, remove_others, try_out};

use crate::config::Config;
use crate::ledger::{now, process};
use crate::pipeline::Shared;
use crate::surfaces::web::connections::{self, Asked, Site};
use crate::surfaces::web::listen;

/// The largest delivery; bytes. Only its kind is needed.
const MAX_BODY: usize = 64 * 1024;
/// The least time between two polls for nudges of one account. docsyncd's own reports cause nudges, too, but a letter
/// right after one must still be filed within a second.
const PAUSE: Duration = Duration::from_millis(250);
/// The least time before a failed registration is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);
/// How often to check that the webhook still exists and is active.
const LOOK: Duration = Duration::from_secs(60 * 60);

/// The part of the configuration that concerns webhooks.
#[derive(Debug, Clone)]
pub struct Setup {
    listen: SocketAddr,
    public_url: Url,
}

impl Setup {
    /// From this configuration; `None` if it has no webhook.
    pub fn of(config: &Config) -> Option<Self> {
        let webhook = config.webhook.as_ref()?;
        Some(Self { listen: webhook.listen, public_url: webhook.public_url.clone() })
    }
}

/// An account that can be nudged.
#[derive(Default)]
struct Ear {
    secret: RwLock<Option<String>>,
    nudged: Notify,
}

/// Answers the API's calls. The accounts are by NAME.
struct Ears(BTreeMap<String, Ear>);

/// Keeps the webhooks registered and answers their calls until the daemon stops. Without `setup`, removes the
/// registered webhooks.
pub async fn run(context: Shared, setup: Option<Setup>) {
    let ears = Arc::new(Ears(context.edges.clients.keys().map(|name| (name.clone(), Ear::default())).collect()));
    // No tasks of their own, so that a panic in one is noticed.
    let accounts = || context.edges.clients.keys().cloned();
    let kept = join_all(accounts().map(|account| keep(context.clone(), ears.clone(), account, setup.clone())));
    let passed_on = join_all(accounts().map(|account| pass_on(context.clone(), ears.clone(), account)));
    let heard = async {
        let Some(setup) = &setup else { return };
        let unavailable = |why: &str| {
            tracing::warn!(
                event = "webhook_unavailable",
                "webhooks cannot be heard: {why}. New letters are found by the next poll; it is tried again every {} s",
                crate::surfaces::web::BIND_PAUSE.as_secs()
            );
        };
        let serve = |socket, address| serve(&context, &ears, socket, address);
        listen(&context.signals.stop, "webhook.listen", setup.listen, unavailable, serve).await;
    };
    tokio::join!(kept, passed_on, heard);
}

async fn serve(context: &Shared, ears: &Arc<Ears>, socket: TcpListener, address: SocketAddr) {
    // Tells `docsyncd check`, in another process, that the port is ours.
    let told = context.edges.ledger.write(move |db| process::set(db, process::WEBHOOK, &address.to_string())).await;
    if let Err(error) = told {
        tracing::debug!(event = "webhook_not_told", "{error}");
    }
    tracing::info!(event = "webhook", "webhooks are heard at http://{address}/");
    connections::accept(socket, ears.clone(), context.signals.stop.clone()).await;
    let _ = context.edges.ledger.write(|db| process::remove(db, process::WEBHOOK)).await;
}

impl Site for Ears {
    const MAX_BODY: usize = MAX_BODY;
    type Payload = Full<Bytes>;

    async fn answer(&self, asked: Asked) -> Response<Full<Bytes>> {
        let mut answer = Response::new(Full::default());
        *answer.status_mut() = self.judge(&asked);
        answer
    }
}

impl Ears {
    fn judge(&self, asked: &Asked) -> StatusCode {
        let last = asked.head.uri.path().rsplit('/').next().unwrap_or_default();
        let Some(ear) = self.0.get(last) else { return StatusCode::NOT_FOUND };
        if asked.head.method != Method::POST {
            return StatusCode::METHOD_NOT_ALLOWED;
        }
        let Some(body) = &asked.body else { return StatusCode::PAYLOAD_TOO_LARGE };
        let secret = ear.secret.read().unwrap_or_else(PoisonError::into_inner).clone();
        let is_genuine =
            secret.is_some_and(|secret| signature::is_genuine(&secret, &asked.head.headers, body, now() / 1000));
        if !is_genuine {
            return StatusCode::UNAUTHORIZED;
        }
        if is_of_documents(body) {
            ear.nudged.notify_one();
        }
        StatusCode::NO_CONTENT
    }
}

/// Whether the event is about documents.
fn is_of_documents(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Event {
        r#type: String,
    }
    serde_json::from_slice::<Event>(body).is_ok_and(|event| event.r#type.starts_with("document."))
}

/// Makes the account poll when it is nudged: at once, but at most once per [`PAUSE`].
async fn pass_on(context: Shared, ears: Arc<Ears>, account: String) {
    let Some(ear) = ears.0.get(&account) else { return };
    loop {
        tokio::select! {
            biased;
            () = context.signals.stop.cancelled() => return,
            () = ear.nudged.notified() => {
                tracing::debug!(event = "nudged", account, "the service says that there is something new");
                context.signals.nudges.poll_now(&account);
            }
        }
        tokio::select! {
            biased;
            () = context.signals.stop.cancelled() => return,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// Keeps the account's webhook as the configuration wants it. Logs the first failure and tries again.
async fn keep(context: Shared, ears: Arc<Ears>, account: String, setup: Option<Setup>) {
    let (Some(client), Some(ear)) = (context.edges.clients.get(&account), ears.0.get(&account)) else { return };
    let url = setup.map(|setup| registration::address(&setup.public_url, &account));
    let configured: Vec<&str> = context.edges.clients.keys().map(String::as_str).collect();
    let mut failed: u32 = 0;
    while !context.signals.stop.is_cancelled() {
        let kept = async {
            let others = Others { account: &account, wanted: url.as_deref(), configured: &configured };
            registration::remove_others(client.as_ref(), &context.edges.ledger, others).await?;
            match &url {
                Some(url) => {
                    registration::ensure(client.as_ref(), &context.edges.ledger, &account, url).await.map(Some)
                }
                None => Ok(None),
            }
        };
        let kept = tokio::select! {
            biased;
            // The intent is in the ledger, so the next start finds the result.
            () = context.signals.stop.cancelled() => return,
            kept = kept => kept,
        };
        let wait = match kept {
            Ok(secret) => {
                failed = 0;
                let is_wanted = secret.is_some();
                *ear.secret.write().unwrap_or_else(PoisonError::into_inner) = secret;
                if !is_wanted {
                    return;
                }
                LOOK
            }
            Err(error) => {
                failed = failed.saturating_add(1);
                if failed == 1 {
                    tracing::warn!(
                        event = "webhook_not_registered",
                        account,
                        "the webhook of account {account} is not as [webhook] wants it: {error}. New letters are found by the \
                         next poll; it is tried again"
                    );
                }
                context.rules.retry.delay(failed, None).max(TRY_AGAIN)
            }
        };
        tokio::select! {
            biased;
            () = context.signals.stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_an_address_of_its_own_and_only_documents_count() {
        for public in ["https://h.test/hook/", "https://h.test/hook"] {
            assert_eq!(registration::address(&public.parse().unwrap(), "main"), "https://h.test/hook/main");
        }
        assert!(is_of_documents(br#"{"type":"document.created","data":{}}"#));
        for other in [&br#"{"type":"audio.created"}"#[..], b"{}", b"", b"[]", b"\xff"] {
            assert!(!is_of_documents(other));
        }
    }
}
