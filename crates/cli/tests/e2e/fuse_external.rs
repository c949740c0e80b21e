//! A file system that an experiment file defines by its commands: fuse2fs of Debian, from the
//! example that users are given.

use crate::support::{Scene, assert_nothing_left};
use fsarena_model::record::{CacheState, Outcome};
use fsarena_model::run::RunState;
use rustix::process::Signal;
use std::path::Path;

const EXAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/examples/fuse2fs.toml");
const SMALL: [&str; 6] = ["--on", "loop:128M", "--scale", "0.02", "--runs", "1"];

fn scene() -> Option<Scene> {
    let scene = Scene::privileged(&["ext4"])?;
    if !Path::new("/dev/fuse").exists() {
        println!("not run: no /dev/fuse");
        return None;
    }
    crate::support::tool("fuse2fs")?;
    Some(scene)
}

#[test]
fn the_example_runs() {
    let Some(scene) = scene() else { return };
    let ran = scene.run(&[&["run", EXAMPLE, "--yes", "--verify"], &SMALL[..]].concat()).good();
    let ran = ran.says(&["fuse2fs -o rw,allow_other {dev} {mnt}", "small-files / create"]);
    assert!(ran.stdout.lines().any(|line| line.starts_with("fuse2fs")), "{}", ran.stdout);
    assert_nothing_left(&scene);
    let records = scene.records(1);
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
    let Some(scene) = scene() else { return };
    let ran = scene.run(&[&["run", EXAMPLE], &SMALL[..]].concat());
    ran.refused(2, &["mkfs.ext4 -q -F", "--yes", "were not confirmed"]);
    assert!(!scene.db().exists() && !scene.state().exists(), "nothing was touched");
    let ran = scene.run(&[&["run", EXAMPLE, "--dry-run"], &SMALL[..]].concat());
    ran.good().says(&["fuse2fs", "Nothing has been touched"]);
    assert!(!scene.db().exists() && !scene.state().exists(), "nothing was touched");
    assert_nothing_left(&scene);
}

/// The example's file systems with a phase long enough to be caught in.
fn long(scene: &Scene) -> String {
    let example = std::fs::read_to_string(EXAMPLE).unwrap();
    let from = example.find("[[filesystem]]").unwrap();
    let until = example.find("[[workload]]").unwrap();
    let file = scene.long_experiment("fuse2fs", "loop:128M", &example[from..until]);
    // A server in user space takes much longer for each file.
    scene.write("long.toml", &std::fs::read_to_string(file).unwrap().replace("20000", "2000"))
}

fn killed(whole_tree: bool) {
    let Some(scene) = scene() else { return };
    let experiment = long(&scene);
    let mut live = scene.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    if whole_tree {
        live.kill_tree();
    } else {
        live.signal(Signal::KILL);
    }
    live.end();
    scene.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_nothing_left(&scene);
    assert_eq!(scene.runs()[0].state, RunState::Interrupted);
    assert_eq!(scene.records(1)[0].outcome, Outcome::Done);
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
    let Some(scene) = scene() else { return };
    let experiment = long(&scene);
    let mut live = scene.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    live.signal_group(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&scene);
    assert_eq!(scene.records(1)[0].outcome, Outcome::Done);
}

/// Each command that fails is named with its words, and nothing is left.
#[test]
fn failing_commands() {
    let Some(scene) = scene() else { return };
    let file = |name: &str, commands: &str| {
        let text = format!(
            "schema = 1\nname = \"broken\"\n[factors]\nfs = \"mine\"\ndevice = \"loop:128M\"\n\
             [[workload]]\nuse = \"tiny-files\"\n[[filesystem]]\nname = \"mine\"\n{commands}"
        );
        scene.write(name, &text)
    };
    let run = |file: &str| scene.run(&[&["run", file, "--yes"], &SMALL[..]].concat());
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
    assert_nothing_left(&scene);
}
