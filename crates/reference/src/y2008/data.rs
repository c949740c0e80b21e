//! The published series and ratios of 2008.

use crate::figures::{Interval, Runs};
use crate::read::{BadReference, Row, read};
use crate::table::{Test, differs};

const ALL_DATA: &str = include_str!("../../../../reference/2008-all-against-all.csv");
const ALL_HEADER: &str = "test,cpu,distribution,bits,filesystem,run1_s,run2_s,run3_s,\
                          published_mean_s";
const FIVE_DATA: &str = include_str!("../../../../reference/2008-repeatability.csv");
const FIVE_HEADER: &str = "test,run1_s,run2_s,run3_s,run4_s,run5_s,published_mean_s";
const RATIO_DATA: &str = include_str!("../../../../reference/2008-ratios.csv");
const RATIO_HEADER: &str = "comparison,context,untar,tar+bzip2,tar+gzip,wav2flac,wav2ogg";

pub(super) const TESTS: [Test; 5] = [
    Test::seconds("untar", "untar"),
    Test::seconds("tar+bzip2", "tar+bzip2"),
    Test::seconds("tar+gzip", "tar+gzip"),
    Test::seconds("wav2flac", "wav2flac"),
    Test::seconds("wav2ogg", "wav2ogg"),
];

/// Processors and distributions (32 and 64 bits) in the order of the columns.
pub(super) const CPUS: [&str; 2] = ["AMD", "Intel"];
pub(super) const DISTRIBUTIONS: [&str; 2] = ["Zenwalk", "Slamd64"];
pub(super) const FILE_SYSTEMS: [&str; 2] = ["tmpfs", "ext3"];

/// One test on one combination.
pub(super) struct Series {
    pub(super) test: String,
    pub(super) cpu: String,
    pub(super) distribution: String,
    pub(super) filesystem: String,
    pub(super) runs: Runs,
    pub(super) printed_mean_s: f64,
}

impl Series {
    /// Whether the printed mean is of the first and the last run.
    pub(super) fn is_of_first_and_last(&self) -> bool {
        !differs(self.printed_mean_s, self.runs.first_and_last(), 1)
    }
}

/// A row of one of the tables of ratios.
struct PrintedRatios {
    comparison: String,
    context: String,
    /// One a test, in the order of the tests.
    ratios: Vec<Option<f64>>,
}

/// Everything that was published.
pub(super) struct Data {
    pub(super) series: Vec<Series>,
    pub(super) five: Vec<(String, Runs, f64)>,
    ratios: Vec<PrintedRatios>,
}

/// What a ratio is of: for a test, the series above and below the line.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) above: &'a Series,
    pub(super) below: &'a Series,
}

impl Pair<'_> {
    pub(super) fn printed(self) -> f64 {
        self.above.printed_mean_s / self.below.printed_mean_s
    }

    pub(super) fn recomputed(self) -> f64 {
        self.above.runs.mean() / self.below.runs.mean()
    }

    /// The ratio of true means, and what it may be whatever the repeats and the clock did.
    pub(super) fn bounds(self) -> Interval {
        self.above.runs.bounds().over(self.below.runs.bounds())
    }

    /// `30-31 against 29-33 s`.
    pub(super) fn ranges(self) -> String {
        format!("{} against {} s", self.above.runs.range(), self.below.runs.range())
    }
}

impl Data {
    pub(super) fn read() -> Result<(Vec<String>, Self), BadReference> {
        let (mut comments, rows) = read(ALL_DATA, ALL_HEADER)?;
        let series = rows.iter().map(series).collect::<Result<_, _>>()?;
        let (more, rows) = read(FIVE_DATA, FIVE_HEADER)?;
        comments.extend(more);
        let five = |row: &Row| Ok((row.text(0), Runs(row.numbers(1, 6)?), row.number(6)?));
        let five = rows.iter().map(five).collect::<Result<_, _>>()?;
        let (more, rows) = read(RATIO_DATA, RATIO_HEADER)?;
        comments.extend(more);
        let ratios = |row: &Row| {
            let ratios = (2..2 + TESTS.len()).map(|at| row.maybe(at)).collect::<Result<_, _>>()?;
            Ok(PrintedRatios { comparison: row.text(0), context: row.text(1), ratios })
        };
        let ratios = rows.iter().map(ratios).collect::<Result<_, _>>()?;
        Ok((comments, Self { series, five, ratios }))
    }

