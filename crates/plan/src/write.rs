//! Writes an experiment as a file: the inverse of `parse`, for experiments that came from options.
//!
//! Comments and the order of keys are ours; reading the text back gives the same plan.

use crate::error::At;
use crate::experiment::{
    DefinedFs, EXPERIMENT_SCHEMA, Experiment, Factors, RunSettings, VerdictSettings,
};
use crate::fs_entry::FsEntry;
use crate::text::{blocks_text, share_text};
use crate::workload::builtin;
use fsarena_corpus::Description;
use fsarena_model::contender::{AskedBy, DeviceLevel};
use fsarena_model::cycle::{Cycle, Disturb, Load, UpdateKind};
use fsarena_model::dataset::{Dataset, Distribution};
use fsarena_model::factor;
use fsarena_model::io::Io;
use fsarena_model::job::{By, JobKind, Origin, Source, SourcePlace};
use fsarena_model::parameter::{ParameterLevel, WorkloadLevels};
use fsarena_model::phase::{Order, Phase, Workload};
use fsarena_model::units::{nanos_text, size_text};
use fsarena_model::verdict::Rule;
use serde::Serialize;

/// The experiment as the text of a file that reads back to the same plan. Workloads with levels are
/// those of the program, as options name them.
#[must_use]
pub fn to_toml(experiment: &Experiment) -> String {
    let mut keys = Keys::default();
    keys.put("schema", EXPERIMENT_SCHEMA);
    keys.put("name", &experiment.name);
    keys.put("title", &experiment.title);
    keys.put_some("question", experiment.question.as_ref());
    keys.put_some("notes", Some(&experiment.notes).filter(|notes| !notes.is_empty()));
    let mut out = keys.lines();
    out.push_str(&run(&experiment.run).table("[run]"));
    factors(&mut out, &experiment.factors);
    if let Some(crash) = &experiment.crash {
        let mut keys = Keys::default();
        for (key, value) in crate::crash::written(crash) {
            keys.put(key, value);
        }
        out.push_str(&keys.table("[crash]"));
    }
    if !experiment.stand_ins.is_empty() {
        let mut keys = Keys::default();
        for one in &experiment.stand_ins {
            keys.put(&one.missing, &one.instead.value.text);
        }
        out.push_str(&keys.table("[stand_in]"));
    }
    for defined in &experiment.filesystems {
        out.push_str(&external(&defined.value).table("[[filesystem]]"));
    }
    let mut written: Vec<&str> = Vec::new();
    for workload in &experiment.workloads {
        let keys = match &workload.value.levels {
            Some(own) if written.contains(&own.workload.as_str()) => continue,
            Some(own) => {
                written.push(&own.workload);
                levels(&experiment.workloads, own)
            }
            None => work(&workload.value),
        };
        out.push_str(&keys.table("[[workload]]"));
    }
    for row in &experiment.rows {
        let mut keys = Keys::default();
        keys.put("title", &row.title);
        keys.put("workload", &row.workload);
        keys.put("phase", &row.phase);
        keys.put("unit", &row.unit);
        out.push_str(&keys.table("[[row]]"));
    }
    out
}

/// Keys, each with its value as TOML, in their order.
#[derive(Default)]
struct Keys(Vec<(String, String)>);

impl Keys {
    fn put(&mut self, key: &str, value: impl Serialize) {
        let value = toml::Value::try_from(value).expect("plain values are TOML");
        self.put_toml(key, value.to_string());
    }

    fn put_toml(&mut self, key: &str, value: String) {
        self.0.push((key.to_owned(), value));
    }

