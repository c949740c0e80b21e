//! Writes an experiment as a file: the inverse of `parse`, for experiments that came from options.
//!
//! Comments and the order of keys are ours; reading the text back gives the same plan.

use crate::experiment::{At, Experiment, Factors, RunSettings};
use crate::text::{device_text, size_text};
use crate::{EXPERIMENT_SCHEMA, builtin};
use fsarena_model::contender::{Cache, Discard};
use fsarena_model::run::RateStyle;
use fsarena_model::units::Nanos;
use fsarena_model::work::{Order, Phase, Workload};
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

fn line(out: &mut String, key: &str, value: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(out, "{key} = {value}");
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
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
    line(out, "blocks", &run.blocks.to_string());
    if let Some(seed) = run.seed {
        line(out, "seed", &seed.to_string());
    }
    line(out, "compare", &quoted(run.compare.name()));
    line(out, "sample_period", &quoted(&period(run.sample_period_ns)));
    line(out, "verify", &run.verify.to_string());
    let rate = match run.rate {
        RateStyle::Auto => "auto",
        RateStyle::Article2003 => "article-2003",
    };
    line(out, "rate", &quoted(rate));
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
    line(out, "device", &list(&factors.device, |device| quoted(&device_text(device))));
    let memory = |limit: &Option<u64>| quoted(&limit.map_or("none".to_owned(), size_text));
    line(out, "memory", &list(&factors.memory, memory));
    let cache = |cache: &Cache| quoted(if *cache == Cache::Cold { "cold" } else { "warm" });
    line(out, "cache", &list(&factors.cache, cache));
    let discard = |d: &Discard| quoted(if *d == Discard::None { "none" } else { "on" });
    line(out, "discard", &list(&factors.discard, discard));
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

fn applies(name: &str, entry: &crate::experiment::FsEntry) -> bool {
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
    line(out, "files", &workload.dataset.files.to_string());
    line(out, "size", &quoted(&size_text(workload.dataset.size_bytes)));
    line(out, "dirs", &workload.dataset.dirs.to_string());
    out.push_str("phases = [\n");
    for phase in &workload.phases {
        let _ = writeln!(out, "    {},", phase_text(phase));
    }
    out.push_str("]\n");
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
    format!("{{ {} }}", parts.join(", "))
}
