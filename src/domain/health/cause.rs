//! The cause of a problem. It decides the remedy, so each cause has a word that selects its texts.

use crate::domain::failure::{Code, Failure, Kind};

/// Why something is wrong; the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The ledger cannot be read or written.
    Ledger,
    /// The disk of the spool is full or does not work.
    Disk,
    /// An account has to sign in again.
    SignIn,
    /// An account's key is refused or cannot be read.
    ApiKey,
    /// An account may not list documents, or lacks a scope.
    NotAllowed,
    /// A destination shows another host key than before.
    HostKey,
    /// A destination refuses its credentials.
    DestinationSignIn,
    /// A destination has no room.
    DestinationFull,
    /// Documents failed.
    Failed,
    /// Documents were delivered, and the service refused the reports.
    Unreported,
    /// Documents may have arrived, which a person must check.
    Unconfirmed,
    /// A person must say which patient of the practice's list a document is about.
    PatientUnknown,
    /// The practice's list of patients cannot be used; or, if documents are counted, it has none of their patients.
    PatientsFile,
    /// Documents were filed, and the destination's software has not taken them.
    NotTaken,
    /// New versions of documents were filed beside the ones that they replace.
    NotReplaced,
    /// The service, docsyncd and the destinations disagree about letters.
    NotAgreeing,
    /// No poll has succeeded for a long time.
    Silence,
    /// The machine slept or was off for a long time.
    Slept,
    /// A destination's program is missing or cannot be started.
    DestinationProgram,
    /// A destination cannot be reached.
    Destination,
    /// A destination answers, but accepts nothing.
    DestinationRefuses,
    /// The service cannot be reached, or has an internal error.
    Service,
    /// The service asks docsyncd to wait.
    ServiceBusy,
    /// The service does not give acceptable PDFs.
    Downloads,
    /// The service does not accept reports.
    Reports,
    /// Single documents cannot be delivered.
    StalledDelivery,
    /// Single documents cannot be fetched or reported.
    Stalled,
    /// Documents wait for an account that is no longer configured.
    NotConfigured,
    /// The changed configuration is refused, and the one before stays in force.
    Configuration,
    /// The clock of this computer differs from the service's.
    Clock,
    /// Browsers do not believe the certificate of the status page, or soon will not.
    Certificate,
    /// No letter came for days, where usually some come.
    Quiet,
}

/// Every cause, the most urgent first.
pub const CAUSES: [Cause; 32] = [
    Cause::Ledger,
    Cause::Disk,
    Cause::SignIn,
    Cause::ApiKey,
    Cause::NotAllowed,
    Cause::HostKey,
    Cause::DestinationSignIn,
    Cause::DestinationFull,
    Cause::Failed,
    Cause::Unreported,
    Cause::Unconfirmed,
    Cause::PatientUnknown,
    Cause::PatientsFile,
    Cause::NotTaken,
    Cause::NotReplaced,
    Cause::NotAgreeing,
    Cause::Silence,
    Cause::Slept,
    Cause::DestinationProgram,
    Cause::Destination,
    Cause::DestinationRefuses,
    Cause::Service,
    Cause::ServiceBusy,
    Cause::Downloads,
    Cause::Reports,
    Cause::StalledDelivery,
    Cause::Stalled,
    Cause::NotConfigured,
    Cause::Configuration,
    Cause::Clock,
    Cause::Certificate,
    Cause::Quiet,
];

