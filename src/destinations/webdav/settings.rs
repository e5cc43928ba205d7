//! `type = "webdav"`

use url::Url;

use crate::config::build::At;
use crate::config::settings;
use crate::config::web::WebDavConfig;
use crate::destinations::settings::remote;
use crate::destinations::settings::web::{connection, origin};

pub(crate) fn webdav(at: &mut At<'_, '_>, mut raw: settings::Destination) -> Option<WebDavConfig> {
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
