//! Several ranks in one phase, on this host and on others. An ssh that starts its command here
//! stands for other hosts: what is beyond the connection is the same.

use crate::support::{Live, PROGRAM, TestEnv, assert_nothing_left, sh};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_store::Store;
use fsarena_testkit::hosts::TestHosts;
use fsarena_testkit::moosefs::MooseFs;
use fsarena_testkit::processes::{runs_as, state_of};
use fsarena_testkit::write_script;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::{Duration, Instant};

const SMALL: [&str; 4] = ["--workload", "small-files", "--scale", "0.01"];
/// A worker that nobody waits for is gone after this.
const SOON: Duration = Duration::from_secs(5);

impl TestEnv {
    /// An ssh that starts its command on this host; each host has its name in the environment.
    pub fn near_ssh(&self) -> String {
        let path = self.path("near-ssh");
        let text = "while [ $# -gt 2 ]; do shift; done\n\
                    case $1 in gone*) echo \"ssh: connect to host $1: No route to host\" >&2; \
                    exit 255;; esac\n\
                    export RANK_HOST=$1\nexec sh -c \"$2\"";
        write_script(&path, text);
        path.display().to_string()
    }

    /// `run` in a directory with ranks on these hosts.
    pub fn on_hosts<'a>(&self, hosts: &'a str, ssh: &'a str, target: &'a str) -> Vec<&'a str> {
        let on = ["run", "--runs", "1", "--seed", "1", "--on", target, "--hosts", hosts];
        [&on[..], &["--ssh", ssh, "--remote-program", PROGRAM], &SMALL].concat()
    }
}

/// Each timed phase has the ranks, their sums are those of the phase, and all files hold what one
/// process would have written.
pub fn assert_ranks(record: &TrialRecord, hosts: &[&str]) {
    assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
    assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
    for phase in &record.phases {
        let names: Vec<&str> = phase.ranks.iter().map(|rank| rank.hostname.as_str()).collect();
        assert_eq!(names, hosts, "{}", phase.name);
        assert_eq!(phase.threads.len(), phase.io.threads as usize, "{}", phase.name);
        assert_eq!(phase.ranks.iter().map(|rank| rank.ops).sum::<u64>(), phase.ops);
        assert!(phase.ranks.iter().all(|rank| rank.ops > 0), "{}", phase.name);
        let last_ns = phase.ranks.iter().map(|rank| rank.done_ns).max();
        assert_eq!(last_ns, Some(phase.clocks.returned_ns), "{}", phase.name);
        let durable_ns = phase.ranks.iter().map(|rank| rank.durable_ns.unwrap()).max();
        assert_eq!(durable_ns, phase.clocks.durable_ns, "{}", phase.name);
        let counted = phase.latency.as_ref().map(|latency| latency.count());
        assert_eq!(counted, Some(phase.ops), "{}", phase.name);
    }
}

#[test]
fn ranks_share_a_phase_on_this_host() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let args = [&["--on", &target, "--ranks", "3", "--verify"], &SMALL[..]].concat();
    env.run_once(&args).good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here, &here]);
    let one_clock = |phase: &fsarena_model::record::PhaseRecord| {
        phase.ranks.iter().all(|rank| rank.clock == Default::default())
    };
    assert!(record.phases.iter().all(one_clock));
}

#[test]
fn ranks_of_an_experiment_file() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let text = |io: &str| {
        format!(
            "schema = 1\nname = \"r\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
             cache = \"warm\"\n[[workload]]\nname = \"w\"\nfiles = 40\ndirs = 4\nsize = \"1 KiB\"\n\
             {io}\nphases = [\"create\", \"read\"]\n"
        )
    };
    let file = env.write("r.toml", &text("ranks = 2\nthreads = 4"));
    env.run(&["run", &file, "--verify"]).good();
    let record = env.records(1).remove(0);
    assert_eq!((record.phases[0].io.ranks, record.phases[0].io.threads), (2, 4));
    assert_eq!((record.phases[0].ranks.len(), record.phases[0].threads.len()), (2, 4));
    let file = env.write("r.toml", &text("ranks = 2\nthreads = 1"));
    env.run(&["run", &file]).code(2).says(&["r.toml:", "2 ranks for 1 thread(s)"]);
    let cycles = ["run", "--workload", "cycle", "--on", &target, "--ranks", "2"];
    env.run(&cycles).code(2).says(&["--ranks", "cycles are one process's"]);
}

