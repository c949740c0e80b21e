//! What is wrong in a sheet is said in one sentence, with its place.

use super::*;

const GOOD: &str = r#"schema = 1
name = "mine"
title = "A disk of mine"
capacity_bytes = 80_000_000_000
queue_depth = 32

[rotating]
rpm = 7200
heads = 4
zones = 16
outer_sectors_per_track = 1200
inner_sectors_per_track = 700
seek_base_ns = 1_000_000
seek_sqrt_ns = 9_000_000
seek_linear_ns = 5_000_000
write_settle_ns = 200_000
head_switch_ns = 800_000
command_ns = 100_000
bus_bytes_per_s = 150_000_000
read_segments = 8
read_segment_bytes = 1_048_576
ordering = "position"

[[figure]]
probe = { kind = "seek", stroke = "average" }
value = 8.5
role = "fitted"
source = "its data sheet"

[[figure]]
probe = { kind = "random-read", depth = 1 }
value = 75
role = "held-out"
source = "a review"
"#;

fn error(from: &str, to: &str) -> String {
    let text = GOOD.replace(from, to);
    assert_ne!(text, GOOD, "{from}");
    Sheet::parse(&text, "mine.toml").unwrap_err().to_string()
}

#[test]
fn a_good_sheet_is_read() {
    let sheet = Sheet::parse(GOOD, "mine.toml").unwrap();
    assert_eq!((sheet.kind(), sheet.figures.len()), ("rotating", 2));
    assert!(!sheet.is_calibrated(), "one figure is not enough");
    assert!(!sheet.has_volatile_cache());
    let depth = |figure: &crate::sheet::Figure| figure.probe.depth();
    assert_eq!(sheet.figures.iter().map(depth).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_wrong_sheet_is_named_with_file_line_and_key() {
    let cases = [
        ("rpm = 7200", "rpm = 0", "mine.toml, line 8: `rpm` is 0, which cannot be; use 60 to"),
        ("heads = 4\n", "", "mine.toml, line 7: missing field `heads`; devices/README.md"),
        ("heads = 4", "heads = 4\nspeed = 2", "line 10: unknown field `speed`"),
        (
            "schema = 1",
            "schema = 2",
            "mine.toml, line 1: schema 2 is not known; write `schema = 1`",
        ),
        ("name = \"mine\"", "name = \"My disk\"", "line 2: \"My disk\" is no name; use small"),
        ("queue_depth = 32", "queue_depth = 1000", "line 5: `queue_depth` is 1000, which cannot"),
        ("= 80_000_000_000", "= 80_000_000_001", "line 4: `capacity_bytes` is 80000000001, which"),
        ("capacity_bytes = 80_000_000_000", "capacity_bytes = -5", "line 4: "),
        ("= 1200", "= 600", "line 12: 700 sectors on an inner track are more than 600 on an outer"),
        ("[rotating]\n", "[rotating]\n[flash]\n", "line "),
        ("= 8.5", "= 0", "line 26: a figure of 0 cannot be; use a number above 0"),
        ("depth = 1 }", "depth = 64 }", "line 31: a depth of 64 where the queue has 32; use 1"),
        ("\"a review\"", "\"\"", "line 34: a figure without source; say who published it"),
        ("\"average\"", "\"longest\"", "unknown variant `longest`"),
        ("80_000_000_000", "1_048_576", "line 10: 16 zones of 4 heads do not fit into 1048576"),
    ];
    for (from, to, says) in cases {
        let text = error(from, to);
        assert!(text.contains(says), "{text}\n  does not say: {says}");
        assert!(!text.contains('\n'), "{text}");
    }
}

#[test]
fn a_sheet_describes_one_device() {
    let text = error("[rotating]", "[write_cache]");
    assert!(text.contains("unknown field") || text.contains("missing field"), "{text}");
    let constant = "[constant]\nread_ns = 1\nwrite_ns = 1\nflush_ns = 0\ndiscard_ns = 0\n\
                    bytes_per_s = 100_000_000\nservers = 1\n\n\
                    [[figure]]\nprobe = { kind = \"fsync\"";
    let text = error("[[figure]]\nprobe = { kind = \"seek\", stroke = \"average\"", constant);
    assert!(
        text.contains("a sheet describes one device; write one of [rotating], [flash]"),
        "{text}"
    );
}

#[test]
fn seeks_are_of_disks_and_pieces_of_cards() {
    let text = error(
        "kind = \"seek\", stroke = \"average\"",
        "kind = \"pieces\", bytes = 4096, units = 1",
    );
    assert!(text.contains("line 25: pieces are of cards alone"), "{text}");
    let text =
        error("kind = \"seek\", stroke = \"average\"", "kind = \"access\", from = 0, to = 2");
    assert!(text.contains("shares of the capacity, from 0 to 1"), "{text}");
}
