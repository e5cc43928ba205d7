//! `docsyncd alerts test`: sends a real message to everybody who would be told, and shows the answers.

use std::fmt::Write as _;

use futures_util::future::join_all;

use super::output::say;
use super::{Exit, Outcome, runtime, told};
use crate::config::Loaded;
use crate::formats::language::Language;
use crate::surfaces::alerts::{Beat, Channels, Letterhead, Taken, test_message};

pub(super) fn test(loaded: &Loaded, language: Language) -> Outcome {
    let channels = Channels::of(&loaded.config)
        .map_err(|wrong| told::said(told::because(language, "told-alarm", &[], &wrong), Exit::Usage))?;
    if channels.heartbeat.is_none() && channels.messages.is_empty() {
        return Err(told::usage(language, "alerts-nobody", &[]));
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
            Ok(Taken { code, .. }) => {
                let taken = language.fill("alerts-taken", &[("code", (&code.to_string()).into())]);
                writeln!(text, "ok    {name:<10} {taken}")
            }
            Err(wrong) => {
                let wrong = told::because(language, "told-alarm", &[], &wrong.to_string());
                writeln!(text, "FAIL  {name:<10} {wrong}")
            }
        };
        for refused in sent.iter().flat_map(|taken| &taken.refused) {
            let refused = told::because(language, "told-recipient", &[], &refused.to_string());
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
