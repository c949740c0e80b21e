//! Illegal mixtures of work: one error with file, line, column and remedy, and nothing made.

use crate::support::{TestEnv, assert_nothing_left};

const FILES: &str = "files = 100\nsize = \"4 KiB\"\ndirs = 10";
const FLAT: &str = "files = 100\nsize = \"4 KiB\"";
const BIG: &str = "files = 1\nsize = \"4 MiB\"";
const DRAWN: &str = "files = 10\nsize = { uniform = { min = 0, max = 9000 } }";

/// Each pair is keys of a dataset with `phases`, and what is said of them.
#[track_caller]
fn refused(cases: &[(&str, &str, &[&str])]) {
    for (set, phases, words) in cases {
        let env = TestEnv::new();
        let target = env.make_dir("target");
        let work = format!("[[workload]]\nname = \"w\"\n{set}\nphases = [{phases}]\n");
        let file = env.experiment(&format!("device = \"{target}\"\ncache = \"warm\""), &work);
        for args in [&["run", &file][..], &["run", &file, "--dry-run"]] {
            let ran = env.run(args).refused(2, words);
            let place = ran.stderr.split_once(&format!("{file}:")).map(|(_, rest)| rest);
            let numbers: Vec<&str> = place.expect("the file is named").splitn(3, ':').collect();
            assert!(numbers[..2].iter().all(|n| n.parse::<u32>().is_ok()), "{}", ran.stderr);
            assert!(ran.stderr.contains("; "), "a remedy follows: {}", ran.stderr);
        }
        assert!(!env.db().exists() && !env.state().exists(), "{phases}: something was made");
        assert_nothing_left(&env);
    }
}

#[test]
fn of_calls() {
    refused(&[
        (BIG, "{ op = \"randread\", direct = true, bs = 256 }", &["256 B", "logical sector"]),
        (BIG, "{ op = \"big-write\", direct = true, bs = 1000 }", &["1000 B", "logical sector"]),
        (DRAWN, "{ op = \"create\", direct = true }", &["do not end at a sector", "multiples"]),
        (BIG, "{ op = \"randread\", iodepth = 8 }", &["iodepth 8", "io_uring"]),
        (FILES, "\"create\", { op = \"stat\", backend = \"mmap\" }", &["mmap with `stat`", "sync"]),
        (FILES, "\"create\", { op = \"list\", backend = \"io_uring\" }", &["io_uring with `list`"]),
        (BIG, "{ op = \"big-read\", backend = \"mmap\", direct = true }", &["direct with mmap"]),
        (BIG, "{ op = \"big-read\", backend = \"uring\" }", &["unknown backend", "io_uring"]),
        (
            FILES,
            "\"create\", { op = \"read\", backend = \"null\" }",
            &["null backend", "all phases"],
        ),
    ]);
}

#[test]
fn of_threads() {
    refused(&[
        (
            "files = 3\nsize = 1",
            "{ op = \"create\", threads = 4, sharing = \"shared\" }",
            &["4 threads for 3 files", "fewer threads"],
        ),
        (FLAT, "{ op = \"create\", threads = 4 }", &["leaf directories", "sharing = \"shared\""]),
        (FILES, "{ op = \"create\", threads = 11 }", &["11 threads for 10 leaf directories"]),
        (
            BIG,
            "{ op = \"big-write\", threads = 2, sharing = \"shared\" }",
            &["cannot be shared", "sharing = \"interleaved\"", "\"own\""],
        ),
        (
            "files = 100\nsize = 1\ndirs = 20\ndepth = 2",
            "{ op = \"mkdir\", threads = 2 }, \"create\"",
            &["nested directories", "threads = 1"],
        ),
        (FILES, "{ op = \"create\", threads = 0 }", &["it has to be from 1 to 1024"]),
    ]);
}

#[test]
fn of_names() {
    let long = "files = 10\nsize = 1\ndirs = 1\ndepth = 64\nname_length = 256";
    let short = "files = 1000\nsize = 1\nname_length = 3";
    refused(&[
        (long, "\"create\"", &["`workload.name_length` is 256", "from 2 to 255"]),
        (short, "\"create\"", &["too short for 1000 files", "name_length = 4"]),
        ("files = 10\nsize = 1\ndirs = 5\ndepth = 65", "\"create\"", &["from 1 to 64"]),
    ]);
}

/// A directory deep enough that the path of a file in it would be longer than the kernel takes.
#[test]
fn of_long_paths() {
    let env = TestEnv::new();
    let mut target = env.path("target");
    while target.as_os_str().len() < 3500 {
        target.push("x".repeat(200));
    }
    std::fs::create_dir_all(&target).unwrap();
    let work = "[[workload]]\nname = \"w\"\nfiles = 10\nsize = 1\ndirs = 2\ndepth = 64\n\
                name_length = 255\nphases = [\"create\"]\n";
    let factors = format!("device = \"{}\"\ncache = \"warm\"", target.display());
    let file = env.experiment(&factors, work);
    let words = ["test.toml:", "longer than 4096 bytes", "use a shorter directory"];
    env.run(&["run", &file]).refused(2, &words);
    assert!(!env.db().exists() && !env.state().exists());
    assert_nothing_left(&env);
}

#[test]
fn of_policies_and_random_ops() {
    refused(&[
        (
            FILES,
            "\"create\", { op = \"read\", fsync = \"op\" }",
            &["fsync with `read`", "leave it"],
        ),
        (FILES, "\"create\", { op = \"rename\", fsync = \"file\" }", &["writes no contents"]),
        (BIG, "{ op = \"randwrite\", fsync = \"dir\" }", &["it makes no entries"]),
        (BIG, "{ op = \"randread\", rwmixread = 70 }", &["rwmixread with `randread`", "randrw"]),
        (BIG, "{ op = \"randrw\", rwmixread = 101 }", &["from 0 to 100"]),
        (BIG, "{ op = \"big-read\", ops = 10 }", &["ops with `big-read`", "leave it out"]),
        (DRAWN, "\"randread\"", &["files of different sizes", "one size"]),
        (FILES, "{ op = \"randread\", bs = \"8 KiB\" }", &["blocks of 8 KiB in files of 4 KiB"]),
        (FILES, "\"create\", \"mkdir\"", &["begin with it"]),
        (FILES, "\"create\", \"rmdir\"", &["put a deletion before it"]),
    ]);
}
