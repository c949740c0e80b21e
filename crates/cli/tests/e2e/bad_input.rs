//! Nonsense on the command line and in experiment files: one error, with the remedy, exit code 2,
//! and nothing made. None of this needs a privilege.

use crate::support::{TestEnv, assert_nothing_left};
use std::fs;

const WORK: [&str; 2] = ["--workload", "tiny-files"];

/// Refused before anything was made: no database, no state, no image.
#[track_caller]
fn refused(env: &TestEnv, args: &[&str], words: &[&str]) {
    let ran = env.run(&[&["run"], args].concat());
    ran.refused(2, words);
    assert_untouched(env);
}

#[track_caller]
fn assert_untouched(env: &TestEnv) {
    assert!(!env.db().exists(), "a database was made");
    assert!(!env.state().exists(), "a journal was made");
    assert_nothing_left(env);
}

/// Options of one file system on one device, with a workload.
#[track_caller]
fn refused_fs(fs: &str, on: &str, words: &[&str]) {
    let env = TestEnv::new();
    refused(&env, &[&["--fs", fs, "--on", on], &WORK[..]].concat(), words);
}

#[track_caller]
fn refused_option(option: &[&str], words: &[&str]) {
    let env = TestEnv::new();
    let args = [&["--fs", "ext4", "--on", "loop:128M"], &WORK[..], option].concat();
    refused(&env, &args, words);
}

#[test]
fn unknown_file_system() {
    refused_fs("ex4", "loop:128M", &["unknown file system \"ex4\"; did you mean \"ext4\"?"]);
}

#[test]
fn unknown_workload() {
    let env = TestEnv::new();
    let args = ["--fs", "ext4", "--on", "loop:128M", "--workload", "smal-files"];
    refused(&env, &args, &["unknown workload \"smal-files\"; did you mean \"small-files\"?"]);
}

#[test]
fn unknown_experiment() {
    let env = TestEnv::new();
    refused(&env, &["quik"], &["unknown experiment \"quik\"", "quick"]);
    refused(&env, &["none.toml"], &["none.toml: No such file", "quick"]);
}

#[test]
fn an_experiment_without_an_end() {
    let env = TestEnv::new();
    let path = env.write("large.toml", "");
    fs::File::options().write(true).open(&path).unwrap().set_len(64 << 30).unwrap();
    refused(&env, &[&path], &["large.toml: more than 16 MiB", "name a file"]);
    std::os::unix::fs::symlink("/dev/zero", env.path("zero.toml")).unwrap();
    let zero = env.path("zero.toml").display().to_string();
    refused(&env, &[&zero], &["zero.toml: more than 16 MiB"]);
}

#[test]
fn unknown_option_of_a_file_system() {
    let words = ["unknown mkfs option blok_size", "did you mean block_size?"];
    refused_fs("ext4:mkfs.blok_size=4096", "loop:128M", &words);
    refused_fs("ext4:mkfs.block_size=big", "loop:128M", &["block_size"]);
    refused_fs("ext4:mkfs.block_size=3000", "loop:128M", &["block_size"]);
}

#[test]
fn unknown_unit() {
    refused_fs("ext4", "loop:128KB", &["KB is ambiguous", "KiB"]);
    refused_fs("ext4", "loop:128X", &["unknown unit \"X\""]);
    refused_fs("ext4", "loop:", &["has no size", "loop:2G"]);
    refused_fs("ext4", "lop:1G", &["unknown device", "did you mean \"loop\""]);
}

#[test]
fn bad_values() {
    refused_option(&["--memory", "1M"], &["too small", "16 MiB or more"]);
    refused_option(&["--memory", "64Q"], &["unknown unit"]);
    refused_option(&["--cache", "lukewarm"], &["unknown cache state", "cold, warm"]);
    refused_option(&["--discard", "maybe"], &["unknown discard policy", "none, on"]);
    refused_option(&["--runs", "0"], &["use a number from 1 to 1000"]);
    refused_option(&["--runs", "many"], &["\"many\" is no number of blocks"]);
    refused_option(&["--scale", "0"], &["above 0"]);
    refused_option(&["--scale", "nan"], &["above 0"]);
    refused_option(&["--sample-period", "3x"], &["unknown unit \"x\""]);
    refused_option(&["--user", "nobody"], &["65534:65534"]);
}

