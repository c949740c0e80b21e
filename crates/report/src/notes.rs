//! What stands before and after the tables: which RUN this is, what was not run, what failed,
//! disturbances, contents and the cost of sampling.

use crate::format::{bytes, count, grouped, utc};
use crate::section::{Block, Owner, Section};
use crate::text::{MIN_WIDTH, Style};
use crate::text::{bold, clean, wrap};
use fsarena_model::run::RunState;
use fsarena_study::{PartialPhase, ProgramUse, Study, VerifyTotal};
use fsarena_verdict::CutOff;
use std::collections::HashSet;

/// Which RUN this is and how it stands.
pub(crate) fn run_heading(
    study: &Study,
    cut_off: Option<CutOff>,
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for (at, text) in heading_lines(study, cut_off).iter().enumerate() {
        for line in wrap("", text, width).lines() {
            out.push_str(&bold(line, style.colour && at == 0));
            out.push('\n');
        }
    }
    out
}

/// The title; number, date and state, or how its budget cut it off; the machine and the devices;
/// whether trials are missing.
pub(crate) fn heading_lines(study: &Study, cut_off: Option<CutOff>) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", study.experiment, study.title)];
    let trials = trials_done(study);
    let scale = if (study.scale - 1.0).abs() < 1e-12 {
        String::new()
    } else {
        format!(", datasets scaled by {}", study.scale)
    };
    let state = cut_off.map_or_else(|| study.state.name().to_owned(), |how| how.to_string());
    let line =
        format!("RUN {}, {}, {state}, {trials}{scale}.", study.uid, utc(study.created_unix_ns),);
    lines.push(line);
    let place: Vec<String> =
        std::iter::once(&study.machine).chain(&study.devices).map(|line| clean(line)).collect();
    lines.push(format!("{}.", place.join("; ")));
    if study.state != RunState::Done && study.trials_recorded < study.trials_planned {
        lines.push("Not all trials were done: the figures are of those that were.".to_owned());
    }
    lines
}

/// `48 trials`, or `40 of 48 trials`.
pub(crate) fn trials_done(study: &Study) -> String {
    let planned = count(study.trials_planned, "trial");
    match study.trials_recorded {
        done if done == study.trials_planned => planned,
        done => format!("{done} of {planned}"),
    }
}

/// Everything that has to be said with the tables.
pub(crate) fn section(study: &Study) -> Section {
    let list = |(title, lines): (&str, _)| Block::List(Some(Owner::named(title)), lines);
    let lists = closing_lists(study).into_iter().map(list);
    Section::new(lists.chain(sampling(study).map(Block::Note)).collect())
}

