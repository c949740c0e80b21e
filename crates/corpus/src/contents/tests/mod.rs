//! Tests of all kinds of contents: the same bytes everywhere, however they are cut.

mod built;
mod compressed;

use super::*;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

const HEADS: [Head; 7] =
    [Head::Jpeg, Head::Gif, Head::Png, Head::Mp3, Head::Avi, Head::Iso, Head::Flac];

fn percent(number: u8) -> Percent {
    Percent::new(number).unwrap()
}

/// Every kind, by the name it has in a description.
fn kinds() -> Vec<(&'static str, Kind)> {
    let mut all = vec![
        ("random", Kind::Random),
        ("mixed", Kind::Mixed { random_percent: percent(60) }),
        ("text", Kind::Text),
        ("html", Kind::Html),
        ("ebuild", Kind::Ebuild { unique_percent: percent(10) }),
        ("makefile", Kind::Makefile { unique_percent: percent(10) }),
        ("c", Kind::C),
        ("c-main", Kind::CMain),
        ("c-header", Kind::CHeader),
        ("c-makefile", Kind::CMakefile),
        ("wav", Kind::Wav),
    ];
    all.extend(HEADS.map(|head| ("headed", Kind::Headed(head))));
    all
}

/// Whether measurements are asked for; says so where they are not.
fn measures() -> bool {
    let asked = std::env::var_os("FSARENA_MEASURE_CONTENTS").is_some();
    if !asked {
        println!("not run: a measurement; FSARENA_MEASURE_CONTENTS is not set");
    }
    asked
}

fn whole(maker: &Generator, kind: &Kind, file: u64, size: u64) -> Vec<u8> {
    let mut bytes = vec![0xaa; usize::try_from(size).unwrap()];
    maker.fill(kind, file, size, 0, &mut bytes);
    bytes
}

/// Takes turns with two fill values, so that a byte that is never written is seen.
fn range(maker: &Generator, kind: &Kind, size: u64, from: u64, len: usize) -> Vec<u8> {
    let [first, second] = [0x00, 0xff].map(|before| {
        let mut bytes = vec![before; len];
        maker.fill(kind, 3, size, from, &mut bytes);
        bytes
    });
    assert!(first == second, "{kind:?}: bytes not written in {from}+{len} of {size}");
    first
}

#[test]
fn the_same_bytes_on_every_machine() {
    // Sizes over one block and odd, so that every path of a kind is in the sum.
    let sums = kinds().into_iter().map(|(_, kind)| {
        let bytes = whole(&Generator::new(2004), &kind, 7, 150_001);
        let sum = Sha256::digest(&bytes);
        let hex: String = sum.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{kind:?} {hex}\n")
    });
    assert_eq!(sums.collect::<String>(), include_str!("golden.txt"));
}

/// The words of people begin with, or name, what descriptions say.
#[test]
fn kinds_have_names() {
    for (name, kind) in kinds() {
        let said = kind.to_string();
        match kind {
            Kind::Headed(head) => {
                assert_eq!(said, format!("head of {}, random", head.name()));
                let read = format!("contents = {{ headed = \"{}\" }}", head.name());
                let table: std::collections::BTreeMap<String, Kind> =
                    toml::from_str(&read).unwrap();
                assert_eq!(table["contents"], kind);
            }
            Kind::Mixed { .. } => assert_eq!(said, "60 % random"),
            _ => assert!(said.starts_with(name), "{said}"),
        }
    }
}

