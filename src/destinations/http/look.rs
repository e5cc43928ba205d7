//! Whether a document is there already.

use std::sync::atomic::Ordering;

use reqwest::header::{CONTENT_TYPE, ETAG, HeaderValue};

use super::super::confirm::{Sights, is_of_all};
use super::super::files::Digest;
use super::super::{Holds, Item, Kept, Outcome, Unproved, spooled};
use super::failed::{failed, says_not_yet};
use super::page::is_web_page;
use super::rendered::{self, Rendered};
use super::{BEGINNING, HttpAdapter, Naming};
use crate::destinations::HttpBody;
use crate::domain::document::{Metadata, PdfHead, Spooled, edition};
use crate::domain::failure::Code;
use crate::domain::proof::{Proof, Seen, Sight};

/// What is at the place of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AtService {
    /// The document.
    Ours,
    /// Something else.
    Other,
    /// The beginning of the document, at its own address, with the entity tag: an attempt was interrupted.
    Beginning(Option<HeaderValue>),
    /// Nothing.
    Nothing,
    /// The reason why nobody can see it at the moment.
    Unseen(Outcome),
    /// Nobody can ever look.
    Hidden,
}

/// What is looked for. An address without the key of the delivery may show another version of the document, or the copy
/// that was sent for another patient.
struct Sought<'a> {
    pdf: &'a Spooled,
    /// [`Item::has_editions`]
    has_editions: bool,
    /// Whether nothing else of the document was sent there.
    is_first: bool,
}

impl<'a> Sought<'a> {
    async fn of(item: &'a Item) -> Result<Self, Outcome> {
        let known = item.names.known().await?;
        let is_first = known.families.is_empty() && known.others.is_empty();
        Ok(Self { pdf: &item.pdf, has_editions: item.has_editions, is_first })
    }
}

impl HttpAdapter {
    /// Whether a conflict says that the document is there. The name of another letter is taken as well: so the service
    /// has to know the document by its key, or by what it shares with its versions, where an attempt whose answer was
    /// lost was the first of all. If `probe_url` does not show it, the conflict is another.
    pub(super) async fn conflict_is_found(&self, rendered: &Rendered, item: &Item) -> bool {
        let is_first = async || Sought::of(item).await.is_ok_and(|sought| sought.is_first);
        let is_its_name = self.config.conflict_is_found
            && match self.config.naming() {
                Naming::Key => true,
                Naming::Document => item.uncertain && is_first().await,
                Naming::Shared => false,
            };
        let is_absent = async || matches!(self.look_for(rendered, item).await, AtService::Nothing | AtService::Other);
        is_its_name && (self.config.probe_url.is_none() || !is_absent().await)
    }

    /// Whether the document can be looked for at its own address.
    pub(super) fn lies_at_its_address(&self) -> bool {
        self.config.is_conditional() && matches!(self.config.body, HttpBody::Raw)
    }

    /// Whether somebody can find out the result of a delivery whose answer was lost.
    pub(super) fn can_look(&self) -> bool {
        self.config.probe_url.is_some() || (self.lies_at_its_address() && !self.hides.load(Ordering::Relaxed))
    }

    /// Looks whether the document is there.
    pub(super) async fn look_for(&self, rendered: &Rendered, item: &Item) -> AtService {
        let sought = match Sought::of(item).await {
            Ok(sought) => sought,
            Err(outcome) => return AtService::Unseen(outcome),
        };
        if self.lies_at_its_address() && rendered.marks.is_empty() {
            let found = self.look_at(rendered.url.clone(), &sought, false).await;
            if rendered.probe.is_none()
                || !matches!(found, AtService::Unseen(_) | AtService::Nothing | AtService::Hidden)
            {
                return found;
            }
        }
        self.look_at_probe(rendered, &sought).await
    }

