//! The life of a trial as a list of steps; the executor does them in this order and nothing else.

use fsarena_model::contender::{Cache, DeviceLevel, Levels};
use fsarena_model::spec::Step;
use fsarena_model::work::{Op, Order, Phase, Workload};

/// Why a trial at these levels cannot be cold, where it cannot.
#[must_use]
pub fn warm_reason(levels: &Levels) -> Option<&'static str> {
    if matches!(levels.device, DeviceLevel::Directory { .. }) || levels.fs.name == "directory" {
        Some("a directory cannot be unmounted for us: its caches stay as the step before left them")
    } else if in_memory(levels) {
        Some("it has no device: warm by nature")
    } else if levels.fs.external.as_ref().is_some_and(|commands| !commands.device) {
        Some("it has no device of its own that could be made cold")
    } else {
        None
    }
}

/// Whether the file system lies in memory alone.
pub(crate) fn in_memory(levels: &Levels) -> bool {
    levels.fs.name == "tmpfs"
        || levels.fs.external.as_ref().is_some_and(|commands| !commands.device && commands.memory)
}

/// The phase that writes the dataset of a workload which does not begin with writing it.
pub(crate) fn prepare_phase(workload: &Workload) -> Option<Phase> {
    let first = workload.phases.first()?;
    if !first.op.needs_files() {
        return None;
    }
    let big = workload.phases.iter().any(|phase| phase.op == Op::BigRead);
    Some(Phase {
        name: "prepare".to_owned(),
        op: if big { Op::BigWrite } else { Op::Create },
        order: Order::Sequential,
        bs_bytes: first.bs_bytes,
        timed: false,
    })
}

/// The steps of one trial.
///
/// With cold caches, settle and chill stand before every timed phase: also before the first, whose
/// bitmaps and inode tables then come from the device. With warm caches only settle does. A check
/// of the contents (where `verify` was asked for) stands before a deletion, else at the end, and
/// reads from the device where the caches can be made cold.
#[must_use]
pub fn steps(workload: &Workload, levels: &Levels, verify: bool) -> Vec<Step> {
    let cold = levels.cache == Cache::Cold && warm_reason(levels).is_none();
    let settle = |steps: &mut Vec<Step>| {
        steps.push(Step::Settle);
        if cold {
            steps.push(Step::Chill);
        }
    };
    let mut steps = vec![Step::Reset, Step::Mount];
    if workload.dataset.dirs > 0 {
        steps.push(Step::MakeDirs);
    }
    steps.extend(prepare_phase(workload).map(|phase| Step::Prepare { phase }));
    let mut unchecked = verify;
    for phase in &workload.phases {
        if unchecked && phase.op == Op::Delete {
            settle(&mut steps);
            steps.push(Step::Verify);
            unchecked = false;
        }
        if phase.timed {
            settle(&mut steps);
            steps.push(Step::Measure { phase: phase.clone() });
        } else {
            steps.push(Step::Prepare { phase: phase.clone() });
        }
    }
    if unchecked {
        settle(&mut steps);
        steps.push(Step::Verify);
    }
    steps.push(Step::Teardown);
    steps
}
