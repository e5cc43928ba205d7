//! The API of an account, simulated.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream;
use hyper::body::Bytes;
use serde_json::json;
use std::time::Duration;

use super::clock;
use super::plan::{Call, How, Quirk, SignIn, Trouble};
use super::world::{REFUSED_TO, Shared, World};
use crate::api::{Api, ApiError, Detail, Download, ListQuery, Listed, Meaning, Order, Page, Pdf, ReportAnswer};
use crate::domain::document::{DocumentUuid, Record};

/// `api.timeout`
const TIMEOUT: Duration = Duration::from_secs(30);
/// When the daemon must have noticed that an account is refused; milliseconds. A poll that was put off, and four calls
/// that hang.
const NOTICED: u64 = 300_000;
/// The longest that a renewal of an access token takes.
const RENEWAL: Duration = Duration::from_secs(45);
/// What a call takes, roughly; milliseconds.
const LATENCY: u64 = 40;
/// The longest that a slow call takes in each direction; milliseconds. Both together are just not too much.
const LATE: u64 = 14_000;

/// The API as one account sees it.
pub(super) struct Server {
    pub(super) world: Shared,
    pub(super) account: usize,
}

fn broken_off() -> ApiError {
    ApiError::BrokenOff { host: "api".to_owned(), what: "the answer was lost".to_owned(), timed_out: false }
}

fn status(status: u16) -> ApiError {
    if status == 401 {
        ApiError::Unauthorized { signed_in: None }
    } else {
        ApiError::Status { status, retry_after: None }
    }
}

impl Server {
    /// A call: on the way, the effect, and on the way back, where each may go wrong.
    async fn call<T>(
        &self,
        call: Call,
        document: Option<usize>,
        doing: &str,
        effect: impl FnOnce(&mut World) -> Result<T, ApiError> + Send,
    ) -> Result<T, ApiError>
    where
        T: Send,
    {
        clock::pass(LATENCY).await;
        self.signed_in(call, doing).await?;
        let slow = self.world.lock().unwrap().is_slow(self.account, document, call);
        if slow {
            clock::up_to(LATE).await;
        }
        let (answer, hangs) = {
            let mut world = self.world.lock().unwrap();
            world.count_call();
            let fault = world.api_fault(self.account, document, call);
            if call != Call::List && world.is_paused(self.account) {
                let account = self.account;
                world.violate(|| format!("account {account} is asked for more than its list while it is paused"));
            }
            let done = || effect(&mut world);
            let (answer, hangs) = match fault {
                None | Some(How::Slow | How::OtherDocument | How::Cut | How::WrongBytes) => (done(), false),
                Some(How::Unreachable) => {
                    let (host, what) = ("api".to_owned(), "refused".to_owned());
                    (Err(ApiError::Unreachable { host, what }), false)
                }
                Some(How::AnswerLost) => (done().and(Err(broken_off())), false),
                Some(How::Hangs { done: true }) => (done().and(Err(broken_off())), true),
                Some(How::Hangs { done: false }) => (Err(broken_off()), true),
                Some(How::Status { status: 401, .. }) => (Err(ApiError::Unauthorized { signed_in: None }), false),
                Some(How::Status { status, retry_after, done: too }) => {
                    let answer = if too { done().map(drop) } else { Ok(()) };
                    let retry_after = retry_after.map(Duration::from_secs);
                    (answer.and(Err(ApiError::Status { status, retry_after })), false)
                }
                Some(How::Html) => (Err(ApiError::Shape("it is HTML".to_owned())), false),
            };
            if let (Some(document), Err(error)) = (document, &answer) {
                world.blame(self.account, document, call, error);
                if let Some(told) = &mut world.truths[document].told {
                    match call {
                        Call::Report => told.excuse = Some("its answer was lost"),
                        Call::Document if told.silent => told.excuse = Some("it could not be looked at afterwards"),
                        _ => {}
                    }
                }
            }
            let said = answer.as_ref().map_or_else(|error| error.to_string(), |_| "ok".to_owned());
            let account = self.account;
            if call == Call::List && answer.is_ok() {
                world.listed_at.insert(account, clock::passed());
            }
            world.tell(|| format!("api {account}: {doing}: {said}"));
            (answer, hangs)
        };
        if hangs {
            tokio::time::sleep(TIMEOUT).await;
        } else if slow {
            clock::up_to(LATE).await;
        } else {
            clock::pass(LATENCY).await;
        }
        answer
    }

