//! A browser as far as the page needs one: it keeps cookies, finds forms, and does not follow redirects by itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use reqwest::header::{ACCEPT_LANGUAGE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Client, StatusCode, redirect};
use url::Url;

use super::parameter;

pub struct Browser {
    client: Client,
    language: &'static str,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// What the browser shows, or where it is sent.
pub struct Shown {
    pub address: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub html: String,
}

impl Browser {
    pub fn new(language: &'static str) -> Self {
        let client = crate::harness::client().redirect(redirect::Policy::none()).build().unwrap();
        Self { client, language, cookies: Mutex::default() }
    }

    /// Another browser with the same cookies, as a thief would have.
    pub fn copy(&self) -> Self {
        Self { cookies: Mutex::new(self.cookies.lock().unwrap().clone()), ..Self::new(self.language) }
    }

    pub async fn open(&self, address: Url) -> Shown {
        self.send(self.client.get(address)).await
    }

    /// Sends the page's form with these fields besides its hidden one.
    pub async fn submit(&self, page: &Shown, fields: &[(&str, &str)]) -> Shown {
        let mut fields = fields.to_vec();
        let csrf = page.csrf();
        fields.push(("csrf", &csrf));
        self.submit_exactly(page, &fields).await
    }

    pub async fn submit_exactly(&self, page: &Shown, fields: &[(&str, &str)]) -> Shown {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        let request = self.client.post(page.action()).header("Content-Type", "application/x-www-form-urlencoded");
        self.send(request.body(form.finish())).await
    }

    /// The page that an answer leads to, on the same origin.
    pub async fn follow(&self, answer: &Shown) -> Shown {
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.html);
        let to = answer.address.join(answer.headers[LOCATION].to_str().unwrap()).unwrap();
        assert_eq!(to.origin(), answer.address.origin());
        self.open(to).await
    }

    /// Signs in on the sign-in page and returns the page after it.
    pub async fn sign_in(&self, page: &Shown, email: &str, password: &str) -> Shown {
        let answer = self.submit(page, &[("do", "sign-in"), ("email", email), ("password", password)]).await;
        self.follow(&answer).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Shown {
        let kept = self.cookies.lock().unwrap().clone();
        let cookies: Vec<String> = kept.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header(ACCEPT_LANGUAGE, self.language).header(COOKIE, cookies.join("; "));
        let response = request.send().await.unwrap();
        self.keep_cookies(response.headers());
        Shown {
            address: response.url().clone(),
            status: response.status(),
            headers: response.headers().clone(),
            html: response.text().await.unwrap(),
        }
    }
}

impl Browser {
    /// One origin is all that a test visits, so that a cookie's other attributes do not matter here.
    fn keep_cookies(&self, headers: &HeaderMap) {
        let mut cookies = self.cookies.lock().unwrap();
        for cookie in headers.get_all(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            if cookie.contains("Max-Age=0") {
                cookies.remove(name);
            } else {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

impl Shown {
    /// Where the application is sent to.
    pub fn location(&self) -> Url {
        Url::parse(self.headers[LOCATION].to_str().unwrap()).unwrap()
    }

    /// A parameter that the application is sent.
    pub fn told(&self, name: &str) -> Option<String> {
        parameter(&self.location(), name)
    }

    pub fn csrf(&self) -> String {
        self.between("name=\"csrf\" value=\"", "\"")
    }

    /// The scopes whose boxes are on the page.
    pub fn boxes(&self) -> Vec<String> {
        let parts = self.html.split("name=\"scope\" value=\"").skip(1);
        parts.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    fn action(&self) -> Url {
        let action = self.between("action=\"", "\"").replace("&amp;", "&");
        self.address.join(&action).unwrap()
    }

    fn between(&self, before: &str, after: &str) -> String {
        let (_, rest) = self.html.split_once(before).unwrap_or_else(|| panic!("no {before} in {}", self.html));
        rest.split(after).next().unwrap().to_owned()
    }
}
