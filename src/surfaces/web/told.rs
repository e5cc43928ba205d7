//! Tells an open page that something changed (server-sent events; HTML, section 9.2), and then the page reloads. The
//! events hold nothing of a letter.
//!
//! Without changes this costs little: a read of one number of SQLite's every few seconds while a page is visible, and
//! now and then an event that docsyncd is alive.

use std::io;
use std::time::Duration;

use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};
use jiff::Zoned;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::facts::{self, Setup};
use crate::pipeline::Shared;
use crate::views::measures;

/// The most pages that are told.
pub(super) const MOST: usize = 16;
/// The time between two looks.
const LOOK: Duration = Duration::from_secs(2);
/// After so many looks the page is told that docsyncd is alive. If that is missing, docsyncd has stopped.
const ALIVE: u32 = 7;
/// After so many looks, what changes merely with time is read, too.
const AS_TIME_GOES_BY: u32 = 30;

/// Tells one page, until either side ends it.
pub(super) fn begin(context: Shared, setup: Setup, place: OwnedSemaphorePermit) -> UnsyncBoxBody<Bytes, io::Error> {
    let (sender, lines) = mpsc::channel(1);
    tokio::spawn(async move {
        let _place = place;
        tokio::select! {
            () = context.signals.stop.cancelled() => {}
            () = sender.closed() => {}
            () = tell(&context, &setup, &sender) => {}
        }
    });
    let next = |mut lines: mpsc::Receiver<Bytes>| async move { Some((Ok(Frame::data(lines.recv().await?)), lines)) };
    StreamBody::new(stream::unfold(lines, next)).boxed_unsync()
}

async fn tell(context: &Shared, setup: &Setup, sender: &mpsc::Sender<Bytes>) {
    let (mut seen, mut stood) = (None, None);
    let mut line = "retry: 3000\n".to_owned();
    for look in 0_u32.. {
        let looks_closely = look % AS_TIME_GOES_BY == 0;
        let (setup, fails_since) = (setup.clone(), context.signals.ledger_fails_since());
        let read = context.edges.ledger.read(move |db| {
            let overview = looks_closely.then(|| facts::overview(db, &setup, fails_since)).transpose()?;
            Ok((measures::version(db)?, overview))
        });
        // If the ledger cannot be read, the page notices the silence.
        if let Ok((version, overview)) = read.await {
            let stands = overview.map(|overview| (overview.health, overview.now.date()));
            let changed = seen.replace(version).is_some_and(|seen| seen != version)
                || stands.is_some() && stood.is_some() && stands != stood;
            stood = stands.or(stood);
            if changed {
                line.push_str("event: changed\ndata:\n\n");
            } else if look % ALIVE == 0 {
                let now = Zoned::now();
                line.push_str(&format!("event: alive\ndata: {:02}:{:02}\n\n", now.hour(), now.minute()));
            }
        }
        if !line.is_empty() && sender.send(Bytes::from(std::mem::take(&mut line))).await.is_err() {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
