//! `POST /documents/{uuid}/status`: an integration reports whether it has the document.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::Value;

use super::documents;
use super::input::InputBody;
use super::request_context::{PathParams, RequestContext};
use crate::describe::records::STATUS_INPUT;
use crate::hooks::{Event, announce};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::store::DocumentRow;

pub(super) async fn report(
    State(shared): State<Arc<Shared>>,
    PathParams(uuid): PathParams<String>,
    context: RequestContext,
    sent: InputBody,
) -> Result<Response, Problem> {
    // Symfony resolves the resource before it reads the body, so 404 and 403 come before 400 and 422.
    let report = sent.whole(&STATUS_INPUT, context.version);
    let at = shared.clock.key();
    let user_id = context.user.id;
    let quirks = Arc::clone(&context.quirks);
    let (row, last, post) = shared
        .store
        .decide(move |transaction| -> Result<_, Problem> {
            let row = DocumentRow::by_uuid(transaction, &uuid)?.ok_or_else(Problem::nothing_here)?;
            if row.owner_id != user_id {
                return Err(Problem::forbidden());
            }
            let report = report?;
            let success = report.get("success").and_then(Value::as_bool);
            let error = report.get("error").and_then(Value::as_str);
            let post = row.record_status(transaction, user_id, success, error, at)?;
            if !quirks.stays_listed {
                row.set_synchronized(transaction, success.is_some())?;
            }
            if quirks.touch_updated_at {
                row.touch(transaction, at)?;
            }
            announce(transaction, Event::DocumentUpdated, row.owner_id, row.id, at)?;
            let row = DocumentRow::by_id(transaction, row.id)?;
            let last = row.last_status(transaction)?;
            Ok((row, last, post))
        })
        .await?;
    shared.deliveries.notify_one();
    shared.journal.record_status(post);
    let size = documents::size_of(&shared, &row).await?;
    Ok(context.item(context.shape(&shared).document(&row, size, last.as_ref())))
}
