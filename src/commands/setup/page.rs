//! The status page: whether it is served, and where. It is on unless a person says no.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use super::super::check::answers_as_docsyncd;
use super::Setup;

/// The port of `config/docsyncd.toml`.
const USUAL: u16 = 8977;
/// How many ports after a taken one are tried.
const MOST_TRIED: u16 = 20;

impl Setup {
    /// Asks only without a page: the packages' configuration has one.
    pub(super) fn ask_for_page(&mut self) -> anyhow::Result<()> {
        if self.draft.written("status_page", None, "listen").is_some() {
            return Ok(());
        }
        let question = self.question("status_page", "setup-page", &[]);
        // A configuration without the page means that somebody once said no.
        if self.ask.agree(&question, self.ask.is_person() && self.draft.before.is_none())? {
            let usual = at(USUAL);
            // Asks only if another program has the usual port.
            if self.ask.is_person() && self.is_anothers(usual) {
                self.refuse("status_page", "setup-port-taken", &[("port", (&USUAL.to_string()).into())])?;
                return self.ask_where_page_is();
            }
            self.draft.set("status_page", None, "listen", usual.to_string())?;
        }
        Ok(())
    }

    /// Asks a person for the port.
    pub(super) fn ask_where_page_is(&mut self) -> anyhow::Result<()> {
        let now = self.draft.written("status_page", None, "listen").and_then(|listen| listen.parse().ok());
        let now: Option<SocketAddr> = now;
        loop {
            let free = (USUAL..).take(MOST_TRIED.into()).find(|port| !is_taken(at(*port)));
            let default = now.map(|now| now.port()).or(free).map(|port| port.to_string());
            let question = self.question("status_page.port", "setup-page-port", &[]).or(default);
            let Some(port) = self.needed(&question)?.parse().ok().filter(|port| *port > 0) else {
                self.refuse("status_page.port", "setup-port-expected", &[])?;
                continue;
            };
            let listen = SocketAddr::new(now.map_or(Ipv4Addr::LOCALHOST.into(), |now| now.ip()), port);
            if self.is_anothers(listen) {
                self.refuse("status_page.port", "setup-port-taken", &[("port", (&port.to_string()).into())])?;
                continue;
            }
            return self.draft.set("status_page", None, "listen", listen.to_string());
        }
    }

    /// Whether a program other than docsyncd has the port.
    fn is_anothers(&self, listen: SocketAddr) -> bool {
        is_taken(listen) && !self.runtime.block_on(answers_as_docsyncd(listen))
    }
}

fn at(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Whether some program listens there.
pub(super) fn is_taken(listen: SocketAddr) -> bool {
    TcpListener::bind(listen).is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse)
}
