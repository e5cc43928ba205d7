//! What other users of the machine may try, and what a hostile name may do to a program: against the real program.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use docsyncd_sandbox::NewDocument;
use serde_json::json;

use crate::dictated::*;
use crate::faults::tools::needs;
use crate::harness::{Ended, Practice};

/// A practice with a program, `import-letter`, that takes every document; `args` are TOML.
async fn practice_with_program(args: &str) -> Practice {
    let practice = Practice::with_documents(0).await;
    let program = practice.path("import-letter");
    std::fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    practice.configure_wholly(&format!(
        "{}[destinations.scan]\ntype = \"command\"\nprogram = '{}'\nargs = {args}\n",
        practice.base_config(),
        program.display(),
    ));
    practice
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn assert_refused(ended: &Ended, signs: &[&str]) {
    assert_eq!(ended.code, 2, "{ended:?}");
    for sign in signs {
        assert!(ended.stderr.contains(sign), "{sign}: {ended:?}");
    }
}

#[tokio::test]
async fn a_configuration_that_others_can_write_names_no_program() {
    let practice = practice_with_program("[]").await;
    let file = practice.config_path();
    let set = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o620, 0o602, 0o666] {
        set(mode);
        for command in ["sync", "run", "check"] {
            let ended = practice.docsyncd(&[command]).await;
            assert_refused(&ended, &["`destinations.scan.program`", &format!("chmod go-w '{}'", file.display())]);
        }
    }
    assert!(practice.sandbox.requests().is_empty());
    set(0o644);
    assert_eq!(practice.sync().await.code, 0);
    // Without a program nothing can be made of it but a wrong folder.
    practice.configure("");
    set(0o666);
    assert_eq!(practice.sync().await.code, 0);
}

/// Whoever owns a file gives himself the right to write it.
#[tokio::test]
async fn a_configuration_of_somebody_else_names_no_program() {
    if !is_root() {
        return;
    }
    let practice = practice_with_program("[]").await;
    chown(practice.config_path(), Some(4711), None).unwrap();
    let ended = practice.sync().await;
    assert_refused(&ended, &["`destinations.scan.program`", "chown root"]);
    chown(practice.config_path(), Some(0), None).unwrap();
    assert_eq!(practice.sync().await.code, 0);
}

/// Puts a link to `OUT` in the place of every new folder, as fast as it can, until it is ended. Says how often when it
/// is.
const MOVER: &str = "
import os, signal, sys
inbox, out = sys.argv[1:]
done = 0
def end(*_):
    print(done)
    sys.stdout.flush()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
print('ready', flush=True)
while True:
    for entry in list(os.scandir(inbox)):
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith('moved'):
            try:
                os.rename(entry.path, f'{inbox}/moved{done}')
                os.symlink(out, entry.path)
                done += 1
            except OSError:
                pass
";

/// Another user of the machine, who may write the inbox.
#[tokio::test]
async fn somebody_who_may_write_the_inbox_moves_no_delivery_out_of_it() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    needs!("setpriv", "python3");
    if !is_root() {
        return;
    }
    let practice = Practice::with_documents(0).await;
    practice.configure("file_name = \"{{ document.uuid }}/letter.pdf\"");
    add_small(&practice, 60, |_, document| document).await;
    let out = practice.path("out");
    std::fs::create_dir(&out).unwrap();
    for (folder, mode) in [(practice.dir.path(), 0o711), (&practice.inbox(), 0o777), (&out, 0o777)] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    chown(practice.inbox(), Some(4711), None).unwrap();
    let mut mover = Command::new("setpriv")
        .args(["--reuid=4711", "--regid=4711", "--clear-groups", "python3", "-c", MOVER])
        .args([practice.inbox(), out.clone()])
        // The system's Python: one in somebody's home is not there for others.
        .env("PATH", "/usr/bin:/bin")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(mover.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let synced = practice.sync().await;
    rustix::process::kill_process(rustix::process::Pid::from_child(&mover), rustix::process::Signal::TERM).unwrap();
    let moved: usize = lines.next().unwrap().unwrap().parse().unwrap();
    mover.wait().unwrap();
    let outside: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(outside.is_empty(), "{} of 60 lie outside, {moved} folders were moved: {synced:?}", outside.len());
    assert!(moved >= 10, "this shows nothing: {moved} folders were moved");
}

