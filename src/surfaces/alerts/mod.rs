//! Alarms: a person is told once that something needs one, and once when it is over.
//!
//! ```text
//! ledger ──facts──▶ health::assess ──▶ decide ──▶ alert and outbox (one transaction) ──▶ webhook, mail
//!                                                                       └──▶ heartbeat
//! ```
//!
//! It runs beside the stages, reads what they write, and shares nothing else with them: a mail server that hangs delays
//! no document. What is told is a row in the ledger before it is sent, so it is told also after a restart, and once: a
//! message has one identifier, and that it is being sent is recorded before. Everything is bounded: of a cause there is
//! one alert, of an alert one message for a channel waits, an attempt takes half a minute, and what nobody takes for a
//! week is given up.
//!
//! No message holds patient data, the name of a file or a text that anybody else said: see [`message`].

mod audience;
mod beats;
mod client;
pub mod decide;
mod heartbeat;
mod mail;
pub mod message;
mod post;
mod watch;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch as watched};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use heartbeat::{Beat, Heartbeat};
pub use mail::Mail;
pub use message::{Content, Letterhead, Message, Page, computer};
pub use webhook::Webhook;

use crate::config::{Auth, Config, MailConfig, WebhookConfig};
use crate::ledger::{Ledger, now};

/// How long what is being sent may take to end when docsyncd stops.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Undelivered {
    /// In our own words, without an address.
    pub what: String,
    /// Whether it may have arrived all the same.
    pub may_have_arrived: bool,
    /// Whether a person mends it in the configuration, or in a file that it names.
    pub is_configuration: bool,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The code of the answer.
    pub code: u16,
    /// The recipients for whom it was not taken, each with the reason. Addresses: for a terminal, and not for the log.
    pub refused: Vec<String>,
}

impl Taken {
    /// Writes into the log how many did not get it.
    fn warn_of_refused(&self, channel: &str) {
        let refused = self.refused.len();
        if refused > 0 {
            tracing::warn!(
                event = "recipients_refused",
                channel,
                refused,
                "{channel}: {refused} of the recipients are refused, and were not told"
            );
        }
    }
}

impl Undelivered {
    fn certainly(what: impl Into<String>) -> Self {
        Self { what: what.into(), may_have_arrived: false, is_configuration: false }
    }

    fn misconfigured(what: impl Into<String>) -> Self {
        Self { is_configuration: true, ..Self::certainly(what) }
    }
}

/// A way on which messages are sent.
#[derive(Clone)]
pub struct Channel {
    name: Arc<str>,
    audience: Arc<str>,
    way: Way,
}

#[derive(Clone)]
enum Way {
    /// One object a message.
    Webhook(Webhook),
    /// One mail a message.
    Mail(Mail),
}

impl Channel {
    /// `audience`: NAME of `[alerts.NAME]`; empty: everybody.
    fn new(audience: &str, way: Way) -> Self {
        let word = match way {
            Way::Webhook(_) => "webhook",
            Way::Mail(_) => "mail",
        };
        let name = if audience.is_empty() { word.to_owned() } else { format!("{word} of {audience}") };
        Self { name: name.into(), audience: audience.into(), way }
    }

    /// What stands in the ledger, in the log and on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a message.
    ///
    /// # Errors
    /// What went wrong, in words; then nobody got it.
    pub async fn send(&self, message: &Message) -> Result<Taken, Undelivered> {
        match &self.way {
            Way::Webhook(webhook) => webhook.send(message).await,
            Way::Mail(mail) => mail.send(message).await,
        }
    }

    /// Tries it without telling anybody anything. Returns the host.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub async fn check(&self) -> Result<String, Undelivered> {
        match &self.way {
            Way::Webhook(webhook) => webhook.check().await,
            Way::Mail(mail) => mail.check().await,
        }
    }
}

/// Everybody who is told.
#[derive(Clone, Default)]
pub struct Channels {
    /// The heartbeat, if there is one.
    pub heartbeat: Option<Heartbeat>,
    /// The ways on which messages are sent.
    pub messages: Vec<Channel>,
}

