//! The rule about lengths: what somebody else wrote is read by `fsarena_bounded` alone, which stops
//! at a limit. Calls that read until a line, a file or a stream ends are refused elsewhere.
//!
//! Files of the kernel have the length that the kernel gives them. They are known by their path in
//! the same line, or by [`OF_KERNEL`].

use super::lines::{self, Line};
use super::modules;
use super::tree::{Finding, Tree};

/// Where limits are kept.
const READER: &str = "crates/bounded/";
/// For tests only.
const FOR_TESTS: &[&str] = &["crates/fuzz/", "crates/testkit/"];

/// Calls that read for as long as something comes.
const READS: &[&str] = &[
    ".read_line(",
    ".read_to_end(",
    ".read_to_string(",
    ".read_until(",
    "io::read_to_string(",
    "from_reader(",
    "fs::read(",
    "fs::read_to_string(",
];
/// Calls of a reader, where the trait that has lines is named; texts have them, too.
const OF_READERS: &[&str] = &["input.lines()", "output.lines()", "lines().map_while("];

/// Files that read what the kernel shows, below roots that tests replace.
const OF_KERNEL: &[&str] = &[
    "devices/src/cache.rs",
    "devices/src/claim/facts.rs",
    "devices/src/claim/null_blk.rs",
    "devices/src/claim/real.rs",
    "devices/src/claim/zram.rs",
    "devices/src/device_lock.rs",
    "devices/src/inventory/attribute.rs",
    "devices/src/inventory/listing.rs",
    "devices/src/inventory/mounts.rs",
    "devices/src/inventory/openers.rs",
    "devices/src/inventory/usage.rs",
    "devices/src/leftovers.rs",
    "devices/src/loopdev.rs",
    "devices/src/mountinfo.rs",
    "devices/src/queue.rs",
    "devices/src/sysctl.rs",
    "devices/src/vet.rs",
    "doctor/src/read.rs",
    "doctor/src/snapshot.rs",
    "engine/src/clock.rs",
    "engine/src/root.rs",
    "executor/src/cgroup.rs",
    "executor/src/pause.rs",
    "filesystems/src/availability.rs",
    "filesystems/src/driver.rs",
    "metrics/src/facts.rs",
    "metrics/src/kernel_threads.rs",
    "metrics/src/load.rs",
    "metrics/src/read_file.rs",
    "runner/src/inner_processes.rs",
    "runner/src/resources.rs",
    "trace/src/tracefs.rs",
    "watch/src/lib.rs",
];

/// Other files that read without a limit, with the reason why nobody else decides on the length.
const OF_OURS: &[(&str, &str)] = &[
    ("cli/build.rs", "a header of the C library that the program is linked with"),
    ("cli/src/commands/chart_files.rs", "a picture, made just now by a tool with a limit"),
    ("cli/src/commands/fleet/mod.rs", "the file of this program"),
    ("cli/src/commands/run/execute.rs", "the file of this program"),
    ("guests/src/guest/init.rs", "the task of a guest, which its own host has written"),
    ("process/src/trust.rs", "the list of users, which root writes"),
    ("reference/src/read.rs", "tables that are part of the program"),
];

/// No file of the program reads without a limit but those of the lists, and each of these does.
pub fn reads(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let excused = |file: &str| OF_KERNEL.contains(&file) || OF_OURS.iter().any(|it| it.0 == file);
    let mut used = Vec::new();
    for (path, _) in modules::reached(tree).into_iter().filter(|(_, is_test)| !is_test) {
        let Some(file) = path.strip_prefix("crates/").filter(|_| is_checked(&path)) else {
            continue;
        };
        let Some(number) = tree.text(&path).and_then(first_read) else { continue };
        if excused(file) {
            used.push(file.to_owned());
            continue;
        }
        let text = "reads without a limit; use fsarena_bounded::Bounded (what the kernel shows, \
                    and what is our own, is in xtask/src/tidy/unbounded.rs)";
        findings.push(Finding::new(&path, number, text));
    }
    let own = "xtask/src/tidy/unbounded.rs";
    let listed = OF_KERNEL.iter().chain(OF_OURS.iter().map(|(file, _)| file));
    for file in listed.filter(|file| !used.iter().any(|it| it == *file)) {
        let text = format!("crates/{file} reads nothing without a limit any more; take it out");
        findings.push(Finding::new(own, 1, text));
    }
    findings
}

