//! Requests that a server of the simulation (tests/simulation/web.rs) answers, instead of the network.

use http_body_util::BodyExt as _;
use reqwest::Response;

use super::{Answer, Fault, Request, WebClient};
use crate::destinations::Outcome;
use crate::simulation::web::{self, Answered, Asked};

pub(super) async fn send(client: &WebClient, request: Request) -> Result<Answer, Fault> {
    let mut body = Vec::new();
    if let Some(upload) = request.body {
        let (content, progress) = upload.stream();
        match content.collect().await {
            Ok(content) => body = content.to_bytes().to_vec(),
            Err(_) => return Err(Fault::Spool(progress.failed().unwrap_or(Outcome::SpoolDamaged))),
        }
    }
    let header = |name: &str| request.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let asked = Asked {
        method: request.method.to_string(),
        path: request.url.path().to_owned(),
        query: request.url.query_pairs().map(|(_, value)| value.into_owned()).collect(),
        on_condition: header("if-none-match").or_else(|| header("if-none-exist")).is_some(),
        key: header("x-amz-meta-docsyncd-key"),
        body,
    };
    let said = |what: &str| client.named(what);
    match web::ask(asked).await {
        Answered::With { status, headers, body } => {
            let mut answer = hyper::Response::builder().status(status);
            for (name, value) in headers {
                answer = answer.header(name, value);
            }
            Ok(Answer::new(Response::from(answer.body(body).unwrap()), client.connection.timeout))
        }
        Answered::Offline => Err(Fault::Down("no_connection", said("it is offline"))),
        Answered::Broken => Err(Fault::Broken(said("the connection broke"))),
        Answered::Lost => Err(Fault::Lost(said("no answer in time"))),
    }
}
