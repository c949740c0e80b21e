//! What a RUN knows of crash safety, for a purpose: which phases wait for fsync, what waiting until
//! data are safe costs where they do not, and what power cuts have shown; or that it is not known.

use super::{AskedPhase, AskedPurpose};
use crate::answer::Answer;
use crate::answer::crash::crash_sentences;
use crate::context::Run;
use crate::verdict::text::{listed, ratio};
use fsarena_model::io::Fsync;
use fsarena_model::phase::Phase;
use fsarena_study::PhaseTable;

/// The phases of a purpose that write, by whether they sync; empty where none writes.
pub(super) fn of_purpose(run: &Run<'_>, purpose: &AskedPurpose) -> String {
    let (mut synced, mut unsynced) = (Vec::new(), Vec::new());
    for asked in &purpose.phases {
        let Some(phase) = planned(run, asked) else { continue };
        if phase.io.fsync != Fsync::None {
            synced.push(phase.name.clone());
        } else if phase.op.changes() {
            unsynced.push(asked);
        }
    }
    let mut parts = Vec::new();
    if !synced.is_empty() {
        parts.push(format!(
            "{} with fsync, whose cost is in the times (not known apart: not run without it)",
            listed(&synced)
        ));
    }
    let costs: Vec<String> =
        unsynced.into_iter().filter_map(|asked| until_safe(run, asked)).collect();
    if !costs.is_empty() {
        parts.push(format!("time until safe on disk ÷ time until returned: {}", costs.join("; ")));
    }
    parts.join("; ")
}

fn planned<'a>(run: &Run<'a>, asked: &AskedPhase) -> Option<&'a Phase> {
    let work = run.header.plan.workloads.iter().find(|work| work.name == asked.workload)?;
    work.phases.iter().find(|phase| phase.name == asked.phase)
}

/// `expire ext4 1.20, xfs 1.35`, of medians.
fn until_safe(run: &Run<'_>, asked: &AskedPhase) -> Option<String> {
    let is_it =
        |table: &&PhaseTable| table.workload == asked.workload && table.phase == asked.phase;
    let table = run.study.tables.iter().find(is_it)?;
    let costs: Vec<String> = table
        .rows
        .iter()
        .filter_map(|row| {
            let (returned, durable) = (row.returned?.median_ns, row.durable?.median_ns);
            (returned > 0)
                .then(|| format!("{} {}", row.label, ratio(durable as f64 / returned as f64)))
        })
        .collect();
    (!costs.is_empty()).then(|| format!("{} {}", asked.phase, costs.join(", ")))
}

/// What power cuts of the RUN have shown, or that there were none.
pub(super) fn of_run(run: &Run<'_>, answer: &Answer) -> String {
    let told = crash_sentences(run, answer);
    if !told.is_empty() {
        return told.join(" ");
    }
    let mut names: Vec<&str> =
        run.header.plan.contenders.iter().map(|one| one.levels.fs.name.as_str()).collect();
    names.dedup();
    format!(
        "What a power cut leaves is not known: this RUN has no crash run; fsarena crash --fs {} \
         asks it.",
        names.join(",")
    )
}
