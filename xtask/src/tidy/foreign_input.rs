//! Rules about foreign input: every file that turns bytes or text into values has a target that is
//! fuzzed, or a reason why nobody else can have written what it reads; and the corpus stays small.
//!
//! What reads is recognised by the calls in [`READERS`]: those of the bounded reader, which all
//! that somebody else wrote comes through (`unbounded`), and those that make values of it. A number
//! in a small file of the kernel (`text.trim().parse()`) is none of them: it is refused or it is a
//! number.

use std::collections::BTreeSet;

use super::lines;
use super::modules;
use super::tree::{Finding, Tree};

/// Where the targets are.
const TARGETS: &str = "crates/fuzz/src/targets";
const CORPUS: &str = "crates/fuzz/corpus";
/// Bytes of all inputs.
const CORPUS_MOST_BYTES: u64 = 1 << 20;

/// Code that takes in bytes or text, or makes values of them.
const READERS: &[&str] = &[
    "Bounded::",
    "HeaderLimit::new(",
    "serde_json::from_",
    "toml::from_",
    "parse::<toml",
    "::from_le_bytes(",
    "::from_be_bytes(",
    "::from_ne_bytes(",
    "Deserializer::from_",
    "Archive::new(",
    "csv::Reader",
    "fn parse",
    "fn decode",
    "FromStr for",
];

