//! What programs make of the kinds that are meant for them.

use super::*;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether `name` is installed; says so where it is not.
fn has(name: &str) -> bool {
    let mut asked = Command::new(name);
    let there = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        println!("not run: no {name}");
    }
    there
}

fn put(root: &Path, name: &str, kind: Kind, file: u64, size: u64) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, whole(&Generator::new(2026), &kind, file, size)).unwrap();
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

#[test]
fn sources_compile_without_a_warning() {
    if !has("cc") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let least = [Kind::C, Kind::CMain, Kind::CHeader].map(|kind| kind.least_bytes());
    let all = &[0, 1, 6, 7, 9, 80, 150, least[0] - 1, least[0], least[1], 5000, 60_001][..];
    // A header too short for its macros does as well as a long one.
    for (number, (header_bytes, sizes)) in
        [(50, &[least[1], 5000][..]), (least[2], &[5000]), (9000, all)].into_iter().enumerate()
    {
        put(root, "common.h", Kind::CHeader, 0, header_bytes);
        for (at, size) in sizes.iter().copied().enumerate() {
            let file = (number * all.len() + at) as u64 + u64::MAX / 2;
            put(root, &format!("{file}.c"), Kind::C, file, size);
            put(root, &format!("m{file}.c"), Kind::CMain, file, size);
            for name in [format!("{file}"), format!("m{file}")] {
                let mut cc = Command::new("cc");
                cc.args(["-c", "-O1", "-Wall", "-Wextra", "-o"]).arg(root.join(&name));
                let said = run(cc.arg(root.join(format!("{name}.c"))));
                assert_eq!(said, "", "{name}.c of {size}");
            }
            let text = std::fs::read_to_string(root.join(format!("{file}.c"))).unwrap();
            let functions = text.matches(&format!("\nunsigned made_{file}_")).count();
            assert_eq!(functions > 0, size >= least[0], "{file}.c of {size}");
            assert!(size < 60_000 || functions > 100);
        }
    }
}

#[test]
fn a_tree_of_sources_is_built_and_only_read() {
    if !has("cc") || !has("make") || !has("ar") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (tree, out) = (dir.path().join("tree"), dir.path().join("out"));
    put(&tree, "Makefile", Kind::CMakefile, 0, Kind::CMakefile.least_bytes() + 333);
    put(&tree, "main.c", Kind::CMain, 1, 3000);
    put(&tree, "include/common.h", Kind::CHeader, 2, 2000);
    put(&tree, "include/other.h", Kind::CHeader, 3, 2000);
    for file in 4..16 {
        put(&tree, &format!("src/part-{file}.c"), Kind::C, file, 200 * file);
    }
    let names = |of: &Path| {
        let entries = std::fs::read_dir(of).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = [&tree, &tree.join("src")].map(|of| names(of));
    // Once into a directory that is there, once into one that is not.
    std::fs::create_dir(&out).unwrap();
    for out in [&out, &dir.path().join("second")] {
        let mut make = Command::new("make");
        make.arg("-s").arg("-C").arg(&tree).arg("-j3").arg(format!("OUT={}", out.display()));
        assert_eq!(run(make.env_remove("MAKEFLAGS").env_remove("CFLAGS")), "");
        run(&mut Command::new(out.join("made")));
        let made = names(out);
        assert!(made.contains(&"libmade.a".into()), "{made:?}");
        let objects = made.iter().filter(|name| name.to_string_lossy().ends_with(".o")).count();
        assert_eq!(objects, 13, "{made:?}");
        let listed = Command::new("ar").arg("t").arg(out.join("libmade.a")).output().unwrap();
        assert_eq!(listed.stdout.iter().filter(|byte| **byte == b'\n').count(), 12);
    }
    assert_eq!([&tree, &tree.join("src")].map(|of| names(of)), before);
}

#[test]
fn a_makefile_has_any_size() {
    let maker = Generator::new(1);
    for kind in [Kind::CMakefile, Kind::CHeader] {
        for size in (0..200).chain(kind.least_bytes()..kind.least_bytes() + 200) {
            let bytes = whole(&maker, &kind, 1, size);
            let text = std::str::from_utf8(&bytes).unwrap();
            let is_whole = match kind {
                Kind::CMakefile => text.contains(".PHONY: all\n"),
                _ => text.contains("MADE_MIX") && text.ends_with("#endif\n"),
            };
            assert_eq!(is_whole, size >= kind.least_bytes(), "{kind:?} of {size}");
        }
    }
}

/// The size of `sound` after `program`; `None` where it is not installed.
fn encoded(program: &str, args: &[&str], sound: &[u8], name: &str) -> Option<u64> {
    if !has(program) {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.wav"), sound).unwrap();
    let mut command = Command::new(program);
    run(command.args(args).arg("a.wav").current_dir(dir.path()));
    Some(dir.path().join(name).metadata().unwrap().len())
}

#[test]
fn a_sound_is_work_for_encoders() {
    // Twelve seconds, from four files: keys and chords differ.
    for file in 0..4 {
        let sound = whole(&Generator::new(2026), &Kind::Wav, file, 44 + 12 * 4 * 44_100);
        let part_of = |size: u64| 100 * size / sound.len() as u64;
        let flac = ["--best", "--silent", "--output-prefix=./"];
        if let Some(size) = encoded("flac", &flac, &sound, "a.flac") {
            println!("flac: {} %", part_of(size));
            assert!((55..75).contains(&part_of(size)), "flac: {} %", part_of(size));
        }
        let ogg = ["-q", "10", "--quiet", "-o", "a.ogg"];
        if let Some(size) = encoded("oggenc", &ogg, &sound, "a.ogg") {
            println!("oggenc: {} %", part_of(size));
            assert!((10..60).contains(&part_of(size)), "oggenc: {} %", part_of(size));
        }
    }
}

#[test]
fn a_sound_has_two_sides_and_is_not_cut_off() {
    let sound = whole(&Generator::new(1), &Kind::Wav, 1, 44 + 4 * 44_100 * 20);
    let samples: Vec<i16> =
        sound[44..].chunks(2).map(|two| i16::from_le_bytes(two.try_into().unwrap())).collect();
    let cut = samples.iter().filter(|sample| matches!(**sample, i16::MIN | i16::MAX)).count();
    assert!(cut < 10, "{cut} samples are cut off");
    let loudest = samples.iter().map(|sample| sample.unsigned_abs()).max().unwrap();
    assert!(loudest > 8000, "{loudest}");
    let same = samples.chunks(2).filter(|frame| frame[0] == frame[1]).count();
    assert!(same < samples.len() / 20, "{same} of {} are the same", samples.len() / 2);
}
