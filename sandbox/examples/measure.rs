//! How fast the sandbox answers, and whether that depends on how much it holds.
//!
//!     cargo run --release -p docsyncd-sandbox --example measure
//!
//! Two sandboxes in memory, one with a hundred times the documents of the other, each a process of its own, are asked
//! the same over real sockets with connections that are kept open. The last column is what matters: how many times
//! longer the large one takes. It is an example and no test or bench: a time that fails a build on a busy machine
//! teaches people to start it again, and nothing here runs unless somebody asks.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use docsyncd_sandbox::{Options, Sandbox};
use reqwest::Client;
use serde_json::Value;

type Failure = Box<dyn Error + Send + Sync>;

/// Answers that nobody measures: connections are made, pages of the database are read.
const WARM_UP: usize = 20;

const ITEMS: usize = 100;

/// Measures the sandbox with few and with many documents.
#[derive(Debug, Parser)]
struct Cli {
    /// How many documents the small sandbox holds
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    few: usize,

    /// How many documents the large sandbox holds
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    many: usize,

    /// How many connections ask at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    connections: usize,

    /// How long each kind of request is asked
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,

    /// Be the sandbox of this many documents, for the process that measures
    #[arg(long, hide = true)]
    serve: Option<usize>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let cli = Cli::parse();
    match cli.serve {
        Some(documents) => serve(documents).await,
        None => measure(&cli).await,
    }
}

/// Serves until standard input ends, which it does at the latest with the process that measures.
async fn serve(documents: usize) -> Result<(), Failure> {
    let sandbox = Sandbox::start(Options { documents, ..Options::default() }).await?;
    println!("{} {}", sandbox.url(), sandbox.api_key());
    std::io::stdout().flush()?;
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    sandbox.shutdown().await;
    Ok(())
}

async fn measure(cli: &Cli) -> Result<(), Failure> {
    // Built together with docsyncd, the HTTP crate asks for a TLS provider even where no TLS is spoken.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut few = Server::start(cli.few).await?;
    let mut many = Server::start(cli.many).await?;
    for server in [&few, &many] {
        println!(
            "{:>7} documents: started in {:.2} s, {} resident",
            server.documents,
            server.started_in.as_secs_f64(),
            server.resident()
        );
    }
    println!("\n{} connections, {} s each, times in milliseconds\n", cli.connections, cli.seconds);
    println!(
        "{:<44} {:>8} {:>8} {:>8}   {:>8} {:>8} {:>8}   {:>6}",
        "", "median", "p99", "per s", "median", "p99", "per s", "times"
    );
    for ((name, small), (_, large)) in few.requests().await?.into_iter().zip(many.requests().await?) {
        let small = few.ask(&small, cli).await?;
        let large = many.ask(&large, cli).await?;
        println!("{name:<44} {small}   {large}   {:>6.2}", large.median / small.median);
    }
    println!();
    for server in [&few, &many] {
        println!("{:>7} documents: {} resident at the end", server.documents, server.resident());
    }
    few.stop()?;
    many.stop()
}

/// A sandbox in a process of its own.
struct Server {
    process: Child,
    documents: usize,
    url: String,
    key: String,
    started_in: Duration,
}

