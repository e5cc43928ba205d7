//! `docsyncd login`: a person signs an account in, in the browser of this computer or of another.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context as _, bail};
use secrecy::ExposeSecret as _;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::account::oauth_account;
use super::output::{complain, print};
use super::record::record_done;
use super::{Exit, Outcome, browser, runtime, told};
use crate::api::auth::authorization::{Attempt, NotAnAnswer, Refusal, Returned};
use crate::api::auth::endpoint::{self, CodeExchange, TokenError};
use crate::api::auth::{TokenLock, TokenStore, TokenStoreError, Tokens, client_secret};
use crate::api::{Me, Transport, me};
use crate::config::{Account, Loaded, OAuthConfig};
use crate::daemon::DaemonError;
use crate::formats::language::Language;
use crate::ledger::history::Action;
use crate::surfaces::login::{Ending, Event, Failure, FailureKind, Listener, Reception, pasted_lines};

/// How long a person may take to sign in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// How many foreign answers are reported. An old tab reloads once or twice. A program that invents answers must not end
/// the sign-in.
const MAX_STRANGERS: u32 = 10;
/// How long the browser's last page waits for the person's name.
const NAME_LIMIT: Duration = Duration::from_secs(10);
/// How long to wait at the end for threads that hang.
const THREADS_LIMIT: Duration = Duration::from_millis(100);

/// Everything that a sign-in needs.
struct SignIn<'a> {
    loaded: &'a Loaded,
    account: &'a Account,
    oauth: &'a OAuthConfig,
    page: &'a Url,
    transport: Transport,
    store: Arc<TokenStore>,
    language: Language,
}

/// The answer, and the browser that waits for the ending; none if the answer was pasted.
type SignInAnswer = (Returned, Option<oneshot::Sender<Ending>>);

pub(super) fn login(loaded: &Loaded, name: Option<&str>, no_browser: bool, language: Language) -> Outcome {
    let (account, oauth) = oauth_account(loaded, name, language)?;
    let page = loaded.config.api.authorization_page.as_ref();
    let page = page.ok_or_else(|| told::usage(language, "sign-in-no-page", &[]))?;
    // An error at the end should come before a person types a password.
    client_secret(&account.name, oauth).map_err(DaemonError::Credential)?;
    let transport = Transport::new(&loaded.config.api).map_err(DaemonError::Transport)?;
    let store = Arc::new(TokenStore::new(&loaded.config.state.path, &account.name));
    let runtime = runtime()?;
    let sign_in = SignIn { loaded, account, oauth, page, transport, store, language };
    let ended = runtime.block_on(sign_in.carry_out(no_browser));
    runtime.shutdown_timeout(THREADS_LIMIT);
    ended
}