/// Files that read foreign input, and the targets that stand for them.
const READ_BY: &[(&str, &str)] = &[
    ("bundle/src/sums.rs", "bundle"),
    ("bundle/src/unpack.rs", "bundle"),
    ("chart/src/file.rs", "quantity"),
    ("cli/src/args/factors.rs", "level"),
    (
        "cli/src/commands/import.rs",
        "import-bonnie import-fio import-hyperfine import-ior import-mdtest import-phoronix",
    ),
    ("cli/src/commands/run/consent.rs", "wipe"),
    ("cli/src/commands/run/hosts.rs", "worker-lines"),
    ("cli/src/context.rs", "application dataset device-model experiment fio-job"),
    ("corpus/src/compress.rs", "archive"),
    ("corpus/src/description/parse.rs", "dataset"),
    ("corpus/src/name.rs", "dataset"),
    ("corpus/src/own.rs", "archive"),
    ("corpus/src/own/archive.rs", "archive"),
    ("crash-runs/src/application_run.rs", "application-work"),
    ("crash-runs/src/crash_run.rs", "crash-state"),
    ("crash-runs/src/kept_states.rs", "kept-state"),
    ("crash-runs/src/medium_error_run.rs", "guest-record"),
    ("crash-runs/src/native/answers.rs", "executor-lines"),
    ("crash-runs/src/native/states.rs", "crash-state packed-log"),
    ("crash-runs/src/native_crash.rs", "crash-state executor-lines"),
    ("crash-runs/src/sequence_run.rs", "crash-tree guest-record"),
    ("crash/src/application/description.rs", "application"),
    ("crash/src/application/work.rs", "application-work"),
    ("crash/src/op.rs", "crash-state"),
    ("crash/src/packed.rs", "packed-log"),
    ("crash/src/sequence/tree.rs", "crash-tree"),
    ("crash/src/stamp.rs", "crash-state"),
    ("devices/src/inventory/backup/recognise.rs", "device-bytes"),
    ("devices/src/inventory/contents.rs", "device-bytes"),
    ("devices/src/inventory/listing.rs", "device-list"),
    ("devices/src/inventory/magic.rs", "device-bytes"),
    ("devices/src/inventory/signature.rs", "device-bytes device-programs"),
    ("devices/src/mountinfo.rs", "mountinfo"),
    ("devices/src/own_fill.rs", "device-bytes"),
    ("devices/src/served.rs", "executor-lines"),
    ("devices/src/vet/consent.rs", "wipe"),
    ("disk-server/src/fuse/wire.rs", "fuse-request"),
    ("disk-server/src/message.rs", "guest-disk"),
    ("disk-server/src/server.rs", "guest-disk"),
    ("doctor/src/device.rs", "device-programs"),
    ("doctor/src/host.rs", "host-facts"),
    ("doctor/src/read.rs", "host-facts"),
    ("doctor/src/snapshot.rs", "host-facts"),
    ("executor/src/agent.rs", "worker-lines"),
    ("executor/src/crash.rs", "guest-record"),
    ("executor/src/crash/check.rs", "crash-state"),
    ("executor/src/crash/kernel_log.rs", "kernel-log"),
    ("executor/src/crash/native.rs", "executor-lines"),
    ("executor/src/crash/tree.rs", "crash-tree"),
    ("executor/src/lib.rs", "executor-lines"),
    ("executor/src/place.rs", "executor-lines"),
    ("executor/src/worker.rs", "worker-lines"),
    ("filesystems/src/btrfs.rs", "fs-programs"),
    ("filesystems/src/exfat.rs", "fs-programs"),
    ("filesystems/src/ext.rs", "fs-programs"),
    ("filesystems/src/ext/layout.rs", "fs-programs"),
    ("filesystems/src/f2fs.rs", "fs-programs"),
    ("filesystems/src/jfs.rs", "fs-programs"),
    ("filesystems/src/nilfs2.rs", "fs-programs"),
    ("filesystems/src/ntfs3.rs", "fs-programs"),
    ("filesystems/src/reiserfs.rs", "fs-programs"),
    ("filesystems/src/ufs1.rs", "fs-programs"),
    ("filesystems/src/vfat.rs", "fs-programs"),
    ("filesystems/src/xfs.rs", "fs-programs"),
    ("fleet/src/connections.rs", "ssh-messages"),
    ("foreign/src/fio/job.rs", "fio-job"),
    ("foreign/src/fio/outcome.rs", "fio-output import-fio"),
    ("foreign/src/fio/output.rs", "fio-output import-fio"),
    ("foreign/src/fio/rewrite.rs", "fio-job"),
    ("foreign/src/import/bonnie.rs", "import-bonnie"),
    ("foreign/src/import/fio.rs", "import-fio"),
    ("foreign/src/import/hyperfine.rs", "import-hyperfine"),
    ("foreign/src/import/ior/json.rs", "import-ior"),
    ("foreign/src/import/ior/text.rs", "import-ior"),
    ("foreign/src/import/mdtest.rs", "import-mdtest"),
    ("foreign/src/import/phoronix.rs", "import-phoronix"),
    ("guests/src/guest/boot.rs", "guest-record"),
    ("guests/src/guest/init.rs", "guest-record"),
    ("guests/src/guest/program.rs", "guest-program"),
    ("guests/src/kernel/build.rs", "device-programs"),
    ("guests/src/kernel/cache.rs", "kernel-source"),
    ("guests/src/kernel/patches.rs", "device-programs"),
    ("guests/src/kernel/source.rs", "kernel-source"),
    ("guests/src/virtual_trial.rs", "run-record"),
    ("hosts/src/answer.rs", "host-answers"),
    ("hosts/src/ending.rs", "ssh-messages"),
    ("hosts/src/handshake.rs", "rank-messages"),
    ("hosts/src/list.rs", "host-list"),
    ("hosts/src/ssh.rs", "host-list"),
    ("metrics/src/block.rs", "counters"),
    ("metrics/src/cgroup.rs", "counters"),
    ("metrics/src/facts.rs", "host-facts"),
    ("metrics/src/keyed.rs", "counters"),
    ("metrics/src/load.rs", "counters"),
    ("metrics/src/network.rs", "counters"),
    ("metrics/src/read_file.rs", "counters"),
    ("metrics/src/sources.rs", "counters"),
    ("metrics/src/stat.rs", "counters"),
    ("model/src/factor/age.rs", "level"),
    ("model/src/factor/descriptor.rs", "level"),
    ("model/src/factor/device.rs", "level"),
    ("model/src/factor/host.rs", "level"),
    ("model/src/factor/kernel.rs", "level"),
    ("model/src/factor/partition.rs", "level"),
    ("model/src/factor/programs.rs", "level"),
    ("model/src/factor/ranks.rs", "level"),
    ("model/src/factor/work.rs", "level"),
    ("model/src/header_rules.rs", "database-rows run-record run-shown"),
    ("model/src/lib.rs", "database-rows executor-lines worker-lines"),
    ("model/src/seed.rs", "run-record"),
    ("model/src/stamp.rs", "device-bytes"),
    ("model/src/units.rs", "quantity"),
    ("plan/src/options.rs", "run-options"),
    ("plan/src/parse.rs", "experiment"),
    ("plan/src/question.rs", "experiment run-options"),
    ("plan/src/tree.rs", "experiment"),
    ("process/src/cmd.rs", "device-programs fs-programs"),
    ("process/src/partner.rs", "executor-lines"),
    ("report/src/sections/answer.rs", "run-shown"),
    ("report/src/sections/appendix.rs", "run-shown"),
    ("runner/src/journal.rs", "run-journal"),
    ("runner/src/session.rs", "executor-lines"),
    ("runner/src/spool/form.rs", "run-spool"),
    ("store/src/cost.rs", "database-rows"),
    ("store/src/crash.rs", "database-rows"),
    ("store/src/merge.rs", "database-file database-rows"),
    ("store/src/open.rs", "database-file database-rows"),
    ("store/src/query.rs", "database-rows"),
    ("store/src/record.rs", "database-rows"),
    ("study/src/fairness/differences.rs", "run-shown"),
    ("trace/src/format.rs", "trace-page"),
    ("trace/src/page.rs", "trace-page"),
    ("vdisk/src/log.rs", "write-log"),
    ("vdisk/src/sheet/parse.rs", "device-model"),
    ("watch/src/journal.rs", "watch-journal"),
    ("worker/src/session.rs", "worker-lines"),
    ("worker/src/tree/compare.rs", "archive"),
    ("worker/src/tree/member.rs", "archive"),
    ("worker/src/tree/untar.rs", "archive"),
];

