//! What must hold of the header of a RUN, whoever wrote it: a database may come from another
//! machine, and its numbers are indices and lengths of loops for whoever reads it.
//!
//! Limits are far beyond what can be planned ([`check`] names them in its errors), so that only
//! what no program of ours has written is refused. Whether a plan makes sense is not asked here.

use crate::contender::{Contender, DeviceLevel, SEVERAL_LEAST, SEVERAL_MOST};
use crate::crash::{Campaign, CrashPlan};
use crate::dataset::{Dataset, Distribution, MAX_DEPTH, NAME_BYTES};
use crate::parameter::Parameter;
use crate::phase::{Phase, Workload};
use crate::run::{RunHeader, RunPlace, RunPlan};
use crate::verdict::{Pairs, Rule, VerdictPlan};
use std::fmt;

/// Digits of an id.
const UID_DIGITS: usize = 16;
/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;
/// Most contenders, workloads and phases of one.
const MAX_CONTENDERS: u64 = 1000;
const MAX_WORKLOADS: u64 = 1000;
const MAX_PHASES: u64 = 1000;
/// Most trials, and rows of other lists.
const MAX_TRIALS: u64 = 1_000_000;
/// Most blocks of a plan with fewer trials.
const MAX_BLOCKS: u64 = 1000;
/// Most questions, and pairs of them all.
const MAX_QUESTIONS: u64 = 10_000;
const MAX_PAIRS: u64 = 20_000_000;
/// Most files of a dataset, and its directories.
const MAX_FILES: u64 = 1_000_000_000;
const MAX_DRAWN: u64 = 100_000_000;
const MAX_DIRS: u64 = 1_000_000;
/// Largest size of anything: 1 EiB.
const MAX_BYTES: u64 = 1 << 60;
/// Most ops of a phase.
const MAX_OPS: u64 = 1_000_000_000_000;
/// Most threads, requests in flight, cycles and the like.
const MAX_WIDTH: u64 = 1_000_000;
/// Longest time and latest moment, ns: what SQLite keeps.
const MAX_NS: u64 = i64::MAX as u64;
/// Longest text of a name or path.
const MAX_NAME_BYTES: usize = 64 << 10;

/// A rule that a header breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field} {what}")]
pub struct BrokenRule {
    /// Where, as in the JSON of the header: `plan.schedule[3].contender`.
    pub field: String,
    /// What is wrong with it.
    pub what: String,
}

fn broken(field: impl Into<String>, what: impl Into<String>) -> BrokenRule {
    BrokenRule { field: field.into(), what: what.into() }
}

/// Refuses a header whose indices lead nowhere, or whose numbers nobody could have planned.
///
/// # Errors
/// Where a rule is broken; the first of them.
pub fn check(header: &RunHeader) -> Result<(), BrokenRule> {
    uid(&header.uid)?;
    at_most("created_unix_ns", header.created_unix_ns, MAX_NS)?;
    for (field, text) in [
        ("experiment", &header.experiment),
        ("title", &header.title),
        ("program_version", &header.program_version),
        ("host.hostname", &header.host.hostname),
    ] {
        short(field, text)?;
    }
    at_most("host.cpus", header.host.cpus, MAX_WIDTH)?;
    at_most("host.memory_bytes", header.host.memory_bytes, MAX_BYTES)?;
    at_most("host.swap_bytes", header.host.swap_bytes, MAX_BYTES)?;
    plan(&header.plan)?;
    header.place.as_ref().map_or(Ok(()), place)
}

/// Refuses what is no id of a RUN: files are named after it.
///
/// # Errors
/// Where it is not 16 lower-case hex digits.
pub fn uid(text: &str) -> Result<(), BrokenRule> {
    hex("uid", text, UID_DIGITS)
}

fn hex(field: impl Into<String>, text: &str, digits: usize) -> Result<(), BrokenRule> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == digits && text.bytes().all(is_digit) {
        return Ok(());
    }
    let shown: String = text.chars().take(40).collect();
    Err(broken(field, format!("is {shown:?}, not {digits} lower-case hex digits")))
}

fn at_most(
    field: impl Into<String>,
    value: impl Into<u64> + Copy + fmt::Display,
    most: u64,
) -> Result<(), BrokenRule> {
    if value.into() <= most {
        return Ok(());
    }
    Err(broken(field, format!("is {value}, and at most {most} can be")))
}

fn short(field: impl Into<String>, text: &str) -> Result<(), BrokenRule> {
    if text.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(broken(field, format!("has {} bytes, and at most {MAX_NAME_BYTES} can be", text.len())))
}

