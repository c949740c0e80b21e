//! Whether `run --dry-run` foretells how long a RUN takes, after one identical RUN on the same
//! machine.
//!
//! Each experiment is run once with a database of its own, and then as often as `--repeat` says:
//! what the dry run foretells is laid beside the time that the command took from its start to its
//! end, images and start-up included. It takes an hour for all six, on a machine that nothing else
//! uses, and is run where it is named only: `cargo xtask overhead cost`.

use super::options::{Options, Section, Verdict};
use crate::program;
use anyhow::{Context as _, Result, ensure};
use fsarena_stats::median;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const SECTION: Section = Section { name: "cost", judged, run };

/// The median of foretold ÷ true is within so much of 1, or within the spread of the true times.
const AIM: f64 = 0.15;
/// Fewer repetitions show only that it works.
const JUDGED_REPEAT: u32 = 3;
/// Of the median time, the budget that one more RUN is given.
const BUDGET_SHARE: f64 = 0.6;
/// Of an experiment of one block, most of which is periods that it states.
const LEAST_BUDGET_SHARE: f64 = 0.8;

/// An experiment at a size at which it ends within 20 minutes.
struct Case {
    name: &'static str,
    scale: &'static str,
    /// Blocks, and what the size needs.
    more: &'static [&'static str],
    budget_share: f64,
}

impl Case {
    const fn two_blocks(name: &'static str, scale: &'static str) -> Self {
        Self { name, scale, more: &["--runs", "2"], budget_share: BUDGET_SHARE }
    }
}

const CASES: [Case; 6] = [
    Case::two_blocks("quick", "0.25"),
    Case::two_blocks("2003-linux-vs-freebsd", "0.1"),
    Case::two_blocks("2005-file-operations", "0.1"),
    // As its file says: its period shrinks with it.
    Case {
        name: "2007-ufs-block-fragment",
        scale: "0.015",
        more: &["--runs", "1", "--on", "loop:1G"],
        budget_share: LEAST_BUDGET_SHARE,
    },
    Case::two_blocks("2008-all-against-all", "0.1"),
    Case::two_blocks("2010-ssd-ext4-journal", "0.1"),
];

fn judged(options: &Options) -> bool {
    !options.smoke && options.is_named(SECTION.name) && options.repeat >= JUDGED_REPEAT
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    if !rustix::process::geteuid().is_root() {
        verdict.not_run("foretold beside true times", "needs root");
        return Ok(verdict);
    }
    let wanted = |case: &&Case| options.experiment.as_ref().is_none_or(|name| case.name == name);
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    let names = || CASES.map(|case| case.name).join(", ");
    ensure!(!cases.is_empty(), "--experiment: there is none of that name; known: {}", names());
    let program = program::build()?;
    println!(
        "{:26} {:>6} {:>10}  {:30} {:>7} {:>7}",
        "experiment", "scale", "foretold s", "true s", "ratio", "spread"
    );
    for case in cases {
        let home = Home::new(&program)?;
        let repeat = if options.smoke { 1 } else { options.repeat };
        let measured = measure(&home, case, repeat).with_context(|| case.name.to_owned())?;
        let agreed = Agreement::of_times(&measured.foretold_s, &measured.true_s)?;
        let is_met = agreed.is_met();
        println!("{}", line(case, &measured, &agreed));
        if !is_met {
            verdict.missed.push(format!("{}: foretold / true {:.3}", case.name, agreed.ratio));
        }
        let over = over_budget(&home, case, &measured.true_s);
        if let Some(miss) = over.with_context(|| case.name.to_owned())? {
            verdict.missed.push(format!("{}: {miss}", case.name));
        }
    }
    Ok(verdict)
}

/// The times of one experiment.
struct Measured {
    foretold_s: Vec<f64>,
    true_s: Vec<f64>,
}

fn line(case: &Case, measured: &Measured, agreed: &Agreement) -> String {
    let numbers = |values: &[f64]| {
        let words: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
        words.join(" ")
    };
    format!(
        "{:26} {:>6} {:>10}  {:30} {:7.3} {:6.1}%  {}",
        case.name,
        case.scale,
        numbers(&measured.foretold_s[..1]),
        numbers(&measured.true_s),
        agreed.ratio,
        agreed.spread * 100.0,
        if agreed.is_met() { "meets" } else { "MISSES" }
    )
}

