//! What a rank on another host may say of time: it reports by its own clock, and no more can have
//! passed there between the word to go and its result than passed here. Pure.
//!
//! A report that says more is not believed at all: a trial with a length that did not pass is no
//! trial. Guests in virtual time are no ranks and have a time base of their own.

use fsarena_model::rank::ClockOffset;
use fsarena_model::spec::RankHost;
use fsarena_model::units::Nanos;
use fsarena_model::work::WorkerReport;
use std::time::Duration;

/// Of a time that passed here, one part in so many may be more by another clock. Clocks that are
/// set over a network are slewed by one part in 2,000 at most (adjtimex(2)).
const RATE_PART: u64 = 100;
/// What may be more in any case: a tick of the slowest kernel clock.
const TICK_NS: u64 = 10_000_000;

/// A host may take so many times as long for one piece of work as was expected of the whole trial:
/// what is expected of a machine that nothing is known of may be wrong by ten.
const EXPECTED_TIMES: u64 = 50;
/// It may take so long in any case.
const LEAST_WORK_NS: u64 = 1_800_000_000_000;
/// How long it may take for an answer that needs no work.
const ANSWER: Duration = Duration::from_secs(300);

/// How long a host may be at one piece of work of a trial that is expected to take `expected_ns`.
#[must_use]
pub fn work_limit_ns(expected_ns: u64) -> u64 {
    expected_ns.saturating_mul(EXPECTED_TIMES).max(LEAST_WORK_NS)
}

/// How long a host is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AnswerLimits {
    /// Where its answer needs no work.
    pub(crate) answer: Duration,
    /// Until a piece of work is done.
    pub(crate) work: Duration,
}

impl AnswerLimits {
    pub(crate) fn of_host(host: &RankHost) -> Self {
        let work = Duration::from_nanos(host.work_limit_ns);
        Self { answer: ANSWER.min(work), work }
    }
}

/// By how much more than `span_ns`, which passed here, a host may say.
fn margin_ns(span_ns: u64) -> u64 {
    (span_ns / RATE_PART).saturating_add(TICK_NS)
}

/// What a host says that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HostTimeError {
    /// Something took longer than there was time.
    #[error(
        "it reports {} for {what}, and by the clock of this host {} passed between the start of \
         the phase and its result", Nanos(*reported_ns), Nanos(*span_ns)
    )]
    Longer { what: &'static str, reported_ns: u64, span_ns: u64 },
    /// It is there, and says nothing.
    #[error(
        "it did not say {awaited} within {}, and its connection is still there",
        Nanos(limit.as_nanos().try_into().unwrap_or(u64::MAX))
    )]
    Silent { awaited: &'static str, limit: Duration },
    /// It was at another time.
    #[error(
        "by its clock the phase lies {} outside of the {} that passed here between the start of \
         the phase and its result", Nanos(*outside_ns), Nanos(*span_ns)
    )]
    Outside { outside_ns: u64, span_ns: u64 },
    /// Its clock has another rate, or was set.
    #[error(
        "its clock moved by {} against the clock of this host, within {}", Nanos(*moved_ns),
        Nanos(*span_ns)
    )]
    Moved { moved_ns: u64, span_ns: u64 },
}

impl HostTimeError {
    /// What to do about it.
    pub(crate) const fn remedy(&self) -> &'static str {
        match self {
            Self::Silent { .. } => {
                "see what the host is at (a mount or a disk that hangs), or leave it out (--hosts)"
            }
            _ => "leave the host out (--hosts), or repair its clock (clock source, time namespace)",
        }
    }
}

/// The clock of this host when a rank was let go, and when its result was heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct RunnerSpan {
    pub(crate) went_ns: u64,
    pub(crate) heard_ns: u64,
}

impl RunnerSpan {
    /// Whether all that `report` says of time fits; `clock` is that of the rank's host.
    ///
    /// # Errors
    /// With the first that does not.
    pub(crate) fn check(
        self,
        clock: ClockOffset,
        report: &WorkerReport,
    ) -> Result<(), HostTimeError> {
        let span_ns = self.heard_ns.saturating_sub(self.went_ns);
        let margin_ns = margin_ns(span_ns);
        let end_ns = report.returned_monotonic_ns.max(report.durable_monotonic_ns.unwrap_or(0));
        let threads = report.threads.iter().map(|thread| thread.done_ns.max(thread.started_ns));
        let ops = [&report.latency, &report.write_latency].into_iter().flatten();
        let lengths = [
            ("the phase", end_ns.saturating_sub(report.start_monotonic_ns)),
            ("a thread", threads.max().unwrap_or(0)),
            ("one op", ops.map(|latency| latency.max_ns).max().unwrap_or(0)),
        ];
        for (what, reported_ns) in lengths {
            if reported_ns > span_ns.saturating_add(margin_ns) {
                return Err(HostTimeError::Longer { what, reported_ns, span_ns });
            }
        }
        let began_ns = clock.to_runner_ns(report.start_monotonic_ns);
        let ended_ns = clock.to_runner_ns(end_ns);
        let early_ns = self.went_ns.saturating_sub(began_ns);
        let outside_ns = early_ns.max(ended_ns.saturating_sub(self.heard_ns));
        if outside_ns > margin_ns.saturating_add(clock.error_ns) {
            return Err(HostTimeError::Outside { outside_ns, span_ns });
        }
        Ok(())
    }
}