/// Refuses the index `at` of a list of `count`.
fn index(
    field: impl Into<String>,
    at: usize,
    (count, what): (usize, &str),
) -> Result<(), BrokenRule> {
    if at < count {
        return Ok(());
    }
    Err(broken(field, format!("is {at}, and the plan has {count} {what}")))
}

fn plan(plan: &RunPlan) -> Result<(), BrokenRule> {
    let contenders = (plan.contenders.len(), "contenders");
    let workloads = (plan.workloads.len(), "workloads");
    for (field, count, most) in [
        ("plan.contenders", contenders.0, MAX_CONTENDERS),
        ("plan.workloads", workloads.0, MAX_WORKLOADS),
        ("plan.schedule", plan.schedule.len(), MAX_TRIALS),
        ("plan.not_run", plan.not_run.len(), MAX_TRIALS),
    ] {
        at_most(field, count as u64, most).map_err(|rule| BrokenRule {
            what: format!("has {count} rows, and at most {most} can be"),
            ..rule
        })?;
    }
    at_most("plan.blocks", plan.blocks, MAX_BLOCKS.max(plan.schedule.len() as u64))?;
    for (at, slot) in plan.schedule.iter().enumerate() {
        let field = |name: &str| format!("plan.schedule[{at}].{name}");
        index(field("contender"), slot.contender, contenders)?;
        index(field("workload"), slot.workload, workloads)?;
        index(field("block"), slot.block as usize, (plan.blocks as usize, "blocks"))?;
        // Those of contenders that are not run are left out.
        at_most(field("position"), slot.position, MAX_TRIALS)?;
    }
    for (at, row) in plan.not_run.iter().enumerate() {
        index(format!("plan.not_run[{at}].contender"), row.contender, contenders)?;
        if let Some(workload) = row.workload {
            index(format!("plan.not_run[{at}].workload"), workload, workloads)?;
        }
    }
    if !plan.scale.is_finite() || plan.scale <= 0.0 {
        return Err(broken("plan.scale", format!("is {}, no number above 0", plan.scale)));
    }
    at_most("plan.sample_period_ns", plan.sample_period_ns, MAX_NS)?;
    for (at, one) in plan.contenders.iter().enumerate() {
        contender(&format!("plan.contenders[{at}]"), one)?;
    }
    for (at, one) in plan.workloads.iter().enumerate() {
        workload(&format!("plan.workloads[{at}]"), one)?;
    }
    if let Some(ask) = &plan.verdict {
        verdict(ask, contenders, workloads)?;
    }
    plan.crash.as_ref().map_or(Ok(()), |crash| crash_runs(crash, contenders))
}

fn contender(field: &str, one: &Contender) -> Result<(), BrokenRule> {
    short(format!("{field}.label"), &one.label)?;
    let levels = &one.levels;
    short(format!("{field}.levels.fs.name"), &levels.fs.name)?;
    if let DeviceLevel::Several { members } = &levels.device {
        let count = members.len();
        if !(SEVERAL_LEAST..=SEVERAL_MOST).contains(&count) {
            let what = format!("are {count}, and can be {SEVERAL_LEAST} to {SEVERAL_MOST}");
            return Err(broken(format!("{field}.levels.device.members"), what));
        }
        if let Some(other) = members.iter().find(|member| !member.can_be_member()) {
            let what = format!("have a {}, and can be loop, ram and block", other.kind());
            return Err(broken(format!("{field}.levels.device.members"), what));
        }
    }
    let bytes = [
        ("device.size_bytes", levels.device.size_bytes()),
        ("memory_bytes", levels.memory_bytes),
        ("queue.read_ahead_bytes", levels.queue.read_ahead_bytes),
    ];
    for (name, value) in bytes {
        at_most(format!("{field}.levels.{name}"), value.unwrap_or(0), MAX_BYTES)?;
    }
    at_most(format!("{field}.levels.handicap_ns"), levels.handicap_ns, MAX_NS)
}

fn workload(field: &str, one: &Workload) -> Result<(), BrokenRule> {
    short(format!("{field}.name"), &one.name)?;
    dataset(&format!("{field}.dataset"), &one.dataset)?;
    at_most(format!("{field}.phases (their number)"), one.phases.len() as u64, MAX_PHASES)?;
    for (at, of) in one.phases.iter().enumerate() {
        phase(&format!("{field}.phases[{at}]"), of)?;
    }
    let Some(own) = &one.levels else { return Ok(()) };
    short(format!("{field}.levels.workload"), &own.workload)?;
    let (count, most) = (own.levels.len() as u64, Parameter::ALL.len() as u64);
    at_most(format!("{field}.levels.levels (their number)"), count, most)
}

