//! Alarms: a person is told once when something needs a person, and once when it is over.
//!
//! ```text
//! ledger ──facts──▶ health::assess ──▶ decide ──▶ alert and outbox (one transaction) ──▶ webhook, mail
//!                                                                       └──▶ heartbeat
//! ```
//!
//! Alarms run beside the stages and only read what the stages write: a mail server that hangs delays no document. A
//! message is a row in the ledger before it is sent. So it is sent also after a restart, and once: it has one
//! identifier, and each attempt is recorded before it begins. All is bounded: each cause has one open alert, each alert
//! has one waiting message for a channel, an attempt takes half a minute, and a message that nobody takes for a week is
//! given up.
//!
//! No message holds patient data, the name of a file, or the words of a server or program: see [`message`].

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

/// How long a message that is being sent may take to finish when docsyncd stops.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Undelivered {
    /// What went wrong, in our own words, without an address.
    pub what: String,
    /// Whether it may have arrived all the same.
    pub may_have_arrived: bool,
    /// Whether a person has to mend the configuration, or a file that it names.
    pub is_configuration: bool,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The code of the answer.
    pub code: u16,
    /// The recipients who were refused, each with the reason. These are addresses: for a terminal, not for the log.
    pub refused: Vec<String>,
}

impl Taken {
    /// Logs how many recipients were refused.
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

/// A way to send messages.
#[derive(Clone)]
pub struct Channel {
    name: Arc<str>,
    audience: Arc<str>,
    way: Way,
}

#[derive(Clone)]
enum Way {
    /// Sends each message as one object.
    Webhook(Webhook),
    /// Sends each message as one mail.
    Mail(Mail),
}

impl Channel {
    /// `audience`: NAME of `[alerts.NAME]`; empty for everybody.
    fn new(audience: &str, way: Way) -> Self {
        let word = match way {
            Way::Webhook(_) => "webhook",
            Way::Mail(_) => "mail",
        };
        let name = if audience.is_empty() { word.to_owned() } else { format!("{word} of {audience}") };
        Self { name: name.into(), audience: audience.into(), way }
    }

    /// Its name in the ledger, in the log and on the command line.
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

    /// Tries the channel without sending a message. Returns the host.
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

/// The channels of a configuration.
#[derive(Clone, Default)]
pub struct Channels {
    /// The heartbeat, if there is one.
    pub heartbeat: Option<Heartbeat>,
    /// The channels for messages.
    pub messages: Vec<Channel>,
}

impl Channels {
    /// The channels of this configuration. Connects to nothing, and reads no file.
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
    /// Begins to watch the ledger and to send what is in its outbox. Without any channel, nothing runs.
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

    /// Waits until a task has panicked (a defect), and then for a minute. All tasks have to be started again, because
    /// otherwise nobody would hear of anything any more.
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

    /// The daemon ends because of its ledger. Tells the monitor at once. No message is sent: a service that starts
    /// again and again would send one each time, because it has no ledger to remember it.
    pub async fn ledger_failed(&self) {
        if let Some(heartbeat) = &self.channels.heartbeat {
            // Without an answer, the monitor hears nothing from now on, and notices that.
            let _ = tokio::time::timeout(DRAIN_LIMIT, heartbeat.beat(Beat::Bad)).await;
        }
    }

    /// Begins nothing new, and waits a moment for what is being sent. The rest stays in the outbox.
    pub async fn drain(mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // A message that is cut off may have arrived. That is recorded, and it is sent again with the same identifier.
        let _ = tokio::time::timeout(DRAIN_LIMIT, ended).await;
    }
}

/// A message that says it is a test.
pub fn test_message(head: &Letterhead) -> Message {
    Message::new(message::new_id(), &Content::test(now()), head)
}