#[test]
fn any_size_and_any_cut() {
    let maker = Generator::new(1);
    let block = BLOCK_BYTES;
    for (name, kind) in kinds() {
        for size in [0, 1, 2, 43, 44, 45, 511, block - 1, block, block + 1, 2 * block + 5] {
            let all = range(&maker, &kind, size, 0, size as usize);
            for from in [0, 1, 7, 43, 45, 513, 4099, block - 1, block, block + 3] {
                let Some(left) = size.checked_sub(from) else { continue };
                for len in [left, left.min(1), left.min(9), left.min(block)] {
                    let part = range(&maker, &kind, size, from, len as usize);
                    let same = part == all[from as usize..(from + len) as usize];
                    assert!(same, "{name}: {from}+{len} of {size}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn a_range_is_the_same_as_in_the_whole(
        number in 0..18_usize, seed: u64, size in 1..200_000_u64, from: u64, len: u64,
    ) {
        let (_, kind) = kinds()[number];
        let maker = Generator::new(seed);
        let from = from % size;
        let len = len % (size - from + 1);
        let all = whole(&maker, &kind, 3, size);
        let part = range(&maker, &kind, size, from, len as usize);
        prop_assert!(part == all[from as usize..(from + len) as usize]);
    }
}

#[test]
fn files_and_seeds_differ() {
    for (name, kind) in kinds().into_iter().filter(|(name, _)| *name != "c-makefile") {
        let size = 70_000;
        let one = whole(&Generator::new(1), &kind, 1, size);
        assert_ne!(one, whole(&Generator::new(1), &kind, 2, size), "{name}: files");
        assert_ne!(one, whole(&Generator::new(2), &kind, 1, size), "{name}: seeds");
        // Not a shifted copy of one another either, nor one block over and over.
        assert_ne!(one[..4000], one[65_536..69_536], "{name}: blocks");
    }
}

#[test]
#[should_panic(expected = "past the end")]
fn a_range_past_the_end() {
    Generator::new(1).fill(&Kind::Random, 1, 10, 8, &mut [0; 3]);
}

#[test]
fn lines_end() {
    let maker = Generator::new(5);
    let lines = ["text", "html", "ebuild", "makefile", "c", "c-main", "c-header", "c-makefile"];
    for (name, kind) in kinds().into_iter().filter(|(name, _)| lines.contains(name)) {
        for size in [1, 300, 5000, 65_536, 65_537, 100_000] {
            let bytes = whole(&maker, &kind, 1, size);
            assert_eq!(bytes.last(), Some(&b'\n'), "{name} of {size}");
            let plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
            assert!(plain, "{name} of {size}: not plain text");
        }
    }
    let bytes = whole(&maker, &Kind::Text, 1, 50_000);
    let text = std::str::from_utf8(&bytes).unwrap();
    assert!(text.lines().all(|line| line.len() < 160), "lines too long");
    assert!(text.lines().count() > 400, "lines too few");
}

#[test]
fn digits_of_hashes_are_the_stated_part() {
    for part in [0, 5, 20, 50] {
        for make in [
            |unique_percent| Kind::Ebuild { unique_percent },
            |unique_percent| Kind::Makefile { unique_percent },
        ] {
            let maker = Generator::new(9);
            // Many short files, each of which can hold only few.
            let files = 1000;
            let digits: usize = (0..files)
                .map(|file| {
                    let bytes = whole(&maker, &make(percent(part)), file, 600);
                    let is_hash =
                        |word: &&[u8]| word.len() > 20 && word.iter().all(u8::is_ascii_hexdigit);
                    let words = bytes.split(|byte| byte.is_ascii_whitespace());
                    words.filter(is_hash).map(<[u8]>::len).sum::<usize>()
                })
                .sum();
            let share = digits as f64 / (files * 6) as f64;
            assert!((share - f64::from(part)).abs() < 0.1 * f64::from(part) + 0.01, "{share}");
        }
    }
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Class {
    contents: Kind,
}

#[test]
fn descriptions_name_kinds() {
    let read = |text: &str| toml::from_str::<Class>(text).map(|class| class.contents);
    for (name, kind) in kinds() {
        let text = toml::to_string(&Class { contents: kind }).unwrap();
        assert!(text.contains(name), "{text}");
        assert_eq!(read(&text).unwrap(), kind);
    }
    assert_eq!(read("contents = 'c-main'").unwrap(), Kind::CMain);
    let iso = read("contents = { headed = 'iso' }").unwrap();
    assert_eq!(iso, Kind::Headed(Head::Iso));
    let mixed = read("contents = { mixed = { random_percent = 60 } }").unwrap();
    assert_eq!(mixed, Kind::Mixed { random_percent: percent(60) });
    let many = read("contents = { ebuild = { unique_percent = 101 } }").unwrap_err().to_string();
    assert!(many.contains("101 is not a percentage"), "{many}");
    let unknown = read("contents = 'poem'").unwrap_err().to_string();
    assert!(unknown.contains("poem") && unknown.contains("html"), "{unknown}");
    assert!(read("contents = { text = { unique_percent = 1 } }").is_err());
}

#[test]
fn heads_are_those_of_their_formats() {
    let maker = Generator::new(1);
    for (head, at, magic) in [
        (Head::Jpeg, 0, &b"\xff\xd8\xff\xe0"[..]),
        (Head::Gif, 0, b"GIF89a"),
        (Head::Png, 0, b"\x89PNG\r\n\x1a\n"),
        (Head::Mp3, 0, b"ID3"),
        (Head::Avi, 8, b"AVI LIST"),
        (Head::Iso, 32_769, b"CD001"),
        (Head::Flac, 0, b"fLaC"),
    ] {
        let kind = Kind::Headed(head);
        let bytes = whole(&maker, &kind, 1, 80_000);
        assert_eq!(&bytes[at..at + magic.len()], magic);
        let length = kind.least_bytes() as usize;
        let random = whole(&maker, &Kind::Random, 1, 80_000);
        assert_eq!(bytes[length..], random[length..], "{head:?} is longer than stated");
        assert_ne!(bytes[..length], random[..length]);
    }
    // The tag of the sound and the lists of the film end where they say.
    let film = whole(&maker, &Kind::Headed(Head::Avi), 1, 5000);
    let number = |at: usize| u32::from_le_bytes(film[at..at + 4].try_into().unwrap());
    assert_eq!((number(4), film.len()), (4992, 5000));
    let movi = 20 + number(16) as usize;
    assert_eq!((&film[movi..movi + 4], &film[movi + 8..movi + 12]), (&b"LIST"[..], &b"movi"[..]));
    assert_eq!(number(movi + 4) as usize, film.len() - movi - 8);
    let sound = whole(&maker, &Kind::Headed(Head::Mp3), 1, 5000);
    assert_eq!(sound[10 + usize::from(sound[9])..][..2], [0xff, 0xfb]);
}

#[test]
fn speeds() {
    if !measures() {
        return;
    }
    let size = 64 << 20;
    let start = std::time::Instant::now();
    let maker = Generator::new(1);
    println!("tables: {:?}", start.elapsed());
    let mut bytes = vec![0; 1 << 20];
    let shown = |name: &str| !name.starts_with("c-") && name != "headed";
    for (name, kind) in kinds().into_iter().filter(|(name, _)| shown(name)) {
        let total: u64 = if name == "c" { 4 << 20 } else { size };
        let mut seconds = f64::INFINITY;
        for _ in 0..3 {
            let start = std::time::Instant::now();
            for offset in (0..total).step_by(bytes.len()) {
                // A source is made whole each time: as many files as pieces.
                match name {
                    "c" => maker.fill(&kind, offset, 1 << 20, 0, &mut bytes),
                    _ => maker.fill(&kind, 1, total, offset, &mut bytes),
                }
            }
            std::hint::black_box(&bytes);
            seconds = start.elapsed().as_secs_f64().min(seconds);
        }
        println!("{name}: {:.0} MB/s", total as f64 / seconds / 1e6);
    }
    for (name, kind) in kinds().into_iter().filter(|(name, _)| *name != "headed") {
        let start = std::time::Instant::now();
        for file in 0..20_000 {
            maker.fill(&kind, file, 1000, 0, &mut bytes[..1000]);
        }
        println!("{name}: {:.1} µs a file of 1000 bytes", start.elapsed().as_secs_f64() * 50.0);
    }
}
