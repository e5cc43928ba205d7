//! A person before the page of the sandbox, who signs in and decides.

use docsyncd_sandbox::{Consent, DEFAULT_PASSWORD};
use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use url::{Url, form_urlencoded};

use super::{CLAIRE, Clinic, Shown, browser, get, read};

/// A browser with cookies.
struct Person {
    address: Url,
    cookies: Vec<String>,
    page: Shown,
}

impl Person {
    async fn opens(address: &Url) -> Self {
        let page = get(address.as_str(), "en").await;
        let mut person = Self { address: address.clone(), cookies: Vec::new(), page };
        person.take_cookies();
        person
    }

    fn take_cookies(&mut self) {
        for cookie in self.page.headers.get_all(SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let name = pair.split('=').next().unwrap();
            self.cookies.retain(|kept| kept.split('=').next() != Some(name));
            self.cookies.push(pair.to_owned());
        }
    }

    /// Sends the form of the page, and follows where that leads as long as it is the same page.
    async fn sends(&mut self, fields: &[(&str, &str)]) {
        let (_, rest) = self.page.body.split_once("name=\"csrf\" value=\"").expect("a form");
        let csrf = rest.split('"').next().unwrap();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("csrf", csrf).extend_pairs(fields);
        let request = browser().post(self.address.clone()).header(COOKIE, self.cookies.join("; "));
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.finish());
        self.page = read(request.send().await.unwrap()).await;
        self.take_cookies();
        let target = self.address.join(self.page.header(LOCATION.as_str())).unwrap();
        assert!((302..=303).contains(&self.page.status), "{:?}", self.page);
        self.page = read(browser().get(target).header(COOKIE, self.cookies.join("; ")).send().await.unwrap()).await;
    }

    async fn signs_in(&mut self) {
        self.sends(&[("email", CLAIRE), ("password", DEFAULT_PASSWORD), ("do", "sign-in")]).await;
    }
}

#[tokio::test]
async fn a_person_who_approves_a_part_is_signed_in_with_a_warning() {
    let clinic = Clinic::with(Consent::Ask).await;
    let login = clinic.login().await;
    let mut person = Person::opens(&login.address).await;
    person.signs_in().await;
    let ticked = ["organization", "read:documents", "write:documents"].map(|scope| ("scope", scope));
    person.sends(&[ticked.as_slice(), &[("do", "approve")]].concat()).await;
    assert!(person.page.body.contains("You are signed in"), "{:?}", person.page);
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("signed in as Claire Delaunay"), "{ended:?}");
    assert!(ended.stderr.contains("not everything was allowed: read:patients"), "{ended:?}");
    let scopes = clinic.tokens("main").unwrap().scopes;
    assert!(scopes.contains(&"read:documents".to_owned()) && !scopes.contains(&"read:patients".to_owned()));
}

#[tokio::test]
async fn a_person_who_refuses_is_told_that_nobody_is_signed_in() {
    let clinic = Clinic::with(Consent::Ask).await;
    let login = clinic.login().await;
    let mut person = Person::opens(&login.address).await;
    person.signs_in().await;
    person.sends(&[("do", "refuse")]).await;
    assert!(person.page.body.contains("Access was refused"), "{:?}", person.page);
    let ended = login.ended().await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("access_denied: The user refused the request."), "{ended:?}");
    assert!(clinic.tokens("main").is_none());
}
