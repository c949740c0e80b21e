//! Orphans, in a process of its own: a reaper ends every child that came after its mark, those of
//! other tests too.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_process::{OrphanReaper, kill_orphans_by};
use rustix::io::Errno;
use rustix::process::{Signal, kill_process};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A shell with two below it that work on when it is killed; their process ids.
fn family() -> (Child, Vec<i32>) {
    let script = "sleep 1000 & echo $!; sh -c 'sleep 1000 & echo $!; wait' & wait";
    let mut shell = Command::new("sh");
    let mut shell = shell.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
    let pids = lines.take(2).map(|line| line.unwrap().parse().unwrap()).collect();
    (shell, pids)
}

fn lives(pid: i32) -> bool {
    PathBuf::from(format!("/proc/{pid}")).exists()
}

/// One test: each of them ends every child of this process that came after its own mark.
#[test]
fn those_of_a_killed_parent_are_ended_and_those_before_are_not() {
    let mut daemon = Command::new("sleep").arg("1000").spawn().unwrap();
    let orphans = OrphanReaper::mark();
    let (mut worker, pids) = family();
    worker.kill().unwrap();
    worker.wait().unwrap();
    assert!(pids.iter().all(|pid| lives(*pid)));
    orphans.end();
    assert!(!pids.iter().any(|pid| lives(*pid)), "{pids:?}");
    assert!(daemon.try_wait().unwrap().is_none(), "the one before");

    // One that may not be ended is left, and not waited for; the others are ended.
    let orphans = OrphanReaper::mark();
    let (mut worker, pids) = family();
    worker.kill().unwrap();
    worker.wait().unwrap();
    kill_orphans_by(
        |pid| orphans.is_new(pid),
        |pid| match pid.as_raw_nonzero().get() == pids[0] {
            true => Err(Errno::PERM),
            false => kill_process(pid, Signal::KILL),
        },
    );
    assert_eq!((lives(pids[0]), lives(pids[1])), (true, false));
    orphans.end();
    assert!(!lives(pids[0]));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
