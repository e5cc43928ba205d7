//! What a person asks of the test on the command line.

use std::process::ExitCode;

use clap::Parser;

use crate::points::POINTS;

/// Kills in a usual run: every point twice, and as many again at other times and counts.
const DEFAULT_CYCLES: usize = 300;

/// Kills docsyncd again and again and looks whether it keeps its promises.
#[derive(Debug, Clone, Parser)]
pub struct Arguments {
    /// How often it is killed.
    #[arg(long, default_value_t = DEFAULT_CYCLES)]
    pub cycles: usize,
    /// Cuts the power of its disks so often instead; needs root and mkfs.ext4.
    #[arg(long, value_name = "N")]
    pub power_cuts: Option<usize>,
    /// What chance follows from; printed by every run.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Only at this point.
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(POINTS.iter().map(|(name, _)| *name)))]
    pub point: Option<String>,
    /// Practices at a time.
    #[arg(long, default_value_t = 2)]
    pub practices: usize,
    /// Of the usual test harness; the output is never captured.
    #[arg(long, hide = true)]
    pub nocapture: bool,
}

pub fn read() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        let _ = error.print();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}