/// Whether a clock that was `before` and is `after`, `span_ns` later, goes as clocks go.
///
/// # Errors
/// When it moved by more.
pub(crate) fn check_rate(
    before: ClockOffset,
    after: ClockOffset,
    span_ns: u64,
) -> Result<(), HostTimeError> {
    let moved_ns = before.offset_ns.abs_diff(after.offset_ns);
    let unsure_ns = before.error_ns.saturating_add(after.error_ns);
    if moved_ns > margin_ns(span_ns).saturating_add(unsure_ns) {
        return Err(HostTimeError::Moved { moved_ns, span_ns });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::sample::LatencyHistogram;
    use fsarena_model::work::ThreadReport;

    const SECOND_NS: u64 = 1_000_000_000;
    /// The clock of the host is a day ahead, ±1 ms.
    const AHEAD_NS: u64 = 86_400 * SECOND_NS;
    const CLOCK: ClockOffset = ClockOffset { offset_ns: -(AHEAD_NS as i64), error_ns: 1_000_000 };
    const SPAN: RunnerSpan = RunnerSpan { went_ns: 50 * SECOND_NS, heard_ns: 51 * SECOND_NS };

    fn report(began_ns: u64, length_ns: u64) -> WorkerReport {
        WorkerReport {
            start_monotonic_ns: AHEAD_NS + began_ns,
            returned_monotonic_ns: AHEAD_NS + began_ns + length_ns / 2,
            durable_monotonic_ns: Some(AHEAD_NS + began_ns + length_ns),
            ..WorkerReport::default()
        }
    }

    #[test]
    fn a_host_may_take_many_times_what_was_expected() {
        assert_eq!(work_limit_ns(0), 1800 * SECOND_NS);
        assert_eq!(work_limit_ns(3600 * SECOND_NS), 50 * 3600 * SECOND_NS);
        assert_eq!(work_limit_ns(u64::MAX), u64::MAX);
        let limits = |work_limit_ns| {
            let host = RankHost { name: "b".into(), argv: vec![], work_limit_ns, agent: None };
            AnswerLimits::of_host(&host)
        };
        assert_eq!(limits(u64::MAX).answer, Duration::from_secs(300));
        assert_eq!(limits(SECOND_NS).answer, Duration::from_secs(1));
        let silent = HostTimeError::Silent { awaited: "x", limit: Duration::from_secs(90) };
        assert!(silent.to_string().starts_with("it did not say x within 90"), "{silent}");
        assert!(silent.remedy().contains("--hosts"));
    }

    #[test]
    fn what_passed_here_bounds_what_a_host_may_say() {
        let check = |length_ns| SPAN.check(CLOCK, &report(SPAN.went_ns, length_ns));
        assert_eq!(check(SECOND_NS), Ok(()));
        assert_eq!(check(SECOND_NS + 20_000_000), Ok(()), "its clock is faster by a hundredth");
        let text = check(3_120 * SECOND_NS).unwrap_err().to_string();
        let expected = "it reports 52m00s for the phase, and by the clock of this host 1.00 s passed \
                        between the start of the phase and its result";
        assert_eq!(text, expected);
        let mut by_threads = report(SPAN.went_ns, SECOND_NS);
        let thread = ThreadReport { started_ns: 0, done_ns: 9 * SECOND_NS, ops: 1, asked_bytes: 1 };
        by_threads.threads.push(thread);
        let longer = |what, reported_ns| {
            Err(HostTimeError::Longer { what, reported_ns, span_ns: SECOND_NS })
        };
        assert_eq!(SPAN.check(CLOCK, &by_threads), longer("a thread", 9 * SECOND_NS));
        let mut by_ops = report(SPAN.went_ns, SECOND_NS);
        by_ops.write_latency = Some(LatencyHistogram {
            precision_bits: 7,
            buckets: vec![],
            min_ns: 1,
            max_ns: 2 * SECOND_NS,
            sum_ns: 1,
        });
        assert_eq!(SPAN.check(CLOCK, &by_ops), longer("one op", 2 * SECOND_NS));
    }

    #[test]
    fn a_phase_of_the_right_length_at_another_time_is_none() {
        let outside = |began_ns| SPAN.check(CLOCK, &report(began_ns, SECOND_NS / 2));
        let error = |outside_ns| Err(HostTimeError::Outside { outside_ns, span_ns: SECOND_NS });
        assert_eq!(outside(20 * SECOND_NS), error(30 * SECOND_NS));
        assert_eq!(outside(70 * SECOND_NS), error(19 * SECOND_NS + SECOND_NS / 2));
        assert_eq!(outside(SPAN.went_ns - 5_000_000), Ok(()), "within its error and a tick");
    }

    #[test]
    fn a_clock_that_jumps_is_not_believed() {
        let after = |moved_ns| ClockOffset { offset_ns: CLOCK.offset_ns + moved_ns, ..CLOCK };
        assert_eq!(check_rate(CLOCK, after(5_000_000), SECOND_NS), Ok(()));
        let jumped = check_rate(CLOCK, after(-(SECOND_NS as i64)), SECOND_NS);
        assert_eq!(jumped, Err(HostTimeError::Moved { moved_ns: SECOND_NS, span_ns: SECOND_NS }));
    }
}
