//! `type = "webdav"`

use url::Url;

use super::super::build::Builder;
use super::super::settings;
use super::super::web::WebDavConfig;
use super::web::{connection, origin};
use super::{SECTION, remote};

pub(super) fn webdav(name: &str, mut raw: settings::Destination, builder: &mut Builder<'_>) -> Option<WebDavConfig> {
    let text = raw.url.take()?;
    let origin = origin(name, "url", &text, builder)?;
    let mut url = Url::parse(text.trim()).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
    if text.contains(['{', '}']) {
        url = None;
    }
    let Some(mut url) = url else {
        let fix =
            "Write the address of the collection alone; values such as {{ patient.lastName }} belong into `file_name`.";
        builder.error(SECTION, Some(name), "url", "holds values, a query or a fragment", fix);
        return None;
    };
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    if raw.path.as_ref().is_some_and(|path| !path.to_string_lossy().starts_with('/')) {
        let fix = "Write the folder below `url`, as in path = \"/letters\"; \"/\" is that itself.";
        builder.error(SECTION, Some(name), "path", "does not begin with a slash", fix);
        return None;
    }
    let folder = remote::folder(name, &mut raw, builder);
    let connection = connection(name, "url", origin, &mut raw, false, builder)?;
    Some(WebDavConfig { connection, url, folder: folder? })
}
