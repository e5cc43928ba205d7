//! What a seed draws: a practice, its documents, and everything that goes wrong and when. Pure data, so that the shortest
//! plan that still fails can be looked for by leaving things out.

use std::time::Duration;

use crate::ledger::Millis;

/// `sync.poll_interval`
pub(super) const POLL: Duration = Duration::from_secs(30);
/// `sync.reconcile_interval`
pub(super) const RECONCILE: Duration = Duration::from_secs(8 * 60);
/// `sync.give_up_after`
pub(super) const GIVE_UP: Duration = Duration::from_secs(15 * 60);
/// `retry.max`
pub(super) const RETRY_MAX: Duration = Duration::from_secs(60);
/// `sync.max_pdf_bytes`
pub(super) const MAX_PDF: u64 = 10_000;
/// The time in which things go wrong; milliseconds.
pub(super) const TROUBLED: u64 = 20 * 60_000;

/// The end of what never ends.
const NEVER: u64 = u64::MAX;

const YEAR: Millis = 365 * 24 * 3_600_000;

/// One simulation.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) accounts: usize,
    pub(super) destinations: usize,
    /// For each type of document, its destinations; a type beyond these has no route.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) page_size: usize,
    pub(super) max_concurrency: usize,
    /// Whether reported documents leave the list, by account.
    pub(super) stays_listed: Vec<bool>,
    /// `state.keep_history`; `None`: for ever.
    pub(super) keep_history: Option<Duration>,
    pub(super) documents: Vec<Document>,
    pub(super) events: Vec<Event>,
}

/// A document of the plan.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) account: usize,
    /// Its number within the account: two accounts have documents of the same identifier.
    pub(super) number: usize,
    /// When it comes into the list; milliseconds.
    pub(super) arrives: u64,
    /// Its `createdAt`: seconds from the start.
    pub(super) created: i64,
    /// When its PDF is rendered; milliseconds.
    pub(super) rendered: u64,
    /// Its type, an index of the routes or beyond.
    pub(super) kind: usize,
    pub(super) patient_by_uuid: bool,
    pub(super) shows_size: bool,
    pub(super) trouble: Trouble,
}

/// What is wrong with a document for as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    None,
    /// Its download is HTML.
    NotAPdf,
    TooLarge,
    /// Its download has not the size that the API says.
    WrongSize,
    /// The API answers this to `GET /documents/{uuid}`.
    Forbidden(u16),
    /// The API answers this to its report.
    ReportRefused(u16),
    /// The last of its destinations never takes it.
    Refused,
}

/// Something that happens at a time, or goes on from then until another.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) what: What,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Calls of an account, or only those for one document, fail so many times in a hundred.
    Api { account: usize, document: Option<usize>, call: Option<Call>, how: How, percent: u64 },
    /// The account cannot be signed in: every call fails in the same way. In the end a person mends it.
    SignIn { account: usize, how: SignIn },
    /// The account's server treats the list in an odd way.
    List { account: usize, quirk: Quirk },
    /// Deliveries to a destination, or only those of one document, go wrong so many times in a hundred.
    Delivery { destination: usize, document: Option<usize>, how: Wrong, percent: u64 },
    /// The whole destination is offline.
    Offline { destination: usize },
    /// The ledger cannot be written.
    LedgerFull,
    /// The spool cannot be written.
    SpoolFull,
    /// Another program takes everything out of the spool.
    SpoolLost,
    /// The process is killed and starts again at the end.
    Crash { power: bool },
    /// A person stops and starts the service.
    Restart,
    /// The wall clock is moved.
    Jump(Millis),
    /// A new version of the document's PDF appears.
    Revise(usize),
    /// The document is deleted.
    Withdraw(usize),
    /// A person asks for the document again in the cloud service, if it has left the list.
    AskAgain(usize),
    /// A person runs `docsyncd retry`.
    Retry(usize),
    /// A person asks for a poll now.
    PollNow,
}

/// The calls of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    List,
    Document,
    Download,
    Report,
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// The connection is refused.
    Unreachable,
    /// The server does what it was asked to, and the answer is lost.
    AnswerLost,
    /// The answer never comes; `done`: what was asked for is done.
    Hangs { done: bool },
    /// An error, with Retry-After in seconds; `done`: it was done all the same.
    Status { status: u16, retry_after: Option<u64>, done: bool },
    /// HTML with status 200.
    Html,
    /// Another document than the one asked for.
    OtherDocument,
    /// The body breaks off.
    Cut,
    /// The body has bytes missing or too many.
    WrongBytes,
}

