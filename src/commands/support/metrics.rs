//! `metrics.txt`: the running daemon's numbers from its page. Another program may answer there, so each line is parsed
//! and must consist of a name and labels of docsyncd and a number.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::words::{Names, Version, Word};
use super::{Lack, within};

/// How long the daemon may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The most bytes of its answer that are read.
const MOST_BYTES: u64 = 1024 * 1024;
/// The names, without `docsyncd_` and OpenMetrics' suffixes.
const NAMES: &str = "\
    build start_timestamp_seconds stage_duration_seconds polls downloaded_bytes delivered_bytes in_flight \
    spool_size_bytes ledger_log_size_bytes documents needs_person to_confirm ledger_size_bytes oldest_waiting_seconds \
    last_good_poll_timestamp_seconds paused pause_age_seconds";
/// OpenMetrics' suffixes.
const ENDS: [&str; 6] = ["", "_total", "_bucket", "_sum", "_count", "_info"];

/// Asks the daemon.
pub(super) fn text(address: SocketAddr, names: &mut Names) -> Result<String, Lack> {
    let answer = within(LIMIT, move || ask(address).unwrap_or_default())?;
    let mut text = String::new();
    for line in answer.lines().filter_map(|line| line_of(line, names)) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    }
    if text.is_empty() { Err(Lack::NoAnswer) } else { Ok(text) }
}

fn ask(address: SocketAddr) -> io::Result<String> {
    if !address.ip().is_loopback() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// `docsyncd_polls_total{account="north",result="ok"} 7`
fn line_of(line: &str, names: &mut Names) -> Option<String> {
    let (head, value) = line.rsplit_once(' ')?;
    let (name, labels) = head.split_once('{').unwrap_or((head, "}"));
    let known = name.strip_prefix("docsyncd_")?;
    let name = NAMES
        .split_ascii_whitespace()
        .flat_map(|name| ENDS.map(|end| format!("{name}{end}")))
        .find(|name| name == known)?;
    let labels: Vec<(&str, &str)> = labels
        .strip_suffix('}')?
        .split(',')
        .filter_map(|label| {
            let (name, value) = label.split_once("=\"")?;
            Some((name, value.strip_suffix('"')?))
        })
        .collect();
    let is_destination = labels.contains(&("scope", "destination"));
    let mut shown = Vec::new();
    for (label, value) in labels {
        shown.push(match label {
            "account" => format!("account=\"{}\"", names.account(value)),
            "destination" => format!("destination=\"{}\"", names.destination(value)),
            "name" if is_destination => format!("name=\"{}\"", names.destination(value)),
            "name" => format!("name=\"{}\"", names.account(value)),
            "version" => format!("version=\"{}\"", Version::parse(value)?),
            "le" if value == "+Inf" => "le=\"+Inf\"".to_owned(),
            "le" => format!("le=\"{}\"", value.parse::<f64>().ok()?),
            "state" | "stage" | "result" | "scope" => format!("{}=\"{}\"", label, Word::other(value)?.0),
            _ => return None,
        });
    }
    let value: f64 = value.parse().ok()?;
    let labels = if shown.is_empty() { String::new() } else { format!("{{{}}}", shown.join(",")) };
    Some(format!("docsyncd_{name}{labels} {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_ours_to_the_last_word_is_left_out() {
        let mut names = Names::new(false);
        for (line, expected) in [
            (
                "docsyncd_polls_total{account=\"north\",result=\"ok\"} 7",
                "docsyncd_polls_total{account=\"account-1\",result=\"ok\"} 7",
            ),
            (
                "docsyncd_paused{scope=\"destination\",name=\"pms\"} 1",
                "docsyncd_paused{scope=\"destination\",name=\"destination-1\"} 1",
            ),
            (
                "docsyncd_stage_duration_seconds_bucket{le=\"0.1\",stage=\"fetch\"} 2",
                "docsyncd_stage_duration_seconds_bucket{le=\"0.1\",stage=\"fetch\"} 2",
            ),
            ("docsyncd_in_flight 0", "docsyncd_in_flight 0"),
        ] {
            assert_eq!(line_of(line, &mut names).as_deref(), Some(expected));
        }
        for foreign in [
            "docsyncd_durand 1",
            "durand_in_flight 1",
            "docsyncd_in_flight durand",
            "docsyncd_polls_total{patient=\"Durand\"} 1",
            "docsyncd_polls_total{account=\"north\",result=\"Durand\"} 1",
            "docsyncd_build_info{version=\"Durand\"} 1",
            "# HELP docsyncd_in_flight Durand",
        ] {
            assert_eq!(line_of(foreign, &mut names), None, "{foreign}");
        }
    }
}
