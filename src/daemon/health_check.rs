//! Whether the daemon is alive, and what it does.

use std::time::Duration;

use crate::pipeline::Context;
use crate::views;

/// How long the ledger may take to answer: a commit to a slow disk, behind others. After that it counts as hanging.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Checks that every loop goes on and that both threads of the ledger answer; an error is an answer, too. Returns in
/// words for a person what the daemon does.
///
/// # Errors
/// What hangs, in words.
pub(super) async fn check(context: &Context) -> Result<String, String> {
    if let Some(name) = context.signals.heartbeats.overdue() {
        return Err(format!("{name} does not go on"));
    }
    let ledger = &context.edges.ledger;
    let answers = async { tokio::join!(ledger.write(|_| Ok(())), ledger.read(views::summary)) };
    match tokio::time::timeout(ANSWER_LIMIT, answers).await {
        Ok((_, Ok(summary))) => Ok(summary.in_words()),
        Ok((_, Err(error))) => Ok(error.to_string()),
        Err(_) => Err("the ledger does not answer".to_owned()),
    }
}