/// How an account cannot be signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignIn {
    /// The server answers 401.
    Refused,
    /// The sign-in is lost: nothing is sent at all.
    SignedOut,
    /// The access token has expired and cannot be renewed just now; `hangs`: and each try takes its full time.
    NotRenewed { hangs: bool },
    /// A scope was taken away.
    MissingScope,
}

/// How a server treats the list in an odd way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quirk {
    FilterIgnored,
    FilterRefused,
    OrderIgnored,
    UuidsIgnored,
    /// Now and then an element has no identifier.
    Unreadable,
}

/// How a delivery goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Transient,
    Permanent,
    /// The destination has it, and does not say so.
    AnswerLost,
    /// It hangs until its time limit; `done`: and then the destination has it.
    Hangs {
        done: bool,
    },
}

impl Plan {
    /// The plan of a seed.
    pub(super) fn draw(seed: u64) -> Self {
        let mut draw = Draw(fastrand::Rng::with_seed(seed ^ 0x5eed_0001));
        let (accounts, destinations) = (draw.within(1, 3), draw.within(1, 3));
        let routes = (0..3).map(|_| draw.subset(destinations)).collect();
        let documents = draw.documents(accounts);
        let mut plan = Self {
            seed,
            accounts,
            destinations,
            routes,
            page_size: *draw.0.choice(&[1, 2, 3, 5, 100]).unwrap(),
            max_concurrency: *draw.0.choice(&[1, 2, 4, 16]).unwrap(),
            stays_listed: (0..accounts).map(|_| draw.percent(15)).collect(),
            keep_history: draw.percent(40).then(|| Duration::from_secs(draw.0.u64(30..600))),
            documents,
            events: Vec::new(),
        };
        for _ in 0..draw.within(0, 12) {
            let event = draw.event(&plan);
            plan.events.push(event);
        }
        if plan.keep_history.is_some() {
            for _ in 0..draw.within(1, 3) {
                plan.events.extend(draw.pruning(&plan));
            }
        }
        plan.events.sort_by_key(|event| event.from);
        plan
    }

    /// The destinations of a document, or `None` where no route takes it.
    pub(super) fn required(&self, document: usize) -> Option<&[usize]> {
        self.routes.get(self.documents[document].kind).map(Vec::as_slice)
    }
}

/// Chance while a plan is drawn.
struct Draw(fastrand::Rng);

impl Draw {
    fn within(&mut self, least: usize, most: usize) -> usize {
        self.0.usize(least..=most)
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.0.u64(0..100) < chance
    }