    fn put_some(&mut self, key: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// A value that differs from its default.
    fn put_unless<T: Serialize + PartialEq>(&mut self, key: &str, value: T, default: &T) {
        self.put_some(key, Some(value).filter(|value| value != default));
    }

    /// A list, of which one level is written without brackets, and none not at all.
    fn put_levels<T>(&mut self, key: &str, levels: &[At<T>], text: impl Fn(&T) -> String) {
        let texts: Vec<String> = levels.iter().map(|level| text(&level.value)).collect();
        match texts.as_slice() {
            [] => {}
            [one] => self.put(key, one),
            all => self.put(key, all),
        }
    }

    fn put_phases(&mut self, phases: impl Iterator<Item = Self>) {
        let rows: String = phases.map(|keys| format!("    {},\n", keys.inline())).collect();
        self.put_toml("phases", format!("[\n{rows}]"));
    }

    fn lines(&self) -> String {
        self.0.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
    }

    fn table(&self, header: &str) -> String {
        format!("\n{header}\n{}", self.lines())
    }

    fn inline(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|(key, v)| format!("{key} = {v}")).collect();
        format!("{{ {} }}", parts.join(", "))
    }
}

fn run(run: &RunSettings) -> Keys {
    let mut keys = Keys::default();
    match run.rule {
        Some(Rule::Fixed { blocks }) => keys.put("blocks", blocks),
        Some(rule @ Rule::Fit { .. }) => keys.put_some("blocks", blocks_text(rule)),
        Some(Rule::Looks { cap }) => keys.put("cap", cap),
        None => {}
    }
    keys.put_some("seed", run.seed);
    keys.put_unless("scale", run.scale, &RunSettings::default().scale);
    keys.put("compare", run.compare.name());
    keys.put("sample_period", period(run.sample_period_ns));
    keys.put("verify", run.verify);
    keys.put_unless("account", run.account, &false);
    keys.put("rate", run.rate.name());
    let (verdicts, plain) = (&run.verdicts, VerdictSettings::default());
    keys.put_unless("margin", share_text(verdicts.margin), &share_text(plain.margin));
    keys.put_some("budget", verdicts.budget_ns.map(nanos_text));
    keys.put_some("baseline", verdicts.baseline.as_ref().map(|baseline| &baseline.value));
    keys.put_levels("ask", &verdicts.ask, |asked| asked.text.clone());
    keys.put_some("headline", verdicts.headline.as_ref().map(|headline| &headline.value.text));
    let limit = |share: Option<f64>| share.map_or("none".to_owned(), share_text);
    keys.put_unless("steal_limit", limit(verdicts.steal_share), &limit(plain.steal_share));
    keys.put_unless("foreign_limit", limit(verdicts.foreign_share), &limit(plain.foreign_share));
    keys
}

/// A duration without loss.
fn period(period_ns: u64) -> String {
    if period_ns.is_multiple_of(1_000_000) {
        format!("{} ms", period_ns / 1_000_000)
    } else {
        format!("{period_ns} ns")
    }
}

fn factors(out: &mut String, factors: &Factors) {
    let mut keys = Keys::default();
    keys.put_levels("fs", &factors.fs, |entry| entry.text.clone());
    keys.put_levels("device", &factors.device, DeviceLevel::written);
    for factor in factor::all() {
        let levels = factors.axis(factor);
        // A default that the user wrote is kept where it may be impossible: it stays asked.
        let is_written = |level: &At<String>| {
            let is_asked = level.place.asked_by() == AskedBy::User;
            level.value != factor.default_level() || (is_asked && !factor.is_unset(&level.value))
        };
        if levels.iter().any(is_written) {
            keys.put_levels(factor.key(), &levels, String::clone);
        }
    }
    out.push_str(&keys.table("[factors]"));
    for (name, axes) in &factors.of_fs {
        let is_plain = |entry: &FsEntry| entry.level.name == *name && !entry.has_options();
        if !factors.fs.iter().any(|entry| is_plain(&entry.value)) {
            continue;
        }
        let mut keys = Keys::default();
        keys.put_levels("mount", &axes.value.mount, |options| match options.as_slice() {
            [] => "defaults".to_owned(),
            options => options.join(","),
        });
        for (key, levels) in &axes.value.mkfs {
            let text = |value: &Option<String>| value.clone().unwrap_or("default".to_owned());
            keys.put_levels(&format!("mkfs.{}", quoted(key)), levels, text);
        }
        out.push_str(&keys.table(&format!("[factors.{}]", quoted(name))));
    }
}

