//! The life of a trial on each file system, and what its record must prove.

use crate::support::{TestEnv, assert_nothing_left, device_of, sh};
use fsarena_filesystems::Backing;
use fsarena_model::record::{
    CacheState, Drained, MemoryRecord, Outcome, PhaseRecord, TrialRecord, Window,
};
use fsarena_model::work::Op;
use serde_json::Value;

const SMALL: [&str; 4] = ["--workload", "small-files", "--scale", "0.03"];
const FILES: u64 = 300;

fn is_memory(fs: &str) -> bool {
    let level = fsarena_model::contender::FsLevel::plain(fs);
    fsarena_filesystems::driver(&level).unwrap().backing() == Backing::Memory
}

fn life(fs: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let args = [&["--fs", fs, "--on", device_of(fs), "--verify", "--json"], &SMALL[..]].concat();
    let ran = env.run_once(&args).good();
    assert_nothing_left(&env);
    let document = ran.json();
    assert_eq!((&document["kind"], &document["schema"]), (&"run".into(), &2.into()));
    let records = ran.records();
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(record.outcome, Outcome::Done);
    let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["create", "read", "read-random", "stat", "delete"]);
    record.phases.iter().for_each(|phase| phase_is_whole(fs, phase));
    file_system_was_read_back(fs, record);
    let verified = record.verify.as_ref().expect("--verify was given");
    assert_eq!((verified.files, verified.bad_files), (FILES, 0), "{verified:?}");
    assert!(record.space.expect("space was read").used_bytes > 0 || is_memory(fs));
    same_from_the_database(&env, &document);
}

/// The one test with the waits of a measurement; the others say in each record that theirs are
/// short.
#[test]
fn waits_are_those_of_a_measurement() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = ["--workload", "small-files", "--scale", "0.03", "--runs", "1", "--seed", "1"];
    let args = [&["run", "--fs", "ext4", "--on", "loop:128M"], &work[..]].concat();
    let mut command = env.command(&args);
    command.env_remove("FSARENA_TEST_FAST");
    env.finish(command).good();
    env.run(&args).good();
    for (run, is_fast) in [(1, false), (2, true)] {
        let record = env.records(run).remove(0);
        assert_eq!(record.outcome, Outcome::Done);
        record.phases.iter().for_each(|phase| phase_is_whole("ext4", phase));
        let said = record.notices.iter().any(|notice| notice.code == "test-fast");
        assert_eq!(said, is_fast, "{:?}", record.notices);
        let settles = record.steps.iter().filter(|step| step.step == "settle").count();
        assert_eq!(settles, 0, "the unmount of a cold phase waits for all there is");
    }
    assert_nothing_left(&env);
}

/// Clocks, counts, cache and windows of a phase.
fn phase_is_whole(fs: &str, phase: &PhaseRecord) {
    let name = &phase.name;
    assert_eq!(phase.ops, FILES, "{name}");
    assert_eq!(phase.latency.as_ref().map(|latency| latency.count()), Some(FILES), "{name}");
    assert_eq!(phase.memory, MemoryRecord::Whole);
    let returned_ns = phase.clocks.returned_ns;
    let durable_ns = phase.clocks.durable_ns.expect("syncfs was done");
    assert!(0 < returned_ns && returned_ns <= durable_ns, "{name}: {:?}", phase.clocks);
    let proof = &phase.cache.proof;
    if is_memory(fs) {
        assert_eq!(phase.cache.state, CacheState::WarmByNature, "{name}");
        assert_eq!(phase.clocks.drained, Drained::NoDevice, "{name}");
        return;
    }
    let drained_ns = phase.clocks.drained.ns().expect("it was drained");
    assert!(durable_ns <= drained_ns, "{name}: {:?}", phase.clocks);
    assert_eq!(phase.cache.state, CacheState::Cold, "{name}: {:?}", phase.cache);
    let resident = (proof.device_resident_pages, proof.backing_resident_pages);
    assert_eq!(resident, (Some(0), Some(0)), "{name}");
    assert!(proof.mount_read_bytes.is_some_and(|bytes| bytes > 0), "{name}");
    let needed = proof.needed_read_bytes.expect("the need is known");
    let delivered = proof.delivered_read_bytes.expect("the device tells");
    assert!(delivered as f64 >= 0.9 * needed as f64, "{name}: {proof:?}");
    match phase.op {
        Op::Read => assert!(needed >= FILES * 4096, "{name}: {proof:?}"),
        Op::Stat | Op::Delete => assert!(delivered > 0, "{name}: {proof:?}"),
        _ => {}
    }
    let windows: Vec<Window> = phase.windows.keys().copied().collect();
    assert_eq!(windows, [Window::Durable, Window::Drained, Window::Unmounted], "{name}");
    let written = |window: Window| phase.windows[&window]["device.written_bytes"];
    assert!(written(Window::Durable) <= written(Window::Drained), "{name}");
    assert!(written(Window::Drained) <= written(Window::Unmounted), "{name}");
    if phase.op == Op::Create {
        assert!(written(Window::Unmounted) >= FILES * 4096, "{name}: contents reach the device");
    }
}