    fn subset(&mut self, of: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..of).collect();
        self.0.shuffle(&mut all);
        all.truncate(self.0.usize(1..=of));
        all
    }

    fn documents(&mut self, accounts: usize) -> Vec<Document> {
        let mut numbers = vec![0; accounts];
        let mut documents = Vec::new();
        let base: Vec<i64> = (0..3).map(|_| self.0.i64(-600..0)).collect();
        for _ in 0..self.within(1, 12) {
            let account = self.0.usize(0..accounts);
            let number = numbers[account];
            numbers[account] += 1;
            // Most come as they are made; some arrive late; many share a second.
            let arrives = if self.percent(50) { 0 } else { self.0.u64(0..TROUBLED * 3 / 4) };
            let made = i64::try_from(arrives / 1000).unwrap();
            let created = match self.0.u8(0..10) {
                0..4 => base[self.0.usize(0..base.len())] + if arrives > 0 { made } else { 0 },
                4 => made - self.0.i64(0..3600),
                _ => made,
            };
            let rendered = if self.percent(75) { arrives } else { arrives + self.0.u64(0..180_000) };
            documents.push(Document {
                account,
                number,
                arrives,
                created,
                rendered,
                kind: if self.percent(5) { 9 } else { self.0.usize(0..3) },
                patient_by_uuid: self.percent(20),
                shows_size: self.percent(70),
                trouble: self.trouble(),
            });
        }
        documents
    }

    fn trouble(&mut self) -> Trouble {
        match self.0.u8(0..40) {
            0 => Trouble::NotAPdf,
            1 => Trouble::TooLarge,
            2 => Trouble::WrongSize,
            3 => Trouble::Forbidden(*self.0.choice(&[400, 403, 422]).unwrap()),
            4 => Trouble::ReportRefused(*self.0.choice(&[400, 403, 409, 422]).unwrap()),
            5 => Trouble::Refused,
            _ => Trouble::None,
        }
    }

    fn event(&mut self, plan: &Plan) -> Event {
        let from = self.0.u64(0..TROUBLED * 4 / 5);
        // Short ones as often as long ones.
        let longest = 1u64 << self.0.u32(10..20);
        let until = (from + 200 + self.0.u64(0..longest)).min(TROUBLED);
        let document = self.0.usize(0..plan.documents.len());
        let what = match self.0.u8(0..44) {
            0..14 => self.api(plan, document),
            14..16 => What::List {
                account: self.0.usize(0..plan.accounts),
                quirk: *self
                    .0
                    .choice(&[
                        Quirk::FilterIgnored,
                        Quirk::FilterRefused,
                        Quirk::OrderIgnored,
                        Quirk::UuidsIgnored,
                        Quirk::Unreadable,
                    ])
                    .unwrap(),
            },
            16..21 => self.delivery(plan, document),
            21..23 => What::Offline { destination: self.0.usize(0..plan.destinations) },
            23 => What::LedgerFull,
            24 => What::SpoolFull,
            25..29 => What::Crash { power: self.percent(50) },
            29 => What::Restart,
            30..32 => What::Jump(*self.0.choice(&[YEAR, -YEAR, 3_600_000, -3_600_000, 300_000, -300_000]).unwrap()),
            32..34 => What::Revise(document),
            34 => What::Withdraw(document),
            35..37 => What::AskAgain(document),
            37..39 => What::Retry(document),
            39 => What::PollNow,
            40 => What::SpoolLost,
            _ => What::SignIn {
                account: self.0.usize(0..plan.accounts),
                how: *self
                    .0
                    .choice(&[
                        SignIn::Refused,
                        SignIn::SignedOut,
                        SignIn::NotRenewed { hangs: false },
                        SignIn::NotRenewed { hangs: true },
                        SignIn::MissingScope,
                    ])
                    .unwrap(),
            },
        };
        // A poisoned document goes on for as long as it can.
        let poison = matches!(
            what,
            What::Api { document: Some(_), percent: 100, .. } | What::Delivery { document: Some(_), percent: 100, .. }
        );
        if poison && self.percent(30) {
            return Event { from: 0, until: TROUBLED, what };
        }
        // It takes a while until somebody has time.
        if matches!(what, What::SignIn { .. }) && self.percent(40) {
            return Event { from, until: (until + 600_000).min(TROUBLED), what };
        }
        // Some servers are as they are.
        if matches!(what, What::List { .. }) && self.percent(30) {
            return Event { from, until: NEVER, what };
        }
        Event { from, until, what }
    }

    /// What shows whether pruning forgot too much: it prunes when it starts, and then a document comes back.
    fn pruning(&mut self, plan: &Plan) -> [Event; 2] {
        let from = self.0.u64(TROUBLED / 4..TROUBLED * 4 / 5);
        let again = from + self.0.u64(5_000..120_000);
        let document = self.0.usize(0..plan.documents.len());
        let back = match self.0.u8(0..4) {
            0 => What::Revise(document),
            1 => What::Retry(document),
            _ => What::AskAgain(document),
        };
        [Event { from, until: from + 200, what: What::Restart }, Event { from: again, until: again + 200, what: back }]
    }

    fn api(&mut self, plan: &Plan, document: usize) -> What {
        let own = self.percent(40);
        let call = match self.0.u8(0..6) {
            0 => None,
            1 => Some(Call::List),
            2 => Some(Call::Document),
            3 => Some(Call::Download),
            _ => Some(Call::Report),
        };
        let call = if own && call == Some(Call::List) { None } else { call };
        let retry_after = if self.percent(30) { Some(self.0.u64(1..600)) } else { None };
        let status = *self.0.choice(&[400, 401, 403, 404, 408, 410, 422, 429, 500, 502, 503, 504]).unwrap();
        let how = match self.0.u8(0..12) {
            0 => How::Unreachable,
            1 | 2 => How::AnswerLost,
            3 => How::Hangs { done: self.percent(50) },
            4..8 => How::Status { status, retry_after, done: status >= 500 && self.percent(50) },
            8 => How::Html,
            9 => How::OtherDocument,
            10 => How::Cut,
            _ => How::WrongBytes,
        };
        What::Api {
            account: if own { plan.documents[document].account } else { self.0.usize(0..plan.accounts) },
            document: own.then_some(document),
            call,
            how,
            percent: *self.0.choice(&[100, 100, 50, 20]).unwrap(),
        }
    }

    fn delivery(&mut self, plan: &Plan, document: usize) -> What {
        let how = match self.0.u8(0..8) {
            0..3 => Wrong::Transient,
            3 => Wrong::Permanent,
            4 | 5 => Wrong::AnswerLost,
            _ => Wrong::Hangs { done: self.percent(50) },
        };
        What::Delivery {
            destination: self.0.usize(0..plan.destinations),
            document: self.percent(50).then_some(document),
            how,
            percent: *self.0.choice(&[100, 100, 50, 20]).unwrap(),
        }
    }
}
