//! `fsarena selftest honesty`: equal runs of one configuration, or of several contenders in turn (a
//! tape), and the false verdicts that each rule of decision gives on them.

use super::{alike, open, run};
use crate::args::{HonestyArgs, RunArgs, Selftest, SelftestArgs};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_honesty::families::{
    FamiliesReplayed, FamilyConfig, FamilyTape, Power, PowerConfig, Quick, blocks_needed,
    family_tape, power, replay_families,
};
use fsarena_honesty::{Config, FALSE_PER_THOUSAND, Replayed, Tape, replay, tapes, trials_needed};
use fsarena_model::seed::Seed;
use fsarena_model::units::parse_share;
use fsarena_model::verdict::{DEFAULT_MARGIN, Rule};
use fsarena_store::{RunId, Store};
use std::path::Path;
use std::process::ExitCode;

/// The margin of comparisons of one configuration with itself.
const MARGIN: f64 = 0.02;

/// Tests what was asked for.
pub fn run(args: &SelftestArgs, db: Option<&Path>) -> Result<ExitCode> {
    match &args.what {
        Selftest::Honesty(args) => honesty(args, db),
        Selftest::Virtual => alike::run(),
    }
}

/// What RUNs were read as.
enum Tapes {
    OneContender(Vec<Tape>),
    Families(Vec<(RunId, FamilyTape)>),
}

fn honesty(args: &HonestyArgs, db: Option<&Path>) -> Result<ExitCode> {
    let margin = margin(args)?;
    let mut selectors = args.tape.clone();
    if selectors.is_empty() {
        if let Some(ended) = record(args, db)? {
            return Ok(ended);
        }
        selectors.push("latest".to_owned());
    }
    let Some(store) = open::for_reading(db)? else {
        let path = context::database(db)?;
        refuse!("{}: there is no database yet, and so no tape", path.display());
    };
    match read(&store, &selectors)? {
        Tapes::OneContender(_) if args.power => {
            refuse!("--power: a tape of one contender has no families; --tape takes one of several")
        }
        Tapes::OneContender(tapes) => one_contender(args, margin, &tapes),
        Tapes::Families(tapes) if args.power => quick_power(args, margin, &store, &tapes),
        Tapes::Families(tapes) => families(args, margin, &tapes),
    }
}

fn one_contender(args: &HonestyArgs, margin: Option<f64>, tapes: &[Tape]) -> Result<ExitCode> {
    let (replays, seed) = (args.replays, Seed::from_number(args.seed));
    let config = Config { replays, margin: margin.unwrap_or(MARGIN), seed };
    let mut replayed = Vec::new();
    for tape in tapes {
        say!("replaying {}: {}, {}", tape.source, tape.workload, tape.phase);
        replayed.push(replay(tape, &config).map_err(unusable)?);
    }
    let tables = |width, style| fsarena_report::honesty_tables(&replayed, width, style);
    context::print_as(
        args.json,
        || fsarena_report::json::document("honesty", "tapes", &replayed),
        tables,
    )?;
    Ok(verdict(&replayed))
}