fn is_checked(path: &str) -> bool {
    !path.starts_with(READER) && !FOR_TESTS.iter().any(|place| path.starts_with(place))
}

/// The first line that reads for as long as something comes.
fn first_read(text: &str) -> Option<usize> {
    // Cutting a file takes long; most have none of it.
    if !READS.iter().chain(OF_READERS).any(|call| text.contains(call)) {
        return None;
    }
    let lines = lines::cut(text);
    let has_reader = lines.iter().any(names_reader);
    let reads = |(line, whole): (&Line, &str)| {
        let has = |calls: &[&str]| calls.iter().any(|call| line.code.contains(call));
        let is_kernels = ["\"/proc/", "\"/sys/"].iter().any(|path| whole.contains(path));
        !line.in_test && !is_kernels && (has(READS) || has_reader && has(OF_READERS))
    };
    lines.iter().zip(text.lines()).position(reads).map(|at| at + 1)
}

/// Whether a line names the trait of what has lines to be read.
fn names_reader(line: &Line) -> bool {
    line.code.replace("BufReader", "").contains("BufRead") && !line.in_test
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of lines that are found in a file of a crate.
    fn found(file: &str, text: &str) -> Vec<usize> {
        let lib = "//! A crate of ours.\nmod file;\n";
        let name = file.split('/').nth(1).expect("a crate");
        let manifest = format!("crates/{name}/Cargo.toml");
        let tree = Tree::fake(&[
            (&manifest, "[package]\nname = \"fsarena-new\"\n"),
            (&format!("crates/{name}/src/lib.rs"), lib),
            (file, text),
        ]);
        let all = reads(&tree).into_iter().filter(|finding| finding.file == file);
        all.map(|finding| finding.line).collect()
    }

    #[test]
    fn what_reads_without_a_limit_is_found() {
        let new = "crates/new/src/file.rs";
        for call in [
            "input.read_line(&mut line)?;",
            "file.take(9).read_to_end(&mut bytes)?;",
            "let text = fs::read_to_string(path)?;",
            "let bytes = std::fs::read(path)?;",
            "serde_json::from_reader(input)?;",
            "use std::io::BufRead as _; for line in input.lines() {}",
        ] {
            assert_eq!(found(new, &format!("//! Reads.\nfn f() {{ {call} }}\n")), [2], "{call}");
            let of_reader = format!("//! Reads.\nfn f() {{ {call} }}\n");
            assert!(found("crates/bounded/src/file.rs", &of_reader).is_empty());
            assert!(found("crates/fuzz/src/file.rs", &of_reader).is_empty());
            let test = format!("//! Reads.\n#[cfg(test)]\nmod tests {{\n    {call}\n}}\n");
            assert!(found(new, &test).is_empty(), "{call}");
        }
        for call in [
            "let text = fs::read_to_string(\"/proc/meminfo\")?;",
            "for line in input.lines() {}",
            "// fs::read(path)",
            "Bounded::open(path, 9)?.whole()?;",
        ] {
            assert!(found(new, &format!("//! Reads.\n{call}\n")).is_empty(), "{call}");
        }
    }

    #[test]
    fn the_lists_are_sorted_and_a_row_without_a_read_is_found() {
        assert!(OF_KERNEL.is_sorted() && OF_OURS.is_sorted());
        let tree = Tree::fake(&[("crates/new/src/lib.rs", "//! Nothing.\n")]);
        let rows = reads(&tree).len();
        assert_eq!(rows, OF_KERNEL.len() + OF_OURS.len());
    }
}
