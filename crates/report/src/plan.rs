//! The plan of a RUN for `--dry-run`: what would be done, how long, how much is written.

mod asked;
mod cost;
mod cycles;

pub use cost::{PlanCost, PlanCostRow, PlanNeed};

use crate::format::{bytes, count, ns};
use crate::io_summary::{describe_job, describe_source_place, io_summary};
use crate::job::describe_source;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style};
use crate::text::{bold, wrap};
use cost::{label, nanos};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::factor::{self, Factor};
use fsarena_model::job::{Job, JobKind};
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::Rule;
use fsarena_model::work::{Phase, Workload};
use fsarena_study::SourceView;

/// What `account` does.
const ACCOUNT: &str = "account: block requests are traced, to tell where the written bytes went";

/// The plan as text.
#[must_use]
pub fn plan_table(plan: &RunPlan, cost: &PlanCost, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = contenders(plan, width, style);
    out.push_str(&asked::asked(plan, cost, width, style));
    out.push('\n');
    out.push_str(&bold("Trials", style.colour));
    out.push('\n');
    out.push_str(&trials(plan, cost, width));
    out.push_str(&real_work(plan, cost, width, style));
    let mut io_summaries = io_summaries(plan);
    io_summaries.extend(cycles::lines(plan));
    io_summaries.extend(plan.account.then(|| ACCOUNT.to_owned()));
    if !io_summaries.is_empty() {
        out.push('\n');
        out.push_str(&bold("How", style.colour));
        out.push('\n');
        for line in io_summaries {
            out.push_str(&wrap("  - ", &line, width));
        }
    }
    if !plan.not_run.is_empty() {
        out.push('\n');
        out.push_str(&bold("Not run", style.colour));
        out.push('\n');
        for row in &plan.not_run {
            let workload = row.workload.and_then(|w| plan.workloads.get(w));
            let workload = workload.map(|w| format!(", {}", w.name)).unwrap_or_default();
            let line = format!("{}{workload}: {}", label(plan, row.contender), row.reason);
            out.push_str(&wrap("  - ", &line, width));
        }
    }
    out.push('\n');
    out.push_str(&wrap("", &total(plan, cost), width));
    out
}

/// The rows of the cost: after the first look and at most, where there are looks.
fn trials(plan: &RunPlan, cost: &PlanCost, width: usize) -> String {
    let looks = looks(plan);
    let after = |blocks: u32| format!("time after {blocks}");
    let headings =
        looks.map(|(least, most)| [after(least), after(most), format!("written after {most}")]);
    let mut columns =
        vec![Column::text("workload"), Column::text("contender"), Column::figure("trials")];
    match &headings {
        None => columns.extend([Column::figure("expected time"), Column::figure("written")]),
        Some(headings) => {
            columns.extend(headings.iter().map(|it| Column::figure(it.as_str()).narrow()))
        }
    }
    columns.push(Column::text("known from"));
    let mut grid = Table::new(columns);
    for row in &cost.rows {
        let workload = plan.workloads.get(row.workload).map(|w| w.name.clone());
        let mut cells = vec![workload.unwrap_or_default(), label(plan, row.contender)];
        if looks.is_some() {
            let share = row.least_trials as f64 / row.trials.max(1) as f64;
            let least_s = row.expected_s.map(|all| all * share);
            cells.extend([
                format!("{}-{}", row.least_trials, row.trials),
                ns(least_s.and_then(nanos)),
            ]);
        } else {
            cells.push(row.trials.to_string());
        }
        cells.extend([
            ns(row.expected_s.and_then(nanos)),
            bytes(Some(row.written_bytes)),
            row.source.clone(),
        ]);
        grid.row(cells);
    }
    text::table(&grid, width)
}

/// Fewest and most blocks, where a RUN ends when all is decided.
fn looks(plan: &RunPlan) -> Option<(u32, u32)> {
    let rule = plan.verdict.as_ref()?.rule;
    matches!(rule, Rule::Looks { .. }).then(|| (rule.least_blocks(), rule.blocks()))
}

/// What real work is done with, and each of its phases; nothing where there is none.
fn real_work(plan: &RunPlan, cost: &PlanCost, width: usize, style: Style) -> String {
    let mut out = String::new();
    for (at, workload) in plan.workloads.iter().enumerate() {
        let Some(source) = &workload.source else { continue };
        if out.is_empty() {
            out = format!("\n{}\n", bold("Real work", style.colour));
        }
        let need = cost.needs.iter().find(|need| need.workload == at);
        let need = need.map(|need| format!("; needs {}", bytes(Some(need.needed_bytes))));
        let line = format!(
            "{}: {}; {}{}",
            workload.name,
            describe_source(&SourceView::from(source)),
            describe_source_place(source.place),
            need.unwrap_or_default()
        );
        out.push_str(&wrap("  - ", &line, width));
        for phase in &workload.phases {
            let Some(job) = &phase.job else { continue };
            let untimed = if phase.timed { "" } else { "; not timed" };
            let line = format!("{}: {}{untimed}", phase.name, whole_job(job));
            out.push_str(&wrap("      ", &line, width));
        }
    }
    out
}

