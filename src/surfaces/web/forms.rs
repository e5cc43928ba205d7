//! What the page's forms do, after the guard and the key have allowed it.

use hyper::{StatusCode, header};
use jiff::Zoned;

use super::answers::{Answer, Fields, Site, add, html, no_key, respond, sentence};
use super::facts::{self, Search};
use super::keys::{self, Session};
use super::notice::Notice;
use super::page::Found;
use super::parts::Form;
use super::second_look::{self, AssignForm, Settled};
use super::{browsers, pdf, support};
use crate::domain::document::DocumentUuid;
use crate::formats::language::Language;
use crate::ledger::history::{self, Action, signed};
use crate::ledger::{LedgerError, QueryResult, deliveries, now, retry};
use crate::pipeline::assign::{self, NotAssigned};
use crate::pipeline::fetch;
use crate::views;
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
            "/fetch" => return self.fetched(fields.get("uuid"), language).await,
            "/misfiled" => match self.misfiled(fields, &session, language).await? {
                Ok(answer) => return Ok(answer),
                Err(notice) => notice,
            },
            "/assign" => match self.assigned(fields, &session, language).await? {
                Ok(answer) => return Ok(answer),
                Err(notice) => notice,
            },
            "/undo" => match self.undo(fields.get("uuid").to_owned(), &session).await? {
                true => Notice::Undone,
                false => Notice::NotUndone,
            },
            "/mended" => self.mended(fields.get("cause"), &session).await?,
            "/retry" => {
                let known = self.retry(fields, session.who()).await?;
                if known { Notice::Retried } else { Notice::Unknown }
            }
            "/arrived" => match self.arrived(fields, session.who()).await? {
                true => Notice::Arrived,
                false => Notice::Unknown,
            },
            "/retry-failed" => {
                let who = session.who();
                let by = who.clone();
                self.context.edges.ledger.write(move |db| act(db, Action::Retry, "all that failed", &by)).await?;
                self.context.edges.ledger.retry_failed(Some(&who)).await?;
                self.context.edges.pauses.probe_all_now();
                self.context.signals.nudges.stages();
                Notice::RetriedAll
            }
            "/another" => return self.another(&session, language).await,
            "/lock" | "/close" => {
                let own = session.digest.as_str();
                let browser = if path == "/close" { own } else { fields.get("browser") };
                let is_own = browser == own;
                match keys::end(&self.context.edges.ledger, browser.to_owned()).await? {
                    _ if is_own => Notice::Closed,
                    true => Notice::Locked,
                    false => Notice::Unknown,
                }
            }
            _ => {
                self.context.edges.pauses.probe_all_now();
                self.context.signals.nudges.all();
                Notice::Polled
            }
        };
        let mut answer = respond(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
        // Back to the page of the button.
        let from = DocumentUuid::parse(fields.get("letter")).map_or_else(String::new, |uuid| format!("letter/{uuid}"));
        add(answer.headers_mut(), header::LOCATION, &format!("/{from}?done={}", notice.as_str()));
        if notice == Notice::Closed {
            self.forget(&mut answer);
        }
        Ok(answer)
    }

    /// Does what `docsyncd open --for-another` does. The link is shown only here: it is in no address, and kept
    /// nowhere.
    async fn another(&self, session: &Session, language: Language) -> Result<Answer, LedgerError> {
        let page = &self.setup.page;
        let elsewhere = page.elsewhere(self.address);
        let Some(address) = elsewhere.clone().or_else(|| page.here(self.address)) else {
            return Ok(sentence(StatusCode::NOT_FOUND, language, "not-encrypted"));
        };
        Ok(match keys::make_link(&self.context.edges.ledger, keys::Browser::Elsewhere).await {
            Ok(link) => {
                let link = keys::behind(&address, &link);
                tracing::info!(event = "browser_invited", "a link for one more computer was made: {}", session.who());
                html(StatusCode::OK, language, browsers::invitation(language, &link, elsewhere.is_some()))
            }
            Err(error) => no_key(language, &error),
        })
    }

    /// Does what `docsyncd retry UUID` does, for a document that failed or is unchanged since the letter's page showed
    /// it. The page may be old, and what was filed meanwhile must not be filed again. Returns whether anything was
    /// done.
    async fn retry(&self, fields: &Fields, who: String) -> Result<bool, LedgerError> {
        let [uuid, stood] = ["uuid", "stands"].map(|name| fields.get(name).to_owned());
        let retried = self.context.edges.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut retried = false;
            for id in ids {
                let done = match stood.is_empty() {
                    true => signed(Some(&who), || retry::if_failed(db, id, now()))?,
                    false if stands(db, id)? == stood && letter::can_be_retried(db, id)? => {
                        signed(Some(&who), || retry::named(db, id, now()))?
                    }
                    false => None,
                };
                retried |= done.is_some();
            }
            if retried {
                act(db, Action::Retry, &format!("document {uuid}"), &who)?;
            }
            Ok(retried)
        });
        let retried = retried.await?;
        self.context.edges.pauses.probe_all_now();
        self.context.signals.nudges.stages();
        Ok(retried)
    }

    /// Does what `docsyncd retry --arrived UUID` or `--removed` does, for a document that is unchanged since the page
    /// showed it.
    /// Returns whether anything was done.
    async fn arrived(&self, fields: &Fields, who: String) -> Result<bool, LedgerError> {
        let [uuid, stood] = ["uuid", "stands"].map(|name| fields.get(name).to_owned());
        let is_removed = fields.get("what") == "removed";
        let arrived = self.context.edges.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut arrived = 0;
            for id in ids {
                if stands(db, id)? == stood {
                    arrived += match is_removed {
                        true => deliveries::removed(db, id)?,
                        false => signed(Some(&who), || deliveries::arrived(db, id, now()))?,
                    };
                }
            }
            if arrived > 0 {
                act(db, Action::Arrived, &format!("document {uuid}"), &who)?;
            }
            Ok(arrived > 0)
        });
        let arrived = arrived.await?;
        self.context.signals.nudges.stages();
        Ok(arrived)
    }

    /// The second look at what was assigned, or what became of it.
    async fn assigned(
        &self,
        fields: &Fields,
        session: &Session,
        language: Language,
    ) -> Result<Result<Answer, Notice>, LedgerError> {
        Ok(Err(match self.assign(fields, session).await? {
            Settled::Done => Notice::Assigned,
            Settled::DoneWithOthers => Notice::AssignedOthers,
            Settled::Anew => Notice::FiledAnew,
            Settled::Same => Notice::SameNumber,
            Settled::NotRead => Notice::NotRead,
            Settled::Look(look) => {
                let given = |name| Some(fields.get(name)).filter(|value| !value.is_empty());
                let form =
                    Form { token: &session.form_token, language, letter: given("letter"), filed_by: given("filed") };
                return Ok(Ok(html(StatusCode::OK, language, second_look::page(&form, &look))));
            }
            Settled::Refused(NotAssigned::Shared) => Notice::SharedNumber,
            Settled::Refused(NotAssigned::NoNumber) => Notice::NoNumber,
            Settled::Refused(_) | Settled::Nothing => Notice::NotAssigned,
        }))
    }

    /// Does what `docsyncd assign UUID NUMBER` does, after a person saw both sides.
    async fn assign(&self, fields: &Fields, session: &Session) -> Result<Settled, LedgerError> {
        let Some(list) = self.list() else { return Ok(Settled::Nothing) };
        let [uuid, number, seen, filed_by] =
            ["uuid", "number", "seen", "filed"].map(|name| fields.get(name).to_owned());
        let asked = AssignForm { uuid, number, seen, is_sure: fields.get("sure") == "yes", filed_by };
        let who = session.who();
        let filed = self.filed(&asked.uuid).await?;
        let settle = move |db: &_| second_look::settle(db, &list, &asked, filed.as_ref(), who);
        let settled = self.context.edges.ledger.write(settle).await?;
        if matches!(settled, Settled::Anew) {
            self.context.signals.nudges.stages();
        }
        if let Some(numbers) = &self.context.edges.numbers {
            numbers.changed();
        }
        Ok(settled)
    }

    /// Takes a decision back if no letter was sent by it yet. Returns whether anything was done.
    async fn undo(&self, uuid: String, session: &Session) -> Result<bool, LedgerError> {
        let needing: Vec<String> =
            self.context.edges.numbers.iter().flat_map(|numbers| numbers.needed_by.iter().cloned()).collect();
        let (list, who) = (self.list(), session.who());
        let undone = self.context.edges.ledger.write(move |db| {
            let Named::One(ids) = named::named(db, &uuid)? else { return Ok(false) };
            let mut undone = false;
            for id in ids {
                undone |= assign::undo(db, (id, &uuid), list.as_deref(), &needing, Some(who.clone()))?;
            }
            Ok(undone)
        });
        undone.await
    }

    /// A letter's PDF as the service has it now, only to be shown.
    async fn fetched(&self, uuid: &str, language: Language) -> Result<Answer, LedgerError> {
        let Some(uuid) = DocumentUuid::parse(uuid) else {
            return Ok(sentence(StatusCode::NOT_FOUND, language, "no-letter"));
        };
        let asked = uuid.clone();
        let known = self.context.edges.ledger.read(move |db| letter::of(db, &asked, views::one)).await?;
        let Some(known) = known else { return Ok(sentence(StatusCode::NOT_FOUND, language, "no-letter")) };
        let Ok(_only) = self.fetching.try_acquire() else {
            return Ok(sentence(StatusCode::SERVICE_UNAVAILABLE, language, "pdf-not-fetched"));
        };
        Ok(match fetch::look(&self.context, &known.account, &uuid).await {
            Some(content) => pdf::answer(pdf::PdfSource::Content(content), &uuid.short()),
            None => sentence(StatusCode::SERVICE_UNAVAILABLE, language, "pdf-not-fetched"),
        })
    }

    async fn find(&self, fields: &Fields, session: &Session, language: Language) -> Result<Answer, LedgerError> {
        let field = |name| fields.get(name).trim().to_owned();
        let search = Search { text: field("words"), kind: field("kind"), day: field("day") };
        let letters = match search.meant(&Zoned::now()) {
            Some((words, seen)) => Some(self.context.edges.ledger.read(move |db| facts::find(db, &words, seen)).await?),
            None => None,
        };
        let markup = self.keyed(session, Some(Found { search, letters }), None, language).await?;
        Ok(html(StatusCode::OK, language, markup))
    }
}

/// Records what a browser with the key did. Who sits at it is not known.
pub(super) fn act(db: &rusqlite::Connection, action: Action, what: &str, who: &str) -> QueryResult<()> {
    history::act(db, now(), action, what, Some(who))
}