    /// The same at `probe_url` alone; [`AtService::Hidden`] if there is none.
    async fn look_at_probe(&self, rendered: &Rendered, sought: &Sought<'_>) -> AtService {
        match &rendered.probe {
            None => AtService::Hidden,
            Some(probe) if rendered.marks.is_empty() => self.look_at(probe.clone(), sought, true).await,
            Some(list) => self.look_in_list(list.clone(), rendered).await,
        }
    }

    /// Whether the service has taken the letter, as `probe_url` shows.
    async fn sight(&self, letter: &Unproved) -> Result<Sight, Outcome> {
        let Unproved { key, filed, size, sha256, metadata, has_editions, is_first, .. } = letter;
        let pdf = spooled::away(*size, sha256);
        let rendered = Rendered::of(&self.config, metadata, key, &pdf, filed.patient.as_ref())?;
        let sought = Sought { pdf: &pdf, has_editions: *has_editions, is_first: *is_first };
        match self.look_at_probe(&rendered, &sought).await {
            AtService::Ours => Ok(Sight::Proved { proof: Proof::Probe, place: None, seen: Some(Seen::of("shown")) }),
            AtService::Unseen(outcome) => Err(outcome),
            AtService::Hidden if rendered.probe.is_none() => Err(Outcome::no_look()),
            AtService::Other | AtService::Beginning(_) | AtService::Nothing | AtService::Hidden => Ok(Sight::Waits),
        }
    }

    /// The same for several.
    pub(super) async fn sights(&self, letters: &[Unproved]) -> Result<Vec<Sight>, Outcome> {
        let mut sights = Sights::default();
        for letter in letters {
            sights.add(self.sight(letter).await)?;
        }
        sights.all()
    }

    /// Whether the service still has letters that it took, as `probe_url` shows. The API's data about them is no longer
    /// known, so the templates may use identifiers only.
    pub(super) async fn look_at_kept(&self, letters: &[Kept]) -> Result<Vec<Holds>, Outcome> {
        let marks = self.config.probe_contains.iter().map(|(_, template)| template);
        let can_ask = self.config.probe_url.iter().chain(marks).all(|template| template.is_of_identity());
        let mut found = Vec::with_capacity(letters.len());
        for letter in letters {
            found.push(if can_ask { self.held(letter).await? } else { Holds::Unknown });
        }
        Ok(found)
    }

    async fn held(&self, letter: &Kept) -> Result<Holds, Outcome> {
        let pdf = spooled::away(letter.size, &letter.sha256);
        let metadata = Metadata::of_identity(&letter.version);
        let Ok(rendered) = Rendered::of(&self.config, &metadata, &letter.key, &pdf, None) else {
            return Ok(Holds::Unknown);
        };
        // What else was sent of the document is not known here.
        let has_editions = edition::edition(&letter.version.pdf) > 0;
        match self.look_at_probe(&rendered, &Sought { pdf: &pdf, has_editions, is_first: false }).await {
            AtService::Ours => Ok(Holds::Same),
            AtService::Other | AtService::Beginning(_) => Ok(Holds::Other),
            AtService::Nothing => Ok(Holds::Nothing),
            AtService::Hidden => Ok(Holds::Unknown),
            AtService::Unseen(outcome) if is_of_all(&outcome) => Err(outcome),
            AtService::Unseen(_) => Ok(Holds::Unread),
        }
    }

    /// An answer of 200 that is not the PDF counts as the document, if the service distinguishes existing documents
    /// from missing ones.
    async fn believed(&self) -> AtService {
        match rendered::made_up_probe(&self.config) {
            Some(probe) if !self.tells.load(Ordering::Relaxed) => match self.knows_nothing_of(probe).await {
                Ok(()) if self.tells.load(Ordering::Relaxed) => AtService::Ours,
                Ok(()) => {
                    let words = "`probe_url` is not answered with status 404 for a document that cannot exist, so that it tells \
                                 nothing now";
                    AtService::Unseen(Outcome::transient(Code::word("probe_url"), self.client.named(words)))
                }
                Err(outcome) => AtService::Unseen(outcome),
            },
            _ => AtService::Ours,
        }
    }

