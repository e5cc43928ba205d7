//! One attempt over HTTP, to this machine only and without redirects.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, ready};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower::util::ServiceFn;
use url::Url;

use super::schedule::Outcome;
use super::signature::sign;
use crate::store::DeliveryRow;

/// How long an attempt may take, from connecting to the end of the answer. By the machine's time, because a moved clock
/// must not cut off a receiver.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// How much of an answer is read, so that its connection can be reused. Its content does not matter.
const ANSWER_LIMIT: usize = 64 * 1024;

/// Shorter than receivers usually keep a connection, so that none is used just when it is closed.
const IDLE_LIMIT: Duration = Duration::from_secs(2);

type Addresses = std::array::IntoIter<SocketAddr, 2>;
type Resolver = ServiceFn<fn(Name) -> Ready<Result<Addresses, Infallible>>>;

/// Sends deliveries.
#[derive(Clone)]
pub(super) struct Sender {
    client: Client<HttpConnector<Resolver>, Full<Bytes>>,
}

/// Every name is this machine. Only `localhost` and names below it are accepted, and resolvers treat them differently
/// (RFC 6761, section 6.3).
fn this_machine(_name: Name) -> Ready<Result<Addresses, Infallible>> {
    // The connector adds the port.
    ready(Ok([SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), SocketAddr::from((Ipv6Addr::LOCALHOST, 0))].into_iter()))
}

impl Sender {
    pub fn new() -> Self {
        let resolver: Resolver = tower::service_fn(this_machine as fn(Name) -> _);
        let mut connector = HttpConnector::new_with_resolver(resolver);
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(1)
            .build(connector);
        Self { client }
    }

    /// Posts the delivery with the time `now`, in microseconds since 1970.
    pub async fn post(&self, delivery: &DeliveryRow, now: i64) -> Outcome {
        match tokio::time::timeout(TIME_LIMIT, self.exchange(delivery, now)).await {
            Ok(Ok(status)) => Outcome::Answered(status),
            Ok(Err(reason)) => Outcome::Failed(reason),
            Err(_) => Outcome::Failed(format!("no answer within {} seconds", TIME_LIMIT.as_secs())),
        }
    }

    async fn exchange(&self, delivery: &DeliveryRow, now: i64) -> Result<u16, String> {
        let timestamp = now.div_euclid(1_000_000);
        let uri: Uri = Url::parse(&delivery.url)
            .map_err(|error| error.to_string())
            .and_then(|url| url.as_str().parse().map_err(|error: hyper::http::uri::InvalidUri| error.to_string()))
            .map_err(|reason| format!("the webhook's url cannot be used: {reason}"))?;
        let request = Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("docsyncd-sandbox/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", &delivery.uuid)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", sign(&delivery.secret, &delivery.uuid, timestamp, &delivery.body)?)
            .body(Full::from(delivery.body.clone()))
            .map_err(|error| error.to_string())?;
        let response = self.client.request(request).await.map_err(|error| with_causes(&error))?;
        let status = response.status().as_u16();
        // The head of the answer decides, even if the body is too long or cut off.
        let _ = Limited::new(response.into_body(), ANSWER_LIMIT).collect().await;
        Ok(status)
    }
}

/// The error with its causes, because "client error (Connect)" alone helps nobody.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(url: String) -> DeliveryRow {
        DeliveryRow {
            uuid: "d".into(),
            webhook_id: 1,
            url,
            secret: "whsec_AAAA".into(),
            body: "{}".into(),
            attempts: 0,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_never_answers_is_given_up_after_the_time_limit() {
        let silent = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://hook.localhost:{}/", silent.local_addr().unwrap().port());
        let start = tokio::time::Instant::now();
        let outcome = Sender::new().post(&delivery(url), 0).await;
        assert_eq!(outcome, Outcome::Failed("no answer within 15 seconds".into()));
        assert!(start.elapsed() >= TIME_LIMIT);
    }

    #[tokio::test]
    async fn a_refused_connection_says_so() {
        let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://127.0.0.1:{}/", socket.local_addr().unwrap().port());
        drop(socket);
        let Outcome::Failed(reason) = Sender::new().post(&delivery(url), 0).await else {
            panic!("it answered");
        };
        assert!(reason.to_lowercase().contains("connect"), "{reason}");
    }
}
