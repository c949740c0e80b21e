//! Foreign load: whether others used the machine more in the trials of one contender than in those
//! of another, or more in one block than in the rest.
//!
//! What one trial alone shows is said with its record; here trials are compared with each other.

use super::finding::{Finding, FindingKind, OUTLIER_Z, p_words};
use fsarena_model::record::{PhaseRecord, TrialRecord, Window};
use fsarena_model::run::RunPlan;
use fsarena_stats::factorial::{Design, Factor};
use fsarena_stats::median;
use fsarena_stats::trend::TREND_ALPHA;
use std::collections::BTreeMap;

const BUSY: [&str; 5] =
    ["cpu.user_ns", "cpu.nice_ns", "cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"];
const REST: [&str; 3] = ["cpu.idle_ns", "cpu.iowait_ns", "cpu.steal_ns"];
/// Processor time of all processors below which shares are not judged: 100 ticks of 10 ms.
const JUDGED_MIN_NS: u64 = 1_000_000_000;

/// Share of the machine by which contenders have to differ, and blocks to stand out.
const CONTENDERS_DIFFER: f64 = 0.01;
const OUTLYING_BLOCK: f64 = 0.05;
/// Blocks that are needed before one can stand out.
const BLOCKS_MIN: usize = 4;
/// Floor under the median absolute deviation of blocks, as a share of the machine.
const MAD_MIN: f64 = 0.005;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Taken by the hypervisor.
    Steal,
    /// Other programs than the worker, in user mode: what they did in the kernel is not in it.
    Programs,
    /// Everything but the worker, threads of the kernel that work for it among it: compared only
    /// with other trials of one contender.
    Others,
}

impl Share {
    const ALL: [Self; 3] = [Self::Steal, Self::Programs, Self::Others];

    fn words(self) -> &'static str {
        match self {
            Self::Steal => "of the machine's CPU time was taken by the hypervisor",
            Self::Programs => "of the machine ran other programs than the worker",
            Self::Others => {
                "of the machine was busy with something else than the worker, the kernel's own \
                 threads included"
            }
        }
    }

    /// Of the whole machine; `None` where the kernel does not tell, or the phase is too short.
    fn value(self, phase: &PhaseRecord) -> Option<f64> {
        let counters = phase.windows.get(&Window::Durable)?;
        let get = |name: &str| counters.get(name).copied();
        let sum =
            |names: &[&str]| names.iter().filter_map(|name| get(name)).fold(0, u64::saturating_add);
        let machine_ns = sum(&BUSY).saturating_add(sum(&REST));
        let worker = &phase.worker;
        let part_ns = match self {
            Self::Steal => get("cpu.steal_ns")?,
            Self::Programs => {
                let user_ns = get("cpu.user_ns")?.saturating_add(get("cpu.nice_ns").unwrap_or(0));
                user_ns.saturating_sub(worker.user_ns)
            }
            Self::Others => {
                get("cpu.system_ns")?;
                sum(&BUSY).saturating_sub(worker.user_ns.saturating_add(worker.system_ns))
            }
        };
        (machine_ns >= JUDGED_MIN_NS).then(|| (part_ns as f64 / machine_ns as f64).min(1.0))
    }
}

/// Shares of one phase by contender and block.
type Shares = BTreeMap<usize, BTreeMap<u32, f64>>;

/// Compares what others did to the machine between contenders and between blocks, for each phase of
/// each workload: contenders by an F test at 1 % over complete blocks, where they are a percent of
/// the machine apart or more; blocks by their modified z, where one is five percent above the
/// median block or more.
#[must_use]
pub fn foreign(plan: &RunPlan, records: &[TrialRecord]) -> Vec<Finding> {
    let ids: Vec<_> = plan.contenders.iter().map(|contender| contender.id()).collect();
    let mut findings = Vec::new();
    for workload in &plan.workloads {
        let own: Vec<(usize, &TrialRecord)> = records
            .iter()
            .filter(|record| record.key.workload == workload.name)
            .filter_map(|r| Some((ids.iter().position(|id| *id == r.key.contender)?, r)))
            .collect();
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let place = format!("{} {}", workload.name, phase.name);
            let mut has_block = false;
            for share in Share::ALL {
                let shares = shares(&own, &phase.name, share);
                // Programs are among all others: a block is named once.
                if !(share == Share::Others && has_block) {
                    let found = block(&place, &shares, share);
                    has_block |= found.is_some() && share == Share::Programs;
                    findings.extend(found);
                }
                if share != Share::Others {
                    findings.extend(contenders(plan, &place, &shares, share));
                }
            }
        }
    }
    findings
}

