//! A file system that an experiment file defines by its commands: fuse2fs of Debian, from the
//! example that users are given.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::record::{CacheState, Outcome};
use fsarena_model::run::RunState;
use rustix::process::Signal;
use std::path::Path;

const EXAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/examples/fuse2fs.toml");
const SMALL: [&str; 6] = ["--on", "loop:128M", "--scale", "0.02", "--runs", "1"];

fn env() -> Option<TestEnv> {
    let env = TestEnv::privileged(&["ext4"])?;
    if !Path::new("/dev/fuse").exists() {
        println!("not run: no /dev/fuse");
        return None;
    }
    crate::support::tool("fuse2fs")?;
    Some(env)
}

#[test]
fn the_example_runs() {
    let Some(env) = env() else { return };
    let ran = env.run(&[&["run", EXAMPLE, "--yes", "--verify"], &SMALL[..]].concat()).good();
    let ran = ran.says(&["fuse2fs -o rw,allow_other {dev} {mnt}", "small-files / create"]);
    assert!(ran.stdout.lines().any(|line| line.starts_with("fuse2fs")), "{}", ran.stdout);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    let record = records.iter().find(|record| record.filesystem.name == "fuse2fs").unwrap();
    assert_eq!(record.outcome, Outcome::Done);
    assert!(record.filesystem.mounted_type.as_deref().unwrap().starts_with("fuse"));
    assert!(record.filesystem.tool_version.as_deref().unwrap().starts_with("fuse2fs"));
    assert_eq!(record.verify.as_ref().map(|verify| verify.bad_files), Some(0));
    assert_eq!(record.phases.len(), 5);
    for phase in &record.phases {
        assert_eq!(phase.ops, 200);
        assert_eq!(phase.cache.state, CacheState::Cold, "{}: {:?}", phase.name, phase.cache);
    }
    let fuse = record.filesystem.mounted_type.as_deref() != Some("fuseblk");
    let said = record.notices.iter().any(|notice| notice.code == "fuse-without-syncfs");
    assert_eq!(fuse, said, "what durable means here");
}

/// Commands of a file are not run by root before somebody has said yes.
#[test]
fn commands_are_confirmed_first() {
    let Some(env) = env() else { return };
    let ran = env.run(&[&["run", EXAMPLE], &SMALL[..]].concat());
    ran.refused(2, &["mkfs.ext4 -q -F", "--yes", "were not confirmed"]);
    assert!(!env.db().exists() && !env.state().exists(), "nothing was touched");
    let ran = env.run(&[&["run", EXAMPLE, "--dry-run"], &SMALL[..]].concat());
    ran.refused(2, &["mkfs.ext4 -q -F", "--yes", "were not confirmed"]);
    let ran = env.run(&[&["run", EXAMPLE, "--dry-run", "--yes"], &SMALL[..]].concat());
    ran.good().says(&["fuse2fs", "Nothing has been touched"]);
    assert!(!env.db().exists() && !env.state().exists(), "nothing was touched");
    assert_nothing_left(&env);
}

/// The example's file systems with a phase long enough to be caught in.
fn long(env: &TestEnv) -> String {
    let example = std::fs::read_to_string(EXAMPLE).unwrap();
    let from = example.find("[[filesystem]]").unwrap();
    let until = example.find("[[workload]]").unwrap();
    let file = env.long_experiment("fuse2fs", "loop:128M", &example[from..until]);
    // A server in user space takes much longer for each file.
    env.write("long.toml", &std::fs::read_to_string(file).unwrap().replace("20000", "2000"))
}

fn killed(whole_tree: bool) {
    let Some(env) = env() else { return };
    let experiment = long(&env);
    let mut live = env.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    if whole_tree {
        live.kill_tree();
    } else {
        live.signal(Signal::KILL);
    }
    live.end();
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

#[test]
fn killed_parent() {
    killed(false);
}

#[test]
fn killed_tree() {
    killed(true);
}

#[test]
fn ctrl_c() {
    let Some(env) = env() else { return };
    let experiment = long(&env);
    let mut live = env.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    live.signal_group(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

/// Each command that fails is named with its words, and nothing is left.
#[test]
fn failing_commands() {
    let Some(env) = env() else { return };
    let file = |name: &str, commands: &str| {
        let text = format!(
            "schema = 1\nname = \"broken\"\n[factors]\nfs = \"mine\"\ndevice = \"loop:128M\"\n\
             [[workload]]\nuse = \"tiny-files\"\n[[filesystem]]\nname = \"mine\"\n{commands}"
        );
        env.write(name, &text)
    };
    let run = |file: &str| env.run(&[&["run", file, "--yes"], &SMALL[..]].concat());
    let create = "create = \"echo no luck >&2; exit 3\"\nmount = \"true {dev} {mnt}\"\n";
    run(&file("create.toml", create)).code(1).says(&["no luck", "exit code 3"]);
    let mount = "mount = \"echo no way >&2; exit 4 # {dev} {mnt}\"\n";
    run(&file("mount.toml", mount)).code(1).says(&["no way", "exit code 4"]);
    let nothing = "mount = \"true {dev} {mnt}\"\n";
    run(&file("nothing.toml", nothing)).code(1).says(&["nothing is mounted"]);
    let missing =
        "mount = \"true {dev} {mnt}\"\nprograms = [\"mkfs.nosuch\"]\npackage = \"nosuch\"";
    let missing = run(&file("missing.toml", missing)).code(1);
    missing.says(&["mkfs.nosuch is not installed", "nosuch"]);
    assert_nothing_left(&env);
}