#[test]
fn ranks_work_on_what_others_made() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let text = |io: &str| {
        format!(
            "schema = 1\nname = \"s\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
             cache = \"warm\"\n[[workload]]\nname = \"w\"\nfiles = 41\ndirs = 4\nsize = \"3 KiB\"\n\
             threads = 4\nranks = 4\n{io}\n\
             phases = [\"create\", \"stat\", \"read-random\", \"overwrite\", \"list\"]\n"
        )
    };
    let file = env.write("s.toml", &text("shift = 1"));
    env.run(&["run", &file, "--verify"]).good().says(&["each on the share 1 further"]);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here, &here, &here]);
    let shifts: Vec<u32> = record.phases.iter().map(|phase| phase.io.shift).collect();
    assert_eq!(shifts, [0, 1, 1, 1, 1]);
    // 11 files are in the first directories and 8 in the last: each has what the next one made.
    let ops = |phase: usize| record.phases[phase].ranks.iter().map(|rank| rank.ops);
    let (made, mut read) = (ops(0).collect::<Vec<_>>(), ops(2).collect::<Vec<_>>());
    read.rotate_right(1);
    assert_eq!((made, ops(2).sum::<u64>()), (read, 41));
    let file = env.write("s.toml", &text("shift = 4"));
    env.run(&["run", &file]).code(2).says(&["s.toml:", "no phase can take `shift`"]);
}

/// One big file by four ranks, call by call in turn, is what one process would have written.
#[test]
fn ranks_write_one_file_in_turn() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let text = |io: &str| {
        format!(
            "schema = 1\nname = \"i\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
             cache = \"warm\"\n[[workload]]\nname = \"hard\"\nfiles = 1\nsize = \"3000001 B\"\n\
             bs = \"47008 B\"\nthreads = 4\nranks = 4\nsharing = \"interleaved\"\n{io}\n\
             phases = [\"big-write\", {{ op = \"big-read\", shift = 1 }}]\n"
        )
    };
    let file = env.write("i.toml", &text(""));
    env.run(&["run", &file, "--verify"]).good().says(&["blocks of one file in turn", "45.9 KiB"]);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here, &here, &here]);
    for phase in &record.phases {
        let ops: Vec<u64> = phase.ranks.iter().map(|rank| rank.ops).collect();
        assert_eq!((ops, phase.asked_bytes), (vec![16; 4], 3_000_001), "{}", phase.name);
    }
    let file = env.write("i.toml", &text("direct = true"));
    env.run(&["run", &file]).code(2).says(&["direct with calls of 45.9 KiB", "logical sector"]);
}

