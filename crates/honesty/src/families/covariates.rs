//! How much of the noise figures of the same trials explain (CUPED: A. Deng, Y. Xu, R. Kohavi, T.
//! Walker, "Improving the sensitivity of online controlled experiments by utilizing pre-experiment
//! data", WSDM 2013).
//!
//! The log ratio of two contenders in a block is regressed on the difference of a covariate between
//! their trials. Every residual is that of a fit without its own block (PRESS: D. Allen, "The
//! relationship between variable selection and data augmentation", Technometrics 16 (1974)): a
//! covariate that explains nothing makes it worse, and shows a negative share.

use super::tape::{FamilyTape, TapePhase};
use fsarena_model::record::{PhaseRecord, TrialRecord, Window};
use serde::Serialize;
use std::collections::BTreeMap;

/// A figure of a trial that may go along with what a phase took.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Covariate {
    /// Share of the machine's processor time that the hypervisor gave to others.
    Steal,
    /// Length of the canary loop right before the phase, as a logarithm.
    Canary,
    /// Time between the end of the trial before and the start of this one.
    Pause,
    /// Share of the machine that other programs than the worker took, in user mode: what a
    /// contender that waits leaves them is theirs, so that it has a part in it.
    Programs,
    /// Length of the canary loops before and after the phase together, as a logarithm.
    BothCanaries,
    /// Frequency of the processors.
    Frequency,
    /// Share of the machine that was busy with anything but the worker, the kernel's threads that
    /// work for it among them.
    Others,
    /// Bytes that the device read.
    Read,
    /// Time that requests spent in the device's queue.
    Queue,
    /// Switches of the worker away from its processor that it did not ask for.
    Switches,
}

impl Covariate {
    pub const ALL: [Self; 10] = [
        Self::Steal,
        Self::Canary,
        Self::Pause,
        Self::Programs,
        Self::BothCanaries,
        Self::Frequency,
        Self::Others,
        Self::Read,
        Self::Queue,
        Self::Switches,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Steal => "steal",
            Self::Programs => "other programs",
            Self::Canary => "canary before",
            Self::Pause => "pause before",
            Self::BothCanaries => "both canaries",
            Self::Frequency => "frequency",
            Self::Others => "all but the worker",
            Self::Read => "device bytes read",
            Self::Queue => "device queue",
            Self::Switches => "switches",
        }
    }

    /// Whether the contender has no part in it: only then may a difference be adjusted by it, for
    /// else what the contender does is taken for what was done to it.
    #[must_use]
    pub fn is_from_outside(self) -> bool {
        matches!(self, Self::Steal | Self::Canary | Self::Pause)
    }

    fn value(self, phase: &PhaseRecord, pause_s: Option<f64>) -> Option<f64> {
        let counters = phase.windows.get(&Window::Durable)?;
        let get = |name: &str| counters.get(name).copied();
        let sum =
            |names: &[&str]| names.iter().filter_map(|name| get(name)).fold(0, u64::saturating_add);
        let machine_ns = (sum(&BUSY) + sum(&REST)).max(1) as f64;
        let worker = &phase.worker;
        match self {
            Self::Steal => Some(get("cpu.steal_ns")? as f64 / machine_ns),
            Self::Programs => {
                let user_ns = get("cpu.user_ns")?.saturating_add(get("cpu.nice_ns").unwrap_or(0));
                Some(user_ns.saturating_sub(worker.user_ns) as f64 / machine_ns)
            }
            Self::Canary => Some((phase.canary?.before_ns.max(1) as f64).ln()),
            Self::Pause => pause_s,
            Self::BothCanaries => {
                let canary = phase.canary?;
                Some((canary.before_ns.saturating_add(canary.after_ns?).max(1) as f64).ln())
            }
            Self::Frequency => Some(phase.frequency_khz? as f64),
            Self::Others => {
                get("cpu.system_ns")?;
                let own_ns = worker.user_ns.saturating_add(worker.system_ns);
                Some(sum(&BUSY).saturating_sub(own_ns) as f64 / machine_ns)
            }
            Self::Read => Some(get("device.read_bytes")? as f64),
            Self::Queue => Some(get("device.queue_ns")? as f64),
            Self::Switches => Some(worker.involuntary_switches as f64),
        }
    }
}

const BUSY: [&str; 5] =
    ["cpu.user_ns", "cpu.nice_ns", "cpu.system_ns", "cpu.irq_ns", "cpu.softirq_ns"];
const REST: [&str; 3] = ["cpu.idle_ns", "cpu.iowait_ns", "cpu.steal_ns"];

/// What covariates explain of a phase.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseCovariates {
    #[serde(flatten)]
    pub phase: TapePhase,
    /// Standard deviation of the log ratio as it is, each residual from the mean without its block.
    pub sd: f64,
    pub covariates: Vec<Explained>,
    /// By all covariates from outside together; absent where there is none.
    pub from_outside: Option<Adjusted>,
}

