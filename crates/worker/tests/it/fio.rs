//! fio really run: below a temporary root, from the job file to the report.

use fsarena_engine::{InjectedDelay, Root};
use fsarena_model::seed::Seed;
use fsarena_model::work::WorkerReport;
use fsarena_worker::program::{FioRun, ProgramError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const AS_WORKER: &str = "FSARENA_TEST_FIO_BELOW";

/// Prepares and runs one phase; `None` where there is no fio.
fn run(root: &Path, job: &str, phase: &str, lay_out: bool) -> Option<WorkerReport> {
    match FioRun::prepare(job, phase, lay_out, &Seed::from_number(1)) {
        Ok(fio) => Some(fio.run(&Root::open(root).unwrap())),
        Err(error @ ProgramError::Missing { .. }) => {
            println!("not run: fio is not installed ({error})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn refusal(job: &str, phase: &str) -> Option<String> {
    match FioRun::prepare(job, phase, false, &Seed::from_number(1)) {
        Ok(_) => panic!("not refused: {job:?}"),
        Err(ProgramError::Missing { .. }) => {
            println!("not run: fio is not installed");
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Every fio whose working directory is `root`.
fn fios_in(root: &Path) -> Vec<i32> {
    let root = root.canonicalize().unwrap();
    let pids = std::fs::read_dir("/proc").unwrap();
    let pids = pids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<i32>().ok());
    let is_fio = |pid: &i32| {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let comm = std::fs::read_to_string(of("comm")).unwrap_or_default();
        let cwd = std::fs::read_link(of("cwd")).unwrap_or_default();
        comm.trim() == "fio" && cwd == root
    };
    pids.filter(is_fio).collect()
}

/// Waits until `done`, at most 20 s.
fn within_20_s(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const READ: &str = "[r]\nrw=randread\nbs=4k\nsize=1m\ndirectory=d\n";
const ENDLESS: &str = "[e]\nrw=randwrite\nbs=4k\nsize=64k\ntime_based\nruntime=100\nnumjobs=2\n";

#[test]
fn a_lay_out_and_a_phase() {
    let dir = tempfile::tempdir().unwrap();
    let Some(laid) = run(dir.path(), READ, "r", true) else { return };
    assert_eq!((laid.error, laid.ops, laid.asked_bytes), (None, 0, 0));
    let data = dir.path().join("d/r.0.0");
    assert_eq!(data.metadata().unwrap().len(), 1 << 20);

    let report = run(dir.path(), READ, "r", false).unwrap();
    assert_eq!((&report.error, report.ops, report.asked_bytes), (&None, 256, 1 << 20));
    assert_eq!(report.asked_written_bytes, Some(0));
    assert_eq!(report.latency.unwrap().count(), 256);
    let durable_ns = report.durable_monotonic_ns.unwrap();
    assert!(report.start_monotonic_ns < report.returned_monotonic_ns);
    assert!(report.returned_monotonic_ns <= durable_ns);
    assert!(report.usage.user_ns + report.usage.system_ns > 0);
    let program = report.program.unwrap();
    assert_eq!(program.name, "fio");
    assert!(program.version.starts_with("fio-3."), "{}", program.version);
    assert!(program.argv[0].starts_with('/') && program.argv[1] == "--output-format=json+");
    let own_ns = program.own_ns.unwrap();
    let all_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
    assert!(0 < own_ns && own_ns < all_ns);
    let startup_ns = program.startup_ns.unwrap();
    assert!(0 < startup_ns && own_ns + startup_ns <= all_ns, "{own_ns} + {startup_ns}, {all_ns}");
    assert_eq!(program.figures["read_ops"], "256");
    assert!(program.figures["randseed"].parse::<u64>().unwrap() > 0);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "only d");
}

/// fio starts and ends in far less.
#[test]
fn a_handicap_stands_after_the_end_of_fio() {
    const HANDICAP_NS: u64 = 3_000_000_000;
    let dir = tempfile::tempdir().unwrap();
    let Some(_) = run(dir.path(), READ, "r", true) else { return };
    let mut fio = FioRun::prepare(READ, "r", false, &Seed::from_number(1)).unwrap();
    fio.delay = InjectedDelay::from_ns(HANDICAP_NS);
    let report = fio.run(&Root::open(dir.path()).unwrap());
    assert_eq!((&report.error, report.ops), (&None, 256));
    let length_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
    assert!(length_ns >= HANDICAP_NS, "{length_ns} ns");
    let program = report.program.unwrap();
    assert!(program.own_ns.unwrap() < HANDICAP_NS, "it is not fio's own time");
    assert!(program.startup_ns.unwrap() < HANDICAP_NS, "nor a part of its start and end");
}

#[test]
fn phases_after_each_other_and_jobs_beside_each_other() {
    let job = "[global]\nbs=4k\nsize=256k\n[w]\nrw=write\nfsync=4\n[v]\nrw=randrw\nnumjobs=2\n\
               [again]\nstonewall\nrw=read\nfilename=w.0.0\n";
    let dir = tempfile::tempdir().unwrap();
    let Some(first) = run(dir.path(), job, "w", false) else { return };
    assert_eq!((&first.error, first.ops), (&None, 64 + 2 * 64));
    let figures = first.program.unwrap().figures;
    assert_eq!(figures["w.write_ops"], "64");
    assert!(figures["sync_ops"].parse::<u64>().unwrap() >= 15, "each fourth write, but the last");
    let grouped = run(dir.path(), &job.replace("[v]\n", "[v]\ngroup_reporting\n"), "w", false);
    assert_eq!(grouped.unwrap().ops, 64 + 2 * 64, "one entry for all, and an empty one");
    assert!(first.write_latency.unwrap().count() > 64);
    let laid = run(dir.path(), job, "again", true).unwrap();
    assert_eq!((laid.error, laid.program), (None, None), "the first phase left the file");
    let second = run(dir.path(), job, "again", false).unwrap();
    assert_eq!((second.error, second.ops), (None, 64));
}

#[test]
fn jobs_that_start_late_have_no_time_of_fios_own() {
    let job = "[w]\nrw=write\nsize=64k\n[late]\nrw=write\nsize=64k\nstartdelay=200ms\n";
    let dir = tempfile::tempdir().unwrap();
    let Some(report) = run(dir.path(), job, "w", false) else { return };
    assert_eq!((&report.error, report.ops), (&None, 32));
    let program = report.program.unwrap();
    assert_eq!((program.own_ns, program.startup_ns), (None, None));
    assert!(report.returned_monotonic_ns - report.start_monotonic_ns > 200_000_000);
}

#[test]
fn nothing_is_touched_before_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let prepared = FioRun::prepare(READ, "r", false, &Seed::from_number(1));
    if matches!(prepared, Err(ProgramError::Missing { .. })) {
        println!("not run: fio is not installed");
        return;
    }
    assert!(prepared.is_ok());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_is_refused_is_said_before_anything_runs() {
    let Some(told) = refusal("[a]\nfilename=/dev/sda\n", "a") else { return };
    assert!(told.contains("job:2: filename=/dev/sda names a device or path outside"), "{told}");
    let Some(told) = refusal("[a]\nsize=1m\nbananas=3\n", "a") else { return };
    assert!(told.contains("fio does not take the job: Bad option <bananas=3>"), "{told}");
    let Some(told) = refusal("[a]\nsize=1m\nrw=wrte\n", "a") else { return };
    assert!(told.contains("rw=wrte"), "{told}");
    let Some(told) = refusal("[a]\nsize=1m\n[b]\nsize=1m\n", "b") else { return };
    assert!(told.contains("no phase is called \"b\"; there are: a"), "{told}");
}

#[test]
fn a_failure_in_the_middle_is_reported_with_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    let full = dir.path().join("full");
    std::fs::create_dir(&full).unwrap();
    let flags = rustix::mount::MountFlags::empty();
    if let Err(errno) = rustix::mount::mount("fsarena-test", &full, "tmpfs", flags, c"size=1m") {
        println!("not run: a_failure_in_the_middle needs a mount: {errno}");
        return;
    }
    let job = "[w]\nrw=write\nbs=64k\nsize=4m\nfallocate=none\n";
    let report = run(&full, job, "w", false);
    rustix::mount::unmount(&full, rustix::mount::UnmountFlags::empty()).unwrap();
    let Some(report) = report else { return };
    let error = report.error.unwrap();
    assert_eq!((error.errno, error.call.as_str(), error.path.as_str()), (28, "write", "w.0.0"));
    assert_eq!((report.ops, report.asked_bytes), (16, 1 << 20));
    assert!(report.durable_monotonic_ns.is_some());
}

/// Not a test by itself: what `fio_ends_with_its_worker` runs and kills.
#[test]
fn as_worker() {
    if let Some(root) = std::env::var_os(AS_WORKER) {
        let _ = run(Path::new(&root), ENDLESS, "e", false);
    } else {
        println!("not run: the child of another test");
    }
}

#[test]
fn fio_ends_with_its_worker() {
    let dir = tempfile::tempdir().unwrap();
    if FioRun::prepare(ENDLESS, "e", false, &Seed::from_number(1)).is_err() {
        println!("not run: fio is not installed");
        return;
    }
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fio::as_worker", "--test-threads=1"])
        .env(AS_WORKER, dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    within_20_s("fio and its two jobs run", || fios_in(dir.path()).len() == 3);
    worker.kill().unwrap();
    worker.wait().unwrap();
    within_20_s("no fio is left", || fios_in(dir.path()).is_empty());
}

#[test]
fn a_fio_that_is_killed_leaves_no_jobs_behind() {
    let dir = tempfile::tempdir().unwrap();
    if FioRun::prepare(ENDLESS, "e", false, &Seed::from_number(1)).is_err() {
        println!("not run: fio is not installed");
        return;
    }
    let root = dir.path().to_owned();
    let running = std::thread::spawn(move || run(&root, ENDLESS, "e", false).unwrap());
    within_20_s("fio and its two jobs run", || fios_in(dir.path()).len() == 3);
    let main = *fios_in(dir.path()).iter().min().unwrap();
    let main = rustix::process::Pid::from_raw(main).unwrap();
    rustix::process::kill_process(main, rustix::process::Signal::KILL).unwrap();
    let report = running.join().unwrap();
    let error = report.error.unwrap();
    assert!(error.text.contains("fio phase e: fio ended with signal: 9"), "{}", error.text);
    assert!(fios_in(dir.path()).is_empty(), "the jobs are gone when the report is there");
}
