//! The browser of this computer is opened. On Unix `$BROWSER` names it; Windows asks its registry, which a test leaves
//! alone.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use docsyncd_sandbox::Consent;

use super::{CLAIRE, Clinic, Login, get, sent_back};
use crate::harness::PATIENCE;

#[tokio::test]
async fn the_browser_is_opened_at_the_address_that_is_printed() {
    let clinic = Clinic::with(Consent::Approve).await;
    let (browser, opened) = (clinic.practice.path("browser"), clinic.practice.path("opened"));
    // Written under another name first, so that whoever sees the file sees all of it.
    let script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.new\" && mv \"$0.new\" \"${0%browser}opened\"\n";
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = clinic.practice.command(&["login"]);
    command.env("BROWSER", &browser);
    let login = Login::start(command, Stdio::null()).await;
    let address = tokio::time::timeout(PATIENCE, async {
        loop {
            match std::fs::read_to_string(&opened) {
                Ok(address) => break address,
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        }
    });
    let address = address.await.expect("a browser is started");
    assert_eq!(address, format!("{}\n", login.address), "one argument, the address");
    let page = get(&sent_back(&login.address).await, "en").await;
    assert_eq!(page.status, 200, "{page:?}");
    let ended = login.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    assert!(ended.stdout.contains("The browser opens") && ended.stdout.contains(CLAIRE), "{ended:?}");
    assert!(!ended.stdout.contains("paste"), "nobody is asked to paste: {ended:?}");
}

#[tokio::test]
async fn without_any_browser_the_address_can_be_pasted_back() {
    let clinic = Clinic::with(Consent::Approve).await;
    let mut command = clinic.practice.command(&["login"]);
    // Nothing that could open one is found.
    command.env("BROWSER", clinic.practice.path("missing")).env("PATH", clinic.practice.path("nothing"));
    for desktop in ["XDG_CURRENT_DESKTOP", "KDE_FULL_SESSION", "DESKTOP_SESSION", "WSL_DISTRO_NAME"] {
        command.env_remove(desktop);
    }
    let mut login = Login::start(command, Stdio::piped()).await;
    let back = sent_back(&login.address).await;
    login.paste(&back).await;
    let ended = login.ended().await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("no browser could be opened") && ended.stdout.contains("paste it here"), "{ended:?}");
    assert!(clinic.tokens("main").is_some());
}
