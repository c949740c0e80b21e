//! What is written for the user who called sudo: theirs, readable, and never through a link that
//! somebody else has put there.

use crate::support::{TestEnv, assert_nothing_left, is_root};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

const CALLER: (u32, u32) = (65_534, 65_533);

/// The program as sudo starts it.
fn sudo(env: &TestEnv, args: &[&str]) -> crate::support::Ran {
    let mut command = env.command(args);
    command.env("SUDO_UID", CALLER.0.to_string()).env("SUDO_GID", CALLER.1.to_string());
    env.finish(command)
}

/// A path and all that is below it.
fn all(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    if path.symlink_metadata().unwrap().is_dir() {
        found.extend(fs::read_dir(path).unwrap().flat_map(|entry| all(&entry.unwrap().path())));
    }
    found
}

/// All of it is the caller's, files with these rights.
#[track_caller]
fn is_callers(path: &Path, mode: u32) {
    for path in all(path) {
        let meta = path.symlink_metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), CALLER, "{}", path.display());
        assert!(!meta.is_file() || meta.mode() & 0o777 == mode, "{}", path.display());
    }
}

fn with_a_run() -> Option<TestEnv> {
    let env = TestEnv::new();
    if !is_root() {
        println!("not run: files are given away by root alone");
        return None;
    }
    env.make_dir("target");
    let work =
        ["run", "--runs", "2", "--on", "target", "--workload", "tiny-files", "--scale", "0.01"];
    sudo(&env, &work).good();
    Some(env)
}

#[test]
fn what_is_written_under_sudo_is_the_callers() {
    let Some(env) = with_a_run() else { return };
    is_callers(&env.db(), 0o600);
    let path = |name: &str| env.path(name).display().to_string();
    for format in ["csv", "json", "markdown"] {
        let name = format!("export.{format}");
        sudo(&env, &["export", "1", "--format", format, "-o", &path(&name)]).good();
        is_callers(&env.path(&name), 0o644);
    }
    let assets = path("new/assets");
    sudo(&env, &["report", "1", "-o", &path("page.html"), "--assets", &assets]).good();
    is_callers(&env.path("page.html"), 0o644);
    is_callers(&env.path("new"), 0o644);
    assert!(fs::read_dir(&assets).unwrap().count() > 1);
    sudo(&env, &["man", "--dir", &path("man/man1")]).good();
    is_callers(&env.path("man"), 0o644);
    assert!(fs::read_dir(env.path("man/man1")).unwrap().count() > 20);
    sudo(&env, &["devices", "--model", "hdd-2007", "--svg", &path("model.svg")]).good();
    is_callers(&env.path("model.svg"), 0o644);
    let archive = path("small.tar.gz");
    sudo(&env, &["dataset", "small-20", "--to", &path("small"), "--archive", &archive]).good();
    is_callers(&env.path("small"), 0o644);
    is_callers(&env.path("small.tar.gz"), 0o644);
    // Their names are like those of what must not be left.
    fs::remove_dir_all(env.path("man")).unwrap();
    assert_nothing_left(&env);
}

#[test]
fn nothing_is_written_through_a_link() {
    let Some(env) = with_a_run() else { return };
    fs::write(env.path("theirs"), "precious").unwrap();
    for name in ["export.csv", "page.html", "model.svg", "man/fsarena.1", "small"] {
        let path = env.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(env.path("theirs"), &path).unwrap();
        let path = path.display().to_string();
        let man = env.path("man").display().to_string();
        let args = match name {
            "export.csv" => vec!["export", "1", "-o", &path],
            "page.html" => vec!["report", "1", "-o", &path],
            "model.svg" => vec!["devices", "--model", "hdd-2007", "--svg", &path],
            "small" => vec!["dataset", "small-20", "--to", &path],
            _ => vec!["man", "--dir", &man],
        };
        let ran = sudo(&env, &args);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(env.path("theirs")).unwrap(), "precious");
    assert_eq!(fs::metadata(env.path("theirs")).unwrap().uid(), 0);
}
