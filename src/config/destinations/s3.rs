//! `type = "s3"`

use super::super::build::Builder;
use super::super::settings;
use super::super::web::S3Config;
use super::web::{connection, secret};
use super::{SECTION, template};
use crate::template::TemplateKind;

pub(super) fn s3(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<S3Config> {
    let secret = secret(
        name,
        "secret_access_key_file",
        raw.secret_access_key_file.take(),
        raw.secret_access_key.take(),
        builder,
    );
    if secret.is_none() {
        let fix = "Write the secret into a file that only docsyncd may read: secret_access_key_file = \"...\".";
        let origin = builder.origin(SECTION, Some(name), "type");
        builder.report.error(origin, format!("`{SECTION}.{name}.secret_access_key_file` is missing"), fix);
    }
    let bucket = raw.bucket.take()?;
    if bucket.contains(['/', '\\', ' ', ':']) || matches!(bucket.as_str(), "." | "..") {
        let fix = "Write the bucket's name alone; folders stand in `prefix`, the service in `endpoint`.";
        builder.error(SECTION, Some(name), "bucket", "is not the name of a bucket", fix);
        return None;
    }
    let prefix = raw.prefix.take().unwrap_or_default();
    let leads_away = prefix.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
    if prefix.starts_with('/') || prefix.contains('\\') || leads_away || prefix.chars().any(char::is_control) {
        let fix = "Write it without a slash at its beginning, as in prefix = \"letters/\".";
        builder.error(SECTION, Some(name), "prefix", "cannot begin keys", fix);
        return None;
    }
    let file_name = template(name, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?, builder);
    let endpoint = raw.endpoint.take()?;
    let path_style = raw.force_path_style.unwrap_or(true);
    let connection = connection(name, "endpoint", endpoint.clone(), &mut raw, true, builder)?;
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
