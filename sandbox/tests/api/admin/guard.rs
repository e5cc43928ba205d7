//! Web pages in the developer's browser are kept out.

use reqwest::header::{HOST, ORIGIN};

use super::Run;
use crate::harness::text;

#[tokio::test]
async fn requests_of_web_pages_are_refused() {
    let run = Run::with_documents(1).await;
    let address = format!("{}/admin/faults", run.admin);
    for (name, value) in [
        (ORIGIN, "https://page.example"),
        (ORIGIN, "null"),
        (ORIGIN, run.admin.as_str()),
        (HOST, "rebound.example"),
        (HOST, "localhost.rebound.example:80"),
    ] {
        for request in [run.practice.client.get(&address), run.practice.client.delete(&address)] {
            let response = request.header(name.clone(), value).send().await.unwrap();
            assert_eq!(response.status(), 403, "{name}: {value}");
            text(&response.json().await.unwrap(), "error");
        }
    }
    let port = run.admin.rsplit(':').next().unwrap();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), "[::1]".to_owned()] {
        let response = run.practice.client.get(&address).header(HOST, &host).send().await.unwrap();
        assert_eq!(response.status(), 200, "{host}");
    }
}
