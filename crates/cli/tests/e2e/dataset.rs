//! `fsarena dataset`: listed, shown, written whole or not at all, and one's own looked at.

use crate::support::{Scene, assert_nothing_left, sh, tool};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What is in a directory of the scene, by name.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

/// The figures of one dataset, tree or archive.
fn contents(scene: &Scene, args: &[&str]) -> Value {
    let json = scene.run(&[&["dataset"], args, &["--json"]].concat()).good().json();
    assert_eq!(json["kind"], "dataset");
    json["dataset"]["contents"].clone()
}

#[test]
fn all_that_is_built_in() {
    let scene = Scene::new();
    let ran = scene.run(&["dataset"]).good();
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    let ran = ran.says(&["ports-2004", "wav-5", "avi-3400m", "3,400.0", "small-N"]);
    let json = scene.run(&["dataset", "--json"]).good().json();
    let datasets = json["datasets"].as_array().unwrap();
    assert!(datasets.len() >= 9);
    for dataset in datasets {
        let (name, contents) = (dataset["name"].as_str().unwrap(), &dataset["contents"]);
        assert!(ran.stdout.contains(name) && contents["bytes"].as_u64() > Some(0), "{name}");
    }
    let one = scene.run(&["dataset", "mixed-830m"]).good();
    one.says(&["830 MB", "longest path", "head of jpeg, random", "median"]);
    let json = scene.run(&["dataset", "c-tree", "--json"]).good().json();
    let classes = json["dataset"]["classes"].as_array().unwrap();
    let bytes: u64 = classes.iter().map(|class| class["bytes"].as_u64().unwrap()).sum();
    assert_eq!((classes.len(), Some(bytes)), (5, json["dataset"]["contents"]["bytes"].as_u64()));
    assert_nothing_left(&scene);
}

#[test]
fn written_and_looked_at() {
    let scene = Scene::new();
    scene.run(&["dataset", "small-250", "--to", "tree"]).good().says(&["tree: 250 files in 2"]);
    assert_eq!(names(&scene.path("tree")).len(), 2);
    let sizes = sh(&format!("find {} -type f -size 256c", scene.path("tree").display()));
    assert_eq!(sizes.lines().count(), 250);
    let described = contents(&scene, &["small-250"]);
    assert_eq!(contents(&scene, &["./tree"]), described);
    scene.run(&["dataset", "tree"]).good().says(&["tree: a directory", "64,000 bytes"]);
    for ending in ["tar", "tar.gz", "tgz", "tar.bz2", "tar.xz", "tar.zst"] {
        let name = format!("small.{ending}");
        scene.run(&["dataset", "small-250", "--archive", &name]).good().says(&["an archive of"]);
        let mut found = contents(&scene, &[&name]);
        let bytes = found.as_object_mut().unwrap().remove("archive_bytes").unwrap();
        assert_eq!(found, described, "{name}");
        assert_eq!(bytes.as_u64(), Some(fs::metadata(scene.path(&name)).unwrap().len()));
    }
    scene.run(&["dataset", "small.tar.xz"]).good().says(&["an archive (xz)"]);
    assert_nothing_left(&scene);
}

/// A description says all: what is made from it is the same, and a scale is in it.
#[test]
fn a_description_of_ones_own() {
    let scene = Scene::new();
    let digest = |args: &[&str]| {
        let said = scene.run(&[&["dataset"], args, &["--digest"]].concat()).good().stdout;
        let (digest, _) = said.split_once("  ").unwrap();
        assert_eq!(digest.len(), 64, "{said}");
        digest.to_owned()
    };
    let toml = scene.run(&["dataset", "mixed-830m", "--scale", "0.002", "--toml"]).good().stdout;
    let mine = scene.write("mine.toml", &toml);
    assert_eq!(digest(&[&mine]), digest(&["mixed-830m", "--scale", "0.002"]));
    assert_ne!(digest(&[&mine]), digest(&["mixed-830m", "--scale", "0.003"]));
    scene.run(&["dataset", &mine, "--to", "mine"]).good();
    assert_eq!(contents(&scene, &["./mine"]), contents(&scene, &[&mine]));

    let wrong = scene.write("wrong.toml", &toml.replace("seed = ", "sead = "));
    let said = scene.run(&["dataset", &wrong]).refused(2, &["wrong.toml:", "sead"]);
    assert!(said.stderr.contains("README.md"), "{}", said.stderr);
    assert_nothing_left(&scene);
}

