//! All programs that may be started, by the file that starts them: whoever starts another one says
//! so here, where a reader sees what runs as root.
//!
//! Other crates than `process` have no other way to start something than a `TrustedProgram`, which
//! is vetted, this program itself, or a command that was confirmed.

use super::lines;
use super::modules;
use super::tree::{Finding, Tree};

/// Where this list is.
const OWN: &str = "xtask/src/tidy/programs.rs";
/// Crates that may start anything: the first makes the others safe, these are for tests alone.
const FREE: &[&str] = &["crates/process/", "crates/testkit/", "crates/fuzz/", "xtask/"];

/// Code that makes a program or starts one.
const STARTS: &[&str] = &[
    "TrustedProgram::at(",
    "TrustedProgram::confirmed(",
    "TrustedProgram::own(",
    "ProgramCommand::new(",
    "Partner::start(",
    "Piped::start(",
    "Guarded {",
    "cmd::run",
    "cmd::start(",
];

/// Files below `crates`, and what they start. One word is the name of a program, which stands in
/// the file (or, behind a colon, in the file or directory that is named); several describe it.
const STARTED: &[(&str, &[&str])] = &[
    ("cli/src/commands/browse.rs", &["xdg-open", "runuser", "getent"]),
    ("cli/src/commands/chart_files.rs", &["rsvg-convert"]),
    ("cli/src/commands/install.rs", &["apt-get"]),
    ("cli/src/commands/remote.rs", &["ssh of --ssh"]),
    ("cli/src/commands/run/hosts.rs", &["ssh"]),
    ("cli/src/context.rs", &["this program"]),
    ("devices/src/claim/vdisk.rs", &["this program"]),
    (
        "devices/src/format.rs",
        &[
            "create and destroy of a [[filesystem]]",
            "mke2fs:filesystems/src/ext.rs",
            "mkfs.xfs:filesystems/src/xfs.rs",
            "mkfs.btrfs:filesystems/src/btrfs.rs",
            "mkfs.f2fs:filesystems/src/f2fs.rs",
            "mkfs.exfat:filesystems/src/exfat.rs",
            "mkfs.nilfs2:filesystems/src/nilfs2.rs",
            "mkntfs:filesystems/src/ntfs3.rs",
            "jfs_mkfs:filesystems/src/jfs.rs",
            "mkreiserfs:filesystems/src/reiserfs.rs",
            "mkfs.fat:filesystems/src/vfat.rs",
            "makefs:filesystems/src/ufs1.rs",
        ],
    ),
    ("devices/src/inventory/signature.rs", &["wipefs", "blkid"]),
    (
        "devices/src/mount.rs",
        &["mount", "mount and unmount of a [[filesystem]]", "command of --client-mount"],
    ),
    ("devices/src/thaw.rs", &["unshare", "a script of ours"]),
    ("doctor/src/device.rs", &["smartctl", "a script of ours"]),
    ("doctor/src/directory.rs", &["dumpe2fs:filesystems/src/ext.rs"]),
    ("executor/src/crash/application.rs", &["commands of an application"]),
    (
        "executor/src/crash/mounting.rs",
        &[
            "e2fsck:filesystems/src/ext.rs",
            "xfs_repair:filesystems/src/xfs.rs",
            "btrfs:filesystems/src/btrfs.rs",
            "jfs_fsck:filesystems/src/jfs.rs",
            "reiserfsck:filesystems/src/reiserfs.rs",
            "fsck.f2fs:filesystems/src/f2fs.rs",
            "fsck.fat:filesystems/src/vfat.rs",
            "fsck.exfat:filesystems/src/exfat.rs",
            "ntfsfix:filesystems/src/ntfs3.rs",
        ],
    ),
    ("executor/src/guest.rs", &["this program"]),
    ("executor/src/place.rs", &["this program"]),
    ("executor/src/worker.rs", &["this program", "ssh of --ssh"]),
    ("filesystems/src/exfat.rs", &["mkfs.exfat"]),
    ("filesystems/src/external.rs", &["version of a [[filesystem]]"]),
    (
        "filesystems/src/options.rs",
        &[
            "versions of mkfs",
            "dumpe2fs:filesystems/src/ext.rs",
            "xfs_info:filesystems/src/outputs.rs",
            "xfs_db:filesystems/src/outputs.rs",
            "btrfs:filesystems/src/btrfs.rs",
            "dump.f2fs:filesystems/src/f2fs.rs",
            "dump.exfat:filesystems/src/exfat.rs",
            "nilfs-tune:filesystems/src/nilfs2.rs",
            "ntfsinfo:filesystems/src/ntfs3.rs",
            "jfs_tune:filesystems/src/jfs.rs",
            "debugreiserfs:filesystems/src/outputs.rs",
            "fsck.fat:filesystems/src/outputs.rs",
        ],
    ),
    ("fleet/src/connections.rs", &["ssh of --ssh"]),
    ("guests/src/guest/boot.rs", &["a guest kernel"]),
    ("guests/src/guest/init.rs", &["a command in a guest"]),
    (
        "guests/src/kernel/build.rs",
        &["tar", "make", "gcc", "ld", "what make starts, from its PATH"],
    ),
    ("guests/src/kernel/check.rs", &["a guest kernel"]),
    ("guests/src/kernel/patches.rs", &["patch"]),
    ("crash-runs/src/native_crash.rs", &["this program"]),
    ("guests/src/program_tree/apt.rs", &["dpkg-query", "apt-get", "apt-cache"]),
    ("guests/src/program_tree/fetch.rs", &["the loader of a fetched tree"]),
    ("guests/src/program_tree/unpack.rs", &["dpkg-deb:guests/src/program_tree/fetch.rs"]),
    ("runner/src/available.rs", &["programs that a phase names"]),
    ("runner/src/recover.rs", &["destroy of a [[filesystem]]"]),
    ("runner/src/session.rs", &["this program"]),
    ("runner/src/staged_sources.rs", &["cp"]),
    ("worker/src/program/find.rs", &["programs that a phase names"]),
    ("worker/src/program/fio.rs", &["fio"]),
    ("worker/src/program/lifetime.rs", &["--version of programs that do the work"]),
    (
        "worker/src/program/work/runs.rs",
        &[
            "sh",
            "cp:model/src/job.rs",
            "rm:model/src/job.rs",
            "tar:model/src/job.rs",
            "flac:model/src/job.rs",
            "oggenc:model/src/job.rs",
            "make:model/src/job.rs",
            "commands of an experiment",
        ],
    ),
];

