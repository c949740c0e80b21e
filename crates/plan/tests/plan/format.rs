//! `FORMAT.md` is true: its examples are read, and it names every key.

use crate::rules::TestRules;
use fsarena_model::cycle::{Overrun, UpdateKind};
use fsarena_model::device::{SsdPolicy, WriteCache};
use fsarena_model::io::{Backend, Fsync, Sharing};
use fsarena_model::job::{Compression, Reflink, SourcePlace};
use fsarena_model::op::Op;
use fsarena_model::verdict::{CAPS, Metric};
use fsarena_plan::{Overrides, builtin, expand, parse};

const TEXT: &str = include_str!("../../FORMAT.md");

pub fn blocks() -> Vec<String> {
    TEXT.split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("a block ends").to_owned())
        .collect()
}

/// An example that shows a part gets the rest put around it.
pub fn whole(block: &str) -> String {
    let mut text = String::new();
    if !block.contains("schema =") {
        text.push_str("schema = 1\nname = \"example\"\n");
    }
    text.push_str(block);
    if !block.contains("[factors]") {
        text.push_str("\n[factors]\nfs = [\"ext4\"]\ndevice = \"loop:2G\"\n");
    }
    if !block.contains("[[workload]]") {
        text.push_str("\n[[workload]]\nuse = \"small-files\"\n");
    }
    text
}

#[test]
fn every_example_is_read_and_expands() {
    let blocks = blocks();
    assert!(blocks.len() >= 6, "{} examples", blocks.len());
    for block in blocks {
        let text = whole(&block);
        let done = parse(&text, "FORMAT.md")
            .and_then(|experiment| expand(&experiment, &Overrides::default(), &TestRules));
        if let Err(error) = done {
            panic!("{error}\nin:\n{text}");
        }
    }
}

/// The table of ops names every op of the engine once, and no other.
#[test]
fn the_ops_are_those_of_the_table() {
    let (_, table) = TEXT.split_once("| op | one op is |").expect("the table of ops");
    let (table, _) = table.split_once("\n\n").expect("its end");
    let first = table.lines().skip(2).filter_map(|row| row.split('|').nth(1));
    let quoted = first.flat_map(|cell| cell.split('"').skip(1).step_by(2));
    let mut documented: Vec<&str> = quoted.collect();
    let mut known: Vec<&str> = Op::ALL.iter().map(|op| op.name()).collect();
    documented.sort_unstable();
    known.sort_unstable();
    assert_eq!(documented, known);
}

const KEYS: [&str; 100] = [
    "alone",
    "kind",
    "recovery_every",
    "lose_flush",
    "keep",
    "states_most",
    "described",
    "length",
    "sample",
    "every_entry",
    "published",
    "programs",
    "cases",
    "schema",
    "name",
    "title",
    "question",
    "notes",
    "blocks",
    "seed",
    "compare",
    "sample_period",
    "verify",
    "account",
    "period",
    "cycles",
    "updates",
    "overrun",
    "shares",
    "disturb",
    "load",
    "rate",
    "cap",
    "margin",
    "budget",
    "baseline",
    "ask",
    "headline",
    "steal_limit",
    "foreign_limit",
    "handicap",
    "fs",
    "device",
    "memory",
    "cache",
    "discard",
    "mount",
    "mkfs",
    "use",
    "files",
    "size",
    "dirs",
    "per_dir",
    "depth",
    "name_length",
    "backend",
    "direct",
    "iodepth",
    "fsync",
    "threads",
    "sharing",
    "shift",
    "rate",
    "stonewall",
    "ops",
    "runtime",
    "rwmixread",
    "fio",
    "fio_file",
    "ssd",
    "scheduler",
    "read_ahead",
    "write_cache",
    "age",
    "reflink",
    "dataset",
    "source",
    "small",
    "from",
    "of",
    "by",
    "compression",
    "jobs",
    "run",
    "prepare",
    "cleanup",
    "bs",
    "phases",
    "op",
    "order",
    "timed",
    "create",
    "unmount",
    "destroy",
    "version",
    "programs",
    "package",
    "workload",
    "phase",
    "unit",
];

#[test]
fn every_key_is_described() {
    for key in KEYS {
        assert!(TEXT.contains(&format!("`{key}`")), "`{key}` is not in FORMAT.md");
    }
}

/// Whatever is a word of the format stands in it as it is written.
#[test]
fn every_word_is_described() {
    let ops = Op::ALL.map(Op::name);
    let mut words: Vec<&str> = ops.to_vec();
    words.extend(Overrun::ALL.map(Overrun::name));
    for kind in UpdateKind::ALL.map(UpdateKind::name) {
        assert!(TEXT.contains(&format!("`{kind}`")), "{kind} is not in FORMAT.md");
    }
    words.extend(["create", "write", "read"]);
    words.extend(Backend::ALL.map(Backend::name));
    words.extend(Fsync::ALL.map(Fsync::name));
    words.extend(Sharing::ALL.map(Sharing::name));
    words.extend(SsdPolicy::ALL.map(SsdPolicy::name));
    words.extend(WriteCache::ALL.map(WriteCache::name));
    words.extend(Compression::ALL.map(Compression::name));
    words.extend(Reflink::ALL.map(Reflink::name));
    words.extend(SourcePlace::ALL.map(SourcePlace::name));
    words.extend(["copy", "delete", "untar", "archive", "flac", "ogg", "compile", "command"]);
    for metric in Metric::ALL {
        assert!(TEXT.contains(&format!("`:{}`", metric.name())), "{metric:?} is not in FORMAT.md");
    }
    for cap in CAPS {
        assert!(TEXT.contains(&format!(" {cap}")), "a cap of {cap} is not in FORMAT.md");
    }
    words.extend(["cold", "warm", "cold-start", "program", "engine"]);
    for word in words {
        assert!(TEXT.contains(&format!("\"{word}\"")), "{word:?} is not in FORMAT.md");
    }
    for name in builtin::workload_names().into_iter().chain(fsarena_corpus::names()) {
        assert!(TEXT.contains(&format!("`{name}`")), "{name} is not in FORMAT.md");
    }
}
