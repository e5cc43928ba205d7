//! Folders that somebody else has prepared.

use super::super::effective_acl::create_file_with;
use super::super::{access_list, create_folder, create_folder_with, trusted_accounts};
use super::*;

const OTHER: &str = "S-1-5-21-1-2-3-1001";
const USERS: &str = "S-1-5-32-545";

fn found(owner: &str, entries: &[(&str, u32, bool)]) -> ObjectSecurity {
    let entry = |(account, rights, inherited): &(&str, u32, bool)| Entry {
        account: (*account).to_owned(),
        rights: *rights,
        inherited: *inherited,
    };
    ObjectSecurity { owner: owner.to_owned(), entries: entries.iter().map(entry).collect() }
}

#[test]
fn whoever_owns_a_folder_or_may_write_there_is_somebody_trusted_or_it_is_refused() {
    let (read, write, all) = (0x0012_00a9, FILE_APPEND_DATA, 0x001f_01ff);
    let trusted = trusted_accounts();
    let judged =
        |found: &ObjectSecurity| (judge(found, &trusted, true).is_some(), judge(found, &trusted, false).is_some());
    let own = [("S-1-5-18", all, false), ("S-1-5-32-544", all, false), ("S-1-3-0", all, true)];
    for owner in ["S-1-5-18", "S-1-5-32-544", super::super::VIRTUAL_ACCOUNT] {
        assert_eq!(judged(&found(owner, &own)), (false, false), "{owner}");
        let readable = [&own[..], &[(USERS, read, false)]].concat();
        assert_eq!(judged(&found(owner, &readable)), (false, false), "reading changes nothing");
        // All objects in %ProgramData% have this: users may create files and folders.
        let inherited = [&own[..], &[(USERS, read, true), (USERS, write, true)]].concat();
        assert_eq!(judged(&found(owner, &inherited)), (true, false), "open until it is closed");
        let explicit = [&own[..], &[(OTHER, all, false)]].concat();
        assert_eq!(judged(&found(owner, &explicit)), (true, true), "files in it keep this entry");
        for rights in [WRITE_DAC, WRITE_OWNER, DELETE, FILE_DELETE_CHILD, GENERIC_ALL, GENERIC_WRITE] {
            assert_eq!(judged(&found(owner, &[(OTHER, rights, false)])), (true, true), "{rights:x}");
        }
    }
    for owner in [OTHER, USERS, "S-1-5-19", "S-1-5-20"] {
        assert_eq!(judged(&found(owner, &own)), (true, true), "{owner}");
    }
}

#[test]
fn a_folder_of_our_own_is_not_refused() {
    let above = tempfile::tempdir().unwrap();
    let closed = above.path().join("closed");
    create_folder(&closed).unwrap();
    std::fs::write(closed.join("docsyncd.toml"), "").unwrap();
    create_folder(&closed.join("spool")).unwrap();
    assert_eq!(suspicion(&closed).unwrap(), None);
    assert_eq!(suspicion_within(&closed).unwrap(), None);
    assert_eq!(suspicion(&above.path().join("none")).unwrap(), None);
    assert_eq!(suspicion_within(&above.path().join("none")).unwrap(), None);
}

#[test]
fn a_file_that_every_user_may_read_is_told_from_one_that_only_some_may() {
    let above = tempfile::tempdir().unwrap();
    let (open, closed) = (above.path().join("open"), above.path().join("closed"));
    create_file_with(&open, &format!("{}(A;;FR;;;WD)", access_list(false)));
    create_file_with(&closed, &access_list(false));
    assert_eq!(read_by_everybody(&open), Some("Everyone"));
    assert_eq!(read_by_everybody(&closed), None);
    assert_eq!(read_by_everybody(&above.path().join("none")), None);
}

#[test]
#[ignore = "wine takes from a list what the umask takes from a mode; .ci/windows-installer makes such folders from outside"]
fn one_that_others_may_write_to_is_refused_and_so_is_what_holds_it() {
    let above = tempfile::tempdir().unwrap();
    let closed = above.path().join("closed");
    create_folder(&closed).unwrap();
    let open = closed.join("open");
    create_folder_with(&open, "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;WD)").unwrap();
    for said in [suspicion(&open), suspicion_within(&open), suspicion_within(&closed)] {
        let said = said.unwrap().expect("it is refused");
        assert!(said.contains("open can be changed by others (S-1-1-0)"), "{said}");
    }
    // Only its content is the problem: a closed folder lets nobody put anything into it.
    assert_eq!(suspicion(&closed).unwrap(), None);
}

#[test]
#[ignore = "wine makes no junction"]
fn a_junction_is_refused_wherever_it_leads() {
    let above = tempfile::tempdir().unwrap();
    let (folder, there) = (above.path().join("docsyncd"), above.path().join("there"));
    create_folder(&there).unwrap();
    let mut command = std::process::Command::new("cmd");
    assert!(command.args(["/c", "mklink", "/J"]).arg(&folder).arg(&there).status().unwrap().success());
    for said in [suspicion(&folder), suspicion_within(&folder), suspicion_within(above.path())] {
        let said = said.unwrap().expect("it is refused");
        assert!(said.contains("docsyncd is a link or a junction"), "{said}");
    }
}