/// A walk of the tree and stats at a set rate, by ranks in a real directory.
#[test]
fn ranks_find_what_they_made_and_stat_it_at_a_set_rate() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let text = format!(
        "schema = 1\nname = \"f\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
         cache = \"warm\"\n[[workload]]\nname = \"w\"\nfiles = 60\ndirs = 6\nsize = \"3901 B\"\n\
         threads = 2\nranks = 2\n\
         phases = [\"create\", \"find\", {{ name = \"none\", op = \"find\", bs = \"17 B\" }}, \
         {{ op = \"stat\", rate = 200 }}]\n"
    );
    let file = env.write("f.toml", &text);
    let words = ["of the largest size, new", "200 ops/s each, latency from the due time"];
    env.run(&["run", &file, "--verify"]).good().says(&words);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let here = record.ranks[0].hostname.clone();
    assert_ranks(&record, &[&here, &here]);
    let [_, find, none, paced] = record.phases.as_slice() else { panic!() };
    let (found, missed) = (find.find.unwrap(), none.find.unwrap());
    assert_eq!((found.entries, found.directories, found.matches), (66, 6, 60));
    assert_eq!(found.size_bytes, 3901);
    let off_ns = found.newer_than_unix_ns.abs_diff(record.started_unix_ns);
    assert!(off_ns < 1_000_000_000, "one clock, which nobody has set: {off_ns}");
    assert_eq!((missed.entries, missed.matches, missed.size_bytes), (66, 0, 17));
    assert_eq!((paced.io.rate, paced.ops), (Some(200), 60));
    // The last op of each is due 29 intervals of 5 ms after its first.
    assert!(paced.clocks.returned_ns >= 145_000_000, "{:?}", paced.clocks);
    let store = Store::open_read_only(&env.db()).unwrap();
    let plan = store.header(env.runs()[0].id).unwrap().plan;
    let questions = plan.verdict.map(|verdict| verdict.questions).unwrap_or_default();
    let of = |phase: &str| questions.iter().find(|one| one.phase == phase).map(|one| one.metric);
    assert!(of("stat").is_none_or(|metric| metric.name() == "p99"), "{questions:?}");
}

/// A workload that ends by the clock, in a directory, by ranks; `io` is further keys of it.
fn walled(target: &str, io: &str, phases: &str) -> String {
    format!(
        "schema = 1\nname = \"w\"\n[run]\nblocks = 1\n[factors]\ndevice = \"{target}\"\n\
         cache = \"warm\"\n[[workload]]\nname = \"w\"\n{io}\nphases = [{phases}]\n"
    )
}

/// Whichever rank is the fastest: all have done as much in the end, and what follows finds just
/// that.
#[test]
fn ranks_go_on_to_the_largest_count() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let easy = "files = 400_000\ndirs = 8\nsize = \"10 B\"\nthreads = 4\nranks = 2\nshift = 1";
    let phases = "{ op = \"create\", stonewall = \"300 ms\" }, \"find\", \"stat\", \"read-random\", \
                  { name = \"again\", op = \"read\", threads = 3, ranks = 3 }, \"delete\"";
    let hard = "files = 1\nsize = \"2 GiB\"\nbs = \"47008 B\"\nthreads = 2\nranks = 2\n\
                sharing = \"interleaved\"\nshift = 1";
    let written = "{ op = \"big-write\", stonewall = \"200 ms\" }, \"big-read\"";
    let far = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    for (run, (io, phases), hosts) in
        [(1, (easy, phases), &far[..0]), (2, (easy, phases), &far[..]), (3, (hard, written), &[])]
    {
        let file = env.write("w.toml", &walled(&target, io, phases));
        let said = ["with wear-out", "time of an op"];
        env.run(&[&["run", &file, "--verify"][..], hosts].concat()).good().says(&said);
        assert_nothing_left(&env);
        let record = env.records(run).remove(0);
        assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
        assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
        let made = &record.phases[0];
        let wall = made.stonewall.unwrap();
        assert!(wall.reached && wall.ops <= made.ops, "{wall:?}");
        let threads = u64::from(made.io.threads);
        assert_eq!(made.ops, threads * wall.each_ops, "{wall:?}");
        assert!(made.threads.iter().all(|thread| thread.ops == wall.each_ops));
        assert_eq!(made.ranks.len(), 2);
        assert!(made.ranks.iter().all(|rank| rank.ops * 2 == made.ops));
        let by_rank = made.ranks.iter().map(|rank| rank.stonewall.unwrap());
        assert_eq!(by_rank.map(|rank| rank.ops).sum::<u64>(), wall.ops);
        for phase in &record.phases[1..] {
            let of_dirs = if phase.name == "find" { 8 } else { 0 };
            assert_eq!(phase.ops, made.ops + of_dirs, "{}", phase.name);
        }
    }
    let store = Store::open_read_only(&env.db()).unwrap();
    let plan = store.header(env.runs()[0].id).unwrap().plan;
    let questions = plan.verdict.map(|verdict| verdict.questions).unwrap_or_default();
    assert!(questions.iter().all(|one| one.metric.name() == "per-op"), "{questions:?}");
}