/// What has to be said with the tables, by its kind; kinds that have nothing to say are left out.
pub(crate) fn closing_lists(study: &Study) -> Vec<(&'static str, Vec<String>)> {
    let all: [(&'static str, Vec<String>); 6] = [
        ("Programs", programs(study)),
        ("Contents", study.verify.iter().flat_map(contents).collect()),
        ("Failed", failures(study)),
        ("Not run", not_run(study)),
        ("Notices", notices(study)),
        ("Watchers", study.findings.iter().map(|finding| finding.text.clone()).collect()),
    ];
    all.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}

/// What taking the time series cost, in one sentence; `None` where there are none.
pub(crate) fn sampling(study: &Study) -> Option<String> {
    let sampler = study.sampler.as_ref()?;
    let missed = match sampler.missed_deadlines {
        0 => String::new(),
        missed => format!(" ({} more were due but late)", grouped(missed)),
    };
    Some(format!(
        "Sampling took {} samples{missed} and {:.2} % of one CPU core.",
        grouped(sampler.samples),
        sampler.share * 100.0
    ))
}

/// The programs of real work, as they were found.
fn programs(study: &Study) -> Vec<String> {
    let several = |name: &str| study.programs.iter().filter(|one| one.name == name).count() > 1;
    let of = |one: &ProgramUse| {
        let path = one.path.as_ref()?;
        let version = if one.version.is_empty() { "says no version" } else { &one.version };
        let trials = if several(&one.name) {
            format!(" [{} of {}]", count(one.trials, "trial"), one.labels.join(", "))
        } else {
            String::new()
        };
        Some(format!("{}: {version}, {}{trials}", one.name, path.display()))
    };
    study.programs.iter().filter_map(of).collect()
}

fn contents(verify: &VerifyTotal) -> Vec<String> {
    let files = verify.files.saturating_add(verify.bad_files);
    let read = format!(
        "{} {} read again after {} ({})",
        grouped(files),
        if files == 1 { "file" } else { "files" },
        count(verify.trials, "trial"),
        bytes(Some(verify.bytes))
    );
    if verify.bad_files == 0 {
        return vec![format!("{read}: every byte as written")];
    }
    let mut lines = vec![format!("{read}: {} WRONG, missing or unreadable", verify.bad_files)];
    lines.extend(verify.examples.iter().cloned());
    lines
}

fn failures(study: &Study) -> Vec<String> {
    let of = |row: &fsarena_study::FailureRow| {
        let step = row.step.as_ref().map(|s| format!(", {s}")).unwrap_or_default();
        let remedy = row.remedy.as_ref().map(|r| format!("; {r}")).unwrap_or_default();
        // People count from 1.
        let numbers = row.sequences.iter().take(8).map(|at| (at + 1).to_string());
        let numbers: Vec<String> = numbers.collect();
        let more = if row.sequences.len() > 8 { ", …" } else { "" };
        let trials = if row.sequences.len() == 1 { "trial" } else { "trials" };
        let numbers = numbers.join(", ");
        let (label, workload, error) = (&row.label, &row.workload, &row.error);
        let partial = row.partial.as_ref().map(partial).unwrap_or_default();
        format!("{label}, {workload}{step} ({trials} {numbers}{more}): {error}{remedy}{partial}")
    };
    study.failures.iter().map(of).collect()
}

/// `; partial: create ended after 17 to 230 of 5,000 ops`.
fn partial(partial: &PartialPhase) -> String {
    if partial.most_ops == 0 && partial.planned_ops.is_none() {
        return format!("; partial: {} did not come to its end", partial.phase);
    }
    let (least, most) = (grouped(partial.least_ops), grouped(partial.most_ops));
    let ops = if least == most { most } else { format!("{least} to {most}") };
    let planned = partial.planned_ops.map(|ops| format!(" of {}", grouped(ops)));
    format!("; partial: {} ended after {ops}{} ops", partial.phase, planned.unwrap_or_default())
}

fn not_run(study: &Study) -> Vec<String> {
    let of = |row: &fsarena_study::NotRunRow| match &row.workload {
        Some(workload) => format!("{}, {workload}: {}", row.label, row.reason),
        None => format!("{}: {}", row.label, row.reason),
    };
    study.not_run.iter().map(of).collect()
}

fn notices(study: &Study) -> Vec<String> {
    let labels = study.trials.iter().map(|row| &row.label).collect::<HashSet<_>>().len();
    let of = |row: &fsarena_study::NoticeRow| {
        let text = clean(&row.text);
        let text = text.trim_end().trim_end_matches('.');
        let remedy = row.remedy.as_ref().map(|r| format!(" {r}")).unwrap_or_default();
        let stop = if remedy.is_empty() { "" } else { "." };
        let worst = if row.measure.is_some() && row.trials > 1 { "at worst, " } else { "" };
        let all_labels = row.labels.len() > 1 && row.labels.len() == labels;
        let who = if row.trials == study.trials_recorded {
            "all trials".to_owned()
        } else if all_labels {
            format!("{} of {}, of every contender", row.trials, study.trials_recorded)
        } else {
            format!("{} of {}", count(row.trials, "trial"), row.labels.join(", "))
        };
        format!("{worst}{text}{stop}{remedy} [{who}]")
    };
    study.notices.iter().map(of).collect()
}