impl SignIn<'_> {
    async fn carry_out(&self, no_browser: bool) -> Outcome {
        self.locked(|_, _| ()).await.context("the sign-in could not be saved")?;
        let port = self.oauth.redirect_port;
        let listener = Listener::bind(port).await.map_err(|error| self.port_refused(port, &error))?;
        let attempt = Attempt::new(self.oauth, listener.port()).context("the system gives no random numbers")?;
        let address = attempt.address(self.page, self.oauth);
        let (reception, events) = Reception::new(attempt);
        let reception = Arc::new(reception);
        // The socket accepts connections from here on, before anybody knows the address.
        let serving = listener.serve(&self.oauth.redirect_path, Arc::clone(&reception));
        // The first poll takes over Ctrl-C, before anybody sees the address.
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        let _ = poll_fn(|context| Poll::Ready(interrupted.as_mut().poll(context).is_ready())).await;
        let pasted = self.show(&address, reception.attempt().redirect_uri(), no_browser).await?;
        let answered = wait(&reception, (events, pasted), interrupted, PATIENCE, self.language).await;
        let outcome = match answered {
            Ok((returned, browser)) => self.finish(&reception, returned, browser).await,
            Err(error) => Err(error),
        };
        serving.finish().await;
        outcome
    }

    fn port_refused(&self, port: u16, error: &io::Error) -> anyhow::Error {
        let name = &self.account.name;
        let text = match error.kind() {
            io::ErrorKind::AddrInUse => "sign-in-port-taken",
            _ => "sign-in-port-refused",
        };
        let (port, why) = (port.to_string(), error.to_string());
        let values = [("port", (&port).into()), ("name", name.into()), ("why", (&why).into())];
        told::said(self.language.fill(text, &values), Exit::Failed)
    }

    /// Opens the browser or prints the address. Returns the lines that a person may paste.
    async fn show(
        &self,
        address: &Url,
        redirect_uri: &str,
        no_browser: bool,
    ) -> anyhow::Result<Option<mpsc::Receiver<String>>> {
        let say = |text: &str| {
            let values = [("name", (&self.account.name).into()), ("address", redirect_uri.into())];
            self.language.fill(text, &values)
        };
        let returns = say("sign-in-returns");
        if !no_browser {
            print(&format!("{}\n\n    {address}\n\n{returns}\n", say("sign-in-opens")))?;
            match browser::open(address).await {
                Ok(()) => return Ok(None),
                Err(error) => {
                    let exact = format!("no browser could be opened: {error}");
                    complain(&format!("docsyncd: {}", told::because(self.language, "open-no-browser", &[], &exact)));
                }
            }
        } else {
            print(&format!("{}\n\n    {address}\n\n{returns}\n", say("sign-in-open")))?;
        }
        print(&format!("{}\n", say("sign-in-paste")))?;
        Ok(Some(pasted_lines()))
    }

    /// Completes the sign-in. Must not be interrupted, because a code and its tokens exist only once.
    async fn finish(
        &self,
        reception: &Reception,
        returned: Returned,
        browser: Option<oneshot::Sender<Ending>>,
    ) -> Outcome {
        let tell = |ending| {
            if let Some(browser) = browser {
                // A browser that was closed needs no page.
                let _ = browser.send(ending);
            }
        };
        let (tokens, before) = match self.redeem(reception, returned).await {
            Ok(saved) => saved,
            Err(failure) => {
                tell(Ending::Failed(failure.clone()));
                return Err(told::said(failure.in_words(self.language), Exit::Failed));
            }
        };
        record_done(self.loaded, Action::Login, format!("account {}", self.account.name)).await;
        let known =
            tokio::time::timeout(NAME_LIMIT, me(&self.transport, &self.account.name, &tokens.access_token)).await;
        let known = known.unwrap_or_else(|_| {
            Err(crate::api::ApiError::Shape(format!("GET /me took longer than {} s", NAME_LIMIT.as_secs())))
        });
        let (who, email) = known.as_ref().map(|me| (me.name.clone(), me.email.clone())).unwrap_or_default();
        tell(Ending::SignedIn { name: who, email });
        let name = &self.account.name;
        match &known {
            Ok(me) => self.introduce(me, before.as_deref(), &tokens).await?,
            Err(error) => {
                print(&format!("{}\n", self.language.fill("sign-in-done", &[("name", name.into())])))?;
                let exact = format!("warning: who that is could not be asked (GET /me): {error}");
                complain(&format!("docsyncd: {}", told::because(self.language, "sign-in-nameless", &[], &exact)));
            }
        }
        self.warn_of_missing_scopes(&tokens);
        Ok(Exit::Done)
    }

    /// Exchanges the code and saves the tokens. Returns them, and who was signed in before.
    async fn redeem(&self, reception: &Reception, returned: Returned) -> Result<(Tokens, Option<String>), Failure> {
        let attempt = reception.attempt();
        let code = match returned {
            Returned::Code(code) => code,
            Returned::Refused(refusal) => return Err(refused(&refusal, attempt.redirect_uri())),
        };
        let not_saved = |error: TokenStoreError| Failure { kind: FailureKind::NotSaved, detail: error.to_string() };
        let store = Arc::clone(&self.store);
        let lock = blocking(move || store.lock()).await.map_err(not_saved)?;
        let exchange = CodeExchange {
            code: code.expose_secret(),
            redirect_uri: attempt.redirect_uri(),
            code_verifier: attempt.code_verifier().expose_secret(),
        };
        let exchanged = endpoint::exchange(&self.transport, &self.account.name, self.oauth, &exchange).await;
        let tokens = exchanged.map_err(|error| not_exchanged(&error))?;
        let store = Arc::clone(&self.store);
        blocking(move || {
            // Unreadable tokens are replaced, because a new sign-in is the remedy for them.
            let before = store.load().ok().flatten().and_then(|tokens| tokens.user);
            store.save(&lock, &tokens)?;
            Ok((tokens, before))
        })
        .await
        .map_err(not_saved)
    }

    /// Says who signed in, and stores the name with the tokens.
    async fn introduce(&self, me: &Me, before: Option<&str>, tokens: &Tokens) -> anyhow::Result<()> {
        let name = &self.account.name;
        let person = me.person().unwrap_or_else(|| self.language.text("sign-in-no-name"));
        let practice = me.practice.clone();
        let text = if practice.is_some() { "sign-in-as-practice" } else { "sign-in-as" };
        let practice = practice.unwrap_or_default();
        let values = [("person", (&person).into()), ("practice", (&practice).into()), ("name", name.into())];
        print(&format!("{}\n", self.language.fill(text, &values)))?;
        let Some(email) = me.email.clone() else { return Ok(()) };
        if let Some(before) = before.filter(|before| !before.eq_ignore_ascii_case(&email)) {
            let values = [("name", name.into()), ("before", before.into()), ("email", (&email).into())];
            complain(&format!("docsyncd: {}", self.language.fill("sign-in-another", &values)));
        }
        let ours = tokens.refresh_token.expose_secret().to_owned();
        let remembered = self
            .locked(move |store, lock| match store.load()? {
                // A daemon may have renewed them meanwhile. Tokens of another sign-in stay unchanged.
                Some(mut now) if now.user.is_none() || now.refresh_token.expose_secret() == ours => {
                    now.user = Some(email);
                    store.save(lock, &now)
                }
                _ => Ok(()),
            })
            .await;
        if let Err(error) = remembered.and_then(|saved| saved) {
            let why = error.to_string();
            let said = self.language.fill("sign-in-not-remembered", &[("why", (&why).into())]);
            complain(&format!("docsyncd: {said}"));
        }
        Ok(())
    }

    fn warn_of_missing_scopes(&self, tokens: &Tokens) {
        let missing: Vec<&str> =
            self.oauth.scopes.iter().filter(|scope| !tokens.scopes.contains(scope)).map(String::as_str).collect();
        if !missing.is_empty() {
            let scopes = missing.join(", ");
            let values = [("scopes", (&scopes).into()), ("name", (&self.account.name).into())];
            complain(&format!("docsyncd: {}", self.language.fill("sign-in-not-all-allowed", &values)));
        }
    }

    /// Works on the tokens' file under its lock.
    async fn locked<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenStore, &TokenLock) -> T + Send + 'static,
    ) -> Result<T, TokenStoreError> {
        let store = Arc::clone(&self.store);
        blocking(move || {
            let lock = store.lock()?;
            Ok(work(&store, &lock))
        })
        .await
    }
}

