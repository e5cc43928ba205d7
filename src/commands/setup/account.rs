//! How docsyncd identifies itself: a key, which is tried at the service at once, or the settings of a sign-in in the
//! browser.

use super::super::UsageError;
use super::{Setup, page, told};
use crate::api::auth::client_secret;
use crate::api::{Api as _, ApiError, ListQuery, PAGE_SIZE, Transport};
use crate::config::{Auth, Loaded};
use crate::daemon;
use crate::formats::language::{Language, Value};
use crate::system::secret::pasted;

/// The port of the documentation's examples. The operator registers the address with it.
const USUAL_PORT: &str = "8976";

impl Setup {
    pub(super) fn ask_for_account(&mut self) -> anyhow::Result<()> {
        self.account = self.choose_account()?;
        let account = self.account.clone();
        let choices = [("api_key", self.say("setup-auth-key", &[])), ("oauth", self.say("setup-auth-sign-in", &[]))];
        let default = self.draft.current("accounts", Some(&account), "auth").unwrap_or_else(|| "api_key".to_owned());
        let question = self.question("auth", "setup-auth", &[]).or(Some(default));
        let auth = self.ask.choose(&question, &choices)?;
        if auth == "oauth" || self.draft.current("accounts", Some(&account), "auth").is_some() {
            self.draft.set("accounts", Some(&account), "auth", auth)?;
        }
        self.draft.leave_out_others("accounts", &account, auth);
        if auth == "oauth" { self.ask_for_client(&account) } else { self.ask_for_key(&account) }
    }

    fn choose_account(&mut self) -> anyhow::Result<String> {
        let names: Vec<String> = self.draft.loaded()?.config.accounts.into_keys().collect();
        match names.as_slice() {
            [only] => Ok(only.clone()),
            several => {
                let choices: Vec<(&str, String)> = several.iter().map(|name| (name.as_str(), name.clone())).collect();
                let question = self.question("account", "setup-account", &[]).or(several.first().cloned());
                Ok(self.ask.choose(&question, &choices)?.to_owned())
            }
        }
    }

    /// How the account identifies itself.
    pub(super) fn account_in_words(&self, account: &str) -> String {
        let signs_in = self.draft.current("accounts", Some(account), "auth").is_some_and(|auth| auth == "oauth");
        let none = || self.say("setup-none", &[("what", "key".into())]);
        let how = match signs_in {
            true => self.say("setup-auth-sign-in", &[]),
            false => self.key_that_is_there(account).unwrap_or_else(none),
        };
        self.say("setup-place", &[("name", account.into()), ("place", (&how).into())])
    }

    fn ask_for_key(&mut self, account: &str) -> anyhow::Result<()> {
        if let Some(key) = self.key_that_is_there(account)
            && self.ask.is_person()
        {
            let question = self.question("keep_key", "setup-keep-key", &[("key", (&key).into())]);
            if self.ask.agree(&question, true)? && self.try_account("api_key", account)? {
                return Ok(());
            }
        }
        loop {
            let question = self.question("api_key", "setup-key", &[]);
            let Some(key) = self.ask.secret(&question)? else {
                if self.key_that_is_there(account).is_some() && self.try_account("api_key_from", account)? {
                    return Ok(());
                }
                let why = if self.ask.is_person() { "setup-key-needed" } else { "setup-key-needed-file" };
                self.refuse("api_key_from", why, &[])?;
                continue;
            };
            match pasted(secrecy::ExposeSecret::expose_secret(&key)) {
                Ok(key) => self.draft.keep_secret("accounts", Some(account), "api_key_file", key)?,
                Err(why) => {
                    self.refuse_pasted("api_key_from", "setup-what-key", why)?;
                    continue;
                }
            }
            if self.try_account("api_key_from", account)? {
                return Ok(());
            }
            self.draft.secrets.clear();
        }
    }

    /// The key in use, in words, if there is one.
    fn key_that_is_there(&self, account: &str) -> Option<String> {
        let loaded = self.draft.loaded().ok()?;
        let account = loaded.config.accounts.get(account)?;
        let transport = Transport::new(&loaded.config.api).ok()?;
        daemon::client(&transport, &loaded.config, account).credentials().configured().ok()?;
        match &account.auth {
            Auth::ApiKey(crate::config::Secret::File(file)) => {
                Some(self.say("setup-key-in-file", &[("file", (&file.display().to_string()).into())]))
            }
            Auth::ApiKey(_) if !self.draft.secrets.is_empty() => Some(self.say("setup-key-given", &[])),
            Auth::ApiKey(_) => Some(self.say("setup-key-environment", &[])),
            Auth::OAuth(_) => None,
        }
    }

    /// Whether the service accepts the account's key. Tells the person about a refusal.
    fn try_account(&mut self, key: &str, account: &str) -> anyhow::Result<bool> {
        let Some(loaded) = self.loaded(key)? else { return Ok(false) };
        let transport = Transport::new(&loaded.config.api).map_err(UsageError)?;
        match self.runtime.block_on(asked(&transport, &loaded, account, self.ask.language())) {
            Ok(said) => {
                self.good(&said)?;
                Ok(true)
            }
            // Something answers that wants a key as well, and is not the API.
            Err((error, Some(hint))) => {
                self.ask.refused("base_url", &told::of_api(self.ask.language(), &error, &hint))?;
                self.draft.forget_address()?;
                self.ask_for_address()?;
                self.try_account(key, account)
            }
            Err((error, None)) => {
                self.ask.refused(key, &told::of_api(self.ask.language(), &error, &error.to_string()))?;
                Ok(false)
            }
        }
    }

