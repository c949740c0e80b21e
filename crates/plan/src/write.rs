//! Writes an experiment as a file: the inverse of `parse`, for experiments that came from options.
//!
//! Comments and the order of keys are ours; reading the text back gives the same plan.

use crate::builtin;
use crate::experiment::{EXPERIMENT_SCHEMA, Experiment, Factors, RunSettings, VerdictSettings};
use crate::span::At;
use crate::text::share_text;
use fsarena_corpus::Description;
use fsarena_model::cycle::{Cycle, Disturb, Load, UpdateKind};
use fsarena_model::dataset::{Dataset, Distribution};
use fsarena_model::factor;
use fsarena_model::io::{Backend, Fsync, Io, Sharing};
use fsarena_model::job::{By, Command, Job, JobKind, Origin, Source, SourcePlace};
use fsarena_model::phase::{Order, Phase, Workload};
use fsarena_model::run::RateStyle;
use fsarena_model::units::{Nanos, nanos_text, size_text};
use fsarena_model::verdict::Rule;
use std::fmt::Write as _;

/// The experiment as the text of a file that reads back to the same plan.
#[must_use]
pub fn to_toml(experiment: &Experiment) -> String {
    let mut out = String::new();
    line(&mut out, "schema", &EXPERIMENT_SCHEMA.to_string());
    line(&mut out, "name", &quoted(&experiment.name));
    line(&mut out, "title", &quoted(&experiment.title));
    if let Some(question) = &experiment.question {
        line(&mut out, "question", &quoted(question));
    }
    if !experiment.notes.is_empty() {
        let notes: Vec<String> = experiment.notes.iter().map(|note| quoted(note)).collect();
        line(&mut out, "notes", &format!("[{}]", notes.join(", ")));
    }
    run(&mut out, &experiment.run);
    factors(&mut out, &experiment.factors);
    for defined in &experiment.filesystems {
        external(&mut out, &defined.value);
    }
    for workload in &experiment.workloads {
        work(&mut out, &workload.value);
    }
    for row in &experiment.rows {
        out.push_str("\n[[row]]\n");
        line(&mut out, "title", &quoted(&row.title));
        line(&mut out, "workload", &quoted(&row.workload));
        line(&mut out, "phase", &quoted(&row.phase));
        line(&mut out, "unit", &quoted(&row.unit));
    }
    out
}

fn list<T>(levels: &[At<T>], text: impl Fn(&T) -> String) -> String {
    let parts: Vec<String> = levels.iter().map(|level| text(&level.value)).collect();
    match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("[{}]", parts.join(", ")),
    }
}

fn run(out: &mut String, run: &RunSettings) {
    out.push_str("\n[run]\n");
    match run.rule {
        Some(Rule::Fixed { blocks }) => line(out, "blocks", &blocks.to_string()),
        Some(Rule::Looks { cap }) => line(out, "cap", &cap.to_string()),
        None => {}
    }
    if let Some(seed) = run.seed {
        line(out, "seed", &seed.to_string());
    }
    line(out, "compare", &quoted(run.compare.name()));
    line(out, "sample_period", &quoted(&period(run.sample_period_ns)));
    line(out, "verify", &run.verify.to_string());
    if run.account {
        line(out, "account", "true");
    }
    let rate = match run.rate {
        RateStyle::Auto => "auto",
        RateStyle::Article2003 => "article-2003",
    };
    line(out, "rate", &quoted(rate));
    verdicts(out, &run.verdicts);
}