fn file_system_was_read_back(fs: &str, record: &TrialRecord) {
    let effective = &record.filesystem;
    assert_eq!(effective.mounted_type.as_deref(), Some(fs));
    let options = effective.mounted_options.as_deref().expect("options were read back");
    assert!(options.contains("rw"), "{options}");
    assert!(!options.split(',').any(|option| option == "discard"), "{options}");
    if is_memory(fs) {
        return;
    }
    assert!(!effective.features.is_empty(), "features were read back");
    assert!(effective.tool_version.is_some());
    let mkfs = effective.mkfs_argv.join(" ");
    let no_discard = match fs {
        "xfs" | "btrfs" => "-K",
        _ => "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
    };
    assert!(mkfs.contains(no_discard), "{mkfs}");
    assert_eq!(record.device["size_bytes"].parse::<u64>().map(|size| size > 100 << 20), Ok(true));
    assert!(record.device.contains_key("direct_io"));
}

/// `show --json` and `list --json` say the same as the run did.
fn same_from_the_database(env: &TestEnv, document: &Value) {
    let shown = env.run(&["show", "--json"]).good().json();
    assert_eq!(shown["records"], document["records"]);
    assert_eq!(shown["run"], document["run"]);
    let listed = env.run(&["list", "--json"]).good().json();
    assert_eq!(listed["kind"], "list");
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["state"], "done");
    assert_eq!(runs[0]["uid"], document["run"]["uid"]);
    env.run(&["show", "1", "--raw"]).good().says(&["small-files / create", "returned"]);
}

#[test]
fn life_on_ext2() {
    life("ext2");
}

#[test]
fn life_on_ext3() {
    life("ext3");
}

#[test]
fn life_on_ext4() {
    life("ext4");
}

#[test]
fn life_on_xfs() {
    life("xfs");
}

#[test]
fn life_on_btrfs() {
    life("btrfs");
}

#[test]
fn life_on_tmpfs() {
    life("tmpfs");
}

/// Where ext4's driver serves ext2 and ext3, the table says so.
#[test]
fn ext4_stands_in_for_its_elders() {
    let Some(env) = TestEnv::privileged(&["ext2", "ext3"]) else { return };
    let args = [&["--fs", "ext2,ext3", "--on", "loop:128M"], &SMALL[..]].concat();
    let ran = env.run_once(&args).good();
    let records = env.records(1);
    for record in &records {
        if record.filesystem.served_by.is_none() {
            println!("not run: this kernel has drivers of their own for ext2 and ext3");
            return;
        }
        assert_eq!(record.filesystem.served_by.as_deref(), Some("ext4"));
    }
    ran.says(&["ext2 is served by the ext4 driver", "ext3 is served by the ext4 driver"]);
    assert_nothing_left(&env);
}

/// One table for all, as in the first lines of the README: rates, CPU, three clocks.
#[test]
fn a_table_of_all() {
    let all = ["ext2", "ext3", "ext4", "btrfs", "tmpfs"];
    let Some(env) = TestEnv::privileged(&all) else { return };
    let on = ["--fs", &all.join(","), "--on", "loop:128M"];
    let work = ["--workload", "small-files,big-file", "--scale", "0.01"];
    let ran = env.run_once(&[&on[..], &work].concat()).good();
    let rows = |name: &str| ran.stdout.lines().filter(|line| line.starts_with(name)).count();
    for fs in all {
        assert!(rows(fs) >= 7, "{fs} in each of seven tables:\n{}", ran.stdout);
    }
    ran.says(&["returned", "durable", "drained", "CPU", "warm by nature", "files/s"]);
    assert_nothing_left(&env);
}

