//! One bad document, destination or account never delays the others (promise 6), measured: the same run with and
//! without it, turn by turn.
//!
//! Every call to the API takes a while, as over the Internet, so that what is measured is how well the work is kept in
//! flight, and a busy machine disturbs little. `cargo test --test it -- --ignored poison --nocapture` prints the
//! ratios; the rows of one round are made in turn, so that whatever slows the machine down meets all of them.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use docsyncd_sandbox::{ApiKey, Fault, FaultKind, NewDocument, Options, Route};

use crate::dictated::small;
use crate::harness::{PATIENCE, Practice};

/// Good documents of a run.
const GOOD: usize = 320;
/// Documents of the second destination, and of the second account.
const OTHERS: usize = 40;
/// What a call to the API takes.
const LATENCY: Duration = Duration::from_millis(100);
const ROUNDS: usize = 3;
/// The part of the throughput that has to be left.
const LEAST: f64 = 0.9;

/// What goes wrong in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Poison {
    None,
    /// Reading one document is answered with 500, always.
    Document,
    /// The download of one document never comes.
    Download,
    /// One destination hangs for ever, with everything that goes there.
    Destination,
    /// The key of another account is refused.
    Account,
}

/// The same run with and without poison: the first is without.
const PAIRS: [(Poison, &str); 4] = [
    (Poison::Document, "one document always fails"),
    (Poison::Download, "one download never comes"),
    (Poison::Destination, "one destination hangs for ever"),
    (Poison::Account, "one account is refused"),
];

/// The two accounts and the two destinations are there with and without poison.
async fn practice(poison: Poison) -> (Practice, Vec<String>) {
    let keys = vec![ApiKey::of_user("key-a", "a@practice.test"), ApiKey::of_user("key-b", "b@practice.test")];
    let mut practice = Practice::with_options(Options { api_keys: keys, ..Options::default() }).await;
    practice.write_secret("key-b", if poison == Poison::Account { "revoked" } else { "key-b" });
    practice.env.insert("DOCSYNCD__API__TIMEOUT".into(), "2s".into());
    // As by default.
    for (key, value) in [("INITIAL", "1s"), ("MAX", "15m")] {
        practice.env.insert(format!("DOCSYNCD__RETRY__{key}"), value.into());
    }
    std::fs::create_dir(practice.path("second")).unwrap();
    let second = match poison {
        Poison::Destination => "type = \"command\"\nprogram = \"sleep\"\nargs = [\"3600\"]\ntimeout = \"1h\"",
        _ => "type = \"folder\"\npath = 'second'",
    };
    practice.configure(&format!(
        "file_name = \"{{{{ document.uuid }}}}.pdf\"\n[destinations.second]\n{second}\n\
         [accounts.second]\napi_key_file = 'key-b'\n\
         [[routes]]\ntypes = [\"lab_slip\"]\nto = [\"second\"]\n[[routes]]\nto = [\"pms\"]"
    ));
    let add = async |count: usize, name: &str, kind: &str, owner: &str| {
        let mut uuids = Vec::new();
        for number in 0..count {
            let (document_type, owner) = (Some(Some(kind.to_owned())), Some(owner.to_owned()));
            let document = NewDocument { document_type, owner, ..small(&format!("{name} {number}")) };
            uuids.push(practice.sandbox.add(document).await.unwrap());
        }
        uuids
    };
    // The same documents in every run. What may be bad is the first of the list.
    let bad = add(1, "bad", "letter", "key-a").await;
    add(OTHERS, "second destination", "lab_slip", "key-a").await;
    add(OTHERS, "second account", "letter", "key-b").await;
    let good = add(GOOD, "good", "letter", "key-a").await;
    match poison {
        Poison::Document => {
            practice.sandbox.inject(Fault::always(Route::Document, FaultKind::status(500)).for_document(&bad[0]));
        }
        Poison::Download => {
            practice.sandbox.inject(Fault::always(Route::Pdf, FaultKind::Stall).for_document(&bad[0]));
        }
        _ => {}
    }
    practice.sandbox.inject(Fault::always(Route::Any, FaultKind::Delay(LATENCY)));
    (practice, good)
}

/// Good documents a second, from the start of the daemon to the last report.
async fn throughput(poison: Poison) -> f64 {
    let (practice, good) = practice(poison).await;
    let good: HashSet<String> = good.into_iter().collect();
    let began = Instant::now();
    let mut running = practice.start();
    let posted = |view: &docsyncd_sandbox::View| {
        let posts = view.status_posts().filter(|post| post.success == Some(true));
        view.status_posts().count() >= GOOD && posts.filter(|post| good.contains(&post.document)).count() >= GOOD
    };
    practice.sandbox.wait_for(posted, PATIENCE).await.unwrap_or_else(|_| panic!("{poison:?}:\n{}", running.log()));
    let took = began.elapsed();
    running.kill().await;
    f64::from(u32::try_from(GOOD).unwrap()) / took.as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[ignore = "takes three minutes: cargo test --test it -- --ignored poison --nocapture"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_bad_leaves_the_others_their_throughput() {
    let mut ratios = PAIRS.map(|_| Vec::new());
    for round in 0..ROUNDS {
        let clean = throughput(Poison::None).await;
        let mut line = format!("round {}: {clean:.1} documents a second without;", round + 1);
        for step in 0..PAIRS.len() {
            // In another order each time.
            let index = (step + round) % PAIRS.len();
            let poisoned = throughput(PAIRS[index].0).await;
            let _ = write!(line, " {:?} {poisoned:.1}", PAIRS[index].0);
            ratios[index].push(poisoned / clean);
        }
        println!("{line}");
    }
    let medians: Vec<f64> = ratios.into_iter().map(median).collect();
    for ((_, what), ratio) in PAIRS.iter().zip(&medians) {
        println!("{what}: the others keep {:.0} % of their throughput (median of {ROUNDS})", ratio * 100.0);
    }
    assert!(medians.iter().all(|ratio| *ratio >= LEAST), "{medians:?}");
}