fn dataset(field: &str, set: &Dataset) -> Result<(), BrokenRule> {
    let is_drawn = set.sizes.is_some() || set.per_dir.is_some();
    let most = if is_drawn { MAX_DRAWN } else { MAX_FILES };
    at_most(format!("{field}.files"), set.files, most)?;
    at_most(format!("{field}.size_bytes"), set.size_bytes, MAX_BYTES)?;
    at_most(format!("{field}.dirs"), set.dirs, MAX_DIRS)?;
    at_most(format!("{field}.depth"), set.depth, MAX_DEPTH.into())?;
    if let Some(length) = set.name_bytes.filter(|length| !NAME_BYTES.contains(length)) {
        let what = format!("is {length}, and can be from 2 to 255");
        return Err(broken(format!("{field}.name_bytes"), what));
    }
    for (name, drawn) in [("sizes", &set.sizes), ("per_dir", &set.per_dir)] {
        let Some(drawn) = drawn else { continue };
        let most = if name == "sizes" { MAX_BYTES } else { MAX_FILES };
        distribution(&format!("{field}.{name}"), drawn, most)?;
    }
    Ok(())
}

fn distribution(field: &str, drawn: &Distribution, most: u64) -> Result<(), BrokenRule> {
    at_most(format!("{field} (its largest value)"), drawn.max(), most)?;
    match drawn {
        Distribution::Uniform { min, max } | Distribution::Lognormal { min, max, .. }
            if min > max =>
        {
            Err(broken(format!("{field}.min"), format!("is {min}, above its max {max}")))
        }
        Distribution::Lognormal { sigma, .. } if !sigma.is_finite() || *sigma < 0.0 => {
            Err(broken(format!("{field}.sigma"), format!("is {sigma}, no number from 0 on")))
        }
        Distribution::Lognormal { median, .. } => {
            at_most(format!("{field}.median"), *median, MAX_BYTES)
        }
        _ => Ok(()),
    }
}

fn phase(field: &str, of: &Phase) -> Result<(), BrokenRule> {
    short(format!("{field}.name"), &of.name)?;
    at_most(format!("{field}.bs_bytes"), of.bs_bytes, MAX_BYTES)?;
    at_most(format!("{field}.io.iodepth"), of.io.iodepth, MAX_WIDTH)?;
    at_most(format!("{field}.io.threads"), of.io.threads, MAX_WIDTH)?;
    at_most(format!("{field}.io.ranks"), of.io.ranks, MAX_WIDTH)?;
    at_most(format!("{field}.io.ops"), of.io.ops.unwrap_or(0), MAX_OPS)?;
    at_most(format!("{field}.io.runtime_ns"), of.io.runtime_ns.unwrap_or(0), MAX_NS)?;
    at_most(format!("{field}.io.rwmixread_percent"), of.io.rwmixread_percent, 100)?;
    let Some(cycle) = &of.cycle else { return Ok(()) };
    at_most(format!("{field}.cycle.cycles"), cycle.cycles, MAX_WIDTH)?;
    at_most(format!("{field}.cycle.period_ns"), cycle.period_ns, MAX_NS)?;
    at_most(format!("{field}.cycle.updates"), cycle.updates, MAX_OPS)
}

fn verdict(
    ask: &VerdictPlan,
    contenders: (usize, &str),
    workloads: (usize, &str),
) -> Result<(), BrokenRule> {
    let count = ask.questions.len() as u64;
    at_most("plan.verdict.questions (their number)", count, MAX_QUESTIONS)?;
    let all = contenders.0 as u64;
    let pairs = match ask.pairs {
        Pairs::All => count * all.pow(2) / 2,
        Pairs::Baseline { .. } => count * all,
    };
    at_most("plan.verdict.questions (the pairs they ask about)", pairs, MAX_PAIRS)?;
    for (at, question) in ask.questions.iter().enumerate() {
        index(format!("plan.verdict.questions[{at}].workload"), question.workload, workloads)?;
    }
    if let Some(headline) = ask.headline {
        index("plan.verdict.headline", headline, (ask.questions.len(), "questions"))?;
    }
    if let Pairs::Baseline { contender } = ask.pairs {
        index("plan.verdict.pairs.contender", contender, contenders)?;
    }
    if !ask.margin.is_finite() || ask.margin <= 0.0 {
        let what = format!("is {}, no share above 0", ask.margin);
        return Err(broken("plan.verdict.margin", what));
    }
    let (Rule::Looks { cap: blocks } | Rule::Fixed { blocks } | Rule::Fit { most: blocks, .. }) =
        ask.rule;
    at_most("plan.verdict.rule (its blocks)", blocks, MAX_TRIALS)?;
    if let Rule::Fit { least, most } = ask.rule
        && least > most
    {
        let what = format!("is {least}, above its most {most}");
        return Err(broken("plan.verdict.rule.least", what));
    }
    at_most("plan.verdict.spare_blocks", ask.spare_blocks, MAX_TRIALS)?;
    at_most("plan.verdict.budget_ns", ask.budget_ns.unwrap_or(0), MAX_NS)?;
    at_most("plan.verdict.begun_unix_ns", ask.begun_unix_ns.unwrap_or(0), MAX_NS)
}

