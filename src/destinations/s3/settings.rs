//! `type = "s3"`

use crate::config::build::At;
use crate::config::settings;
use crate::config::web::S3Config;
use crate::destinations::settings::template;
use crate::destinations::settings::web::{connection, secret};
use crate::formats::template::TemplateKind;

pub(crate) fn s3(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<S3Config> {
    let secret = secret(at, "secret_access_key_file", raw.secret_access_key_file.take(), raw.secret_access_key.take());
    if secret.is_none() {
        let fix = "Write the secret into a file that only docsyncd may read: secret_access_key_file = \"...\".";
        let origin = at.origin("type");
        at.builder.report.error(origin, format!("`destinations.{}.secret_access_key_file` is missing", at.name()), fix);
    }
    let bucket = raw.bucket.take()?;
    if bucket.contains(['/', '\\', ' ', ':']) || matches!(bucket.as_str(), "." | "..") {
        let fix = "Write the bucket's name alone; folders stand in `prefix`, the service in `endpoint`.";
        return at.refuse("bucket", "is not the name of a bucket", fix);
    }
    let prefix = raw.prefix.take().unwrap_or_default();
    let leads_away = prefix.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
    if prefix.starts_with('/') || prefix.contains('\\') || leads_away || prefix.chars().any(char::is_control) {
        let fix = "Write it without a slash at its beginning, as in prefix = \"letters/\".";
        return at.refuse("prefix", "cannot begin keys", fix);
    }
    let file_name = template(at, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?);
    let endpoint = raw.endpoint.take()?;
    let path_style = raw.force_path_style.unwrap_or(true);
    let connection = connection(at, "endpoint", endpoint.clone(), &mut raw, true)?;
    Some(S3Config {
        connection,
        endpoint,
        region: raw.region.take()?,
        bucket,
        prefix,
        access_key_id: raw.access_key_id.take()?,
        secret_access_key: secret?,
        path_style,
        storage_class: raw.storage_class.take(),
        server_side_encryption: raw.server_side_encryption.take(),
        falls_back: raw.conditional.as_deref() != Some("always"),
        file_name: file_name?,
    })
}