#[test]
fn a_stonewall_that_is_never_reached_is_said() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let few = "files = 40\ndirs = 4\nsize = \"1 KiB\"\nthreads = 4\nranks = 2";
    let phases = "{ op = \"create\", stonewall = \"10 m\" }, \"read\"";
    let file = env.write("w.toml", &walled(&target, few, phases));
    env.run(&["run", &file, "--verify"]).good().says(&["before the stonewall", "nothing was cut"]);
    let record = env.records(1).remove(0);
    let wall = record.phases[0].stonewall.unwrap();
    assert_eq!((wall.reached, wall.ops, wall.each_ops), (false, 40, 10));
    assert_eq!(record.phases[1].ops, 40);
    let refused = walled(&target, few, "\"create\", { op = \"read\", stonewall = \"1 s\" }");
    let file = env.write("w.toml", &refused);
    env.run(&["run", &file]).code(2).says(&["w.toml:", "a stonewall with `read`"]);
    let cpu = walled(&target, few, phases).replace("[run]", "[run]\nask = [\"w:read:cpu\"]");
    let file = env.write("w.toml", &cpu);
    env.run(&["run", &file]).code(2).says(&["the clock decides how many ops it has"]);
}

/// All twelve phases, by ranks here and on hosts.
#[test]
fn the_phases_of_io500_are_done_in_a_directory() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let run = ["run", "io500-like", "--on", &target, "--scale", "0.01", "--runs", "1", "--verify"];
    let far = ["--ranks", "4", "--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    for (number, threads, more) in [(1, 2, &far[..0]), (2, 4, &far[..])] {
        env.run(&[&run[..], &["--stonewall", "100ms"], more].concat()).good();
        assert_nothing_left(&env);
        let records = env.records(number);
        let phases = || records.iter().flat_map(|record| &record.phases);
        assert_eq!((records.len(), phases().count()), (4, 12));
        for record in &records {
            assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
            assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
            let made = &record.phases[0];
            assert_eq!(made.io.stonewall_ns, Some(100_000_000));
            assert_eq!((made.io.threads, made.ranks.len()), (threads, threads as usize));
            for phase in record.phases.iter().filter(|phase| phase.name != "find") {
                assert_eq!(phase.ops, made.ops, "{} {}", record.key.workload, phase.name);
            }
        }
        let found: u64 = phases().filter_map(|phase| Some(phase.find?.matches)).sum();
        let easy = records.iter().find(|record| record.key.workload == "mdtest-easy").unwrap();
        assert_eq!(found, easy.phases[0].ops);
    }
    let other = ["run", "--on", &target, "--stonewall", "1s"];
    env.run(&[&other[..], &SMALL].concat())
        .code(2)
        .says(&["--stonewall: no phase ends by the clock"]);
    env.run(&[&run[..], &["--stonewall", "soon"]].concat()).code(2).says(&["--stonewall"]);
}

/// A rank that is dead when the others have met at the wall ends the trial with its name.
#[test]
fn a_rank_that_dies_at_the_wall_ends_the_trial() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let io = "files = 1_000_000\ndirs = 8\nsize = \"0 B\"\nthreads = 2\nranks = 2";
    let phases = "{ op = \"create\", stonewall = \"1500 ms\" }, \"delete\"";
    let file = env.write("w.toml", &walled(&target, io, phases));
    let hosts = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    let mut live = env.start(&[&["run", &file][..], &hosts].concat());
    let workers = live.poll("two ranks at work", |live| {
        let workers = live.workers();
        let is_at_work = |pid: &Pid| threads_ran_ns(*pid) > 100_000_000;
        (workers.len() == 2 && workers.iter().all(is_at_work)).then_some(workers)
    });
    kill_process(workers[1], Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert!(state_of(workers[0]).is_some(), "it waits");
    kill_process(workers[1], Signal::KILL).unwrap();
    let ran = live.end();
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank", "the worker ended without a result"]);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let Outcome::Failed { error, .. } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(error.contains("on a:") || error.contains("on b:"), "{error}");
}

