//! The heartbeat: an address that is called after each good poll, so that a monitor elsewhere notices when docsyncd,
//! the computer or the whole practice is silent.
//!
//! As Healthchecks expects, `/start` and `/fail` are added to the path. An address of Uptime Kuma (`/api/push/TOKEN`)
//! gets `status` and `msg` instead, and no start.

use reqwest::Client;
use url::Url;

use super::{Undelivered, client};
use crate::config::Secret;

/// The message of a beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beat {
    /// docsyncd has started.
    Start,
    /// A poll ended well, and no person is needed.
    Good,
    /// A person is needed.
    Bad,
}

/// The option that names its file.
const KEY: &str = "alerts.heartbeat_url_file";

/// The heartbeat.
#[derive(Clone)]
pub struct Heartbeat {
    client: Client,
    file: Secret,
}

impl Heartbeat {
    pub(super) fn new(client: Client, file: Secret) -> Self {
        Self { client, file }
    }

    /// Sends one beat. Returns the status code; `None` if the monitor has no such beat.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn beat(&self, beat: Beat) -> Result<Option<u16>, Undelivered> {
        match address(&client::address(&self.file, KEY)?, beat) {
            Some(url) => client::send(self.client.get(url)).await.map(|taken| Some(taken.code)),
            None => Ok(None),
        }
    }

    /// Connects without a beat. Returns the host.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn check(&self) -> Result<String, Undelivered> {
        let url = client::address(&self.file, KEY)?;
        client::answer(self.client.head(client::origin(&url))).await?;
        Ok(client::host(&url))
    }
}

/// The address for this beat.
fn address(url: &Url, beat: Beat) -> Option<Url> {
    let mut url = url.clone();
    if url.path().contains("/api/push/") {
        let (status, text) = match beat {
            Beat::Start => return None,
            Beat::Good => ("up", "OK"),
            Beat::Bad => ("down", "a person is needed"),
        };
        // A copied address may already contain `status` and `msg`.
        let kept: Vec<(String, String)> =
            url.query_pairs().into_owned().filter(|(name, _)| name != "status" && name != "msg").collect();
        url.query_pairs_mut().clear().extend_pairs(kept).append_pair("status", status).append_pair("msg", text);
        return Some(url);
    }
    let end = match beat {
        Beat::Start => "start",
        Beat::Good => return Some(url),
        Beat::Bad => "fail",
    };
    url.path_segments_mut().ok()?.pop_if_empty().push(end);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_monitor_is_asked_by_its_own_conventions() {
        let kuma = "http://kuma.test:3001/api/push/abc?status=up&msg=OK&ping=";
        for (url, beat, wanted) in [
            ("https://hc.test/uuid", Beat::Good, Some("https://hc.test/uuid")),
            ("https://hc.test/uuid", Beat::Bad, Some("https://hc.test/uuid/fail")),
            ("https://hc.test/ping/key/slug/", Beat::Start, Some("https://hc.test/ping/key/slug/start")),
            ("https://hc.test/uuid?create=1", Beat::Bad, Some("https://hc.test/uuid/fail?create=1")),
            (kuma, Beat::Good, Some("http://kuma.test:3001/api/push/abc?ping=&status=up&msg=OK")),
            (kuma, Beat::Bad, Some("http://kuma.test:3001/api/push/abc?ping=&status=down&msg=a+person+is+needed")),
            (kuma, Beat::Start, None),
        ] {
            let found = address(&url.parse().unwrap(), beat);
            assert_eq!(found.as_ref().map(Url::as_str), wanted, "{url} {beat:?}");
        }
    }
}
