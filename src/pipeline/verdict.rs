//! Verdicts that end a document, and that others may still show to be no fault of its own: kept from the API for a moment,
//! and taken back.

use std::time::Duration;

use super::Context;
use super::failure::{Work, insist, refuse};
use super::gates::{Scope, after};
use super::stage::took;
use crate::ledger::verdicts::{self, TakenBack, Verdict};
use crate::ledger::{LedgerError, Millis, now};

/// How long a document's failure is kept from the API: those that fail in the same way right after it show that it was
/// none of its own. `retry.max` when that is shorter; twice what the attempt took when that is longer, as the next one may
/// take as long, but no longer than `docsyncd sync` waits.
const REPORT_HOLD: Duration = Duration::from_secs(1);
const LONGEST_HOLD: Duration = Duration::from_secs(4);
/// Stands between why a document failed and why the API refused to hear of it.
pub(super) const REPORT_REFUSED: &str = " (the API refused the report of this: ";

/// Ends a document by a verdict that others may still show to be about the origin or destination.
pub(super) async fn convict(
    context: &Context,
    scope: &Scope,
    class: &str,
    work: Work<'_>,
    reason: &str,
) -> Result<(), LedgerError> {
    refuse(context, work, reason).await?;
    let id = work.document().id;
    // Others of its kind may have closed the gate while this was written.
    if context.gates.is_closed_by(scope, class) {
        return take_back(context, scope, vec![id], reason).await;
    }
    hold_reports(context, scope, class, id).await
}

/// Verdicts that turned out to be about the origin or destination end no document: those that they ended wait with the
/// others, unless the API may know of their failure already.
pub(super) async fn take_back(
    context: &Context,
    scope: &Scope,
    ids: Vec<i64>,
    reason: &str,
) -> Result<(), LedgerError> {
    let verdict = match scope {
        Scope::Report(_) => Verdict::Report,
        Scope::Destination(name) => Verdict::Delivery(name.clone()),
        _ => Verdict::Document,
    };
    let TakenBack { states, sent } = insist(context, || {
        let (ids, verdict, reason) = (ids.clone(), verdict.clone(), reason.to_owned());
        move |db| verdicts::take_back(db, &ids, &verdict, &reason, now())
    })
    .await?;
    if sent > 0 {
        tracing::warn!(
            event = "not_taken_back",
            count = sent,
            reason,
            "{sent} verdicts stand although others share the failure, as the API may know of them: docsyncd retry --failed"
        );
    }
    if !states.is_empty() {
        let count = states.len();
        tracing::warn!(
            event = "taken_back",
            count,
            reason,
            "{count} verdicts are taken back, as others share the failure"
        );
    }
    for state in states {
        context.nudges.after(state);
    }
    Ok(())
}

/// Documents that fail alike one after another keep each other's reports back, however slowly they come: the next one may
/// show that it is none of their own.
pub(super) async fn hold_reports(
    context: &Context,
    scope: &Scope,
    class: &str,
    failed: i64,
) -> Result<(), LedgerError> {
    let mut ids = context.gates.failed_alike(scope, class);
    ids.retain(|id| *id != failed);
    if ids.is_empty() {
        return Ok(());
    }
    let until = report_at(context);
    context.ledger.write(move |db| ids.iter().try_for_each(|id| verdicts::hold_report(db, *id, until))).await
}

/// When a failure of this moment is reported.
pub(super) fn report_at(context: &Context) -> Millis {
    after(now(), REPORT_HOLD.min(context.retry.max).max((2 * took()).min(LONGEST_HOLD)))
}