/// The keys that differ from their defaults.
fn verdicts(out: &mut String, settings: &VerdictSettings) {
    let plain = VerdictSettings::default();
    if settings.margin != plain.margin {
        line(out, "margin", &quoted(&share_text(settings.margin)));
    }
    if let Some(budget_ns) = settings.budget_ns {
        line(out, "budget", &quoted(&nanos_text(budget_ns)));
    }
    if let Some(baseline) = &settings.baseline {
        line(out, "baseline", &quoted(&baseline.value));
    }
    if !settings.ask.is_empty() {
        line(out, "ask", &list(&settings.ask, |asked| quoted(&asked.text)));
    }
    if let Some(headline) = &settings.headline {
        line(out, "headline", &quoted(&headline.value.text));
    }
    if settings.steal_share != plain.steal_share {
        let text = settings.steal_share.map_or("none".to_owned(), share_text);
        line(out, "steal_limit", &quoted(&text));
    }
}

/// A duration without loss.
fn period(period_ns: u64) -> String {
    if period_ns.is_multiple_of(1_000_000) {
        format!("{} ms", period_ns / 1_000_000)
    } else {
        format!("{} ns", Nanos(period_ns).0)
    }
}

fn factors(out: &mut String, factors: &Factors) {
    out.push_str("\n[factors]\n");
    if !factors.fs.is_empty() {
        line(out, "fs", &list(&factors.fs, |entry| quoted(&entry.text)));
    }
    line(out, "device", &list(&factors.device, |device| quoted(&device.written())));
    for factor in factor::all() {
        let levels = factors.axis(factor);
        if levels.iter().any(|level| level.value != factor.default_level()) {
            line(out, factor.key(), &list(&levels, |level| quoted(level)));
        }
    }
    for (name, axes) in &factors.of_fs {
        let plain = |entry: &&At<_>| applies(name, &entry.value);
        if factors.fs.iter().find(plain).is_none() {
            continue;
        }
        let _ = writeln!(out, "\n[factors.{}]", quoted(name));
        if !axes.value.mount.is_empty() {
            let text = |options: &Vec<String>| match options.as_slice() {
                [] => quoted("defaults"),
                options => quoted(&options.join(",")),
            };
            line(out, "mount", &list(&axes.value.mount, text));
        }
        for (key, levels) in &axes.value.mkfs {
            let text = |value: &Option<String>| quoted(value.as_deref().unwrap_or("default"));
            line(out, &format!("mkfs.{}", quoted(key)), &list(levels, text));
        }
    }
}

fn applies(name: &str, entry: &crate::fs_entry::FsEntry) -> bool {
    entry.level.name == name && !entry.has_options()
}

fn external(out: &mut String, defined: &crate::experiment::DefinedFs) {
    out.push_str("\n[[filesystem]]\n");
    line(out, "name", &quoted(&defined.name));
    let commands = &defined.commands;
    let optional = [
        ("create", commands.create.as_ref()),
        ("mount", Some(&commands.mount)),
        ("unmount", commands.unmount.as_ref()),
        ("destroy", commands.destroy.as_ref()),
        ("version", commands.version.as_ref()),
        ("package", commands.package.as_ref()),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            line(out, key, &quoted(value));
        }
    }
    if !commands.programs.is_empty() {
        let programs: Vec<String> = commands.programs.iter().map(|p| quoted(p)).collect();
        line(out, "programs", &format!("[{}]", programs.join(", ")));
    }
    line(out, "device", &commands.device.to_string());
    line(out, "memory", &commands.memory.to_string());
}

fn work(out: &mut String, workload: &Workload) {
    out.push_str("\n[[workload]]\n");
    if builtin::workload(&workload.name).as_ref() == Some(workload) {
        line(out, "use", &quoted(&workload.name));
        return;
    }
    line(out, "name", &quoted(&workload.name));
    line(out, "title", &quoted(&workload.title));
    if let Some(jobs) = &workload.fio {
        line(out, "fio", &text_block(jobs));
        return;
    }
    if let Some(source) = &workload.source {
        real_work(out, workload, source);
        return;
    }
    dataset(out, &workload.dataset);
    out.push_str("phases = [\n");
    for phase in &workload.phases {
        let _ = writeln!(out, "    {},", phase_text(phase));
    }
    out.push_str("]\n");
}