    /// Asks for the settings of a sign-in. The sign-in itself follows when all is written, as in `docsyncd login`.
    fn ask_for_client(&mut self, account: &str) -> anyhow::Result<()> {
        loop {
            let default = self.draft.current("api", None, "app_url");
            let question = self.question("app_url", "setup-pages", &[]).or(default);
            let address = self.needed(&question)?;
            let address = self.with_scheme(address)?;
            let before = self.draft.text.clone();
            self.draft.set("api", None, "app_url", address.as_str())?;
            // The rest of the account is not known yet, so only errors about this key count.
            let wrong = self.draft.loaded().err().map(|error| super::in_words(&error));
            let Some(wrong) = wrong.filter(|wrong| wrong.contains("`api.app_url`")) else { break };
            self.draft.text = before;
            self.ask.refused("app_url", &told::of_answer(self.ask.language(), &wrong))?;
        }
        let default = self.draft.current("accounts", Some(account), "client_id");
        let question = self.question("client_id", "setup-client-id", &[]).or(default);
        let id = self.needed(&question)?;
        self.draft.set("accounts", Some(account), "client_id", id.as_str())?;
        self.ask_for_client_secret(account)?;
        loop {
            let now = self.draft.current("accounts", Some(account), "redirect_port");
            let default = now.or_else(|| Some(USUAL_PORT.to_owned()));
            let question = self.question("redirect_port", "setup-port", &[]).or(default);
            let port = self.needed(&question)?;
            let Ok(port) = port.parse::<u16>() else {
                self.refuse("redirect_port", "setup-port-expected", &[])?;
                continue;
            };
            if self.ask.is_person() && page::is_taken(([127, 0, 0, 1], port).into()) {
                self.refuse("redirect_port", "setup-port-taken", &[("port", (&port.to_string()).into())])?;
                continue;
            }
            self.draft.set("accounts", Some(account), "redirect_port", i64::from(port))?;
            if self.loaded("redirect_port")?.is_some() {
                return Ok(());
            }
        }
    }

    fn ask_for_client_secret(&mut self, account: &str) -> anyhow::Result<()> {
        loop {
            let question = self.question("client_secret", "setup-client-secret", &[]);
            match self.ask.secret(&question)? {
                Some(secret) => match pasted(secrecy::ExposeSecret::expose_secret(&secret)) {
                    Ok(secret) => {
                        return self.draft.keep_secret("accounts", Some(account), "client_secret_file", secret);
                    }
                    Err(why) => self.refuse_pasted("client_secret_from", "setup-what-client-secret", why)?,
                },
                None => {
                    let there =
                        self.draft.loaded().ok().and_then(|loaded| match &loaded.config.accounts.get(account)?.auth {
                            Auth::OAuth(oauth) => client_secret(account, oauth).ok(),
                            Auth::ApiKey(_) => None,
                        });
                    if there.is_some() {
                        return Ok(());
                    }
                    self.refuse("client_secret_from", "setup-client-secret-needed", &[])?;
                }
            }
        }
    }
}

/// Asks the service who the account is, and how many documents wait.
async fn asked(
    transport: &Transport,
    loaded: &Loaded,
    account: &str,
    language: Language,
) -> Result<String, (ApiError, Option<String>)> {
    let none = || (ApiError::Credentials(format!("there is no account {account}")), None);
    let account = loaded.config.accounts.get(account).ok_or_else(none)?;
    let client = daemon::client(transport, &loaded.config, account);
    let query = ListQuery { page: 1, ..ListQuery::default() };
    let page = client.list(&query).await.map_err(|error| {
        let hint = client.hint(&error);
        (error, hint)
    })?;
    // A key that may list but not ask who it is works all the same.
    let introduced = client.introduced().await.ok();
    let person = introduced.as_ref().and_then(|introduced| introduced.me.person());
    let practice = introduced.as_ref().and_then(|introduced| introduced.me.practice.as_ref()).map(ToString::to_string);
    let waiting = match page.len() {
        count if count >= PAGE_SIZE => ("setup-waiting-many", PAGE_SIZE),
        count => ("setup-waiting", count),
    };
    let waiting = language.fill(waiting.0, &[("count", Value::Count(waiting.1 as u64))]);
    Ok(match (&person, &practice) {
        (Some(person), Some(practice)) => language.fill(
            "setup-accepted-practice",
            &[("person", person.into()), ("practice", practice.into()), ("waiting", (&waiting).into())],
        ),
        (Some(person), None) => {
            language.fill("setup-accepted-person", &[("person", person.into()), ("waiting", (&waiting).into())])
        }
        (None, _) => language.fill("setup-accepted", &[("waiting", (&waiting).into())]),
    })
}
