//! Where the data of real work lie meanwhile: who may look at them, and what is said where there is
//! no room for them.

use crate::support::{TestEnv, assert_nothing_left, sh};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Whatever the umask, the user of the work gets at the data by their path, and nobody else does.
#[test]
fn the_stage_is_for_the_user_of_the_work_alone() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    fs::set_permissions(env.dir(), fs::Permissions::from_mode(0o711)).unwrap();
    fs::set_permissions(env.images(), fs::Permissions::from_mode(0o711)).unwrap();
    let target = env.make_dir("target");
    let own = env.make_dir("own");
    fs::write(env.path("own/file"), "mine").unwrap();
    let look = "test $(stat -c %a:%u {data}/../..) = 700:65534 && \
                test $(stat -c %a:%u {mnt}) = 700:65534 && cp -r {data} {mnt}/x";
    let work = |name: &str, dataset: &str, source: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\ndataset = {dataset}\nsource = \"{source}\"\n\
             phases = [{{ op = \"command\", run = \"{look}\" }}, \"copy\"]\n"
        )
    };
    let works = work("disk", "\"small-20\"", "other")
        + &work("memory", "\"small-20\"", "memory")
        + &work("own", &format!("{{ from = {own:?} }}"), "memory");
    let factors = format!("device = {target:?}\ncache = \"warm\"");
    let file = env.real_experiment(&factors, &works);
    for umask in ["022", "077"] {
        let script = format!("umask {umask}; exec \"$@\"");
        let program = crate::support::PROGRAM;
        let user = ["run", &file, "--yes", "--user", "65534:65534"];
        let words = [&["-c", &script, "sh", program], &user[..]].concat();
        env.finish(env.command_of("/bin/sh", &words)).good();
        assert_nothing_left(&env);
    }
    for run in [1, 2] {
        assert_eq!(env.done_records(run).len(), 3);
    }
}

/// Room in bytes is looked at before; inodes can run out all the same.
#[test]
fn no_room_while_the_data_are_made() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let images = env.images().display().to_string();
    let target = env.make_dir("target");
    let work = "[[workload]]\nname = \"w\"\ndataset = \"small-100\"\nsource = \"other\"\n\
                phases = [\"copy\"]\n";
    let factors = format!("device = {target:?}\ncache = \"warm\"");
    let file = env.real_experiment(&factors, work);
    sh(&format!("mount -t tmpfs -o size=64m,nr_inodes=30 fsarena-e2e {images}"));
    let ran = env.run(&["run", &file]);
    let left = fs::read_dir(env.images()).unwrap().count();
    sh(&format!("umount {images}"));
    let words = [&*images, "No space left on device", "or --image-dir with more room"];
    ran.code(1).says(&words);
    assert_eq!(left, 0, "the stage was removed");
    assert_nothing_left(&env);
}
