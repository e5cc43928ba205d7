//! Asks a service for its lists: of patients before a document is sent, of documents if it may have been sent.

use reqwest::Method;
use reqwest::header::LINK;
use serde_json::{Value, json};
use url::Url;

use super::super::web_client::{Answer, Request};
use super::super::{Item, Outcome};
use super::failed::is_waiting;
use super::lookup::{Judged, Listed, is_marked, judge, listed};
use super::rendered::{self, Rendered};
use super::{AtService, HttpAdapter};
use crate::destinations::Lookup;
use crate::domain::document::Metadata;
use crate::domain::failure::Code;

/// The most pages of one list.
const MAX_PAGES: usize = 1000;

impl HttpAdapter {
    /// The service's identifier of the patient.
    pub(super) async fn find(&self, lookup: &Lookup, item: &Item) -> Result<Value, Outcome> {
        let (url, wanted) = rendered::lookup(&self.config, lookup, item)?;
        let names = wanted.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        // The service answers, and the failure is about this patient only: other letters do not wait for it.
        let refuse =
            |code, words: String| Err(Outcome::Own { code: Code::word(code), reason: self.client.named(&words) });
        if let Some((unknown, _)) = wanted.iter().find(|(_, value)| value.trim().is_empty()) {
            let words = format!(
                "nothing is known of this patient for {unknown}, and nobody is looked for by less: complete the patient's record, \
                 then run `docsyncd retry`"
            );
            return refuse("patient_unknown", words);
        }
        let answer = self.ask(url).await?;
        if answer.status != 200 {
            return Err(self.client.of_status(answer.status, false, answer.retry_after));
        }
        match judge(&self.listed(answer).await?, &wanted, &lookup.field) {
            Judged::One(patient) => Ok(patient),
            Judged::Nobody => refuse(
                "no_patient",
                format!(
                    "no patient there is the letter's ({names} are compared): enter or correct the patient there, then run \
                     `docsyncd retry`"
                ),
            ),
            Judged::Several => refuse(
                "several_patients",
                format!(
                    "several patients there could be the letter's ({names} are compared), and none is guessed: merge them there, \
                     or file this one by hand; then run `docsyncd retry`"
                ),
            ),
            Judged::Unusable => {
                let words = format!("the patient that it found has no usable `{}`: check `lookup_field`", lookup.field);
                Err(self.no_list(&words))
            }
        }
    }

    /// Tests the lookup with a patient who does not exist.
    pub(super) async fn try_lookup(&self, lookup: &Lookup) -> Result<String, String> {
        let record = |value: Value| value.as_object().cloned().unwrap_or_default();
        let made_up = json!({"firstName": "docsyncd-check", "lastName": "docsyncd-check", "dateOfBirth": "1900-01-01"});
        let metadata = Metadata {
            number: None,
            account: "docsyncd-check".to_owned(),
            document: record(json!({"uuid": "docsyncd-check"})),
            patient: record(made_up),
            user: record(json!({})),
        };
        let asked = async {
            let url = rendered::lookup_url(&self.config, lookup, &metadata)?;
            let answer = self.ask(url).await?;
            match answer.status {
                200 => self.listed(answer).await.map(|_| ()),
                status => Err(self.client.of_status(status, true, answer.retry_after)),
            }
        };
        let wrong = |outcome: Outcome| {
            format!("{} (asked for a patient who does not exist, at `lookup_url`)", outcome.reason())
        };
        asked.await.map_err(wrong)?;
        Ok("it answers when it is asked for a patient (`lookup_url`)".to_owned())
    }

    /// Looks for the document in the list, page by page if the template has an offset.
    pub(super) async fn look_in_list(&self, first: Url, rendered: &Rendered) -> AtService {
        let (mut url, mut seen, mut before) = (first, 0, Vec::new());
        for _ in 0..MAX_PAGES {
            let answer = match self.ask(url).await {
                Ok(answer) => answer,
                Err(outcome) => return AtService::Unseen(outcome),
            };
            if answer.status != 200 {
                return AtService::Unseen(self.client.of_status(answer.status, false, answer.retry_after));
            }
            let Listed { entries: page, is_part } = match self.listed(answer).await {
                Ok(listed) => listed,
                Err(outcome) => return AtService::Unseen(outcome),
            };
            if let Some(entry) = page.iter().find(|entry| is_marked(entry, &rendered.marks)) {
                return if is_waiting(entry) { self.not_yet() } else { AtService::Ours };
            }
            seen += page.len() as u64;
            url = match rendered.probe_behind(&self.config, seen) {
                Some(next) if !page.is_empty() => next,
                None if is_part => {
                    let words = "the list at `probe_url` says that there is more of it: write {{ offset }} where it is told where \
                                 to begin";
                    return AtService::Unseen(self.no_list(words));
                }
                _ => return AtService::Nothing,
            };
            if page == before {
                break;
            }
            before = page;
        }
        let words = "the list at `probe_url` does not end: check what `{{ offset }}` stands for there";
        AtService::Unseen(self.no_list(words))
    }

    /// The list may be odd for this letter only: other letters and the check show whether the destination is.
    fn no_list(&self, words: &str) -> Outcome {
        Outcome::transient(Code::word("no_list"), self.client.named(words))
    }

    /// A GET, with all credentials.
    pub(super) async fn ask(&self, url: Url) -> Result<Answer, Outcome> {
        let mut request = Request::new(Method::GET, url);
        rendered::add_secret_headers(&self.config, &mut request.headers)
            .map_err(|wrong| Outcome::unavailable("credentials", self.client.named(&wrong)))?;
        self.client.send(request).await.map_err(super::Fault::outcome)
    }

    async fn listed(&self, answer: Answer) -> Result<Listed, Outcome> {
        let no_list = || {
            self.no_list(
                "it answers with something else than one list in JSON: an error, a sign-in page, a captive portal, or another \
                 address?",
            )
        };
        let links = answer.headers.get_all(LINK).iter().filter_map(|link| link.to_str().ok());
        let goes_on =
            links.into_iter().any(|link| link.replace(['"', ' '], "").to_ascii_lowercase().contains("rel=next"));
        match answer.json().await {
            Ok(answer) => {
                let listed = listed(answer).ok_or_else(no_list)?;
                Ok(Listed { is_part: listed.is_part || goes_on, ..listed })
            }
            Err(true) => {
                let words = "the connection broke while it was asked for a list";
                Err(Outcome::transient(Code::word("broken_off"), self.client.named(words)))
            }
            Err(false) => Err(no_list()),
        }
    }
}
