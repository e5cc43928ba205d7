//! The browser of the person at this computer.

use std::time::Duration;

use tokio::sync::oneshot;
use url::Url;

/// A browser that has not failed after this time counts as opened.
const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// Opens the default browser without a shell. Returns once it was started.
///
/// # Errors
/// Why none could be opened, in the system's words.
pub(super) async fn open(address: &Url) -> Result<(), String> {
    let address = address.to_string();
    let (sender, opened) = oneshot::channel();
    // A browser in the terminal runs until the person leaves it, so nobody waits for this thread.
    std::thread::spawn(move || {
        let mut options = webbrowser::BrowserOptions::new();
        options.with_suppress_output(true);
        let _ = sender.send(webbrowser::open_browser_with_options(webbrowser::Browser::Default, &address, &options));
    });
    match tokio::time::timeout(OPEN_LIMIT, opened).await {
        Ok(Ok(result)) => result.map_err(|error| error.to_string()),
        Ok(Err(_)) => Err("it ended at once".to_owned()),
        // It still runs, so something was opened.
        Err(_) => Ok(()),
    }
}

/// Whether there is a screen. Without one, a browser in the terminal might open, for which no page is made.
pub(super) fn has_screen() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("BROWSER")
}
