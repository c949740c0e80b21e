//! What every device does with any history: the same history has the same completions, however
//! often it is asked; each request completes once, not before it was submitted.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_vdisk::{
    Completion, DeviceOptions, Fault, FaultKind, Op, Outcome, Request, VirtualDevice,
};
use proptest::prelude::*;

/// Size of the devices of these tests.
const SIZE: u64 = 256 << 20;
const BLOCKS: u64 = SIZE / 4096;

/// A request after some time.
#[derive(Clone, Debug)]
struct Step {
    after_ns: u64,
    op: Op,
    sector: u64,
    sectors: u32,
    fua: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let after = prop_oneof![0_u64..1000, 0_u64..200_000, 0_u64..50_000_000];
    let op = prop_oneof![
        4 => Just(Op::Read),
        6 => Just(Op::Write),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard)
    ];
    let place = prop_oneof![0..BLOCKS - 64, 0..64_u64];
    let step = (after, op, place, 1_u32..64, any::<bool>()).prop_map(
        |(after_ns, op, place, blocks, fua)| Step {
            after_ns,
            op,
            sector: place * 8,
            sectors: blocks * 8,
            fua: fua && op == Op::Write,
        },
    );
    prop::collection::vec(step, 1..150)
}

/// A device, what it has said, and the tags that are free.
struct Driver {
    device: VirtualDevice,
    free: Vec<u16>,
    submitted_ns: Vec<Option<u64>>,
    done: Vec<Completion>,
    latest_ns: u64,
}

impl Driver {
    fn new(name: &str, options: &DeviceOptions) -> Self {
        let sheet = fsarena_vdisk::builtin(name).unwrap();
        let device = VirtualDevice::new(&sheet, options).unwrap();
        let depth = u16::try_from(device.queue_depth()).unwrap();
        Self {
            device,
            free: (0..depth).rev().collect(),
            submitted_ns: vec![None; usize::from(depth)],
            done: Vec::new(),
            latest_ns: 0,
        }
    }

    fn poll(&mut self, now_ns: u64) {
        while let Some(done) = self.device.poll(now_ns) {
            let submitted_ns = self.submitted_ns[usize::from(done.tag)].take();
            let submitted_ns = submitted_ns.expect("it was outstanding, once");
            assert!((submitted_ns..=now_ns).contains(&done.at_ns), "{done:?} at {now_ns}");
            assert!(done.at_ns >= self.latest_ns, "in the order of time");
            self.latest_ns = done.at_ns;
            self.free.push(done.tag);
            self.done.push(done);
        }
        // Which tag is next does not depend on who completed first within one look.
        self.free.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Carries a history out, asking `extra` times between two requests.
    fn run(mut self, steps: &[Step], extra: u64) -> Vec<Completion> {
        let mut now_ns = 0;
        for step in steps {
            for part in 1..=extra {
                self.poll(now_ns + step.after_ns * part / (extra + 1));
            }
            now_ns += step.after_ns;
            self.poll(now_ns);
            while self.free.is_empty() {
                let Some(next_ns) = self.device.next_event_ns() else { return self.done };
                now_ns = now_ns.max(next_ns);
                self.poll(now_ns);
            }
            let tag = self.free.pop().unwrap();
            let (sector, sectors) = (step.sector, step.sectors);
            let request = match step.op {
                Op::Flush => Request::flush(tag),
                op => Request { tag, op, sector, sectors, fua: step.fua },
            };
            self.submitted_ns[usize::from(tag)] = Some(now_ns);
            self.device.submit(now_ns, request).unwrap();
            assert!(self.device.outstanding() <= self.device.queue_depth());
        }
        while let Some(next_ns) = self.device.next_event_ns() {
            now_ns = now_ns.max(next_ns);
            self.poll(now_ns);
        }
        self.done
    }
}

fn options(faults: Vec<Fault>, is_lying: bool) -> DeviceOptions {
    let lying_flush_ns = is_lying.then_some(70_000);
    DeviceOptions { size_bytes: Some(SIZE), seed: 5, lying_flush_ns, faults }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_request_completes_once_and_asking_changes_nothing(
        steps in steps(),
        lies in any::<bool>()
    ) {
        for name in fsarena_vdisk::names() {
            let options = options(Vec::new(), lies);
            let done = Driver::new(name, &options).run(&steps, 0);
            prop_assert_eq!(done.len(), steps.len(), "{}", name);
            let again = Driver::new(name, &options).run(&steps, 0);
            prop_assert!(again == done, "{}: the same history", name);
            let asked = Driver::new(name, &options).run(&steps, 3);
            prop_assert!(asked == done, "{}: asked more often", name);
        }
    }

    #[test]
    fn faults_are_part_of_the_history(steps in steps()) {
        let rare = |kind, per_million| Fault { per_million, ..Fault::every(kind) };
        let faults = vec![
            rare(FaultKind::MediumError, 50_000),
            rare(FaultKind::Slow { by_ns: 30_000_000 }, 50_000),
            rare(FaultKind::Torn, 50_000),
        ];
        for name in ["hdd-2007", "ssd-sata", "sd-good"] {
            let options = options(faults.clone(), false);
            let done = Driver::new(name, &options).run(&steps, 0);
            prop_assert_eq!(done.len(), steps.len());
            let asked = Driver::new(name, &options).run(&steps, 2);
            prop_assert!(asked == done, "{}", name);
        }
    }
}

/// After a flush everything before it is on the medium: a second flush has nothing to do.
#[test]
fn a_flush_leaves_nothing_to_flush() {
    for name in ["hdd-2003", "hdd-2007", "hdd-2012", "hdd-laptop", "ssd-sata", "nvme-consumer"] {
        let mut driver = Driver::new(name, &options(Vec::new(), false));
        let mut one = |now_ns: u64, request: Request| {
            driver.device.submit(now_ns, request).unwrap();
            loop {
                let next_ns = driver.device.next_event_ns().unwrap();
                if let Some(done) = driver.device.poll(next_ns) {
                    assert_eq!(done.outcome, Outcome::Done);
                    return done.at_ns;
                }
            }
        };
        let mut now_ns = 0;
        for number in 0..20 {
            now_ns = one(now_ns, Request::write(0, number * 5000, 16));
        }
        let flushed_ns = one(now_ns, Request::flush(0));
        let again_ns = one(flushed_ns, Request::flush(0));
        assert!(flushed_ns - now_ns > 800_000, "{name}: {}", flushed_ns - now_ns);
        assert!(again_ns - flushed_ns < 200_000, "{name}: {}", again_ns - flushed_ns);
    }
}
