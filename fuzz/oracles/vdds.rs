//! What an archive writes into an INI file (VDDS-media), and what stands in a file that all archives share.

use docsyncd::formats::vdds::{Answer, answer, exported, registered, text, unregistered};

/// The number of the object that was announced.
const ID: &str = "608d8484a1fe430efb09";

/// An INI file, read as each of those that there are.
pub fn check(input: &[u8]) {
    let said = text(input);
    if answer(&said, ID) == Some(Answer::Taken) {
        let has = |key: &str, value: &str| {
            said.lines().filter_map(|line| line.split_once('=')).any(|(name, told)| {
                name.trim().eq_ignore_ascii_case(key)
                    && told.trim().trim_matches('"').trim_start_matches(['0', '+']) == value
            })
        };
        assert!(has("READY", "1") && has("ERRORLEVEL", "") && said.to_ascii_uppercase().contains("[PATID"), "{said:?}");
    }
    if let Some([unready, ready]) = exported(&said, |id| (id.len() == 20).then(|| format!("C:\\vdds\\{id}.pdf"))) {
        assert_eq!(unready.len(), ready.len());
        assert_eq!(unready.matches("\nREADY=").count(), ready.matches("\nREADY=").count());
        assert!(answered(&ready) && !answered(&unready), "{ready:?}");
    }
    // Others keep each line.
    let (entered, without) = (registered(input, b"C:\\docsyncd\\vdds-export.cmd"), unregistered(input));
    let taken_out = unregistered(&entered);
    assert!(taken_out.starts_with(&without), "{said:?}");
    assert!(entered.len() > without.len());
    assert_eq!(registered(&entered, b"C:\\docsyncd\\vdds-export.cmd"), entered, "{said:?}");
}

fn answered(text: &str) -> bool {
    docsyncd::formats::vdds::Ini::parse(text).get("MMOIDS", "READY") == Some("1")
}
