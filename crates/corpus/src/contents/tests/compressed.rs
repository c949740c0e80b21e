//! How far the kinds compress.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

fn gzip_bytes(all: &[u8]) -> f64 {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(6));
    gzip.write_all(all).unwrap();
    gzip.finish().unwrap().len() as f64
}

/// Size over the size gzip makes of it.
fn ratio(kind: Kind) -> f64 {
    let all = whole(&Generator::new(2004), &kind, 1, 500_000);
    all.len() as f64 / gzip_bytes(&all)
}

/// The same of many files one behind the other.
fn ratio_of_files(kind: &Kind, files: u64, size: u64) -> f64 {
    let maker = Generator::new(2004);
    let all: Vec<u8> = (0..files).flat_map(|file| whole(&maker, kind, file, size)).collect();
    all.len() as f64 / gzip_bytes(&all)
}

#[test]
fn random_bytes_do_not() {
    for kind in [Kind::Random, Kind::Headed(Head::Jpeg), Kind::Headed(Head::Avi)] {
        let ratio = ratio(kind);
        assert!((0.99..1.001).contains(&ratio), "{kind:?}: {ratio}");
    }
    // The values of bytes are even, and neither bytes nor blocks come again.
    let all = whole(&Generator::new(3), &Kind::Random, 1, 1 << 20);
    let mut counts = [0_u32; 256];
    all.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let spread: f64 = counts.iter().map(|count| (f64::from(*count) - 4096.0).powi(2)).sum();
    assert!(spread / 4096.0 < 350.0, "{spread}");
    let words: std::collections::BTreeSet<&[u8]> = all.chunks(8).collect();
    assert_eq!(words.len(), all.len() / 8);
}

#[test]
fn mixed_bytes_to_the_stated_part() {
    for part in [0, 40, 50, 60, 100] {
        let share = 100.0 / ratio(Kind::Mixed { random_percent: percent(part) });
        let over = share - f64::from(part);
        assert!((-1.0..2.5).contains(&over), "{part} %: {share} %");
    }
}

#[test]
fn prose() {
    let (text, html) = (ratio(Kind::Text), ratio(Kind::Html));
    println!("text {text:.2}, html {html:.2}");
    assert!((2.5..3.5).contains(&text), "{text}");
    assert!((3.0..5.0).contains(&html) && html > text, "{html}");
    let small = ratio_of_files(&Kind::Text, 300, 2000);
    assert!((2.5..3.5).contains(&small), "{small}");
}

#[test]
fn recipes_by_the_part_of_hashes() {
    for make in [
        |unique_percent| Kind::Ebuild { unique_percent },
        |unique_percent| Kind::Makefile { unique_percent },
    ] {
        let ratios = [0, 5, 15, 30, 60].map(|part| {
            let kind = make(percent(part));
            ratio_of_files(&kind, 700, 700)
        });
        println!("{:?}: {ratios:.2?}", make(percent(0)));
        assert!(ratios.is_sorted_by(|more, less| more > less), "{ratios:?}");
        assert!(ratios[0] > 6.0, "{ratios:?}");
        assert!((2.0..3.2).contains(&ratios[4]), "{ratios:?}");
    }
}

#[test]
fn sources() {
    let ratio = ratio_of_files(&Kind::C, 100, 10_000);
    println!("c {ratio:.2}");
    assert!((3.0..8.0).contains(&ratio), "{ratio}");
}

/// `files` of 300 to 2000 bytes, mostly short ones, as a tar of them is: heads and whole blocks.
fn tar_of(kind: &Kind, files: u64) -> Vec<u8> {
    let maker = Generator::new(2004);
    let mut rng = SplitMix::new(1);
    let mut all = Vec::new();
    for file in 0..files {
        let size = 300 + rng.below(1700).min(rng.below(1700));
        let mut head = [0; 512];
        let name = format!("./devel/package-{}/part-{file}.eb", file / 5);
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[100..108].copy_from_slice(b"0000644\0");
        head[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        let time = 1_100_000_000 + rng.below(1 << 26);
        head[136..147].copy_from_slice(format!("{time:011o}").as_bytes());
        head[148..154].copy_from_slice(format!("{:06o}", rng.below(1 << 14)).as_bytes());
        all.extend(head);
        all.extend(whole(&maker, kind, file, u64::from(size)));
        all.resize(all.len().next_multiple_of(512), 0);
    }
    all
}

#[test]
fn a_table_of_ratios() {
    const FILES: u64 = 3000;
    if !measures() {
        return;
    }
    println!("part  files.gz files.bz2  tar.gz bytes/file  tar.bz2 bytes/file");
    let bzip2 = |all: &[u8]| {
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(9));
        bzip2.write_all(all).unwrap();
        bzip2.finish().unwrap().len() as f64
    };
    for (name, make) in [
        ("ebuild", (|unique_percent| Kind::Ebuild { unique_percent }) as fn(Percent) -> Kind),
        ("makefile", |unique_percent| Kind::Makefile { unique_percent }),
    ] {
        for part in [0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 70, 100] {
            let kind = make(percent(part));
            let maker = Generator::new(2004);
            let plain: Vec<u8> = (0..FILES).flat_map(|f| whole(&maker, &kind, f, 900)).collect();
            let tar = tar_of(&kind, FILES);
            println!(
                "{name} {part}: {:.2} {:.2}  {:.2} {:.0}  {:.2} {:.0}",
                plain.len() as f64 / gzip_bytes(&plain),
                plain.len() as f64 / bzip2(&plain),
                tar.len() as f64 / gzip_bytes(&tar),
                gzip_bytes(&tar) / FILES as f64,
                tar.len() as f64 / bzip2(&tar),
                bzip2(&tar) / FILES as f64,
            );
        }
    }
}
