//! Commands of the user's: what they see, and how they fail.

use super::full::SmallTmpfs;
use super::{command, make_tree, new_root, run, task};
use fsarena_engine::Root;
use fsarena_model::job::JobKind;
use fsarena_model::work::JobTask;
use fsarena_worker::program::{HookRun, JobRun, find_programs};
use std::fs;
use std::path::Path;

#[test]
fn a_command_sees_the_root_the_source_and_nothing_of_the_users() {
    let root = new_root();
    make_tree(&root.path().join("data"));
    let text =
        "cp -r {data} {mnt}/copy; env > {mnt}/env; pwd > where; umask >> where; cat >> where";
    let report = run(root.path(), &command(text)).unwrap();
    assert_eq!(report.error, None);
    assert_eq!((report.ops, report.asked_bytes, report.asked_written_bytes), (0, 0, Some(0)));
    assert!(root.path().join("copy/run").is_file());
    let env = fs::read_to_string(root.path().join("env")).unwrap();
    let mut names: Vec<&str> = env.lines().map(|line| line.split_once('=').unwrap().0).collect();
    names.sort_unstable();
    // A shell adds the working directory, and some of them more of its own.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    assert_eq!(names, ["HOME", "LC_ALL", "PATH"]);
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";
    assert!(env.contains(path) && env.contains("HOME=/\n") && env.contains("LC_ALL=C\n"), "{env}");
    let root_path = root.path().canonicalize().unwrap();
    let told = fs::read_to_string(root.path().join("where")).unwrap();
    assert_eq!(told, format!("{}\n0022\n", root_path.display()), "and no standard input");
    let program = report.program.unwrap();
    assert_eq!(program.argv[1], "-c");
    assert!(program.argv[2].starts_with("cp -r '"), "{:?}", program.argv);
}

#[test]
fn programs_of_a_command_are_recorded_and_a_missing_one_is_named() {
    let root = new_root();
    let mut with = command("true");
    let JobKind::Command(shell) = &mut with.job.kind else { panic!() };
    shell.programs = vec!["gzip".to_owned()];
    let report = run(root.path(), &with).unwrap();
    let tools = report.program.unwrap().tools;
    assert_eq!((tools[0].name.as_str(), tools[1].name.as_str()), ("sh", "gzip"));
    assert!(tools[1].version.starts_with("gzip "), "{}", tools[1].version);

    let JobKind::Command(shell) = &mut with.job.kind else { panic!() };
    shell.programs = vec!["no-such-program".to_owned()];
    let missing = find_programs(&with.job).unwrap_err();
    assert_eq!(missing.program, "no-such-program");
    let told = JobRun::prepare(&with, root.path()).unwrap_err().to_string();
    assert!(told.starts_with("no-such-program is not installed (looked in /usr/local/"), "{told}");
}

#[test]
fn a_failure_is_told_with_its_code_and_last_words() {
    let root = new_root();
    let error = |text: &str| run(root.path(), &command(text)).unwrap().error.unwrap();
    let failed = error("echo first >&2; echo 'at last' >&2; exit 3");
    assert_eq!(failed.text, "phase command: sh ended with exit code 3: first / at last");
    assert_eq!((failed.call.as_str(), failed.path.as_str(), failed.errno), ("sh", ".", 0));
    let failed = error("cp nothing anywhere");
    assert!(failed.text.contains("cannot stat 'nothing'"), "{}", failed.text);
    assert_eq!(failed.errno, 2);
    let failed = error("sh -c 'kill -9 $$'; exit $?");
    assert!(
        failed.text.contains("137 (perhaps what it ran was killed by signal 9)"),
        "{}",
        failed.text
    );
    let failed = error("no-such-program");
    assert!(
        failed.text.contains("exit code 127: sh: 1: no-such-program: not found"),
        "{}",
        failed.text
    );
}

#[test]
fn a_full_file_system_is_told_by_number() {
    let Some(small) = SmallTmpfs::mount(200_000) else { return };
    let elsewhere = new_root();
    make_tree(&elsewhere.path().join("data"));
    let input = elsewhere.path().join("data");
    let copy = task(JobKind::Copy, "copy", input.to_str().unwrap());
    let report = run(small.path(), &copy).unwrap();
    let error = report.error.unwrap();
    assert_eq!((error.call.as_str(), error.errno), ("cp", 28), "{}", error.text);
    assert!(error.text.contains("No space left on device"), "{}", error.text);
    assert_eq!((report.ops, report.asked_bytes, report.asked_written_bytes), (0, 0, Some(0)));
    assert!(report.durable_monotonic_ns.is_some());
}

#[test]
fn floods_neither_hang_nor_fill_memory() {
    let root = new_root();
    let peak_kib = || {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let report = run(root.path(), &command("yes out | head -c 300000000")).unwrap();
    assert_eq!(report.error, None);
    let before_kib = peak_kib();
    let flood = "yes complaint | head -c 100000000 >&2; echo >&2; echo end >&2; exit 9";
    let error = run(root.path(), &command(flood)).unwrap().error.unwrap();
    assert!(peak_kib() < before_kib + 50_000, "{} KiB before", before_kib);
    assert!(error.text.ends_with("complaint / end"), "{}", error.text);
    assert!(error.text.len() <= 500, "{}", error.text.len());
}

#[test]
fn a_hook_runs_in_the_root_and_says_why_it_fails() {
    let dir = new_root();
    let root = Root::open(dir.path()).unwrap();
    let hook = |text: &str| HookRun::prepare(text, Path::new("data"), dir.path());
    hook("echo {data} > made").unwrap().run(&root).unwrap();
    let said = fs::read_to_string(dir.path().join("made")).unwrap();
    assert_eq!(said.trim_end(), dir.path().join("data").to_str().unwrap());
    let error = hook("echo why >&2; exit 4").unwrap().run(&root).unwrap_err();
    assert_eq!(error.text, "hook: sh ended with exit code 4: why");
    assert!(hook("echo {dev}").unwrap_err().to_string().contains("{dev} has no meaning here"));
    let elsewhere = HookRun::prepare("ls {data}", Path::new("/etc"), dir.path()).unwrap();
    elsewhere.run(&root).unwrap();
}

#[test]
fn a_source_elsewhere_is_named_by_its_own_path() {
    let root = new_root();
    let task = JobTask { data: "/etc/passwd".into(), ..command("cp {data} {mnt}/p") };
    assert_eq!(run(root.path(), &task).unwrap().error, None);
    assert_eq!(fs::read(root.path().join("p")).unwrap(), fs::read("/etc/passwd").unwrap());
}
