//! fio inside the life of a trial: its phases and figures, what is refused, and that it never
//! outlives us.

use crate::loop_bad_input::without_command;
use crate::support::{Live, TestEnv, assert_nothing_left, phase, tool};
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use fsarena_model::run::{Clock, RunState};
use fsarena_model::work::Op;
use rustix::process::{Pid, Signal};
use std::fs;
use std::time::{Duration, Instant};

const JOBS: &str = "\
[global]
size=8m
bs=4k

[seq-write]
rw=write
bs=64k

[random-read]
stonewall
rw=randread
ioengine=io_uring
iodepth=8

[mixed-a]
stonewall
rw=randrw
rwmixread=70
[mixed-b]
rw=randwrite
fsync=64
";

/// Root, fio and a file system; or the reason.
fn env(fs: &[&str]) -> Option<TestEnv> {
    tool("fio")?;
    TestEnv::privileged(fs)
}

#[track_caller]
fn assert_phases(record: &TrialRecord, size_bytes: u64, cache: CacheState) {
    let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["seq-write", "random-read", "mixed-a"]);
    let ops = |name| phase(record, name).ops;
    assert_eq!(ops("seq-write"), size_bytes >> 16);
    assert_eq!((ops("random-read"), ops("mixed-a")), (size_bytes >> 12, size_bytes >> 11));
    assert_eq!(phase(record, "random-read").asked_written_bytes, Some(0));
    for phase in &record.phases {
        assert_eq!((phase.op, &phase.error), (Op::Fio, &None));
        assert_eq!(phase.cache.state, cache, "{}: {:?}", phase.name, phase.cache);
        let latency = phase.latency.as_ref().expect("fio gives its own");
        assert_eq!(latency.count(), phase.ops, "{}", phase.name);
        let program = phase.program.as_ref().expect("fio did it");
        assert_eq!(program.name, "fio");
        assert!(program.version.starts_with("fio-"), "{program:?}");
        assert!(program.argv[0].ends_with("/fio"), "{program:?}");
        assert!(program.argv.iter().any(|word| word == "--output-format=json+"), "{program:?}");
        assert!(program.own_ns.is_some_and(|own_ns| own_ns <= phase.clocks.returned_ns));
        assert!(program.figures.contains_key("randseed"), "{program:?}");
        let kind = if phase.name == "random-read" { "read" } else { "write" };
        for figure in ["iops", "p50_ns", "p99_ns", "p99.9_ns", "ops"] {
            assert!(program.figures.contains_key(&format!("{kind}_{figure}")), "{program:?}");
        }
    }
    let mixed = phase(record, "mixed-a");
    assert_eq!(mixed.program.as_ref().unwrap().figures["jobs"], "2");
    assert!(mixed.write_latency.is_some(), "writes stand beside reads");
}

/// `--workload jobs.fio`: phases by stonewall, cold, in tables; `--scale` makes the jobs smaller.
#[test]
fn job_file_on_the_command_line() {
    let Some(env) = env(&["ext4", "tmpfs"]) else { return };
    let file = env.write("jobs.fio", JOBS);
    let on = ["--fs", "ext4,tmpfs", "--on", "loop:128M", "--workload", &file];
    env.run_once(&[&on[..], &["--scale", "0.5"]].concat()).good().says(&[
        "jobs / seq-write: a job of fio",
        "jobs / random-read: a job of fio",
        "jobs / mixed-a: a job of fio",
        "IOPS",
        "p50 p90 p99 p99.9 max",
        "ext4, writes",
        " by its own clock; its start and end, ",
    ]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done);
        let is_tmpfs = record.filesystem.mounted_type.as_deref() == Some("tmpfs");
        let cache = if is_tmpfs { CacheState::WarmByNature } else { CacheState::Cold };
        assert_phases(record, 4 << 20, cache);
    }
}

/// In an experiment, as text and as a file next to it; without root, as another user, with little
/// memory; and nobody is asked whether commands may be run.
#[test]
fn jobs_in_an_experiment() {
    let Some(env) = env(&["xfs"]) else { return };
    env.write("beside.fio", JOBS);
    let work = format!(
        "[[workload]]\nname = \"within\"\nfio = \"\"\"\n{JOBS}\"\"\"\n\
         [[workload]]\nname = \"beside\"\nfio_file = \"beside.fio\"\n"
    );
    let file = env.experiment("fs = \"xfs\"\ndevice = \"loop:300M\"\ncache = \"warm\"", &work);
    let ran = env.run(&["run", &file, "--user", "65534:65534"]).good();
    assert!(!ran.stderr.contains("--yes"), "{}", ran.stderr);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    records.iter().for_each(|record| assert_phases(record, 8 << 20, CacheState::Warm));
}

