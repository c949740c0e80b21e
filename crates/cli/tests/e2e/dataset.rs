//! `fsarena dataset`: listed, shown, written whole or not at all, and one's own looked at.

use crate::support::{Live, TestEnv, assert_nothing_left, sh, tool};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What is in a directory of the test environment, by name; not that of journals.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "state")
        .collect();
    names.sort_unstable();
    names
}

/// The figures of one dataset, tree or archive.
fn contents(env: &TestEnv, args: &[&str]) -> Value {
    let json = env.run(&[&["dataset"], args, &["--json"]].concat()).good().json();
    assert_eq!(json["kind"], "dataset");
    json["dataset"]["contents"].clone()
}

#[test]
fn all_that_is_built_in() {
    let env = TestEnv::new();
    let ran = env.run(&["dataset"]).good();
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    let ran = ran.says(&["ports-2004", "wav-5", "avi-3400m", "3,400.0", "small-N"]);
    let json = env.run(&["dataset", "--json"]).good().json();
    let datasets = json["datasets"].as_array().unwrap();
    assert!(datasets.len() >= 9);
    for dataset in datasets {
        let (name, contents) = (dataset["name"].as_str().unwrap(), &dataset["contents"]);
        assert!(ran.stdout.contains(name) && contents["bytes"].as_u64() > Some(0), "{name}");
    }
    let one = env.run(&["dataset", "mixed-830m"]).good();
    one.says(&["830 MB", "longest path", "head of jpeg, random", "median"]);
    let json = env.run(&["dataset", "c-tree", "--json"]).good().json();
    let classes = json["dataset"]["classes"].as_array().unwrap();
    let bytes: u64 = classes.iter().map(|class| class["bytes"].as_u64().unwrap()).sum();
    assert_eq!((classes.len(), Some(bytes)), (5, json["dataset"]["contents"]["bytes"].as_u64()));
    assert_nothing_left(&env);
}

#[test]
fn written_and_looked_at() {
    let env = TestEnv::new();
    env.run(&["dataset", "small-250", "--to", "tree"]).good().says(&["tree: 250 files in 2"]);
    assert_eq!(names(&env.path("tree")).len(), 2);
    let sizes = sh(&format!("find {} -type f -size 256c", env.path("tree").display()));
    assert_eq!(sizes.lines().count(), 250);
    let described = contents(&env, &["small-250"]);
    assert_eq!(contents(&env, &["./tree"]), described);
    env.run(&["dataset", "tree"]).good().says(&["tree: a directory", "64,000 bytes"]);
    for ending in ["tar", "tar.gz", "tgz", "tar.bz2", "tar.xz", "tar.zst"] {
        let name = format!("small.{ending}");
        env.run(&["dataset", "small-250", "--archive", &name]).good().says(&["an archive of"]);
        let mut found = contents(&env, &[&name]);
        let bytes = found.as_object_mut().unwrap().remove("archive_bytes").unwrap();
        assert_eq!(found, described, "{name}");
        assert_eq!(bytes.as_u64(), Some(fs::metadata(env.path(&name)).unwrap().len()));
    }
    env.run(&["dataset", "small.tar.xz"]).good().says(&["an archive (xz)"]);
    assert_nothing_left(&env);
}

/// A description says all: what is made from it is the same, and a scale is in it.
#[test]
fn a_description_of_ones_own() {
    let env = TestEnv::new();
    let digest = |args: &[&str]| {
        let said = env.run(&[&["dataset"], args, &["--digest"]].concat()).good().stdout;
        let (digest, _) = said.split_once("  ").unwrap();
        assert_eq!(digest.len(), 64, "{said}");
        digest.to_owned()
    };
    let toml = env.run(&["dataset", "mixed-830m", "--scale", "0.002", "--toml"]).good().stdout;
    let mine = env.write("mine.toml", &toml);
    assert_eq!(digest(&[&mine]), digest(&["mixed-830m", "--scale", "0.002"]));
    assert_ne!(digest(&[&mine]), digest(&["mixed-830m", "--scale", "0.003"]));
    env.run(&["dataset", &mine, "--to", "mine"]).good();
    assert_eq!(contents(&env, &["./mine"]), contents(&env, &[&mine]));

    let wrong = env.write("wrong.toml", &toml.replace("seed = ", "sead = "));
    let said = env.run(&["dataset", &wrong]).refused(2, &["wrong.toml:", "sead"]);
    assert!(said.stderr.contains("README.md"), "{}", said.stderr);
    assert_nothing_left(&env);
}

