//! The worker in a process of its own: this test program runs itself as the worker.

use fsarena_model::cycle::{Cycle, CycleMoment, Overrun, Shares};
use fsarena_model::seed::Seed;
use fsarena_model::work::{
    Backend, CounterFile, Dataset, DatasetState, Io, Op, Order, Phase, Sharing, Task, UserIds,
    WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_testkit::records;
use fsarena_worker::worker_main;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const AS_WORKER: &str = "FSARENA_TEST_AS_WORKER";

/// Not a test by itself: what [`start`] runs. The answers go to standard error, since the test
/// harness writes to standard output.
#[test]
fn as_worker() {
    if std::env::var_os(AS_WORKER).is_some() {
        let input = std::io::BufReader::new(std::io::stdin());
        // Not unwind: the harness would print.
        let code = i32::from(worker_main(input, std::io::stderr()).is_err());
        std::process::exit(code);
    }
    println!("not run: the child of another test");
}

struct Worker {
    child: Child,
    answers: BufReader<std::process::ChildStderr>,
}

impl Worker {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker::as_worker", "--nocapture"])
            .env(AS_WORKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stderr.take().unwrap());
        Self { child, answers }
    }

    fn tell(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn give(&mut self, spec: &WorkerSpec) {
        self.tell(&serde_json::to_string(spec).unwrap());
    }

    fn answer(&mut self) -> WorkerSays {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next answer that is not only the moment at which a phase was durable.
    fn result(&mut self) -> WorkerSays {
        match self.answer() {
            WorkerSays::Durable => self.answer(),
            other => other,
        }
    }

    fn refusal(mut self) -> String {
        let WorkerSays::Refused(reason) = self.answer() else { panic!("not refused") };
        assert!(self.child.wait().unwrap().success());
        reason
    }

    fn report(mut self) -> WorkerReport {
        assert_eq!(self.answer(), WorkerSays::Ready);
        self.tell("go");
        let WorkerSays::Done(report) = self.result() else { panic!("no report") };
        assert!(self.child.wait().unwrap().success());
        *report
    }
}

fn spec(root: &Path, op: Op) -> WorkerSpec {
    let phase = Phase { order: Order::Random, ..Phase::new(op.name(), op, 4096) };
    let task = Task::Phase { phase, seed: Seed::from_number(2), latency: true };
    WorkerSpec {
        dataset: Dataset::uniform(50, 300, 4),
        warm_memory_bytes: 1 << 20,
        ..records::worker_spec(root, task)
    }
}

fn make_dirs(spec: &WorkerSpec) {
    let mut worker = Worker::start();
    worker.give(&WorkerSpec { task: Task::MakeDirs, ..spec.clone() });
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    assert_eq!(worker.answer(), WorkerSays::Made);
    assert!(worker.child.wait().unwrap().success());
}

fn run(spec: &WorkerSpec) -> WorkerReport {
    if matches!(&spec.task, Task::Phase { phase, .. } if phase.op.creates()) {
        make_dirs(spec);
    }
    run_alone(spec)
}

fn run_alone(spec: &WorkerSpec) -> WorkerReport {
    let mut worker = Worker::start();
    worker.give(spec);
    worker.report()
}

#[test]
fn phases_and_a_check_from_ready_to_done() {
    let dir = tempfile::tempdir().unwrap();
    for op in [Op::Create, Op::Read] {
        let report = run(&spec(dir.path(), op));
        assert_eq!((report.error, report.ops), (None, 50), "{op:?}");
        assert_eq!(report.latency.unwrap().count(), 50);
    }
    let verify = Task::Verify { bs_bytes: 4096 };
    let mut worker = Worker::start();
    worker.give(&WorkerSpec { task: verify, ..spec(dir.path(), Op::Read) });
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    let WorkerSays::Verified(report) = worker.answer() else { panic!("no check") };
    assert_eq!((report.files, report.bad_files), (50, 0));
}

/// Counters are those of the moment at which the phase was durable, and the canary runs before and
/// after it.
#[test]
fn counters_are_read_when_it_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(dir.path(), Op::Create);
    make_dirs(&spec);
    let mut worker = Worker::start();
    worker.give(&spec);
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("canary");
    let WorkerSays::Canary { elapsed_ns } = worker.answer() else { panic!("no canary") };
    assert!(elapsed_ns > 100_000, "{elapsed_ns}");
    let path = std::path::PathBuf::from("/proc/uptime");
    let files = [CounterFile { path, most_bytes: 4096, at_once: true }];
    worker.tell(&serde_json::to_string(&files).unwrap());
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    assert_eq!(worker.answer(), WorkerSays::Durable, "before the report");
    let WorkerSays::Done(report) = worker.answer() else { panic!("no report") };
    let durable_ns = report.durable_monotonic_ns.unwrap();
    let counters = report.counters.unwrap();
    assert!(durable_ns <= counters.began_monotonic_ns);
    assert!(counters.began_monotonic_ns <= counters.ended_monotonic_ns);
    assert_eq!(counters.texts.len(), 1);
    assert_eq!(counters.texts[0].split_whitespace().count(), 2, "{:?}", counters.texts);
    assert!(report.cpu_ns.unwrap() > 0, "50 files take processor time");
    worker.tell("canary");
    assert!(matches!(worker.answer(), WorkerSays::Canary { .. }));
    assert!(worker.child.wait().unwrap().success());
}

/// No page of the program is left to be read from a disk within the phase.
#[test]
fn the_program_is_in_memory_before_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut worker = Worker::start();
    worker.give(&spec(dir.path(), Op::Read));
    assert_eq!(worker.answer(), WorkerSays::Ready);
    let smaps = std::fs::read_to_string(format!("/proc/{}/smaps", worker.child.id())).unwrap();
    let own = std::env::current_exe().unwrap();
    let (mut is_own, mut kib, mut seen) = (false, "", 0);
    for line in smaps.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            [_, access, _, _, _, path] => {
                is_own = path == own.to_str().unwrap() && access.starts_with('r');
            }
            ["Size:", size, _] => kib = size,
            ["Rss:", there, _] if is_own => {
                assert_eq!(there, kib, "pages of the program are missing:\n{smaps}");
                seen += 1;
            }
            _ => {}
        }
    }
    assert!(seen >= 2, "{smaps}");
}