/// A job is compared by what its options leave free: what is fixed says nothing of a file system.
#[test]
fn jobs_whose_time_or_rate_is_set() {
    let Some(env) = env(&["ext4"]) else { return };
    let jobs = "[global]\nbs=4k\nsize=2m\n[work]\nrw=write\n\
                [timed]\nstonewall\nrw=randread\ntime_based\nruntime=1\n\
                [paced]\nstonewall\nrw=randwrite\nrate_iops=400\nnumber_ios=200\n\
                [blind]\nstonewall\nrw=randwrite\nrate_iops=400\nnumber_ios=40\ngtod_reduce=1\n";
    let file = env.write("jobs.fio", jobs);
    let on = ["--fs", "ext4,ext4", "--on", "loop:64M", "--workload", &file, "--runs", "1"];
    let ran = env.run(&[&["run"], &on[..]].concat()).good();
    assert_nothing_left(&env);
    ran.says(&["no verdict on jobs blind: the rate or the time is set"]);
    let shown = env.run(&["study", "--json"]).good();
    let said: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let questions = said["questions"].as_array().expect("questions");
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap_or("").to_owned();
    let asked: Vec<(String, String)> =
        questions.iter().map(|one| (text(one, "phase"), text(one, "metric"))).collect();
    let expected = [("work", "time"), ("timed", "per-op"), ("paced", "p99")];
    assert_eq!(asked, expected.map(|(phase, metric)| (phase.to_owned(), metric.to_owned())));
    for record in env.records(1) {
        let work = phase(&record, "work");
        let program = work.program.as_ref().expect("fio did it");
        let own_ns = program.own_ns.expect("its jobs start at once");
        let compared_ns = work.ns(Clock::Returned).expect("it returned");
        assert!(compared_ns.abs_diff(own_ns) < 1_000_000, "{compared_ns} ns, by fio {own_ns} ns");
        assert!(work.clocks.returned_ns > compared_ns, "fio starts and ends in some time");
    }
}

#[test]
fn jobs_in_a_directory() {
    let env = TestEnv::new();
    if tool("fio").is_none() {
        return;
    }
    let (file, target) = (env.write("jobs.fio", JOBS), env.make_dir("target"));
    env.run_once(&["--on", &target, "--workload", &file]).good();
    assert_nothing_left(&env);
    assert_phases(&env.records(1)[0], 8 << 20, CacheState::Warm);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}

/// Each is refused before anything is made, with the file and line where it stands.
#[test]
fn refused_jobs() {
    for (line, words) in [
        ("filename=/dev/sda", &["a device or path outside", "relative"][..]),
        ("filename=a:/dev/vda", &["a device or path outside"]),
        ("filename=/etc/passwd", &["a device or path outside"]),
        ("filename=../../x", &["leaves the file system under test", "without .."]),
        ("directory=/tmp", &["a device or path outside", "remove the line"]),
        ("directory=a/../..", &["leaves the file system under test"]),
        ("exec_prerun=rm -rf x", &["runs a command", "remove the line"]),
        ("exec_postrun=ls", &["runs a command"]),
        ("ioengine=rbd", &["I/O engine \"rbd\"", "use one of"]),
        ("ioengine=nonsense", &["I/O engine \"nonsense\"", "psync"]),
        ("write_iolog=x", &["writes a trace"]),
        ("uid=0", &["changes the user"]),
        ("client=host", &["another machine"]),
        ("fill_device=1", &["ends when the file system is full", "size="]),
        ("include /etc/fstab", &["include"]),
    ] {
        let env = TestEnv::new();
        let target = env.make_dir("target");
        let file = env.write("bad.fio", &format!("# jobs\n[a]\nrw=read\nsize=1m\n{line}\n"));
        let ran = env.run_once(&["--on", &target, "--workload", &file]);
        ran.refused(2, &[&[format!("{file}:5:").as_str()], words].concat());
        assert!(!env.db().exists() && !env.state().exists(), "{line}: something was made");
        assert_nothing_left(&env);
    }
    let env = TestEnv::new();
    let missing = env.path("none.fio").display().to_string();
    let target = env.make_dir("target");
    env.run_once(&["--on", &target, "--workload", &missing]).refused(2, &["none.fio", "No such"]);
    let file = env.write("empty.fio", "");
    env.run_once(&["--on", &target, "--workload", &file]).refused(2, &["there is no job"]);
    let work = "[[workload]]\nname = \"w\"\nfio = \"\"\"\n[a]\nrw=read\nsize=1m\n\
                filename=/dev/sda\n\"\"\"\n";
    let file = env.experiment(&format!("device = \"{target}\"\ncache = \"warm\""), work);
    env.run(&["run", &file]).refused(2, &["test.toml:", "line 4 of the job file", "/dev/sda"]);
    assert_nothing_left(&env);
}

