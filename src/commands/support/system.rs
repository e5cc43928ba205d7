//! This program and this computer.

use serde::Serialize;

/// The computer, without its name.
#[derive(Serialize)]
pub(super) struct System {
    os: &'static str,
    architecture: &'static str,
    distribution: Option<&'static str>,
    distribution_version: Option<Numbers>,
    time_zone: Option<String>,
    /// How many seconds local time is ahead of UTC.
    utc_offset: i32,
}

/// Numbers with dots between them.
#[derive(Serialize)]
#[serde(transparent)]
struct Numbers(Vec<u32>);

/// Known distributions, by their names.
const DISTRIBUTIONS: [&str; 14] = [
    "almalinux",
    "alpine",
    "amzn",
    "arch",
    "centos",
    "debian",
    "fedora",
    "linuxmint",
    "ol",
    "opensuse-leap",
    "raspbian",
    "rhel",
    "rocky",
    "ubuntu",
];

impl System {
    pub(super) fn of_this() -> Self {
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let field = |name: &str| {
            let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            value.map(|value| value.trim_matches('"').to_owned())
        };
        let numbers = |text: String| text.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>();
        let here = jiff::Zoned::now();
        // A name in the database of time zones, and no other text of the environment.
        let zone = here.time_zone().iana_name().filter(|name| jiff::tz::db().get(name).is_ok());
        Self {
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            distribution: field("ID").and_then(|id| DISTRIBUTIONS.into_iter().find(|known| *known == id)),
            distribution_version: field("VERSION_ID").and_then(numbers).map(Numbers),
            time_zone: zone.map(str::to_owned),
            utc_offset: here.offset().seconds(),
        }
    }
}

/// The languages of destinations that are built in.
pub(super) fn features() -> Vec<&'static str> {
    let mut features = crate::destinations::features();
    features.extend(cfg!(feature = "failpoints").then_some("failpoints"));
    features
}
