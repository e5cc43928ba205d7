//! What an answer to PROPFIND says about a resource, or about those in a folder. Only a few facts are needed, and
//! nothing else of it is used, so the code walks through the tags and builds no document.

use std::time::UNIX_EPOCH;

use percent_encoding::percent_decode_str;

use super::super::confirm::Entry;

/// The properties of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    /// Whether the answer describes any resource.
    pub(super) is_resource: bool,
    pub(super) is_folder: bool,
    /// In bytes.
    pub(super) size: Option<u64>,
    /// The status of the resource itself, not of single properties (RFC 4918, section 14.24).
    pub(super) status: Option<u16>,
}

/// Reads whether the resource is a collection, and its size if given (RFC 4918, sections 15.4 and 15.9).
pub(super) fn read(xml: &str) -> Properties {
    let mut properties = Properties::default();
    let (mut rest, mut in_property) = (xml, false);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        let closing = tag.strip_prefix('/');
        let name = closing.unwrap_or(tag).split([' ', '\t', '\r', '\n', '/']).next().unwrap_or_default();
        // Whatever prefix the server uses for the namespace.
        match name.rsplit(':').next().unwrap_or_default() {
            "propstat" => in_property = closing.is_none(),
            _ if closing.is_some() => {}
            "response" => properties.is_resource = true,
            "collection" => properties.is_folder = true,
            "getcontentlength" if properties.size.is_none() => {
                properties.size = text.split('<').next().and_then(|text| text.trim().parse().ok());
            }
            "status" if !in_property => {
                properties.status =
                    text.split('<').next().and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            }
            _ => {}
        }
        rest = text;
    }
    properties
}

/// The files in a list of a folder, with the time of their last change in seconds (RFC 4918, sections 14.24 and 15.7).
pub(super) fn files(xml: &str) -> Vec<Entry> {
    let (mut files, mut rest) = (Vec::new(), xml);
    let (mut file, mut is_file) = (None::<Entry>, false);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        let value = || text.split('<').next().unwrap_or_default().trim();
        let (is_end, name) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
        let name = name.split([' ', '\t', '\r', '\n', '/']).next().unwrap_or_default();
        match (name.rsplit(':').next().unwrap_or_default(), is_end, &mut file) {
            ("response", true, _) => files.extend(file.take().filter(|_| is_file)),
            ("response", false, _) => (file, is_file) = (None, true),
            ("collection", false, _) => is_file = false,
            // The first one is the file's own; others are in properties.
            ("href", false, None) => {
                let last = value().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                let name = percent_decode_str(&unescaped(last)).decode_utf8_lossy().into_owned();
                // A name that leads elsewhere is ignored.
                is_file &= !name.contains(['/', '\\']);
                file = Some(Entry { name, size: None, modified: None });
            }
            ("getcontentlength", false, Some(file)) => file.size = value().parse().ok(),
            ("getlastmodified", false, Some(file)) => {
                let at = httpdate::parse_http_date(value()).ok();
                file.modified = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs());
            }
            _ => {}
        }
        rest = text;
    }
    files
}

/// A text of XML without its escapes.
fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ];
    pairs.into_iter().fold(text.to_owned(), |text, (written, meant)| text.replace(written, meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_a_folder_are_told_apart_whatever_the_names_of_the_namespaces() {
        let read = |xml: &str| {
            let Properties { is_folder, size, .. } = super::read(xml);
            (is_folder, size)
        };
        for (xml, expected) in [
            (
                "<?xml version='1.0'?><ns0:multistatus xmlns:ns0=\"DAV:\"><ns0:response><ns0:href>/collection/a</ns0:href>\
                 <ns0:propstat><ns0:prop><ns0:resourcetype /><ns0:getcontentlength>15</ns0:getcontentlength></ns0:prop>\
                 <ns0:status>HTTP/1.1 200 OK</ns0:status></ns0:propstat></ns0:response></ns0:multistatus>",
                (false, Some(15)),
            ),
            (
                "<D:multistatus xmlns:D=\"DAV:\"><D:resourcetype><D:collection xmlns:D=\"DAV:\"/></D:resourcetype></D:multistatus>",
                (true, None),
            ),
            ("<multistatus xmlns=\"DAV:\"><resourcetype><collection/></resourcetype></multistatus>", (true, None)),
            ("<d:getcontentlength/>", (false, None)),
            ("no xml <", (false, None)),
            ("", (false, None)),
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
            let properties = read(&xml);
            assert!(properties.is_resource && properties.status == expected, "{xml}: {properties:?}");
        }
        assert!(!read("<html></html>").is_resource);
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
        // Cut off in the middle.
        assert_eq!(files(&format!("{letter}{}", &letter[..letter.len() - 20])).len(), 1);
        assert_eq!(files("no xml <"), []);
    }
}