#[test]
fn what_shall_be_decided() {
    refused_option(&["--cap", "10"], &["--cap: at most 10 blocks", "8, 12, 16"]);
    refused_option(&["--cap", "8", "--runs", "3"], &["--runs and --cap together", "keep"]);
    refused_option(&["--margin", "0"], &["--margin: a margin of 0%", "5% or 0.05"]);
    refused_option(&["--budget", "30"], &["--budget", "unknown unit"]);
    refused_option(&["--baseline", "xfs"], &["no contender is called \"xfs\"", "\"ext4\""]);
    refused_option(&["--ask", "tiny-files"], &["\"tiny-files\" is no question"]);
    refused_option(&["--ask", "tiny-files:write"], &["unknown timed phase \"write\"", "create"]);
    refused_option(&["--headline", "tiny-files:*"], &["is more than one question"]);
    refused_option(
        &["--inject-delay", "2h"],
        &["--inject-delay: an injected delay of 2h00m", "1h00m"],
    );
    let env = TestEnv::new();
    for option in [["--cap", "8"], ["--margin", "5%"], ["--ask", "x:y"], ["--inject-delay", "1ms"]]
    {
        let args = [&["run", "--resume"], &option[..]].concat();
        env.run(&args).code(2).says(&["'--resume", "cannot be used with"]);
    }
    assert_untouched(&env);
}

/// What the parser of the command line itself refuses.
#[test]
fn unknown_arguments() {
    let env = TestEnv::new();
    for args in [&["run", "--nonsense"][..], &["walk"], &["run", "--cap", "many"], &[]] {
        let ran = env.run(args).code(2);
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(ran.stderr.contains("--help") || ran.stderr.contains("Usage"), "{}", ran.stderr);
    }
    assert_untouched(&env);
}

#[test]
fn impossible_combinations() {
    refused_fs("ext2:data=journal", "loop:128M", &["needs a journal", "ext3 or ext4"]);
    refused_fs("ext4:data=ordered:data=journal", "loop:128M", &["data"]);
    refused_fs("tmpfs:size=5M", "loop:128M", &["size is that of the target"]);
    refused_fs("ext4:defaults", "loop:128M", &["plain name"]);
    refused_fs("directory", "loop:128M", &["works in a directory"]);
}

#[test]
fn impossible_combination_of_tmpfs_and_a_journal() {
    refused_fs("tmpfs:data=journal", "ram:128M", &["data=journal needs a journal", "ext4"]);
}

#[test]
fn image_too_small() {
    refused_fs("xfs", "loop:100M", &["too small", "300 MiB", "loop:300M"]);
    refused_fs("btrfs", "loop:20M", &["too small"]);
    let env = TestEnv::new();
    let big = ["--fs", "ext4", "--on", "loop:64M", "--workload", "big-file"];
    refused(&env, &big, &["will have", "\"big-file\" needs", "or --scale"]);
}

#[test]
fn directories_that_cannot_be_targets() {
    let env = TestEnv::new();
    let here = |on: &str| [&["--on", on], &WORK[..]].concat().join(" ");
    for (on, word) in [
        ("/nonexistent/directory", "does not exist"),
        ("/proc", "holds no files of users"),
        ("/dev/null", "not a directory"),
    ] {
        let args = here(on);
        refused(&env, &args.split(' ').collect::<Vec<_>>(), &[word, "--on loop:SIZE"]);
    }
}

/// The database is part of no work, by whatever path it is named.
#[test]
fn database_under_test() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    fs::create_dir(env.path("target/deep")).unwrap();
    std::os::unix::fs::symlink(&target, env.path("link")).unwrap();
    for db in ["target/x.db", "target/deep/x.db", "link/x.db", "target/new/x.db"] {
        let db = env.path(db).display().to_string();
        let args = [&["--on", &target, "--db", &db], &WORK[..]].concat();
        refused(&env, &args, &["which is under test", "--db"]);
    }
    let link = env.path("link").display().to_string();
    let args = [&["--on", &link], &WORK[..]].concat();
    let mut command = env.command(&[&["run"], &args[..]].concat());
    command.env("FSARENA_DB", env.path("target/x.db"));
    env.finish(command).refused(2, &["which is under test"]);
    let names = |dir: &str| fs::read_dir(dir).unwrap().count();
    assert_eq!(names(&target), 1, "the target holds what it held");
    assert_untouched(&env);
}

/// What a link leads to is not made.
#[test]
fn a_database_behind_a_link_to_nothing() {
    let env = TestEnv::new();
    let target = env.make_dir("target");
    let (link, nothing) = (env.path("link.db"), env.path("nothing.db"));
    std::os::unix::fs::symlink(&nothing, &link).unwrap();
    let link = link.display().to_string();
    let args = [&["--on", &target, "--db", &link], &WORK[..]].concat();
    let ran = env.run(&[&["run"], &args[..]].concat()).code(1);
    ran.says(&["link.db", "it is a link to nothing", "name the file itself with --db"]);
    assert!(!nothing.exists());
}

/// Each text is an experiment file; the error names line and column.
#[track_caller]
fn refused_file(text: &str, words: &[&str]) {
    let env = TestEnv::new();
    let file = env.write("mine.toml", text);
    for more in [&[][..], &["--dry-run"]] {
        refused(&env, &[&[file.as_str()], more].concat(), words);
    }
}

