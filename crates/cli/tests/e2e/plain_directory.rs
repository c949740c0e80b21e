//! A directory as the target: no root, no mkfs, nothing of the user's touched.

use crate::support::{TestEnv, assert_nothing_left, is_root};
use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheState, Outcome};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

const SMALL: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.02"];
/// Somebody without rights.
const NOBODY: u32 = 65534;

#[test]
fn life_in_a_directory() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    fs::write(env.path("target/mine"), "mine").unwrap();
    let ran = env.run_once(&[&["--on", &target, "--verify"], &SMALL[..]].concat()).good();
    ran.says(&["directory", "tiny-files / read-random"]);
    assert_nothing_left(&env);
    // What the clock holds is said once on the first screen, however many phases there are.
    let shown = env.run(&["show"]).good().stdout;
    let (answer, _) = shown.split_once("all figures: ").unwrap();
    assert_eq!(answer.matches("the work was done in a directory on").count(), 1, "{answer}");
    let names: Vec<_> = fs::read_dir(&target).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["mine"], "the user's files, and they alone");
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
    let codes: Vec<&str> = record.notices.iter().map(|notice| notice.code.as_str()).collect();
    assert_eq!(codes.iter().filter(|code| **code == "directory-durable").count(), 1, "{codes:?}");
    for phase in &record.phases {
        assert_eq!(phase.cache.state, CacheState::Warm, "a directory cannot be made cold");
        assert_eq!(phase.ops, 200);
        let durable_ns = phase.clocks.durable_ns.expect("syncfs was done");
        assert!(phase.clocks.returned_ns <= durable_ns);
    }
}

/// Cold caches that cannot be had: what was asked stays asked, in the record and on every output,
/// and the exit code says so where the user asked.
#[test]
fn cold_caches_of_a_directory_stay_asked() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let on = ["run", "--runs", "1", "--on", &target];
    let by_option = [&on[..], &["--cache", "cold"], &SMALL].concat();
    let dry = env.run(&[&by_option[..], &["--dry-run"]].concat()).good();
    dry.says(&["warm, not cold", "cache = cold was asked for and is not possible for directory"]);
    let ran = env.run(&by_option).code(5);
    let (answer, _) = ran.stdout.split_once("all figures: ").unwrap();
    assert!(answer.contains("time until safe on disk, warm"), "{answer}");
    assert!(answer.contains("cache = cold was asked for and is not possible"), "{answer}");
    assert!(ran.stderr.contains("cold caches were asked for and cannot be had"), "{}", ran.stderr);
    for phase in &env.records(1)[0].phases {
        assert_eq!((phase.cache.asked, phase.cache.state), (Cache::Cold, CacheState::Warm));
        assert!(phase.cache.why.contains("cannot unmount a directory"), "{}", phase.cache.why);
    }
    env.run(&["show"]).good().says(&["directory (warm)"]);
    let exported = env.run(&["export", "--format", "csv"]).good().stdout;
    let mut rows = exported.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = rows.next().unwrap();
    let at = |name: &str| heads.iter().position(|head| *head == name).unwrap();
    let caches: Vec<_> = rows.map(|row| (row[at("cache_asked")], row[at("cache")])).collect();
    assert!(caches.iter().all(|one| *one == ("cold", "warm")), "{caches:?}");
    let page = env.path("page.html").display().to_string();
    env.run(&["report", "-o", &page]).good();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("(warm)") && page.contains("Cache = cold was asked for"), "the page");

    // A file of the user's asks as an option does; a default does not ask.
    let asked = |caches: &str, runs: &str| {
        env.write(
            "own.toml",
            &format!(
                "schema = 1\nname = \"own\"\n[run]\nblocks = {runs}\n[factors]\ndevice = \
                 \"{target}\"\n{caches}\n[[workload]]\nuse = \"tiny-files\"\n"
            ),
        )
    };
    env.run(&["run", &asked("cache = \"cold\"", "1"), "--scale", "0.02"]).code(5);
    let by_default = env.run(&["run", &asked("", "1"), "--scale", "0.02"]).good();
    by_default.says(&["safe on disk, warm", "cache = cold was asked for and is not possible"]);
    let warm = env.run(&["run", &asked("cache = \"warm\"", "1"), "--scale", "0.02"]).good();
    assert!(!warm.stdout.contains("was asked for"), "{}", warm.stdout);
    assert_nothing_left(&env);
}

