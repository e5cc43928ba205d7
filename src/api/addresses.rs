//! Where downloads may go. The server chooses the address of a PDF, so it must not be able to make docsyncd reach into
//! this machine or the practice's network. Loopback, link-local, private and other special addresses are refused,
//! unless the API itself lies among them or `api.pdf_hosts` names the host.
//!
//! A name is resolved before the request, and again for the connection. The second time decides, since the name may
//! resolve to another address by then (DNS rebinding).

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::config::ApiConfig;
use crate::system::http::{ForbiddenNetwork, Unresolved, look_up};

/// Kinds of networks (IANA's special-purpose address registries; RFC 6890).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Realm {
    /// The Internet.
    Public,
    /// This machine.
    Loopback,
    /// The local link, and the metadata services where cloud machines get their own secrets.
    LinkLocal,
    /// The practice's network.
    Private,
    /// Unspecified, multicast, reserved: nothing is downloaded from there.
    Special,
}

/// Whether the address is on this machine, in the practice's network, or special.
pub fn leads_inside(address: IpAddr) -> bool {
    realm(address) != Realm::Public
}

fn realm(address: IpAddr) -> Realm {
    match address {
        IpAddr::V4(address) => realm_v4(address),
        IpAddr::V6(address) => embedded(address).map_or_else(|| realm_v6(address), realm_v4),
    }
}

fn realm_v4(address: Ipv4Addr) -> Realm {
    match address.octets() {
        [127, ..] => Realm::Loopback,
        [169, 254, ..] => Realm::LinkLocal,
        // Includes the addresses that a provider shares among its customers (RFC 6598), and those for benchmarks.
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] | [198, 18..=19, ..] => Realm::Private,
        [0 | 224.., ..] | [192, 0, 0, _] => Realm::Special,
        _ => Realm::Public,
    }
}

fn realm_v6(address: Ipv6Addr) -> Realm {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Realm::Loopback,
        [0xfe80..=0xfebf, ..] => Realm::LinkLocal,
        // Unique local, and the former site-local addresses.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Realm::Private,
        [0 | 0xff00..=0xffff, ..] => Realm::Special,
        _ => Realm::Public,
    }
}

/// The IPv4 address behind an IPv6 address that is mapped, compatible or translated (RFC 4291, 2.5.5; RFC 6052; RFC
/// 8215; 6to4, RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => of(high, low),
        _ => None,
    }
}

/// Where the downloads of one API may go.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    base: Arc<Url>,
    /// `api.pdf_hosts` and the API's own host.
    named: Arc<HashSet<String>>,
    /// Hosts of proxies, which docsyncd connects to instead of the target.
    proxies: Arc<HashSet<String>>,
}

impl Guard {
    pub fn new(config: &ApiConfig) -> Self {
        let named = config.pdf_hosts.iter().map(String::as_str).chain(config.base_url.host_str());
        Self {
            base: Arc::new(config.base_url.clone()),
            named: Arc::new(named.map(folded).collect()),
            proxies: Arc::new(proxies(config)),
        }
    }

    /// Whether a download may go to this address, as far as can be said before the connection.
    pub async fn permits(&self, url: &Url) -> bool {
        let (Some(host), Some(name)) = (url.host(), url.host_str()) else { return false };
        let found = match host {
            Host::Ipv4(address) => vec![SocketAddr::from((address, 0))],
            Host::Ipv6(address) => vec![SocketAddr::from((address, 0))],
            // The proxy may know a name that this machine does not; otherwise the connection fails.
            Host::Domain(name) => match look_up(name).await {
                Ok(found) => found,
                Err(_) => return true,
            },
        };
        !self.keep(name, found).await.is_empty()
    }

    /// The addresses of a host to which a download may go.
    async fn keep(&self, host: &str, mut found: Vec<SocketAddr>) -> Vec<SocketAddr> {
        if self.named.contains(&folded(host)) || found.iter().all(|address| realm(address.ip()) == Realm::Public) {
            return found;
        }
        let home = self.home().await;
        found.retain(|address| match realm(address.ip()) {
            Realm::Public => true,
            Realm::Special => false,
            realm => home.contains(&realm),
        });
        found
    }

    /// The networks in which the API itself lies.
    async fn home(&self) -> HashSet<Realm> {
        match self.base.host() {
            Some(Host::Ipv4(address)) => HashSet::from([realm(address.into())]),
            Some(Host::Ipv6(address)) => HashSet::from([realm(address.into())]),
            Some(Host::Domain(name)) => {
                look_up(name).await.unwrap_or_default().iter().map(|address| realm(address.ip())).collect()
            }
            None => HashSet::new(),
        }
    }
}

/// The hosts of the proxies that requests may go through.
fn proxies(config: &ApiConfig) -> HashSet<String> {
    if let Some(proxy) = &config.proxy {
        return proxy.host_str().map(folded).into_iter().collect();
    }
    let system = Matcher::from_system();
    let targets = ["http://pdf.example.test/", "https://pdf.example.test/"];
    let used = targets.into_iter().filter_map(|target| system.intercept(&target.parse().ok()?));
    used.filter_map(|proxy| proxy.uri().host().map(folded)).collect()
}

