//! Steady state inside phases, from their time series.

use super::finding::{Finding, FindingKind, p_words};
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::sample::Series;
use fsarena_model::units::{Bytes, Nanos};
use fsarena_stats::steady::{INTERVALS_MIN, Shift, mser5, shift};
use fsarena_stats::trend::TREND_ALPHA;
use std::collections::BTreeMap;

/// Columns that show how the work goes on, and what they count. The work's own come first; those of
/// the device are for work that is done by child processes.
const PROGRESS: [[(&str, &str); 2]; 2] = [
    [("worker.dirtied_bytes", "written"), ("worker.fetched_bytes", "read")],
    [
        ("device.written_bytes", "written to the device"),
        ("device.read_bytes", "read from the device"),
    ],
];

/// Writing that falls to less than the inverse of this is told as what a full fast cache would do.
const CACHE_DROP: f64 = 2.0;
const CACHE_END: &str =
    ", as where a cache is full: dirty pages in memory, or the fast cache of an SSD (SLC)";

/// What is counted where the worker counts its ops itself.
const OPS: &str = "ops";

/// Share of trials in which the test at 1 % fires where the level of strongly autocorrelated rates
/// does not shift (0.9 from one interval to the next): only more than that is a finding.
const ALARMS: f64 = 0.1;

/// Shifts of the level inside the phases of one trial: phases of which the series tells at least 40
/// intervals before the calls came back. Each test is at 1 %; of rates that are strongly
/// autocorrelated it fires more often, see [`steady`].
#[must_use]
pub fn inside(record: &TrialRecord) -> Vec<Finding> {
    let found = record.phases.iter().filter_map(|phase| {
        let (finding, fires) = judge(phase)?;
        fires.then_some(finding)
    });
    found.collect()
}

/// The same over all trials: a line for each workload, phase and contender in which more trials
/// have no steady state than the test alone would say (binomial, at 1 %).
#[must_use]
pub fn steady(plan: &RunPlan, records: &[TrialRecord]) -> Vec<Finding> {
    let mut sets: BTreeMap<(usize, usize, String), Vec<(Finding, bool)>> = BTreeMap::new();
    let ids: Vec<_> = plan.contenders.iter().map(|contender| contender.id()).collect();
    for record in records {
        let workload = plan.workloads.iter().position(|w| w.name == record.key.workload);
        let contender = ids.iter().position(|id| *id == record.key.contender);
        let (Some(workload), Some(contender)) = (workload, contender) else { continue };
        for phase in &record.phases {
            let Some(judged) = judge(phase) else { continue };
            sets.entry((workload, contender, phase.name.clone())).or_default().push(judged);
        }
    }
    let finding = |((workload, contender, _), trials): (_, Vec<(Finding, bool)>)| {
        let count = trials.iter().filter(|trial| trial.1).count();
        let p = binomial_from(trials.len(), count, ALARMS);
        let fired = trials.iter().filter(|trial| trial.1);
        let worst = fired.min_by(|a, b| p_of(&a.0).total_cmp(&p_of(&b.0)))?;
        let (workload, contender): (usize, usize) = (workload, contender);
        let text = format!(
            "{} on {}: no steady state inside {count} of {} trials; in the clearest, {}",
            plan.workloads[workload].name,
            plan.contenders[contender].label,
            trials.len(),
            worst.0.text
        );
        let kind = FindingKind::NoSteadyState;
        (p < TREND_ALPHA).then_some(Finding { kind, text, p: Some(p) })
    };
    sets.into_iter().filter_map(finding).collect()
}

fn p_of(finding: &Finding) -> f64 {
    finding.p.unwrap_or(1.0)
}

