//! Built-in datasets at their whole size: contents and archives are what they were when the first
//! results were published. Minutes of work, so only when asked for, and in release:
//! `FSARENA_WHOLE_DATASETS=1 cargo test --release -p fsarena-corpus --test whole -- --show-output`.
#![allow(clippy::print_stdout)] // figures, for who runs it

use fsarena_corpus::builtin;
use fsarena_model::job::Compression;
use std::io::{self, Write};
use std::time::Instant;

/// What comes of each dataset: the digest of its tree.
const GOLDEN: &[(&str, &str)] = &[
    ("mixed-830m", "b48f877291f68f3e573b9e85adf094280e0cc4b14b4ee1e7c4c3d8f5aa3d6a3a"),
    ("ports-2004", "8e139a6ad4cde4540ed50437d1ad9f5209f852ab32ae36378550916b65686182"),
    ("portage-2008", "b401565798f0171c0e6599aa99efac141cb82e1d83672622340389c20926b042"),
    ("portage-2010", "431583f89526943a96cd660f7e41bab32757f6382e12cd5e44da8568c975bcd7"),
    ("flac-16", "34c24bc43c1b5f0920abd0d6645997e98e50b67c946985391cb5b27d32a47b50"),
    ("wav-5", "3651fe4ba840a87ab76b95b9e61a90027f5bfdf1cacbd2f90ffa80fa5402f460"),
    ("big-693m", "1d86b0756de258eb3e311fe12a98a622dfd6f8ac4a4f2478f27d154cde8344a9"),
    ("iso-586m", "5d802d48f6a5f5ed36c7409a97e287e57d92e1a1567b35feb54895b2466db115"),
    ("avi-3400m", "9700c9e71980b66d5c3a1248d0cd96b8b149293f49dd82b4a8d92e67342f61ff"),
    ("c-tree", "f467d48d3b03281d1bd2a34717d88084f89c2a5307a11588cb55c3a0de51123b"),
];

/// Whether minutes of work are asked for; says so where they are not.
fn is_asked() -> bool {
    let is_asked = std::env::var_os("FSARENA_WHOLE_DATASETS").is_some();
    if !is_asked {
        println!("not run: minutes of work; FSARENA_WHOLE_DATASETS is not set");
    }
    is_asked
}

/// Takes all and keeps nothing.
struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Size of an archive of `name` at `scale`, and that part of the bytes of its files.
fn archive(name: &str, scale: f64, compression: Compression) -> (u64, f64) {
    let start = Instant::now();
    let tree = builtin(name).expect("a built-in dataset").scaled(scale).tree();
    let bytes = tree.archive(compression, &mut Sink, &|| false).expect("a sink takes all");
    let ratio = bytes as f64 / tree.contents().bytes as f64;
    let (took, kind) = (start.elapsed(), compression.name());
    println!("{name} at {scale}, {kind}: {bytes} B, {ratio:.4} of the files, {took:.1?}");
    (bytes, ratio)
}

#[test]
fn golden_digests() {
    if !is_asked() {
        return;
    }
    let mut found = Vec::new();
    for (name, _) in GOLDEN {
        let start = Instant::now();
        let digest = builtin(name).expect("a built-in dataset").tree().digest();
        println!("(\"{name}\", \"{digest}\"), // {:.1?}", start.elapsed());
        found.push((*name, digest));
    }
    let expected: Vec<(&str, String)> =
        GOLDEN.iter().map(|(name, digest)| (*name, (*digest).to_owned())).collect();
    assert_eq!(found, expected);
}

/// 24.2 MB and 31.1 MB are printed in the articles.
#[test]
fn archives_have_the_sizes_of_the_articles() {
    if !is_asked() {
        return;
    }
    for (name, compression, printed_mb) in
        [("ports-2004", Compression::Gzip, 24.2), ("portage-2008", Compression::Bzip2, 31.1)]
    {
        let (bytes, _) = archive(name, 1.0, compression);
        let part = bytes as f64 / (printed_mb * 1e6);
        assert!((0.95..1.05).contains(&part), "{name}: {bytes} B are {part} of {printed_mb} MB");
    }
}

#[test]
fn stated_ratios_are_those_of_archives() {
    if !is_asked() {
        return;
    }
    for (name, scale) in [
        ("mixed-830m", 0.02),
        ("ports-2004", 0.05),
        ("portage-2008", 0.05),
        ("portage-2010", 0.05),
        ("wav-5", 0.2),
        ("flac-16", 0.05),
        ("big-693m", 0.02),
        ("iso-586m", 0.02),
        ("avi-3400m", 0.005),
        ("c-tree", 1.0),
    ] {
        for compression in Compression::ALL {
            let (_, ratio) = archive(name, scale, compression);
            let stated = builtin(name).expect("a built-in dataset").archive_ratio(compression);
            let error = (stated / ratio - 1.0).abs();
            assert!(error < 0.15, "{name}, {compression:?}: {stated} is stated, {ratio} is true");
        }
    }
}
