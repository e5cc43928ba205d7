//! Alarms over time: what lasts, what comes and goes, and a computer that slept; and what `check` says of a mail
//! server.

use super::receivers::{Answer, MailServer, WebServer};
use super::{configure, of, practice, with_mail};

/// A letter may be filed meanwhile.
fn take_away(folder: &std::path::Path) -> std::io::Result<()> {
    loop {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => {}
            taken => return taken,
        }
    }
}

/// Takes the inbox away, or brings it back, and waits until the daemon has seen it.
async fn share(practice: &crate::harness::Practice, running: &mut crate::harness::Running, is_there: bool) {
    let (event, changed) = match is_there {
        true => ("event=\"resumed\"", std::fs::create_dir(practice.inbox())),
        false => ("event=\"paused\"", take_away(&practice.inbox())),
    };
    changed.unwrap();
    let before = running.log().matches(event).count();
    practice.sandbox.add(docsyncd_sandbox::NewDocument::default()).await.unwrap();
    practice.docsyncd(&["poll"]).await;
    running.wait_for_logs(event, before + 1).await;
}

#[tokio::test]
async fn a_share_that_comes_and_goes_is_told_once_in_an_hour() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    share(&practice, &mut running, false).await;
    web.wait_for(1).await;
    share(&practice, &mut running, true).await;
    web.wait_for(2).await;
    for _ in 0..3 {
        share(&practice, &mut running, false).await;
        // Longer than `after`, and than what is gathered.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        share(&practice, &mut running, true).await;
    }
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    running.end().await;
    assert_eq!(of(&web.messages(), "kind"), ["problem", "over"], "{:#?}", web.messages());
}

/// It takes each message, and dies before it says so: whoever reads them is not to get one for a week.
#[tokio::test]
async fn a_receiver_that_takes_a_message_and_never_says_so_gets_it_a_few_times() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    std::fs::remove_dir(practice.inbox()).unwrap();
    web.answer(Answer::HangsUp);
    let mut running = practice.run().await;
    running.wait_for_log("event=\"alert_doubtful\"").await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let mut ids = of(&web.messages(), "id");
    assert_eq!(ids.len(), 6);
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    // Who may know that it began is told that it is over.
    web.answer(Answer::Status(200));
    std::fs::create_dir(practice.inbox()).unwrap();
    web.wait_for(7).await;
    running.end().await;
    assert_eq!(of(&web.messages(), "kind").last().map(String::as_str), Some("over"));
}

#[tokio::test]
async fn what_lasts_is_told_again_and_once_when_it_is_over() {
    let web = WebServer::start().await;
    let practice = practice(1, &web).await;
    configure(&practice, "remind = \"2s\"\n");
    std::fs::remove_dir(practice.inbox()).unwrap();
    let mut running = practice.run().await;
    web.wait_for(3).await;
    std::fs::create_dir(practice.inbox()).unwrap();
    let is_over = || of(&web.messages(), "kind").contains(&"over".to_owned());
    while !is_over() {
        web.wait_for(web.requests().len() + 1).await;
    }
    running.end().await;
    let messages = web.messages();
    let kinds = of(&messages, "kind");
    let (begun, rest) = kinds.split_first().unwrap();
    let (ended, reminders) = rest.split_last().unwrap();
    assert_eq!((begun.as_str(), ended.as_str()), ("problem", "over"), "{messages:#?}");
    assert!(reminders.len() >= 2 && reminders.iter().all(|kind| kind == "reminder"), "{messages:#?}");
    assert!(messages[1]["text"].as_str().unwrap().starts_with("Still so: 1 letter waits since "), "{messages:#?}");
}

/// The clock says so: it leaps, as that of a computer does which wakes up.
#[cfg(unix)]
#[tokio::test]
async fn a_computer_that_slept_is_told_of_once() {
    let web = WebServer::start().await;
    let mut practice = practice(1, &web).await;
    practice.env.insert("DOCSYNCD__SYNC__POLL_INTERVAL".into(), "100ms".into());
    let Some(clock) = crate::faults::process::MovedClock::of(&mut practice) else { return };
    let mut running = practice.run().await;
    practice.wait_for_posts(1).await;
    running.wait_for_log("event=\"reported\"").await;
    clock.jump("+30h");
    web.wait_for(3).await;
    running.end().await;
    let mut messages = web.messages();
    // The clock differs from the service's as well.
    messages.retain(|message| message["cause"] != "clock");
    assert_eq!(of(&messages, "kind"), ["problem", "over"], "{messages:#?}");
    assert_eq!(of(&messages, "cause"), ["slept", "slept"]);
    assert!(messages[0]["text"].as_str().unwrap().contains("this computer slept or was off"), "{messages:#?}");
}

#[tokio::test]
#[cfg_attr(windows, ignore = "wine has no certificates of authorities, without which TLS is not set up")]
async fn check_says_that_a_mail_server_encrypts_nothing() {
    let (web, mail) = (WebServer::start().await, MailServer::start().await);
    let practice = practice(0, &web).await;
    for (encryption, says) in
        [("starttls", "offers no encryption (STARTTLS)"), ("tls", "set alerts.mail.encryption = \"starttls\"")]
    {
        configure(&practice, &with_mail(mail.port).replace("\"none\"", &format!("\"{encryption}\"")));
        for command in [&["check"][..], &["alerts", "test"]] {
            let ended = practice.docsyncd(command).await;
            let line = ended.stdout.lines().find(|line| line.starts_with("FAIL") && line.contains("mail"));
            assert!(ended.code == 1 && line.is_some_and(|line| line.contains(says)), "{encryption}: {ended:?}");
        }
    }
    assert_eq!(mail.mails().len(), 0);
}