/// A covariate of a phase.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Explained {
    pub covariate: Covariate,
    /// [`Covariate::is_from_outside`].
    pub is_from_outside: bool,
    #[serde(flatten)]
    pub adjusted: Adjusted,
}

/// What is left after an adjustment.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Adjusted {
    /// Share of the variance that is gone; negative where the adjustment does harm.
    pub explained: f64,
    /// Standard deviation of the adjusted log ratio.
    pub sd: f64,
}

/// What the covariates in `records` explain of each phase; those that are the same in all trials or
/// that are not in every record of the tape are left out.
#[must_use]
pub fn covariates(tape: &FamilyTape, records: &[TrialRecord]) -> Vec<PhaseCovariates> {
    let by_sequence: BTreeMap<u32, &TrialRecord> =
        records.iter().map(|record| (record.key.sequence, record)).collect();
    let pauses = pauses(tape);
    let phases = tape.phases.iter().enumerate();
    phases.map(|(at, phase)| of_phase(tape, (at, phase), &by_sequence, &pauses)).collect()
}

/// Time between the end of the trial before and the start of each, s, by sequence.
fn pauses(tape: &FamilyTape) -> BTreeMap<u32, f64> {
    let two = tape.trials.windows(2);
    two.map(|two| {
        let since_s = two[1].started_unix_ns.saturating_sub(two[0].started_unix_ns) as f64 * 1e-9;
        (two[1].sequence, (since_s - two[0].elapsed_s).max(0.0))
    })
    .collect()
}

fn of_phase(
    tape: &FamilyTape,
    (at, phase): (usize, &TapePhase),
    records: &BTreeMap<u32, &TrialRecord>,
    pauses: &BTreeMap<u32, f64>,
) -> PhaseCovariates {
    let series = |covariate: Covariate| -> Option<Vec<Vec<f64>>> {
        let mut series = vec![vec![None; tape.blocks.len()]; tape.contenders.len()];
        for trial in tape.trials.iter().filter(|trial| trial.workload == phase.workload_index) {
            let own = &records.get(&trial.sequence)?.phases;
            let own = own.iter().find(|own| own.name == phase.phase)?;
            // The very first trial has none before it.
            let pause_s = pauses.get(&trial.sequence).copied().unwrap_or(0.0);
            series[trial.contender][trial.block] = covariate.value(own, Some(pause_s));
        }
        series.into_iter().map(|own| own.into_iter().collect()).collect()
    };
    let logs = super::noise::log_ratios(&tape.logs[at]);
    let as_it_is: f64 = logs.iter().map(|y| press(y, &[])).sum();
    let values = (logs.len() * tape.blocks.len()).max(1) as f64;
    let adjusted = |all: &[Vec<Vec<f64>>]| {
        let of_pair = |(pair, y): (usize, &Vec<f64>)| {
            let columns: Vec<&[f64]> = all.iter().map(|one| one[pair].as_slice()).collect();
            press(y, &columns)
        };
        let left: f64 = logs.iter().enumerate().map(of_pair).sum();
        Adjusted { explained: 1.0 - left / as_it_is, sd: (left / values).sqrt() }
    };
    let found: Vec<(Covariate, Vec<Vec<f64>>)> = Covariate::ALL
        .into_iter()
        .filter_map(|covariate| Some((covariate, super::noise::log_ratios(&series(covariate)?))))
        .filter(|(_, differences)| differences.iter().flatten().any(|x| *x != 0.0))
        .collect();
    let outside: Vec<Vec<Vec<f64>>> = found
        .iter()
        .filter(|(covariate, _)| covariate.is_from_outside())
        .map(|(_, differences)| differences.clone())
        .collect();
    let explained = found.iter().map(|(covariate, differences)| Explained {
        covariate: *covariate,
        is_from_outside: covariate.is_from_outside(),
        adjusted: adjusted(std::slice::from_ref(differences)),
    });
    PhaseCovariates {
        phase: phase.clone(),
        sd: (as_it_is / values).sqrt(),
        covariates: if as_it_is > 0.0 { explained.collect() } else { Vec::new() },
        from_outside: (as_it_is > 0.0 && !outside.is_empty()).then(|| adjusted(&outside)),
    }
}

/// Columns whose length beyond the others is below this share of their own add nothing.
const DEPENDENT: f64 = 1e-6;

