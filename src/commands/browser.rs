//! The browser of whoever sits at this computer.

use std::time::Duration;

use tokio::sync::oneshot;
use url::Url;

/// After this time a browser that did not fail counts as opened.
const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// Opens the default browser, without a shell; returns when it was started.
///
/// # Errors
/// Why none could be opened, in the system's words.
pub(super) async fn open(address: &Url) -> Result<(), String> {
    let address = address.to_string();
    let (sender, opened) = oneshot::channel();
    // A browser for the terminal stays in the foreground until it is left, so nobody waits for this thread.
    std::thread::spawn(move || {
        let mut options = webbrowser::BrowserOptions::new();
        options.with_suppress_output(true);
        let _ = sender.send(webbrowser::open_browser_with_options(webbrowser::Browser::Default, &address, &options));
    });
    match tokio::time::timeout(OPEN_LIMIT, opened).await {
        Ok(Ok(result)) => result.map_err(|error| error.to_string()),
        Ok(Err(_)) => Err("it ended at once".to_owned()),
        // It is still there, so something was opened.
        Err(_) => Ok(()),
    }
}

/// Whether there is a screen for one. Without it a browser for the terminal may be opened, which no page is made for.
pub(super) fn has_screen() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("BROWSER")
}
