//! The parameters of a query or a form.

use url::form_urlencoded;

/// Decoded names and values, in their order.
pub(super) struct Parameters(Vec<(String, String)>);

/// A parameter came more than once, so none of its values counts (RFC 6749, section 3.1).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeated(pub &'static str);

impl Parameters {
    pub fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// A parameter without a value counts as left out (RFC 6749, section 3.1).
    pub fn one(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (Some(_), Some(_)) => Err(Repeated(name)),
            (value, _) => Ok(value.filter(|value| !value.is_empty())),
        }
    }

    /// The values of a parameter that may come several times.
    pub fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first value; empty without one.
    pub fn first(&self, name: &'static str) -> &str {
        self.all(name).next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_comes_once_or_not_at_all() {
        let parameters = Parameters::parse(b"a=1%202&b=&c=1&c=2");
        assert_eq!(parameters.one("a"), Ok(Some("1 2")));
        assert_eq!(parameters.one("b"), Ok(None));
        assert_eq!(parameters.one("c"), Err(Repeated("c")));
        assert_eq!(parameters.all("c").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(parameters.first("d"), "");
    }
}