/// Lower case, without final dots and the brackets of IPv6, for comparisons.
pub(super) fn folded(host: &str) -> String {
    host.trim_end_matches('.').trim_matches(['[', ']']).to_ascii_lowercase()
}

/// The system's resolver, with docsyncd's own error, and with the rules of a guard where there is one.
pub(super) struct Resolver(pub Option<Guard>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            let name = name.as_str();
            let mut found = look_up(name).await.map_err(|_| Unresolved)?;
            if found.is_empty() {
                return Err(Unresolved.into());
            }
            if let Some(guard) = guard.filter(|guard| !guard.proxies.contains(&folded(name))) {
                found = guard.keep(name, found).await;
            }
            if found.is_empty() {
                return Err(ForbiddenNetwork.into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> Realm {
        realm(address.parse().unwrap())
    }

    #[test]
    fn special_addresses_are_known_however_they_are_written() {
        for (realm, addresses) in [
            (Realm::Public, &["93.184.216.34", "2606:4700::1111", "172.32.0.1", "::ffff:93.184.216.34"][..]),
            (
                Realm::Loopback,
                &["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "::127.0.0.1"],
            ),
            (Realm::LinkLocal, &["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "2002:a9fe:a9fe::"]),
            (Realm::Private, &["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "64:ff9b::a00:1"]),
            (Realm::Special, &["0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "ff02::1", "::ffff:0.0.0.0"]),
        ] {
            for address in addresses {
                assert_eq!(of(address), realm, "{address}");
            }
        }
    }

    fn guard(base: &str, pdf_hosts: &[&str]) -> Guard {
        Guard {
            base: Arc::new(base.parse().unwrap()),
            named: Arc::new(
                pdf_hosts.iter().copied().chain(Url::parse(base).unwrap().host_str()).map(folded).collect(),
            ),
            proxies: Arc::default(),
        }
    }

    async fn permits(guard: &Guard, url: &str) -> bool {
        guard.permits(&Url::parse(url).unwrap()).await
    }

    /// `localhost` is the only name that every machine knows and that resolves to a special address.
    const LOOPBACK: [&str; 7] = [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://127.1/",
        "http://0x7f.0.0.1/",
        "http://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://LOCALHOST/",
    ];
    const INSIDE: [&str; 5] = [
        "https://10.0.0.7/",
        "https://192.168.1.1/",
        "https://169.254.169.254/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
    ];

    #[tokio::test]
    async fn nothing_inside_is_reached_for_an_api_on_the_internet() {
        let guard = guard("https://93.184.216.34/", &[]);
        for url in LOOPBACK.into_iter().chain(INSIDE).chain(["http://0.0.0.0/", "https://224.0.0.1/"]) {
            assert!(!permits(&guard, url).await, "{url}");
        }
        assert!(permits(&guard, "https://93.184.216.35/").await);
    }

    #[tokio::test]
    async fn an_api_that_lies_inside_opens_its_own_realm_only() {
        let here = guard("http://127.0.0.1:8080/", &[]);
        for url in LOOPBACK {
            assert!(permits(&here, url).await, "{url}");
        }
        for url in INSIDE.into_iter().chain(["http://0.0.0.0/"]) {
            assert!(!permits(&here, url).await, "{url}");
        }
        let by_name = guard("https://localhost/", &[]);
        assert!(permits(&by_name, "http://127.0.0.9/").await && !permits(&by_name, "https://10.0.0.7/").await);
        let practice = guard("https://10.0.0.1/", &[]);
        assert!(permits(&practice, "https://192.168.1.1/").await && !permits(&practice, "http://127.0.0.1/").await);
    }

    #[tokio::test]
    async fn a_host_that_is_named_is_reached_wherever_it_lies_and_no_other() {
        let guard = guard("https://93.184.216.34/", &["LocalHost", "10.0.0.7", "[fd00::1]"]);
        for url in ["https://LOCALHOST/", "https://10.0.0.7/", "https://[fd00::1]/"] {
            assert!(permits(&guard, url).await, "{url}");
        }
        for url in ["https://127.0.0.1/", "https://10.0.0.8/", "https://[fd00::2]/"] {
            assert!(!permits(&guard, url).await, "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_at_again_where_the_connection_is_made() {
        let resolve =
            async |guard: Option<Guard>| Resolver(guard).resolve("localhost".parse().unwrap()).await.map(drop);
        assert!(resolve(None).await.is_ok());
        let refused = resolve(Some(guard("https://93.184.216.34/", &[]))).await.unwrap_err();
        assert!(refused.downcast_ref::<ForbiddenNetwork>().is_some(), "{refused}");
        let through =
            Guard { proxies: Arc::new(["localhost".to_owned()].into()), ..guard("https://93.184.216.34/", &[]) };
        assert!(resolve(Some(through)).await.is_ok(), "the proxy may lie inside");
    }
}
