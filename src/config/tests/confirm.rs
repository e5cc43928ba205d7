//! `confirm`, `confirm_failed`, `confirm_within`: valid and invalid settings.

use std::time::Duration;

use super::*;
use crate::formats::sidecar::Charset;

fn confirm_of(content: &str) -> Option<Confirm> {
    loaded(content, &[]).config.destinations["pms"].confirm().cloned()
}

fn of_folder(lines: &str) -> Confirm {
    confirm_of(&with("destinations.pms", lines)).unwrap()
}

const HTTP: &str = "type = \"http\"\nurl = \"https://h.test/in\"";
const SFTP: &str = "type = \"sftp\"\nhost = \"sftp.lab.test\"\nuser = \"u\"\npassword_file = \"p\"\npath = \"/in\"\nknown_hosts_file = \"k\"";
const WEBDAV: &str = "type = \"webdav\"\nurl = \"https://h.test/u\"\npath = \"/in\"";
const S3: &str = "type = \"s3\"\nendpoint = \"https://h.test\"\nbucket = \"b\"\naccess_key_id = \"AK\"\nsecret_access_key_file = \"s\"";

fn of_type(destination: &str, lines: &str) -> String {
    LEAST.replace("type = \"folder\"\npath = \"import\"", &format!("{destination}\n{lines}"))
}

#[test]
fn what_a_software_does_with_a_letter_can_be_said() {
    assert_eq!(confirm_of(LEAST), None);
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    let taken = of_folder("confirm = \"taken\"");
    assert_eq!(taken, Confirm { success: Evidence::Taken, failed: None, within: days(3), charset: Charset::Utf8 });
    assert_eq!(of_folder("confirm = \" Renamed \"\nconfirm_within = \"5d\"").within, days(5));
    for (written, expected) in [
        ("moved:done", "done"),
        ("moved: done/pms/ ", "done/pms"),
        ("moved:done\\pms", "done/pms"),
        ("moved:./done", "done"),
    ] {
        let confirm = of_folder(&format!("confirm = '{written}'\nconfirm_failed = \"moved:refused\""));
        assert_eq!(confirm.success, Evidence::Moved(expected.to_owned()), "{written}");
        assert_eq!(confirm.folders().collect::<Vec<_>>(), [expected, "refused"]);
    }
    let sidecar = "sidecar = \"\"\"READY=0\nERRORLEVEL=0\"\"\"\n";
    let confirm =
        of_folder(&format!("{sidecar}confirm = \"sidecar:READY=1\"\nconfirm_failed = \"sidecar:ERRORLEVEL!=0\""));
    let line = |text: &str| Evidence::Sidecar(SidecarLine::parse(text).unwrap());
    assert_eq!((confirm.success, confirm.failed), (line("READY=1"), Some(line("ERRORLEVEL!=0"))));
    for destination in [SFTP, WEBDAV] {
        let lines = "confirm = \"taken\"\nconfirm_failed = \"moved:refused\"";
        let confirm = confirm_of(&of_type(destination, lines)).unwrap();
        assert_eq!((confirm.success, confirm.failed), (Evidence::Taken, Some(Evidence::Moved("refused".to_owned()))));
    }
    let http = of_type(HTTP, "confirm = \"probe\"\nprobe_url = \"https://h.test/known/{{ key }}\"");
    assert_eq!(confirm_of(&http).unwrap().success, Evidence::Probe);
}