fn external(defined: &DefinedFs) -> Keys {
    let mut keys = Keys::default();
    let commands = &defined.commands;
    keys.put("name", &defined.name);
    keys.put_some("create", commands.create.as_ref());
    keys.put("mount", &commands.mount);
    keys.put_some("unmount", commands.unmount.as_ref());
    keys.put_some("destroy", commands.destroy.as_ref());
    keys.put_some("version", commands.version.as_ref());
    keys.put_some("package", commands.package.as_ref());
    keys.put_some("programs", Some(&commands.programs).filter(|programs| !programs.is_empty()));
    keys.put("device", commands.device);
    keys.put("memory", commands.memory);
    keys
}

/// A workload of the program whose parameters vary, with all their levels.
fn levels(workloads: &[At<Workload>], first: &WorkloadLevels) -> Keys {
    let mut keys = Keys::default();
    keys.put("use", &first.workload);
    for ParameterLevel { parameter, .. } in &first.levels {
        let mut values: Vec<u64> = Vec::new();
        for workload in workloads {
            let own = workload.value.levels.as_ref().filter(|own| own.workload == first.workload);
            let value = own.and_then(|own| own.value(*parameter));
            values.extend(value.filter(|value| !values.contains(value)));
        }
        match parameter.is_bytes() {
            true => {
                keys.put(parameter.key(), values.iter().map(|v| size_text(*v)).collect::<Vec<_>>())
            }
            false => keys.put(parameter.key(), values),
        }
    }
    keys
}

fn work(workload: &Workload) -> Keys {
    let mut keys = Keys::default();
    if builtin(&workload.name).as_ref() == Some(workload) {
        keys.put("use", &workload.name);
        return keys;
    }
    keys.put("name", &workload.name);
    keys.put("title", &workload.title);
    if let Some(jobs) = &workload.fio {
        keys.put_toml("fio", text_block(jobs));
    } else if let Some(source) = &workload.source {
        keys.put_toml("dataset", source_text(source));
        keys.put_unless("source", source.place.name(), &SourcePlace::default().name());
        keys.put_phases(workload.phases.iter().filter_map(job));
    } else {
        dataset(&mut keys, &workload.dataset);
        keys.put_phases(workload.phases.iter().map(phase));
    }
    keys
}

