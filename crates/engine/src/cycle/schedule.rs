//! When each cycle starts: decided here, without clock and threads.
//!
//! Starts are due at absolute times, one period after the other from the first, however long the
//! work takes; so nothing adds up.

use fsarena_model::cycle::Overrun;

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// This cycle begins.
    Begin(u32),
    /// This start is skipped.
    Skip(u32),
    /// Nothing until a cycle ends, or until this time, ns.
    Wait(Option<u64>),
    /// The phase is over.
    End,
}

/// The starts of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleSchedule {
    pub overrun: Overrun,
    pub period_ns: u64,
    /// Number of the last start.
    pub cycles: u32,
    /// The first start.
    pub start_ns: u64,
    /// Number of the next start.
    pub next: u32,
}

impl CycleSchedule {
    /// When start `number` is due; one after the last is the end of the last period.
    pub fn due_ns(&self, number: u32) -> u64 {
        let periods = u64::from(number.saturating_sub(1));
        self.start_ns.saturating_add(periods.saturating_mul(self.period_ns))
    }

    /// No more starts, and the end as soon as nothing runs.
    pub fn stop(&mut self) {
        (self.cycles, self.period_ns) = (self.next - 1, 0);
    }

    /// What to do at `now_ns` with `running` cycles under way.
    pub fn step(&mut self, now_ns: u64, running: u32) -> Step {
        let due_ns = self.due_ns(self.next);
        if now_ns < due_ns {
            return Step::Wait(Some(due_ns));
        }
        if self.next > self.cycles {
            return if running == 0 { Step::End } else { Step::Wait(None) };
        }
        let most = self.overrun.most_at_work();
        let number = self.next;
        if running < most {
            self.next += 1;
            Step::Begin(number)
        } else if self.overrun == Overrun::Skip {
            self.next += 1;
            Step::Skip(number)
        } else {
            Step::Wait(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets cycles work `work_ns` each; for each start: number, when (`None`: left out).
    fn starts(overrun: Overrun, cycles: u32, work_ns: u64) -> (Vec<(u32, Option<u64>)>, u64) {
        let mut schedule =
            CycleSchedule { overrun, period_ns: 100, cycles, start_ns: 1000, next: 1 };
        let (mut now_ns, mut ends, mut starts) = (1000, vec![], vec![]);
        loop {
            ends.retain(|&end_ns| end_ns > now_ns);
            match schedule.step(now_ns, ends.len() as u32) {
                Step::Begin(number) => {
                    starts.push((number, Some(now_ns - 1000)));
                    ends.push(now_ns + work_ns);
                }
                Step::Skip(number) => starts.push((number, None)),
                Step::Wait(until_ns) => {
                    now_ns = ends.iter().copied().chain(until_ns).min().unwrap();
                }
                Step::End => return (starts, now_ns - 1000),
            }
        }
    }

    fn on_time(cycles: u32) -> Vec<(u32, Option<u64>)> {
        (1..=cycles).map(|number| (number, Some(u64::from(number - 1) * 100))).collect()
    }

    #[test]
    fn work_that_fits_starts_on_time_and_the_last_period_is_whole() {
        for overrun in Overrun::ALL {
            assert_eq!(starts(overrun, 5, 99), (on_time(5), 500), "{overrun:?}");
            assert_eq!(starts(overrun, 1, 250).1, 250, "to its end where that is later");
        }
    }

    #[test]
    fn overlap_starts_on_time_up_to_its_limit() {
        assert_eq!(starts(Overrun::Overlap, 6, 250), (on_time(6), 750));
        let (late, _) = starts(Overrun::Overlap, 12, 1050);
        assert_eq!(late[..8], on_time(8));
        assert_eq!(
            late[8..],
            [(9, Some(1050)), (10, Some(1150)), (11, Some(1250)), (12, Some(1350))]
        );
    }

    #[test]
    fn skip_leaves_out_what_comes_while_one_is_at_work() {
        let (seen, end_ns) = starts(Overrun::Skip, 5, 150);
        let wanted = [(1, Some(0)), (2, None), (3, Some(200)), (4, None), (5, Some(400))];
        assert_eq!((&seen[..], end_ns), (&wanted[..], 550));
        let (seen, end_ns) = starts(Overrun::Skip, 4, 120);
        assert_eq!(seen, [(1, Some(0)), (2, None), (3, Some(200)), (4, None)]);
        assert_eq!(end_ns, 400, "periods of starts left out are waited for");
    }

    #[test]
    fn queue_starts_when_the_one_before_has_ended() {
        let (seen, end_ns) = starts(Overrun::Queue, 4, 150);
        assert_eq!(seen, [(1, Some(0)), (2, Some(150)), (3, Some(300)), (4, Some(450))]);
        assert_eq!(end_ns, 600);
    }
}
