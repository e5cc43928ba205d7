//! What a program with docsyncd's packages takes at least: the steps of `script.py` and nothing else, without retries,
//! pauses, history, names, a log, or a second look. `limit BASE_URL KEY FOLDER CONCURRENCY`. What docsyncd takes beyond
//! it is the price of its promises, or its own waste; what this takes, no change of docsyncd saves.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{env, fs, io};

use anyhow::{Context as _, Result, ensure};
use reqwest::{Client, Method, RequestBuilder};
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const PAGE: usize = 100;

struct World {
    client: Client,
    base: String,
    key: String,
    folder: PathBuf,
    database: Mutex<Connection>,
    waiting: Mutex<std::vec::IntoIter<String>>,
}

impl World {
    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    async fn listed(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for page in 1.. {
            let query = format!("?synchronized=false&itemsPerPage={PAGE}&page={page}&order[createdAt]=asc");
            let answer = self.ask(Method::GET, &format!("/documents{query}")).send().await?.error_for_status()?;
            let items: Vec<Value> = answer.json().await?;
            found.extend(items.iter().filter_map(|item| item.get("uuid")?.as_str().map(str::to_owned)));
            if items.len() < PAGE {
                break;
            }
        }
        Ok(found)
    }

    async fn synchronize(self: &Arc<Self>, uuid: String) -> Result<()> {
        let answer = self.ask(Method::GET, &format!("/documents/{uuid}")).send().await?.error_for_status()?;
        let document: Value = answer.json().await?;
        let url = document.pointer("/pdf/url").and_then(Value::as_str).context("the document has no PDF")?;
        let pdf = self.client.get(url).bearer_auth(&self.key).send().await?.error_for_status()?.bytes().await?;
        ensure!(pdf.starts_with(b"%PDF-"), "{uuid} is no PDF");
        let (world, name) = (Arc::clone(self), uuid.clone());
        let filed = move || -> Result<()> {
            file(&world.folder, &name, &pdf)?;
            let digest = Sha256::digest(&pdf).to_vec();
            world.execute("INSERT OR REPLACE INTO document VALUES (?1, 'filed', ?2)", (&name, digest))
        };
        tokio::task::spawn_blocking(filed).await??;
        let report = self.ask(Method::POST, &format!("/documents/{uuid}/status"));
        report.json(&json!({"success": true, "error": null})).send().await?.error_for_status()?.bytes().await?;
        self.execute("UPDATE document SET state = 'reported' WHERE uuid = ?1", [&uuid])
    }

    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<()> {
        let database = self.database.lock().ok().context("another task panicked")?;
        database.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }
}

fn file(folder: &Path, uuid: &str, pdf: &[u8]) -> io::Result<()> {
    let part = folder.join(format!("{uuid}.part"));
    let mut output = fs::File::create(&part)?;
    io::Write::write_all(&mut output, pdf)?;
    output.sync_all()?;
    fs::rename(&part, folder.join(format!("{uuid}.pdf")))?;
    // A folder cannot be opened like this on Windows, where a rename is durable without.
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [base, key, folder, wide] = &arguments[..] else { anyhow::bail!("limit BASE_URL KEY FOLDER CONCURRENCY") };
    let folder = PathBuf::from(folder);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let database = Connection::open(folder.with_file_name("limit.db"))?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.execute("CREATE TABLE IF NOT EXISTS document (uuid TEXT PRIMARY KEY, state TEXT, sha256 BLOB)", [])?;
    let mut world = World {
        client: Client::builder().no_proxy().build()?,
        base: base.clone(),
        key: key.clone(),
        folder,
        database: Mutex::new(database),
        waiting: Mutex::default(),
    };
    world.waiting = Mutex::new(world.listed().await?.into_iter());
    let world = Arc::new(world);
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..wide.parse::<usize>().context("CONCURRENCY is a number")? {
        let world = Arc::clone(&world);
        workers.spawn(async move {
            loop {
                let next = world.waiting.lock().ok().context("another task panicked")?.next();
                let Some(uuid) = next else { return anyhow::Ok(()) };
                world.synchronize(uuid).await?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    Ok(())
}