#[test]
fn what_cannot_be_meant_is_an_error_that_says_why() {
    let folder = |lines: &str| with("destinations.pms", lines);
    let sidecar = "sidecar = \"READY=0\"\n";
    let probe = "probe_url = \"https://h.test/known/{{ key }}\"";
    let elsewhere = "`destinations.pms.confirm` does not name a folder below `path`";
    for (content, says) in [
        (folder("confirm = \"gone\""), "`destinations.pms.confirm` is none of \"taken\", \"moved:DIR\""),
        (folder("confirm = \"taken:done\""), "is none of \"taken\""),
        (folder("confirm = \"moved\""), "is none of \"taken\""),
        (folder("confirm = \"probe\""), "is \"probe\", which is for a service over HTTP"),
        (folder("confirm = \"\""), "`destinations.pms.confirm` is empty"),
        (folder("confirm = \"moved:\""), elsewhere),
        (folder("confirm = \"moved:.\""), elsewhere),
        (folder("confirm = \"moved:/srv/done\""), elsewhere),
        (folder("confirm = \"moved:../done\""), elsewhere),
        (folder("confirm = \"moved:a/../b\""), elsewhere),
        (folder("confirm = \"moved:a//b\""), elsewhere),
        (folder(r"confirm = 'moved:C:\done'"), elsewhere),
        (folder(r"confirm = 'moved:\\srv\done'"), elsewhere),
        (
            folder("file_name = \"letters/{{ document.uuid }}.pdf\"\nconfirm = \"moved:Letters\""),
            "names a folder that `file_name` files into",
        ),
        (folder("confirm = \"sidecar:READY=1\""), "waits for a line in the sidecar, and there is none"),
        (folder(&format!("{sidecar}confirm = \"sidecar:READY\"")), "is not \"sidecar:KEY=VALUE\""),
        (folder(&format!("{sidecar}confirm = \"sidecar:=1\"")), "is not \"sidecar:KEY=VALUE\""),
        (folder(&format!("{sidecar}confirm = \"sidecar:READY!=0\"")), "is not \"sidecar:KEY=VALUE\"\n"),
        (folder(&format!("{sidecar}confirm = \"sidecar:ready=0\"")), "holds already of what `sidecar` writes"),
        (
            folder(&format!("{sidecar}confirm = \"taken\"\nconfirm_failed = \"sidecar:READY!=1\"")),
            "`destinations.pms.confirm_failed` holds already",
        ),
        (
            folder("confirm = \"moved:done\"\nconfirm_failed = \"moved:Done/\""),
            "`destinations.pms.confirm_failed` is the same as `confirm`",
        ),
        (
            folder("confirm = \"taken\"\nconfirm_failed = \"taken\""),
            "`destinations.pms.confirm_failed` is none of \"moved:DIR\"",
        ),
        (folder("confirm = \"taken\"\nconfirm_failed = \"moved:..\""), "does not name a folder below `path`"),
        (folder("confirm = \"taken\"\nconfirm_failed = \"sidecar:A=1\""), "waits for a line in the sidecar"),
        (folder("confirm_failed = \"moved:refused\""), "confirm_failed` means nothing without `confirm`"),
        (folder("confirm_within = \"1d\""), "confirm_within` means nothing without `confirm`"),
        (folder("confirm = \"taken\"\nconfirm_within = \"soon\""), "is not a duration"),
        (of_type(HTTP, &format!("{probe}\nconfirm = \"taken\"")), "is not for a service over HTTP"),
        (of_type(HTTP, "confirm = \"probe\""), "is \"probe\", and `probe_url` is missing"),
        (of_type(HTTP, "confirm_within = \"1d\""), "confirm_within` means nothing without `confirm`"),
        (
            of_type(HTTP, &format!("{probe}\nconfirm = \"probe\"\nconfirm_failed = \"moved:a\"")),
            "`destinations.pms.confirm_failed`",
        ),
        (of_type(SFTP, "confirm = \"probe\""), "which is for a service over HTTP"),
        (of_type(WEBDAV, "confirm = \"moved:/done\""), elsewhere),
        (of_type(S3, "confirm = \"taken\""), "`destinations.pms.confirm`"),
        (of_type("type = \"command\"\nprogram = \"x\"", "confirm = \"taken\""), "`destinations.pms.confirm`"),
    ] {
        let text = error(&content, &[]);
        assert!(text.contains(says), "{says}: {text}");
        assert!(!text.contains("the configuration has"), "one fault, one message: {text}");
    }
}
