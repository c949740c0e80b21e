//! Hosts of ranks that are otherwise than they should be: slow to reach, with a clock of their own,
//! with a directory that cannot be written, without room.

use crate::ranks::{assert_none_at_work, assert_ranks, network};
use crate::support::{PROGRAM, TestEnv, assert_nothing_left, sh, tool};
use fsarena_model::record::Outcome;
use fsarena_testkit::write_script;
use std::path::Path;

/// A year, s.
const YEAR_S: i64 = 31_536_000;

/// What is said and done goes over a link of a megabit each second; nothing is given up, and the
/// files are those of a fast one.
#[test]
fn a_slow_link() {
    let Some(hosts) = network(2) else { return };
    if let Err(reason) = hosts.slow_down(1, "1mbit") {
        println!("not run: {reason}");
        return;
    }
    let env = TestEnv::new();
    let (target, ssh, names) = (env.make_dir("target"), hosts.ssh(), hosts.names());
    env.run(&[&env.on_hosts(&names, &ssh, &target)[..], &["--verify"]].concat()).good();
    assert_none_at_work(&hosts, 2);
    assert_nothing_left(&env);
    assert_ranks(&env.records(1).remove(0), &["fh1", "fh2"]);
}

/// Where the clock of a host stands says nothing of how long its work took.
#[test]
fn a_clock_a_year_off() {
    if !Path::new("/proc/self/ns/time").exists() || tool("unshare").is_none() {
        println!("not run: no time namespaces, or no unshare");
        return;
    }
    let env = TestEnv::privileged(&[]);
    let Some(env) = env else { return };
    let program = env.path("another-year");
    write_script(
        &program,
        &format!(
            "case $RANK_HOST in\nb) exec unshare --time --fork --kill-child --monotonic {YEAR_S} \
             {PROGRAM} \"$@\";;\nesac\nexec {PROGRAM} \"$@\""
        ),
    );
    let (target, ssh, program) = (env.make_dir("target"), env.near_ssh(), program.display());
    let on = ["run", "--runs", "1", "--on", &target, "--hosts", "a,b", "--ssh", &ssh, "--verify"];
    let what = ["--workload", "small-files", "--scale", "0.05", "--remote-program"];
    env.run(&[&on[..], &what, &[&program.to_string()]].concat()).good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    assert_ranks(&record, &["a", "b"]);
    for phase in &record.phases {
        let clock = phase.ranks[1].clock;
        let off_ns = clock.offset_ns.saturating_add(YEAR_S * 1_000_000_000);
        assert!(off_ns.unsigned_abs() <= clock.error_ns, "{clock:?}");
        assert!(phase.clocks.returned_ns < 60_000_000_000, "{:?}", phase.clocks);
        for client in &phase.clients {
            let series = client.counts.series.as_ref().expect("samples");
            let last = *series.t_ns.last().unwrap();
            assert!((0..60_000_000_000).contains(&last), "{}: {last}", client.hostname);
        }
    }
}

/// A phase of under a second, of which a host says that it took more than a day: what passed here
/// between the start and the result is known.
#[test]
fn a_host_that_says_more_time_passed_than_did() {
    let env = TestEnv::new();
    let program = env.path("another-length");
    let late = "s/\\(\"\\(returned\\|durable\\)_monotonic_ns\":\\)\\([0-9]\\)/\\19\\3/g";
    write_script(
        &program,
        &format!(
            "case $RANK_HOST:$1 in\nb:rank-server) {PROGRAM} \"$@\" | sed -u '{late}'; exit;;\n\
             esac\nexec {PROGRAM} \"$@\""
        ),
    );
    let (target, ssh, program) = (env.make_dir("target"), env.near_ssh(), program.display());
    let on = ["run", "--runs", "1", "--on", &target, "--hosts", "a,b", "--ssh", &ssh];
    let what = ["--workload", "small-files", "--scale", "0.05", "--remote-program"];
    let ran = env.run(&[&on[..], &what, &[&program.to_string()]].concat());
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank 1 on b: it reports", "passed between the start of the phase and its result"]);
    let record = env.records(1).remove(0);
    let Outcome::Failed { error, remedy, .. } = &record.outcome else {
        panic!("{:?}", record.outcome)
    };
    assert!(error.starts_with("rank 1 on b: it reports "), "{error}");
    assert!(remedy.as_ref().is_some_and(|remedy| remedy.contains("--hosts")), "{remedy:?}");
    assert!(record.phases.is_empty(), "{:?}", record.phases[0].clocks);
    assert_nothing_left(&env);
}

/// A host that begins well, and whose answer then has no end that is worth waiting for.
#[test]
fn a_host_whose_answer_is_too_long() {
    let env = TestEnv::new();
    let program = env.path("endless");
    write_script(
        &program,
        &format!(
            "case $RANK_HOST:$1 in\nb:rank-server) {PROGRAM} \"$@\" | while read -r line; do case $line \
             in '\"ready\"') head -c 200000000 /dev/zero | tr '\\0' x;; *) printf '%s\\n' \
             \"$line\";; esac; done; exit;;\nesac\nexec {PROGRAM} \"$@\""
        ),
    );
    let (target, ssh, program) = (env.make_dir("target"), env.near_ssh(), program.display());
    let on = ["run", "--runs", "1", "--on", &target, "--hosts", "a,b", "--ssh", &ssh];
    let what = ["--workload", "small-files", "--scale", "0.05", "--remote-program"];
    let ran = env.run(&[&on[..], &what, &[&program.to_string()]].concat());
    assert_ne!(ran.code, Some(0));
    ran.says(&["rank 1 on b: its answer has more than 64 MiB"]);
    assert_nothing_left(&env);
}

/// The directory is there, and is written by one host alone.
#[test]
fn a_directory_that_a_host_cannot_write() {
    let Some(hosts) = network(2) else { return };
    let env = TestEnv::new();
    let (target, ssh, names) = (env.make_dir("target"), hosts.ssh(), hosts.names());
    sh(&format!("{ssh} fh2 'mount --bind {target} {target} && mount -o remount,bind,ro {target}'"));
    let ran = env.run(&env.on_hosts(&names, &ssh, &target));
    assert_ne!(ran.code, Some(0));
    ran.says(&["the agent on fh2:", "cannot be written there: Read-only file system"]);
    assert_none_at_work(&hosts, 2);
    assert_nothing_left(&env);
}

/// The program is copied to hosts that have no place for it.
#[test]
fn a_host_without_room_for_the_program() {
    let Some(hosts) = network(2) else { return };
    let env = TestEnv::new();
    let ssh = hosts.ssh();
    sh(&format!("{ssh} fh2 'mkdir -p ~/.local && mount -t tmpfs -o size=64k x ~/.local'"));
    let all = ["fleet", "run", "quick", "--ssh", &ssh, "--hosts", "fh1,fh2", "--install"];
    let ran = env.run(&all).code(1);
    ran.says(&["fh2: ", "No space left on device", "nothing was begun"]);
    assert!(!env.db().exists(), "something was recorded");
    let left = hosts.home(1).join(".local/share/fsarena/bin");
    assert!(!left.exists() || left.read_dir().unwrap().next().is_none(), "half a program");
    assert_nothing_left(&env);
}