fn dataset(keys: &mut Keys, set: &Dataset) {
    match &set.per_dir {
        Some(per_dir) => keys.put_toml("per_dir", distribution(per_dir, &|n| n.to_string())),
        None => keys.put_unless("files", set.files, &0),
    }
    let size = |size: u64| quoted(&size_text(size));
    match &set.sizes {
        Some(sizes) => keys.put_toml("size", distribution(sizes, &size)),
        None => keys.put_toml("size", size(set.size_bytes)),
    }
    keys.put("dirs", set.dirs);
    keys.put_unless("depth", set.depth.max(1), &1);
    keys.put_some("name_length", set.name_bytes);
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

fn phase(phase: &Phase) -> Keys {
    let mut keys = Keys::default();
    let (io, plain) = (&phase.io, Io::default());
    keys.put("name", &phase.name);
    keys.put("op", phase.op.name());
    keys.put("bs", size_text(phase.bs_bytes));
    keys.put_unless("order", phase.order.name(), &Order::default().name());
    keys.put_unless("timed", phase.timed, &true);
    keys.put_unless("backend", io.backend.name(), &plain.backend.name());
    keys.put_unless("direct", io.direct, &plain.direct);
    keys.put_unless("iodepth", io.iodepth, &plain.iodepth);
    keys.put_unless("fsync", io.fsync.name(), &plain.fsync.name());
    keys.put_unless("threads", io.threads, &plain.threads);
    keys.put_unless("ranks", io.ranks, &plain.ranks);
    keys.put_unless("sharing", io.sharing.name(), &plain.sharing.name());
    keys.put_unless("shift", io.shift, &plain.shift);
    keys.put_some("rate", io.rate);
    keys.put_some("stonewall", io.stonewall_ns.map(nanos_text));
    keys.put_some("latency_period", io.latency_period_ns.map(nanos_text));
    keys.put_some("ops", io.ops);
    keys.put_some("runtime", io.runtime_ns.map(nanos_text));
    keys.put_unless("rwmixread", io.rwmixread_percent, &plain.rwmixread_percent);
    if let Some(own) = &phase.cycle {
        cycle(&mut keys, own);
    }
    keys
}

/// The keys of a cycle phase.
fn cycle(keys: &mut Keys, cycle: &Cycle) {
    keys.put("period", nanos_text(cycle.period_ns));
    keys.put("cycles", cycle.cycles);
    keys.put("updates", cycle.updates);
    keys.put("overrun", cycle.overrun.name());
    let mut shares = Keys::default();
    for (kind, weight) in UpdateKind::ALL.into_iter().zip(cycle.shares.weights()) {
        shares.put_unless(kind.name(), weight, &0);
    }
    keys.put_toml("shares", shares.inline());
    if let Some(load) = &cycle.disturb {
        keys.put_toml("disturb", disturb(load).inline());
    }
}

fn disturb(disturb: &Disturb) -> Keys {
    let mut keys = Keys::default();
    keys.put("load", disturb.load.name());
    match disturb.load {
        Load::Create { files, size_bytes, rate } => {
            keys.put("size", size_text(size_bytes));
            keys.put("files", files);
            keys.put("rate", rate);
        }
        Load::Write { size_bytes, bs_bytes, rate_bytes }
        | Load::Read { size_bytes, bs_bytes, rate_bytes } => {
            keys.put("size", size_text(size_bytes));
            keys.put("bs", size_text(bs_bytes));
            keys.put("rate", size_text(rate_bytes));
        }
    }
    keys.put_some("cycles", Some(&disturb.cycles).filter(|cycles| !cycles.is_empty()));
    keys
}

fn source_text(source: &Source) -> String {
    match &source.origin {
        Origin::Own { path } => format!("{{ from = {} }}", quoted(&path.to_string_lossy())),
        Origin::Made { description } => {
            let known = fsarena_corpus::builtin(&source.name);
            if known.as_ref().map(Description::to_toml).as_ref() == Some(description) {
                return quoted(&source.name);
            }
            format!("{{ description = {} }}", text_block(description))
        }
    }
}

fn job(phase: &Phase) -> Option<Keys> {
    let job = phase.job.as_ref()?;
    let mut keys = Keys::default();
    keys.put("op", job.kind.name());
    keys.put("name", &phase.name);
    match &job.kind {
        JobKind::Untar { compression } | JobKind::Archive { compression } => {
            keys.put("compression", compression.name());
        }
        JobKind::Compile { jobs } => keys.put("jobs", jobs),
        JobKind::Command(command) => {
            keys.put("run", &command.run);
            keys.put_some("prepare", command.prepare.as_ref());
            keys.put_some("cleanup", command.cleanup.as_ref());
            let programs = Some(&command.programs).filter(|programs| !programs.is_empty());
            keys.put_some("programs", programs);
        }
        JobKind::Copy | JobKind::Delete | JobKind::Flac | JobKind::Ogg => {}
    }
    if !matches!(job.kind, JobKind::Command(_)) {
        keys.put("of", &job.of);
    }
    keys.put_unless("by", job.by.name(), &By::default().name());
    keys.put_unless("timed", phase.timed, &true);
    Some(keys)
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
