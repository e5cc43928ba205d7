//! How a seed becomes a plan.

use std::time::Duration;

use super::plan::*;
use crate::ledger::Millis;

/// The end of what never ends.
const NEVER: u64 = u64::MAX;

const YEAR: Millis = 365 * 24 * 3_600_000;

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
            kinds: Vec::new(),
            has_importers: seed % 3 == 1,
            has_list: seed % 5 == 2,
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
        Draw(fastrand::Rng::with_seed(seed ^ 0x5eed_0002)).kinds(&mut plan);
        if accounts > 1 {
            Draw(fastrand::Rng::with_seed(seed ^ 0x5eed_0003)).shared(&mut plan);
        }
        Draw(fastrand::Rng::with_seed(seed ^ 0x5eed_0004)).restore(&mut plan);
        Draw(fastrand::Rng::with_seed(seed ^ 0x5eed_0005)).corrections(&mut plan);
        plan.events.sort_by_key(|event| event.from);
        plan
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
                also: None,
                refused_to: None,
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
                    .choice(&[Quirk::OrderIgnored, Quirk::OrderRefused, Quirk::UuidsIgnored, Quirk::Unreadable])
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

    /// A disk that is lost, some time after a backup.
    fn restore(&mut self, plan: &mut Plan) {
        if self.percent(15) {
            // Most is filed at once.
            let from = if self.percent(60) { self.0.u64(0..6_000) } else { self.0.u64(0..TROUBLED / 2) };
            let longest = 1u64 << self.0.u32(10..20);
            let lost = from + self.0.u64(0..longest);
            let until = lost + 200 + self.0.u64(0..120_000);
            plan.events.push(Event { from, until: from, what: What::Backup });
            plan.events.push(Event { from: lost, until: until.min(TROUBLED), what: What::Restore });
        }
    }

    /// Patients that are corrected in the service.
    fn corrections(&mut self, plan: &mut Plan) {
        for _ in 0..if self.percent(40) { self.within(1, 3) } else { 0 } {
            // Most is filed at once.
            let from = if self.percent(50) { self.0.u64(0..6_000) } else { self.0.u64(0..TROUBLED * 4 / 5) };
            let (document, again) = (self.0.usize(0..plan.documents.len()), self.percent(50));
            plan.events.push(Event { from, until: from, what: What::Correct { document, again } });
        }
    }

    /// What two accounts list.
    fn shared(&mut self, plan: &mut Plan) {
        for document in &mut plan.documents {
            if self.percent(25) {
                let also = (document.account + self.0.usize(1..plan.accounts)) % plan.accounts;
                document.also = Some(also);
                let of_both = if self.percent(50) { also } else { document.account };
                let calls = *self.0.choice(&[[true, true], [true, true], [true, false], [false, true]]).unwrap();
                document.refused_to = self.percent(50).then_some((of_both, calls));
            }
        }
    }

    /// What the destinations are, and what goes wrong only where there is a server.
    fn kinds(&mut self, plan: &mut Plan) {
        for destination in 0..plan.destinations {
            let named = Named {
                overwrites: self.percent(30),
                in_folders: self.percent(40),
                sidecar: self.percent(40),
                imports: self.percent(40),
            };
            let keeps_keys = self.percent(70);
            let (kind, calls) = match self.0.u8(0..23) {
                0..7 => (Kind::Named(named), 24),
                7 => (Kind::Service(Service::Put), 4),
                8 => (Kind::Service(Service::Post), 4),
                9..11 => (Kind::Service(Service::Bucket { keeps_keys }), 6),
                11 => (Kind::Service(Service::Fhir { heeds: keeps_keys }), 5),
                12 => (Kind::Service(Service::Receiver), 2),
                13 => (Kind::Service(Service::Mail), 3),
                14 => (Kind::Service(Service::Archive { tells: keeps_keys }), 4),
                _ => (Kind::Keys, 0),
            };
            plan.kinds.push(kind);
            for _ in 0..if kind == Kind::Keys { 0 } else { self.within(0, 3) } {
                // Most is filed at once.
                let from = if self.percent(60) { self.0.u64(0..4_000) } else { self.0.u64(0..TROUBLED * 4 / 5) };
                let until = from + 1_000 + self.0.u64(0..60_000);
                let what = match self.0.u8(0..6) {
                    0 => What::ServerRestart { destination },
                    1 => What::Stranger { destination },
                    2 => {
                        let how = if self.percent(50) { Wrong::AnswerLost } else { Wrong::Transient };
                        What::Delivery { destination, document: None, how, percent: 50 }
                    }
                    _ => What::KillFiling { destination, call: self.within(0, calls) },
                };
                plan.events.push(Event { from, until, what });
            }
        }
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
        let how = match self.0.u8(0..14) {
            0 => How::Unreachable,
            1 | 2 => How::AnswerLost,
            3 => How::Hangs { done: self.percent(50) },
            4..8 => How::Status { status, retry_after, done: status >= 500 && self.percent(50) },
            8 => How::Html,
            9 => How::OtherDocument,
            10 => How::Cut,
            11 => How::WrongBytes,
            _ => How::Slow,
        };
        // Only this call can give another one.
        let call = if how == How::OtherDocument { Some(Call::Document) } else { call };
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