/// The limit of a v1 or v2 cgroup holds; what lives in memory is not run under it.
#[test]
fn memory_is_limited() {
    let Some(env) = TestEnv::privileged(&["ext4", "tmpfs"]) else { return };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    if let Err(reason) = fsarena_executor::cgroup::Hierarchy::find(&mounts) {
        println!("not run: {reason}");
        return;
    }
    let on = ["--fs", "ext4,tmpfs", "--on", "loop:320M", "--memory", "64M"];
    let ran = env.run_once(&[&on[..], &["--workload", "big-file", "--scale", "0.75"]].concat());
    ran.good().says(&["tmpfs: it lives in the limited memory", "memory 64 MiB by cgroup v"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 1, "tmpfs has no trial");
    let limit = 64 << 20;
    for phase in &records[0].phases {
        let MemoryRecord::Limited { limit_bytes, by, peak_bytes, .. } = &phase.memory else {
            panic!("{}: {:?}", phase.name, phase.memory);
        };
        assert_eq!(*limit_bytes, limit);
        assert!(by == "cgroup v1" || by == "cgroup v2", "{by}");
        assert!(phase.asked_bytes > 2 * limit, "the work is larger than the limit");
        if let Some(peak) = peak_bytes {
            assert!(*peak <= limit, "{}: {peak}", phase.name);
            assert!(*peak > limit / 2, "the limit was felt: {}: {peak}", phase.name);
        }
    }
}

/// Without any cgroup the work is done in all of the memory, and the table says so.
#[test]
fn memory_cannot_be_limited() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(unshare) = crate::support::tool("unshare") else { return };
    let script = "for dir in $(awk '$0 ~ / - cgroup2? / {print $5}' /proc/self/mountinfo); do \
                  umount -l \"$dir\"; done; exec \"$@\"";
    let run = ["run", "--fs", "ext4", "--on", "loop:128M", "--memory", "64M", "--runs", "1"];
    let inside = [&["-m", "sh", "-ec", script, "sh", crate::support::PROGRAM], &run[..]].concat();
    let ran = env.finish(env.command_of(&unshare, &[&inside[..], &SMALL].concat()));
    ran.good().says(&["not limited", "no cgroup file system is mounted"]);
    assert_nothing_left(&env);
    for phase in &env.records(1)[0].phases {
        assert!(
            matches!(&phase.memory, MemoryRecord::NotLimited { reason, .. }
                if reason.contains("no cgroup")),
            "{:?}",
            phase.memory
        );
    }
}

/// `--keep` leaves the image, says how to look at it, and the files are in it.
#[test]
fn the_image_is_kept_when_asked() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let workload = "phases = [\"create\"]\nname = \"few\"\nfiles = 7\nsize = \"4 KiB\"\n";
    let text = format!(
        "schema = 1\nname = \"keep\"\n[run]\nblocks = 1\n[factors]\nfs = \"ext4\"\n\
         device = \"loop:128M\"\n[[workload]]\n{workload}"
    );
    let file = env.write("keep.toml", &text);
    env.run(&["run", &file, "--keep"]).good().says(&["kept: ", "mount -o loop"]);
    // A kept image is nobody's leftover: the next start must not take it.
    env.run(&["list"]).good();
    let kept: Vec<_> = std::fs::read_dir(env.images()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    let image = kept[0].path();
    let mount = env.make_dir("look");
    let files = sh(&format!(
        "mount -o loop,ro {} {mount}; ls {mount} | grep -c ^f; umount {mount}",
        image.display()
    ));
    assert_eq!(files, "7");
    std::fs::remove_file(image).unwrap();
    assert_nothing_left(&env);
}

/// With the same seed the same order of trials; the replicate of an A/A comparison is labelled.
#[test]
fn replicates_and_seeds() {
    let Some(env) = TestEnv::privileged(&["tmpfs"]) else { return };
    let run = ["run", "--fs", "tmpfs,tmpfs", "--on", "ram:64M", "--runs", "3", "--seed", "7"];
    let args = [&run[..], &["--workload", "tiny-files", "--scale", "0.01"]].concat();
    env.run(&args).good().says(&["tmpfs#1", "tmpfs#2"]);
    env.run(&args).good();
    let order = |run| -> Vec<_> {
        env.records(run).into_iter().map(|record| record.key.contender).collect()
    };
    assert_eq!(order(1), order(2));
    assert_eq!(order(1).len(), 6);
    assert_nothing_left(&env);
}