/// A job with nothing left out: of a command every line that is run.
fn whole_job(job: &Job) -> String {
    let programs = match job.programs().get(1..) {
        Some(more) if !more.is_empty() => format!("; with {}", more.join(", ")),
        _ => String::new(),
    };
    let JobKind::Command(command) = &job.kind else {
        return format!("{}{programs}", describe_job(job));
    };
    let hook = |when: &str, hook: &Option<String>| match hook {
        Some(text) => format!("; {when}: {text}"),
        None => String::new(),
    };
    format!(
        "command: {}{}{}{programs}",
        command.run,
        hook("before it", &command.prepare),
        hook("after it", &command.cleanup)
    )
}

fn total(plan: &RunPlan, cost: &PlanCost) -> String {
    let images = if cost.image_bytes == 0 {
        String::new()
    } else {
        format!("; images take {} at one time", bytes(Some(cost.image_bytes)))
    };
    let stop = if cost.source.is_empty() { "" } else { ". " };
    let source = cost.source.trim_end_matches('.');
    let (most_ns, most) = (ns(nanos(cost.total_s)), bytes(Some(cost.written_bytes)));
    let Some((least_blocks, most_blocks)) = looks(plan) else {
        return format!(
            "{} in {}: expected {most_ns}, {most} written{images}{stop}{source}. Nothing has been \
             touched.",
            count(plan.schedule.len(), "trial"),
            count(usize::try_from(plan.blocks).unwrap_or(usize::MAX), "block"),
        );
    };
    let trials = |of: fn(&PlanCostRow) -> usize| cost.rows.iter().map(of).sum::<usize>();
    format!(
        "{} trials in {least_blocks} blocks, if all is decided at the first look: expected {}, {} \
         written; at most {} trials in {most_blocks} blocks: {most_ns}, {most}{images}{stop}\
         {source}. Nothing has been touched.",
        trials(|row| row.least_trials),
        ns(nanos(cost.least_s)),
        bytes(Some(cost.least_written_bytes)),
        trials(|row| row.trials),
    )
}

fn contenders(plan: &RunPlan, width: usize, style: Style) -> String {
    let is_asked = |factor: &dyn Factor| {
        let level = |contender: &Contender| factor.get(&contender.levels);
        plan.contenders.iter().any(|contender| !factor.is_unset(&level(contender)))
    };
    let (settings, mut shown): (Vec<&dyn Factor>, Vec<&dyn Factor>) = factor::all()
        .into_iter()
        .map(|factor| factor as &dyn Factor)
        .filter(|factor| ["memory", "discard"].contains(&factor.key()) || is_asked(*factor))
        .partition(|factor| factor.is_setting());
    shown.sort_by_key(|factor| (factor.key() == "discard", factor.key() != "cache"));
    let discard = shown.pop();
    let mut columns = ["contender", "file system", "on"].map(Column::text).to_vec();
    columns.extend(shown.iter().map(|factor| Column::text(factor.head())));
    columns.extend((!settings.is_empty()).then(|| Column::text("settings")));
    columns.extend(discard.map(|factor| Column::figure(factor.head()).optional(1)));
    let mut grid = Table::new(columns);
    for contender in &plan.contenders {
        let levels = &contender.levels;
        let words = |factor: &&dyn Factor| factor.words(&factor.get(levels));
        let mut cells =
            vec![contender.label.clone(), levels.fs.to_string(), device(&levels.device)];
        cells.extend(shown.iter().map(words));
        if !settings.is_empty() {
            let facts = settings.iter().filter_map(|factor| factor.fact(&factor.get(levels)));
            let facts: Vec<String> = facts.collect();
            let none = facts.is_empty().then(|| "as they are".to_owned());
            cells.push(none.unwrap_or_else(|| facts.join(", ")));
        }
        cells.extend(discard.iter().map(words));
        grid.row(cells);
    }
    let mut out = format!("{}\n{}", bold("Contenders", style.colour), text::table(&grid, width));
    for device in lost(plan) {
        let line = format!("Everything on {device} will be lost.");
        out.push_str(&bold(wrap("", &line, width).trim_end(), style.colour));
        out.push('\n');
    }
    out
}

/// The device with its kind.
fn device(level: &DeviceLevel) -> String {
    match level {
        DeviceLevel::Block { size_bytes, .. } => {
            format!("block device {level} of {}", bytes(Some(*size_bytes)))
        }
        DeviceLevel::Directory { .. } => format!("directory {level}"),
        _ => level.to_string(),
    }
}

/// The user's devices that a file system is made on, each once.
fn lost(plan: &RunPlan) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for contender in &plan.contenders {
        let level = &contender.levels.device;
        if matches!(level, DeviceLevel::Block { .. }) && !devices.contains(&level.to_string()) {
            devices.push(level.to_string());
        }
    }
    devices
}

/// Phases that are not done as most are, with how they are done.
fn io_summaries(plan: &RunPlan) -> Vec<String> {
    let of = |workload: &Workload| -> Vec<String> {
        let words = |phase: &Phase| {
            let said = io_summary(phase.op, phase.bs_bytes, &phase.io, &workload.dataset);
            let timed = phase.timed && !phase.io.is_default();
            timed.then(|| format!("{} / {}: {said}", workload.name, phase.name))
        };
        workload.phases.iter().filter_map(words).collect()
    };
    plan.workloads.iter().flat_map(of).collect()
}
