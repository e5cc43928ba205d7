//! Tests a bucket: puts an object, reads it back, puts it again on the condition that must refuse it, and removes it.
//! If the access key may not delete, nothing is put: a check leaves nothing.

use std::sync::atomic::Ordering;

use reqwest::Method;
use sha2::{Digest as _, Sha256};

use super::super::files::Digest;
use super::super::web_client::{Answer, Fault, Upload};
use super::super::{Checked, Outcome};
use super::{NO_BUCKET, S3Adapter, STANDARD};
use crate::destinations::remote::Source;
use base64::Engine as _;

/// The object of a check, after `prefix`: a few bytes of text.
const NAME: &str = ".docsyncd-check";
const CONTENT: &[u8] = b"docsyncd check\n";

pub(super) async fn check(adapter: &S3Adapter) -> Result<Checked, String> {
    let key = format!("{}{NAME}", adapter.config.prefix);
    let mut checked = Checked::default();
    let send = |method: Method, key: String| async move {
        adapter.send(method, &key, &[], None).await.map_err(Fault::into_reason)
    };
    let bucket = send(Method::HEAD, String::new()).await?;
    if !(200..300).contains(&bucket.status) {
        return Err(refused(adapter, bucket).await);
    }
    if adapter.sees_what_is_not_there(NAME).await.map_err(Outcome::into_reason)? {
        return Err(adapter.client.named(NO_BUCKET));
    }
    let removed = send(Method::DELETE, key.clone()).await?;
    // In a bucket with versioning, each of these calls leaves a version, even a DELETE.
    let mut versions: Vec<String> = version(&removed).into_iter().collect();
    match removed.status {
        200..=299 | 404 => {}
        403 => {
            checked.notes.push("the key may not delete, so nothing was written to try it".to_owned());
            return Ok(checked);
        }
        _ => return Err(refused(adapter, removed).await),
    }
    let mut first = put(adapter, &key, false, true).await?;
    let knows_sum = !matches!(first.status, 400 | 501);
    if !knows_sum {
        first = put(adapter, &key, false, false).await?;
        if (200..300).contains(&first.status) {
            adapter.refuses_sum.store(true, Ordering::Relaxed);
            checked.notes.push("it knows no checksum (x-amz-checksum-sha256): each object is read back".to_owned());
        }
    }
    versions.extend(version(&first));
    let tried = match first.status {
        200..=299 => put_again(adapter, &key, knows_sum).await,
        _ => Err(refused(adapter, first).await),
    };
    versions.extend(tried.as_ref().ok().and_then(version));
    // Whatever the result, nothing stays.
    let is_removed = remove(adapter, &key, &versions).await?;
    let second = tried?;
    if !is_removed {
        return Err(adapter.client.named(&format!("the object {NAME} of this check cannot be removed: remove it")));
    }
    match second.status {
        412 => checked.notes.push("it refuses to overwrite".to_owned()),
        status => checked.warnings.push(format!(
            "it does not know conditional writes (If-None-Match; status {status}): docsyncd looks before it writes, but cannot \
             prevent that another program writes the same key in the same moment. Put {{{{ document.uuid }}}} into `file_name`"
        )),
    }
    Ok(checked)
}

/// The version that an answer names; `None` in a bucket without versioning.
fn version(answer: &Answer) -> Option<String> {
    let named = answer.headers.get("x-amz-version-id").and_then(|value| value.to_str().ok());
    named.map(str::to_owned).filter(|version| !version.is_empty())
}

/// Reads the object back, and puts it again on the condition that must refuse it.
async fn put_again(adapter: &S3Adapter, key: &str, with_sum: bool) -> Result<Answer, String> {
    let answer = adapter.send(Method::GET, key, &[], None).await.map_err(Fault::into_reason)?;
    if answer.status != 200 {
        return Err(refused(adapter, answer).await);
    }
    let ours = Digest::of(CONTENT);
    if answer.content(ours.size, 0).await.digest != Some(ours) {
        return Err(adapter.client.named("it gives back something else than what was written: check `endpoint`"));
    }
    put(adapter, key, true, with_sum).await
}

/// Whether nothing of the check is left: removes its versions if it may, otherwise the object.
async fn remove(adapter: &S3Adapter, key: &str, versions: &[String]) -> Result<bool, String> {
    let remove = |version: Option<String>| async move {
        let answer = adapter.send_about(Method::DELETE, key, version.as_deref(), &[], None).await;
        answer.map(|answer| (200..300).contains(&answer.status)).map_err(Fault::into_reason)
    };
    let mut all = !versions.is_empty();
    for version in versions {
        all &= remove(Some(version.clone())).await?;
    }
    if all { Ok(true) } else { remove(None).await }
}

async fn put(adapter: &S3Adapter, key: &str, on_condition: bool, with_sum: bool) -> Result<Answer, String> {
    let sum = with_sum.then(|| ("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(CONTENT))));
    let mut headers: Vec<_> = sum.into_iter().collect();
    if on_condition {
        headers.push(("if-none-match", "*".to_owned()));
    }
    let upload = Upload::of_source(Source::of_bytes(CONTENT.to_vec()));
    adapter.send(Method::PUT, key, &headers, Some(upload)).await.map_err(Fault::into_reason)
}

async fn refused(adapter: &S3Adapter, answer: Answer) -> String {
    let refusal = adapter.refusal(answer).await;
    if refusal.is_found_nowhere() {
        return adapter.client.named("there is no such bucket: check `bucket`, `region` and `endpoint`");
    }
    refusal.outcome(&adapter.config.connection.name).into_reason()
}
