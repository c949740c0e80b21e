//! Trees: that they are what is described, at every scale.

use super::*;
use crate::Description;
use std::collections::HashSet;

const TREE: &str = r#"
schema = 1
name = "tree"
title = "A tree"
seed = 7
[[dirs]]
name = "outer"
count = 5
names = "{word}"
[[dirs]]
name = "inner"
in = "outer"
count = 40
spread = "uneven"
names = ["a", "a", "lib{word}"]
[[class]]
name = "one-each"
in = "inner"
each = 1
total_bytes = 40_000
names = "Makefile"
size_bytes = { kind = "lognormal", median = 700, sigma = 1.0, min = 100, max = 9000 }
contents = "text"
[[class]]
name = "many"
in = "inner"
count = 1000
spread = "uneven"
names = "patch-{aa}"
size_bytes = { kind = "uniform", min = 0, max = 500 }
contents = "text"
[[class]]
name = "by-bytes"
in = "outer"
total_bytes = 1_000_000
mode = "0755"
names = "{word}"
size_bytes = { kind = "uniform", min = 1000, max = 3000 }
contents = "random"
[[class]]
name = "big"
count = 1
names = "film"
size_bytes = 3_000_000
contents = "random"
"#;

fn tree(scale: f64) -> Tree {
    Description::parse(TREE, "tree.toml").unwrap().scaled(scale).tree()
}

fn entries_named<'a>(tree: &'a Tree, end: &str) -> Vec<Entry<'a>> {
    tree.entries().filter(|entry| entry.path.rsplit('/').next().unwrap().starts_with(end)).collect()
}

fn bytes(entries: &[Entry<'_>]) -> u64 {
    let size = |entry: &Entry<'_>| match entry.kind {
        EntryKind::File { size_bytes } => size_bytes,
        EntryKind::Dir => 0,
    };
    entries.iter().map(size).sum()
}

#[test]
fn counts_and_totals_are_those_described() {
    let tree = tree(1.0);
    let contents = tree.contents();
    assert_eq!(contents.dirs, 45);
    assert_eq!(
        (entries_named(&tree, "Makefile").len(), entries_named(&tree, "patch-").len()),
        (40, 1000)
    );
    assert_eq!(bytes(&entries_named(&tree, "Makefile")), 40_000);
    let executable: Vec<_> =
        tree.entries().filter(|e| e.mode == 0o755 && e.kind != EntryKind::Dir).collect();
    assert_eq!(bytes(&executable), 1_000_000);
    assert!((450..560).contains(&executable.len()), "{}", executable.len());
    assert_eq!(
        (contents.largest_bytes, contents.files),
        (3_000_000, 1041 + executable.len() as u64)
    );
    let longest = tree.entries().map(|entry| entry.path.len() as u64).max();
    assert_eq!(Some(contents.longest_path_bytes), longest);
    assert!(contents.block_bytes > contents.bytes);
    assert_eq!(contents.symlinks, 0);
}

#[test]
fn parents_come_first_and_no_path_comes_twice() {
    let tree = tree(1.0);
    let mut dirs: HashSet<&str> = HashSet::from([""]);
    let mut paths = HashSet::new();
    for entry in tree.entries() {
        let parent = entry.path.rsplit_once('/').map_or("", |(parent, _)| parent);
        assert!(dirs.contains(parent), "{}", entry.path);
        assert!(paths.insert(entry.path), "{}", entry.path);
        let oldest = NEWEST_S - SPAN_S as i64;
        assert!((oldest..=NEWEST_S).contains(&entry.mtime_unix_s));
        if entry.kind == EntryKind::Dir {
            dirs.insert(entry.path);
        }
    }
    assert!(paths.iter().any(|path| path.ends_with("/a-2")), "a fixed name is told apart");
}

#[test]
fn a_scale_makes_fewer_files_not_smaller_ones_but_for_a_big_one() {
    for scale in [0.001, 0.1, 0.5, 2.0] {
        let tree = tree(scale);
        let expected = |count: f64| ((count * scale).round() as usize).max(1);
        assert_eq!(entries_named(&tree, "patch-").len(), expected(1000.0), "{scale}");
        assert_eq!(entries_named(&tree, "Makefile").len(), expected(40.0).max(1), "{scale}");
        let mean = bytes(&entries_named(&tree, "Makefile")) as usize
            / entries_named(&tree, "Makefile").len();
        assert!((999..=1001).contains(&mean), "{mean} at {scale}");
        let film = bytes(&entries_named(&tree, "film"));
        assert_eq!(film, ((3_000_000.0 * scale) as u64).max(1 << 20));
        assert!(
            entries_named(&tree, "lib").len() + entries_named(&tree, "a").len()
                >= expected(40.0) / 2
        );
    }
}

#[test]
fn ranges_of_a_file_are_parts_of_the_whole() {
    let tree = tree(0.05);
    for (at, entry) in tree.entries().enumerate() {
        let EntryKind::File { size_bytes } = entry.kind else { continue };
        let size = size_bytes.min(200_000) as usize;
        let mut whole = vec![0; size];
        tree.fill(at, 0, &mut whole);
        let mut middle = vec![0; size / 3];
        tree.fill(at, (size / 3) as u64, &mut middle);
        assert!(whole[size / 3..][..size / 3] == middle, "{}", entry.path);
    }
}

#[test]
fn a_digest_changes_with_the_seed_alone() {
    let description = Description::parse(TREE, "tree.toml").unwrap().scaled(0.02);
    assert_eq!(description.tree().digest(), description.tree().digest());
    let other = Description::parse(&TREE.replace("seed = 7", "seed = 8"), "tree.toml").unwrap();
    assert_ne!(description.tree().digest(), other.scaled(0.02).tree().digest());
}

#[test]
fn twins_hold_the_same() {
    let text =
        TREE.replace("names = \"patch-{aa}\"", "twins_percent = 100\nnames = \"patch-{aa}\"");
    let tree = Description::parse(&text, "tree.toml").unwrap().tree();
    let patches = tree.entries().enumerate().filter(|(_, entry)| entry.path.contains("patch-"));
    let numbers: HashSet<u64> = patches.map(|(at, _)| tree.nodes[at].number).collect();
    assert_eq!(numbers.len(), 1);
}

#[test]
fn classes_in_figures() {
    let tree = tree(1.0);
    let classes = tree.classes();
    let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["one-each", "many", "by-bytes", "big"]);
    assert_eq!(classes.iter().map(|class| class.files).sum::<u64>(), tree.contents().files);
    assert_eq!(classes.iter().map(|class| class.bytes).sum::<u64>(), tree.contents().bytes);
    let mut sizes: Vec<u64> = entries_named(&tree, "Makefile")
        .iter()
        .map(|entry| bytes(std::slice::from_ref(entry)))
        .collect();
    sizes.sort_unstable();
    let one_each = ClassFigures {
        name: "one-each".to_owned(),
        contents: Kind::Text,
        files: 40,
        bytes: 40_000,
        smallest_bytes: sizes[0],
        median_bytes: sizes[19],
        largest_bytes: sizes[39],
    };
    assert_eq!(classes[0], one_each);
    let film = &classes[3];
    assert_eq!((film.smallest_bytes, film.median_bytes, film.files), (3_000_000, 3_000_000, 1));
}
