use super::*;

const MMI: &str = "; entered by hand: J\u{f6}rg\n[PVS]\nNAME1=CDP_Z1\nARCHIV=PVS_ARCHIV\n\n[PVS_ARCHIV]\nMMOINFIMPORT=C:\\CGM\\PRAXIS~1\\MmoInfIm.exe\n\
                   [BVS]\nNAME1=CONVIS\nname3 = Sidexis\n\n; the last one\n[Sidexis]\nNAME=\"Sidexis 4\"\n";

#[test]
fn an_announcement_has_every_field_and_its_answer_counts_when_it_is_ready() {
    let id = object_id("608d8484a1fe430efb0921e1b2b0700f");
    assert!(is_object_id(&id) && !is_object_id("../../../../etc/pass") && !is_object_id(&format!("{id}0")));
    let announcement = Announcement {
        practice_software: "CDP_Z1",
        patient_id: "4711",
        id: &id,
        date: "20261127",
        time: "09:05",
        comment: "referral letter",
    };
    let text = announcement.text();
    let ini = Ini::parse(&text);
    for (section, key, value) in [
        ("PATID", "PVS", "CDP_Z1"),
        ("patid", "bvs", "DOCSYNCD"),
        ("PATID", "FROMPVS", "CDP_Z1"),
        ("PATID", "PRXNR", "1"),
        ("PATID", "PATID", "4711"),
        ("PATID", "ERRORLEVEL", "0"),
        ("PATID", "READY", "0"),
        ("MMOS", "COUNT", "1"),
        ("MMO1", "MMOID", "608d8484a1fe430efb09"),
        ("MMO1", "TYPE", "Formular"),
        ("MMO1", "TYPENR", "10"),
        ("MMO1", "EXT", "PDF"),
        ("MMO1", "COLORTYPE", "LINEART"),
        ("MMO1", "DATE", "20261127"),
        ("MMO1", "TIME", "09:05"),
        ("MMO1", "COMMENT", "referral letter"),
    ] {
        assert_eq!(ini.get(section, key), Some(value), "{key}");
    }
    assert!(bytes(&text).unwrap().windows(2).filter(|two| two == b"\r\n").count() > 15);

    let answered = |level: &str| answer(&text.replace("READY=0", "READY=1").replace("ERRORLEVEL=0", level), &id);
    assert_eq!(answer(&text, &id), None);
    assert_eq!(answered("ERRORLEVEL=0"), Some(Answer::Taken));
    assert_eq!(answered("errorlevel = 00 "), Some(Answer::Taken));
    assert_eq!(answered("ERRORLEVEL=12"), Some(Answer::Refused(Some(12))));
    for level in ["ERRORLEVEL=-1", "ERRORLEVEL=", "ERRORLEVEL=no", "ERRORLEVEL=256"] {
        assert_eq!(answered(level), Some(Answer::Refused(None)), "{level}");
    }
    // Half a file, and an answer to another letter.
    assert_eq!(answered(""), None);
    assert_eq!(answer(&text.replace("READY=0", "READY=1"), "00000000000000000000"), None);
    assert_eq!(answer("READY=1\nERRORLEVEL=0", &id), None);
    assert_eq!(answer("[PATID]\nREADY=1\nERRORLEVEL=0", &id), Some(Answer::Taken));
}

#[test]
fn an_archive_that_asks_is_told_the_paths_and_at_last_that_they_are_all() {
    let asked = "[MMOIDS]\r\nPVS=CDP_Z1\r\nCOUNT=2\r\nMMOID1=a\r\nmmoid2 = b\r\nREADY=0\r\nERRORLEVEL=7\r\nERRORTEXT=old\r\n[MMOPATH]\r\nMMOID1=x\r\n";
    let [unready, ready] = exported(asked, |id| Some(format!("C:\\{id}.pdf"))).unwrap();
    let expected = "[MMOIDS]\nPVS=CDP_Z1\nCOUNT=2\nMMOID1=a\nmmoid2=b\nERRORLEVEL=0\nREADY=1\n[MMOPATH]\nMMOID1=C:\\a.pdf\nmmoid2=C:\\b.pdf\n";
    assert_eq!(ready, expected);
    assert_eq!(unready, expected.replace("READY=1", "READY=0"));
    let [_, one] = exported(asked, |id| (id == "a").then(|| "p".to_owned())).unwrap();
    assert!(one.contains("ERRORLEVEL=1\n") && one.contains("ERRORTEXT=") && one.contains("READY=1\n"), "{one}");
    let [_, none] = exported("[MMOIDS]\nCOUNT=0\n", |_| Some(String::new())).unwrap();
    assert!(none.contains("ERRORLEVEL=1\n"), "{none}");
    // Everything beside it is the archive's.
    let others = "; of the archive\r\n[X]\r\nMMOID1=z\r\n; kept\r\n";
    let beside = asked.replace("[MMOPATH]", "[Z1]\r\nA = \"1\"\r\n[mmopath]");
    let [_, ready] = exported(&format!("{others}{beside}"), |id| Some(format!("C:\\{id}.pdf"))).unwrap();
    assert_eq!(ready, format!("; of the archive\n[X]\nMMOID1=z\n; kept\n[Z1]\nA = \"1\"\n{expected}"));
    assert_eq!(exported("[PATID]\nPATID=4711\n", |_| None), None);
    assert_eq!(exported("no ini", |_| None), None);
}

#[test]
fn docsyncd_is_entered_beside_the_others_and_taken_out_again_without_a_trace() {
    for file in [bytes(MMI).unwrap(), bytes(MMI).unwrap().replace_ends()] {
        let entered = registered(&file, b"C:\\x\\vdds-export.cmd");
        let said = text(&entered);
        let ini = Ini::parse(&said);
        assert_eq!(ini.get("BVS", "NAME4"), Some("DOCSYNCD"), "{said}");
        assert_eq!(ini.get("docsyncd", "mmoexport"), Some("C:\\x\\vdds-export.cmd"), "{said}");
        assert_eq!(ini.get("Sidexis", "NAME"), Some("Sidexis 4"), "{said}");
        assert!(said.contains("; entered by hand: J\u{f6}rg") && ini.get("CONVIS", "x").is_none());
        assert_eq!(said.contains("\r\n"), text(&file).contains("\r\n"));
        assert_eq!(registered(&entered, b"C:\\x\\vdds-export.cmd"), entered, "a second time changes nothing");
        assert_eq!(unregistered(&entered), file);
        // What others wrote after it stays.
        let followed = [entered.as_slice(), b"; of another\n[Another]\nNAME=a\n"].concat();
        assert_eq!(unregistered(&followed), [file.as_slice(), b"; of another\n[Another]\nNAME=a\n"].concat());
    }
    let alone = text(&registered(b"[PVS]\nNAME1=X", b"p"));
    assert!(alone.starts_with("[PVS]\nNAME1=X\n[BVS]\nNAME1=DOCSYNCD\n[DOCSYNCD]\n"), "{alone:?}");
    assert!(text(&registered(b"", b"p")).starts_with("[BVS]\r\nNAME1=DOCSYNCD\r\n[DOCSYNCD]\r\n"));
}

/// With Unix line ends.
trait ReplaceEnds {
    fn replace_ends(self) -> Self;
}

impl ReplaceEnds for Vec<u8> {
    fn replace_ends(self) -> Self {
        self.into_iter().filter(|byte| *byte != b'\r').collect()
    }
}
