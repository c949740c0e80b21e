//! Faults: errors of the medium, slow and stuck requests, torn writes, and a power cut; by place,
//! kind of request, time, count and probability. All of it is decided by the history and a seed.

use crate::finished::{Finished, earlier};
use crate::request::{ALL_TAGS, Completion, DeviceModel, Op, Outcome, Request};
use crate::splitmix::mixed;
use std::ops::Range;

/// What goes wrong, and with which requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    /// Of these kinds; empty: of all.
    pub ops: Vec<Op>,
    /// That touch these sectors; `None`: any, flushes too.
    pub sectors: Option<Range<u64>>,
    /// That are submitted in this span.
    pub span_ns: Range<u64>,
    /// Of those that fit, the first so many pass unharmed.
    pub after: u64,
    /// It happens so often at most.
    pub times: u64,
    /// Of a million requests that fit, so many are struck.
    pub per_million: u32,
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The request ends with an error, and nothing was read or written.
    MediumError,
    /// It takes so much longer.
    Slow { by_ns: u64 },
    /// It never ends.
    Stuck,
    /// Of a write only the first half of its sectors, rounded down, is on the medium, and it says
    /// that it is done.
    Torn,
    /// From this request on nothing ends any more.
    PowerCut,
}

impl Fault {
    /// Strikes every request; narrow it down by its fields.
    #[must_use]
    pub fn every(kind: FaultKind) -> Self {
        Self {
            kind,
            ops: Vec::new(),
            sectors: None,
            span_ns: 0..u64::MAX,
            after: 0,
            times: u64::MAX,
            per_million: 1_000_000,
        }
    }

    fn fits(&self, now_ns: u64, request: &Request) -> bool {
        let op = self.ops.is_empty() || self.ops.contains(&request.op);
        let place = self.sectors.as_ref().is_none_or(|sectors| {
            request.op != Op::Flush && sectors.start < request.end() && request.sector < sectors.end
        });
        op && place && self.span_ns.contains(&now_ns)
    }
}

/// A request that a fault has struck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strike {
    pub kind: FaultKind,
    /// When the request was submitted.
    pub at_ns: u64,
    pub op: Op,
    /// Of the whole request; 0 and 0 for a flush.
    pub sector: u64,
    pub sectors: u32,
}

/// So many strikes are kept, the first ones.
pub const STRIKES_MOST: usize = 256;

/// Faults over a device.
#[derive(Clone, Debug)]
pub struct Faults<M> {
    below: M,
    faults: Vec<Armed>,
    strikes: Vec<Strike>,
    struck: u64,
    seed: u64,
    /// What becomes of an outstanding request, by tag.
    fates: Vec<Fate>,
    power_cut_ns: Option<u64>,
    finished: Finished,
}

#[derive(Clone, Debug)]
struct Armed {
    fault: Fault,
    fitted: u64,
    struck: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Unharmed,
    Slow { by_ns: u64 },
    Torn { sectors: u32 },
}

impl<M: DeviceModel> Faults<M> {
    /// The first fault that strikes a request is the one that happens.
    #[must_use]
    pub fn new(below: M, faults: Vec<Fault>, seed: u64) -> Self {
        let armed = |fault| Armed { fault, fitted: 0, struck: 0 };
        Self {
            below,
            faults: faults.into_iter().map(armed).collect(),
            strikes: Vec::new(),
            struck: 0,
            seed,
            fates: vec![Fate::Unharmed; ALL_TAGS],
            power_cut_ns: None,
            finished: Finished::new(),
        }
    }

    /// When the power went, where it did.
    #[must_use]
    pub fn power_cut_ns(&self) -> Option<u64> {
        self.power_cut_ns
    }

    /// The first requests that were struck, at most [`STRIKES_MOST`], in their order.
    #[must_use]
    pub fn strikes(&self) -> &[Strike] {
        &self.strikes
    }

    /// How many were struck.
    #[must_use]
    pub fn struck(&self) -> u64 {
        self.struck
    }

    /// What strikes a request; it is noted.
    fn strike(&mut self, now_ns: u64, request: &Request) -> Option<FaultKind> {
        let kind = self.strikes_with(now_ns, request)?;
        self.struck += 1;
        if self.strikes.len() < STRIKES_MOST {
            let Request { op, sector, sectors, .. } = *request;
            self.strikes.push(Strike { kind, at_ns: now_ns, op, sector, sectors });
        }
        Some(kind)
    }

    fn strikes_with(&mut self, now_ns: u64, request: &Request) -> Option<FaultKind> {
        let seed = self.seed;
        for (number, armed) in self.faults.iter_mut().enumerate() {
            if !armed.fault.fits(now_ns, request) {
                continue;
            }
            armed.fitted += 1;
            let drawn = mixed(seed ^ mixed(number as u64) ^ armed.fitted) % 1_000_000;
            let is_struck = armed.fitted > armed.fault.after
                && armed.struck < armed.fault.times
                && drawn < u64::from(armed.fault.per_million);
            if is_struck {
                armed.struck += 1;
                return Some(armed.fault.kind);
            }
        }
        None
    }

    /// Takes what is due below.
    fn advance(&mut self, now_ns: u64) {
        while let Some(done) = self.below.poll(now_ns) {
            let (mut at_ns, mut outcome) = (done.at_ns, done.outcome);
            match std::mem::replace(&mut self.fates[usize::from(done.tag)], Fate::Unharmed) {
                Fate::Slow { by_ns } => at_ns += by_ns,
                Fate::Torn { sectors } if outcome == Outcome::Done => {
                    outcome = Outcome::Torn { sectors };
                }
                Fate::Torn { .. } | Fate::Unharmed => {}
            }
            self.finished.add_with(done.tag, at_ns, outcome);
        }
    }
}

