//! The health in one word, for monitors (`docsyncd status --health`): pure, and a table.
//!
//! It differs from the light in two things. What failed counts until a person has looked at it, so that a new failure
//! is seen beside an old one. And it says "unknown" where nothing can be known, which a page cannot.

use super::{Cause, Facts, Health, Problem};

/// How bad it is, in the words of Nagios and of most monitors; the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// All is well.
    Ok,
    /// Something waits, or a person should look.
    Warning,
    /// It cannot be known.
    Unknown,
    /// Letters are not filed.
    Critical,
}

impl Level {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Unknown => "unknown",
            Level::Critical => "critical",
        }
    }
}

/// The word among the causes for a daemon that does not run; no [`Cause`], as then nobody is told.
pub const NOT_RUNNING: &str = "not-running";

/// The level, and what decides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The worst.
    pub level: Level,
    /// The words of everything that is worse than well, the worst first, each once.
    pub causes: Vec<&'static str>,
    /// The worst problem; `None` if all is well, or if the worst is that no daemon runs.
    pub worst: Option<Problem>,
    /// What else is worse than well.
    pub others: usize,
}

/// Judges what was assessed from these facts.
pub fn judge(facts: &Facts, health: &Health) -> Judged {
    let mut all: Vec<(Level, &Problem)> =
        health.problems.iter().map(|problem| (of(problem, facts), problem)).filter(|one| one.0 > Level::Ok).collect();
    // Stable: among equals the more urgent stays first.
    all.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
    let mut causes = if facts.running { Vec::new() } else { vec![NOT_RUNNING] };
    for (_, problem) in &all {
        let cause = problem.cause.as_str();
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let refused = all.iter().position(|(_, problem)| problem.cause == Cause::Configuration);
    let (level, worst) = match (facts.running, refused) {
        (true, _) => (all.first().map_or(Level::Ok, |one| one.0), Some(0)),
        // What a stopped daemon would work by is not known.
        (false, Some(refused)) => (Level::Unknown, Some(refused)),
        (false, None) => (Level::Critical, None),
    };
    let worst = worst.and_then(|at| all.get(at)).map(|(_, problem)| (*problem).clone());
    Judged { level, causes, others: all.len() - usize::from(worst.is_some()), worst }
}

/// How bad one problem is.
fn of(problem: &Problem, facts: &Facts) -> Level {
    match problem.cause {
        Cause::Ledger
        | Cause::Disk
        | Cause::SignIn
        | Cause::ApiKey
        | Cause::NotAllowed
        | Cause::HostKey
        | Cause::DestinationSignIn => Level::Critical,
        // What may pass by itself, until it has lasted for `alerts.after`.
        Cause::DestinationFull
        | Cause::Silence
        | Cause::DestinationProgram
        | Cause::Destination
        | Cause::DestinationRefuses
        | Cause::Service
        | Cause::ServiceBusy
        | Cause::Downloads
        | Cause::Reports
        | Cause::StalledDelivery
        | Cause::Stalled => match problem.needs_person {
            true => Level::Critical,
            false => Level::Warning,
        },
        Cause::Failed if facts.failed_unseen == 0 => Level::Ok,
        Cause::Unreported if facts.unreported_unseen == 0 => Level::Ok,
        Cause::Failed
        | Cause::Unreported
        | Cause::Unconfirmed
        | Cause::PatientUnknown
        | Cause::PatientsFile
        | Cause::NotTaken
        | Cause::NotReplaced
        | Cause::NotAgreeing
        | Cause::Slept
        | Cause::NotConfigured
        | Cause::Configuration
        | Cause::Clock
        | Cause::Certificate
        | Cause::Quiet => Level::Warning,
    }
}
