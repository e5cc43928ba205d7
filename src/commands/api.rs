//! `docsyncd api`: one authenticated call, for a person who has to see what the API really answers.

use super::harmless::Form;
use super::output::{complain, print_as};
use super::{Exit, Outcome, UsageError, interruptible, runtime};
use crate::api::Transport;
use crate::config::{Account, Loaded};
use crate::daemon::{self, DaemonError};

pub(super) fn api(loaded: &Loaded, method: &str, path: &str, body: Option<String>, account: Option<&str>) -> Outcome {
    let account = choose(loaded, account)?;
    if let Some(body) = &body {
        serde_json::from_str::<serde_json::Value>(body)
            .map_err(|error| UsageError(format!("--body is not JSON: {error}")))?;
    }
    let transport = Transport::new(&loaded.config.api).map_err(DaemonError::Transport)?;
    let client = daemon::client(&transport, &loaded.config, account);
    let target = client.target(method, path).map_err(UsageError)?;
    client.credentials().configured().map_err(DaemonError::Credential)?;
    let call = client.raw(target, body.map(String::into_bytes));
    let answer = runtime()?.block_on(interruptible([&client], call))?;
    let mut text = answer.body;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    print_as(&text, Form::Exact)?;
    if (200..300).contains(&answer.status) {
        return Ok(Exit::Done);
    }
    complain(&format!("docsyncd: HTTP {}", answer.status));
    Ok(Exit::Failed)
}

fn choose<'a>(loaded: &'a Loaded, name: Option<&str>) -> Result<&'a Account, UsageError> {
    let accounts = &loaded.config.accounts;
    let names = || accounts.keys().cloned().collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => {
            accounts.get(name).ok_or_else(|| UsageError(format!("there is no account {name}; there are: {}", names())))
        }
        None if accounts.len() == 1 => {
            accounts.values().next().ok_or_else(|| UsageError("there is no account".to_owned()))
        }
        None => Err(UsageError(format!("there are several accounts: choose one with --account ({})", names()))),
    }
}
