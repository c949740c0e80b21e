//! Each mistake gives one error with its place, what is wrong, and what to do.

use crate::rules::{TestRules, file, plan};
use fsarena_plan::{Overrides, PlanError, expand, from_options};

/// What is shown, the remedy on a line of its own.
fn shown(error: &PlanError) -> String {
    let text = error.to_string();
    assert_eq!(text, format!("{}: {}; {}", error.place, error.what, error.remedy));
    format!("{}: {}\n  {}", error.place, error.what, error.remedy)
}

pub fn error(text: &str) -> String {
    match plan(text) {
        Ok(_) => format!("no error in:\n{text}"),
        Err(error) => shown(&error),
    }
}

pub fn all(texts: &[String]) -> String {
    texts.iter().map(|text| error(text)).collect::<Vec<_>>().join("\n")
}

pub const EXT4: &str = "fs = \"ext4\"\ndevice = \"loop:2G\"\n";

const BASE: &str = "name = \"w\"\nfiles = 10\nsize = \"4 KiB\"\n";

pub fn workload(body: &str) -> String {
    format!("schema = 1\nname = \"t\"\n[factors]\n{EXT4}[[workload]]\n{body}\n")
}

fn external(body: &str) -> String {
    let factors = "[factors]\nfs = \"my\"\ndevice = \"loop:2G\"";
    let head = format!("schema = 1\nname = \"t\"\n{factors}\n[[workload]]\nuse = \"small-files\"");
    format!("{head}\n[[filesystem]]\nname = \"my\"\n{body}\n")
}

