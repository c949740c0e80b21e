//! Hashes of a whole small experiment in guests, as they were recorded once: `fsarena selftest
//! virtual` prints them, and where guest kernel, mkfs and the kind of processor are those of the
//! recording each has to be the same. They say which trials come out otherwise after a change that
//! nobody thought to touch them.

use crate::support::TestEnv;
use fsarena_guests::kernel::Cache;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The lines of file systems, below the key of the guest kernel.
const RECORDED: &str = "tests/e2e/virtual_golden.txt";
/// Set to the key of a guest kernel in the cache, it makes the test record anew.
const RECORD: &str = "FSARENA_RECORD_GOLDEN";
const KEY: &str = "guest kernel key: ";
const PROCESSOR: &str = "processor: ";
const ABOUT: &str = "\
# What `fsarena selftest virtual` printed; crates/cli/tests/e2e/virtual_golden.rs compares it.
# Record anew after a change of times or contents that is meant, and say so in the commit:
# FSARENA_RECORD_GOLDEN=KEY cargo test -p fsarena-cli --test e2e virtual_golden
";

/// What was printed of a file system.
#[derive(PartialEq, Eq, Debug)]
struct Line<'a> {
    /// Of its times, and of the contents of its disk.
    hashes: &'a str,
    /// Its mkfs and the version of that.
    tool: &'a str,
}

/// By file system, of lines such as `ext4: times 431f image 71f1 (mke2fs 1.47.0)`.
fn lines(text: &str) -> BTreeMap<&str, Line<'_>> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<(&str, Line<'_>)> {
    let (name, rest) = text.split_once(": times ")?;
    let (hashes, tool) = rest.split_once(" (")?;
    Some((name, Line { hashes, tool: tool.strip_suffix(')')? }))
}

/// What is not compared, with the reason, and what is not the same.
fn differences(recorded: &str, here: &str) -> (Vec<String>, Vec<String>) {
    let (mut not_run, mut wrong) = (Vec::new(), Vec::new());
    let here = lines(here);
    for (name, line) in lines(recorded) {
        match here.get(name) {
            None => {
                not_run.push(format!("{name}: recorded with {}, here it is not run", line.tool))
            }
            Some(own) if own.tool != line.tool => {
                not_run.push(format!("{name}: recorded with {}, here is {}", line.tool, own.tool));
            }
            Some(own) if own.hashes != line.hashes => {
                wrong.push(format!("{name}: times {}, recorded {}", own.hashes, line.hashes));
            }
            Some(_) => {}
        }
    }
    (not_run, wrong)
}

/// Vendor, family and model of a processor of this machine.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.split_once(':'));
        let found = values.find(|(key, _)| key.trim() == name);
        found.map_or("?", |(_, value)| value.trim()).to_owned()
    };
    ["vendor_id", "cpu family", "model"].map(value).join(" ")
}

/// What is printed here with this guest kernel alone.
fn selftest(env: &TestEnv, cache: &Cache, key: &str) -> String {
    let kernels = env.make_dir("kernels");
    symlink(cache.dir().join(key), Path::new(&kernels).join(key)).unwrap();
    let mut command = env.command(&["selftest", "virtual"]);
    // As a user runs it.
    command.env_remove("FSARENA_TEST_FAST").env("FSARENA_KERNEL_DIR", kernels);
    env.finish(command).good().stdout
}

#[test]
fn virtual_golden_hashes_of_a_whole_experiment_are_those_recorded() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
    let recorded = std::fs::read_to_string(&place).unwrap_or_default();
    let wanted = std::env::var(RECORD).ok();
    let first = |name: &str| recorded.lines().find_map(|line| line.strip_prefix(name));
    let of_file = first(KEY);
    let key = wanted.as_deref().or(of_file).expect("a key of a guest kernel");
    let cache = Cache::of_user().unwrap();
    let Some(kernel) = cache.find(key) else {
        println!("not run: recorded with guest kernel {key}, which is not in the cache");
        return;
    };
    let env = TestEnv::new();
    let here = selftest(&env, &cache, &kernel.identity.key);
    if wanted.is_some() {
        let own: String = here
            .lines()
            .filter(|line| line.contains(": times "))
            .fold(String::new(), |all, line| all + line + "\n");
        let head = format!("{ABOUT}{KEY}{key}\n{PROCESSOR}{}\n", processor());
        std::fs::write(&place, head + &own).unwrap();
        println!("not run: recorded anew in {}", place.display());
        return;
    }
    let (not_run, wrong) = differences(&recorded, &here);
    for line in not_run {
        println!("not run: {line}");
    }
    // The same has been seen on one kind alone.
    let of_recording = first(PROCESSOR).unwrap_or_default();
    if !wrong.is_empty() && of_recording != processor() {
        println!("not run: recorded on {of_recording}; other here, on {}: {wrong:?}", processor());
        return;
    }
    assert!(wrong.is_empty(), "not as recorded in {RECORDED}:\n{}", wrong.join("\n"));
}

#[test]
fn a_golden_is_compared_where_the_tool_is_the_same() {
    let recorded = "guest kernel key: 5b\next4: times 43 image 71 (mke2fs 1.47.0 (5-Feb-2023))\n\
                    xfs: times 04 image 26 (mkfs.xfs version 6.1.0)\njfs: times 5f image 8c (jfs)\n";
    assert_eq!(differences(recorded, recorded), (vec![], vec![]));
    let here = "ext4: times 43 image 72 (mke2fs 1.47.0 (5-Feb-2023))\n\
                xfs: times 05 image 26 (mkfs.xfs version 6.2.0)\njfs: not run\n";
    let (not_run, wrong) = differences(recorded, here);
    assert_eq!(wrong, ["ext4: times 43 image 72, recorded 43 image 71"]);
    assert_eq!(not_run.len(), 2, "{not_run:?}");
    assert!(not_run.iter().any(|line| line.contains("recorded with mkfs.xfs version 6.1.0")));
}
