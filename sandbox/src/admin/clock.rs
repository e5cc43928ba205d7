//! `/admin/clock`: the sandbox's own time.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Entry;
use super::refusal::Refusal;
use super::taken::Taken;
use crate::quirks::DateFormat;
use crate::shared::Shared;
use crate::{duration_text, moment};

pub(super) const INDEX: &[Entry] = &[
    ("GET", "/admin/clock", "what time it is here, and how far that is ahead of the machine's"),
    (
        "POST",
        "/admin/clock",
        "moves the clock: {\"advance\": \"1h\"}, {\"set\": \"2026-12-24T18:00:00Z\"}, {\"reset\": true}",
    ),
];

/// The first and the last moment that this clock can be set to: 1970 and the end of 9998. What the sandbox computes
/// with them, such as the end of a token's life, must still be a date.
const RANGE: std::ops::Range<i64> = 0..253_370_764_800_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    advance: Option<String>,
    set: Option<String>,
    reset: Option<bool>,
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/admin/clock", get(show).post(change))
}

async fn show(State(shared): State<Arc<Shared>>) -> Json<Value> {
    state(&shared)
}

async fn change(State(shared): State<Arc<Shared>>, Taken(wish): Taken<Move>) -> Result<Json<Value>, Refusal> {
    let clock = &shared.clock;
    match wish {
        Move { advance: Some(text), set: None, reset: None } => {
            let by =
                duration_text::parse(&text).map_err(|error| Refusal::unprocessable(format!("advance: {error}")))?;
            let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
            within(clock.key().saturating_add(by))?;
            clock.advance(by);
        }
        Move { advance: None, set: Some(text), reset: None } => {
            let key = moment::parse(&text).ok_or_else(|| {
                Refusal::unprocessable(format!("set: \"{text}\" is no ISO 8601 date-time such as 2026-12-24T18:00:00Z"))
            })?;
            clock.set(within(key)?);
        }
        Move { advance: None, set: None, reset: Some(true) } => clock.reset(),
        Move { .. } => {
            return Err(Refusal::unprocessable(
                "say one of {\"advance\": \"1h\"}, {\"set\": \"2026-12-24T18:00:00Z\"} and {\"reset\": true}",
            ));
        }
    }
    Ok(state(&shared))
}

fn state(shared: &Shared) -> Json<Value> {
    let ahead = SignedDuration::from_micros(shared.clock.ahead());
    let seconds = ahead.round(jiff::Unit::Second).unwrap_or(ahead).as_secs();
    Json(json!({"now": shared.clock.now().show(DateFormat::ZuluMillis), "ahead_seconds": seconds}))
}

fn within(key: i64) -> Result<i64, Refusal> {
    if RANGE.contains(&key) && Timestamp::from_microsecond(key).is_ok() {
        Ok(key)
    } else {
        Err(Refusal::unprocessable("the clock shows the years 1970 to 9998 only"))
    }
}
