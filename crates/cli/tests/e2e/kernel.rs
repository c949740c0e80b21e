//! `fsarena kernel` where there is nothing to build with and nothing built: refused in one sentence
//! each, nothing left.

use crate::support::{TestEnv, assert_nothing_left};
use std::fs;

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