fn dataset(out: &mut String, set: &Dataset) {
    let size = |size: u64| quoted(&size_text(size));
    match &set.per_dir {
        Some(per_dir) => line(out, "per_dir", &distribution(per_dir, &|n| n.to_string())),
        None if set.files > 0 => line(out, "files", &set.files.to_string()),
        None => {}
    }
    match &set.sizes {
        Some(sizes) => line(out, "size", &distribution(sizes, &size)),
        None => line(out, "size", &size(set.size_bytes)),
    }
    line(out, "dirs", &set.dirs.to_string());
    if set.depth > 1 {
        line(out, "depth", &set.depth.to_string());
    }
    if let Some(length) = set.name_bytes {
        line(out, "name_length", &length.to_string());
    }
}

fn distribution(values: &Distribution, text: &dyn Fn(u64) -> String) -> String {
    match values {
        Distribution::Uniform { min, max } => {
            format!("{{ uniform = {{ min = {}, max = {} }} }}", text(*min), text(*max))
        }
        Distribution::Lognormal { median, sigma, min, max } => format!(
            "{{ lognormal = {{ median = {}, sigma = {sigma:?}, min = {}, max = {} }} }}",
            text(*median),
            text(*min),
            text(*max)
        ),
        Distribution::Weighted { values } => {
            let pair = |(value, weight): &(u64, u32)| format!("[{}, {weight}]", text(*value));
            let pairs: Vec<String> = values.iter().map(pair).collect();
            format!("{{ weighted = [{}] }}", pairs.join(", "))
        }
    }
}

fn phase_text(phase: &Phase) -> String {
    let mut parts = vec![
        format!("name = {}", quoted(&phase.name)),
        format!("op = {}", quoted(phase.op.name())),
        format!("bs = {}", quoted(&size_text(phase.bs_bytes))),
    ];
    if phase.order == Order::Random {
        parts.push("order = \"random\"".to_owned());
    }
    if !phase.timed {
        parts.push("timed = false".to_owned());
    }
    io_parts(&phase.io, &mut parts);
    if let Some(cycle) = &phase.cycle {
        cycle_parts(cycle, &mut parts);
    }
    format!("{{ {} }}", parts.join(", "))
}

/// The keys that differ from their defaults.
fn io_parts(io: &Io, parts: &mut Vec<String>) {
    let plain = Io::default();
    if io.backend != Backend::default() {
        parts.push(format!("backend = {}", quoted(io.backend.name())));
    }
    if io.direct {
        parts.push("direct = true".to_owned());
    }
    if io.iodepth != plain.iodepth {
        parts.push(format!("iodepth = {}", io.iodepth));
    }
    if io.fsync != Fsync::default() {
        parts.push(format!("fsync = {}", quoted(io.fsync.name())));
    }
    if io.threads != plain.threads {
        parts.push(format!("threads = {}", io.threads));
    }
    if io.sharing != Sharing::default() {
        parts.push(format!("sharing = {}", quoted(io.sharing.name())));
    }
    if let Some(ops) = io.ops {
        parts.push(format!("ops = {ops}"));
    }
    if io.rwmixread_percent != plain.rwmixread_percent {
        parts.push(format!("rwmixread = {}", io.rwmixread_percent));
    }
}

/// The keys of a cycle phase.
fn cycle_parts(cycle: &Cycle, parts: &mut Vec<String>) {
    parts.push(format!("period = {}", quoted(&nanos_text(cycle.period_ns))));
    parts.push(format!("cycles = {}", cycle.cycles));
    parts.push(format!("updates = {}", cycle.updates));
    parts.push(format!("overrun = {}", quoted(cycle.overrun.name())));
    let kinds = UpdateKind::ALL.iter().zip(cycle.shares.weights());
    let shares: Vec<String> =
        kinds.filter(|kind| kind.1 > 0).map(|(kind, n)| format!("{} = {n}", kind.name())).collect();
    parts.push(format!("shares = {{ {} }}", shares.join(", ")));
    parts.extend(cycle.disturb.as_ref().map(disturb));
}

