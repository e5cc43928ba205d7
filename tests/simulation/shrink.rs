//! The shortest plan that still fails: events and documents are left out one after another, faults become shorter, for
//! as long as a promise stays broken.

use super::plan::{Plan, What};
use super::run::run;

/// Runs at most in the search.
const MAX_RUNS: usize = 400;

/// The shortest plan found.
pub(super) fn shortest(plan: Plan) -> Plan {
    let mut best = plan;
    let mut runs = 0;
    loop {
        let mut shorter = None;
        for candidate in candidates(&best) {
            runs += 1;
            if runs > MAX_RUNS {
                return best;
            }
            if run(candidate.clone(), false).violation.is_some() {
                shorter = Some(candidate);
                break;
            }
        }
        match shorter {
            Some(found) => best = found,
            None => return best,
        }
    }
}

fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut candidates = Vec::new();
    for index in 0..plan.events.len() {
        let mut shorter = plan.clone();
        shorter.events.remove(index);
        candidates.push(shorter);
    }
    if plan.documents.len() > 1 {
        candidates.extend((0..plan.documents.len()).filter_map(|index| without(plan, index)));
    }
    let simpler: [fn(&mut Plan); 7] = [
        |plan| plan.documents.iter_mut().for_each(|document| document.refused_to = None),
        |plan| plan.documents.iter_mut().for_each(|document| (document.also, document.refused_to) = (None, None)),
        |plan| plan.stays_listed.fill(false),
        |plan| plan.keep_history = None,
        |plan| plan.page_size = 100,
        |plan| plan.max_concurrency = 16,
        |plan| plan.routes.iter_mut().for_each(|route| route.truncate(1)),
    ];
    for simplify in simpler {
        let mut simple = plan.clone();
        simplify(&mut simple);
        if format!("{simple:?}") != format!("{plan:?}") {
            candidates.push(simple);
        }
    }
    for index in 0..plan.events.len() {
        let mut shorter = plan.clone();
        let event = &mut shorter.events[index];
        let lasts = event.until - event.from;
        if lasts > 2_000 {
            event.until = event.from + lasts / 2;
            candidates.push(shorter);
        }
    }
    candidates
}

/// Without a document, when no event is about it; its successors move up.
fn without(plan: &Plan, index: usize) -> Option<Plan> {
    let mut shorter = plan.clone();
    shorter.documents.remove(index);
    for event in &mut shorter.events {
        let of = match &mut event.what {
            What::Api { document: Some(of), .. } | What::Delivery { document: Some(of), .. } => of,
            What::Revise(of) | What::Withdraw(of) | What::AskAgain(of) | What::Retry(of) => of,
            What::Correct { document: of, .. } => of,
            _ => continue,
        };
        match (*of).cmp(&index) {
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => *of -= 1,
            std::cmp::Ordering::Less => {}
        }
    }
    Some(shorter)
}