impl Server {
    async fn start(documents: usize) -> Result<Self, Failure> {
        let begun = Instant::now();
        let mut process = Command::new(std::env::current_exe()?)
            .args(["--serve", &documents.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().ok_or("the sandbox has no output")?;
        let mut first = String::new();
        BufReader::new(output).read_line(&mut first)?;
        let (url, key) = first.trim().split_once(' ').ok_or("the sandbox did not start")?;
        let (url, key) = (url.to_owned(), key.to_owned());
        let server = Self { process, documents, url, key, started_in: begun.elapsed() };
        Client::builder().no_proxy().build()?.get(format!("{}/me", server.url)).send().await?;
        Ok(server)
    }

    /// What is asked. The dates and identifiers in it are the server's own.
    async fn requests(&self) -> Result<Vec<(&'static str, String)>, Failure> {
        let middle = self.rows(&format!("order[createdAt]=asc&itemsPerPage=1&page={}", self.documents / 2)).await?;
        let row = middle.first().ok_or("there is no document in the middle")?;
        let (created, uuid) = (text(row, "createdAt")?, text(row, "uuid")?);
        let created = created.replace('+', "%2B");
        let oldest = format!("/documents?synchronized=false&order[createdAt]=asc&itemsPerPage={ITEMS}");
        let last = self.documents.div_ceil(ITEMS);
        Ok(vec![
            ("the default list", "/documents".to_owned()),
            ("unsynchronized, oldest first, 100", oldest.clone()),
            ("the same from a date in the middle", format!("{oldest}&createdAt[gte]={created}")),
            ("the last page of 100 by its number", format!("/documents?itemsPerPage={ITEMS}&page={last}")),
            ("one type", "/documents?type=referral_letter".to_owned()),
            ("a word that many have", "/documents?search=letter".to_owned()),
            ("a word that few have", format!("/documents?search={}", text(row, "type")?)),
            ("one document", format!("/documents/{uuid}")),
        ])
    }

    async fn rows(&self, query: &str) -> Result<Vec<Value>, Failure> {
        let client = Client::builder().no_proxy().build()?;
        let answer = client.get(format!("{}/documents?{query}", self.url)).bearer_auth(&self.key).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }

    /// Asks with several connections at once until the time is over.
    async fn ask(&self, request: &str, cli: &Cli) -> Result<Figures, Failure> {
        let address = format!("{}{request}", self.url);
        let asking: Vec<_> = (0..cli.connections)
            .map(|_| tokio::spawn(one_connection(address.clone(), self.key.clone(), cli.seconds)))
            .collect();
        let mut times = Vec::new();
        for connection in asking {
            times.extend(connection.await??);
        }
        Figures::of(times, cli)
    }

    /// The memory that the process has at present.
    fn resident(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|value| value.trim().strip_suffix("kB"))
            .and_then(|value| value.trim().parse::<u64>().ok());
        match kilobytes {
            Some(kilobytes) => format!("{} MiB", kilobytes / 1024),
            None => "memory unknown here,".to_owned(),
        }
    }

    fn stop(&mut self) -> Result<(), Failure> {
        drop(self.process.stdin.take());
        let status = self.process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a sandbox ended with {status}").into()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After an error no process stays behind. One that has ended already is no matter.
        let _ = self.process.kill();
    }
}

/// The times of all answers on one connection. An answer that is refused or empty ends the measurement: it would be
/// fast.
async fn one_connection(address: String, key: String, seconds: f64) -> Result<Vec<Duration>, Failure> {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(1).build()?;
    for _ in 0..WARM_UP {
        one_answer(&client, &address, &key).await?;
    }
    let mut times = Vec::new();
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < seconds {
        times.push(one_answer(&client, &address, &key).await?);
    }
    Ok(times)
}

async fn one_answer(client: &Client, address: &str, key: &str) -> Result<Duration, Failure> {
    let sent = Instant::now();
    let body = client.get(address).bearer_auth(key).send().await?.error_for_status()?.bytes().await?;
    let took = sent.elapsed();
    if body.len() <= "[]".len() { Err(format!("{address} has nothing to show").into()) } else { Ok(took) }
}

/// What came out for one request.
struct Figures {
    median: f64,
    p99: f64,
    per_second: f64,
}

impl Figures {
    #[allow(clippy::cast_precision_loss, reason = "counts of answers are far below 2^53")]
    fn of(mut times: Vec<Duration>, cli: &Cli) -> Result<Self, Failure> {
        times.sort_unstable();
        let at = |place: usize| times.get(place).map(|time| time.as_secs_f64() * 1e3).ok_or("nothing was answered");
        let last = times.len().saturating_sub(1);
        Ok(Self { median: at(last / 2)?, p99: at(last * 99 / 100)?, per_second: times.len() as f64 / cli.seconds })
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:>8.3} {:>8.3} {:>8.0}", self.median, self.p99, self.per_second)
    }
}

fn text<'a>(row: &'a Value, member: &str) -> Result<&'a str, Failure> {
    row.get(member).and_then(Value::as_str).ok_or_else(|| format!("a document without {member}").into())
}