fn disturb(disturb: &Disturb) -> String {
    let mut parts = vec![format!("load = {}", quoted(disturb.load.name()))];
    let mut size = |key: &str, bytes: u64| {
        parts.push(format!("{key} = {}", quoted(&size_text(bytes))));
    };
    match disturb.load {
        Load::Create { files, size_bytes, rate } => {
            size("size", size_bytes);
            parts.push(format!("files = {files}, rate = {rate}"));
        }
        Load::Write { size_bytes, bs_bytes, rate_bytes }
        | Load::Read { size_bytes, bs_bytes, rate_bytes } => {
            size("size", size_bytes);
            size("bs", bs_bytes);
            size("rate", rate_bytes);
        }
    }
    if !disturb.cycles.is_empty() {
        parts.push(format!("cycles = {:?}", disturb.cycles));
    }
    format!("disturb = {{ {} }}", parts.join(", "))
}

/// What follows name and title.
fn real_work(out: &mut String, workload: &Workload, source: &Source) {
    line(out, "dataset", &source_text(source));
    if source.place != SourcePlace::default() {
        line(out, "source", &quoted(source.place.name()));
    }
    out.push_str("phases = [\n");
    for phase in &workload.phases {
        if let Some(job) = &phase.job {
            let _ = writeln!(out, "    {},", job_text(phase, job));
        }
    }
    out.push_str("]\n");
}

fn source_text(source: &Source) -> String {
    match &source.origin {
        Origin::Own { path } => format!("{{ from = {} }}", quoted(&path.to_string_lossy())),
        Origin::Made { description } => {
            let known =
                fsarena_corpus::builtin(&source.name).map(|known| Description::to_toml(&known));
            if known.as_ref() == Some(description) {
                quoted(&source.name)
            } else {
                format!("{{ description = {} }}", text_block(description))
            }
        }
    }
}

fn job_text(phase: &Phase, job: &Job) -> String {
    let mut parts = vec![
        format!("op = {}", quoted(job.kind.name())),
        format!("name = {}", quoted(&phase.name)),
    ];
    match &job.kind {
        JobKind::Untar { compression } | JobKind::Archive { compression } => {
            parts.push(format!("compression = {}", quoted(compression.name())));
        }
        JobKind::Compile { jobs } => parts.push(format!("jobs = {jobs}")),
        JobKind::Command(command) => command_parts(command, &mut parts),
        JobKind::Copy | JobKind::Delete | JobKind::Flac | JobKind::Ogg => {}
    }
    if !matches!(job.kind, JobKind::Command(_)) {
        parts.push(format!("of = {}", quoted(&job.of)));
    }
    if job.by == By::Engine {
        parts.push("by = \"engine\"".to_owned());
    }
    if !phase.timed {
        parts.push("timed = false".to_owned());
    }
    format!("{{ {} }}", parts.join(", "))
}

fn command_parts(command: &Command, parts: &mut Vec<String>) {
    parts.push(format!("run = {}", quoted(&command.run)));
    let hooks = [("prepare", &command.prepare), ("cleanup", &command.cleanup)];
    for (key, hook) in hooks {
        parts.extend(hook.as_ref().map(|text| format!("{key} = {}", quoted(text))));
    }
    if !command.programs.is_empty() {
        let programs: Vec<String> = command.programs.iter().map(|name| quoted(name)).collect();
        parts.push(format!("programs = [{}]", programs.join(", ")));
    }
}

fn line(out: &mut String, key: &str, value: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(out, "{key} = {value}");
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Text of several lines: as it is where TOML allows that, else as a basic string.
fn text_block(text: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains("'''") || text.ends_with('\'') || text.contains(odd) {
        return quoted(text);
    }
    format!("'''\n{text}'''")
}