/// Files that read what no one else has written, or so little that nothing can go wrong, with the
/// reason.
const OWN_INPUT: &[(&str, &str)] = &[
    ("cli/src/commands/browse.rs", "three fields of one line of getent, about the user's own name"),
    ("cli/src/commands/bundle/check.rs", "a JSON value of any form, compared and never used"),
    ("cli/src/commands/schema.rs", "schemas that are part of the program"),
    ("cli/src/commands/trust.rs", "a path and names of users, split at one '=', of the user's own"),
    (
        "cli/src/commands/watched.rs",
        "RUN@FROM-TO of the command line: split at its signs, and times",
    ),
    ("cli/src/compressed.rs", "texts that are part of the program"),
    ("crash/src/workload/builtin.rs", "files that are part of the program, all read by a test"),
    ("engine/src/verify.rs", "fixed places of a sector, which any bytes have"),
    (
        "executor/src/age/kept.rs",
        "what it has written itself, into a directory that nobody else may write to",
    ),
    ("guests/src/kernel/digest.rs", "hashes that it has written into the user's cache itself"),
    (
        "guests/src/program_tree/cache.rs",
        "what it has written itself, into a directory that root alone may write to",
    ),
    (
        "guests/src/program_tree/copyright.rs",
        "names behind `License:`, of packages whose files are run",
    ),
    ("hosts/src/descriptor.rs", "a reason of the own runner, shown with what is hidden as escapes"),
    ("hosts/src/secret.rs", "a secret that its user alone may write: any bytes"),
    ("model/src/factor/mod.rs", "an example of the documentation"),
    ("plan/src/schema.rs", "a schema that is part of the program"),
    ("process/src/memory_group.rs", "two files of the kernel, read to a limit"),
    ("report/src/identity.rs", "a value of ours, of which free text alone was changed"),
];

/// Every reader of foreign input is in the list, with targets that there are; every target stands
/// for a file.
pub fn targets(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let known = names(tree);
    for (path, line) in readers(tree) {
        let inside = path.trim_start_matches("crates/");
        let is_listed = READ_BY.iter().chain(OWN_INPUT).any(|(file, _)| *file == inside);
        if !is_listed {
            let text = format!(
                "reads input and has no target; write one in {TARGETS} and put both into \
                 xtask/src/tidy/foreign_input.rs, or the reason why the input is our own"
            );
            findings.push(Finding::new(&path, line, text));
        }
    }
    let own = "xtask/src/tidy/foreign_input.rs";
    let mut used = BTreeSet::new();
    for (file, listed) in READ_BY {
        if !tree.has(&format!("crates/{file}")) {
            let text = format!("crates/{file} is not there any more; take its row out");
            findings.push(Finding::new(own, 1, text));
        }
        for name in listed.split(' ') {
            used.insert(name);
            if !known.contains(name) {
                let text = format!("{file}: {TARGETS} has no target `{name}`");
                findings.push(Finding::new(own, 1, text));
            }
        }
    }
    for name in known.iter().filter(|name| !used.contains(name.as_str())) {
        let text = format!("the target `{name}` stands for no file; say which one it reads for");
        findings.push(Finding::new(own, 1, text));
    }
    for (file, _) in OWN_INPUT.iter().filter(|(file, _)| !tree.has(&format!("crates/{file}"))) {
        let text = format!("crates/{file} is not there any more; take its row out");
        findings.push(Finding::new(own, 1, text));
    }
    findings
}