#[test]
fn nothing_is_touched_before_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut worker = Worker::start();
    worker.give(&spec(dir.path(), Op::Read));
    assert_eq!(worker.answer(), WorkerSays::Ready, "missing files are not noticed yet");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    worker.tell("go");
    let WorkerSays::Done(report) = worker.result() else { panic!("no report") };
    assert_eq!(report.error.unwrap().errno, 2);

    let mut worker = Worker::start();
    worker.give(&spec(dir.path(), Op::Create));
    assert_eq!(worker.answer(), WorkerSays::Ready);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    drop(worker.child.stdin.take());
    assert!(worker.child.wait().unwrap().success(), "an input that ends is a quiet end");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    make_dirs(&spec(dir.path(), Op::Create));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let good = spec(dir.path(), Op::Stat);
    let refused = |spec: &WorkerSpec| {
        let mut worker = Worker::start();
        worker.give(spec);
        worker.refusal()
    };
    let other_root = WorkerSpec { root: dir.path().join("gone"), ..good.clone() };
    assert!(refused(&other_root).contains("gone"));
    assert!(refused(&WorkerSpec { schema: 99, ..good.clone() }).contains("schema 99"));
    assert!(refused(&WorkerSpec { cpus: vec![1023], ..good.clone() }).contains("1023"));
    assert!(refused(&WorkerSpec { cpus: vec![99_999], ..good.clone() }).contains("99999"));
    let greedy = WorkerSpec { warm_memory_bytes: 1 << 60, ..good.clone() };
    assert!(refused(&greedy).contains("warm_memory_bytes"));
    let mut mixed = good.clone();
    let Task::Phase { phase, .. } = &mut mixed.task else { panic!() };
    phase.io.threads = 51;
    assert!(refused(&mixed).contains("51 threads for 50 files"));
    let named = Dataset { name_bytes: Some(256), ..good.dataset.clone() };
    assert!(refused(&WorkerSpec { dataset: named, ..good.clone() }).contains("NAME_MAX"));
    let fio = Task::Fio {
        job: "[a]\nfilename=/etc/passwd\n".to_owned(),
        section: "a".to_owned(),
        lay_out: false,
    };
    assert!(refused(&WorkerSpec { task: fio, ..good.clone() }).contains("fio"));
    let mut worker = Worker::start();
    worker.tell(r#"{"schema":1,"surprise":true}"#);
    assert!(worker.refusal().contains("surprise"));
    let mut worker = Worker::start();
    worker.give(&good);
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("stop");
    assert!(worker.refusal().contains("stop"));
}