    pub(super) fn not_yet(&self) -> AtService {
        let words = "it shows the document, and says that it is not filed yet, or not found";
        AtService::Unseen(Outcome::transient(Code::word("not_yet"), self.client.named(words)))
    }

    /// Asks for a document that cannot exist.
    ///
    /// # Errors
    /// The service says that the document is there, or gives no answer at the moment.
    pub(super) async fn knows_nothing_of(&self, made_up: url::Url) -> Result<(), Outcome> {
        match self.ask(made_up).await?.status {
            404 | 410 => self.tells.store(true, Ordering::Relaxed),
            200 => {
                let words = "`probe_url` is answered with status 200 for a document that cannot exist, so that it tells \
                             nothing: an address that lists what it finds needs `probe_contains`";
                return Err(Outcome::unavailable("probe_url", self.client.named(words)));
            }
            // Other answers prove nothing, neither now nor about a document.
            _ => {}
        }
        Ok(())
    }

    /// `by_probe`: the address is that of `probe_url`. Any answer there says that the document is there, if nothing else
    /// has the address: services stamp and repack what they keep. Otherwise only its content says so, and not even that
    /// where a copy for another patient has the same.
    async fn look_at(&self, url: url::Url, sought: &Sought<'_>, by_probe: bool) -> AtService {
        let ours = Digest::of_pdf(sought.pdf);
        let template = if by_probe { self.config.probe_url.as_ref() } else { Some(&self.config.url) };
        let is_per_version = template.is_some_and(|template| template.is_per_version());
        // There the letter itself is shown, so that a file of nothing is not the letter.
        let is_where_sent = matches!(self.config.body, HttpBody::Raw)
            && template.is_some_and(|template| template.source() == self.config.url.source());
        let answer = match self.ask(url).await {
            Ok(answer) => answer,
            Err(outcome) => return AtService::Unseen(outcome),
        };
        if !by_probe && matches!(answer.status, 200 | 403 | 404 | 405 | 410 | 501) {
            self.hides.store(matches!(answer.status, 403 | 405 | 501), Ordering::Relaxed);
        }
        match answer.status {
            200 => {}
            404 | 410 => return AtService::Nothing,
            403 | 405 | 501 if !by_probe => return AtService::Hidden,
            status => return AtService::Unseen(self.client.of_status(status, false, answer.retry_after)),
        }
        let content = answer.content(ours.size, BEGINNING).await;
        let is_pdf = PdfHead::is_of_pdf(&content.beginning);
        let unseen =
            |code, words: &str| AtService::Unseen(Outcome::transient(Code::word(code), self.client.named(words)));
        match content.digest {
            Some(digest) if digest == ours => match is_per_version || sought.is_first || !sought.has_editions {
                true => AtService::Ours,
                false if by_probe => AtService::Hidden,
                false => AtService::Other,
            },
            // Whoever stamps a letter makes none of its beginnings.
            Some(part) if part.size > 0 && is_per_version && spooled::begins_with(sought.pdf, &part).await => {
                AtService::Beginning(
                    content.headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/")).cloned(),
                )
            }
            _ if content.is_broken => {
                unseen("broken_off", "the connection broke while it was asked whether the document is there")
            }
            _ if is_web_page(&content) => AtService::Unseen(self.web_page()),
            _ if by_probe && failed(&content.beginning).is_some() => {
                unseen("says_error", "it answers with an error when it is asked whether the document is there")
            }
            Some(part) if part.size == 0 && is_where_sent && content.headers.contains_key(CONTENT_TYPE) => {
                AtService::Nothing
            }
            _ if by_probe && !is_pdf && says_not_yet(&content.beginning) => self.not_yet(),
            _ if by_probe && is_per_version => self.believed().await,
            _ if is_pdf => AtService::Other,
            _ if by_probe && sought.is_first => self.believed().await,
            _ if by_probe => AtService::Hidden,
            _ => unseen("not_seen", "what it shows at the address of the document is no PDF"),
        }
    }
}
