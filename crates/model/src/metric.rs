//! What is compared: one row of [`METRICS`] a metric, with its unit and the words in which it is
//! spoken of. Of each, less is better. Its value of a phase is in `score`.

use crate::JsonSchema;
use crate::clock::Clock;
use crate::free::FreeQuantity;
use serde::{Deserialize, Serialize};

/// What is compared; of each, less is better.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Length of the phase by the question's clock.
    #[default]
    Time,
    /// Busy time of all processors up to `durable`.
    Cpu,
    /// Bytes that the device wrote, up to the next unmount; of cycles over their periods.
    Written,
    /// The latency that 99 % of the ops stay below.
    P99,
    /// Length of the phase by the question's clock ÷ its ops: where a stonewall decides how many
    /// ops there are.
    PerOp,
    /// Length of the phase by the question's clock ÷ the MiB that it moved: where the time is set
    /// and bytes are counted, or a program reports bytes per time alone.
    PerMib,
    /// Time on a processor of the worker and the programs it starts, up to `durable`: what others
    /// did is not in it.
    TaskClock,
    /// Context switches ÷ ops: how often the worker and the programs it starts waited or were made
    /// to wait.
    ContextSwitches,
}

names!(Metric.name {
    Time = "time", Cpu = "cpu", Written = "written", P99 = "p99", PerOp = "per-op",
    PerMib = "per-mib", TaskClock = "task-clock",
    ContextSwitches = "context-switches",
});

/// The base unit of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricUnit {
    Ns,
    Bytes,
    /// A number of what the metric counts.
    Count,
}

impl MetricUnit {
    /// As keys of documents end: `ns`.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Bytes => "bytes",
            Self::Count => "count",
        }
    }
}

/// Which phases have a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricKind {
    /// How long the work takes: the phases that leave that free.
    Length,
    /// What the work needs in all: the phases whose work is the same in every trial.
    Sum,
    /// How long an op waits: the phases whose latencies are kept.
    Latency,
}

/// The clock that a metric goes up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricClock {
    /// That of the question.
    Asked,
    Always(Clock),
}

/// A metric in a title, by the clock of the question and by whether the phase changes something:
/// what only reads has nothing to make safe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FigureWords {
    /// Of a phase that changes something, up to `returned` and up to `durable`.
    pub returned: &'static str,
    pub durable: &'static str,
    pub drained: &'static str,
    /// Of a phase that only reads, up to `returned` or `durable`.
    pub plain: &'static str,
}

impl FigureWords {
    const fn same(words: &'static str) -> Self {
        Self { returned: words, durable: words, drained: words, plain: words }
    }

    /// The words of a phase.
    #[must_use]
    pub fn words(&self, clock: Clock, changes: bool) -> &'static str {
        match clock {
            Clock::Drained => self.drained,
            Clock::Durable if changes => self.durable,
            Clock::Returned if changes => self.returned,
            Clock::Durable | Clock::Returned => self.plain,
        }
    }
}

/// What is said of a metric in English.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetricWords {
    pub figure: FigureWords,
    /// `processor time`.
    pub noun: &'static str,
    /// `less processor time`, `more processor time`, `the processor time`.
    pub less: &'static str,
    pub more: &'static str,
    pub amount: &'static str,
    /// Before and behind a number of times: `needs ` 1.2 times `the processor time of`.
    pub verb: &'static str,
    pub than: &'static str,
    /// Behind a number of times where the other one alone follows: `the processor time of`.
    pub of: &'static str,
    /// Before and behind the number of times of a FASTER: `needs less processor time, ` 0.8 times
    /// `as much`.
    pub faster: (&'static str, &'static str),
    /// Likewise of a SLOWER.
    pub slower: (&'static str, &'static str),
    /// Of the first stretch of a ranking and of those behind it, who is below and who is above:
    /// `less busy with processors`, `more`; `less`, `more busy with processors`.
    pub first: (&'static str, &'static str),
    pub later: (&'static str, &'static str),
}

/// A metric.
pub struct MetricRow {
    pub metric: Metric,
    pub unit: MetricUnit,
    pub kind: MetricKind,
    pub clock: MetricClock,
    /// The smallest step in which it can be read where it has this value, in its base unit: no
    /// spread smaller than that is believed.
    pub step: fn(f64) -> f64,
    pub words: MetricWords,
    pub russian: FigureWords,
}

