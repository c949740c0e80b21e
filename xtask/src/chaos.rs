//! `cargo xtask chaos`: RUNs and other commands that are killed, starved and cut off, and what must
//! hold afterwards.
//!
//! A campaign is a row of cases. The number of a case says all that is done in it; a failure prints
//! the number, and `--seed` repeats that case. After each: nothing is left on the machine, the
//! database is whole, no record is missing that was said to be stored, no file is half, the end was
//! a documented one, and what was interrupted can be done to its end. Nothing of the user's is
//! touched: every case has a directory, a database and images of its own.

mod carry_out;
mod case;
mod checks;
mod draw;
mod kind;
mod kinds;
mod live;
mod moment;
mod ranks;
mod shape;
mod small;
mod subject;
mod table;
mod targets;
mod terminal;
mod testbed;
mod victim;

use anyhow::Result;
use carry_out::{Ground, carry_out, ground_dir};
use case::Case;
use clap::Args;
use clap::builder::PossibleValuesParser;
use draw::{Draw, numbers};
use kind::{Here, Kind};
use kinds::KINDS;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use subject::Target;
use table::CampaignTable;
use targets::TARGETS;

/// A kind that cannot be drawn in so many cases cannot be had here.
const DRAWS_MAX: usize = 2000;

#[derive(Args, Debug)]
#[command(after_help = kinds_help())]
pub(crate) struct Options {
    /// How long to go on; the case that is under way by then is done.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    minutes: f64,
    /// Repeat the case with this number.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The row of cases; another one each time where it is not given.
    #[arg(long, value_name = "C")]
    campaign: Option<u64>,
    /// Only cases of these kinds.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)))]
    only: Vec<String>,
    /// Only cases on these targets.
    #[arg(long, value_name = "TARGET,…", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name())))]
    target: Vec<String>,
    /// Say the cases and do not run them.
    #[arg(long)]
    dry_run: bool,
    /// The program; built where it is not given.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Other tests run next to it: nothing that they would see.
    #[arg(long, hide = true)]
    beside: bool,
}

fn kinds_help() -> String {
    let lines = KINDS.iter().map(|kind| format!("  {:9} {}\n", kind.name, kind.help));
    let lines: String = lines.collect();
    let unfit = KINDS.iter().flat_map(unfit);
    let unfit: String = unfit.map(|line| format!("  {line}\n")).collect();
    format!(
        "Kinds:\n{lines}\nNot done:\n{unfit}\nExit code: 1 when a case failed. Its directory \
         stays in target/chaos, and --seed repeats it."
    )
}

/// Lines that say on which targets it is not done, by their reasons.
fn unfit(kind: &Kind) -> Vec<String> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for target in TARGETS {
        if let Some(reason) = (kind.unfit)(target.nature()) {
            targets.entry(reason).or_default().push(target.name());
        }
    }
    let lines = targets.into_iter();
    lines
        .map(|(reason, names)| format!("{} on {}: {reason}", kind.name, names.join(", ")))
        .collect()
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes.is_finite() => Ok(minutes),
        _ => Err("a number above 0 is wanted, such as 0.5".to_owned()),
    }
}

/// Runs a campaign, or one case; `Ok(false)` if one failed.
///
/// # Errors
/// When the program cannot be built, or the campaign is interrupted.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    // What a case mounts goes with this process; no thread is there yet.
    let has_private_mounts = rustix::process::geteuid().is_root()
        && fsarena_process::child::enter_private_mounts().is_ok();
    let program = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None if options.dry_run => PathBuf::new(),
        None => crate::program::build()?,
    };
    let ground = Ground { program, dir: ground_dir(&crate::tidy::root()), stop };
    let campaign = options.campaign.unwrap_or_else(now_ms);
    if options.seed.is_none() {
        println!("campaign {campaign}");
    }
    let limit = Duration::from_secs_f64(options.minutes * 60.0);
    let mut campaign = Campaign {
        options,
        here: Here { is_beside: options.beside, has_private_mounts },
        ground,
        table: CampaignTable::default(),
        began: Instant::now(),
        order: Order::new(campaign, &options.only, &options.target),
    };
    let done = campaign.all(limit);
    print!("{}", campaign.table.closing(campaign.began.elapsed()));
    done?;
    Ok(campaign.table.failed() == 0)
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(0)
}

/// A campaign under way.
struct Campaign<'a> {
    options: &'a Options,
    here: Here,
    ground: Ground,
    table: CampaignTable,
    began: Instant,
    order: Order,
}