fn file(factors: &str, rest: &str) -> String {
    format!("schema = 1\nname = \"mine\"\n[factors]\n{factors}\n[[workload]]\n{rest}\n")
}

const EXT4: &str = "fs = \"ext4\"\ndevice = \"loop:128M\"";
const TINY: &str = "use = \"tiny-files\"";

#[test]
fn file_that_is_not_toml() {
    refused_file("schema = 1\nname = mine\n", &["mine.toml:2:8: not TOML", "toml.io"]);
    refused_file("", &["mine.toml:1:1", "`schema` is missing"]);
}

#[test]
fn file_with_unknown_words() {
    let key = file("fs = \"ext4\"\ndevice = \"loop:128M\"\nmemmory = \"64M\"", TINY);
    refused_file(&key, &["mine.toml:6:1: unknown key", "did you mean \"memory\"?"]);
    let fs = file("fs = [\"xfs\", \"ex4\"]\ndevice = \"loop:320M\"", TINY);
    refused_file(&fs, &["mine.toml:4:14", "unknown file system \"ex4\""]);
    refused_file(&file(EXT4, "use = \"tiny-fils\""), &["mine.toml:7:7", "\"tiny-files\"?"]);
    let unit = file("fs = \"ext4\"\ndevice = \"loop:128KB\"", TINY);
    refused_file(&unit, &["mine.toml:5:10", "KB is ambiguous"]);
}

/// A package is named to a program that root runs: neither an option nor a file of somebody.
#[test]
fn file_with_a_package_that_is_none() {
    let factors = "fs = \"mine\"\ndevice = \"loop:128M\"";
    for package in ["-oFoo", "./x.deb"] {
        let defined = format!(
            "{TINY}\n[[filesystem]]\nname = \"mine\"\nmount = \"true {{dev}} {{mnt}}\"\n\
             programs = [\"mkfs.nosuch\"]\npackage = \"{package}\""
        );
        let said = format!("mine.toml:12:11: \"{package}\" is no name of a package");
        refused_file(&file(factors, &defined), &[&said]);
    }
}

#[test]
fn file_of_a_later_program() {
    let text = file(EXT4, TINY).replace("schema = 1", "schema = 9");
    refused_file(&text, &["mine.toml:1:10: schema 9", "use the program"]);
}

#[test]
fn two_contenders_of_one_identity() {
    let factors = "fs = [\"ext4\", \"ext4:noatime\"]\ndevice = \"loop:128M\"\n\
                   [factors.ext4]\nmount = [\"defaults\", \"noatime\"]";
    let words = ["mine.toml:4:15: two contenders are both ext4:noatime", "leave one out"];
    refused_file(&file(factors, TINY), &words);
    let sizes = "fs = \"ext4\"\ndevice = [\"loop:128M\", \"loop:131072K\"]";
    refused_file(&file(sizes, TINY), &["mine.toml:5:24: the level of 5:11 again"]);
}

#[test]
fn file_with_an_impossible_combination() {
    let factors = "fs = [\"ext4\", \"ext2:data=journal\"]\ndevice = \"loop:128M\"";
    refused_file(&file(factors, TINY), &["mine.toml:4:15", "needs a journal"]);
    let small = "fs = \"xfs\"\ndevice = \"loop:100M\"";
    refused_file(&file(small, TINY), &["mine.toml:4:6", "too small", "loop:300M"]);
}

#[test]
fn file_that_names_a_block_device() {
    let node = block_device();
    let made = file(&format!("fs = \"ext4\"\ndevice = \"{node}\""), TINY);
    // What is said depends on the device and on who asks; nothing is ever accepted.
    refused_file(&made, &["fsarena: /"]);
}

const NO_DEVICE: &str = "/dev/vda";

/// Some block device of this machine.
fn block_device() -> String {
    let names = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let nodes = names.map(|entry| format!("/dev/{}", entry.file_name().to_string_lossy()));
    let mut there: Vec<String> = nodes.filter(|node| fs::metadata(node).is_ok()).collect();
    there.sort();
    there.pop().unwrap_or_else(|| NO_DEVICE.to_owned())
}

#[test]
fn unknown_runs() {
    let env = TestEnv::new();
    env.run(&["show"]).refused(2, &["there is no database yet", "fsarena run"]);
    assert_untouched(&env);
    let target = env.make_dir("target");
    let small = [&["--on", &target, "--scale", "0.01"], &WORK[..]].concat();
    env.run_once(&small).good();
    env.run(&["show", "7"]).code(1).says(&["no such RUN", "fsarena list"]);
    env.run(&["show", "nonsense"]).code(1).says(&["no such RUN", "fsarena list"]);
    env.run(&["reference", "1999"]).refused(2, &["no article of 1999", "2003"]);
    assert_nothing_left(&env);
}