/// Every metric, in the order of [`Metric`].
pub static METRICS: [MetricRow; 8] = [
    MetricRow {
        metric: Metric::Time,
        unit: MetricUnit::Ns,
        kind: MetricKind::Length,
        clock: MetricClock::Asked,
        // A clock is read on both sides of a call.
        step: |_| 100.0,
        words: MetricWords {
            figure: FigureWords {
                returned: "time until the calls returned",
                durable: "time until safe on disk",
                drained: "time until the disk is at rest",
                plain: "time",
            },
            noun: "time",
            less: "less time",
            more: "more time",
            amount: "the time",
            verb: "takes ",
            than: "as long as",
            of: "the time of",
            faster: ("", "as fast"),
            slower: ("takes ", "as long"),
            first: ("faster", "slower"),
            later: ("faster", "slower"),
        },
        russian: FigureWords {
            returned: "время до возврата из вызовов",
            durable: "время до сохранности на диске",
            drained: "время до покоя диска",
            plain: "время",
        },
    },
    MetricRow {
        metric: Metric::Cpu,
        unit: MetricUnit::Ns,
        kind: MetricKind::Sum,
        clock: MetricClock::Always(Clock::Durable),
        // One tick of /proc/stat.
        step: |_| 10_000_000.0,
        words: MetricWords {
            figure: FigureWords::same("processor time"),
            noun: "processor time",
            less: "less processor time",
            more: "more processor time",
            amount: "the processor time",
            verb: "needs ",
            than: "the processor time of",
            of: "the processor time of",
            faster: ("needs less processor time, ", "as much"),
            slower: ("needs more processor time, ", "as much"),
            first: ("less busy with processors", "more"),
            later: ("less", "more busy with processors"),
        },
        russian: FigureWords::same("процессорное время"),
    },
    MetricRow {
        metric: Metric::Written,
        unit: MetricUnit::Bytes,
        kind: MetricKind::Sum,
        clock: MetricClock::Always(Clock::Drained),
        // A sector.
        step: |_| 512.0,
        words: MetricWords {
            figure: FigureWords::same("bytes written to disk"),
            noun: "bytes written",
            less: "fewer bytes",
            more: "more bytes",
            amount: "the bytes",
            verb: "writes ",
            than: "as many bytes as",
            of: "the bytes of",
            faster: ("needs less writing, ", "as many bytes"),
            slower: ("needs more writing, ", "as many bytes"),
            first: ("writing less", "more"),
            later: ("less", "writing more"),
        },
        russian: FigureWords::same("записано на диск"),
    },
    MetricRow {
        metric: Metric::P99,
        unit: MetricUnit::Ns,
        kind: MetricKind::Latency,
        clock: MetricClock::Always(Clock::Returned),
        // A bucket of the histogram is up to 1 ÷ 64 of its lower end wide.
        step: |value| (value / 64.0).max(100.0),
        words: MetricWords {
            figure: FigureWords::same("latency of 99 % of calls"),
            noun: "p99 latency",
            less: "less p99 latency",
            more: "more p99 latency",
            amount: "the p99 latency",
            verb: "has ",
            than: "the p99 latency of",
            of: "the p99 latency of",
            faster: ("needs less for 99 % of its ops, ", "as long"),
            slower: ("needs more for 99 % of its ops, ", "as long"),
            first: ("lower in p99 latency", "higher"),
            later: ("lower", "higher in p99 latency"),
        },
        russian: FigureWords::same("задержка 99 % вызовов"),
    },
    MetricRow {
        metric: Metric::PerOp,
        unit: MetricUnit::Ns,
        kind: MetricKind::Length,
        clock: MetricClock::Asked,
        // The clock is read once a phase, which a stonewall makes far longer than 100 ms.
        step: |value| value * 1e-6,
        words: MetricWords {
            figure: FigureWords {
                returned: "time of an op",
                durable: "time of an op until safe on disk",
                drained: "time of an op until the disk is at rest",
                plain: "time of an op",
            },
            noun: "time of an op",
            less: "less time for an op",
            more: "more time for an op",
            amount: "the time for an op",
            verb: "takes ",
            than: "as long for an op as",
            of: "the time of an op of",
            faster: ("", "as fast"),
            slower: ("takes ", "as long for an op"),
            first: ("faster per op", "slower"),
            later: ("faster", "slower per op"),
        },
        russian: FigureWords {
            returned: "время операции",
            durable: "время операции до сохранности на диске",
            drained: "время операции до покоя диска",
            plain: "время операции",
        },
    },
    MetricRow {
        metric: Metric::PerMib,
        unit: MetricUnit::Ns,
        kind: MetricKind::Length,
        clock: MetricClock::Asked,
        step: |value| value * 1e-6,
        words: MetricWords {
            figure: FigureWords {
                returned: "time of 1 MiB",
                durable: "time of 1 MiB until safe on disk",
                drained: "time of 1 MiB until the disk is at rest",
                plain: "time of 1 MiB",
            },
            noun: "time of 1 MiB",
            less: "less time for 1 MiB",
            more: "more time for 1 MiB",
            amount: "the time for 1 MiB",
            verb: "takes ",
            than: "as long for a MiB as",
            of: "the time of 1 MiB of",
            faster: ("", "as fast"),
            slower: ("takes ", "as long for a MiB"),
            first: ("faster per MiB", "slower"),
            later: ("faster", "slower per MiB"),
        },
        russian: FigureWords {
            returned: "время 1 МиБ",
            durable: "время 1 МиБ до сохранности на диске",
            drained: "время 1 МиБ до покоя диска",
            plain: "время 1 МиБ",
        },
    },
    MetricRow {
        metric: Metric::TaskClock,
        unit: MetricUnit::Ns,
        kind: MetricKind::Sum,
        clock: MetricClock::Always(Clock::Durable),
        // getrusage(2) has whole microseconds of user and of system time.
        step: |_| 2_000.0,
        words: MetricWords {
            figure: FigureWords::same("task clock"),
            noun: "task clock",
            less: "less task clock",
            more: "more task clock",
            amount: "the task clock",
            verb: "needs ",
            than: "the task clock of",
            of: "the task clock of",
            faster: ("needs less task clock, ", "as much"),
            slower: ("needs more task clock, ", "as much"),
            first: ("lower in task clock", "higher"),
            later: ("lower", "higher in task clock"),
        },
        russian: FigureWords::same("процессорное время самих программ"),
    },
    MetricRow {
        metric: Metric::ContextSwitches,
        unit: MetricUnit::Count,
        kind: MetricKind::Sum,
        // The usage of the worker is read when its calls have returned.
        clock: MetricClock::Always(Clock::Returned),
        // A hundredth, and one switch of a hundred thousand ops.
        step: |value| (value / 100.0).max(1e-5),
        words: MetricWords {
            figure: FigureWords::same("context switches per op"),
            noun: "context switches per op",
            less: "fewer context switches",
            more: "more context switches",
            amount: "the context switches",
            verb: "needs ",
            than: "the context switches of",
            of: "the context switches of",
            faster: ("needs fewer context switches, ", "as many"),
            slower: ("needs more context switches, ", "as many"),
            first: ("lower in context switches", "higher"),
            later: ("lower", "higher in context switches"),
        },
        russian: FigureWords::same("переключений контекста на операцию"),
    },
];