fn families(
    args: &HonestyArgs,
    margin: Option<f64>,
    tapes: &[(RunId, FamilyTape)],
) -> Result<ExitCode> {
    let config = family_config(args, margin);
    let mut replayed: Vec<FamiliesReplayed> = Vec::new();
    for (_, tape) in tapes {
        say!("replaying {}: {}", tape.source, tape.contenders.join(", "));
        replayed.push(replay_families(tape, &config).map_err(unusable)?);
    }
    let tables = |width, style| fsarena_report::family_tables(&replayed, width, style);
    context::print_as(
        args.json,
        || fsarena_report::json::document("honesty-families", "tapes", &replayed),
        tables,
    )?;
    let is_broken = replayed.iter().any(|tape| tape.broken().next().is_some());
    Ok(if is_broken { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

fn family_config(args: &HonestyArgs, margin: Option<f64>) -> FamilyConfig {
    let (replays, seed) = (args.replays, Seed::from_number(args.seed));
    let mut quick = quick();
    if let Some((least, most)) = args.fit {
        (quick.least, quick.most) = (least, most);
    }
    FamilyConfig { replays, margin: margin.unwrap_or(DEFAULT_MARGIN), seed, quick }
}

/// What the built-in experiment does.
fn quick() -> Quick {
    let run = fsarena_plan::builtin::experiment("quick").expect("quick is built in").run;
    let budget_s = run.verdicts.budget_ns.map_or(240, |ns| (ns / 1_000_000_000) as u32);
    let (least, most) = match run.rule {
        Some(Rule::Fit { least, most }) => (least, most),
        Some(rule) => (rule.least_blocks(), rule.blocks()),
        None => (4, 12),
    };
    Quick { least, most, budget_s }
}

fn quick_power(
    args: &HonestyArgs,
    margin: Option<f64>,
    store: &Store,
    tapes: &[(RunId, FamilyTape)],
) -> Result<ExitCode> {
    let families = family_config(args, margin);
    let config = PowerConfig { families, blocks: args.blocks };
    let mut found: Vec<Power> = Vec::new();
    for (run, tape) in tapes {
        say!("replaying {}: {}", tape.source, tape.contenders.join(", "));
        let records = store.records(*run).with_context(|| format!("RUN {run}"))?;
        found.push(power(tape, &records, &config).map_err(unusable)?);
    }
    context::print_as(
        args.json,
        || fsarena_report::json::document("honesty-power", "tapes", &found),
        |width, style| fsarena_report::power_tables(&found, width, style),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn margin(args: &HonestyArgs) -> Result<Option<f64>> {
    let Some(text) = &args.margin else { return Ok(None) };
    let margin = parse_share(text).ok().filter(|margin| (0.0001..=1.0).contains(margin));
    if margin.is_none() {
        refuse!("--margin {text}: expected a share from 0.01% to 100%, such as 2%");
    }
    Ok(margin)
}

/// Records a tape by the ordinary pipeline. An exit code where it was not finished.
fn record(args: &HonestyArgs, db: Option<&Path>) -> Result<Option<ExitCode>> {
    // A list, or a range of which each level is a contender.
    let has_several = args.fs.as_ref().is_some_and(|fs| fs.contains(',') || fs.contains(".."));
    if args.power && !has_several {
        refuse!("--power: it needs several file systems, such as --fs ext4,ext3,xfs,btrfs");
    }
    let (needs, what) =
        if has_several { (blocks_needed(), "blocks") } else { (trials_needed(), "trials") };
    if (args.runs as usize) < needs {
        refuse!(
            "--runs {}: a tape needs {needs} {what} at least, and 200 or more are better",
            args.runs
        );
    }
    let made = args.on.is_none() && context::is_root();
    let on = args.on.clone().or_else(|| made.then(|| "loop:1G".to_owned()));
    // A directory has the file system that it has.
    let may_be_made = on.as_deref().is_some_and(|on| !on.contains('/'));
    let asked = RunArgs {
        fs: args.fs.clone().or_else(|| may_be_made.then(|| "ext4".to_owned())),
        on,
        workload: Some(args.workload.clone()),
        runs: Some(args.runs.to_string()),
        scale: args.scale,
        seed: Some(args.seed),
        image_dir: args.image_dir.clone(),
        sample_period: Some("0s".to_owned()),
        silent: true,
        ..RunArgs::default()
    };
    let ended = run::run(&asked, db)?;
    // Some trials may have failed; those that did not are a tape still.
    Ok((ended == ExitCode::from(exit::INTERRUPTED)).then_some(ended))
}

fn read(store: &Store, selectors: &[String]) -> Result<Tapes> {
    let (mut of_one, mut families) = (Vec::new(), Vec::new());
    for selector in selectors {
        let run = store.find(selector)?;
        let header = store.header(run)?;
        let scores = store.scores(run).with_context(|| format!("RUN {run}"))?;
        let source = format!("RUN {run}");
        if header.plan.contenders.len() == 1 {
            of_one.extend(tapes(&source, &header.plan, &scores).map_err(unusable)?);
        } else {
            let tape = family_tape(&source, &header.plan, &scores).map_err(unusable)?;
            families.push((run, tape));
        }
    }
    match (of_one.is_empty(), families.is_empty()) {
        (_, true) => Ok(Tapes::OneContender(of_one)),
        (true, false) => Ok(Tapes::Families(families)),
        (false, false) => refuse!(
            "--tape: some of these RUNs have one contender and some have several; replay them in \
             two calls"
        ),
    }
}

/// A RUN that is no tape was named by the user.
fn unusable(error: impl std::error::Error) -> anyhow::Error {
    Usage(error.to_string()).into()
}

/// Fails where our own rule says more than it may.
fn verdict(replayed: &[Replayed]) -> ExitCode {
    let mut broken = false;
    for tape in replayed {
        for rule in tape.broken() {
            broken = true;
            let facts = &tape.tape;
            say!(
                "{}, {}, {}: {} gave {} false verdicts in {} comparisons, more than {} per 1,000",
                facts.source,
                facts.workload,
                facts.phase,
                rule.name,
                rule.false_verdicts.count,
                rule.false_verdicts.of,
                FALSE_PER_THOUSAND
            );
        }
    }
    if broken { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS }
}