/// Runs work that may wait for the disk or for another process.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}

/// Waits for the answer, from the browser or as a pasted line.
async fn wait(
    reception: &Reception,
    (mut events, mut pasted): (mpsc::Receiver<Event>, Option<mpsc::Receiver<String>>),
    mut interrupted: Pin<&mut impl Future<Output = io::Result<()>>>,
    patience: Duration,
    language: Language,
) -> anyhow::Result<SignInAnswer> {
    let tell = |text: &str| complain(&format!("docsyncd: {}", language.text(text)));
    let ended = |text: &str| {
        let patience = humantime::format_duration(patience).to_string();
        told::said(language.fill(text, &[("patience", (&patience).into())]), Exit::Failed)
    };
    let mut too_late = pin!(tokio::time::sleep(patience));
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(Event::Answer(returned, browser)) => return Ok((returned, Some(browser))),
                Some(Event::Stranger(wrong, count)) => stranger(wrong, count).into_iter().for_each(tell),
                None => bail!("the listener for the browser ended"),
            },
            line = next_line(&mut pasted) => match reception.pasted(&line) {
                Ok(Some(returned)) => return Ok((returned, None)),
                Ok(None) => {}
                Err(NotAnAnswer::Incomplete) => tell("sign-in-pasted-incomplete"),
                Err(NotAnAnswer::WrongState) => tell("sign-in-pasted-other"),
            },
            () = &mut too_late => return Err(ended("sign-in-nobody")),
            _ = &mut interrupted => return Err(ended("sign-in-interrupted")),
        }
    }
}

async fn next_line(pasted: &mut Option<mpsc::Receiver<String>>) -> String {
    if let Some(lines) = pasted {
        if let Some(line) = lines.recv().await {
            return line;
        }
        // Standard input is closed, so only the browser can answer.
        *pasted = None;
    }
    std::future::pending().await
}

/// The message about an answer to another sign-in.
fn stranger(wrong: NotAnAnswer, count: u32) -> Option<&'static str> {
    Some(match wrong {
        _ if count > MAX_STRANGERS => return None,
        _ if count == MAX_STRANGERS => "sign-in-strangers",
        NotAnAnswer::WrongState => "sign-in-stranger",
        NotAnAnswer::Incomplete => "sign-in-stranger-incomplete",
    })
}

fn refused(refusal: &Refusal, redirect_uri: &str) -> Failure {
    let kind = FailureKind::of_redirect(&refusal.error);
    let mut detail = refusal.error.clone();
    if let Some(description) = &refusal.description {
        detail = format!("{detail}: {description}");
    }
    if matches!(kind, FailureKind::InvalidRequest | FailureKind::UnauthorizedClient) {
        detail = format!("{detail}; redirect address {redirect_uri}");
    }
    Failure { kind, detail }
}

fn not_exchanged(error: &TokenError) -> Failure {
    let kind = match error {
        TokenError::Refused { error } => FailureKind::of_exchange(error),
        TokenError::Secret(_) => FailureKind::NoSecret,
        _ => FailureKind::Unreachable,
    };
    Failure { kind, detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[tokio::test]
    async fn the_wait_has_an_end_and_says_so() {
        let oauth = OAuthConfig {
            client_id: "id".to_owned(),
            client_secret: Secret::File("secret".into()),
            scopes: Vec::new(),
            redirect_port: 0,
            redirect_path: "/callback".to_owned(),
        };
        let (reception, events) = Reception::new(Attempt::new(&oauth, 1).unwrap());
        // A service manager closes standard input at once, which ends nothing.
        let (closed, lines) = mpsc::channel(1);
        drop(closed);
        let never = pin!(std::future::pending());
        let waited = wait(&reception, (events, Some(lines)), never, Duration::from_millis(1), Language::English).await;
        let said = waited.unwrap_err().to_string();
        assert_eq!(said, "nobody signed in within 1ms: nothing was changed. Run docsyncd login again");
        assert_eq!(humantime::format_duration(PATIENCE).to_string(), "10m");
    }
}