impl Metric {
    /// Its row.
    ///
    /// ```
    /// use fsarena_model::metric::{Metric, MetricUnit};
    ///
    /// assert_eq!(Metric::Written.row().unit, MetricUnit::Bytes);
    /// assert_eq!(Metric::P99.row().words.noun, "p99 latency");
    /// ```
    #[must_use]
    pub fn row(self) -> &'static MetricRow {
        &METRICS[self as usize]
    }

    /// The clock that it goes up to, where lengths go up to `compared`.
    #[must_use]
    pub fn clock(self, compared: Clock) -> Clock {
        match self.row().clock {
            MetricClock::Asked => compared,
            MetricClock::Always(clock) => clock,
        }
    }

    /// Whether it is how long the work of a phase takes.
    #[must_use]
    pub fn is_length(self) -> bool {
        self.row().kind == MetricKind::Length
    }

    /// Whether who has less of it is faster: lengths and latencies.
    #[must_use]
    pub fn is_speed(self) -> bool {
        self.row().kind != MetricKind::Sum
    }

    /// See [`MetricRow::step`].
    #[must_use]
    pub fn step(self, value: f64) -> f64 {
        (self.row().step)(value)
    }
}

impl FreeQuantity {
    /// What is compared where nothing else is asked.
    #[must_use]
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Time => Some(Metric::Time),
            Self::Ops => Some(Metric::PerOp),
            Self::Bytes => Some(Metric::PerMib),
            Self::Latency => Some(Metric::P99),
            Self::Nothing => None,
        }
    }

    /// Whether such a figure of the phase says something of the file system: of lengths the one
    /// that was left free alone.
    #[must_use]
    pub fn allows(self, metric: Metric) -> bool {
        !metric.is_length() || self.metric() == Some(metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_metrics() {
        for (metric, row) in Metric::ALL.iter().zip(&METRICS) {
            assert_eq!(*metric, row.metric);
            assert!(std::ptr::eq(metric.row(), row));
        }
        assert_eq!(Metric::ALL.len(), METRICS.len());
    }
}