/// The program as seen by a user without rights: a copy that this user can reach, and a test
/// environment that belongs to them.
pub fn as_nobody(env: &TestEnv, args: &[&str]) -> Option<Command> {
    if !is_root() {
        println!("not run: needs root, to become somebody else");
        return None;
    }
    let program = env.path("program");
    if !program.exists() {
        fs::copy(crate::support::PROGRAM, &program).unwrap();
    }
    for dir in [env.dir().to_owned(), env.images(), env.path("said")] {
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = env.command_of(&program.display().to_string(), args);
    command.uid(NOBODY).gid(NOBODY);
    Some(command)
}

/// Without root and without a word about the target: a directory, and one line on what root adds.
#[test]
fn without_root() {
    let env = TestEnv::new();
    let args = [&["run", "--runs", "1"], &SMALL[..]].concat();
    let Some(command) = as_nobody(&env, &args) else { return };
    let ran = env.finish(command).good();
    let lines = ran.stderr.lines().filter(|line| line.contains("root")).collect::<Vec<_>>();
    assert_eq!(lines.len(), 1, "{}", ran.stderr);
    assert!(lines[0].contains("not root: working in"), "{}", lines[0]);
    assert!(lines[0].contains("as root, file systems would be made"), "{}", lines[0]);
    let said = ["directory", "tiny-files create"];
    let ran = ran.says(&said);
    ran.says(&["safe on disk, warm", "cache = cold was asked for and is not possible"]);
    assert_nothing_left(&env);
    // Root does nothing by what another user has in the state directory.
    let refused = env.run(&["show"]);
    refused.says(&["belongs to user 65534", "set FSARENA_STATE_DIR"]);
    let show = as_nobody(&env, &["show", "1", "--json"]).unwrap();
    let record = &env.finish(show).good().records()[0];
    assert_eq!(record.outcome, Outcome::Done);
    let cache = &record.phases[0].cache;
    assert_eq!((cache.asked, cache.state), (Cache::Cold, CacheState::Warm));
}

#[test]
fn without_root_in_a_named_directory() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let args = [&["run", "--runs", "1", "--on", &target], &SMALL[..]].concat();
    let Some(command) = as_nobody(&env, &args) else { return };
    env.finish(command).code(2).says(&["not writable", "name a writable directory"]);
    std::os::unix::fs::chown(&target, Some(NOBODY), Some(NOBODY)).unwrap();
    let command = as_nobody(&env, &args).unwrap();
    env.finish(command).good();
    assert_nothing_left(&env);
}

/// A loop device is refused with the reason and both ways out.
#[test]
fn without_root_there_is_no_loop_device() {
    let env = TestEnv::new();
    let on = ["run", "--runs", "1", "--fs", "ext4,tmpfs", "--on", "loop:128M"];
    let Some(command) = as_nobody(&env, &[&on[..], &SMALL].concat()) else { return };
    env.finish(command).code(1).says(&["needs root", "nothing to run"]);
    assert_nothing_left(&env);
}

#[test]
fn without_root_a_mixed_run_does_what_it_can() {
    let env = TestEnv::new();
    let args = ["run", "--dry-run"];
    let Some(command) = as_nobody(&env, &args) else { return };
    env.finish(command).good().says(&["directory", "Nothing has been touched"]);
    assert!(!env.db().exists() && !env.state().exists());
    assert!(!env.path(".cache").exists(), "the directory to work in is not made");
    assert_nothing_left(&env);
}