/// Without fio its workloads say what to install; the others run.
#[test]
fn without_fio() {
    let Some(env) = env(&["tmpfs"]) else { return };
    let file = env.write("jobs.fio", JOBS);
    let args = ["run", "--runs", "1", "--fs", "tmpfs", "--on", "ram:64M", "--scale", "0.02"];
    let both = format!("tiny-files,{file}");
    let with = |work: &str| {
        let command = without_command(&env, "fio", &[&args[..], &["--workload", work]].concat())?;
        Some(env.finish(command))
    };
    let reason = "fio is not installed; install the package fio";
    let Some(ran) = with(&file) else { return };
    ran.code(1).says(&["nothing to run", reason, "apt-get install fio", "--install-tools"]);
    assert_nothing_left(&env);
    let ran = with(&both).unwrap().good();
    ran.says(&["not run", reason, "apt-get install fio", "tiny-files / create"]);
    assert_nothing_left(&env);
    let record = env.records(env.runs().len()).remove(0);
    assert_eq!((record.key.workload.as_str(), record.outcome), ("tiny-files", Outcome::Done));
}

/// The device is too small for what the job does in its middle.
#[test]
fn full_in_the_middle() {
    let Some(env) = env(&["ext4"]) else { return };
    let jobs = "[global]\nbs=64k\n[small]\nrw=write\nsize=4m\n[large]\nstonewall\nrw=write\n\
                size=64m\n";
    let file = env.write("jobs.fio", jobs);
    let on = ["run", "--runs", "1", "--fs", "ext4", "--on", "ram:128M", "--cache", "warm"];
    let paused = env.pause(&[&on[..], &["--workload", &file]].concat(), "measure large");
    fsarena_testkit::ballast::fill(&paused.root(), 16 << 20).unwrap();
    let ran = paused.go_on().code(1);
    ran.says(&["No space left on device", "--on", "partial: large ended after"]);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["small", "large"]);
    assert_eq!(record.phases[0].error, None);
    let error = record.phases[1].error.as_ref().expect("it is marked");
    assert_eq!(error.errno, 28, "{error:?}");
    assert!(matches!(&record.outcome, Outcome::Failed { step, .. } if step == "measure large"));
}

const LONG: &str = "[long]\nrw=randwrite\nbs=4k\nsize=16m\ntime_based\nruntime=100\nnumjobs=2\n";

/// fio processes below the program, by their parents.
fn fios(live: &Live<'_>) -> Vec<Pid> {
    let mut family = vec![live.pid()];
    let mut found = Vec::new();
    let mut next = 0;
    while next < family.len() {
        let pid = family[next].as_raw_nonzero();
        next += 1;
        let children = format!("/proc/{pid}/task/{pid}/children");
        let children = fs::read_to_string(children).unwrap_or_default();
        family
            .extend(children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        if name.trim() == "fio" {
            found.push(family[next - 1]);
        }
    }
    found
}

/// A run of `LONG` whose fio and its two jobs are at work.
fn in_the_middle(env: &TestEnv) -> (Live<'_>, Vec<Pid>) {
    let file = env.write("long.fio", LONG);
    let on = ["run", "--runs", "1", "--fs", "ext4", "--on", "loop:128M", "--cache", "warm"];
    let mut live = env.start(&[&on[..], &["--workload", &file]].concat());
    let found = live.poll("fio with its jobs", |live| {
        let found = fios(live);
        (found.len() >= 3).then_some(found)
    });
    (live, found)
}

/// fio ends its jobs within about a second of being told.
#[track_caller]
fn assert_gone(found: &[Pid]) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let is_fio = |pid: &&Pid| {
        let comm = format!("/proc/{}/comm", pid.as_raw_nonzero());
        fs::read_to_string(comm).is_ok_and(|name| name.trim() == "fio")
    };
    while let Some(pid) = found.iter().find(is_fio) {
        assert!(Instant::now() < deadline, "fio {pid:?} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_in_the_middle() {
    let Some(env) = env(&["ext4"]) else { return };
    let (live, found) = in_the_middle(&env);
    live.signal_group(Signal::INT);
    live.end().code(130);
    assert_gone(&found);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
}

#[test]
fn killed_in_the_middle() {
    let Some(env) = env(&["ext4"]) else { return };
    for tree in [false, true] {
        let (live, found) = in_the_middle(&env);
        if tree {
            live.kill_tree();
        } else {
            live.signal(Signal::KILL);
        }
        live.end();
        assert_gone(&found);
        env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
        assert_nothing_left(&env);
    }
    assert!(env.runs().iter().all(|run| run.state == RunState::Interrupted));
}
