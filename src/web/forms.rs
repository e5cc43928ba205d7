//! What the page's forms do. That they may is known by then.

use hyper::{StatusCode, header};
use jiff::Zoned;

use super::answers::{Answer, Fields, Site, add, html, respond};
use super::facts::{self, Search};
use super::keys::{self, Session};
use super::page::{Found, Notice};
use super::{patients, support};
use crate::document::DocumentUuid;
use crate::language::Language;
use crate::ledger::history::{self, Action};
use crate::ledger::{LedgerError, QueryResult, deliveries, now, retry};
use crate::views::letter::{self, stands};
use crate::views::named::{self, Named};

impl Site {
    pub(super) async fn carry_out(
        &self,
        path: &str,
        fields: &Fields,
        session: Session,
        language: Language,
    ) -> Result<Answer, LedgerError> {
        let notice = match path {
            "/find" => return self.find(fields, &session, language).await,
            "/support" => return Ok(support::answer(self, language).await),
            "/retry" => {
                let known = self.retry(fields.get("uuid").to_owned(), fields.get("stands").to_owned()).await?;
                if known { Notice::Retried } else { Notice::Unknown }
            }
            "/arrived" => match self.arrived(fields).await? {
                true => Notice::Arrived,
                false => Notice::Unknown,
            },
            "/retry-failed" => {
                self.context.ledger.write(|db| act(db, Action::Retry, "all that failed")).await?;
                self.context.ledger.retry_failed().await?;
                self.context.pauses.probe_all_now();
                self.context.nudges.stages();
                Notice::RetriedAll
            }
            "/assign" => match self.assign(fields).await? {
                true => Notice::Assigned,
                false => Notice::NotAssigned,
            },
            "/close" => {
                keys::end(&self.context.ledger, session).await?;
                Notice::Closed
            }
            _ => {
                self.context.pauses.probe_all_now();
                self.context.nudges.poll_all();
                self.context.nudges.stages();
                Notice::Polled
            }
        };
        let mut answer = respond(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
        // Back to where the button was.
        let from = DocumentUuid::parse(fields.get("letter")).map_or_else(String::new, |uuid| format!("letter/{uuid}"));
        add(answer.headers_mut(), header::LOCATION, &format!("/{from}?done={}", notice.as_str()));
        if notice == Notice::Closed {
            self.forget(&mut answer);
        }
        Ok(answer)
    }

    /// What `docsyncd retry UUID` does, to a document that failed, or that still stands as the letter's page showed it:
    /// the page may be an old one, and what was filed meanwhile is not to be filed again. False when nothing was done.
    async fn retry(&self, uuid: String, stood: String) -> Result<bool, LedgerError> {
        let retried = self.context.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut retried = false;
            for id in ids {
                let done = match stood.is_empty() {
                    true => retry::if_failed(db, id, now())?,
                    false if stands(db, id)? == stood && letter::can_be_retried(db, id)? => {
                        retry::named(db, id, now())?
                    }
                    false => None,
                };
                retried |= done.is_some();
            }
            if retried {
                act(db, Action::Retry, &format!("document {uuid}"))?;
            }
            Ok(retried)
        });
        let retried = retried.await?;
        self.context.pauses.probe_all_now();
        self.context.nudges.stages();
        Ok(retried)
    }

    /// What `docsyncd retry --arrived UUID` does, to a document that still stands as the page showed it. False when
    /// nothing was done.
    async fn arrived(&self, fields: &Fields) -> Result<bool, LedgerError> {
        let [uuid, stood] = ["uuid", "stands"].map(|name| fields.get(name).to_owned());
        let arrived = self.context.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut arrived = 0;
            for id in ids {
                if stands(db, id)? == stood {
                    arrived += deliveries::arrived(db, id, now())?;
                }
            }
            if arrived > 0 {
                act(db, Action::Arrived, &format!("document {uuid}"))?;
            }
            Ok(arrived > 0)
        });
        let arrived = arrived.await?;
        self.context.nudges.stages();
        Ok(arrived)
    }

    /// What `docsyncd assign UUID NUMBER` does, after both sides were seen. False when nothing was done.
    async fn assign(&self, fields: &Fields) -> Result<bool, LedgerError> {
        let Some(list) = self.list() else { return Ok(false) };
        let [uuid, number, seen] = ["uuid", "number", "seen"].map(|name| fields.get(name).to_owned());
        let settled = self.context.ledger.write(move |db| patients::settle(db, &list, &uuid, &number, &seen)).await?;
        if let Some(numbers) = self.context.numbers.as_ref().filter(|_| settled) {
            numbers.changed_elsewhere();
        }
        Ok(settled)
    }

    async fn find(&self, fields: &Fields, session: &Session, language: Language) -> Result<Answer, LedgerError> {
        let field = |name| fields.get(name).trim().to_owned();
        let search = Search { text: field("words"), kind: field("kind"), day: field("day") };
        let letters = match search.meant(&Zoned::now()) {
            Some((words, seen)) => Some(self.context.ledger.read(move |db| facts::find(db, &words, seen)).await?),
            None => None,
        };
        let markup = self.keyed(session, Some(Found { search, letters }), None, language).await?;
        Ok(html(StatusCode::OK, language, markup))
    }
}

/// Whoever holds a key of the page; who that is nobody knows.
fn act(db: &rusqlite::Connection, action: Action, what: &str) -> QueryResult<()> {
    history::act(db, now(), action, what, Some("status page"))
}
