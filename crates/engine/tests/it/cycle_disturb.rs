//! The second load next to cycles: what it does, at which rate, and how it fails.

use crate::support::cycles::{CycleFixture, MS, cycle_reports, cycles};
use fsarena_engine::InjectedDelay;
use fsarena_model::cycle::{Cycle, Disturb, DisturbReport, Load, Overrun};
use fsarena_model::work::{Backend, Dataset, Io, OpError, Phase, WorkerReport};
use std::path::Path;

const KIB: u64 = 1024;

fn disturbed(number: u32, load: Load, in_cycles: &[u32]) -> Cycle {
    let disturb = Some(Disturb { load, cycles: in_cycles.to_vec() });
    Cycle { disturb, ..cycles(number, 20, [1, 1, 1, 1, 1]) }
}

/// A stage on which each cycle works for at least so long.
fn fixture(work_ns: u64) -> CycleFixture {
    let delay = InjectedDelay::from_ns(work_ns);
    CycleFixture { delay, ..CycleFixture::new(Dataset::uniform(20, 5000, 3)) }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir.join("disturb")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn in_cycle(report: &WorkerReport, number: u32) -> &DisturbReport {
    let cycle = cycle_reports(report).iter().find(|cycle| cycle.number == number).unwrap();
    let disturb = cycle.disturb.as_ref().unwrap();
    assert!(disturb.started_ns <= disturb.done_ns);
    assert!(cycle.due_ns <= disturb.started_ns);
    let latency = disturb.latency.as_ref().unwrap();
    assert_eq!((latency.count(), latency.max_ns), (disturb.ops, disturb.worst_ns));
    disturb
}

#[test]
fn small_files_are_made_anew_in_the_chosen_cycles() {
    let mut fixture = fixture(0);
    let load = Load::Create { files: 30, size_bytes: 700, rate: 0 };
    let (report, _) = fixture.done(&disturbed(4, load, &[1, 3]));
    let [_, two, _, four] = cycle_reports(&report) else { panic!("{report:?}") };
    assert_eq!((&two.disturb, &four.disturb), (&None, &None));
    for number in [1, 3] {
        let disturb = in_cycle(&report, number);
        assert_eq!((disturb.ops, disturb.bytes, disturb.late_ns), (30, 30 * 700, 0));
    }
    let latency = report.latency.as_ref().unwrap();
    assert_eq!(latency.count(), 2 * 20, "what is compared: the cycles without it");
    let left = names(fixture.path());
    assert_eq!(left.len(), 30, "those of the first are gone: {left:?}");
    assert!(left.iter().all(|name| name.contains("-00003-")), "{left:?}");
    let sizes = left.iter().map(|name| fixture.path().join("disturb").join(name));
    assert!(sizes.map(|path| path.metadata().unwrap().len()).all(|size| size == 700));
    fixture.whole();
    // In every cycle, and next to those of the phase before.
    let (report, _) = fixture.done(&disturbed(2, load, &[]));
    assert_eq!((in_cycle(&report, 1).ops, in_cycle(&report, 2).ops), (30, 30));
    assert_eq!(report.latency.unwrap().count(), 2 * 20, "there are no others");
}

/// It has its amount, also where its cycle has long ended.
#[test]
fn a_rate_is_kept_and_the_amount_waited_for() {
    let mut fixture = fixture(0);
    let load = Load::Create { files: 20, size_bytes: 10, rate: 100 };
    let (report, events) = fixture.done(&disturbed(1, load, &[]));
    let disturb = in_cycle(&report, 1);
    assert_eq!(disturb.ops, 20);
    assert!(disturb.done_ns - disturb.started_ns >= 190 * MS, "{disturb:?}");
    let over_ns = events.last().unwrap().monotonic_ns - report.start_monotonic_ns;
    assert!(over_ns < disturb.done_ns, "the period does not wait for it: {over_ns} {disturb:?}");
    let too_fast = Load::Create { files: 50, size_bytes: 10, rate: 1_000_000_000 };
    let (report, _) = fixture.done(&disturbed(1, too_fast, &[]));
    assert!(in_cycle(&report, 1).late_ns > 0);
}

#[test]
fn a_writer_ends_with_its_cycle() {
    let mut fixture = fixture(300 * MS);
    let (size_bytes, bs_bytes, rate_bytes) = (100 * KIB, 8 * KIB, 4000 * KIB);
    let load = Load::Write { size_bytes, bs_bytes, rate_bytes };
    let (report, _) = fixture.done(&disturbed(2, load, &[2]));
    let disturb = in_cycle(&report, 2);
    let ns = disturb.done_ns - disturb.started_ns;
    assert!(disturb.ops > 1 && disturb.bytes > 8 * KIB, "{disturb:?}");
    let due = u128::from(rate_bytes) * u128::from(ns) / 1_000_000_000;
    assert!(u128::from(disturb.bytes) <= due + u128::from(bs_bytes), "{disturb:?}");
    let written = fixture.path().join("disturb/written").metadata().unwrap().len();
    assert_eq!(written, disturb.bytes.min(size_bytes));
    // As fast as it goes: round and round.
    let load = Load::Write { size_bytes, bs_bytes, rate_bytes: 0 };
    let (report, _) = fixture.done(&disturbed(1, load, &[]));
    assert!(in_cycle(&report, 1).bytes > 10 * size_bytes);
    assert_eq!(fixture.path().join("disturb/written").metadata().unwrap().len(), size_bytes);
}

#[test]
fn a_reader_finds_its_file_made() {
    let mut fixture = fixture(250 * MS);
    let load = Load::Read { size_bytes: 50 * KIB + 100, bs_bytes: 16 * KIB, rate_bytes: 0 };
    // In a phase of its own, before: nothing else is done.
    let cycle = disturbed(2, load, &[2]);
    let alone = Cycle { cycles: 0, ..cycle.clone() };
    let before = Phase { timed: false, ..Phase::of_cycles("c", alone, 4096) };
    let (report, events) = fixture.run(&before);
    assert_eq!((report.error, report.ops, events), (None, 0, vec![]));
    assert_eq!(report.cycles, Some(Default::default()));
    assert_eq!(fixture.state.newest_version, 1);
    assert_eq!(names(fixture.path()), ["read-51300"]);
    let (report, _) = fixture.done(&cycle);
    let disturb = in_cycle(&report, 2);
    assert!(disturb.ops >= 4 && disturb.bytes >= 50 * KIB, "{disturb:?}");
    // Where nobody has made it, the phase does, and calls of any size will do.
    let load = Load::Read { size_bytes: 5000, bs_bytes: 1000, rate_bytes: 1 << 40 };
    let (report, _) = fixture.done(&disturbed(1, load, &[]));
    assert!(in_cycle(&report, 1).bytes > 5000);
    assert_eq!(names(fixture.path()), ["read-5000", "read-51300"]);
    fixture.whole();
}

/// One load at a time: that of a later cycle begins when the one before has ended.
#[test]
fn overlapping_cycles_are_disturbed_one_after_the_other() {
    let mut fixture = fixture(250 * MS);
    let load = Load::Create { files: 10, size_bytes: 10, rate: 200 };
    let cycle = Cycle { overrun: Overrun::Overlap, period_ns: MS, ..disturbed(3, load, &[]) };
    let (report, _) = fixture.done(&cycle);
    for number in [2, 3] {
        let (before, after) = (in_cycle(&report, number - 1), in_cycle(&report, number));
        assert!(after.started_ns >= before.done_ns);
        assert_eq!(after.ops, 10);
    }
}

/// Runs cycles for an hour, unless the second load ends them.
fn failed(fixture: &mut CycleFixture, load: Load) -> (OpError, WorkerReport) {
    let hour = Cycle { period_ns: 3_600_000 * MS, ..disturbed(2, load, &[]) };
    let (report, _) = fixture.run(&Phase::of_cycles("c", hour, 4096));
    (report.error.clone().unwrap(), report)
}

#[test]
fn a_second_load_that_fails_ends_the_phase() {
    let (bs_bytes, rate_bytes) = (4096, 0);
    let small = Load::Create { files: 5, size_bytes: 1, rate: 0 };
    let mut one = fixture(0);
    std::fs::write(one.path().join("disturb"), "in the way").unwrap();
    let (error, report) = failed(&mut one, small);
    assert_eq!((&*error.call, error.errno), ("open", 20), "not a directory: {error:?}");
    assert!(error.path.starts_with("disturb/"), "{error:?}");
    assert!(error.text.contains("second load"), "{error:?}");
    let [cycle] = cycle_reports(&report) else { panic!("{report:?}") };
    assert!(cycle.durable_ns.is_some(), "the cycle at work has ended");
    assert_eq!(cycle.disturb.as_ref().unwrap().error, Some(error));

    // What cannot be made before the first cycle.
    let read = Load::Read { size_bytes: 9000, bs_bytes, rate_bytes };
    let (error, report) = failed(&mut one, read);
    assert_eq!((&*error.call, &*error.path), ("open", "disturb/read-9000"));
    assert_eq!(cycle_reports(&report), []);
    assert_eq!(report.durable_monotonic_ns, None);

    // Long enough for a call: a reader ends with its cycle.
    let mut two = fixture(500 * MS);
    std::fs::create_dir_all(two.path().join("disturb/written")).unwrap();
    let (error, _) = failed(&mut two, Load::Write { size_bytes: 9000, bs_bytes, rate_bytes });
    assert_eq!((&*error.call, &*error.path), ("unlink", "disturb/written"));

    // A directory of its own: files that the ended cycle made would be in the way of another.
    let mut three = fixture(500 * MS);
    std::fs::create_dir_all(three.path().join("disturb")).unwrap();
    std::fs::write(three.path().join("disturb/read-9000"), "short").unwrap();
    let (error, _) = failed(&mut three, read);
    assert_eq!((&*error.call, error.errno), ("read", 0), "{error:?}");
    assert!(error.text.contains("fewer bytes than the file should hold"), "{error:?}");
}

#[test]
fn with_the_null_backend_it_touches_nothing() {
    let dir = crate::support::temp_dir();
    let loads = [
        Load::Create { files: 10, size_bytes: 10, rate: 0 },
        Load::Write { size_bytes: 9000, bs_bytes: 4096, rate_bytes: 0 },
        Load::Read { size_bytes: 9000, bs_bytes: 4096, rate_bytes: 0 },
    ];
    for load in loads {
        let phase = Phase {
            io: Io { backend: Backend::Null, ..Io::default() },
            ..Phase::of_cycles("c", disturbed(2, load, &[]), 4096)
        };
        let mut state = fsarena_model::work::DatasetState::default();
        let dataset = Dataset::uniform(20, 500, 0);
        let report = crate::support::run(dir.path(), &dataset, &mut state, &phase);
        assert_eq!((report.error, report.ops), (None, 40), "{load:?}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
