//! What an answer to PROPFIND says about a resource, or about those in a folder. Only a few facts are needed, and
//! nothing else of it is used, so the code walks through the tags and builds no document.

use std::time::UNIX_EPOCH;

use percent_encoding::percent_decode_str;

use super::super::confirm::Entry;

/// What an answer says about a resource (RFC 4918, sections 14.24, 15.4, 15.7 and 15.9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Resource {
    /// The last part of its address.
    name: Option<String>,
    pub(super) is_folder: bool,
    /// In bytes.
    pub(super) size: Option<u64>,
    /// The time of its last change, in seconds.
    pub(super) modified: Option<u64>,
    /// The status of the resource itself, not of single properties.
    pub(super) status: Option<u16>,
}

/// The resources that the answer describes whole.
pub(super) fn read(xml: &str) -> Vec<Resource> {
    let (mut found, mut rest) = (Vec::new(), xml);
    let (mut resource, mut in_property) = (Resource::default(), false);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        let value = || text.split('<').next().unwrap_or_default().trim();
        let (is_end, name) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
        let name = name.split([' ', '\t', '\r', '\n', '/']).next().unwrap_or_default();
        // Whatever prefix the server uses for the namespace.
        match (name.rsplit(':').next().unwrap_or_default(), is_end) {
            ("response", false) => resource = Resource::default(),
            ("response", true) => found.push(std::mem::take(&mut resource)),
            ("propstat", _) => in_property = !is_end,
            ("collection", false) => resource.is_folder = true,
            // The first one is the resource's own; others are in properties.
            ("href", false) if resource.name.is_none() => {
                let last = value().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                resource.name = Some(percent_decode_str(&unescaped(last)).decode_utf8_lossy().into_owned());
            }
            ("getcontentlength", false) => resource.size = resource.size.or(value().parse().ok()),
            ("getlastmodified", false) => {
                let at = httpdate::parse_http_date(value()).ok();
                resource.modified = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs());
            }
            ("status", false) if !in_property => {
                resource.status = value().split_whitespace().nth(1).and_then(|status| status.parse().ok());
            }
            _ => {}
        }
        rest = text;
    }
    found
}

/// The files in a list of a folder. A name that leads elsewhere is ignored.
pub(super) fn files(xml: &str) -> Vec<Entry> {
    let files = read(xml).into_iter().filter(|resource| !resource.is_folder);
    let entry = |Resource { name, size, modified, .. }| Some(Entry { name: name?, size, modified });
    files.filter_map(entry).filter(|file| !file.name.contains(['/', '\\'])).collect()
}

/// A text of XML without its escapes (XML 1.0, section 4.1). Others than XML's own are left as they are.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest))) {
            Some((meant, rest)) => {
                plain.push(meant);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// What an escape stands for, by its name or number.
fn character(name: &str) -> Option<char> {
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        },
        None => {
            let known = [("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("amp", '&')];
            return known.into_iter().find(|(known, _)| *known == name).map(|(_, meant)| meant);
        }
    };
    code.ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_a_folder_are_told_apart_whatever_the_names_of_the_namespaces() {
        let read = |xml: &str| super::read(xml).first().map(|resource| (resource.is_folder, resource.size));
        for (xml, expected) in [
            (
                "<?xml version='1.0'?><ns0:multistatus xmlns:ns0=\"DAV:\"><ns0:response><ns0:href>/collection/a</ns0:href>\
                 <ns0:propstat><ns0:prop><ns0:resourcetype /><ns0:getcontentlength>15</ns0:getcontentlength></ns0:prop>\
                 <ns0:status>HTTP/1.1 200 OK</ns0:status></ns0:propstat></ns0:response></ns0:multistatus>",
                Some((false, Some(15))),
            ),
            (
                "<D:response xmlns:D=\"DAV:\"><D:resourcetype><D:collection xmlns:D=\"DAV:\"/></D:resourcetype></D:response>",
                Some((true, None)),
            ),
            ("<response xmlns=\"DAV:\"><resourcetype><collection/></resourcetype></response>", Some((true, None))),
            ("<d:response><d:getcontentlength/></d:response>", Some((false, None))),
            ("<html></html>", None),
            ("no xml <", None),
            ("", None),
        ] {
            assert_eq!(read(xml), expected, "{xml}");
        }
    }

    #[test]
    fn the_status_of_a_resource_is_told_from_those_of_its_properties() {
        let of_property =
            "<d:propstat><d:prop><d:quota/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>";
        let of_itself = "<d:status>HTTP/1.1 410 Gone</d:status>";
        for (inner, expected) in [(of_property, None), (of_itself, Some(410)), ("<d:status/>", None)] {
            let xml = format!("<d:multistatus><d:response><d:href>/a</d:href>{inner}</d:response></d:multistatus>");
            assert_eq!(read(&xml)[0].status, expected, "{xml}");
        }
    }

    #[test]
    fn a_list_tells_of_the_files_in_a_folder_however_it_is_written() {
        let list = |responses: &str| format!("<D:multistatus xmlns:D=\"DAV:\">{responses}</D:multistatus>");
        let collection = "<D:response><D:href>/dav/in%20box/</D:href><D:propstat><D:prop><D:getlastmodified>Thu, 01 Jan 1970 00:00:09 \
                          GMT</D:getlastmodified><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>";
        let letter = "<D:response><D:href>http://h.test/dav/in%20box/M%C3%BCller%20&amp;%20Co%3B1.pdf</D:href><D:propstat><D:prop>\
                      <D:owner><D:href>/users/pms</D:href></D:owner><D:resourcetype/><D:getcontentlength>15</D:getcontentlength>\
                      <D:getlastmodified>Thu, 01 Jan 1970 00:00:07 GMT</D:getlastmodified></D:prop></D:propstat></D:response>";
        let bare = "<response>\r\n<href> bare.pdf </href></response>";
        let elsewhere = "<response><href>/dav/..%2Fother.pdf</href></response>";
        let named = |name: &str, size, modified| Entry { name: name.to_owned(), size, modified };
        let expected = [named("Müller & Co;1.pdf", Some(15), Some(7)), named("bare.pdf", None, None)];
        assert_eq!(files(&list(&[collection, letter, bare, elsewhere].concat())), expected);
        let escaped =
            "<response><href>/dav/&lt;M&#252;ller&#x20;&amp;amp; Co&#59;&nbsp;&#xD800;&#;.pdf</href></response>";
        assert_eq!(files(&list(escaped))[0].name, "<Müller &amp; Co;&nbsp;&#xD800;&#;.pdf");
        // Cut off in the middle.
        assert_eq!(files(&format!("{letter}{}", &letter[..letter.len() - 20])).len(), 1);
        assert_eq!(files("no xml <"), []);
    }
}