/// What is to be said of a phase, and whether the test fires; `None` where it cannot be judged, and
/// for cycles, which are not to be steady.
fn judge(phase: &PhaseRecord) -> Option<(Finding, bool)> {
    if phase.cycles.is_some() {
        return None;
    }
    let (what, rates) = match of_ops(phase) {
        Some(rates) => (OPS, rates),
        None => rates(phase.series.as_ref()?, phase.clocks.returned_ns)?,
    };
    let speed = |per_s: f64| speed(what, per_s);
    let values: Vec<f64> = rates.iter().map(|rate| rate.per_s).collect();
    let Shift { at, before, after, phi, p, .. } = shift(&values)?;
    let cut = mser5(&values)?;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let warm_up = if cut == 0 {
        String::new()
    } else {
        format!(
            "; without the first {} it is {} on the average, with it {}",
            Nanos(rates[cut - 1].end_ns),
            speed(mean(&values[cut..])),
            speed(mean(&values))
        )
    };
    let is_write = phase.op.writes() && !what.starts_with("read");
    let cache = if is_write && before >= CACHE_DROP * after { CACHE_END } else { "" };
    let text = format!(
        "{}: {} {what} for {}, then {}{cache} ({}, autocorrelation {phi:.2}){warm_up}",
        phase.name,
        speed(before),
        Nanos(rates[at - 1].end_ns),
        speed(after),
        p_words(p),
    );
    let finding = Finding { kind: FindingKind::NoSteadyState, text, p: Some(p) };
    Some((finding, p < TREND_ALPHA))
}

/// Rate of one interval.
struct Rate {
    end_ns: u64,
    per_s: f64,
}

/// Rates of the intervals between the phase's start and the return of its calls, by the column that
/// counts most; one that does not change in most intervals shows bursts, not progress.
fn rates(series: &Series, returned_ns: u64) -> Option<(&'static str, Vec<Rate>)> {
    for columns in PROGRESS {
        let known = columns.iter().filter_map(|(name, what)| {
            let rates = column_rates(series, series.columns.get(*name)?, returned_ns);
            let moving = rates.iter().filter(|rate| rate.per_s > 0.0).count();
            (rates.len() >= INTERVALS_MIN && moving * 2 > rates.len()).then_some((*what, rates))
        });
        let sum = |rates: &[Rate]| rates.iter().map(|rate| rate.per_s).sum::<f64>();
        let most = known.max_by(|a, b| sum(&a.1).total_cmp(&sum(&b.1)));
        if most.is_some() {
            return most;
        }
    }
    None
}

fn column_rates(series: &Series, column: &[Option<u64>], returned_ns: u64) -> Vec<Rate> {
    let read = series.t_ns.iter().zip(column).filter_map(|(&t_ns, value)| {
        let t_ns = u64::try_from(t_ns).ok().filter(|&t_ns| t_ns <= returned_ns)?;
        Some((t_ns, (*value)?))
    });
    let read: Vec<(u64, u64)> = read.collect();
    let rate = |pair: &[(u64, u64)]| {
        let elapsed_ns = pair[1].0.checked_sub(pair[0].0).filter(|&ns| ns > 0)?;
        let grown = pair[1].1.saturating_sub(pair[0].1);
        Some(Rate { end_ns: pair[1].0, per_s: grown as f64 * 1e9 / elapsed_ns as f64 })
    };
    read.windows(2).filter_map(rate).collect()
}

/// Of the periods in which the worker counted its ops, those that are whole; `None` where there are
/// too few.
fn of_ops(phase: &PhaseRecord) -> Option<Vec<Rate>> {
    let series = phase.latency_series.as_ref().filter(|series| series.period_ns > 0)?;
    let rates = (1u64..).zip(&series.periods).map(|(number, period)| Rate {
        end_ns: number.saturating_mul(series.period_ns),
        per_s: period.ops as f64 * 1e9 / series.period_ns as f64,
    });
    let whole = rates.take_while(|rate| rate.end_ns <= phase.clocks.returned_ns);
    let whole: Vec<Rate> = whole.collect();
    (whole.len() >= INTERVALS_MIN).then_some(whole)
}

fn speed(what: &str, per_s: f64) -> String {
    let per_s = per_s.max(0.0).round() as u64;
    if what == OPS { format!("{per_s}/s") } else { format!("{}/s", Bytes(per_s)) }
}

/// Probability of `least` or more of `n`, each with probability `share`.
fn binomial_from(n: usize, least: usize, share: f64) -> f64 {
    let mut log_chance = n as f64 * (1.0 - share).ln();
    let mut below = 0.0;
    for count in 0..least {
        below += log_chance.exp();
        log_chance += ((n - count) as f64 / (count + 1) as f64 * share / (1.0 - share)).ln();
    }
    (1.0 - below).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_tails() {
        assert!((binomial_from(2, 1, 0.1) - 0.19).abs() < 1e-12);
        assert!((binomial_from(3, 3, 0.1) - 0.001).abs() < 1e-12);
        assert!((binomial_from(5, 0, 0.1) - 1.0).abs() < 1e-12);
    }
}