/// How the forecasts of equal RUNs agree with what they took.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Agreement {
    /// Median of foretold ÷ true.
    ratio: f64,
    /// From the shortest true time to the longest, by their median.
    spread: f64,
}

impl Agreement {
    fn of_times(foretold_s: &[f64], true_s: &[f64]) -> Result<Self> {
        let ratios: Vec<f64> =
            foretold_s.iter().zip(true_s).map(|(foretold, real)| foretold / real).collect();
        let longest = true_s.iter().copied().fold(0.0, f64::max);
        let shortest = true_s.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = (longest - shortest) / median(true_s)?;
        Ok(Self { ratio: median(&ratios)?, spread })
    }

    fn is_met(&self) -> bool {
        (self.ratio - 1.0).abs() <= AIM.max(self.spread)
    }
}

/// A place where nothing is known of earlier RUNs.
struct Home {
    program: PathBuf,
    dir: tempfile::TempDir,
}

impl Home {
    fn new(program: &Path) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
        Ok(Self { program: program.to_owned(), dir })
    }

    fn command(&self, case: &Case, more: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("HOME", self.dir.path())
            .env("FSARENA_STATE_DIR", self.dir.path().join("state"));
        command.arg("--db").arg(self.dir.path().join("cost.db"));
        command.args(["run", case.name, "--scale", case.scale]).args(case.more).args(more);
        command.stdin(Stdio::null());
        command
    }

    /// What the whole RUN is expected to take, s.
    fn foretold_s(&self, case: &Case) -> Result<f64> {
        let output = self.command(case, &["--dry-run", "--json"]).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "--dry-run: {}: {complaint}", output.status);
        let plan: Value = serde_json::from_slice(&output.stdout)?;
        plan["cost"]["total_s"].as_f64().context("the plan has no cost.total_s")
    }

    /// What it takes, s.
    fn true_s(&self, case: &Case, more: &[&str]) -> Result<f64> {
        let began = Instant::now();
        let output = self.command(case, more).output()?;
        let elapsed_s = began.elapsed().as_secs_f64();
        let complaint = String::from_utf8_lossy(&output.stderr);
        // 4 and 5: it is not decided, or a phase was not cold; it took as long.
        let is_whole = matches!(output.status.code(), Some(0 | 4 | 5));
        ensure!(is_whole, "run: {}: {complaint}", output.status);
        Ok(elapsed_s)
    }
}

fn measure(home: &Home, case: &Case, repeat: u32) -> Result<Measured> {
    home.true_s(case, &[])?;
    let (mut foretold_s, mut true_s) = (Vec::new(), Vec::new());
    for _ in 0..repeat {
        foretold_s.push(home.foretold_s(case)?);
        true_s.push(home.true_s(case, &[])?);
    }
    Ok(Measured { foretold_s, true_s })
}

/// How far a RUN with a budget, of the share that a case has of these times, goes beyond it and its
/// longest trial.
fn over_budget(home: &Home, case: &Case, true_s: &[f64]) -> Result<Option<String>> {
    let budget_s = (median(true_s)? * case.budget_share).ceil();
    let took_s = home.true_s(case, &["--budget", &format!("{budget_s}s")])?;
    let longest_s = longest_trial_s(home)?;
    Ok((took_s > budget_s + longest_s).then(|| {
        format!("took {took_s:.1} s of a budget of {budget_s} s, and a trial {longest_s:.1} s")
    }))
}

/// The longest trial of the latest RUN, s.
fn longest_trial_s(home: &Home) -> Result<f64> {
    let store = fsarena_store::Store::open_read_only(&home.dir.path().join("cost.db"))?;
    let records = store.records(store.find("latest")?)?;
    let longest_ns = records.iter().map(|record| record.elapsed_ns).max();
    Ok(longest_ns.context("a RUN without a trial")? as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_agrees_within_the_aim_or_the_spread() {
        let agreed = |foretold: f64, real: &[f64]| {
            Agreement::of_times(&vec![foretold; real.len()], real).unwrap()
        };
        let near = agreed(110.0, &[100.0, 101.0, 99.0]);
        assert_eq!((near.ratio, near.spread), (1.1, 0.02));
        assert!(near.is_met());
        assert!(!agreed(120.0, &[100.0, 101.0, 99.0]).is_met());
        assert!(!agreed(80.0, &[100.0, 101.0, 99.0]).is_met());
        assert!(agreed(120.0, &[80.0, 100.0, 110.0]).is_met(), "its times are 30 % apart");
    }
}
