//! `fsarena kernel` where there is nothing to build with and nothing built: refused in one sentence
//! each, nothing left.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_guests::kernel::{DEBIAN_SOURCES, Source};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

#[test]
fn what_is_no_source_and_no_kernel_is_refused() {
    let env = TestEnv::new();
    let unknown = env.run(&["kernel", "build", "--source", "6.6"]);
    unknown.refused(2, &["6.6: neither a release (6.1, 6.12) nor a directory or tarball"]);
    env.run(&["kernel", "build", "--hz", "50"]).code(2).says(&["50", "100..=1000"]);
    let other = env.run(&["kernel", "check", "/bin/ls"]);
    other.refused(1, &["/bin/ls: not a kernel built for User-Mode Linux"]);
    env.run(&["kernel", "check", "/nonexistent"]).refused(1, &["/nonexistent: cannot be started"]);
    env.run(&["kernel", "check"]).refused(2, &["no guest kernel was built yet"]);
    assert_nothing_left(&env);
}

#[test]
fn without_kernels_the_list_is_empty() {
    let env = TestEnv::new();
    let ran = env.run(&["kernel", "list"]).good().says(&["fsarena kernel build"]);
    assert_eq!(ran.stdout, "");
    let ran = env.run(&["kernel", "list", "--json"]).good();
    assert_eq!(ran.json()["kernels"].as_array().unwrap().len(), 0);
}

/// A kernel of another version's patches; no more is read of it here.
fn put_kernel(env: &TestEnv, key: &str) {
    let dir = env.path("kernels").join(key);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("linux"), [0; 4096]).unwrap();
    let hash = "0".repeat(64);
    let identity = serde_json::json!({
        "format": 1, "key": key, "release": "6.1.7", "sha256": hash, "source": "linux.tar",
        "source_sha256": hash, "patches_sha256": hash, "config": "full", "config_sha256": hash,
        "hz": 250, "compiler": "gcc",
    });
    fs::write(dir.join("kernel.json"), identity.to_string()).unwrap();
}

#[test]
fn kernels_are_deleted_by_key_and_old_ones_at_once() {
    let env = TestEnv::new();
    let run = |args: &[&str]| {
        let mut command = env.command(&[&["kernel"], args].concat());
        command.env("FSARENA_KERNEL_DIR", env.path("kernels"));
        env.finish(command)
    };
    for key in ["aa11", "aa22", "bb33"] {
        put_kernel(&env, key);
    }
    let listed = run(&["list"]).good().says(&["fsarena kernel delete --old"]);
    assert!(listed.stdout.contains("KiB, built 0 min ago; old"), "{}", listed.stdout);
    assert!(listed.stdout.contains("key     bb33"), "{}", listed.stdout);
    let listed = run(&["list", "--json"]).good().json();
    let first = &listed["kernels"][0];
    assert!(first["size_bytes"].as_u64().unwrap() > 4096 && first["is_old"] == true, "{first}");
    run(&["delete"]).code(2);
    run(&["delete", "aa", "--yes"]).refused(2, &["2 guest kernels have keys"]);
    run(&["delete", "cc", "--yes"]).refused(2, &["no guest kernel has a key"]);
    run(&["delete", "aa1"]).code(2).says(&["pass --yes", "nothing was deleted"]);
    run(&["delete", "aa1", "--yes"]).good().says(&["deleted from"]);
    assert!(!env.path("kernels/aa11").exists() && env.path("kernels/aa22").exists());
    // As a RUN holds it.
    let held = fs::File::open(env.path("kernels/bb33/linux")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockShared).unwrap();
    run(&["delete", "bb33", "--yes"]).code(1).says(&["a RUN or a guest has it"]);
    run(&["delete", "--old", "--yes"]).good().says(&["left: ", "a RUN or a guest has it"]);
    assert!(!env.path("kernels/aa22").exists() && env.path("kernels/bb33").exists());
    drop(held);
    run(&["delete", "--old", "--yes"]).good();
    assert_eq!(fs::read_dir(env.path("kernels")).unwrap().count(), 0);
    run(&["delete", "--old"]).good().says(&["no guest kernel is old"]);
}

/// A build runs what is in its source: root's is root's alone, to the last file.
#[test]
fn root_builds_no_source_that_others_may_change() {
    if !rustix::process::geteuid().is_root() {
        println!("not run: root alone is asked about");
        return;
    }
    let env = TestEnv::new();
    let tree = env.make_dir("tree/scripts");
    fs::write(env.path("tree/Makefile"), "all:\n\ttouch built\n").unwrap();
    fs::write(env.path("tree/scripts/own"), "").unwrap();
    let source = env.path("tree").display().to_string();
    let build = || env.run(&["kernel", "build", "--source", &source]);
    chown(format!("{tree}/own"), Some(65_533), None).unwrap();
    let words = ["would be built as root", "scripts/own belongs to user 65533", "without root"];
    build().refused(2, &words);
    fs::remove_file(format!("{tree}/own")).unwrap();
    fs::set_permissions(&tree, fs::Permissions::from_mode(0o777)).unwrap();
    build().refused(2, &["tree/scripts may be written by everybody"]);
    let archive = env.write("linux.tar", "");
    chown(&archive, Some(65_533), None).unwrap();
    let ran = env.run(&["kernel", "build", "--source", &archive]);
    ran.refused(2, &["linux.tar belongs to user 65533"]);
    assert!(!env.path("tree/built").exists());
    assert_nothing_left(&env);
}

/// A tree that is no source of Linux is refused, or what a build lacks is named; it is not written
/// to.
#[test]
fn a_tree_that_is_no_linux_is_refused() {
    let env = TestEnv::new();
    let tree = env.make_dir("tree");
    fs::write(env.path("tree/Makefile"), "all:\n").unwrap();
    let ran = env.run(&["kernel", "build", "--source", &tree]);
    if ran.stderr.contains("missing for the build of a kernel") {
        println!("not run: {}", ran.stderr.trim());
        return;
    }
    ran.refused(2, &["no source of Linux: its Makefile states no VERSION"]);
    assert_eq!(fs::read_dir(env.path("tree")).unwrap().count(), 1);
    assert_nothing_left(&env);
}

/// `kill -9` while the source is unpacked: the next start removes it, wherever its kernels go.
#[test]
fn a_build_that_is_killed_leaves_nothing() {
    let env = TestEnv::new();
    let kernels = env.path("kernels");
    let entries = || fs::read_dir(&kernels).into_iter().flatten().flatten();
    let begun = || entries().any(|entry| entry.path().join("source/Makefile").exists());
    let source = Source::Debian("6.12").path(Path::new(DEBIAN_SOURCES));
    let probe = env.run(&["kernel", "build", "--source", &env.make_dir("tree")]);
    if !source.exists() || probe.stderr.contains("missing for the build of a kernel") {
        println!("not run: needs the source of Linux 6.12 and what builds it");
        return;
    }
    let mut command = env.command(&["kernel", "build", "--source", "6.12"]);
    command.env("FSARENA_KERNEL_DIR", &kernels);
    let mut live = env.start_command(command);
    live.poll("a part of the source", |_| begun().then_some(()));
    live.signal(Signal::KILL);
    live.end();
    env.run(&["list"]).says(&["cleaned up after a killed run: ", "fsarena-building-"]);
    assert!(entries().all(|entry| entry.path().is_file()), "hashes of sources alone");
    assert_nothing_left(&env);
}
