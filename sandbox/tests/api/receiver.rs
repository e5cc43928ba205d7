//! A small server that receives webhooks, and answers as a test wants.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Far longer than anything takes here.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How to answer; `None` never answers.
type Answers = Arc<Mutex<VecDeque<Option<u16>>>>;

pub struct Receiver {
    pub url: String,
    answers: Answers,
    received: UnboundedReceiver<Received>,
}

/// A request as it came in.
#[derive(Debug)]
pub struct Received {
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Receiver {
    /// It answers 204 until told otherwise.
    pub async fn start() -> Self {
        let (sender, received) = unbounded_channel();
        let answers = Answers::default();
        let router = Router::new().fallback(receive).with_state((Arc::clone(&answers), sender));
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?from=sandbox", socket.local_addr().unwrap());
        let serve = axum::serve(socket, router).into_future();
        tokio::spawn(serve);
        Self { url, answers, received }
    }

    /// Answers the next requests so; `None` never answers.
    pub fn answer(&self, answers: impl IntoIterator<Item = Option<u16>>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// The next request.
    pub async fn next(&mut self) -> Received {
        let waited = tokio::time::timeout(PATIENCE, self.received.recv()).await;
        waited.unwrap_or_else(|_| panic!("nothing was delivered within {PATIENCE:?}")).unwrap()
    }

    /// The requests that came in and nobody asked for yet.
    pub fn rest(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.received.try_recv().ok()).collect()
    }
}

async fn receive(
    State((answers, sender)): State<(Answers, UnboundedSender<Received>)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let body = serde_json::from_str(&text).unwrap();
    // The test may have ended.
    let _ = sender.send(Received { headers, text, body });
    let answer = answers.lock().unwrap().pop_front().unwrap_or(Some(204));
    match answer {
        Some(status) => {
            (StatusCode::from_u16(status).unwrap(), [(header::LOCATION, "/elsewhere")], "noted").into_response()
        }
        None => std::future::pending().await,
    }
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("{name} of {:?}", self.headers)).to_str().unwrap()
    }

    pub fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub fn event(&self) -> &str {
        self.body["type"].as_str().unwrap()
    }

    /// Whether the signature is that of the secret, computed here from the bytes on the wire.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{}.{}.{}", self.id(), self.header("webhook-timestamp"), self.text).as_bytes());
        let expected = BASE64.encode(mac.finalize().into_bytes());
        self.header("webhook-signature") == format!("v1,{expected}")
    }
}
