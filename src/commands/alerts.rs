//! `docsyncd alerts test`: one real message to everybody who would be told, and what each answered.

use std::fmt::Write as _;

use futures_util::future::join_all;

use super::output::say;
use super::{Exit, Outcome, UsageError, runtime};
use crate::alerts::{Beat, Channels, Letterhead, Taken, test_message};
use crate::config::Loaded;

pub(super) fn test(loaded: &Loaded) -> Outcome {
    let channels = Channels::of(&loaded.config).map_err(UsageError)?;
    if channels.heartbeat.is_none() && channels.messages.is_empty() {
        let what =
            "nobody is told anything: there is no heartbeat_url_file, webhook_url_file or [alerts.mail] in [alerts]";
        return Err(UsageError(what.to_owned()).into());
    }
    let message = test_message(&Letterhead::of(&loaded.config));
    let (heartbeat, messages) = runtime()?.block_on(async {
        let heartbeat = async {
            match &channels.heartbeat {
                Some(heartbeat) => {
                    let beaten = heartbeat.beat(Beat::Good).await.map(Option::unwrap_or_default);
                    Some(("heartbeat", beaten.map(|code| Taken { code, refused: Vec::new() })))
                }
                None => None,
            }
        };
        let messages = channels.messages.iter().map(|channel| async { (channel.name(), channel.send(&message).await) });
        tokio::join!(heartbeat, join_all(messages))
    });
    let (mut text, mut failed, mut misconfigured) = (String::new(), false, false);
    for (name, sent) in heartbeat.into_iter().chain(messages) {
        // Writing to a String cannot fail.
        let _ = match &sent {
            Ok(Taken { code, .. }) => writeln!(text, "ok    {name:<10} took the message (answered {code})"),
            Err(wrong) => writeln!(text, "FAIL  {name:<10} {wrong}"),
        };
        for refused in sent.iter().flat_map(|taken| &taken.refused) {
            let _ = writeln!(text, "FAIL  {name:<10} {refused}");
        }
        misconfigured |= sent.as_ref().is_err_and(|wrong| wrong.is_configuration);
        failed |= sent.map_or(true, |taken| !taken.refused.is_empty());
    }
    say(&text)?;
    Ok(match (misconfigured, failed) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}