#[test]
fn of_the_file_as_a_whole() {
    let text = all(&[
        String::new(),
        "schema = 1\nname = ".to_owned(),
        "schema = 2".to_owned(),
        "schema = \"1\"".to_owned(),
        "schema = 1\nname = \"My Test\"".to_owned(),
        "schema = 1\nname = \"t\"\n".to_owned(),
        "schema = 1\nname = \"t\"\nfactor = 1".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nblocks = 0".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nblock = 3".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nblocks = \"some\"".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nseed = -1".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\ncompare = \"durabel\"".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nsample_period = \"1 us\"".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nrate = \"2003\"".to_owned(),
        "schema = 1\nname = \"t\"\n[run]\nverify = 1".to_owned(),
        format!("schema = 1\nname = \"t\"\n[factors]\n{EXT4}"),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:1:1: `schema` is missing
      add schema = 1 as the first line
    t.toml:2:8: not TOML: string values must be quoted, expected literal string
      see https://toml.io for the syntax
    t.toml:1:10: schema 2 is not the one this program reads (1)
      use the program the file was written for, or write schema = 1
    t.toml:1:10: `schema` is text, but has to be a whole number
      write it like 1
    t.toml:2:8: "My Test" cannot be the name of an experiment
      use up to 64 of a-z, 0-9, - _ . +, beginning with a letter or digit
    t.toml:1:1: `factors` is missing
      add a table [factors] with fs and device
    t.toml:3:1: unknown key "factor"
      did you mean "factors"?
    t.toml:4:10: `run.blocks` is 0
      it has to be from 1 to 1000
    t.toml:4:1: unknown key in [run]: "block"
      did you mean "blocks"?
    t.toml:4:10: "some" is no number of blocks
      use a number from 1 to 1000, or 4..12 for as many as fit into the budget
    t.toml:4:8: `run.seed` is -1
      it has to be from 0 to 9223372036854775807
    t.toml:4:11: unknown clock "durabel"
      did you mean "durable"?
    t.toml:4:17: a sample period of 1.00 µs is out of range
      use 10 ms to 1 h, or 0 ms for no samples
    t.toml:4:8: unknown rate style "2003"
      known: auto, article-2003
    t.toml:4:10: `run.verify` is a number, but has to be true or false
      write it like true
    t.toml:1:1: `workload` is missing
      add [[workload]] with use = "small-files"
    "#);
}

#[test]
fn of_file_systems() {
    let text = all(&[
        file("fs = \"ex4\"\ndevice = \"loop:2G\""),
        file("fs = [\"ext4\", \"zfs\"]\ndevice = \"loop:2G\""),
        file("fs = []\ndevice = \"loop:2G\""),
        file("fs = \"ext4,xfs\"\ndevice = \"loop:2G\""),
        file("fs = \"ext4:noatime:noatime\"\ndevice = \"loop:2G\""),
        file("fs = \"ext4:mkfs.block_size\"\ndevice = \"loop:2G\""),
        file("fs = \"ext4:\"\ndevice = \"loop:2G\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:6: unknown file system "ex4"
      did you mean "ext4"?
    t.toml:4:15: unknown file system "zfs"
      not built in; define mkfs and mount commands in a [[filesystem]] table
    t.toml:4:6: `factors.fs` is an empty list
      give it a value, such as ["ext4", "xfs"]
    t.toml:4:6: "ext4,xfs" holds a comma
      write several as a list: ["ext4", "xfs"], options with colons: "ext4:a:b"
    t.toml:4:6: "ext4:noatime:noatime" gives `noatime` twice
      keep one of them
    t.toml:4:6: "ext4:mkfs.block_size": `mkfs.block_size` is not KEY=VALUE
      write it like mkfs.block_size=1024
    t.toml:4:6: "ext4:": "" is not a mount option
      write it as after `mount -o`, such as noatime
    "#);
}

#[test]
fn of_devices() {
    let text = all(&[
        file("fs = \"ext4\""),
        file("device = \"loop:2G\""),
        file("fs = \"ext4\"\ndevice = \"lop:2G\""),
        file("fs = \"ext4\"\ndevice = \"loop\""),
        file("fs = \"ext4\"\ndevice = \"loop:2GB5\""),
        file("fs = \"ext4\"\ndevice = \"loop:64KB\""),
        file("fs = \"ext4\"\ndevice = \"loop:100K\""),
        file("fs = \"ext4\"\ndevice = \"loop:2000001K\""),
        file("fs = \"ext4\"\ndevice = \"./here\""),
        file("fs = \"ext4\"\ndevice = [\"loop:2G\", \"loop:2048M\"]"),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:3:1: `device` is missing in [factors]
      add device = "loop:2G"
    t.toml:4:10: this device needs file systems
      add fs = ["ext4", "xfs"] (only directories go without)
    t.toml:5:10: unknown device "lop"
      did you mean "loop"? (a device is loop:SIZE, ram:SIZE, zram:SIZE, brd:SIZE, null_blk:SIZE, vdisk:SIZE:model=MODEL, virtual:SIZE:model=MODEL, /dev/NAME or /a/directory; several are A+B or loop:SIZE*N)
    t.toml:5:10: "loop" has no size
      write it like loop:2G
    t.toml:5:10: "2GB5": unknown unit "GB5"
      use one of B, K, KiB, M, MiB, G, GiB, T, TiB (1024), kB, MB, GB, TB (1000)
    t.toml:5:10: "64KB": KB is ambiguous
      write KiB (or K) for 1024 bytes, kB for 1000
    t.toml:5:10: a device of 100 KiB is out of range
      use 1 MiB to 1024 TiB
    t.toml:5:10: a device of 2048001024 B does not end at a block of 4096 B
      use loop:2048004096
    t.toml:5:10: "./here" is a relative path
      write the whole path, from /
    t.toml:5:22: the level of 5:11 again
      keep one of them (only file systems may be repeated, as A/A arms)
    "#);
}

#[test]
fn of_other_factors() {
    let text = all(&[
        file(&format!("{EXT4}memory = \"8M\"")),
        file(&format!("{EXT4}memory = []")),
        file(&format!("{EXT4}memory = [\"64M\", \"65536K\"]")),
        file(&format!("{EXT4}cache = \"cool\"")),
        file(&format!("{EXT4}reflink = \"allways\"")),
        file(&format!("{EXT4}reflink = \"auto\"")),
        file(&format!("{EXT4}discard = true")),
        file(&format!("{EXT4}memroy = \"64M\"")),
        file(&format!("{EXT4}[factors.xfs]\nmount = \"noatime\"")),
        file("fs = \"ext4:noatime\"\ndevice = \"loop:2G\"\n[factors.ext4]\nmount = \"ro\""),
        file(&format!("{EXT4}[factors.ext4]\nmkfs.block_size = []")),
        file(&format!("{EXT4}[factors.ext4]\nmount = [\"a,b\", \"b,a\"]")),
        file(&format!("{EXT4}[factors.ext4]\nmont = \"a\"")),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:6:10: a memory limit of 8 MiB is too small to work in
      use 16 MiB or more, or "none"
    t.toml:6:10: `factors.memory` is an empty list
      give it a value, such as "64M"
    t.toml:6:18: the level of 6:11 again
      keep one of them (only file systems may be repeated, as A/A arms)
    t.toml:6:9: unknown cache state "cool"
      known: cold, warm, cold-start, cold-clients
    t.toml:6:11: unknown reflink policy "allways"
      did you mean "always"?
    t.toml:6:11: reflink = "auto", and no workload copies
      add a workload with the phase "copy"
    t.toml:6:11: `factors.discard` is true or false, but has to be text
      write it like "none"
    t.toml:6:1: unknown key in [factors]: "memroy"
      did you mean "memory"?
    t.toml:6:10: [factors.xfs] is for a file system that is not in `fs`
      add "xfs" to `fs`, or remove the table
    t.toml:6:10: [factors.ext4] applies to no element of `fs`
      write a plain "ext4" there: an element with options is taken as it is written
    t.toml:7:19: `factors.ext4.mkfs.block_size` is an empty list
      give it a value, such as 4096
    t.toml:7:17: the level of 7:10 again
      keep one of them (only file systems may be repeated, as A/A arms)
    t.toml:7:1: unknown key in [factors.ext4]: "mont"
      did you mean "mount"?
    "#);
}

#[test]
fn of_workloads() {
    let text = all(&[
        workload("use = \"smal-files\""),
        workload("use = \"small-files\"\nfiles = 5"),
        workload("use = \"small-files\"\nname = \"small-files\"\nfiles = 5"),
        workload("use = \"small-files\"\n[[workload]]\nuse = \"small-files\""),
        workload("name = \"w\""),
        workload("name = \"w\"\nfiles = 0"),
        workload("name = \"w\"\nfiles = 100_000_001"),
        workload("name = \"w\"\nfiles = 10\nsize = \"4 KX\""),
        workload("name = \"w\"\nfiles = 10\nsize = 4.5"),
        workload("name = \"w\"\nfiles = 10\nsize = 4\ndirs = 11"),
        workload("name = \"w\"\nfiles = 10\nsize = 4\nbs = 0"),
        workload(BASE),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:7:7: unknown workload "smal-files"
      did you mean "small-files"?
    t.toml:6:1: `name` is missing in [workload]
      add a name of its own: name = "my-files"
    t.toml:8:8: "small-files" is the built-in workload itself
      a changed workload needs a name of its own
    t.toml:8:1: two workloads are named "small-files"
      rename one of them, or keep one
    t.toml:6:1: `files` is missing in [workload]
      add files = 10_000
    t.toml:8:9: `workload.files` is 0
      it has to be from 1 to 100000000
    t.toml:8:9: `workload.files` is 100000001
      it has to be from 1 to 100000000
    t.toml:9:8: "4 KX": unknown unit "KX"
      use one of B, K, KiB, M, MiB, G, GiB, T, TiB (1024), kB, MB, GB, TB (1000)
    t.toml:9:8: `workload.size` is a number with decimals, but has to be text or a whole number
      write it like "4 KiB"
    t.toml:10:8: 11 directories for 10 files
      use no more directories than files
    t.toml:10:6: calls of 0 B are out of range
      use 1 B to 1 GiB
    t.toml:6:1: `phases` is missing in [workload]
      add phases = ["create", "read", "delete"]
    "#);
}

#[test]
fn of_phases() {
    let phases = |list: &str| workload(&format!("{BASE}phases = {list}"));
    let text = all(&[
        phases("[]"),
        phases("[\"creat\"]"),
        phases("[\"create\", \"create\"]"),
        phases("[\"read\", \"read\"]"),
        phases("[\"read\", \"create\"]"),
        phases("[\"create\", \"delete\", \"read\"]"),
        phases("[\"create\", \"delete\", { name = \"again\", op = \"create\" }]"),
        phases("[\"create\", { op = \"red\" }]"),
        phases("[\"create\", { op = \"read\", ordre = \"random\" }]"),
        phases("[\"big-write\", { op = \"big-read\", order = \"random\" }]"),
        phases("[{ op = \"create\", timed = false }]"),
        workload("name = \"w\"\nfiles = 1\nsize = 0\nphases = [\"big-write\"]"),
        workload("name = \"w\"\nfiles = 1\nsize = \"2G\"\nphases = [\"big-write\"]"),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:10:10: `workload.phases` is an empty list
      give it a value, such as "create"
    t.toml:10:11: unknown phase "creat"
      did you mean "create"?
    t.toml:10:21: phase "create" would create files that are there already
      begin with it, or leave it out: files that a first phase needs are made for it
    t.toml:10:19: two phases are named "read"
      name one: { name = "read-2", op = "read" }
    t.toml:10:19: phase "create" would create files that are there already
      begin with it, or leave it out: files that a first phase needs are made for it
    t.toml:10:31: phase "read" comes after "delete", which deletes the files
      put the deletion last
    t.toml:10:31: phase "again" comes after "delete", which deletes the files
      put the deletion last
    t.toml:10:28: unknown op "red"
      did you mean "read"?
    t.toml:10:36: unknown key in [workload.phases]: "ordre"
      did you mean "order"?
    t.toml:10:51: `big-read` goes from the start of a file to its end
      leave `order` out
    t.toml:10:10: no phase is timed: there is nothing to measure
      leave `timed = false` out of at least one
    t.toml:10:11: phase "big-write" has no op: the files of "w" are empty
      give them a size
    t.toml:5:10: loop:2G is too small for "w", which needs 2.24 GiB
      use a device of 2294M or more, or --scale below 1
    "#);
}

#[test]
fn of_settings_of_devices() {
    let text = all(&[
        file(&format!("{EXT4}ssd = \"trim\"")),
        file(&format!("{EXT4}scheduler = \"BFQ\"")),
        file(&format!("{EXT4}scheduler = [\"bfq\", \"bfq\"]")),
        file(&format!("{EXT4}read_ahead = \"100 B\"")),
        file(&format!("{EXT4}read_ahead = \"2 TiB\"")),
        file(&format!("{EXT4}write_cache = \"off\"")),
        file("fs = \"ext4\"\ndevice = \"brd:1G\"\nscheduler = \"bfq\""),
        file("fs = \"ext4\"\ndevice = \"/dev/vdc\""),
        file("device = \"/dev/vdb\""),
        file("fs = \"ext4\"\ndevice = \"/dev/vda\""),
        file("fs = \"directory\"\ndevice = \"/dev/vdb\""),
        file(&format!("fs = \"ext4\"\ndevice = \"/{}\"", "x".repeat(4095))),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:6:7: unknown SSD policy "trim"
      known: none, blkdiscard, precondition
    t.toml:6:13: "BFQ" is no name of an I/O scheduler
      use none, mq-deadline, kyber or bfq, or "default" to leave it as it is
    t.toml:6:21: the level of 6:14 again
      keep one of them (only file systems may be repeated, as A/A arms)
    t.toml:6:14: a read-ahead of 100 B
      use whole KiB up to 1 GiB
    t.toml:6:14: a read-ahead of 2 TiB
      use whole KiB up to 1 GiB
    t.toml:6:15: unknown write cache "off"
      known: write-back, write-through, default
    t.toml:6:13: "scheduler=bfq" is not possible
      brd:1G has no queue that bfq could sort; use scheduler = "none", or null_blk
    t.toml:5:10: /dev/vdc cannot be used
      it is mounted at /home; unmount it first
    t.toml:4:10: this device needs file systems
      name them: fs = ["ext4", "xfs"], or --fs ext4,xfs
    t.toml:4:6: "ext4" is not possible
      /dev/vda is no block device here; `fsarena devices` lists those that are
    t.toml:4:6: "directory" is not possible
      "directory" works in a directory, not on /dev/vdb: give it one, such as /var/tmp
    t.toml:5:10: a path of 4096 bytes
      the kernel takes 4095
    "#);
}

#[test]
fn of_file_systems_defined_by_commands() {
    let text = all(&[
        external(""),
        external("mount = \"mymount {dev}\""),
        external("mount = \"mymount {mnt}\""),
        external("mount = \"mymount {dev} {mountpoint}\""),
        external("mount = \"m {dev} {mnt}; awk '{ print $1 }'\""),
        external("mount = \"m {dev} {{mnt}}\""),
        external("mount = \"m {{dev}} {mnt}\""),
        external("device = false\nmount = \"mymount {dev} {mnt}\""),
        external("mount = \"\""),
        external(
            "mount = \"m {dev} {mnt}\"\n[[filesystem]]\nname = \"my\"\nmount = \"m {dev} {mnt}\"",
        ),
        external(
            "mount = \"m {dev} {mnt}\"\n[[filesystem]]\nname = \"xfs\"\nmount = \"m {dev} {mnt}\"",
        ),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:8:1: `mount` is missing in [filesystem]
      add mount = "fuse2fs -o rw {dev} {mnt}"
    t.toml:10:9: `mount` does not say where: {mnt} is not in it
      put {mnt} where the mount point belongs
    t.toml:10:9: neither `create` nor `mount` uses {dev}
      use it, or say device = false
    t.toml:10:9: {mountpoint} is not filled in
      use {dev}, {mnt} or {size}; ${NAME} is a variable of the shell, {{ and }} are braces
    t.toml:10:9: { print $1 } is not filled in
      use {dev}, {mnt} or {size}; ${NAME} is a variable of the shell, {{ and }} are braces
    t.toml:10:9: `mount` does not say where: {mnt} is not in it
      put {mnt} where the mount point belongs
    t.toml:10:9: neither `create` nor `mount` uses {dev}
      use it, or say device = false
    t.toml:11:9: {dev} with device = false
      leave one of them out
    t.toml:10:9: an empty command
      leave the key out
    t.toml:11:1: two file systems are named "my"
      rename one of them
    t.toml:11:1: "xfs" is a file system of the program
      define yours under another name
    "#);
}

#[test]
fn of_combinations() {
    let text = all(&[
        file("fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:200M\""),
        file("fs = \"ext4:nonsense\"\ndevice = \"loop:2G\""),
        file(&format!("{EXT4}[factors.ext4]\nmount = [\"noatime\", \"nonsense\"]")),
        file("fs = \"ext4\"\ndevice = \"/var/tmp\""),
        file("fs = \"directory\"\ndevice = \"loop:2G\""),
        file("fs = [\"ext4\", \"ext4:noatime\"]\ndevice = \"loop:32M\""),
        file(
            "fs = [\"ext4\", \"ext4:noatime\"]\ndevice = \"loop:2G\"\n[factors.ext4]\n\
             mount = [\"noatime\"]",
        ),
        file("fs = \"ext4:mkfs.block_size=1024:dax\"\ndevice = \"loop:2G\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:15: "xfs" is not possible
      xfs needs a device of at least 300 MiB
    t.toml:4:6: "ext4:nonsense" is not possible
      ext4 has no mount option nonsense; leave it out
    t.toml:7:21: "nonsense" is not possible
      ext4 has no mount option nonsense; leave it out
    t.toml:4:6: "ext4" is not possible
      ext4 cannot be made in the directory /var/tmp: use "directory" there, or loop:2G
    t.toml:4:6: "directory" is not possible
      "directory" works in a directory, not on loop:2G: give it one, such as /var/tmp
    t.toml:5:10: loop:32M is too small for "small-files", which needs 49.7 MiB
      use a device of 50M or more, or --scale below 1
    t.toml:4:15: two contenders are both ext4:noatime
      leave one out; an A/A comparison names one file system twice: ext4, ext4
    t.toml:4:6: "ext4:mkfs.block_size=1024:dax" is not possible
      dax needs blocks of 4096 B; use mkfs.block_size=4096
    "#);
}

/// Lists whose product nobody could run, and no memory would hold, are refused before it is made.
#[test]
fn products_of_levels_are_refused_before_they_are_made() {
    let list = |count: u32, level: &dyn Fn(u32) -> String| {
        let levels: Vec<String> = (1..=count).map(|n| format!("\"{}\"", level(n))).collect();
        format!("[{}]", levels.join(", "))
    };
    let options: String =
        (1..=9).map(|key| format!("mkfs.k{key} = {}\n", list(40, &|n| n.to_string()))).collect();
    let memory = list(300, &|n| format!("{}M", n + 15));
    let handicap = list(300, &|n| format!("{n}ms"));
    let ranges: String = (1..=9).map(|key| format!(":mkfs.k{key}=1..64 step 1")).collect();
    let began = std::time::Instant::now();
    let text = all(&[
        file(&format!("{EXT4}[factors.ext4]\n{options}")),
        file(&format!("{EXT4}memory = {memory}\nhandicap = {handicap}")),
        file(&format!("fs = \"ext4{ranges}\"\ndevice = \"loop:2G\"")),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:4:6: more than 1000 combinations of levels
      shorten some of the lists
    t.toml:4:6: more than 1000 combinations of levels
      shorten some of the lists
    t.toml:4:6: more than 1000 combinations of levels
      shorten some of the lists
    "#);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// The error of a command line.
fn of_options(change: &dyn Fn(&mut Overrides)) -> String {
    let mut overrides = Overrides::default();
    change(&mut overrides);
    let done = from_options(&overrides).and_then(|e| expand(&e, &overrides, &TestRules));
    shown(&done.expect_err("a mistake"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn of_the_command_line_names_the_option() {
    let error = of_options;
    let text = [
        error(&|o| o.fs = some("ex4")),
        error(&|o| o.fs = some("ext4,,xfs")),
        error(&|o| o.fs = some("ext4:a=1:a=2")),
        error(&|o| o.on = vec!["loop:2X".into()]),
        error(&|o| o.on = vec!["zrm:2G".into()]),
        error(&|o| o.on = vec!["loop:1G,loop:1G".into()]),
        error(&|o| (o.fs, o.on) = (some("ext4"), vec!["/var/tmp".into()])),
        error(&|o| o.workloads = some("smallfiles")),
        error(&|o| o.workloads = some("big-file,big-file")),
        error(&|o| o.runs = some("0")),
        error(&|o| o.scale = Some(0.0)),
        error(&|o| o.scale = Some(f64::NAN)),
        error(&|o| o.seed = Some(u64::MAX)),
        error(&|o| drop(o.levels.insert("memory", "lots".to_owned()))),
        error(&|o| drop(o.levels.insert("cache", "hot".to_owned()))),
    ]
    .join("\n");
    insta::assert_snapshot!(text, @r#"
    --fs: unknown file system "ex4"
      did you mean "ext4"?
    --fs: "ext4,,xfs" has an empty element
      write the elements with one comma between them
    --fs: "ext4:a=1:a=2" gives `a` twice
      keep one of them
    --on: "2X": unknown unit "X"
      use one of B, K, KiB, M, MiB, G, GiB, T, TiB (1024), kB, MB, GB, TB (1000)
    --on: unknown device "zrm"
      did you mean "zram"? (a device is loop:SIZE, ram:SIZE, zram:SIZE, brd:SIZE, null_blk:SIZE, vdisk:SIZE:model=MODEL, virtual:SIZE:model=MODEL, /dev/NAME or /a/directory; several are A+B or loop:SIZE*N)
    --on: the same level twice
      keep one of them (only file systems may be repeated, as A/A arms)
    --fs: "ext4" is not possible
      ext4 cannot be made in the directory /var/tmp: use "directory" there, or loop:2G
    --workload: unknown workload "smallfiles"
      did you mean "small-files"?
    --workload: two workloads are named "big-file"
      rename one of them, or keep one
    --runs: 0 blocks
      use a number from 1 to 1000, or 4..12 for as many as fit into the budget
    --scale: a scale of 0
      use a number above 0, up to 100
    --scale: a scale of NaN
      use a number above 0, up to 100
    --seed: seed 18446744073709551615
      use up to 9223372036854775807, the largest number of a TOML file
    --memory: "lots" has no number and unit
      write it like 64M or 256 B
    --cache: unknown cache state "hot"
      known: cold, warm, cold-start, cold-clients
    "#);
}

#[test]
fn of_options_for_devices_and_job_files() {
    let error = of_options;
    let text = [
        error(&|o| drop(o.levels.insert("ssd", "trim".to_owned()))),
        error(&|o| drop(o.levels.insert("scheduler", "none,,bfq".to_owned()))),
        error(&|o| drop(o.levels.insert("read_ahead", "1".to_owned()))),
        error(&|o| drop(o.levels.insert("write_cache", "off".to_owned()))),
        error(&|o| o.workloads = some("my/jobs.fio")),
        error(&|o| {
            o.workloads = some("my/jobs.fio");
            o.fio_files = vec![("my/jobs.fio".to_owned(), "[a]\ninclude x\n".to_owned())];
        }),
        error(&|o| (o.fs, o.on) = (None, vec!["/dev/vdc".into()])),
        error(&|o| o.compare = some("done")),
    ]
    .join("\n");
    insta::assert_snapshot!(text, @r#"
    --ssd: unknown SSD policy "trim"
      known: none, blkdiscard, precondition
    --scheduler: "none,,bfq" has an empty element
      write the elements with one comma between them
    --read-ahead: a read-ahead of 1 B
      use whole KiB up to 1 GiB
    --write-cache: unknown write cache "off"
      known: write-back, write-through, default
    --workload: the job file "my/jobs.fio" was not read
      name a file that is there
    my/jobs.fio:2:1: "include x" names another file
      copy its lines into this one: a workload is stored whole
    --on: /dev/vdc cannot be used
      it is mounted at /home; unmount it first
    --compare: unknown clock "done"
      known: returned, durable, drained
    "#);
}

/// The name goes to a package manager that is run as root.
#[test]
fn of_packages() {
    let named =
        |name: &str| external(&format!("mount = \"m {{dev}} {{mnt}}\"\npackage = \"{name}\""));
    let bad = all(&["-oFoo", "./x.deb", "a b", "Xfs", "x", ""].map(named));
    insta::assert_snapshot!(bad, @r#"
    t.toml:11:11: "-oFoo" is no name of a package
      use a-z, 0-9, +, - and .
    t.toml:11:11: "./x.deb" is no name of a package
      use a-z, 0-9, +, - and .
    t.toml:11:11: "a b" is no name of a package
      use a-z, 0-9, +, - and .
    t.toml:11:11: "Xfs" is no name of a package
      use a-z, 0-9, +, - and .
    t.toml:11:11: "x" is no name of a package
      use a-z, 0-9, +, - and .
    t.toml:11:11: "" is no name of a package
      use a-z, 0-9, +, - and .
    "#);
    for good in ["fuse2fs", "g++-12", "libc6.1", "7zip"] {
        assert!(plan(&named(good)).is_ok(), "{good}");
    }
}
