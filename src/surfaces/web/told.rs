//! Tells a page that is open when there is something new (server-sent events; HTML, section 9.2): the page asks for it
//! then. What is told holds nothing of a letter.
//!
//! At rest that is a look at a number of SQLite's every few seconds, as long as a page is open and seen, and a short
//! line now and then that says that all is as it was.

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

/// Pages that are told at once.
pub(super) const MOST: usize = 16;
/// How often is looked.
const LOOK: Duration = Duration::from_secs(2);
/// Looks after which a page is told that all is as it was: when that stays away, docsyncd has stopped.
const ALIVE: u32 = 7;
/// Looks after which is looked at what changes by itself, as time goes by.
const AS_TIME_GOES_BY: u32 = 30;

/// Begins to tell, until one of both sides ends it.
pub(super) fn begin(context: Shared, setup: Setup, place: OwnedSemaphorePermit) -> UnsyncBoxBody<Bytes, io::Error> {
    let (sender, lines) = mpsc::channel(1);
    tokio::spawn(async move {
        let _place = place;
        tokio::select! {
            () = context.stop.cancelled() => {}
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
        let (setup, fails_since) = (setup.clone(), context.ledger_fails_since());
        let read = context.ledger.read(move |db| {
            let overview = looks_closely.then(|| facts::overview(db, &setup, fails_since)).transpose()?;
            Ok((measures::version(db)?, overview))
        });
        // Of a ledger that cannot be read nothing is told: the page says so itself after a while.
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
