//! What a person types and what comes back: output, messages and exit codes of every command.

mod api;
#[cfg(unix)]
mod captures;
mod check;
mod config;
mod export;
mod find;
mod health;
pub mod json;
mod languages;
mod login;
mod looking;
mod mistakes;
mod naming;
mod pipes;
mod poll;
mod preview;
#[cfg(unix)]
mod refused;
mod retry;
mod setup;
mod support;

use crate::harness::Practice;

/// A command at a terminal, where this is typed; what was shown, and the exit code.
#[cfg(target_os = "linux")]
pub async fn at_a_terminal(practice: &Practice, args: &[&str], typed: &str) -> (String, i32) {
    use std::process::Stdio;
    use tokio::io::AsyncWriteExt as _;
    let command = format!("'{}' --config docsyncd.toml {}", crate::harness::program().display(), args.join(" "));
    let mut script = tokio::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(practice.dir.path()).envs(&practice.env);
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).await.unwrap();
    let output = tokio::time::timeout(crate::harness::PATIENCE, child.wait_with_output()).await.unwrap().unwrap();
    drop(stdin);
    (String::from_utf8_lossy(&output.stdout).replace('\r', ""), output.status.code().unwrap_or(-1))
}

/// What is done already, or cannot be taken back, is asked about where somebody can be asked.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_person_at_a_terminal_is_asked_before_a_letter_is_filed_again_or_forgotten() {
    use crate::faults::tools::needs;
    needs!("script");
    let practice = Practice::with_documents(1).await;
    assert_eq!(practice.sync().await.code, 0);
    let uuid = practice.sandbox.documents().await.unwrap().remove(0).uuid;
    for (command, asked, refused, done) in [
        ("retry", "is filed and reported already", "nothing is tried again", "1 document to try again"),
        ("forget", "Erase the names and places", "nothing is erased", "are erased"),
    ] {
        let (said, code) = at_a_terminal(&practice, &[command, &uuid], "n\n").await;
        assert!(code == 1 && said.contains(asked) && said.contains(refused) && !said.contains(done), "{said}");
        assert_eq!(practice.state(&uuid).await, "reported");
        for (args, typed) in [(&[command, &uuid][..], "y\n"), (&[command, "--yes", &uuid], "")] {
            let (said, code) = at_a_terminal(&practice, args, typed).await;
            assert!(code == 0 && said.contains(done) && said.contains(asked) != typed.is_empty(), "{said}");
            // Only what is done already is asked about.
            assert_eq!(practice.sync().await.code, 0);
        }
    }
}

#[tokio::test]
async fn wrong_usage_ends_with_2_and_says_how_it_is_meant() {
    let practice = Practice::with_documents(0).await;
    for (args, hint) in [
        (&["snyc"][..], "sync"),
        (&[], "Usage"),
        (&["status", "--jsno"], "--json"),
        (&["list", "--state", "faild"], "failed"),
        (&["show"], "<UUID>"),
        (&["retry"], "retry --failed"),
        (&["retry", "--failed", "abc"], "cannot be used with"),
        (&["api", "GET"], "<PATH>"),
        (&["config"], "init"),
        (&["completions", "tcsh"], "zsh"),
        (&["service"], "status"),
        (&["service", "reboot"], "Usage"),
    ] {
        let ended = practice.docsyncd(args).await;
        assert_eq!(ended.code, 2, "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(hint), "{args:?}: {ended:?}");
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    assert!(!practice.ledger().exists());
}

#[tokio::test]
async fn help_and_version_are_printed_and_name_the_exit_codes() {
    let practice = Practice::with_documents(0).await;
    let help = practice.docsyncd(&["--help"]).await;
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for word in [
        "run",
        "sync",
        "check",
        "login",
        "logout",
        "status",
        "list",
        "show",
        "retry",
        "api",
        "config",
        "service",
        "completions",
        "man",
        "--config",
    ] {
        assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
    }
    let in_one_line = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        in_one_line.contains("3 finished, but documents failed or still wait; 4 (status only) not running"),
        "{in_one_line}"
    );
    let version = practice.docsyncd(&["--version"]).await;
    assert_eq!((version.code, version.stdout), (0, format!("docsyncd {}\n", env!("CARGO_PKG_VERSION"))));
}

#[tokio::test]
async fn a_missing_configuration_ends_with_2_and_says_what_to_do() {
    let practice = Practice::with_documents(0).await;
    std::fs::remove_file(practice.config_path()).unwrap();
    let path = practice.config_path().display().to_string();
    for command in [
        &["run"][..],
        &["sync"],
        &["check"],
        &["login"],
        &["logout"],
        &["status"],
        &["list"],
        &["show", "u"],
        &["retry", "--failed"],
        &["api", "GET", "/me"],
        &["config", "show"],
    ] {
        let ended = practice.docsyncd(command).await;
        assert_eq!(ended.code, 2, "{command:?}: {ended:?}");
        assert!(ended.stderr.contains(&path) && ended.stderr.contains("config init"), "{command:?}: {ended:?}");
    }
}

#[tokio::test]
async fn completions_and_the_manual_page_need_no_configuration() {
    let practice = Practice::with_documents(0).await;
    std::fs::remove_file(practice.config_path()).unwrap();
    for (shell, signs) in [
        ("bash", ["complete -F", "--failed"]),
        ("zsh", ["#compdef docsyncd", "--failed"]),
        ("fish", ["complete -c docsyncd", "-l failed"]),
        ("powershell", ["Register-ArgumentCompleter", "--failed"]),
    ] {
        let ended = practice.docsyncd(&["completions", shell]).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{shell}");
        assert!(signs.iter().all(|sign| ended.stdout.contains(sign)), "{shell}: {}", ended.stdout);
    }
    let man = practice.docsyncd(&["man"]).await;
    assert_eq!((man.code, man.stderr.as_str()), (0, ""));
    for sign in [".TH docsyncd 1", "SYNOPSIS", "retry", "\\-\\-config", "Exit codes"] {
        assert!(man.stdout.contains(sign), "{sign}: {}", man.stdout);
    }
}

/// Where bash is, its own parser judges the completions.
#[cfg(unix)]
#[tokio::test]
async fn the_completions_for_bash_are_a_script_that_bash_reads() {
    let practice = Practice::with_documents(0).await;
    let script = practice.docsyncd(&["completions", "bash"]).await.stdout;
    std::fs::write(practice.path("completions"), script).unwrap();
    match std::process::Command::new("bash").arg("-n").arg(practice.path("completions")).output() {
        Ok(read) => assert!(read.status.success(), "{read:?}"),
        Err(missing) => println!("not tried: {missing}"),
    }
}
