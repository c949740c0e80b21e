//! The built-in datasets: that they are read, have the stated sizes, and never change.

use super::*;
use fsarena_model::job::Contents;

fn contents(name: &str) -> Contents {
    builtin(name).unwrap().tree().contents()
}

#[test]
fn every_one_is_read_and_bears_its_name() {
    for name in names() {
        let description = builtin(name).unwrap();
        assert_eq!(description.name(), name);
        assert!(!description.notes().is_empty() && !description.title().is_empty());
        let again = Description::parse(&description.to_toml(), name).unwrap();
        assert_eq!(again, description);
    }
    for wrong in ["small", "small-", "small-0", "small-x", "small-010", "small-25000001", "x"] {
        assert_eq!(builtin(wrong), None, "{wrong}");
    }
}

#[test]
fn sizes_are_those_of_the_articles() {
    for (name, files, bytes, dirs) in [
        ("mixed-830m", 8250, 830_000_000, 120),
        ("ports-2004", 101_961, 124_000_000, 16_860),
        ("portage-2010", 98_000, 229_000_000, 22_000),
        ("flac-16", 16, 357_000_000, 0),
        ("wav-5", 5, 231_000_000, 0),
        ("big-693m", 1, 693_000_000, 0),
        ("iso-586m", 1, 586_000_000, 0),
        ("avi-3400m", 1, 3_400_000_000, 0),
        ("c-tree", 462, 4_000_000, 2),
    ] {
        let found = contents(name);
        assert_eq!((found.files, found.bytes, found.dirs), (files, bytes, dirs), "{name}");
    }
    let sizes = |name: &str| -> Vec<u64> {
        let tree = builtin(name).unwrap().tree();
        let mut sizes: Vec<u64> = tree
            .entries()
            .filter_map(|entry| match entry.kind {
                crate::EntryKind::File { size_bytes } => Some(size_bytes),
                crate::EntryKind::Dir => None,
            })
            .collect();
        sizes.sort_unstable();
        sizes
    };
    // A quarter, half and three quarters of the files have at most so many bytes, and nine tenths.
    let quantiles = |name: &str| {
        let sizes = sizes(name);
        [25, 50, 75, 90].map(|percent| sizes[sizes.len() * percent / 100])
    };
    for (name, bytes) in [
        ("ports-2004", [247, 560, 1196, 2396]),
        ("portage-2008", [609, 1264, 2415, 4258]),
        ("portage-2010", [835, 1671, 2923, 4813]),
        ("mixed-830m", [4893, 10_864, 37_470, 145_090]),
        ("c-tree", [3697, 6406, 11_071, 17_283]),
    ] {
        assert_eq!(quantiles(name), bytes, "{name}");
    }
    let portage = sizes("portage-2010");
    let few_kb = portage.iter().filter(|size| (200..10_000).contains(*size)).count();
    assert!(few_kb * 20 > portage.len() * 19, "{few_kb} of {}", portage.len());
    let flac = sizes("flac-16");
    assert!(flac[0] >= 10_000_000 && flac[15] <= 27_000_000, "{flac:?}");
}

#[test]
fn a_small_set_is_what_its_name_says() {
    let set = small(1000, 4096, 8).tree().contents();
    assert_eq!((set.files, set.bytes, set.dirs), (1000, 4_096_000, 8));
    let flat = small(3, 0, 0).tree().contents();
    assert_eq!((flat.files, flat.bytes, flat.dirs), (3, 0, 0));
    for (set, title) in [
        (small(1, 256, 1), "1 file of 256 B in 1 directory"),
        (small(200, 0, 2), "200 files of 0 B in 2 directories"),
        (small(3, 0, 0), "3 files of 0 B without directories"),
    ] {
        assert_eq!(set.title(), title);
    }
    let named = contents("small-10000");
    assert_eq!((named.files, named.bytes, named.dirs), (10_000, 2_560_000, 100));
}

#[test]
fn a_scale_comes_near_its_part_of_the_whole() {
    for name in ["mixed-830m", "ports-2004", "portage-2008", "big-693m", "avi-3400m"] {
        let whole = contents(name);
        for scale in [0.1, 0.5] {
            let found = builtin(name).unwrap().scaled(scale).tree().contents();
            let part = found.bytes as f64 / whole.bytes as f64;
            // The index of ports-2004 shrinks to 1 MiB and no further.
            assert!((part / scale - 1.0).abs() < 0.05, "{name}: {part} at {scale}");
        }
    }
    let music = builtin("flac-16").unwrap().scaled(0.1).tree().contents();
    assert_eq!(music.files, 2);
}

/// What a dataset is must never change: a new one gets a new name.
#[test]
fn golden_digests_of_a_small_part() {
    let found: Vec<(&str, String)> = GOLDEN
        .iter()
        .map(|(name, scale, _)| (*name, builtin(name).unwrap().scaled(*scale).tree().digest()))
        .collect();
    let expected: Vec<(&str, String)> =
        GOLDEN.iter().map(|(name, _, digest)| (*name, (*digest).to_owned())).collect();
    assert_eq!(found, expected);
}

const GOLDEN: &[(&str, f64, &str)] = &[
    ("mixed-830m", 0.01, "4e3310b3c904d9dd77392074404774677c3febb760feca4028cab1edf9c9b5ae"),
    ("ports-2004", 0.01, "21d4f25bb81f9f99f3882749fd87ed9d21caeee4ff9a891560c948dda9dc38c7"),
    ("portage-2008", 0.01, "384bc280f0c68d550d938a2e93bf43bea99d3343ee49a65ab48c7f916e37c40a"),
    ("portage-2010", 0.01, "7ad938b1b59b95a2f35a7b6cf8065cbf8dd0793318ad10f089fe42a4d05e94bb"),
    ("big-693m", 0.01, "0c781e0a470680821313319d559f600bb2085723474599c51a16750dfc5423d8"),
    ("iso-586m", 0.01, "da888e427c73e354f279e951336457bce271146aa593699fc552bd83ecd37fac"),
    ("avi-3400m", 0.002, "cb7d192bb185e4d1ad5604fd6a8f3ecab25937212f07600b4a92e937e39c16a7"),
    ("c-tree", 0.1, "31efcb38e3e6e1d790f93301c4107e5c63d8c89ce0f59885b6707f3754484041"),
    ("small-10000", 1.0, "80ca35c8b8f286cdc91c1d417ec86febd7e99f32242aa75e03294982dbe54b40"),
];
