//! Programs that are killed in the middle, that stay in the background, or whose worker dies.

use super::{alone, at_work, command, kill, make_tree, new_root, run, task, within_20_s};
use fsarena_model::job::{Compression, JobKind};
use fsarena_model::work::{JobTask, WorkerReport};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const AS_WORKER: &str = "FSARENA_TEST_PROGRAM_BELOW";

/// Runs `task` and kills the first process called `name` that works below `root`.
fn killed(root: &Path, task: &JobTask, name: &str) -> WorkerReport {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(root, task).unwrap());
        within_20_s(&format!("{name} is at work"), || match at_work(name, root).first() {
            Some(&pid) => {
                kill(pid);
                true
            }
            None => false,
        });
        running.join().unwrap()
    })
}

#[test]
fn a_copy_that_is_killed_is_told() {
    let root = new_root();
    fs::create_dir(root.path().join("data")).unwrap();
    for n in 0..20_000 {
        fs::write(root.path().join(format!("data/{n}")), "x").unwrap();
    }
    let report = killed(root.path(), &task(JobKind::Copy, "copy", "data"), "cp");
    let error = report.error.unwrap();
    assert_eq!(error.text, "phase copy: cp was killed by signal 9");
    assert_eq!((error.call.as_str(), report.ops, report.asked_bytes), ("cp", 0, 0));
    assert!(report.durable_monotonic_ns.is_some());
    assert!(fs::read_dir(root.path().join("copy")).map_or(0, Iterator::count) < 20_000);
}

/// 60 MB that take gzip seconds.
fn make_hard_to_pack(root: &Path) {
    make_tree(&root.join("data"));
    let mut state = 7_u32;
    let mut noise = vec![0; 60_000_000];
    for byte in &mut noise {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8 & 63;
    }
    fs::write(root.join("data/noise"), noise).unwrap();
}

#[test]
fn a_tar_whose_gzip_is_killed_says_so() {
    let root = new_root();
    make_hard_to_pack(root.path());
    let pack = task(JobKind::Archive { compression: Compression::Gzip }, "pack", "data");
    let error = killed(root.path(), &pack, "gzip").error.unwrap();
    assert!(error.text.contains("phase pack: tar ended with exit code 2: "), "{}", error.text);
    // tar runs it by a shell, which tells of a signal by 128 and more.
    assert!(error.text.contains("tar: Child returned status 137"), "{}", error.text);
    assert!(at_work("tar", root.path()).is_empty() && at_work("gzip", root.path()).is_empty());
}

#[test]
fn a_tar_that_is_killed_leaves_no_gzip() {
    let root = new_root();
    make_hard_to_pack(root.path());
    let pack = task(JobKind::Archive { compression: Compression::Gzip }, "pack", "data");
    let error = killed(root.path(), &pack, "tar").error.unwrap();
    assert!(error.text.contains("tar "), "{}", error.text);
    assert!(at_work("tar", root.path()).is_empty() && at_work("gzip", root.path()).is_empty());
}

#[test]
fn a_shell_that_is_killed_leaves_nobody() {
    let root = new_root();
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(root.path(), &command("sleep 100; true")).unwrap());
        within_20_s("the sleep", || at_work("sleep", root.path()).len() == 1);
        kill(at_work("sh", root.path())[0]);
        running.join().unwrap()
    });
    assert_eq!(report.error.unwrap().text, "phase command: sh was killed by signal 9");
    assert_eq!(report.program.unwrap().figures["ended_in_background"], "1");
    assert!(at_work("sleep", root.path()).is_empty());
}

#[test]
fn the_background_ends_with_the_phase() {
    let root = new_root();
    for (text, count) in [
        ("sleep 100 & sleep 200 & true", "2"),
        // One that floods what nobody reads any more, one in a session of its own, and its child.
        ("yes >&2 & setsid sh -c 'sleep 9 & echo > up; wait' & while ! [ -s up ]; do :; done", "3"),
    ] {
        let start = std::time::Instant::now();
        let report = run(root.path(), &command(text)).unwrap();
        assert!(start.elapsed().as_secs() < 50, "{text}");
        assert_eq!(report.error, None, "{text}");
        let figures = report.program.unwrap().figures;
        assert_eq!(figures.get("ended_in_background").map(String::as_str), Some(count), "{text}");
        assert!(at_work("sleep", root.path()).is_empty(), "{text}");
        assert!(at_work("yes", root.path()).is_empty(), "{text}");
    }
    let report = run(root.path(), &command("true & wait; (sleep 0.01 &) ; sleep 0.5")).unwrap();
    let figures = report.program.unwrap().figures;
    assert_eq!(figures.get("ended_in_background"), None, "they had ended by themselves");
}

/// Not a test by itself: what `a_program_ends_with_its_worker` runs and kills.
#[test]
fn as_worker_of_a_program() {
    if let Some(root) = std::env::var_os(AS_WORKER) {
        let _ = run(Path::new(&root), &command("exec sleep 100"));
    } else {
        println!("not run: the child of another test");
    }
}

#[test]
fn a_program_ends_with_its_worker() {
    // The program of a dead worker comes to this process, and is not to be taken for another's.
    let _alone = alone();
    let root = new_root();
    let mut worker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stopped::as_worker_of_a_program", "--test-threads=1"])
        .env(AS_WORKER, root.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    within_20_s("the sleep", || at_work("sleep", root.path()).len() == 1);
    worker.kill().unwrap();
    worker.wait().unwrap();
    within_20_s("nobody is left", || at_work("sleep", root.path()).is_empty());
}