/// Processor time of a process, ns.
fn threads_ran_ns(pid: Pid) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/schedstat", pid.as_raw_nonzero()))
        .unwrap_or_default();
    text.split_whitespace().next().and_then(|ran| ran.parse().ok()).unwrap_or(0)
}

#[test]
fn ranks_on_other_hosts_have_a_clock_with_its_error() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let args = [&env.on_hosts("a,b", &ssh, &target)[..], &["--ranks", "4", "--verify"]].concat();
    env.run(&args).good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["a", "a", "b", "b"]);
    for rank in record.phases.iter().flat_map(|phase| &phase.ranks) {
        // It is one clock: what was found is within the error that is stated.
        assert!(rank.clock.error_ns > 0, "{:?}", rank.clock);
        assert!(rank.clock.offset_ns.unsigned_abs() <= rank.clock.error_ns, "{:?}", rank.clock);
        assert_eq!(rank.boot_id, record.ranks[0].boot_id);
    }
    let store = Store::open_read_only(&env.db()).unwrap();
    let place = store.header(env.runs()[0].id).unwrap().place.unwrap();
    assert_eq!(place.hosts, ["a", "b"]);
}

#[test]
fn hosts_that_cannot_work_are_named_before_anything_is_made() {
    let env = TestEnv::new();
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let refused = |hosts: &str, more: &[&str], words: &[&str]| {
        let args = [&env.on_hosts(hosts, &ssh, &target)[..], more].concat();
        env.run(&args).code(2).says(words);
    };
    refused("a,gone1", &[], &["gone1: cannot be reached", "No route to host"]);
    refused("a,-oProxyCommand=x", &[], &["begins with a dash"]);
    refused("a,a", &[], &["\"a\" is named twice"]);
    refused("a,b", &["--ranks", "1"], &["--ranks 1: fewer than the 2 hosts"]);
    let run = ["run", "--on", &target, "--hosts", "a", "--ssh", &ssh];
    let other = |program: &str, words: &[&str]| {
        let args = [&run[..], &["--remote-program", program], &SMALL].concat();
        env.run(&args).code(2).says(words);
    };
    other("/nonexistent/fsarena", &["a: there is no /nonexistent/fsarena"]);
    other("true", &["a: true is another program"]);
    other("echo", &["a: echo is another program"]);
    let old = env.path("old-fsarena");
    let hello =
        r#"{"host":{"hostname":"x","boot_id":"","version":"0.0.1","arch":"x86_64","unix_ns":1}}"#;
    write_script(&old, &format!("echo '{hello}'"));
    other(&old.display().to_string(), &["a: fsarena 0.0.1 is there"]);
    if crate::support::is_root() {
        let on = ["run", "--fs", "ext4", "--on", "ram:64M", "--hosts", "a", "--ssh", &ssh];
        env.run(&[&on[..], &SMALL].concat()).code(2).says(&["name one of a shared file system"]);
    }
    assert!(!env.db().exists() || env.runs().is_empty(), "no RUN has begun");
    assert_nothing_left(&env);
}

/// Two ranks on hosts of their own, in the middle of the phase of [`TestEnv::long_experiment`], and
/// their workers.
fn two_at_work(env: &TestEnv) -> (Live<'_>, Vec<Pid>) {
    two_at_work_with(env, |_| {})
}

/// The same with a change of the command.
fn two_at_work_with(env: &TestEnv, change: impl Fn(&mut Command)) -> (Live<'_>, Vec<Pid>) {
    let (target, ssh) = (env.make_dir("target"), env.near_ssh());
    let experiment = env.long_experiment("", &target, "dirs = 20\n");
    let hosts = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    let mut command = env.command(&[&["run", &experiment][..], &hosts].concat());
    change(&mut command);
    let mut live = env.start_command(command);
    live.wait_for("[1/2]");
    let workers = live.poll("two ranks at work", |live| {
        let workers = live.workers();
        (workers.len() == 2).then_some(workers)
    });
    (live, workers)
}