    /// What a call comes to for an account that cannot be signed in: that is no document's fault.
    async fn signed_in(&self, call: Call, doing: &str) -> Result<(), ApiError> {
        let account = format!("account{}", self.account);
        let (error, hangs) = {
            let mut world = self.world.lock().unwrap();
            let Some((how, shown_for)) = world.signed_out(self.account) else { return Ok(()) };
            // One whose token cannot be renewed just now is not refused: each stage tries from time to time.
            let refused = !matches!(how, SignIn::NotRenewed { .. });
            if refused && call != Call::List && shown_for > NOTICED {
                let number = self.account;
                world.violate(|| format!("account {number} is refused, and asked for more than its list all the same"));
            }
            let (error, hangs) = match how {
                SignIn::Refused => (ApiError::Unauthorized { signed_in: None }, false),
                SignIn::SignedOut => (ApiError::SignedOut { account, why: "refused" }, false),
                SignIn::NotRenewed { hangs } => {
                    (ApiError::Refresh { account, what: "no answer".to_owned(), retry_after: None }, hangs)
                }
                SignIn::MissingScope => {
                    (ApiError::MissingScope { scopes: vec!["documents"], account: Some(account) }, false)
                }
            };
            world.count_call();
            let number = self.account;
            world.tell(|| format!("api {number}: {doing}: {error}"));
            (error, hangs)
        };
        if hangs {
            tokio::time::sleep(RENEWAL).await;
        } else {
            clock::pass(LATENCY).await;
        }
        Err(error)
    }

    fn find(&self, uuid: &str) -> Option<usize> {
        self.world.lock().unwrap().find(self.account, uuid)
    }

    /// What was answered is what the daemon knows.
    fn looked<T>(&self, answer: Result<(T, Option<(usize, usize)>), ApiError>) -> Result<T, ApiError> {
        answer.map(|(answer, looked)| {
            if let Some((document, version)) = looked {
                self.world.lock().unwrap().truths[document].looked = version;
            }
            answer
        })
    }
}

/// The patient of a document: each has one of its own, who may be corrected to somebody else.
fn patient(document: usize, corrected: usize) -> Record {
    let born = format!("{}-01-{:02}", 1980 + corrected, 1 + document % 28);
    let record = json!({"uuid": format!("p{document}"), "lastName": format!("Name {document}"), "firstName": format!("First{corrected}"),
                        "dateOfBirth": born});
    record.as_object().unwrap().clone()
}

/// The same in the practice's list.
pub(super) fn patient_row(document: usize, corrected: usize) -> String {
    format!("NAME {document},First{corrected},{}-01-{:02}", 1980 + corrected, 1 + document % 28)
}

/// How often the patient had been corrected who is shown so; `None`: that is not shown.
pub(super) fn corrected(patient: &Record) -> Option<usize> {
    let year = patient.get("dateOfBirth")?.as_str()?.split('-').next()?.parse::<usize>().ok()?;
    Some(year - 1980)
}

/// `createdAt` as this server prints it.
fn created_at(seconds: i64) -> String {
    jiff::Timestamp::from_millisecond(clock::WALL_START + seconds * 1000).unwrap().to_string()
}

