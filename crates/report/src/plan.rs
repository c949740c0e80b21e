//! The plan of a RUN for `--dry-run`: what would be done, what it asks, how long it takes, how much
//! is written.

use crate::format::{bytes, count, ns};
use crate::io_summary::{describe_job, describe_source_place, io_summary};
use crate::job::describe_source;
use crate::render::text;
use crate::row_state::asked_and_not_had;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style, bold, heading, titled_list, wrap};
use crate::verdict::text::{percent, without_verdict};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::cycle::{Cycle, Disturb, Load, UpdateKind};
use fsarena_model::factor::{self, Factor};
use fsarena_model::job::{Job, JobKind};
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::verdict::{Pairs, Question, Rule, VerdictPlan};
use fsarena_model::work::{Phase, Workload};
use fsarena_study::SourceView;
use serde::Serialize;

/// What `account` does.
const ACCOUNT: &str = "account: block requests are traced, to tell where the written bytes went";

/// The plan as text.
#[must_use]
pub fn plan_table(plan: &RunPlan, cost: &PlanCost, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let list = |title: &str, lines: &[String]| titled_list(title, lines, width, style);
    let mut how = io_summaries(plan);
    how.extend(cycle_lines(plan));
    how.extend(plan.account.then(|| ACCOUNT.to_owned()));
    let parts = [
        list("Not run", &not_run(plan)),
        contenders(plan, width, style),
        list("Asked for and not possible", &asked_and_not_had(plan)),
        list("Verdicts", &asked(plan, cost)),
        match plan.is_crash_alone() {
            true => String::new(),
            false => heading("Trials", width, style) + &trials(plan, cost, width),
        },
        real_work(plan, cost, width, style),
        list("How", &how),
        list("Crash safety", &crash_runs(plan, cost)),
        wrap("", &total(plan, cost), width)
            + &full_size(cost).map(|line| wrap("", &line, width)).unwrap_or_default(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What cannot take part, and what would help; before everything else, because the rest of a plan
/// is read as if all of it were run. Contenders that have one reason are one line.
fn not_run(plan: &RunPlan) -> Vec<String> {
    let mut lines: Vec<(&NotRun, Vec<String>)> = Vec::new();
    for row in &plan.not_run {
        let is_alike =
            |known: &NotRun| (known.workload, &known.reason) == (row.workload, &row.reason);
        match lines.iter_mut().find(|(known, _)| is_alike(known)) {
            Some((_, labels)) => labels.push(label(plan, row.contender)),
            None => lines.push((row, vec![label(plan, row.contender)])),
        }
    }
    let line = |(row, labels): (&NotRun, Vec<String>)| {
        let workload = row.workload.and_then(|at| plan.workloads.get(at));
        let of = workload.map(|work| format!(" in {}", work.name)).unwrap_or_default();
        format!("{}{of}: {}", labels.join(", "), row.reason)
    };
    lines.into_iter().map(line).collect()
}

/// The power cuts after the trials, and whose power is not cut.
fn crash_runs(plan: &RunPlan, cost: &PlanCost) -> Vec<String> {
    let Some(crash) = &plan.crash else { return Vec::new() };
    let runs = plan.crash_slots().len();
    let after = if crash.is_alone { "" } else { " after the trials" };
    let mut words = format!(
        "{}{after}: {} of {} on {}",
        count(runs, "crash run"),
        count(crash.runs as usize, "run"),
        crash.workloads.join(", "),
        count(plan.crashed_contenders().len(), "contender"),
    );
    if crash.seconds > 0 {
        words.push_str(&format!(", {} s of work", crash.seconds));
    }
    if crash.points > 0 {
        let cuts = count(crash.points as usize, "power cut");
        words.push_str(&format!(" with {cuts} each ({})", crash.states.join(", ")));
    }
    words.push_str(&format!(": expected {}", ns(cost.crash_runs_s.and_then(nanos))));
    let mut lines = vec![words];
    lines.extend(crash.workload_notes.iter().map(|note| format!("mind: {note}")));
    let not_run = crash.not_run.iter();
    lines.extend(
        not_run.map(|row| format!("not run: {}: {}", label(plan, row.contender), row.reason)),
    );
    lines
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

/// Fewest and most blocks, where their number is not fixed beforehand.
fn looks(plan: &RunPlan) -> Option<(u32, u32)> {
    let rule = plan.verdict.as_ref()?.rule;
    let is_open = matches!(rule, Rule::Looks { .. } | Rule::Fit { .. });
    is_open.then(|| (rule.least_blocks(), rule.blocks()))
}

/// What real work is done with, and each of its phases; nothing where there is none.
fn real_work(plan: &RunPlan, cost: &PlanCost, width: usize, style: Style) -> String {
    let mut out = String::new();
    for (at, workload) in plan.workloads.iter().enumerate() {
        let Some(source) = &workload.source else { continue };
        if out.is_empty() {
            out = heading("Real work", width, style);
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
    if plan.is_crash_alone() {
        return "Nothing has been touched.".to_owned();
    }
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
    let when = match plan.verdict.as_ref().map(|verdict| verdict.rule) {
        Some(Rule::Fit { .. }) => "if no more fit into the budget",
        _ => "if all is decided at the first look",
    };
    format!(
        "{} trials in {least_blocks} blocks, {when}: expected {}, {} written; at most {} \
         trials in {most_blocks} blocks: {most_ns}, {most}{images}{stop}{source}. Nothing has been \
         touched.",
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
        let words = |factor: &&dyn Factor| {
            let had = factor.words(&factor.get(levels));
            match contender.asked.get(factor.key()) {
                Some(asked) => format!("{had}, not {}", factor.words(&asked.level)),
                None => had,
            }
        };
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
        DeviceLevel::Several { members }
            if members.iter().any(|member| matches!(member, DeviceLevel::Block { .. })) =>
        {
            members.iter().map(device).collect::<Vec<_>>().join(" + ")
        }
        _ => level.to_string(),
    }
}

/// The user's devices that a file system is made on, each once.
fn lost(plan: &RunPlan) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for contender in &plan.contenders {
        for level in contender.levels.device.parts() {
            if matches!(level, DeviceLevel::Block { .. }) && !devices.contains(&level.to_string()) {
                devices.push(level.to_string());
            }
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
    let base = |at: usize| plan.workloads[at].levels.as_ref().map(|own| &own.workload);
    let of_levels = |at: usize| (0..plan.workloads.len()).filter(move |&one| base(one) == base(at));
    let lines = |at: usize| {
        let Some(name) = base(at) else { return of(&plan.workloads[at]) };
        match of_levels(at).next() == Some(at) {
            true => {
                let others = of_levels(at).count() - 1;
                let more = format!(
                    "{name}: {} likewise, but for what varies",
                    count(others, "other level")
                );
                of(&plan.workloads[at]).into_iter().chain((others > 0).then_some(more)).collect()
            }
            false => Vec::new(),
        }
    };
    (0..plan.workloads.len()).flat_map(lines).collect()
}

/// Expected cost of a plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCost {
    /// One row a contender and workload that is run.
    pub rows: Vec<PlanCostRow>,
    /// All of it, s; at most, where the RUN ends when all is decided.
    pub total_s: f64,
    /// The same where all is decided at the first look, s.
    pub least_s: f64,
    /// Bytes written to devices and images, all of it; at most, as above.
    pub written_bytes: u64,
    /// The same where all is decided at the first look.
    pub least_written_bytes: u64,
    /// Bytes of images at one time.
    pub image_bytes: u64,
    /// Where the figures come from, one line.
    pub source: String,
    /// Expected time of the crash runs, s; absent where no power is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash_runs_s: Option<f64>,
    /// Space that each workload of real work needs on the file system under test.
    pub needs: Vec<PlanNeed>,
    /// What the same would cost at full size; absent where this is the full size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_size: Option<FullSize>,
}

/// Expected cost of a plan at full size (`--scale 1`).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FullSize {
    /// It can be planned on the same devices.
    Costs {
        /// Blocks until its first look; all where their number is fixed.
        blocks: u32,
        /// Their expected time, s.
        expected_s: f64,
        /// Bytes that they write.
        written_bytes: u64,
    },
    /// It is refused on these devices, and why.
    Refused(String),
}

impl PlanCost {
    /// This as the cost at full size of another plan; `plan` is what it is of.
    #[must_use]
    pub fn full_size(&self, plan: &RunPlan) -> FullSize {
        let blocks = looks(plan).map_or(plan.blocks, |(least, _)| least);
        let has_looks = looks(plan).is_some();
        let expected_s = if has_looks { self.least_s } else { self.total_s };
        let written_bytes = if has_looks { self.least_written_bytes } else { self.written_bytes };
        FullSize::Costs { blocks, expected_s, written_bytes }
    }
}

/// The sentence of the full size; nothing where this is it.
fn full_size(cost: &PlanCost) -> Option<String> {
    Some(match cost.full_size.as_ref()? {
        FullSize::Costs { blocks, expected_s, written_bytes } => format!(
            "At full size (--scale 1) {} are expected to take {} and to write {}.",
            count(usize::try_from(*blocks).unwrap_or(usize::MAX), "block"),
            ns(nanos(*expected_s)),
            bytes(Some(*written_bytes)),
        ),
        FullSize::Refused(reason) => format!("At full size (--scale 1) it is refused: {reason}"),
    })
}

/// Space that a workload needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanNeed {
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Bytes on the file system under test.
    pub needed_bytes: u64,
}

/// Expected cost of one workload on one contender over all blocks.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCostRow {
    /// Index into the plan's contenders.
    pub contender: usize,
    /// Index into the plan's workloads.
    pub workload: usize,
    /// Trials, at most.
    pub trials: usize,
    /// Trials where all is decided at the first look.
    pub least_trials: usize,
    /// Expected time of all its trials, s; `None` where nothing is known.
    pub expected_s: Option<f64>,
    /// Bytes its trials write.
    pub written_bytes: u64,
    /// Where its figure comes from (`earlier records`, `calibration, assumption`).
    pub source: String,
}

/// Label of a contender of a plan.
fn label(plan: &RunPlan, contender: usize) -> String {
    plan.contenders.get(contender).map_or_else(String::new, |c| c.label.clone())
}

/// Seconds as ns; what is not a length is no length.
fn nanos(seconds: f64) -> Option<u64> {
    let ns = seconds * 1e9;
    (ns.is_finite() && (0.0..1.8e19).contains(&ns)).then_some(ns as u64)
}

/// Questions that are listed at most.
const LISTED: usize = 16;

/// What is asked, a line each; nothing where a plan has no verdicts.
fn asked(plan: &RunPlan, cost: &PlanCost) -> Vec<String> {
    let Some(verdict) = &plan.verdict else { return Vec::new() };
    let pairs: usize = verdict.questions.iter().map(|one| plan.asked_pairs(one).len()).sum();
    let mut lines = vec![rule(verdict, pairs)];
    if pairs > 0 {
        lines.push(questions(plan, verdict, pairs));
        let headline = verdict.headline.and_then(|at| verdict.questions.get(at));
        lines.extend(headline.map(|one| format!("headline: {}", question_name(plan, one))));
        let margin = verdict.margin;
        lines.push(format!(
            "margin {}: SAME means a ratio within {:.3} and {:.3}",
            percent(margin),
            1.0 / (1.0 + margin),
            1.0 + margin
        ));
    }
    lines.extend(without_verdict(plan));
    if let Some(budget_ns) = verdict.budget_ns {
        let late = nanos(cost.least_s).filter(|least_ns| pairs > 0 && *least_ns > budget_ns);
        let late = late.map(|least_ns| match verdict.rule {
            Rule::Fit { least, .. } => {
                format!("; {least} blocks are expected to take longer, {}", ns(Some(least_ns)))
            }
            _ => format!("; the first look is expected later, after {}", ns(Some(least_ns))),
        });
        lines.push(format!(
            "budget {}: no block is begun that is not expected to end within it{}",
            ns(Some(budget_ns)),
            late.unwrap_or_default()
        ));
    }
    let limits = [
        verdict.limits.steal_share.map(|share| {
            format!("a hypervisor took over {} of the machine during a timed phase", percent(share))
        }),
        verdict.limits.foreign_share.map(|share| {
            format!("other programs had {} more of it around one contender", percent(share))
        }),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if verdict.spare_blocks > 0 && !limits.is_empty() {
        lines.push(format!(
            "a block is run again where {}; {} for that",
            limits.join(", or "),
            count(verdict.spare_blocks as usize, "spare block")
        ));
    }
    lines
}

/// When the figures are looked at.
fn rule(verdict: &VerdictPlan, pairs: usize) -> String {
    let blocks = count(verdict.rule.blocks() as usize, "block");
    match verdict.rule {
        _ if pairs == 0 => format!("{blocks}; nothing here can be compared with another"),
        Rule::Fixed { .. } => format!("{blocks}, one look after the last"),
        Rule::Fit { .. } if verdict.budget_ns.is_none() => {
            format!("{blocks}, as there is no budget; one look after the last")
        }
        Rule::Fit { least, most } => format!(
            "{least} to {most} blocks, as many as fit into the budget by the time that blocks take; \
             one look after the last"
        ),
        Rule::Looks { .. } => {
            let looks: Vec<String> = verdict.rule.looks().iter().map(u32::to_string).collect();
            let looks = looks.join(", ");
            format!("at most {blocks}, looks after {looks}; contenders stop early once decided")
        }
    }
}

fn questions(plan: &RunPlan, verdict: &VerdictPlan, pairs: usize) -> String {
    let names = verdict.questions.iter().take(LISTED).map(|one| question_name(plan, one));
    let mut names: Vec<String> = names.collect();
    if verdict.questions.len() > LISTED {
        names.push(format!("and {} more", verdict.questions.len() - LISTED));
    }
    let with = match verdict.pairs {
        Pairs::All => String::new(),
        Pairs::Baseline { contender } => {
            format!(" with the baseline {}", label(plan, contender))
        }
    };
    format!(
        "{}, {}{with} in all: {}",
        count(verdict.questions.len(), "question"),
        count(pairs, "pair"),
        names.join(", ")
    )
}

fn question_name(plan: &RunPlan, question: &Question) -> String {
    let workload = plan.workloads.get(question.workload).map_or("", |work| work.name.as_str());
    question.text(workload, plan.compared_clock)
}

/// A line for each phase of cycles: `periodic / cycle: 3 cycles of 5m00s, …`.
fn cycle_lines(plan: &RunPlan) -> Vec<String> {
    let of = |workload: &Workload| -> Vec<String> {
        let line =
            |phase: &Phase| Some(cycle_line(workload, phase, phase.cycle.as_ref()?, plan.scale));
        workload.phases.iter().filter_map(line).collect()
    };
    plan.workloads.iter().flat_map(of).collect()
}

fn cycle_line(workload: &Workload, phase: &Phase, cycle: &Cycle, scale: f64) -> String {
    let kinds = UpdateKind::ALL.iter().zip(cycle.shares.weights());
    let shares: Vec<String> = kinds
        .filter(|(_, weight)| *weight > 0)
        .map(|(kind, weight)| format!("{weight} {}", kind.name()))
        .collect();
    let files = workload.dataset.files;
    let mut text = format!(
        "{} / {}: {} of {}, each {} of {files} files, {} of contents in all; shares: {}; overrun: \
         {}",
        workload.name,
        phase.name,
        count(cycle.cycles as usize, "cycle"),
        ns(Some(cycle.period_ns)),
        count(usize::try_from(cycle.updates).unwrap_or(usize::MAX), "update"),
        bytes(Some(workload.dataset.bytes())),
        shares.join(", "),
        cycle.overrun.name(),
    );
    if let Some(disturb) = &cycle.disturb {
        text.push_str(&second_load(disturb));
    }
    if scale != 1.0 {
        let (period, limit) = match cycle.period_limit() {
            None => (", period", String::new()),
            Some(limit) => ("", format!(", the period is {limit}")),
        };
        text.push_str(&format!(
            "; files, updates{period} and second load are those of the whole times {scale}{limit}"
        ));
    }
    text
}

fn second_load(disturb: &Disturb) -> String {
    let rate = |rate: u64, text: String| match rate {
        0 => "as fast as it goes".to_owned(),
        _ => format!("{text} a second"),
    };
    let file = |size_bytes, verb: &str, rate_bytes| {
        let (size, per_s) = (bytes(Some(size_bytes)), bytes(Some(rate_bytes)));
        format!("a file of {size} is {verb}, {}", rate(rate_bytes, per_s))
    };
    let load = match disturb.load {
        Load::Create { files, size_bytes, rate: each } => format!(
            "{files} files of {} are made, {}",
            bytes(Some(size_bytes)),
            rate(each, format!("{each} files"))
        ),
        Load::Write { size_bytes, rate_bytes, .. } => file(size_bytes, "written", rate_bytes),
        Load::Read { size_bytes, rate_bytes, .. } => file(size_bytes, "read", rate_bytes),
    };
    let when = match disturb.cycles.as_slice() {
        [] => "every cycle".to_owned(),
        [one] => format!("cycle {one}"),
        some => {
            let numbers: Vec<String> = some.iter().map(u32::to_string).collect();
            format!("cycles {}", numbers.join(", "))
        }
    };
    format!("; during {when}: {load}")
}