/// Refused before anything is made, and what is there stays as it is.
#[test]
fn what_cannot_be_written() {
    let env = TestEnv::new();
    env.make_dir("there");
    env.write("there/mine", "mine");
    env.write("mine.tar", "mine");
    std::os::unix::fs::symlink("nowhere", env.path("dangling")).unwrap();
    let before = names(env.dir());
    for (args, words) in [
        (vec!["small-10", "--to", "there"], "it is there already"),
        (vec!["small-10", "--to", "dangling"], "it is there already"),
        (vec!["small-10", "--archive", "mine.tar"], "it is there already"),
        (vec!["small-10", "--archive", "x.zip"], "use one of: tar, tar.gz"),
        (vec!["small-10", "--to", "none/below"], "there is no directory none"),
        (vec!["there", "--to", "copy"], "--to is for datasets that are described"),
        (vec!["--scale", "0.5"], "name it"),
        (vec!["small-0"], "no such dataset"),
        (vec!["large"], "built in: mixed-830m"),
    ] {
        env.run(&[&["dataset"], &args[..]].concat()).refused(2, &[words]);
    }
    for scale in ["0", "-1", "101", "nan", "much"] {
        let ran = env.run(&["dataset", "small-10", &format!("--scale={scale}"), "--to", "new"]);
        ran.code(2).says(&["above 0 and up to 100"]);
    }
    assert_eq!(names(env.dir()), before);
    assert_eq!(fs::read_to_string(env.path("there/mine")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(env.path("mine.tar")).unwrap(), "mine");
    assert_nothing_left(&env);
}

/// 340 GB: said before the first of them is written.
#[test]
fn what_does_not_fit() {
    let env = TestEnv::new();
    let room = rustix::fs::statvfs(env.dir()).unwrap();
    if room.f_bavail * room.f_frsize > 300_000_000_000 {
        println!("not run: there is room for it");
        return;
    }
    let before = names(env.dir());
    for option in [["--to", "film"], ["--archive", "film.tar"]] {
        let ran = env.run(&[&["dataset", "avi-3400m", "--scale", "100"], &option[..]].concat());
        ran.refused(1, &["film", "GiB are needed", "are free there", "--scale"]);
    }
    assert_eq!(names(env.dir()), before);
}

/// Ctrl-C in the middle: neither the tree, nor half of it, nor what it was made in.
#[test]
fn stopped_in_the_middle() {
    let env = TestEnv::new();
    let before = names(env.dir());
    for option in [["--to", "songs"], ["--archive", "songs.tar.xz"]] {
        let args = [&["dataset", "flac-16"], &option[..]].concat();
        let mut live = env.start(&args);
        begun(&env, &mut live);
        live.signal(Signal::INT);
        live.end().code(130).says(&["nothing was written"]);
        assert_eq!(names(env.dir()), before, "{option:?}");
    }
    assert_nothing_left(&env);
}

/// Waits until something of a dataset is written.
fn begun(env: &TestEnv, live: &mut Live<'_>) {
    live.poll("something written", |_| {
        let made =
            names(env.dir()).into_iter().find(|name| name.starts_with("fsarena-dataset-"))?;
        fs::symlink_metadata(env.path(&made).join("new")).ok()
    });
}

/// `kill -9` in the middle: the next start removes what was written.
#[test]
fn killed_in_the_middle() {
    let env = TestEnv::new();
    let before = names(env.dir());
    let mut live = env.start(&["dataset", "flac-16", "--to", "songs"]);
    begun(&env, &mut live);
    live.signal(Signal::KILL);
    live.end();
    assert_ne!(names(env.dir()), before);
    env.run(&["list"]).says(&["cleaned up after a killed run: ", "fsarena-dataset-"]);
    assert_eq!(names(env.dir()), before);
    assert_nothing_left(&env);
}

/// Names that are no text and links that lead in circles are fine; what is no file is refused.
#[test]
fn trees_of_ones_own() {
    let env = TestEnv::new();
    let tree = env.make_dir("tree");
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(Path::new(&tree).join(odd), "x").unwrap();
    for (name, target) in [("a", "b"), ("b", "a"), ("self", "."), ("out", "/etc/passwd")] {
        std::os::unix::fs::symlink(target, Path::new(&tree).join(name)).unwrap();
    }
    let found = contents(&env, &["tree"]);
    assert_eq!(
        (&found["files"], &found["symlinks"], &found["bytes"]),
        (&1.into(), &4.into(), &1.into())
    );
    sh(&format!("mkfifo {tree}/pipe"));
    env.run(&["dataset", "tree"]).refused(1, &["pipe"]);
    assert_nothing_left(&env);
}

#[test]
fn archives_of_ones_own() {
    let env = TestEnv::new();
    let Some(tar) = tool("tar") else { return };
    env.run(&["dataset", "small-250", "--archive", "good.tar.gz"]).good();
    let whole = fs::read(env.path("good.tar.gz")).unwrap();
    fs::write(env.path("short.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    env.run(&["dataset", "short.tar.gz"]).refused(1, &["short.tar.gz", "damaged or cut off"]);
    env.write("letter", "no archive at all");
    env.run(&["dataset", "letter"]).refused(1, &["letter"]);
    let dir = env.dir().display();
    sh(&format!("{tar} -C {dir} -P -cf {dir}/climbs.tar --transform 's,^,../,' letter"));
    env.run(&["dataset", "climbs.tar"]).refused(1, &["climbs.tar", "../letter"]);
    sh(&format!("cd {dir}; ln -s /etc link; {tar} -cf link.tar link"));
    env.run(&["dataset", "link.tar"]).refused(1, &["link.tar", "link"]);
    assert_nothing_left(&env);
}