fn page(world: &World, account: usize, query: &ListQuery) -> Result<Page, ApiError> {
    if query.order != Order::Unordered && world.has_quirk(account, Quirk::OrderRefused) {
        return Err(status(400));
    }
    let now = clock::passed();
    let by_uuid = !query.uuids.is_empty() && !world.has_quirk(account, Quirk::UuidsIgnored);
    let mut shown: Vec<usize> = (0..world.truths.len())
        .filter(|index| {
            let (document, truth) = (&world.plan.documents[*index], &world.truths[*index]);
            document.is_shown_to(account)
                && document.arrives <= now
                && truth.listed != query.synchronized
                && !truth.withdrawn
                && (!by_uuid || query.uuids.iter().any(|uuid| uuid.as_str() == truth.uuid))
        })
        .collect();
    let created = |index: &usize| world.plan.documents[*index].created;
    match query.order {
        Order::OldestFirst | Order::NewestFirst if world.has_quirk(account, Quirk::OrderIgnored) => shown.reverse(),
        Order::Unordered => shown.reverse(),
        Order::OldestFirst => shown.sort_by_key(created),
        Order::NewestFirst => shown.sort_by_key(|index| std::cmp::Reverse(created(index))),
    }
    let size = query.size.map_or(world.plan.page_size, |size| size.min(world.plan.page_size));
    let mut shown: Vec<usize> = shown.into_iter().skip((query.page - 1) * size).take(size).collect();
    let all = shown.len();
    if world.has_quirk(account, Quirk::Unreadable) {
        shown.retain(|_| !clock::percent(20));
    }
    let unreadable = all - shown.len();
    let items = shown.into_iter().map(|index| {
        let truth = &world.truths[index];
        Listed {
            uuid: DocumentUuid::parse(&truth.uuid).unwrap(),
            created_at: created_at(world.plan.documents[index].created),
            kind: Some(format!("k{}", world.plan.documents[index].kind)),
            pdf: world.is_rendered(index).then(|| truth.versions.last().unwrap().pdf.clone()),
            is_draft: !world.is_rendered(index),
            patient: Some(format!("p{index}")),
        }
    });
    Ok(Page { items: items.collect(), unreadable })
}

fn detail(world: &World, index: usize) -> Detail {
    let (document, truth) = (&world.plan.documents[index], &world.truths[index]);
    let version = truth.versions.last().unwrap();
    let pdf = world.is_rendered(index).then(|| Pdf {
        uuid: version.pdf.clone(),
        size: document.shows_size.then_some(version.bytes.len() as u64),
        url: Some(format!("{index}/{}", truth.versions.len() - 1)),
    });
    let record = json!({"uuid": truth.uuid, "type": format!("k{}", document.kind),
                        "pdf": pdf.as_ref().map(|pdf| json!({"uuid": pdf.uuid}))});
    let whole = patient(index, version.patient);
    let patient = if document.patient_by_uuid { json!({"uuid": whole["uuid"]}) } else { whole.into() };
    Detail {
        document: record.as_object().unwrap().clone(),
        pdf,
        patient: patient.as_object().unwrap().clone(),
        user: Record::new(),
    }
}

#[async_trait]
impl Api for Server {
    async fn list(&self, query: &ListQuery) -> Result<Page, ApiError> {
        let doing = match query.uuids.as_slice() {
            [] => format!("list {:?}, page {}", query.order, query.page),
            uuids => format!("list of {} documents", uuids.len()),
        };
        self.call(Call::List, None, &doing, |world| page(world, self.account, query)).await
    }

    async fn document(&self, uuid: &DocumentUuid) -> Result<Detail, ApiError> {
        let index = self.find(uuid.as_str());
        let effect = |world: &mut World| {
            let index = index.filter(|index| !world.truths[*index].withdrawn).ok_or(status(404))?;
            if let Trouble::Forbidden(refusal) = world.plan.documents[index].trouble {
                return Err(status(refusal));
            }
            if world.plan.documents[index].is_refused_to(self.account, Call::Document) {
                return Err(status(REFUSED_TO));
            }
            let fault = world.api_fault(self.account, Some(index), Call::Document);
            let other = world.truths.iter().position(|other| other.uuid != world.truths[index].uuid);
            // Where there is no other, it answers as it should (seed 5596).
            if let (Some(How::OtherDocument), Some(other)) = (fault, other) {
                world.truths[index].blame.transient.push(clock::passed());
                return Ok((detail(world, other), None));
            }
            Ok((detail(world, index), Some((index, world.shown(index)))))
        };
        let answer = self.call(Call::Document, index, &format!("document {uuid}"), effect).await;
        self.looked(answer)
    }