/// Refused before anything is made, and what is there stays as it is.
#[test]
fn what_cannot_be_written() {
    let scene = Scene::new();
    scene.make_dir("there");
    scene.write("there/mine", "mine");
    scene.write("mine.tar", "mine");
    std::os::unix::fs::symlink("nowhere", scene.path("dangling")).unwrap();
    let before = names(scene.dir());
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
        scene.run(&[&["dataset"], &args[..]].concat()).refused(2, &[words]);
    }
    for scale in ["0", "-1", "101", "nan", "much"] {
        let ran = scene.run(&["dataset", "small-10", &format!("--scale={scale}"), "--to", "new"]);
        ran.code(2).says(&["above 0 and up to 100"]);
    }
    assert_eq!(names(scene.dir()), before);
    assert_eq!(fs::read_to_string(scene.path("there/mine")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(scene.path("mine.tar")).unwrap(), "mine");
    assert_nothing_left(&scene);
}

/// 340 GB: said before the first of them is written.
#[test]
fn what_does_not_fit() {
    let scene = Scene::new();
    let room = rustix::fs::statvfs(scene.dir()).unwrap();
    if room.f_bavail * room.f_frsize > 300_000_000_000 {
        println!("not run: there is room for it");
        return;
    }
    let before = names(scene.dir());
    for option in [["--to", "film"], ["--archive", "film.tar"]] {
        let ran = scene.run(&[&["dataset", "avi-3400m", "--scale", "100"], &option[..]].concat());
        ran.refused(1, &["film", "GiB are needed", "are free there", "--scale"]);
    }
    assert_eq!(names(scene.dir()), before);
}

/// Ctrl-C in the middle: neither the tree, nor half of it, nor what it was made in.
#[test]
fn stopped_in_the_middle() {
    let scene = Scene::new();
    let before = names(scene.dir());
    for option in [["--to", "songs"], ["--archive", "songs.tar.xz"]] {
        let args = [&["dataset", "flac-16"], &option[..]].concat();
        let mut live = scene.start(&args);
        let dir = scene.dir().to_owned();
        live.poll("something written", |_| {
            let begun = names(&dir).into_iter().find(|name| name.starts_with(".fsarena-"))?;
            fs::symlink_metadata(dir.join(begun).join("new")).ok()
        });
        live.signal(Signal::INT);
        live.end().code(130).says(&["nothing was written"]);
        assert_eq!(names(scene.dir()), before, "{option:?}");
    }
    assert_nothing_left(&scene);
}

/// Names that are no text and links that lead in circles are fine; what is no file is refused.
#[test]
fn trees_of_ones_own() {
    let scene = Scene::new();
    let tree = scene.make_dir("tree");
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(Path::new(&tree).join(odd), "x").unwrap();
    for (name, target) in [("a", "b"), ("b", "a"), ("self", "."), ("out", "/etc/passwd")] {
        std::os::unix::fs::symlink(target, Path::new(&tree).join(name)).unwrap();
    }
    let found = contents(&scene, &["tree"]);
    assert_eq!(
        (&found["files"], &found["symlinks"], &found["bytes"]),
        (&1.into(), &4.into(), &1.into())
    );
    sh(&format!("mkfifo {tree}/pipe"));
    scene.run(&["dataset", "tree"]).refused(1, &["pipe"]);
    assert_nothing_left(&scene);
}

#[test]
fn archives_of_ones_own() {
    let scene = Scene::new();
    let Some(tar) = tool("tar") else { return };
    scene.run(&["dataset", "small-250", "--archive", "good.tar.gz"]).good();
    let whole = fs::read(scene.path("good.tar.gz")).unwrap();
    fs::write(scene.path("short.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    scene.run(&["dataset", "short.tar.gz"]).refused(1, &["short.tar.gz", "damaged or cut off"]);
    scene.write("letter", "no archive at all");
    scene.run(&["dataset", "letter"]).refused(1, &["letter"]);
    let dir = scene.dir().display();
    sh(&format!("{tar} -C {dir} -P -cf {dir}/climbs.tar --transform 's,^,../,' letter"));
    scene.run(&["dataset", "climbs.tar"]).refused(1, &["climbs.tar", "../letter"]);
    sh(&format!("cd {dir}; ln -s /etc link; {tar} -cf link.tar link"));
    scene.run(&["dataset", "link.tar"]).refused(1, &["link.tar", "link"]);
    assert_nothing_left(&scene);
}
