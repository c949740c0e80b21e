//! A trial in a guest kernel: the same steps as on any machine, in one that is there for it alone.
//!
//! Nothing needs to be put back: the machine is gone after the trial.

use crate::stop::Stop;
use crate::{parse_spec, run_trial};
use fsarena_devices::inventory::Roots;
use fsarena_devices::{TargetError, cache, claim, queue, sysctl};
use fsarena_model::factor;
use fsarena_model::record::{PhaseRecord, TimeBase, TrialPlace, Window};
use fsarena_model::spec::TrialSpec;
use fsarena_process::program::TrustedProgram;
use std::fs;
use std::path::Path;

/// Where mount points are: in memory, and the same in every guest.
const SCRATCH_DIR: &str = "/run/fsarena";

/// Does the trial of `spec_text`; `program` is this program, by a path that can be started. Gives
/// the record as JSON.
///
/// # Errors
/// Why it could not begin.
pub fn run_guest_trial(spec_text: &str, program: &Path) -> Result<String, String> {
    let mut spec = parse_spec(spec_text)?;
    if !spec.target.is_virtual() {
        return Err("the spec is not one of a trial in a guest".to_owned());
    }
    spec.scratch_dir = SCRATCH_DIR.into();
    let made = fs::create_dir_all(spec.scratch_dir.join("mnt"));
    made.map_err(|error| format!("{SCRATCH_DIR}: {error}"))?;
    tune(&mut spec).map_err(|error| error.to_string())?;
    let program = TrustedProgram::at(program).map_err(|error| error.to_string())?;
    let own = (&program, Path::new("/proc"));
    let mut record = run_trial(&spec, own, &Stop::default(), &mut |_| {});
    record.time_base = TimeBase::Virtual;
    record.place = TrialPlace::Virtual;
    record.phases.iter_mut().for_each(without_processor);
    record.to_json().map_err(|error| error.to_string())
}

/// Takes out of a phase what its processor time was: there is none in virtual time. A phase that
/// asked nothing of its disk took no time either: what its clocks say is what it takes to read them
/// (256 ns each).
fn without_processor(phase: &mut PhaseRecord) {
    phase.task_cpu = None;
    let count = |name| phase.counter(Window::Durable, name).unwrap_or(0);
    let requests: u64 = DISK_REQUESTS.into_iter().map(count).sum();
    if requests == 0 && phase.cycles.is_none() {
        phase.clocks.returned_ns = 0;
        phase.clocks.durable_ns = phase.clocks.durable_ns.map(|_| 0);
    }
}

/// Counters of what a disk is asked for.
const DISK_REQUESTS: [&str; 4] =
    ["device.reads", "device.writes", "device.flushes", "device.discards"];

/// Sets kernel and queue of the disk as the levels want them, and notes what they are.
fn tune(spec: &mut TrialSpec) -> Result<(), TargetError> {
    let levels = &spec.contender.levels;
    let Some(name) = queue::name_of(&spec.target) else { return Ok(()) };
    let wanted = factor::settings(levels);
    let changes = queue::plan(&Roots::default(), &name, &factor::queue_settings(&wanted))?;
    let applied =
        (queue::apply(changes)?, sysctl::apply(sysctl::plan(sysctl::PROC_SYS.as_ref(), &wanted)?)?);
    // What would put them back.
    std::mem::forget(applied);
    spec.device.extend(claim::queue_facts(&name));
    if spec.target.device().is_some_and(|device| cache::resident_pages(device).is_err()) {
        let how = "Buffers of /proc/meminfo, since this kernel has no cachestat";
        spec.device.insert("cold_proof".to_owned(), how.to_owned());
    }
    spec.device.extend(sysctl::current(sysctl::PROC_SYS.as_ref(), &wanted));
    Ok(())
}