impl<M: DeviceModel> DeviceModel for Faults<M> {
    fn submit(&mut self, now_ns: u64, request: Request) {
        self.advance(now_ns);
        if self.power_cut_ns.is_some() {
            return;
        }
        let fate = match self.strike(now_ns, &request) {
            None => Fate::Unharmed,
            Some(FaultKind::Slow { by_ns }) => Fate::Slow { by_ns },
            Some(FaultKind::Torn) if request.op == Op::Write => {
                Fate::Torn { sectors: request.sectors / 2 }
            }
            Some(FaultKind::Torn) => Fate::Unharmed,
            Some(FaultKind::Stuck) => return,
            Some(FaultKind::MediumError) => {
                // As long as the device takes for nothing at all: the error itself is what counts.
                self.finished.add_with(request.tag, now_ns, Outcome::MediumError);
                return;
            }
            Some(FaultKind::PowerCut) => {
                self.power_cut_ns = Some(now_ns);
                return;
            }
        };
        self.fates[usize::from(request.tag)] = fate;
        self.below.submit(now_ns, request);
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        let until_ns = self.power_cut_ns.map_or(now_ns, |cut_ns| cut_ns.min(now_ns));
        self.advance(until_ns);
        self.finished.take(until_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        let next_ns = earlier(self.finished.next_ns(), self.below.next_event_ns())?;
        self.power_cut_ns.is_none_or(|cut_ns| next_ns <= cut_ns).then_some(next_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::Constant;
    use crate::sheet::ConstantSheet;

    fn faulty(faults: Vec<Fault>) -> Faults<Constant> {
        let disk = ConstantSheet {
            read_ns: 1000,
            write_ns: 1000,
            flush_ns: 1000,
            discard_ns: 1000,
            bytes_per_s: 1 << 40,
            servers: 64,
        };
        Faults::new(Constant::new(&disk), faults, 7)
    }

    fn outcomes(device: &mut Faults<Constant>) -> Vec<(u16, u64, Outcome)> {
        let mut all = Vec::new();
        while let Some(next_ns) = device.next_event_ns() {
            let due = std::iter::from_fn(|| device.poll(next_ns));
            all.extend(due.map(|one| (one.tag, one.at_ns, one.outcome)));
        }
        all
    }

    #[test]
    fn an_error_has_its_place_its_kind_and_its_count() {
        let fault = Fault {
            ops: vec![Op::Read],
            sectors: Some(100..200),
            after: 1,
            times: 1,
            ..Fault::every(FaultKind::MediumError)
        };
        let mut device = faulty(vec![fault]);
        let places = [150, 150, 150, 96, 92];
        for (tag, sector) in (0..).zip(places) {
            device.submit(0, Request::read(tag, sector, 8));
        }
        device.submit(0, Request::write(9, 150, 8));
        device.submit(0, Request::flush(10));
        let errors: Vec<u16> = outcomes(&mut device)
            .iter()
            .filter(|one| one.2 == Outcome::MediumError)
            .map(|one| one.0)
            .collect();
        assert_eq!(errors, [1], "the first passes, the second is struck, and no other");
        let (kind, op) = (FaultKind::MediumError, Op::Read);
        let noted = Strike { kind, at_ns: 0, op, sector: 150, sectors: 8 };
        assert_eq!((device.struck(), device.strikes()), (1, &[noted][..]));
    }

    #[test]
    fn requests_are_slow_torn_or_stuck() {
        let of_tag =
            |sector, kind| Fault { sectors: Some(sector..sector + 1), ..Fault::every(kind) };
        let mut device = faulty(vec![
            of_tag(0, FaultKind::Slow { by_ns: 5_000_000 }),
            of_tag(8, FaultKind::Torn),
            of_tag(16, FaultKind::Stuck),
        ]);
        for tag in 0..4 {
            device.submit(0, Request::write(tag, u64::from(tag) * 8, 8));
        }
        let done = outcomes(&mut device);
        assert_eq!(done.len(), 3, "one is stuck");
        assert_eq!(done[0].2, Outcome::Torn { sectors: 4 });
        assert_eq!((done[1].0, done[1].2), (3, Outcome::Done));
        assert_eq!((done[2].0, done[2].1 > 5_000_000), (0, true));
    }

    #[test]
    fn after_a_power_cut_nothing_ends() {
        let cut = Fault { after: 2, ..Fault::every(FaultKind::PowerCut) };
        let mut device = faulty(vec![cut]);
        device.submit(0, Request::write(0, 0, 8));
        device.submit(5000, Request::write(1, 8, 8));
        device.submit(5500, Request::write(2, 16, 8));
        device.submit(9000, Request::write(3, 24, 8));
        assert_eq!(device.power_cut_ns(), Some(5500));
        assert_eq!(outcomes(&mut device).iter().map(|one| one.0).collect::<Vec<_>>(), [0]);
        assert_eq!((device.poll(u64::MAX), device.next_event_ns()), (None, None));
    }

    #[test]
    fn the_seed_decides_which_requests_are_struck() {
        let struck = |seed| {
            let fault = Fault { per_million: 200_000, ..Fault::every(FaultKind::MediumError) };
            let mut device = faulty(vec![fault]);
            device.seed = seed;
            let mut errors = Vec::new();
            for number in 0..1000 {
                device.submit(number * 10_000, Request::read(0, 0, 8));
                let done = device.poll((number + 1) * 10_000).unwrap();
                errors.extend((done.outcome != Outcome::Done).then_some(number));
            }
            errors
        };
        let one = struck(1);
        assert_eq!(one, struck(1));
        assert_ne!(one, struck(2));
        assert!((150..250).contains(&one.len()), "{}", one.len());
    }
}