/// Sum of squares of the residuals of `y`, each from the least-squares fit of all other values on a
/// constant and `columns`: (e ÷ (1 - h))², with the leverages h of the whole fit.
fn press(y: &[f64], columns: &[&[f64]]) -> f64 {
    let constant = vec![1.0; y.len()];
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in std::iter::once(constant.as_slice()).chain(columns.iter().copied()) {
        let mut rest = column.to_vec();
        let before = length(&rest);
        // Twice: what rounding left of the others goes the second time.
        for _ in 0..2 {
            for one in &basis {
                let share: f64 = one.iter().zip(&rest).map(|(q, x)| q * x).sum();
                rest.iter_mut().zip(one).for_each(|(x, q)| *x -= share * q);
            }
        }
        let own = length(&rest);
        if own > DEPENDENT * before {
            basis.push(rest.into_iter().map(|x| x / own).collect());
        }
    }
    let weights: Vec<f64> =
        basis.iter().map(|one| one.iter().zip(y).map(|(q, y)| q * y).sum()).collect();
    let residual = |(at, y): (usize, &f64)| {
        let fit: f64 = basis.iter().zip(&weights).map(|(one, weight)| weight * one[at]).sum();
        let leverage: f64 = basis.iter().map(|one| one[at] * one[at]).sum();
        // A value that alone holds a column: without it there is no fit, and nothing is adjusted.
        let rest = (1.0 - leverage).max(1e-9);
        ((y - fit) / rest).powi(2)
    };
    y.iter().enumerate().map(residual).sum()
}

fn length(column: &[f64]) -> f64 {
    column.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{Normal, tape};
    use super::*;
    use fsarena_testkit::records;

    /// Each residual from a fit without its own value, fitted again and again.
    fn by_leaving_out(y: &[f64], x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for out in 0..y.len() {
            let rest: Vec<(f64, f64)> =
                (0..y.len()).filter(|at| *at != out).map(|at| (x[at], y[at])).collect();
            let n = rest.len() as f64;
            let mean_x = rest.iter().map(|(x, _)| x).sum::<f64>() / n;
            let mean_y = rest.iter().map(|(_, y)| y).sum::<f64>() / n;
            let across: f64 = rest.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
            let along: f64 = rest.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
            sum += (y[out] - mean_y - across / along * (x[out] - mean_x)).powi(2);
        }
        sum
    }

    #[test]
    fn leverages_are_as_good_as_leaving_out() {
        let y = [1.0, 3.0, 2.0, 5.0, 4.0, 8.0, 6.0];
        let x = [0.5, 1.0, 2.0, 2.5, 4.0, 9.0, 5.0];
        assert!((press(&y, &[&x]) - by_leaving_out(&y, &x)).abs() < 1e-9);
        let twice: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
        assert!((press(&y, &[&x, &twice]) - press(&y, &[&x])).abs() < 1e-9);
    }

    /// Steal lengthens a phase; what the device read goes along with nothing.
    #[test]
    fn what_explains_is_told_from_what_does_not() {
        let blocks = 300;
        let labels = ["a", "b", "c"];
        let mut normal = Normal::new(8);
        let steal: Vec<f64> =
            (0..3 * blocks).map(|_| (0.1 + 0.02 * normal.next()).max(0.0)).collect();
        let tape = tape(&labels, 1, blocks, |_, contender, block| {
            18.0 + 2.0 * steal[block * 3 + contender] + 0.02 * normal.next()
        });
        let contenders = labels.map(|label| records::contender(label, label, 1)).to_vec();
        let header = records::header(contenders, vec![records::small_files()], blocks as u32);
        let records: Vec<TrialRecord> = (0..3 * blocks)
            .map(|at| {
                let mut record = records::record(&header, at as u32);
                let counters = record.phases[0].windows.entry(Window::Durable).or_default();
                let steal_ns = (steal[at] * 1e12) as u64;
                for name in BUSY.into_iter().chain(REST) {
                    counters.insert(name.to_owned(), 0);
                }
                counters.insert("cpu.steal_ns".to_owned(), steal_ns);
                counters.insert("cpu.idle_ns".to_owned(), 1_000_000_000_000 - steal_ns);
                let noise = (1e6 * (5.0 + normal.next())).max(0.0) as u64;
                counters.insert("device.read_bytes".to_owned(), noise);
                record
            })
            .collect();
        let found = covariates(&tape, &records).remove(0);
        // Variance 2 · (0.04² + 0.02²), of which steal is four fifths.
        assert!((found.sd - 0.001f64.sqrt() * 2.0).abs() < 0.004, "{}", found.sd);
        let of = |covariate| {
            let own = found.covariates.iter().find(|own| own.covariate == covariate);
            own.map(|own| own.adjusted.explained)
        };
        let by_steal = of(Covariate::Steal).unwrap();
        assert!((by_steal - 0.8).abs() < 0.05, "{by_steal}");
        let by_read = of(Covariate::Read).unwrap();
        assert!((-0.03..0.02).contains(&by_read), "{by_read}");
        assert_eq!(of(Covariate::Programs), None, "it is 0 everywhere");
        let together = found.from_outside.unwrap();
        assert!((together.explained - by_steal).abs() < 0.01, "{together:?}");
        assert!((together.sd - 0.02 * 2f64.sqrt()).abs() < 0.003, "{}", together.sd);
    }

    #[test]
    fn a_tape_without_records_has_no_covariates_but_the_pause() {
        let mut normal = Normal::new(8);
        let tape = tape(&["a", "b"], 1, 20, |_, _, _| 18.0 + normal.next());
        let found = covariates(&tape, &[]);
        assert!(found[0].covariates.is_empty() && found[0].from_outside.is_none());
        assert!(found[0].sd > 0.0);
    }
}
