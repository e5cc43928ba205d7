//! The redirect to the application, with its parameters.

use url::{Host, Url, form_urlencoded};

/// A registered redirect address, and the state of the request.
#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub uri: String,
    pub state: Option<String>,
}

impl Redirect {
    /// The address with these parameters and the state added to its query (RFC 6749, section 4.1.2). The address itself
    /// stays unchanged, because the application compares it, too.
    pub fn with(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        let separator = match self.uri.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some((_, before)) if before.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{}{separator}{}", self.uri, query.finish())
    }

    /// The destination in a few words: the host, or the scheme of an application on this machine.
    pub fn destination(&self) -> String {
        let Ok(url) = Url::parse(&self.uri) else {
            return self.uri.clone();
        };
        match (url.host(), url.port()) {
            (Some(Host::Domain("")), _) | (None, _) => format!("{}:", url.scheme()),
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_string(),
        }
    }

    /// The `form-action` of a page, so that a browser follows the redirect after the form.
    ///
    /// Chromium checks it for each following redirect, including the application's own, wherever it leads. So it names
    /// schemes. Escaping, not this, prevents forms that the page did not write.
    pub fn form_action(&self) -> String {
        match Url::parse(&self.uri) {
            Ok(url) if !matches!(url.scheme(), "http" | "https") => format!("'self' http: https: {}:", url.scheme()),
            _ => "'self' http: https:".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(uri: &str) -> Redirect {
        Redirect { uri: uri.to_owned(), state: Some("a b&c".to_owned()) }
    }

    #[test]
    fn parameters_follow_those_that_the_address_has() {
        for (uri, whole) in [
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb?code=x&state=a+b%26c"),
            ("http://127.0.0.1:1/cb?", "http://127.0.0.1:1/cb?code=x&state=a+b%26c"),
            ("http://127.0.0.1:1/cb?tenant=7", "http://127.0.0.1:1/cb?tenant=7&code=x&state=a+b%26c"),
            ("http://127.0.0.1:1/cb?tenant=7&", "http://127.0.0.1:1/cb?tenant=7&code=x&state=a+b%26c"),
            ("com.example.app:/cb", "com.example.app:/cb?code=x&state=a+b%26c"),
        ] {
            assert_eq!(to(uri).with(&[("code", "x")]), whole);
        }
    }

    #[test]
    fn a_person_reads_where_the_way_leads() {
        assert_eq!(to("http://127.0.0.1:8976/callback").destination(), "127.0.0.1:8976");
        assert_eq!(to("https://app.example/callback").destination(), "app.example");
        assert_eq!(to("com.example.app:/cb").destination(), "com.example.app:");
    }

    #[test]
    fn a_browser_may_follow_to_an_application_on_the_machine() {
        assert_eq!(to("com.example.app:/cb").form_action(), "'self' http: https: com.example.app:");
    }
}