    async fn patient(&self, uuid: &str) -> Result<Record, ApiError> {
        let index = uuid.trim_start_matches('p').parse().unwrap_or(0);
        let effect = |world: &mut World| {
            // It shows the patient, and nothing of a PDF that came since the document was read (seed 2252).
            let truth = &world.truths[index];
            let pdf = &truth.versions[truth.looked].pdf;
            let looked = truth.versions.iter().rposition(|version| version.pdf == *pdf).map(|version| (index, version));
            Ok((patient(index, world.patient(index)), looked))
        };
        let answer = self.call(Call::Document, None, "patient", effect).await;
        // Any refusal hides the patient (seed 20582).
        if answer.as_ref().is_err_and(|error| error.meaning() == Meaning::Permanent && error.status().is_some()) {
            self.world.lock().unwrap().truths[index].patient_hidden = true;
        }
        self.looked(answer)
    }

    async fn user(&self, uuid: &str) -> Result<Record, ApiError> {
        let index = uuid.trim_start_matches('p').parse().unwrap_or(0);
        self.call(Call::Document, None, "user", |_| Ok(patient(index, 0))).await
    }

    async fn download(&self, address: &str) -> Result<Download, ApiError> {
        let (index, number) = address.split_once('/').unwrap();
        let (index, number): (usize, usize) = (index.parse().unwrap(), number.parse().unwrap());
        let effect = |world: &mut World| {
            let document = &world.plan.documents[index];
            let mut bytes = match document.trouble {
                Trouble::NotAPdf => b"<html>who are you?</html>".to_vec(),
                Trouble::WrongSize if document.shows_size => b"%PDF-1.7 cut".to_vec(),
                _ => world.truths[index].versions[number].bytes.clone(),
            };
            let fault = world.api_fault(self.account, Some(index), Call::Download);
            // Where the API says no length, bytes that are missing show only by the connection's end.
            let cut = fault == Some(How::Cut) || (fault == Some(How::WrongBytes) && !document.shows_size);
            let wrong = document.trouble == Trouble::NotAPdf
                || (document.shows_size && (fault == Some(How::WrongBytes) || document.trouble == Trouble::WrongSize));
            if fault == Some(How::WrongBytes) && !cut {
                bytes.truncate(bytes.len() / 2);
            }
            let blame = &mut world.truths[index].blame;
            blame.strikes += u32::from(wrong);
            if cut {
                blame.transient.push(clock::passed());
            }
            Ok(body(bytes, cut))
        };
        let doing = format!("download {address}");
        self.call(Call::Download, Some(index), &doing, effect).await
    }

    async fn report(&self, uuid: &DocumentUuid, error: Option<&str>) -> Result<ReportAnswer, ApiError> {
        let index = self.find(uuid.as_str());
        let begun = index.map(|index| {
            let world = self.world.lock().unwrap();
            let truth = &world.truths[index];
            (world.book.begin_report(index), truth.asked, truth.looked)
        });
        let effect = |world: &mut World| {
            let index = index.filter(|index| !world.truths[*index].withdrawn).ok_or(status(404))?;
            if let Trouble::ReportRefused(refusal) = world.plan.documents[index].trouble {
                return Err(status(refusal));
            }
            if world.plan.documents[index].is_refused_to(self.account, Call::Report) {
                return Err(status(REFUSED_TO));
            }
            world.told(index, error, begun.unwrap());
            let Detail { pdf, patient, .. } = detail(world, index);
            Ok(ReportAnswer { pdf: pdf.map(|pdf| pdf.uuid), patient })
        };
        let doing = format!("report {uuid} {}", error.unwrap_or("success"));
        self.call(Call::Report, index, &doing, effect).await
    }

    fn look_at_credentials(&self) -> bool {
        self.world.lock().unwrap().notice_mended(self.account)
    }

    async fn read_credentials_again(&self) {
        self.world.lock().unwrap().notice_mended(self.account);
    }

    fn longest_renewal(&self) -> Duration {
        RENEWAL
    }

    async fn settle(&self) {}
}

/// A body that comes in three parts, the last of which may be missing.
fn body(bytes: Vec<u8>, cut: bool) -> Download {
    let third = bytes.len() / 3 + 1;
    let mut parts: Vec<Result<Bytes, ApiError>> =
        bytes.chunks(third).map(|part| Ok(Bytes::copy_from_slice(part))).collect();
    if cut {
        parts.pop();
        parts.push(Err(broken_off()));
    }
    let parts = stream::iter(parts).then(|part| async move {
        clock::pass(LATENCY).await;
        part
    });
    Download::of(None, parts.boxed())
}
