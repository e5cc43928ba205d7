//! The rights of the service on a share, which differ from those of the person who runs `docsyncd check`.

use std::path::{Component, Path, Prefix};

use super::controller;

/// Which account's rights count on this share; `None` for a path on this machine.
pub fn rights_on_shares(path: &Path) -> Option<String> {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return None };
    if !matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)) {
        return None;
    }
    let computer = std::env::var("COMPUTERNAME").unwrap_or_else(|_| "COMPUTER".to_owned());
    Some(words(controller::account().as_deref(), &computer))
}

/// `account` is the account of the installed service.
fn words(account: Option<&str>, computer: &str) -> String {
    let by_machine = |account: &str| {
        let account = account.to_ascii_uppercase();
        account.starts_with(r"NT SERVICE\") || account == "LOCALSYSTEM" || account.ends_with(r"\NETWORKSERVICE")
    };
    match account {
        Some(account) if !by_machine(account) => format!(
            "tried with your rights; the service uses those of {account}: give that account Change on the share and \
             Modify on the folder"
        ),
        _ => format!(
            "tried with your rights; the service reaches a share as the computer: give {computer}$ Change on the share and \
             Modify on the folder. Without a domain that cannot be: choose a user of the file server for the service in \
             services.msc (docsyncd, Log On)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_that_counts_is_named() {
        for machine in [None, Some(r"NT SERVICE\docsyncd"), Some("LocalSystem"), Some(r"NT AUTHORITY\NetworkService")] {
            assert!(words(machine, "DESK7").contains("DESK7$"), "{machine:?}");
        }
        let of_user = words(Some(r"PRACTICE\docsync"), "DESK7");
        assert!(of_user.contains(r"PRACTICE\docsync") && !of_user.contains("DESK7"), "{of_user}");
    }

    #[test]
    fn only_shares_are_spoken_of() {
        assert!(rights_on_shares(Path::new(r"\\server\pms\import")).is_some());
        assert!(rights_on_shares(Path::new(r"\\?\UNC\server\pms\import")).is_some());
        assert!(rights_on_shares(Path::new(r"C:\import")).is_none());
    }
}
