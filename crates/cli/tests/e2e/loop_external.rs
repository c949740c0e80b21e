//! `destroy` of a file system that an experiment file defines: once for each trial, also for one
//! that was killed, and not for what is kept.

use crate::support::{Scene, assert_nothing_left};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use std::fs;

/// Two long trials of ext4 by commands; `destroy` adds a line to the file `mark`.
fn marking(scene: &Scene) -> String {
    let mark = scene.path("mark");
    let commands = format!(
        "[[filesystem]]\nname = \"mine\"\ncreate = \"mkfs.ext4 -q -F -E nodiscard {{dev}}\"\n\
         mount = \"mount -t ext4 {{dev}} {{mnt}}\"\ndestroy = \"echo {{dev}} >> {}\"\n",
        mark.display()
    );
    scene.long_experiment("mine", "loop:128M", &commands)
}

#[track_caller]
fn assert_marks(scene: &Scene, times: usize) {
    let text = fs::read_to_string(scene.path("mark")).unwrap_or_default();
    assert_eq!(text.lines().count(), times, "destroyed:\n{text}");
}

/// The loop device of the killed trial went with its process, and its number may be anybody's.
#[test]
fn nothing_is_destroyed_on_a_device_that_is_gone() {
    let Some(scene) = Scene::privileged(&["ext4"]) else { return };
    let experiment = marking(&scene);
    let mut live = scene.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    assert_marks(&scene, 1);
    live.kill_tree();
    assert_eq!(live.end().code, None, "killed by a signal");
    scene.run(&["list"]).good().says(&["removed what a killed run had left"]);
    assert_marks(&scene, 1);
    assert_nothing_left(&scene);
    assert_eq!(scene.runs()[0].state, RunState::Interrupted);
    assert_eq!(scene.records(1)[0].outcome, Outcome::Done);
}

/// A second loop device over the first stands for what LUKS or ZFS would make: it outlives every
/// process and namespace, and holds the device.
#[test]
fn what_holds_the_device_of_a_killed_trial_is_destroyed() {
    let Some(scene) = Scene::privileged(&["ext4"]) else { return };
    let mark = scene.path("mark");
    let commands = format!(
        "[[filesystem]]\nname = \"mine\"\n\
         create = \"mkfs.ext4 -q -F -E nodiscard {{dev}} && losetup -r -f {{dev}}\"\n\
         mount = \"mount -t ext4 {{dev}} {{mnt}}\"\n\
         destroy = \"losetup -n -O NAME -j {{dev}} | xargs -r losetup -d; echo x >> {}\"\n",
        mark.display()
    );
    let experiment = scene.long_experiment("mine", "loop:128M", &commands);
    let mut live = scene.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    assert_marks(&scene, 1);
    live.kill_tree();
    assert_eq!(live.end().code, None, "killed by a signal");
    scene.run(&["list"]).good().says(&["removed what a killed run had left"]);
    assert_marks(&scene, 2);
    scene.run(&["list"]).good();
    assert_marks(&scene, 2);
    assert_nothing_left(&scene);
}

#[test]
fn the_last_trial_is_kept_when_asked() {
    let Some(scene) = Scene::privileged(&["ext4"]) else { return };
    let experiment = marking(&scene);
    scene.run(&["run", &experiment, "--yes", "--scale", "0.01", "--keep"]).good();
    assert_marks(&scene, 1);
    scene.run(&["list"]).good();
    assert_marks(&scene, 1);
    let kept: Vec<_> = fs::read_dir(scene.images()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    fs::remove_file(kept[0].path()).unwrap();
    assert_nothing_left(&scene);
    assert!(scene.records(1).iter().all(|record| record.outcome == Outcome::Done));
}