impl Campaign<'_> {
    fn all(&mut self, limit: Duration) -> Result<()> {
        if let Some(number) = self.options.seed {
            let case = Case::new(number);
            match case.why_not(&self.here) {
                Some((what, why)) => self.table.not_run(what, why),
                None => self.one(case)?,
            }
            return Ok(());
        }
        while self.began.elapsed() < limit {
            let Some(case) = self.order.next(&self.here, &mut self.table) else { break };
            self.one(case)?;
            // Nothing takes time that is not done: two rounds are shown.
            if self.options.dry_run && self.table.cases() >= 2 * self.order.wanted.len() {
                break;
            }
        }
        Ok(())
    }

    fn one(&mut self, mut case: Case) -> Result<()> {
        let number = case.number;
        println!("seed {number}: {case}");
        if self.options.dry_run {
            let nothing_done = carry_out::Outcome { act: kind::Act::Missed, faults: Vec::new() };
            self.table.add(&case, &nothing_done);
            return Ok(());
        }
        let outcome = carry_out(&mut case, &self.ground);
        if self.ground.stop.load(Ordering::Relaxed) {
            let _ = std::fs::remove_dir_all(self.ground.dir_of(number));
            anyhow::bail!("interrupted in the case {number}");
        }
        // What could not be done as it was drawn is not passed.
        let outcome = outcome.unwrap_or_else(|error| carry_out::Outcome {
            act: kind::Act::Missed,
            faults: vec![format!("the case could not be carried out: {error:#}")],
        });
        self.table.add(&case, &outcome);
        if !outcome.faults.is_empty() {
            let dir = self.ground.dir_of(number);
            println!("failed: seed {number}: {case}");
            outcome.faults.iter().for_each(|fault| println!("  {fault}"));
            println!("  kept: {}", dir.display());
            println!("  again: cargo xtask chaos --seed {number}");
        }
        Ok(())
    }
}

/// The cases of a campaign: each kind as often as its weight says, in rounds.
struct Order {
    campaign: u64,
    numbers: Box<dyn Iterator<Item = u64>>,
    /// Kinds of all rounds, one after the other.
    wanted: Vec<&'static str>,
    targets: Vec<&'static str>,
    round: u64,
}

impl Order {
    /// Of these kinds and targets; empty for all.
    fn new(campaign: u64, only: &[String], targets: &[String]) -> Self {
        let is_among =
            |all: &[String], name: &str| all.is_empty() || all.iter().any(|it| it == name);
        let targets: Vec<&'static dyn Target> =
            TARGETS.iter().copied().filter(|target| is_among(targets, target.name())).collect();
        let suits =
            |kind: &&Kind| targets.iter().any(|target| (kind.unfit)(target.nature()).is_none());
        let wanted = KINDS.iter().filter(|kind| is_among(only, kind.name)).filter(suits);
        let wanted = wanted.flat_map(|kind| std::iter::repeat_n(kind.name, kind.weight)).collect();
        let targets = targets.iter().map(|target| target.name()).collect();
        Self { campaign, numbers: Box::new(numbers(campaign)), wanted, targets, round: 0 }
    }

    /// The next case that can be run here; what cannot goes to the table. `None` where nothing can.
    fn next(&mut self, here: &Here, table: &mut CampaignTable) -> Option<Case> {
        for _ in 0..self.wanted.len() {
            let length = self.wanted.len() as u64;
            let order = Draw::of_case(self.campaign)
                .shuffled(&format!("round {}", self.round / length), &self.wanted);
            let kind = order[usize::try_from(self.round % length).ok()?];
            self.round += 1;
            let numbers = self.numbers.by_ref().take(DRAWS_MAX).map(Case::new);
            let is_wanted =
                |case: &Case| case.kind.name == kind && self.targets.contains(&case.target.name());
            for case in numbers.filter(is_wanted) {
                match case.why_not(here) {
                    Some((what, why)) => table.not_run(what, why),
                    None => return Some(case),
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_come_in_rounds_by_their_weights() {
        let mut order = Order::new(1, &[], &[]);
        let whole: usize = KINDS.iter().map(|kind| kind.weight).sum();
        assert_eq!(order.wanted.len(), whole);
        let mut table = CampaignTable::default();
        let kinds: Vec<&str> = std::iter::from_fn(|| order.next(&Here::default(), &mut table))
            .take(2 * whole)
            .map(|case| case.kind.name)
            .collect();
        for kind in KINDS.iter().filter(|kind| kinds.contains(&kind.name)) {
            let count = kinds.iter().filter(|name| **name == kind.name).count();
            assert!(count >= kind.weight, "{}: {count}", kind.name);
        }
        assert!(kinds.contains(&"kill") && kinds.contains(&"locked"));
    }

    #[test]
    fn only_what_was_asked_for_comes() {
        let first = |targets: &[String]| {
            let mut order = Order::new(1, &["freeze".to_owned()], targets);
            order.next(&Here::default(), &mut CampaignTable::default())
        };
        let case = first(&[]).unwrap();
        assert_eq!(case.kind.name, "freeze");
        assert_eq!(first(&[]).unwrap().number, case.number);
        assert_eq!(first(&["bundle".to_owned()]).unwrap().target.name(), "bundle");
        assert!(first(&["kernel-build".to_owned()]).is_none(), "it takes minutes");
    }

    #[test]
    fn what_is_not_done_has_its_reason() {
        let lines: Vec<String> = KINDS.iter().flat_map(unfit).collect();
        let says = |words: &str| lines.iter().any(|line| line.contains(words));
        assert!(says("locked on kernel-build, crash: it has no database"), "{lines:?}");
        assert!(says("two on bundle, article: it is one process"), "{lines:?}");
    }

    #[test]
    fn time_is_a_number_above_zero() {
        assert_eq!(minutes("0.5"), Ok(0.5));
        for text in ["0", "-1", "inf", "x", ""] {
            assert!(minutes(text).is_err(), "{text}");
        }
    }
}