fn crash_runs(crash: &CrashPlan, contenders: (usize, &str)) -> Result<(), BrokenRule> {
    let each = u64::from(crash.runs).saturating_mul(contenders.0 as u64);
    let all = each.saturating_mul(crash.workloads.len() as u64);
    at_most("plan.crash.runs (the crash runs of them all)", all, MAX_TRIALS)?;
    at_most("plan.crash.runs", crash.runs, MAX_TRIALS)?;
    at_most("plan.crash.points", crash.points, MAX_TRIALS)?;
    at_most("plan.crash.seconds", crash.seconds, MAX_NS / 1_000_000_000)?;
    let (programs, states_most) = match &crash.campaign {
        Campaign::Sequences { length, sample, .. } => {
            // Of more there are too many to be counted.
            at_most("plan.crash.campaign.length", *length, 2)?;
            (*sample, 0)
        }
        Campaign::Litmus { programs, states_most } => (*programs, *states_most),
        Campaign::MediumErrors { cases } => (*cases, 0),
        Campaign::EveryEntry { states_most, .. } => (0, *states_most),
        Campaign::PowerCuts { .. } | Campaign::Applications { .. } => (0, 0),
    };
    at_most("plan.crash.campaign (its programs or cases)", programs, MAX_TRIALS)?;
    at_most("plan.crash.campaign.states_most", states_most, MAX_TRIALS)?;
    at_most("plan.crash.keep", crash.keep, MAX_TRIALS)?;
    if crash.runs == 0 {
        return Err(broken("plan.crash.runs", "is 0, and there is one at least".to_owned()));
    }
    for (at, row) in crash.not_run.iter().enumerate() {
        index(format!("plan.crash.not_run[{at}].contender"), row.contender, contenders)?;
    }
    Ok(())
}

fn place(place: &RunPlace) -> Result<(), BrokenRule> {
    hex("place.program_sha256", &place.program_sha256, SHA256_DIGITS)?;
    at_most("place.cpus (their number)", place.cpus.len() as u64, MAX_WIDTH)?;
    for (at, device) in place.devices.iter().enumerate() {
        let field = |name: &str| format!("place.devices[{at}].{name}");
        at_most(field("size_bytes"), device.size_bytes, MAX_BYTES)?;
        short(field("name"), &device.name)?;
        no_nul(field("path"), &device.path)?;
    }
    for (at, kernel) in place.kernel_files.iter().enumerate() {
        let field = |name: &str| format!("place.kernel_files[{at}].{name}");
        hex(field("sha256"), &kernel.sha256, SHA256_DIGITS)?;
        at_most(field("hz"), kernel.hz, MAX_WIDTH)?;
        short(field("level"), &kernel.level)?;
        no_nul(field("path"), &kernel.path)?;
    }
    at_most("place.hosts (their number)", place.hosts.len() as u64, MAX_WIDTH)?;
    if let Some(command) = &place.client_mount {
        short("place.client_mount".to_owned(), command)?;
    }
    for (at, host) in place.hosts.iter().enumerate() {
        short(format!("place.hosts[{at}]"), host)?;
    }
    let dirs = [("place.age_image_dir", place.age_image_dir.as_deref())];
    let dirs = dirs.into_iter().filter_map(|(field, dir)| Some((field, dir?)));
    let mut dirs = dirs.chain([("place.image_dir", &*place.image_dir)]);
    dirs.try_for_each(|(field, dir)| no_nul(field, dir))
}

/// Refuses a path that no file can have.
fn no_nul(field: impl Into<String>, path: &std::path::Path) -> Result<(), BrokenRule> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) || bytes.len() > MAX_NAME_BYTES {
        return Err(broken(field, "is no path: it is too long, or has a zero byte"));
    }
    Ok(())
}
