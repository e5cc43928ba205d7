//! What an answer to PROPFIND says of one resource. Two facts are looked for in it, and nothing of it goes anywhere else, so its
//! tags are walked through and no document is made of it.

use percent_encoding::percent_decode_str;

/// What is said of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    /// Whether anything is said at all.
    pub(super) is_resource: bool,
    pub(super) is_folder: bool,
    /// In bytes.
    pub(super) size: Option<u64>,
    /// The status of the resource itself, and not of single properties (RFC 4918, section 14.24).
    pub(super) status: Option<u16>,
}

/// Reads whether the resource is a collection, and its size if that is said (RFC 4918, sections 15.4 and 15.9).
pub(super) fn read(xml: &str) -> Properties {
    let mut properties = Properties::default();
    let (mut rest, mut in_property) = (xml, false);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        let closing = tag.strip_prefix('/');
        let name = closing.unwrap_or(tag).split([' ', '\t', '\r', '\n', '/']).next().unwrap_or_default();
        // Whatever the server calls the namespace.
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

/// The last parts of the addresses that an answer tells of, decoded, with the time of their last change as it is said.
pub(super) fn members(xml: &str) -> Vec<(String, String)> {
    let (mut members, mut name, mut rest) = (Vec::new(), None, xml);
    while let Some((_, after)) = rest.split_once('<') {
        let Some((tag, text)) = after.split_once('>') else { break };
        let value = || text.split('<').next().unwrap_or_default().trim();
        match tag.split([' ', '\t', '\r', '\n']).next().unwrap_or_default().rsplit(':').next().unwrap_or_default() {
            _ if tag.starts_with('/') => {}
            "href" => {
                let last = value().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                name = Some(percent_decode_str(last).decode_utf8_lossy().into_owned());
            }
            "getlastmodified" => members.extend(name.take().map(|name| (name, value().to_owned()))),
            _ => {}
        }
        rest = text;
    }
    // One that leads elsewhere is nobody's.
    members.retain(|(name, _)| !name.contains(['/', '\\']));
    members
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
}