    pub(super) fn find(
        &self,
        test: &str,
        cpu: &str,
        distribution: &str,
        filesystem: &str,
    ) -> Option<&Series> {
        self.series.iter().find(|s| {
            s.test == test
                && s.cpu == cpu
                && s.distribution == distribution
                && s.filesystem == filesystem
        })
    }

    /// The series of a test on two combinations of processor, distribution and file system.
    fn pair(&self, test: &str, above: [&str; 3], below: [&str; 3]) -> Option<Pair<'_>> {
        let series = |[cpu, distribution, fs]: [&str; 3]| self.find(test, cpu, distribution, fs);
        Some(Pair { above: series(above)?, below: series(below)? })
    }

    /// 64 bits over 32 bits.
    pub(super) fn bits(&self, test: &str, cpu: &str, filesystem: &str) -> Option<Pair<'_>> {
        self.pair(test, [cpu, "Slamd64", filesystem], [cpu, "Zenwalk", filesystem])
    }

    /// Intel over AMD in memory.
    pub(super) fn vendor(&self, test: &str, distribution: &str) -> Option<Pair<'_>> {
        self.pair(test, ["Intel", distribution, "tmpfs"], ["AMD", distribution, "tmpfs"])
    }

    /// Memory over disk.
    pub(super) fn place(&self, test: &str, cpu: &str, distribution: &str) -> Option<Pair<'_>> {
        self.pair(test, [cpu, distribution, "tmpfs"], [cpu, distribution, "ext3"])
    }

    pub(super) fn printed_ratio(
        &self,
        comparison: &str,
        context: &str,
        test: usize,
    ) -> Option<f64> {
        let of =
            |row: &&PrintedRatios| row.comparison.starts_with(comparison) && row.context == context;
        *self.ratios.iter().find(of)?.ratios.get(test)?
    }

    /// Every printed ratio with the pair that it is of.
    pub(super) fn all_ratios<'a>(&'a self) -> Vec<(f64, Pair<'a>)> {
        let mut found = Vec::new();
        for (at, test) in TESTS.iter().enumerate() {
            let mut push = |comparison: &str, context: &str, pair: Option<Pair<'a>>| {
                let printed = self.printed_ratio(comparison, context, at);
                found.extend(printed.zip(pair));
            };
            for cpu in CPUS {
                push("bits", cpu, self.bits(test.name, cpu, "tmpfs"));
                for distribution in DISTRIBUTIONS {
                    let context = format!("{cpu} {distribution}");
                    push("place", &context, self.place(test.name, cpu, distribution));
                }
            }
            for distribution in DISTRIBUTIONS {
                push("vendor", distribution, self.vendor(test.name, distribution));
            }
        }
        found
    }
}

fn series(row: &Row) -> Result<Series, BadReference> {
    Ok(Series {
        test: row.text(0),
        cpu: row.text(1),
        distribution: row.text(2),
        filesystem: row.text(4),
        runs: Runs(row.numbers(5, 8)?),
        printed_mean_s: row.number(8)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_mean_is_of_the_first_and_the_last_run() {
        let (_, data) = Data::read().unwrap();
        assert_eq!((data.series.len(), data.five.len()), (36, 3));
        for series in &data.series {
            assert_eq!(series.runs.first_and_last(), series.printed_mean_s, "{}", series.test);
        }
        for (test, runs, printed_s) in &data.five {
            assert_eq!(runs.first_and_last(), *printed_s, "{test}");
        }
    }

    #[test]
    fn twenty_seven_of_them_are_not_the_means_of_all_runs() {
        let (_, data) = Data::read().unwrap();
        let differing = data.series.iter().filter(|s| differs(s.printed_mean_s, s.runs.mean(), 1));
        assert_eq!(differing.count(), 27);
        let means: Vec<String> =
            data.five.iter().map(|(_, runs, _)| format!("{:.1}", runs.mean())).collect();
        assert_eq!(means, ["14.6", "52.6", "9.0"]);
    }

    #[test]
    fn every_printed_ratio_is_of_printed_means() {
        let (_, data) = Data::read().unwrap();
        let ratios = data.all_ratios();
        assert_eq!(ratios.len(), 35);
        for (printed, pair) in ratios {
            assert!(!differs(printed, pair.printed(), 2), "{printed} {}", pair.printed());
        }
    }
}
