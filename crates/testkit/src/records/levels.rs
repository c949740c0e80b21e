//! A RUN over levels of a workload's parameter.

use super::lengthened::lengthened;
use fsarena_model::parameter::{Parameter, ParameterLevel, WorkloadLevels};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use fsarena_model::verdict::Rule;
use fsarena_model::work::Workload;

/// The workload of [`super::database`] at block sizes of 4 KiB, 64 KiB and 1 MiB, on ext4 and xfs,
/// with the times of all phases asked. A phase takes so many times as long as `times` says of the
/// contender and the level, and up to 1 % more, otherwise in each block.
///
/// # Panics
/// When there are no blocks.
#[must_use]
pub fn over_block_sizes(
    blocks: u32,
    times: impl Fn(usize, usize) -> f64,
) -> (RunHeader, Vec<TrialRecord>) {
    let contenders = ["ext4", "xfs"].map(|fs| super::contender(fs, fs, 1)).to_vec();
    let workloads = [4096, 65536, 1 << 20].map(at_block_size).to_vec();
    let mut header = super::header(contenders, workloads, blocks);
    header.plan.verdict = Some(super::asked(&header.plan, Rule::Fixed { blocks }));
    let records =
        lengthened(&header, |slot, _, longer| longer * times(slot.contender, slot.workload));
    (header, records)
}

fn at_block_size(value: u64) -> Workload {
    let mut workload = super::database();
    let level = ParameterLevel { parameter: Parameter::Bs, value };
    let levels = WorkloadLevels { workload: workload.name, levels: vec![level] };
    workload.name = levels.name();
    workload.title = format!("database with {}", level.text());
    for phase in &mut workload.phases {
        phase.bs_bytes = value;
        phase.io.ops = None;
    }
    Workload { levels: Some(levels), ..workload }
}