/// Where root may not make namespaces, as in most containers, a directory can still be worked in.
#[test]
fn root_without_the_right_to_mount() {
    if !is_root() {
        println!("not run: needs root, to give a right up");
        return;
    }
    let Some(setpriv) = crate::support::tool("setpriv") else { return };
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let drop = ["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"];
    let work = ["--workload", "small-files", "--scale", "0.01"];
    let run = [crate::support::PROGRAM, "run", "--runs", "1", "--on", &target];
    env.finish(env.command_of(&setpriv, &[&drop[..], &run, &work].concat())).good();
    assert_nothing_left(&env);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
    // What needs the right says so.
    let mount =
        ["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "unshare", "-m", "true"];
    assert_ne!(env.finish(env.command_of(&setpriv, &mount)).code, Some(0), "it was given up");
}

/// A trial meets neither the grown directory nor the remembered names of the one before.
#[test]
fn each_trial_has_a_directory_of_its_own() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let experiment = env.long_experiment("", &target, "");
    let mut live = env.start(&["run", &experiment]);
    let roots = [1, 2].map(|block| {
        let worker = live.stop_in_phase(block);
        let root = fs::read_link(format!("/proc/{}/cwd", worker.as_raw_nonzero())).unwrap();
        let beside = fs::read_dir(root.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "what the trial before made is gone: {}", root.display());
        kill_process(worker, Signal::CONT).unwrap();
        root
    });
    live.end().good();
    assert!(roots.iter().all(|root| root.starts_with(&target)), "{roots:?}");
    assert!(roots[0].ends_with("fsarena-trial-0"), "{roots:?}");
    assert!(roots[1].ends_with("fsarena-trial-1"), "{roots:?}");
    assert_nothing_left(&env);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert!(env.records(1).iter().all(|record| record.phases[0].ops == 20_000));
}

/// The work is done by the user that was named.
#[test]
fn work_as_another_user() {
    if !is_root() {
        println!("not run: needs root, to become somebody else");
        return;
    }
    let env = TestEnv::new();
    // The directory of ours inside is made by root and given to the user.
    fs::set_permissions(env.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    let target = env.make_dir("target");
    let args = [&["--on", &target, "--user", "65534:65534"], &SMALL[..]].concat();
    env.run_once(&args).good();
    assert_nothing_left(&env);
}

#[test]
fn a_dry_run_touches_nothing() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    for args in [
        vec!["run", "--dry-run"],
        vec!["run", "--dry-run", "--json"],
        vec!["run", "2003-linux-vs-freebsd", "--dry-run"],
        vec!["run", "--dry-run", "--on", &target, "--workload", "tiny-files"],
    ] {
        env.run(&args).good();
    }
    assert!(!env.db().exists(), "no database");
    assert!(!env.state().exists(), "no journal");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert_nothing_left(&env);
    let plan = env.run(&["run", "--dry-run", "--json"]).json();
    assert_eq!(plan["kind"], "plan");
}

/// What a job file states is what its trials are said to take, a block that cannot end in time is
/// refused, and after a RUN the same work is foretold from its records.
#[test]
fn times_are_foretold_from_what_is_stated_and_recorded() {
    if crate::support::tool("fio").is_none() {
        return;
    }
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let jobs = env.write("jobs.fio", "[a]\nrw=randread\nsize=1m\ntime_based\nruntime=3\n");
    let on = ["run", "--fs", "directory", "--on", &target, "--workload", &jobs];
    let foretold = || {
        let ran = env.run(&[&on[..], &["--runs", "2", "--dry-run", "--json"]].concat()).good();
        let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let row = plan["cost"]["rows"][0].clone();
        (row["expected_s"].as_f64().unwrap(), row["source"].as_str().unwrap().to_owned())
    };
    let (expected_s, source) = foretold();
    assert!(expected_s >= 6.0, "{expected_s}");
    assert!(source.contains("stated times"), "{source}");
    let late = env.run(&[&on[..], &["--budget", "2s"]].concat()).code(2);
    late.says(&["one block takes 3.00 s", "--budget"]);
    env.run(&[&on[..], &["--runs", "2"]].concat()).good();
    let (expected_s, source) = foretold();
    assert!(expected_s >= 6.0, "{expected_s}");
    assert_eq!(source, "2 records of the same work");
    assert_nothing_left(&env);
}