/// A rank that dies ends the trial with its name, and takes the others with it.
#[test]
fn a_rank_that_dies_ends_the_trial() {
    let env = TestEnv::new();
    let (live, workers) = two_at_work(&env);
    kill_process(workers[1], Signal::KILL).unwrap();
    let ran = live.end();
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank", "on", "the worker ended without a result"]);
    assert_nothing_left(&env);
    assert!(matches!(env.records(1)[0].outcome, Outcome::Failed { .. }));
}

/// A rank that stood still has made the phase longer by its pause, wherever it runs.
#[test]
fn a_phase_with_a_rank_that_was_stopped_is_done_again() {
    let env = TestEnv::new();
    // Which would believe a rank that was stopped.
    let (mut live, _) = two_at_work_with(&env, |command| {
        command.env_remove("FSARENA_TEST_FAST");
    });
    // There are workers of set-up steps before.
    let worker = live.poll("the first file of the phase", |live| {
        let files = sh(&format!("find {} -type f | head -1", env.path("target").display()));
        live.workers().get(1).copied().filter(|_| !files.is_empty())
    });
    kill_process(worker, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    kill_process(worker, Signal::CONT).unwrap();
    live.wait_for("was ended by the machine, attempt 1: it is done again");
    live.end().good().says(&["phase create: rank", "stood still for about"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert!(records.iter().all(|record| record.outcome == Outcome::Done));
    let again = records[0].notices.iter().find(|notice| notice.code == "done-again");
    assert!(again.is_some_and(|notice| notice.text.contains(" stood still for about")));
}

/// Nobody works on for a runner that is gone: not the far side of a connection either.
#[test]
fn ranks_end_with_the_connection() {
    let env = TestEnv::new();
    let (live, workers) = two_at_work(&env);
    for executor in live.executors() {
        let _ = kill_process(executor, Signal::KILL);
    }
    let since = Instant::now();
    while workers.iter().any(|pid| state_of(*pid).is_some_and(|state| state != 'Z')) {
        assert!(since.elapsed() < SOON, "a worker works on");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(live);
    env.run(&["list"]);
    assert_nothing_left(&env);
}

/// A database does not decide what is connected to: the hosts are named again.
#[test]
fn a_run_on_hosts_is_resumed_with_its_hosts_alone() {
    let env = TestEnv::new();
    let (live, _) = two_at_work(&env);
    live.signal(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    let ssh = env.near_ssh();
    let resume = |hosts: &[&str]| env.run(&[&["run", "--resume"], hosts].concat());
    resume(&[]).code(2).says(&["the RUN has its ranks on other hosts", "--hosts a,b"]);
    let others = ["--hosts", "a,c", "--ssh", &ssh, "--remote-program", PROGRAM];
    resume(&others).code(2).says(&["--hosts a,b"]);
    let same = ["--hosts", "a,b", "--ssh", &ssh, "--remote-program", PROGRAM];
    resume(&same).good();
    assert_nothing_left(&env);
    let hosts = env.records(1).into_iter().flat_map(|record| record.phases);
    let hosts: Vec<_> = hosts.flat_map(|phase| phase.ranks).map(|rank| rank.hostname).collect();
    assert_eq!(hosts, ["a", "b", "a", "b"]);
}

/// Hosts of a network of this machine; `None`, with the reason printed, where there can be none.
pub fn network(count: usize) -> Option<TestHosts> {
    let started = TestHosts::start(count);
    started.map_err(|reason| println!("not run: {reason}")).ok()
}

/// Such hosts with a file system that all of them share.
pub fn shared_network(count: usize) -> Option<(TestHosts, MooseFs)> {
    let hosts = network(count)?;
    let started = MooseFs::start(&hosts);
    let shared = started.map_err(|reason| println!("not run: {reason}")).ok()?;
    Some((hosts, shared))
}

/// Processes of ours on a host.
pub fn at_work(hosts: &TestHosts, host: usize) -> Vec<Pid> {
    let ours = ["rank-server", "worker", "agent"];
    let is_ours = |pid: &Pid| ours.iter().any(|command| runs_as(*pid, command));
    hosts.processes(host).into_iter().filter(is_ours).collect()
}

#[track_caller]
pub fn assert_none_at_work(hosts: &TestHosts, count: usize) {
    let since = Instant::now();
    while (0..count).any(|host| !at_work(hosts, host).is_empty()) {
        assert!(since.elapsed() < SOON, "a rank works on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn ranks_on_hosts_of_a_network() {
    let Some(hosts) = network(3) else { return };
    let env = TestEnv::new();
    let (target, ssh, names) = (env.make_dir("target"), hosts.ssh(), hosts.names());
    let args = [&env.on_hosts(&names, &ssh, &target)[..], &["--verify"]].concat();
    env.run(&args).good();
    assert_nothing_left(&env);
    assert_none_at_work(&hosts, 3);
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["fh1", "fh2", "fh3"]);
    let clocks = record.phases.iter().flat_map(|phase| &phase.ranks).map(|rank| rank.clock);
    for clock in clocks {
        // It is one clock, seen over a network: what was found is within the error that is stated.
        assert!(
            clock.error_ns > 0 && clock.offset_ns.unsigned_abs() <= clock.error_ns,
            "{clock:?}"
        );
    }
    env.run(&["show", "latest"]).good().says(&["slowest ranks", "start skew"]);
}

/// Each rank is a client of its own of a file system that all share; what they wrote is read back
/// here, by another client.
#[test]
fn fuse_ranks_are_clients_of_a_shared_file_system() {
    let Some((hosts, shared)) = shared_network(3) else { return };
    let env = TestEnv::new();
    let target = shared.mount_point().join("bench");
    std::fs::create_dir(&target).unwrap();
    let (target, ssh, names) = (target.display().to_string(), hosts.ssh(), hosts.names());
    let args = [&env.on_hosts(&names, &ssh, &target)[..], &["--verify"]].concat();
    env.run(&args).good();
    assert_none_at_work(&hosts, 3);
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["fh1", "fh2", "fh3"]);
    assert_nothing_left(&env);
}

/// A host that is gone ends the trial with its name: at once where its connection ends, and where
/// its network is cut when ssh gives it up.
#[test]
fn a_host_that_is_lost_ends_the_trial_with_its_name() {
    for is_cut in [false, true] {
        let Some(hosts) = network(2) else { return };
        let env = TestEnv::new();
        let target = env.make_dir("target");
        let ssh = format!("{} -o ServerAliveInterval=1 -o ServerAliveCountMax=2", hosts.ssh());
        let experiment = env.long_experiment("", &target, "dirs = 20\n");
        let names = hosts.names();
        let on = ["--hosts", &names, "--ssh", &ssh, "--remote-program", PROGRAM];
        let mut live = env.start(&[&["run", &experiment][..], &on].concat());
        live.wait_for("[1/2]");
        live.poll("a rank at work on each host", |_| {
            // Its worker and who speaks for it, and the agent with the process outside.
            (0..2).all(|host| at_work(&hosts, host).len() == 4).then_some(())
        });
        if is_cut {
            hosts.disconnect(1);
        } else {
            hosts.end_connections(1);
        }
        let ran = live.end();
        assert_ne!(ran.code, Some(0));
        let Outcome::Failed { error, .. } = &env.records(1)[0].outcome else {
            panic!("a host was lost, and all is said to be well");
        };
        // Its rank and its agent are gone at once: either may be noticed first.
        let names_host = ["rank 1 on fh2: ", "the agent on fh2: "];
        assert!(names_host.iter().any(|words| error.starts_with(words)), "{error}");
        ran.says(&[error]);
        assert_none_at_work(&hosts, 1);
        if !is_cut {
            assert_none_at_work(&hosts, 2);
        }
        assert_nothing_left(&env);
    }
}