fn shares(records: &[(usize, &TrialRecord)], phase: &str, share: Share) -> Shares {
    let mut all = Shares::new();
    for (contender, record) in records {
        let found = record.phases.iter().find(|known| known.name == phase);
        if let Some(value) = found.and_then(|found| share.value(found)) {
            all.entry(*contender).or_default().insert(record.key.block, value);
        }
    }
    all
}

fn contenders(plan: &RunPlan, place: &str, shares: &Shares, share: Share) -> Option<Finding> {
    let first = shares.values().next()?;
    let common = first.keys().filter(|block| shares.values().all(|own| own.contains_key(block)));
    let blocks: Vec<Vec<f64>> =
        common.map(|block| shares.values().map(|own| own[block]).collect()).collect();
    let mean = |at: usize| blocks.iter().map(|row| row[at]).sum::<f64>() / blocks.len() as f64;
    let means: Vec<(usize, f64)> =
        shares.keys().enumerate().map(|(at, &contender)| (contender, mean(at))).collect();
    let most = means.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let least = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let rows = (0..means.len()).map(|at| vec![Some(at)]).collect();
    let design = Design::new(vec![Factor { levels: means.len(), within: None }], rows)?;
    let test = design.analyse(&blocks, (MAD_MIN / 2.0).powi(2))?.omnibus;
    if test.p >= TREND_ALPHA || most.1 - least.1 < CONTENDERS_DIFFER {
        return None;
    }
    let label = |at: usize| plan.contenders[at].label.as_str();
    let text = format!(
        "{place}: {:.1} % {} in trials of {}, {:.1} % in those of {} ({}): that is in their \
         comparison",
        most.1 * 100.0,
        share.words(),
        label(most.0),
        least.1 * 100.0,
        label(least.0),
        p_words(test.p)
    );
    Some(Finding { kind: FindingKind::ForeignLoad, text, p: Some(test.p) })
}

/// The block farthest from the others, by its shares without the mean of each contender.
fn block(place: &str, shares: &Shares, share: Share) -> Option<Finding> {
    let mut parts: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for own in shares.values() {
        let Ok(centre) = median(&own.values().copied().collect::<Vec<f64>>()) else { continue };
        for (&block, &value) in own {
            parts.entry(block).or_default().push((value - centre, value));
        }
    }
    if parts.len() < BLOCKS_MIN {
        return None;
    }
    let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        values.iter().map(of).sum::<f64>() / values.len() as f64
    };
    let blocks: Vec<(u32, f64, f64)> = parts
        .iter()
        .map(|(&block, values)| (block, mean(values, |v| v.0), mean(values, |v| v.1)))
        .collect();
    let centre = median(&blocks.iter().map(|block| block.1).collect::<Vec<f64>>()).ok()?;
    let distances: Vec<f64> = blocks.iter().map(|block| (block.1 - centre).abs()).collect();
    let deviation = median(&distances).ok()?.max(MAD_MIN);
    let is_outlier = |block: &&(u32, f64, f64)| {
        let above = block.1 - centre;
        above >= OUTLYING_BLOCK && 0.6745 * above / deviation > OUTLIER_Z
    };
    let out: Vec<&(u32, f64, f64)> = blocks.iter().filter(is_outlier).collect();
    let worst = out.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let numbers: Vec<String> = out.iter().map(|block| (block.0 + 1).to_string()).collect();
    let usual = worst.2 - (worst.1 - centre);
    let more = if out.len() > 1 {
        format!("; blocks that stand out: {}", numbers.join(", "))
    } else {
        String::new()
    };
    let text = format!(
        "{place}: {:.1} % {} in block {}, {:.1} % in the median block{more}",
        worst.2 * 100.0,
        share.words(),
        worst.0 + 1,
        usual.max(0.0) * 100.0,
    );
    Some(Finding { kind: FindingKind::ForeignLoad, text, p: None })
}