#[test]
fn threads_share_a_phase_and_its_processors() {
    let dir = tempfile::tempdir().unwrap();
    let mut state = DatasetState::default();
    for (op, sharing) in [
        (Op::Create, Sharing::Own),
        (Op::Overwrite, Sharing::Shared),
        (Op::Rename, Sharing::Own),
        (Op::RandWrite, Sharing::Shared),
    ] {
        let mut spec = WorkerSpec { cpus: vec![0], state, ..spec(dir.path(), op) };
        let Task::Phase { phase, .. } = &mut spec.task else { panic!() };
        phase.io = Io { threads: 3, sharing, ..Io::default() };
        phase.bs_bytes = 100;
        state = phase.leaves(state);
        let report = run(&spec);
        assert_eq!((report.error, report.threads.len()), (None, 3), "{op:?}");
    }
    let task = Task::Verify { bs_bytes: 4096 };
    let mut worker = Worker::start();
    worker.give(&WorkerSpec { task, state, ..spec(dir.path(), Op::Read) });
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    let WorkerSays::Verified(report) = worker.answer() else { panic!("no check") };
    assert_eq!((report.files, report.bad_files), (50, 0), "{report:?}");
}

/// A delay is in `returned`, whole, however a phase is done.
#[test]
fn a_handicap_makes_a_phase_longer() {
    const HANDICAP_NS: u64 = 50_000_000;
    let dir = tempfile::tempdir().unwrap();
    let one = Io::default();
    let three = Io { threads: 3, ..Io::default() };
    let ring = Io { backend: Backend::IoUring, iodepth: 4, ..Io::default() };
    let null = Io { backend: Backend::Null, ..Io::default() };
    make_dirs(&spec(dir.path(), Op::Create));
    for (op, io) in [(Op::Create, &one), (Op::Read, &three), (Op::Read, &ring), (Op::Stat, &null)] {
        let mut spec = spec(dir.path(), op);
        let Task::Phase { phase, .. } = &mut spec.task else { panic!() };
        phase.io = io.clone();
        spec.handicap_ns = HANDICAP_NS;
        let mut worker = Worker::start();
        worker.give(&spec);
        let said = worker.answer();
        if let (Backend::IoUring, WorkerSays::Refused(reason)) = (io.backend, &said) {
            println!("not run: io_uring ({reason})");
            continue;
        }
        assert_eq!(said, WorkerSays::Ready);
        worker.tell("go");
        let WorkerSays::Done(report) = worker.result() else { panic!("no report") };
        let ended_ns = report.returned_monotonic_ns;
        assert_eq!((report.error, report.ops), (None, 50), "{io:?}");
        assert!(ended_ns - report.start_monotonic_ns >= HANDICAP_NS, "{io:?}");
        assert!(report.durable_monotonic_ns.unwrap() >= ended_ns, "{io:?}");
    }
}

/// It would not end for an hour.
#[test]
fn a_phase_that_failed_does_not_sleep() {
    let dir = tempfile::tempdir().unwrap();
    let spec = WorkerSpec { handicap_ns: 3_600_000_000_000, ..spec(dir.path(), Op::Read) };
    assert_eq!(run_alone(&spec).error.unwrap().errno, 2);
}

#[test]
fn one_processor_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(&WorkerSpec { cpus: vec![0], ..spec(dir.path(), Op::Create) });
    assert_eq!((report.error, report.ops), (None, 50));
}

