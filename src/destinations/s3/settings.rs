//! `type = "s3"`

use crate::destinations::settings::web::secret;
use crate::destinations::settings::*;

settings! {
    /// Its own values in `[destinations.NAME]`.
    "destinations.*." S3Keys {
        endpoint: Option<Url>, Kind::Address, "address of the S3 service", required();
        region: Option<String>, Kind::Text, "region that signatures name", default("us-east-1");
        bucket: Option<String>, Kind::Text, "the bucket; it must exist", required();
        prefix: Option<String>, Kind::Text, "what every key begins with";
        access_key_id: Option<String>, Kind::Text, "identifier of the access key", required();
        secret_access_key_file: Option<PathBuf>, Kind::SecretFile, "file that holds the secret access key";
        secret_access_key: Option<SecretString>, Kind::Secret, "the secret itself, from the environment only";
        force_path_style: Option<bool>, Kind::Bool, "whether the bucket stands in the path, not in the host",
            default("true");
        storage_class: Option<String>, Kind::Text, "storage class of the objects";
        server_side_encryption: Option<String>, Kind::Text, "encryption that is asked for";
        conditional: Option<String>, Kind::Enum(&["auto", "always"]),
            "what happens where the service does not know conditional writes", default("auto");
    }
}

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "s3",
    keys: &[&[SharedKeys::file_name], LIMITS, TLS, &[SharedKeys::proxy, CommonKeys::expect_taken], S3Keys::KEYS],
    check: |at| Some(Arc::new(s3(at)?)),
    presets: presets!("s3"),
};

/// `type = "s3"`
#[derive(Debug, Clone)]
pub struct S3Config {
    /// How to reach the service; requests are signed.
    pub connection: WebConnection,
    /// The service; its path ends with a slash.
    pub endpoint: Url,
    /// The region that signatures name.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// The start of every key.
    pub prefix: String,
    /// The identifier of the access key.
    pub access_key_id: String,
    /// The secret that signs.
    pub secret_access_key: Secret,
    /// Whether the bucket is in the path; otherwise it is a part of the host.
    pub path_style: bool,
    /// For example `STANDARD_IA`.
    pub storage_class: Option<String>,
    /// For example `AES256`.
    pub server_side_encryption: Option<String>,
    /// Whether a service that does not know the condition gets a PUT without it.
    pub falls_back: bool,
    /// The object's name after `prefix`; its own slashes stay.
    pub file_name: Arc<Template>,
}

impl Settings for S3Config {
    fn server(&self) -> Option<(String, u16)> {
        self.connection.dialled()
    }
}

fn s3(at: &mut At<'_, '_>) -> Option<S3Config> {
    let (mut raw, mut own): (SharedKeys, S3Keys) = (at.read()?, at.read()?);
    let secret = secret(at, "secret_access_key_file", own.secret_access_key_file.take(), own.secret_access_key.take());
    if secret.is_none() {
        let fix = "Write the secret into a file that only docsyncd may read: secret_access_key_file = \"...\".";
        let origin = at.origin("type");
        at.builder.report.error(origin, format!("`destinations.{}.secret_access_key_file` is missing", at.name()), fix);
    }
    let bucket = own.bucket.take()?;
    if bucket.contains(['/', '\\', ' ', ':']) || matches!(bucket.as_str(), "." | "..") {
        let fix = "Write the bucket's name alone; folders stand in `prefix`, the service in `endpoint`.";
        return at.refuse("bucket", "is not the name of a bucket", fix);
    }
    let prefix = own.prefix.take().unwrap_or_default();
    let leads_away = prefix.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
    if prefix.starts_with('/') || prefix.contains('\\') || leads_away || prefix.chars().any(char::is_control) {
        let fix = "Write it without a slash at its beginning, as in prefix = \"letters/\".";
        return at.refuse("prefix", "cannot begin keys", fix);
    }
    let file_name = template(at, "file_name", TemplateKind::RemoteName, &raw.file_name.take()?);
    let endpoint = own.endpoint.take()?;
    let path_style = own.force_path_style.unwrap_or(true);
    let connection = connection(at, "endpoint", endpoint.clone(), &mut raw, true)?;
    Some(S3Config {
        connection,
        endpoint,
        region: own.region.take()?,
        bucket,
        prefix,
        access_key_id: own.access_key_id.take()?,
        secret_access_key: secret?,
        path_style,
        storage_class: own.storage_class.take(),
        server_side_encryption: own.server_side_encryption.take(),
        falls_back: own.conditional.as_deref() != Some("always"),
        file_name: file_name?,
    })
}
