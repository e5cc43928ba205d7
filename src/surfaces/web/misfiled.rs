//! A letter that was filed in the wrong patient's record: what the service says of its patient now, and whom the
//! practice's list has for that. Nothing of the patient of a filed letter is kept, or it was corrected since.

use std::time::Duration;

use hyper::StatusCode;
use jiff::Zoned;
use maud::html;

use super::answers::{Answer, Fields, Site, html as page};
use super::frame::{Frame, frame};
use super::keys::Session;
use super::notice::Notice;
use super::parts::{Form, clock, kind, patient};
use super::patients::{self, Questions};
use crate::domain::failure::Scope;
use crate::formats::language::Language;
use crate::ledger::{LedgerError, deliveries, documents};
use crate::pipeline::assign::Letter;
use crate::views::named::{self, Named};
use crate::views::{DocumentView, one};

/// How long the service may take to say who the patient is.
const LIMIT: Duration = Duration::from_secs(10);

/// A letter that was, or may have been, filed by a number.
#[derive(Clone)]
pub(super) struct Filed {
    document: DocumentView,
    /// The number.
    pub(super) number: String,
    /// As the service describes it now; `None`: it does not.
    pub(super) letter: Option<Letter>,
}

impl Filed {
    /// Whether it is this letter still, and filed by the same number.
    pub(super) fn is(&self, document: i64, number: &str) -> bool {
        self.document.id == document && self.number == number
    }
}

impl Site {
    /// The letter, if it was filed by a number.
    pub(super) async fn filed(&self, uuid: &str) -> Result<Option<Filed>, LedgerError> {
        let uuid = uuid.to_owned();
        let read = self.context.edges.ledger.read(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(None) };
            for id in ids {
                let Some(number) = deliveries::frozen(db, id)? else { continue };
                let Some(known) = documents::by_number(db, id)? else { continue };
                return Ok(Some((one(db, id)?, number, known.version, Letter::read(db, id)?)));
            }
            Ok(None)
        });
        let Some((document, number, version, letter)) = read.await? else { return Ok(None) };
        let scope = Scope::Account(version.account.clone());
        let client = self.context.edges.clients.get(&version.account);
        let letter = match (client, self.fetching.try_acquire()) {
            (Some(client), Ok(_only)) if self.context.edges.pauses.paused_until(&scope).is_none() => {
                let read = letter.read_anew(client.as_ref(), &version.account, &version.uuid);
                tokio::time::timeout(LIMIT, read).await.ok().and_then(Result::ok)
            }
            _ => None,
        };
        Ok(Some(Filed { document, number, letter }))
    }

    /// The page that asks who it is; else why it does not.
    pub(super) async fn misfiled(
        &self,
        fields: &Fields,
        session: &Session,
        language: Language,
    ) -> Result<Result<Answer, Notice>, LedgerError> {
        let uuid = fields.get("uuid");
        let Some(Filed { document, number, letter }) = self.filed(uuid).await? else {
            return Ok(Err(Notice::NotAssigned));
        };
        let (Some(letter), Some(list)) = (letter, self.list()) else { return Ok(Err(Notice::NotRead)) };
        let of_letter = document.clone();
        let asked = tokio::task::spawn_blocking(move || Questions::of_filed(&of_letter, &letter, &list));
        let Ok(questions) = asked.await else { return Ok(Err(Notice::NotRead)) };
        let (title, now) = (language.text("letter-misfiled"), &Zoned::now());
        let form = Form { token: &session.form_token, language, letter: Some(&document.uuid), filed_by: Some(&number) };
        let body = html! {
            section .wait aria-labelledby="misfiled" {
                h1 #misfiled { (title) }
                p {
                    (kind(language, document.kind.as_deref())) " · "
                    (patient(language, document.name.as_deref(), &document.uuid)) " · "
                    (clock(language, document.found_at, now))
                }
                p { strong { (language.fill("page-look-filed", &[("number", (&number).into())])) } }
                p { (language.text("page-misfiled-how")) }
                p { a href={ "/letter/" (document.uuid) } { (language.text("page-look-no")) } }
            }
            (patients::show(&form, &questions, now))
        };
        let frame = frame(
            language,
            &Frame { title: &title, icon: "/waiting.svg", live: None, practice: None },
            &body,
            &html! {},
        );
        Ok(Ok(page(StatusCode::OK, language, frame)))
    }
}