impl Cause {
    /// The word in the ledger, in JSON, and in the names of its texts.
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::Ledger => "ledger",
            Cause::Disk => "disk",
            Cause::SignIn => "sign-in",
            Cause::ApiKey => "api-key",
            Cause::NotAllowed => "not-allowed",
            Cause::HostKey => "host-key",
            Cause::DestinationSignIn => "destination-sign-in",
            Cause::DestinationFull => "destination-full",
            Cause::Failed => "failed",
            Cause::Unreported => "unreported",
            Cause::Unconfirmed => "unconfirmed",
            Cause::PatientUnknown => "patient-unknown",
            Cause::PatientsFile => "patients-file",
            Cause::NotTaken => "not-taken",
            Cause::NotReplaced => "not-replaced",
            Cause::NotAgreeing => "not-agreeing",
            Cause::Silence => "silence",
            Cause::Slept => "slept",
            Cause::DestinationProgram => "destination-program",
            Cause::Destination => "destination",
            Cause::DestinationRefuses => "destination-refuses",
            Cause::Service => "service",
            Cause::ServiceBusy => "service-busy",
            Cause::Downloads => "downloads",
            Cause::Reports => "reports",
            Cause::StalledDelivery => "stalled-delivery",
            Cause::Stalled => "stalled",
            Cause::NotConfigured => "not-configured",
            Cause::Configuration => "configuration",
            Cause::Clock => "clock",
            Cause::Certificate => "certificate",
            Cause::Quiet => "quiet",
        }
    }

    /// The cause with this word.
    pub fn parse(word: &str) -> Option<Self> {
        CAUSES.into_iter().find(|cause| cause.as_str() == word)
    }

    /// Whether it does not pass by itself, so that a person is told at once. Every cause after these may pass.
    pub fn is_urgent(self) -> bool {
        self <= Cause::Slept
    }

    /// Whether it stops everything: a destination or an account that all waits for.
    pub fn stops_all(self) -> bool {
        matches!(
            self,
            Cause::Ledger
                | Cause::Disk
                | Cause::SignIn
                | Cause::ApiKey
                | Cause::NotAllowed
                | Cause::HostKey
                | Cause::DestinationSignIn
                | Cause::DestinationFull
                | Cause::Silence
                | Cause::DestinationProgram
                | Cause::Destination
                | Cause::DestinationRefuses
                | Cause::Service
                | Cause::ServiceBusy
                | Cause::Downloads
                | Cause::Reports
        )
    }

    /// Whether a destination takes nothing.
    pub fn is_of_destination(self) -> bool {
        matches!(
            self,
            Cause::HostKey
                | Cause::DestinationSignIn
                | Cause::DestinationFull
                | Cause::DestinationProgram
                | Cause::Destination
                | Cause::DestinationRefuses
        )
    }

    /// Whether single documents failed, or need a person.
    pub fn is_of_documents(self) -> bool {
        matches!(
            self,
            Cause::Failed
                | Cause::Unreported
                | Cause::Unconfirmed
                | Cause::PatientUnknown
                | Cause::NotTaken
                | Cause::NotReplaced
        )
    }

    /// Whether documents failed, or cannot be filed: red, and not amber, once a person is needed.
    pub fn is_red(self) -> bool {
        let is_stuck =
            matches!(self, Cause::PatientsFile | Cause::StalledDelivery | Cause::Stalled | Cause::NotConfigured);
        let is_failed = matches!(self, Cause::Failed | Cause::Unreported);
        is_stuck || is_failed || self.stops_all() && self != Cause::Reports
    }

    /// Whether an account waits for a person.
    pub fn is_sign_in(self) -> bool {
        matches!(self, Cause::SignIn | Cause::ApiKey | Cause::NotAllowed)
    }

    /// Whether its documents wait, so that the sentence begins with them.
    pub fn holds_documents(self) -> bool {
        !matches!(
            self,
            Cause::Ledger
                | Cause::Failed
                | Cause::Unreported
                | Cause::Unconfirmed
                | Cause::PatientUnknown
                | Cause::PatientsFile
                | Cause::NotTaken
                | Cause::NotReplaced
                | Cause::NotAgreeing
                | Cause::Silence
                | Cause::Slept
                | Cause::NotConfigured
                | Cause::Configuration
                | Cause::Clock
                | Cause::Certificate
                | Cause::Quiet
        )
    }
}

/// The cause if an account is refused.
pub(super) fn of_sign_in(signs_in: bool) -> Cause {
    if signs_in { Cause::SignIn } else { Cause::ApiKey }
}

/// The cause of a pause of an account.
pub(super) fn of_account(failure: Option<&Failure>, signs_in: bool) -> Cause {
    if failure.is_some_and(|failure| has_code(failure, &["status_403", "scope"])) {
        return Cause::NotAllowed;
    }
    of_sign_in(signs_in)
}

/// The cause of a pause of an account's downloads.
pub(super) fn of_fetch(failure: Option<&Failure>) -> Cause {
    match failure {
        Some(failure) if failure.kind == Kind::NoRoom || has_code(failure, &["spool", "spool_file_limit"]) => {
            Cause::Disk
        }
        failure => of_service(failure).unwrap_or(Cause::Downloads),
    }
}

/// The cause of a pause of an account's reports.
pub(super) fn of_report(failure: Option<&Failure>) -> Cause {
    of_service(failure).unwrap_or(Cause::Reports)
}

/// The cause of failed polls of an account's list.
pub(super) fn of_poll(failure: Option<&Failure>) -> Cause {
    of_service(failure).unwrap_or(Cause::Service)
}

/// The cause of a pause of a destination.
pub(super) fn of_destination(failure: Option<&Failure>) -> Cause {
    let Some(failure) = failure else { return Cause::Destination };
    let Some(code) = failure.code() else { return Cause::DestinationFull };
    match code.to_string().as_str() {
        "full" => Cause::DestinationFull,
        "host_key" => Cause::HostKey,
        "credentials" | "secret_file" | "sign_in_refused" | "status_401" => Cause::DestinationSignIn,
        "program_unusable" | "not_started" => Cause::DestinationProgram,
        "check" | "unreachable" | "not_found" | "no_folder" | "folder_unusable" | "another_folder" | "no_answer"
        | "no_connection" | "no_greeting" | "busy" | "no_such_host" | "refused" | "cut" | "broken_off" => {
            Cause::Destination
        }
        _ => Cause::DestinationRefuses,
    }
}

/// The cause if the whole service or the whole account is affected, so that downloads, reports and polls make one
/// problem.
fn of_service(failure: Option<&Failure>) -> Option<Cause> {
    let failure = failure?;
    if has_code(failure, &["status_429"]) {
        return Some(Cause::ServiceBusy);
    }
    // A 403 concerns one document, unless the service names the missing scope.
    if failure.kind == Kind::Down(Code::Status(403)) {
        return Some(Cause::NotAllowed);
    }
    let is_away = match &failure.kind {
        Kind::Down(_) => true,
        Kind::Passing(code) => {
            let code = code.to_string();
            code.starts_with("status_5") || ["unreachable", "broken_off"].contains(&code.as_str())
        }
        Kind::NoRoom | Kind::Doubtful(_) | Kind::Unconfirmed(_) | Kind::Permanent(_) | Kind::Own(_) => false,
    };
    is_away.then_some(Cause::Service)
}

fn has_code(failure: &Failure, words: &[&str]) -> bool {
    failure.code().is_some_and(|code| words.contains(&code.to_string().as_str()))
}