impl Channels {
    /// Any error of the configuration. Nothing is connected to, and no file is read.
    ///
    /// # Errors
    /// What is wrong with TLS or the proxy, in words.
    pub fn of(config: &Config) -> Result<Self, String> {
        let alerts = &config.alerts;
        if !alerts.tells_anybody() {
            return Ok(Self::default());
        }
        let client = client::client(&config.api)?;
        let mut messages = Vec::new();
        let mut add = |audience: &str, webhook: &Option<WebhookConfig>, mail: &Option<MailConfig>| {
            let section = if audience.is_empty() { "alerts".to_owned() } else { format!("alerts.{audience}") };
            let webhook = webhook.clone().map(|config| Way::Webhook(Webhook::new(client.clone(), config, &section)));
            let mail = mail.clone().map(|config| Way::Mail(Mail::new(config)));
            messages.extend(webhook.into_iter().chain(mail).map(|way| Channel::new(audience, way)));
        };
        add("", &alerts.webhook, &alerts.mail);
        alerts.receivers.iter().for_each(|some| add(&some.name, &some.webhook, &some.mail));
        Ok(Self { heartbeat: alerts.heartbeat.clone().map(|file| Heartbeat::new(client, file)), messages })
    }
}

/// The alarms of a running daemon.
pub struct Alerts {
    tasks: JoinSet<()>,
    stop: CancellationToken,
    channels: Channels,
    /// When a task panicked.
    broken_at: Option<tokio::time::Instant>,
}

/// How long to wait after a panic, until the tasks begin again.
const BROKEN_PAUSE: Duration = Duration::from_secs(60);

impl Alerts {
    /// Begins to watch the ledger and to send what is in its outbox; where nobody is to be told, nothing runs.
    ///
    /// # Errors
    /// What is wrong with TLS or the proxy, in words.
    pub fn start(config: &Config, ledger: &Ledger) -> Result<Self, String> {
        let channels = Channels::of(config)?;
        let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
        if !config.alerts.tells_anybody() {
            return Ok(Self { tasks, stop, channels, broken_at: None });
        }
        let (condition, felt) = watched::channel(beats::Condition::default());
        let posted: Vec<(Channel, Arc<Notify>)> =
            channels.messages.iter().map(|channel| (channel.clone(), Arc::new(Notify::new()))).collect();
        let (accounts, letterhead) = (config.accounts.values(), Letterhead::of(config));
        let watch = watch::Watch::new(watch::Watched {
            ledger: ledger.clone(),
            accounts: accounts.map(|a| (a.name.clone(), matches!(a.auth, Auth::OAuth(_)))).collect(),
            alerts: config.alerts.clone(),
            letterhead: letterhead.clone(),
            channels: posted.clone(),
            condition,
        });
        tasks.spawn(watch.run(stop.clone()));
        for (channel, posted) in posted {
            let post = post::Post {
                ledger: ledger.clone(),
                channel,
                letterhead: letterhead.clone(),
                retry: config.retry.clone(),
                posted,
                doubtful: (0, 0),
            };
            tasks.spawn(post.run(stop.clone()));
        }
        if let Some(heartbeat) = channels.heartbeat.clone() {
            tasks.spawn(beats::beat(heartbeat, felt, stop.clone()));
        }
        Ok(Self { tasks, stop, channels, broken_at: None })
    }

    /// Waits until one of the tasks has panicked, which is a defect, and then for a minute. All have to be started anew:
    /// nobody would notice that nobody is told any more.
    pub async fn broken(&mut self) {
        while self.broken_at.is_none() {
            match self.tasks.join_next().await {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    let what = "a task of the alerts ended and begins again in a minute. Please report this";
                    tracing::error!(event = "internal_error", "{what}: {error}");
                    self.broken_at = Some(tokio::time::Instant::now());
                }
                None => std::future::pending().await,
            }
        }
        let at = self.broken_at.unwrap_or_else(tokio::time::Instant::now);
        tokio::time::sleep_until(at + BROKEN_PAUSE).await;
    }

    /// The daemon ends because of its ledger: the monitor hears of it at once. Messages are not sent: a service that is
    /// started again and again would send one each time, and there is no ledger to remember that it did.
    pub async fn ledger_failed(&self) {
        if let Some(heartbeat) = &self.channels.heartbeat {
            // It is silent from now on in any case.
            let _ = tokio::time::timeout(DRAIN_LIMIT, heartbeat.beat(Beat::Bad)).await;
        }
    }

    /// Begins nothing new, and waits a moment for what is being sent. What was not sent stays in the outbox.
    pub async fn drain(mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // What is cut off may have arrived: that was recorded, and it is sent again under the same identifier.
        let _ = tokio::time::timeout(DRAIN_LIMIT, ended).await;
    }
}

/// A message that says that it is a test.
pub fn test_message(head: &Letterhead) -> Message {
    Message::new(message::new_id(), &Content::test(now()), head)
}
