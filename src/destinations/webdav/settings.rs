//! `type = "webdav"`

use crate::destinations::settings::remote::RemoteFolder;
use crate::destinations::settings::*;

/// How it is registered.
pub(crate) static KIND: DestinationKind = DestinationKind {
    word: "webdav",
    keys: &[NAMED, SIGN_IN, LIMITS, &[SharedKeys::url], WEB, FILED],
    check: |at| Some(Arc::new(webdav(at)?)),
    presets: presets!("webdav"),
};

/// `type = "webdav"`
#[derive(Debug, Clone)]
pub struct WebDavConfig {
    /// How to reach the server.
    pub connection: WebConnection,
    /// The collection that contains `path`; without a slash at its end.
    pub url: Url,
    /// Where files go, and their names.
    pub folder: RemoteFolder,
}

impl Settings for WebDavConfig {
    fn confirm(&self) -> Option<&Confirm> {
        self.folder.confirm.as_ref()
    }

    fn server(&self) -> Option<(String, u16)> {
        self.connection.dialled()
    }
}

fn webdav(at: &mut At<'_, '_>) -> Option<WebDavConfig> {
    let mut raw: SharedKeys = at.read()?;
    let text = raw.url.take()?;
    let origin = origin(at, "url", &text)?;
    let mut url = Url::parse(text.trim()).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
    if text.contains(['{', '}']) {
        url = None;
    }
    let Some(mut url) = url else {
        let fix =
            "Write the address of the collection alone; values such as {{ patient.lastName }} belong into `file_name`.";
        return at.refuse("url", "holds values, a query or a fragment", fix);
    };
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    if raw.path.as_ref().is_some_and(|path| !path.to_string_lossy().starts_with('/')) {
        let fix = "Write the folder below `url`, as in path = \"/letters\"; \"/\" is that itself.";
        return at.refuse("path", "does not begin with a slash", fix);
    }
    let folder = remote::folder(at, &mut raw);
    let connection = connection(at, "url", origin, &mut raw, false)?;
    Some(WebDavConfig { connection, url, folder: folder? })
}
