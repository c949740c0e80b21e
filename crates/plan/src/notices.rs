//! What has to be said of a workload in addition to its results.

use crate::artifacts::stage_bytes;
use fsarena_corpus::Description;
use fsarena_foreign::fio::JobFile;
use fsarena_model::cycle::Load;
use fsarena_model::free::FreeQuantity;
use fsarena_model::io::Backend;
use fsarena_model::job::{By, Origin, Source, SourcePlace};
use fsarena_model::outcome::Notice;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::units::{Bytes, Nanos};

/// What is to be said of every trial of a workload, which is the one of the plan, scaled already.
#[must_use]
pub fn notices(workload: &Workload, scale: f64) -> Vec<Notice> {
    let mut notices = Vec::new();
    if scale != 1.0 {
        notices.extend(
            workload.phases.iter().filter_map(|phase| scaled_cycle(workload, phase, scale)),
        );
    }
    if workload.phases.iter().any(|phase| phase.io.backend == Backend::Null) {
        let text = format!(
            "workload {:?} makes no call: its figures are those of the harness, not of any file \
             system",
            workload.name
        );
        let remedy = "use backend = \"sync\" to measure file systems";
        notices.push(Notice::new("null-backend", text, Some(remedy)));
    }
    let nothing_free =
        workload.phases.iter().enumerate().filter(|&(number, phase)| {
            phase.timed && workload.free(number) == FreeQuantity::Nothing
        });
    notices.extend(nothing_free.map(|(_, phase)| {
        let text = format!(
            "workload {:?}: {} leaves nothing free that fsarena could compare (its rate or its time \
             is set, and no latency or amount of work is known): it gets no verdict",
            workload.name, phase.name
        );
        let remedy = "leave the rate open, or let the program keep latencies";
        Notice::new("nothing-free", text, Some(remedy))
    }));
    let jobs = workload.fio.as_deref().map(|text| JobFile::parse(text, &workload.name));
    if let Some(Ok(jobs)) = jobs {
        notices.extend(jobs.notices());
    }
    if let Some(source) = &workload.source {
        real(workload, source, &mut notices);
    }
    notices
}

/// Of cycles at a scale: what was scaled together.
fn scaled_cycle(workload: &Workload, phase: &Phase, scale: f64) -> Option<Notice> {
    let cycle = phase.cycle.as_ref()?;
    let load = cycle.disturb.as_ref().map_or(String::new(), |disturb| match disturb.load {
        Load::Create { files, .. } => format!(", next to {files} files of the second load"),
        Load::Write { size_bytes, .. } | Load::Read { size_bytes, .. } => {
            format!(", next to a file of {} of the second load", Bytes(size_bytes))
        }
    });
    let together = match cycle.period_limit() {
        None => "files and period are scaled together".to_owned(),
        Some(limit) => format!("files are scaled, the period is {limit}"),
    };
    let text = format!(
        "workload {:?}: at --scale {scale} a cycle of {:?} is {} updates over {} files every \
         {}{load}: {together}, and its figures are not those of the whole",
        workload.name,
        phase.name,
        cycle.updates,
        workload.dataset.files,
        Nanos(cycle.period_ns),
    );
    Some(Notice::new("scaled-cycle", text, Some("use --scale 1 for the whole")))
}

/// Of real work: where its source is, whose it is, and who does it.
fn real(workload: &Workload, source: &Source, notices: &mut Vec<Notice>) {
    let name = &workload.name;
    let (_, memory) = stage_bytes(workload);
    match source.place {
        SourcePlace::Same => {}
        SourcePlace::Memory => notices.push(Notice::new(
            "source-in-memory",
            format!(
                "workload {name:?}: the source lies in memory, {} of it: reading it costs no disk, \
                 and a cold phase is cold but for its source",
                Bytes(memory)
            ),
            Some("use source = \"same\" to read from the file system under test"),
        )),
        SourcePlace::Other => {
            let (place, disk) = match &source.origin {
                Origin::Own { path } => (
                    path.display().to_string(),
                    "; images of devices on the same disk have it do both",
                ),
                Origin::Made { .. } => (
                    "the directory of images".to_owned(),
                    "; images of devices lie on the same disk, which does both",
                ),
            };
            let text = format!(
                "workload {name:?}: the source is on another file system, in {place}: reading \
                 it is in the figures; it is made cold or warm, as the phase is asked to be, for \
                 every contender alike{disk}"
            );
            let remedy = "use source = \"same\" to read from the file system under test";
            notices.push(Notice::new("source-elsewhere", text, Some(remedy)));
        }
    }
    match &source.origin {
        Origin::Own { path } => {
            let what = if source.archive.is_some() { "archive" } else { "tree" };
            let text = format!(
                "workload {name:?}: the {what} {} is yours ({} {}, {}); no one else has it, and \
                 --scale leaves it as it is",
                path.display(),
                source.contents.files,
                if source.contents.files == 1 { "file" } else { "files" },
                Bytes(source.contents.bytes)
            );
            notices.push(Notice::new("own-data", text, None));
        }
        Origin::Made { description } => {
            made(name, description, source.contents.bytes, notices);
        }
    }
    let by_engine = workload.phases.iter().filter(|phase| is_by_engine(phase));
    let phases: Vec<&str> = by_engine.map(|phase| phase.name.as_str()).collect();
    if !phases.is_empty() {
        let text = format!(
            "workload {name:?}: the engine does {}, with calls of the same kind as the program's \
             and nothing else",
            phases.join(", ")
        );
        notices.push(Notice::new("engine-job", text, None));
    }
}

fn is_by_engine(phase: &Phase) -> bool {
    phase.job.as_ref().is_some_and(|job| job.by == By::Engine)
}

/// What a share of bytes may differ from the scale without being said.
const SHARE_OFF: f64 = 0.02;

/// Of a dataset that is generated, with `bytes` of contents: its scale, and its own remarks.
fn made(name: &str, description: &str, bytes: u64, notices: &mut Vec<Notice>) {
    let Ok(read) = Description::parse(description, name) else { return };
    let scale = read.scale();
    if scale != 1.0 {
        let whole_bytes = read.scaled(1.0 / scale).tree().contents().bytes;
        let share = bytes as f64 / whole_bytes.max(1) as f64;
        let share = if (share / scale - 1.0).abs() > SHARE_OFF {
            format!(", which is {share:.3} of its bytes")
        } else {
            String::new()
        };
        let text = format!(
            "workload {name:?}: the dataset {} is scaled by {scale}{share}: its figures are not \
             those of the whole",
            read.name()
        );
        notices.push(Notice::new("scaled-dataset", text, Some("use --scale 1 for the whole")));
    }
    for note in read.notes() {
        let text = format!("dataset {}: {note}", read.name());
        notices.push(Notice::new("dataset-note", text, None));
    }
}
