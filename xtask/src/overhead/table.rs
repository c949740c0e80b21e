//! Tables of the comparison, and which figures were missed.

use super::pairs::{Pair, Pairs, Sample};
use super::{Compared, DIRS, FILE_BYTES, MIB, SMALL_BLOCK_BYTES};
use anyhow::Result;
use fsarena_engine::calibrate::{clock_facts, harness_cost};
use fsarena_model::work::{Dataset, Op, Order};
use fsarena_stats::{hodges_lehmann, median};

/// Clock and null backend: what the harness costs by itself.
pub(super) fn print_instrument(files: u64) -> Result<()> {
    let clock = clock_facts();
    println!(
        "clock {}: {:.1} ns a read, smallest step {} ns; CLOCK_MONOTONIC {:.1} ns a read",
        clock.name, clock.cost_ns, clock.precision_ns, clock.monotonic_cost_ns
    );
    println!("null backend          with latency              without");
    let small = Dataset { files, size_bytes: FILE_BYTES, dirs: DIRS };
    let big = Dataset { files: 1, size_bytes: 500 * MIB, dirs: 0 };
    for (op, order) in [
        (Op::Create, Order::Sequential),
        (Op::Read, Order::Sequential),
        (Op::Read, Order::Random),
        (Op::Stat, Order::Sequential),
        (Op::Stat, Order::Random),
        (Op::Delete, Order::Sequential),
        (Op::BigWrite, Order::Sequential),
        (Op::BigRead, Order::Sequential),
    ] {
        let (dataset, bs_bytes) = match op {
            Op::BigWrite | Op::BigRead => (&big, MIB),
            _ => (&small, SMALL_BLOCK_BYTES),
        };
        let cost = harness_cost(dataset, op, order, bs_bytes)?;
        let (with, without) = (cost.with_latency_ns, cost.without_latency_ns);
        let order = if order == Order::Random { "random" } else { "" };
        println!(
            "  {:9} {order:6} {with:8.1} ns {:7.2} Mop/s {without:8.1} ns {:7.2} Mop/s",
            op.name(),
            1e3 / with,
            1e3 / without,
        );
    }
    Ok(())
}

/// Prints the undisturbed pairs, and all of them where some were disturbed; gives the figures that
/// the undisturbed ones miss.
pub(super) fn print_pairs(
    title: &str,
    compared: &[Compared],
    pairs: &Pairs,
) -> Result<Vec<String>> {
    let (quiet, disturbed) = (pairs.quiet.len(), pairs.disturbed.len());
    let mut missed = Vec::new();
    if quiet > 0 {
        let title = format!("{title}, {quiet} undisturbed pairs");
        missed = print_comparison(&title, compared, &pairs.quiet)?;
    }
    if disturbed > 0 {
        let all: Vec<Pair> = pairs.quiet.iter().chain(&pairs.disturbed).cloned().collect();
        let title = format!("{title}, all {} pairs ({disturbed} of them disturbed)", all.len());
        print_comparison(&title, compared, &all)?;
    }
    Ok(missed)
}

/// Prints a table and gives the figures that were missed.
fn print_comparison(title: &str, compared: &[Compared], pairs: &[Pair]) -> Result<Vec<String>> {
    println!(
        "{title}\n  ratio: ours / reference in ops per second, Hodges-Lehmann [95 %]; CPU time: the \
         same of user + system time;\n  fastest: the same of the fastest run of each side"
    );
    println!(
        "  {:9} {:>11} {:>11}  {:24} {:>8}  {:>8}  {:>8}",
        "op", "reference/s", "ours/s", "ratio", "added ns", "CPU time", "fastest"
    );
    let mut missed = Vec::new();
    for (index, figure) in compared.iter().enumerate() {
        let column = |of: &dyn Fn(&(Sample, Sample)) -> f64| -> Vec<f64> {
            pairs.iter().map(|pair| of(&pair[index])).collect()
        };
        let logs = column(&|(ours, reference)| (reference.ns_per_op / ours.ns_per_op).ln());
        let added = column(&|(ours, reference)| ours.ns_per_op - reference.ns_per_op);
        let cpu = column(&|(ours, reference)| {
            (reference.cpu_ns_per_op.max(1.0) / ours.cpu_ns_per_op.max(1.0)).ln()
        });
        let estimate = hodges_lehmann(&logs, 0.05)?;
        let ratio = estimate.point.exp();
        let interval = estimate.bounds.attained();
        let (interval_text, low) = match interval {
            Some(interval) => {
                let (low, high) = (interval.low.exp(), interval.high.exp());
                (format!("[{low:.3}, {high:.3}]"), low)
            }
            None => ("[too few pairs]".to_owned(), 0.0),
        };
        let judged = figure.ratio > 0.0;
        let met = ratio >= figure.ratio && low >= figure.low;
        let verdict = match (judged, met) {
            (false, _) => String::new(),
            (true, true) => format!("meets {:.2}", figure.ratio),
            (true, false) if ratio >= figure.ratio => {
                format!("meets {:.2}, lower end not {:.2}: more --pairs", figure.ratio, figure.low)
            }
            (true, false) => format!("MISSES {:.2}", figure.ratio),
        };
        let ratio_text = format!("{ratio:.3} {interval_text}");
        println!(
            "  {:9} {:11.0} {:11.0}  {ratio_text:24} {:8.1}  {:8.3}  {:8.3}  {verdict}",
            figure.op.name(),
            1e9 / median(&column(&|(_, reference)| reference.ns_per_op))?,
            1e9 / median(&column(&|(ours, _)| ours.ns_per_op))?,
            hodges_lehmann(&added, 0.05)?.point,
            hodges_lehmann(&cpu, 0.05)?.point.exp(),
            least(&column(&|(_, reference)| reference.ns_per_op))
                / least(&column(&|(ours, _)| ours.ns_per_op)),
        );
        if judged && !met {
            missed.push(figure.op.name().to_owned());
        }
    }
    Ok(missed)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::FIGURES;
    use super::*;

    #[test]
    fn a_slow_harness_misses_and_a_fast_one_meets() {
        let pair = |ours: f64| {
            let sample = |ns_per_op| Sample { ns_per_op, cpu_ns_per_op: ns_per_op };
            (0..21)
                .map(|n| {
                    let noise = 1.0 + f64::from(n) / 1e4;
                    vec![(sample(ours * noise), sample(1000.0)); 4]
                })
                .collect::<Vec<Pair>>()
        };
        assert_eq!(print_comparison("", &FIGURES, &pair(1010.0)).unwrap(), [""; 0]);
        let missed = print_comparison("", &FIGURES, &pair(1040.0)).unwrap();
        assert_eq!(missed, ["create", "read", "delete"]);
        assert_eq!(print_comparison("", &FIGURES, &pair(1100.0)).unwrap().len(), 4);
    }
}
