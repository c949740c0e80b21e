//! Tables of the comparisons, and which figures were missed.

use super::pairs::{Pair, Pairs, Sample};
use anyhow::Result;
use fsarena_stats::{Estimate, SampleError, hodges_lehmann, median, median_order_statistics};

/// How the ratios of all pairs become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Centre {
    HodgesLehmann,
    Median,
}

impl Centre {
    fn name(self) -> &'static str {
        match self {
            Self::HodgesLehmann => "Hodges-Lehmann",
            Self::Median => "median",
        }
    }

    fn estimate(self, values: &[f64]) -> Result<Estimate, SampleError> {
        match self {
            Self::HodgesLehmann => hodges_lehmann(values, 0.05),
            Self::Median => median_order_statistics(values, 0.05),
        }
    }
}

/// An op that both sides do, and the figure for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    pub(super) name: &'static str,
    /// Smallest ratio of ops per second (ours to the other side's); 0: shown, not judged.
    pub(super) ratio: f64,
    /// Smallest lower end of its 95 % interval.
    pub(super) low: f64,
}

/// A comparison as it is printed.
pub(super) struct Comparison<'a> {
    pub(super) title: String,
    /// What ours is compared with, in one short word.
    pub(super) other: &'static str,
    pub(super) compared: &'a [Compared],
    pub(super) centre: Centre,
    /// Undisturbed pairs that a verdict needs.
    pub(super) needs: u32,
}

impl Comparison<'_> {
    /// Prints the undisturbed pairs, and all of them where some were disturbed; gives the figures
    /// that the undisturbed ones miss.
    ///
    /// # Errors
    /// When a sample is no number.
    pub(super) fn print(&self, pairs: &Pairs) -> Result<Vec<String>> {
        let (quiet, disturbed) = (pairs.quiet.len(), pairs.disturbed.len());
        let mut missed = Vec::new();
        if quiet > 0 {
            missed = self.table(&format!("{quiet} undisturbed pairs"), &pairs.quiet)?;
        }
        if disturbed > 0 {
            let all: Vec<Pair> = pairs.quiet.iter().chain(&pairs.disturbed).cloned().collect();
            self.table(&format!("all {} pairs ({disturbed} disturbed)", all.len()), &all)?;
        }
        if quiet < self.needs as usize && self.compared.iter().any(|one| one.ratio > 0.0) {
            println!(
                "  only {quiet} pairs were undisturbed and a verdict needs {}: run it when the \
                 machine is quiet, or with more --patience, or a larger --foreign and more --pairs",
                self.needs
            );
            missed = vec![format!("{}: too few undisturbed pairs", self.title)];
        }
        Ok(missed)
    }

    /// Prints a table and gives the figures that were missed.
    fn table(&self, which: &str, pairs: &[Pair]) -> Result<Vec<String>> {
        println!(
            "{}, {which}\n  ratio: ours / {} in ops per second, {} [95 %]; CPU time: the same of \
             user + system time;\n  fastest: the same of the fastest run of each side",
            self.title,
            self.other,
            self.centre.name()
        );
        println!(
            "  {:12} {:>11} {:>11}  {:24} {:>8}  {:>8}  {:>8}",
            "op",
            format!("{}/s", self.other),
            "ours/s",
            "ratio",
            "added ns",
            "CPU time",
            "fastest"
        );
        let mut missed = Vec::new();
        for (index, figure) in self.compared.iter().enumerate() {
            if !self.row(figure, &|of| pairs.iter().map(|pair| of(&pair[index])).collect())? {
                missed.push(format!("{} ({})", figure.name, self.title));
            }
        }
        Ok(missed)
    }

    /// Prints one line; whether its figure is met.
    fn row(&self, figure: &Compared, column: &Column<'_>) -> Result<bool> {
        let logs = column(&|(ours, other)| (other.ns_per_op / ours.ns_per_op).ln());
        let added = column(&|(ours, other)| ours.ns_per_op - other.ns_per_op);
        let cpu = column(&|(ours, other)| {
            (other.cpu_ns_per_op.max(1.0) / ours.cpu_ns_per_op.max(1.0)).ln()
        });
        let others = column(&|(_, other)| other.ns_per_op);
        let ours = column(&|(ours, _)| ours.ns_per_op);
        let estimate = self.centre.estimate(&logs)?;
        let ratio = estimate.point.exp();
        let (interval_text, low) = match estimate.bounds.attained() {
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
            "  {:12} {:11.0} {:11.0}  {ratio_text:24} {:8.1}  {:8.3}  {:8.3}  {verdict}",
            figure.name,
            1e9 / median(&others)?,
            1e9 / median(&ours)?,
            self.centre.estimate(&added)?.point,
            self.centre.estimate(&cpu)?.point.exp(),
            least(&others) / least(&ours),
        );
        Ok(met || !judged)
    }
}

/// One value of each pair for an op.
type Column<'a> = dyn Fn(&dyn Fn(&(Sample, Sample)) -> f64) -> Vec<f64> + 'a;

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: [Compared; 3] = [
        Compared { name: "a", ratio: 0.97, low: 0.95 },
        Compared { name: "b", ratio: 0.95, low: 0.0 },
        Compared { name: "c", ratio: 0.0, low: 0.0 },
    ];

    fn comparison(centre: Centre) -> Comparison<'static> {
        Comparison { title: "t".to_owned(), other: "bare", compared: &FIGURES, centre, needs: 21 }
    }

    fn sample(ns_per_op: f64) -> Sample {
        Sample { ns_per_op, cpu_ns_per_op: ns_per_op }
    }

    fn pairs(ours: f64, count: u32) -> Vec<Pair> {
        let noise = |n: u32| 1.0 + f64::from(n) / 1e4;
        (0..count).map(|n| vec![(sample(ours * noise(n)), sample(1000.0)); 3]).collect()
    }

    fn missed(ours: f64) -> Vec<String> {
        let quiet = Pairs { quiet: pairs(ours, 21), disturbed: vec![] };
        comparison(Centre::HodgesLehmann).print(&quiet).unwrap()
    }

    #[test]
    fn a_slow_harness_misses_and_a_fast_one_meets() {
        assert_eq!(missed(1010.0), [""; 0]);
        assert_eq!(missed(1040.0), ["a (t)"]);
        assert_eq!(missed(1100.0), ["a (t)", "b (t)"]);
    }

    #[test]
    fn disturbed_pairs_are_shown_and_never_judged() {
        let all = Pairs { quiet: pairs(1010.0, 21), disturbed: pairs(9000.0, 50) };
        assert_eq!(comparison(Centre::Median).print(&all).unwrap(), [""; 0]);
        let few = Pairs { quiet: pairs(1010.0, 20), disturbed: pairs(1010.0, 50) };
        let missed = comparison(Centre::Median).print(&few).unwrap();
        assert_eq!(missed, ["t: too few undisturbed pairs"]);
    }

    #[test]
    fn a_few_wild_pairs_do_not_move_the_median() {
        let mut quiet = pairs(1000.0, 21);
        quiet.iter_mut().take(10).for_each(|pair| pair.fill((sample(5000.0), sample(1000.0))));
        let pairs = Pairs { quiet, disturbed: vec![] };
        let compared = [Compared { name: "a", ratio: 0.99, low: 0.0 }];
        let comparison = Comparison { compared: &compared, ..comparison(Centre::Median) };
        assert_eq!(comparison.print(&pairs).unwrap(), [""; 0]);
    }
}
