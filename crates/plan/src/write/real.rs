//! Workloads of real work as text.

use super::toml::{line, quoted, text_block};
use fsarena_corpus::Description;
use fsarena_model::job::{By, Command, Job, JobKind, Origin, Source, SourcePlace};
use fsarena_model::phase::{Phase, Workload};
use std::fmt::Write as _;

/// What follows name and title.
pub(super) fn work(out: &mut String, workload: &Workload, source: &Source) {
    line(out, "dataset", &dataset(source));
    if source.place != SourcePlace::default() {
        line(out, "source", &quoted(source.place.name()));
    }
    out.push_str("phases = [\n");
    for phase in &workload.phases {
        if let Some(job) = &phase.job {
            let _ = writeln!(out, "    {},", phase_text(phase, job));
        }
    }
    out.push_str("]\n");
}

fn dataset(source: &Source) -> String {
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

fn phase_text(phase: &Phase, job: &Job) -> String {
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