/// Every file that starts something is in the list, and every program of the list in its file.
pub fn started(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let starting = starting_files(tree);
    for (path, line) in &starting {
        let inside = path.trim_start_matches("crates/");
        if !STARTED.iter().any(|(file, _)| *file == inside) {
            let text = format!("starts a program that is not in the list of {OWN}; add it");
            findings.push(Finding::new(path, *line, text));
        }
    }
    for (file, programs) in STARTED {
        if !starting.iter().any(|(path, _)| path.trim_start_matches("crates/") == *file) {
            let text = format!("crates/{file} starts nothing any more; take its row out");
            findings.push(Finding::new(OWN, 1, text));
        }
        for program in programs.iter().filter(|program| !program.contains(' ')) {
            let (name, named_in) = program.split_once(':').unwrap_or((program, file));
            let text = tree.text(&format!("crates/{named_in}")).unwrap_or_default();
            if !text.contains(&format!("\"{name}\"")) {
                let text = format!("crates/{named_in} does not name {name}; say where it is named");
                findings.push(Finding::new(OWN, 1, text));
            }
        }
    }
    findings
}

/// Each file of the program that starts something, with the first line that does.
fn starting_files(tree: &Tree) -> Vec<(String, usize)> {
    let reached = modules::reached(tree);
    let program = tree.ending(".rs").filter(|(path, _)| {
        let is_free = FREE.iter().any(|place| path.starts_with(place));
        !is_free && reached.get(*path) == Some(&false)
    });
    let first = |text: &str| {
        let lines = lines::cut(text);
        let starts = |line: &lines::Line| {
            !line.in_test && STARTS.iter().any(|start| line.code.contains(start))
        };
        lines.iter().position(starts)
    };
    program.filter_map(|(path, text)| Some((path.to_owned(), first(text)? + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: (&str, &str) = ("crates/plan/Cargo.toml", "[package]\nname = \"fsarena-plan\"\n");

    #[test]
    fn another_program_is_not_started_unlisted() {
        let lines = |text| {
            let tree = Tree::fake(&[PLAN, ("crates/plan/src/lib.rs", text)]);
            let found = started(&tree).into_iter().filter(|found| found.file != OWN);
            found.map(|found| found.line).collect::<Vec<usize>>()
        };
        assert_eq!(lines("fn a() {\n    TrustedProgram::at(path);\n}\n"), [2]);
        assert_eq!(lines("fn a() {\n    cmd::run_with(&b, c, d);\n}\n"), [2]);
        assert_eq!(lines("// TrustedProgram::at(path)\nfn a() {}\n"), [0_usize; 0]);
        let test = "#[cfg(test)]\nmod tests {\n    fn a() { TrustedProgram::own(); }\n}\n";
        assert_eq!(lines(test), [0_usize; 0]);
    }

    #[test]
    fn a_program_of_the_list_is_named_where_it_is_started() {
        let text = "const A: &str = \"mount\";\nfn a() { cmd::run(b); }\n";
        let tree = |text| {
            Tree::fake(&[
                ("crates/devices/Cargo.toml", "[package]\nname = \"fsarena-devices\"\n"),
                ("crates/devices/src/lib.rs", "mod mount;\n"),
                ("crates/devices/src/mount.rs", text),
            ])
        };
        let missing = |text| {
            let found = started(&tree(text)).into_iter();
            found.filter(|found| found.text.contains("devices/src/mount.rs")).count()
        };
        assert_eq!(missing(text), 0);
        assert_eq!(missing("fn a() { cmd::run(b); }\n"), 1, "it names no mount");
        assert_eq!(missing("const A: &str = \"mount\";\n"), 1, "it starts nothing");
    }
}