/// The corpus is small, and each directory of it is that of a target.
pub fn corpus(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let known = names(tree);
    let mut bytes = 0;
    for (path, size) in tree.sizes_below(CORPUS) {
        bytes += size;
        let inside = path.trim_start_matches(CORPUS).trim_start_matches('/');
        let name = inside.split_once('/').map_or("", |(name, _)| name);
        if !known.contains(name) {
            let text = format!("{name:?} is no target of {TARGETS}; move the input to one");
            findings.push(Finding::new(path, 1, text));
        }
    }
    if bytes > CORPUS_MOST_BYTES {
        let text = format!(
            "{bytes} bytes of {CORPUS_MOST_BYTES}; keep the smallest input for each fault alone"
        );
        findings.push(Finding::new(CORPUS, 1, text));
    }
    findings
}

/// Names in the table of targets.
fn names(tree: &Tree) -> BTreeSet<String> {
    let files = tree.ending(".rs").filter(|(path, _)| path.starts_with(TARGETS));
    let lines = files.flat_map(|(_, text)| text.lines());
    let name = |line: &str| {
        let name = line.trim().strip_prefix("name: \"")?.strip_suffix("\",")?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    lines.filter_map(name).collect()
}

/// Files of the program that read, with the first line that does.
fn readers(tree: &Tree) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (path, _) in modules::reached(tree).into_iter().filter(|(_, is_test)| !is_test) {
        if !path.starts_with("crates/") {
            continue;
        }
        let Some(text) = tree.text(&path) else { continue };
        // Cutting a file takes long; most have none of it.
        if !READERS.iter().any(|reader| text.contains(reader)) {
            continue;
        }
        let lines = lines::cut(text);
        let reads = |line: &lines::Line| {
            !line.in_test && READERS.iter().any(|reader| line.code.contains(reader))
        };
        if let Some(at) = lines.iter().position(reads) {
            found.push((path, at + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: &str = "//! Reads a form.\nfn parse_form(text: &str) {}\n";

    fn tree_with(file: &str, text: &str) -> Tree {
        let table = "//! Targets.\nconst A: Target = Target {\n    name: \"quantity\",\n};\n";
        let lib = "//! A crate of ours.\nmod form;\n";
        Tree::fake(&[
            ("crates/new/Cargo.toml", "[package]\nname = \"fsarena-new\"\n"),
            ("crates/new/src/lib.rs", lib),
            (file, text),
            ("crates/fuzz/src/targets/mod.rs", table),
        ])
    }

    fn about(tree: &Tree, file: &str) -> Vec<usize> {
        let all = targets(tree).into_iter().filter(|finding| finding.file == file);
        all.map(|finding| finding.line).collect()
    }

    #[test]
    fn a_reader_without_a_target_is_found() {
        let form = "crates/new/src/form.rs";
        assert_eq!(about(&tree_with(form, READER), form), [2]);
        for text in [
            "//! Reads nothing.\nfn write() {}\n// fn parse()\n",
            "//! Reads in its tests.\n#[cfg(test)]\nmod tests {\n    fn parse() {}\n}\n",
        ] {
            assert!(about(&tree_with(form, text), form).is_empty(), "{text}");
        }
        let test = "crates/new/tests/form.rs";
        assert!(about(&tree_with(test, READER), test).is_empty());
    }

    #[test]
    fn names_of_targets_are_read_and_compared() {
        let tree = tree_with("crates/new/src/form.rs", "//! Nothing here.\n");
        assert_eq!(names(&tree).into_iter().collect::<Vec<_>>(), ["quantity"]);
        let found = targets(&tree);
        let has = |words: &str| found.iter().any(|finding| finding.text.contains(words));
        assert!(has("no target `wipe`") && !has("no target `quantity`"));
        assert!(has("chart/src/file.rs is not there any more"));
    }

    #[test]
    fn the_corpus_is_that_of_targets_and_small() {
        let check = |path: &str, bytes: usize| {
            let text = "x".repeat(bytes);
            corpus(&tree_with(path, &text)).into_iter().map(|found| found.file).collect::<Vec<_>>()
        };
        let known = "crates/fuzz/corpus/quantity/one";
        assert!(check(known, 100).is_empty());
        assert_eq!(check("crates/fuzz/corpus/other/one", 1), ["crates/fuzz/corpus/other/one"]);
        assert_eq!(check(known, (1 << 20) + 1), [CORPUS]);
    }

    #[test]
    fn the_lists_are_sorted_and_have_each_file_once() {
        assert!(READ_BY.is_sorted_by(|a, b| a.0 < b.0));
        assert!(OWN_INPUT.is_sorted_by(|a, b| a.0 < b.0));
        assert!(READ_BY.iter().all(|(file, _)| OWN_INPUT.iter().all(|(own, _)| own != file)));
    }
}