/// Needs root: it becomes nobody.
#[test]
fn another_user_owns_what_it_creates() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
    if !rustix::process::geteuid().is_root() {
        println!("not run: another_user_owns_what_it_creates needs root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let user = Some(UserIds { uid: 65_534, gid: 65_533 });
    let report = run(&WorkerSpec { user, ..spec(dir.path(), Op::Create) });
    assert_eq!((report.error, report.ops), (None, 50));
    let file = std::fs::metadata(dir.path().join("d00000/f00000000")).unwrap();
    assert_eq!((file.uid(), file.gid()), (65_534, 65_533));
    // The way to the root may be closed to nobody; the root itself must be open.
    let closed = tempfile::tempdir().unwrap();
    let root = closed.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o777)).unwrap();
    std::fs::set_permissions(closed.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let report = run(&WorkerSpec { user, ..spec(&root, Op::Create) });
    assert_eq!((report.error, report.ops), (None, 50));
    std::fs::set_permissions(&root, PermissionsExt::from_mode(0o700)).unwrap();
    let report = run_alone(&WorkerSpec { user, ..spec(&root, Op::Read) });
    assert_eq!(report.error.unwrap().errno, 13, "it is nobody when it works");
}

/// Laps come while the phase goes on, each on a line of its own.
#[test]
fn cycles_say_their_laps_and_then_their_report() {
    let dir = tempfile::tempdir().unwrap();
    run(&spec(dir.path(), Op::Create));
    let shares = Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 };
    let cycle = Cycle {
        cycles: 2,
        period_ns: 1_000_000,
        overrun: Overrun::Queue,
        updates: 30,
        shares,
        disturb: None,
    };
    let phase = Phase::of_cycles("cycle", cycle, 4096);
    let state = phase.leaves(DatasetState::default());
    let task = Task::Phase { phase, seed: Seed::from_number(2), latency: true };
    let mut worker = Worker::start();
    worker.give(&WorkerSpec { task, ..spec(dir.path(), Op::Cycle) });
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    let mut events = vec![];
    let report = loop {
        match worker.answer() {
            WorkerSays::CycleEvent(event) => events.push((event.number, event.at)),
            WorkerSays::Done(report) => break report,
            other => panic!("{other:?}"),
        }
    };
    assert!(worker.child.wait().unwrap().success());
    use CycleMoment::{Durable, PeriodOver, Started};
    let wanted = [1, 2].map(|number| [Started, Durable, PeriodOver].map(|at| (number, at)));
    assert_eq!(events, wanted.concat());
    assert_eq!((report.error, report.ops), (None, 60));
    assert_eq!(report.cycles.unwrap().cycles.len(), 2);
    let task = Task::Verify { bs_bytes: 4096 };
    let mut worker = Worker::start();
    worker.give(&WorkerSpec { task, state, ..spec(dir.path(), Op::Read) });
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    let WorkerSays::Verified(report) = worker.answer() else { panic!("no check") };
    assert_eq!((report.files, report.bad_files), (50, 0), "{report:?}");
}

/// One rank of two, which goes on to what the runner says that the other had done.
#[test]
fn a_rank_says_how_far_it_is_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(dir.path(), Op::Create);
    spec.dataset = Dataset::uniform(1_000_000, 300, 8);
    let io = Io { threads: 4, ranks: 2, stonewall_ns: Some(20_000_000), ..Io::default() };
    let phase = Phase { io, ..Phase::new("create", Op::Create, 4096) };
    spec.task = Task::Phase { phase, seed: Seed::from_number(2), latency: true };
    spec.rank = 1;
    make_dirs(&spec);
    let mut worker = Worker::start();
    worker.give(&spec);
    assert_eq!(worker.answer(), WorkerSays::Ready);
    worker.tell("go");
    let WorkerSays::Stonewall { most_ops } = worker.answer() else { panic!("it said nothing") };
    assert!(most_ops > 0);
    worker.tell(&format!("wear-out {}", most_ops + 100));
    let WorkerSays::Done(report) = worker.result() else { panic!("no report") };
    assert_eq!(report.error, None);
    let each: Vec<u64> = report.threads.iter().map(|thread| thread.ops).collect();
    assert_eq!(each, [most_ops + 100; 2]);
    let wall = report.stonewall.unwrap();
    assert_eq!((wall.reached, wall.each_ops), (true, most_ops + 100));
    worker.tell("canary");
    assert!(matches!(worker.answer(), WorkerSays::Canary { .. }));
    assert!(worker.child.wait().unwrap().success());
}
