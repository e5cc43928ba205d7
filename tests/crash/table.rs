//! What happened, in figures.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cycle::Death;
use crate::points::POINTS;

/// Counts of deaths.
#[derive(Debug, Default)]
pub struct Table {
    /// Kills by point.
    pub at: BTreeMap<&'static str, usize>,
    /// Kills at no point: at a random time.
    pub at_random: usize,
    /// Kills by hand after the work was done, because a point was not passed as often as hoped.
    pub when_idle: usize,
    /// Of all these, how many came with a cut of the power.
    pub power_cuts: usize,
    pub practices: usize,
    pub documents: usize,
    /// Success reports that were repeated by a later life.
    pub repeated_reports: usize,
}

impl Table {
    pub fn count(&mut self, death: Death) {
        match death {
            Death::AtPoint(point) => *self.at.entry(point).or_default() += 1,
            Death::AtRandom => self.at_random += 1,
            Death::WhenIdle => self.when_idle += 1,
        }
    }

    pub fn add(&mut self, other: Self) {
        for (point, count) in other.at {
            *self.at.entry(point).or_default() += count;
        }
        self.at_random += other.at_random;
        self.when_idle += other.when_idle;
        self.power_cuts += other.power_cuts;
        self.practices += other.practices;
        self.documents += other.documents;
        self.repeated_reports += other.repeated_reports;
    }

    pub fn kills(&self) -> usize {
        self.at.values().sum::<usize>() + self.at_random + self.when_idle
    }

    /// Points at which nothing died.
    pub fn never(&self) -> Vec<&'static str> {
        POINTS.iter().map(|(point, _)| *point).filter(|point| !self.at.contains_key(point)).collect()
    }

    pub fn print(&self, took: Duration) {
        println!("\n| killed | times |\n|---|---|");
        for (point, count) in POINTS.iter().filter_map(|(point, _)| Some((point, self.at.get(point)?))) {
            println!("| at {point} | {count} |");
        }
        println!("| at a random time | {} |\n| when all was done | {} |", self.at_random, self.when_idle);
        println!(
            "\n{} kills survived, {} of them with a cut of the power: {} practices, {} documents, {} reports repeated \
             after a kill, in {:.0} s",
            self.kills(),
            self.power_cuts,
            self.practices,
            self.documents,
            self.repeated_reports,
            took.as_secs_f64()
        );
    }
}