/// A link that leads to a file of the machine is neither followed nor filled.
async fn assert_not_followed(practice: &Practice, link: &Path, sign: &str) {
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    let there = practice.path("there");
    std::fs::write(&there, "of the machine\n").unwrap();
    for victim in [there.clone(), practice.path("new")] {
        symlink(&victim, link).unwrap();
        for command in ["sync", "run"] {
            let ended = practice.docsyncd(&[command]).await;
            assert_eq!(ended.code, 1, "{ended:?}");
            assert!(ended.stderr.contains("it is a link") && ended.stderr.contains(sign), "{ended:?}");
        }
        std::fs::remove_file(link).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "of the machine\n");
    assert!(!practice.path("new").exists());
    assert!(practice.sandbox.requests().is_empty());
    assert_eq!(practice.sync().await.code, 0, "without the link it works");
    // A file of somebody else, who could read along or hold the lock: root takes none.
    if is_root() {
        std::fs::remove_file(link).unwrap();
        std::fs::write(link, "").unwrap();
        chown(link, Some(4711), None).unwrap();
        let ended = practice.sync().await;
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.stderr.contains("belongs to another user") && ended.stderr.contains(sign), "{ended:?}");
        assert_eq!(std::fs::metadata(link).unwrap().len(), 0);
        // Nor does it mind one of the service's user, whose folder it is.
        chown(link.parent().unwrap(), Some(4711), None).unwrap();
        assert_eq!(practice.sync().await.code, 0);
        assert_eq!(std::fs::metadata(link).unwrap().uid(), 4711);
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_a_lock_is_not_followed() {
    for name in ["ledger.sqlite3.lock", "spool.lock"] {
        let practice = Practice::with_documents(1).await;
        assert_not_followed(&practice, &practice.path("state").join(name), &format!("{name}: it ")).await;
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_the_log_is_not_followed() {
    let mut practice = Practice::with_documents(1).await;
    practice.env.insert("DOCSYNCD__LOG__FILE".into(), "log/docsyncd.log".into());
    let link = practice.path("log/docsyncd.log");
    assert_not_followed(&practice, &link, "log.file").await;
    for victim in ["inbox.log", "new"].map(|name| practice.path(name)) {
        std::fs::write(practice.path("inbox.log"), "").unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink(&victim, &link).unwrap();
        let checked = practice.docsyncd(&["check"]).await;
        assert!(checked.code == 1 && checked.stdout.contains("it is a link"), "{checked:?}");
    }
}

#[tokio::test]
async fn a_name_that_looks_like_an_option_is_refused_alone() {
    let practice = practice_with_program("[\"{{ patient.lastName }}\", \"--name={{ patient.lastName }}\"]").await;
    let patient = |name: &str| Some(json!({"firstName": "Zoé", "lastName": name}));
    let bad = NewDocument { patient: patient("-o/etc/cron.d/x"), ..small("bad") };
    let bad = practice.sandbox.add(bad).await.unwrap();
    let good = NewDocument { patient: patient("Dupont"), ..small("good") };
    let good = practice.sandbox.add(good).await.unwrap();
    assert_eq!(practice.sync().await.code, 3);
    assert_eq!(posts_of(&practice.sandbox, &good), [(Some(true), None)]);
    let posts = posts_of(&practice.sandbox, &bad);
    let [(Some(false), Some(error))] = posts.as_slice() else { panic!("{posts:?}") };
    assert!(error.contains("argument 1") && error.contains("begins with `-`") && !error.contains("cron"), "{error}");
}

#[tokio::test]
async fn check_says_that_arguments_are_visible_to_others() {
    for (args, warns) in [("[\"{{ file }}\", \"{{ document.uuid }}\"]", false), ("[\"{{ patient.lastName }}\"]", true)]
    {
        let checked = practice_with_program(args).await.docsyncd(&["check"]).await;
        assert_eq!(checked.code, 0, "{checked:?}");
        assert_eq!(checked.stdout.contains("other users of this machine can see arguments"), warns, "{checked:?}");
    }
}

#[tokio::test]
async fn the_format_of_a_sidecar_is_what_the_configuration_says_whatever_its_name() {
    for (format, sidecar, expected) in [
        ("csv", "{{ patient.lastName }};{{ patient.firstName }}", "'=cmd;\"<a> ; \"\"b\"\"\""),
        ("xml", "<n>{{ patient.firstName }}</n>", "<n>&lt;a&gt;\n; &quot;b&quot;</n>"),
        ("json", "{{ patient.firstName }}", "\"\\u003ca\\u003e\\n; \\\"b\\\"\""),
        ("ini", "n={{ patient.firstName }}", "n=<a> ; \"b\""),
        ("text", "{{ patient.firstName }}", "<a> ; \"b\""),
    ] {
        let practice = Practice::with_documents(0).await;
        practice.configure(&format!(
            "file_name = \"letter.pdf\"\nsidecar_name = \"letter.dat\"\nsidecar_format = \"{format}\"\nsidecar = '{sidecar}'"
        ));
        let patient = Some(json!({"lastName": "=cmd", "firstName": "<a>\n; \"b\""}));
        practice.sandbox.add(NewDocument { patient, ..small("letter") }).await.unwrap();
        let synced = practice.sync().await;
        assert_eq!(synced.code, 0, "{synced:?}");
        assert_eq!(std::fs::read_to_string(practice.inbox().join("letter.dat")).unwrap(), expected, "{format}");
    }
}

/// What docs/security.md says is shown by a test, in each language.
#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    let mut folders = vec![root.join("src"), root.join("tests/it")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    for page in ["docs/security.md", "docs/fr/security.md", "docs/de/security.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let named: Vec<&str> =
            text.split('`').skip(1).step_by(2).filter_map(|code| code.rsplit_once("::")).map(|two| two.1).collect();
        assert!(named.len() > 20, "{page}: {named:?}");
        for name in named {
            assert!(sources.contains(&format!("fn {name}(")), "{page}: there is no test {name}");
        }
    }
}
