//! Trials in guest kernels: in virtual time, the same every time, without root, and nothing left.

use crate::support::{Live, Ran, TestEnv, digest_in, is_root, kill_dash_nine, phase, sh, tool};
use fsarena_guests::kernel::Cache;
use fsarena_model::record::{CacheState, Outcome, TimeBase, TrialPlace, TrialRecord, Window};
use rustix::process::{Pid, Signal, kill_process};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const DISK: &str = "virtual:1G:model=hdd-2007";

/// The guest kernels of this machine; `None`, with the reason printed, where there is none.
fn kernels() -> Option<Cache> {
    let cache = Cache::of_user().unwrap();
    if cache.list().is_empty() {
        println!("not run: no guest kernel in {}: fsarena kernel build", cache.dir().display());
        return None;
    }
    Some(cache)
}

/// An environment of its own, with the kernels of this machine.
pub(crate) struct Guests {
    env: TestEnv,
    kernels: Cache,
}

impl Guests {
    pub(crate) fn new() -> Option<Self> {
        Some(Self { kernels: kernels()?, env: TestEnv::new() })
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.env.command(args);
        command.env("FSARENA_KERNEL_DIR", self.kernels.dir());
        self.env.finish(command)
    }

    /// A path in the directory of this environment.
    pub(crate) fn path(&self, name: &str) -> String {
        self.env.dir().join(name).display().to_string()
    }

    /// A file in its directory; gives the path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        self.env.write(name, text)
    }

    pub(crate) fn env(&self) -> &TestEnv {
        &self.env
    }

    pub(crate) fn start(&self, args: &[&str]) -> Live<'_> {
        let mut command = self.env.command(args);
        command.env("FSARENA_KERNEL_DIR", self.kernels.dir());
        self.env.start_command(command)
    }

    pub(crate) fn assert_nothing_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.env.fixture.guests().is_empty() {
            assert!(Instant::now() < deadline, "left behind: {:?}", self.env.fixture.guests());
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = fs::read_dir(self.env.state()).into_iter().flatten().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(left.iter().all(|name| name.to_string_lossy().ends_with(".lock")), "{left:?}");
    }
}

fn experiment(env: &TestEnv, fs: &str, device: &str, more: &str) -> String {
    let text = format!(
        "schema = 1\nname = \"guests\"\n[run]\nblocks = 1\nseed = 7\n[factors]\nfs = [{fs}]\n\
         device = \"{device}\"\n{more}\n[[workload]]\nname = \"w\"\nfiles = 600\nsize = \"16 KiB\"\n\
         phases = [\"create\", \"read\", \"stat\", \"delete\"]\n"
    );
    env.write("guests.toml", &text)
}

/// What of a record is the guest's, and not of who measured it when.
fn of_guest(record: &TrialRecord) -> TrialRecord {
    let mut record = record.clone();
    record.key.run = String::new();
    (record.started_unix_ns, record.elapsed_ns) = (0, 0);
    record.ranks.clear();
    record
}

#[track_caller]
fn done(records: &[TrialRecord]) {
    for record in records {
        assert_eq!(record.outcome, Outcome::Done, "{:?}", record.key);
        assert_eq!((record.time_base, record.place), (TimeBase::Virtual, TrialPlace::Virtual));
    }
}

/// Cold phases are proved, the device decides how long they take, and two RUNs of one seed differ
/// in nothing that was measured.
#[test]
fn virtual_runs_of_one_seed_are_equal() {
    let Some(guests) = Guests::new() else { return };
    let file = experiment(&guests.env, "\"ext4\", \"btrfs\"", DISK, "");
    guests.run(&["run", &file]).good().says(&["guests of Linux", "modelled hdd-2007"]);
    guests.run(&["run", &file]).good();
    guests.assert_nothing_left();
    let (first, second) = (guests.env.records(1), guests.env.records(2));
    assert_eq!((first.len(), second.len()), (2, 2));
    done(&first);
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(of_guest(one), of_guest(other));
        assert!(one.device["done_twice_image_sha256"].len() == 64);
        assert_eq!(one.device["rotational"], "1");
        let read = phase(one, "read");
        assert_eq!(read.cache.state, CacheState::Cold, "{}", read.cache.why);
        assert!(read.clocks.returned_ns > 1_000_000, "a disk turns: {:?}", read.clocks);
    }
}

/// Another seed moves layout and disk; levels of memory and of the queue are those of the guest.
#[test]
fn virtual_levels_are_those_of_the_guest() {
    let Some(guests) = Guests::new() else { return };
    let more = "memory = \"192M\"\nscheduler = [\"none\", \"mq-deadline\"]\n\
                dirty_expire = \"1 s\"";
    let file = experiment(&guests.env, "\"ext4\"", DISK, more);
    guests.run(&["run", &file]).good();
    guests.run(&["run", &file, "--seed", "8"]).good();
    let (first, second) = (guests.env.records(1), guests.env.records(2));
    done(&first);
    let mut schedulers: Vec<&str> =
        first.iter().map(|one| one.device["scheduler"].as_str()).collect();
    schedulers.sort_unstable();
    assert_eq!(schedulers, ["mq-deadline", "none"]);
    for record in &first {
        assert_eq!(record.device["sysctl vm.dirty_expire_centisecs"], "100");
        let free_bytes = phase(record, "create").windows[&Window::Durable]["mem.free_bytes"];
        assert!(free_bytes < 192 << 20, "{free_bytes}");
    }
    // Times may be the same: what was read before a phase has put the disk in step.
    let image = |records: &[TrialRecord]| records[0].device["done_twice_image_sha256"].clone();
    assert_ne!(image(&first), image(&second), "the seed has no effect");
}

/// A partition that begins at sector 63 misses the pages of flash: each small write touches two of
/// them. One from sector 2048 is as good as the whole device; a disk without pages is refused.
#[test]
fn virtual_a_partition_that_misses_the_pages_of_flash_is_slower() {
    let Some(guests) = Guests::new() else { return };
    let device = "virtual:1G:model=ssd-slow-2009";
    let more = "partition_start = [\"none\", 2048, 63]";
    let file = experiment(&guests.env, "\"ext4\"", device, more);
    guests.run(&["run", &file]).good();
    guests.assert_nothing_left();
    let records = guests.env.records(1);
    done(&records);
    let durable_ns = |start: Option<&str>| {
        let of = |record: &&TrialRecord| {
            record.device.get("partition_start").map(String::as_str) == start
        };
        phase(records.iter().find(of).unwrap(), "create").clocks.durable_ns.unwrap()
    };
    let [whole, aligned, missed] = [None, Some("2048"), Some("63")].map(durable_ns);
    assert!(missed > aligned * 21 / 20, "{missed} ns from sector 63, {aligned} ns from 2048");
    assert!(aligned < whole * 11 / 10, "{aligned} ns from sector 2048, {whole} ns without");
    let of_disk = ["run", "--fs", "ext4", "--on", DISK, "--partition-start", "63"];
    guests.run(&of_disk).refused(2, &["has no pages that a partition could miss"]);
    let of_image = ["run", "--fs", "ext4", "--on", "loop:1G", "--partition-start", "63"];
    guests.run(&of_image).refused(2, &["makes no partition on loop:1G"]);
}

/// By the kernel's own driver of it, which knows fewer words than that of ext4.
#[test]
fn virtual_ext2_is_mounted() {
    let Some(guests) = Guests::new() else { return };
    let file = experiment(&guests.env, "\"ext2\"", "virtual:1G:model=const", "");
    guests.run(&["run", &file]).good();
    let records = guests.env.records(1);
    assert_eq!(records.len(), 1);
    done(&records);
    assert_eq!(records[0].filesystem.name, "ext2");
    guests.assert_nothing_left();
}

/// Data that lie where a guest has file systems of its own (in memory, in a directory of temporary
/// files) are read where the host has them.
#[test]
fn virtual_data_beside_the_disk_are_seen_wherever_they_lie() {
    let Some(guests) = Guests::new() else { return };
    let text = |workload: &str| {
        format!(
            "schema = 1\nname = \"data\"\n[run]\nblocks = 1\nseed = 7\n[factors]\nfs = \"ext4\"\n\
             device = \"virtual:256M:model=const\"\n[[workload]]\nname = \"w\"\n{workload}\
             dataset = \"small-1000\"\nphases = [\"copy\", \"delete\"]\n"
        )
    };
    let file = guests.env.write("memory.toml", &text("source = \"memory\"\n"));
    guests.run(&["run", &file]).good();
    // Images, and so what is beside the disk, lie in a directory of the test, below `/tmp`.
    let images = tempfile::tempdir_in("/tmp").unwrap();
    let images = images.path().display().to_string();
    let file = guests.env.write("other.toml", &text("source = \"other\"\n"));
    guests.run(&["run", &file, "--image-dir", &images]).good();
    // The user's own, read for the first time since it was written.
    let own = guests.env.path("own");
    fs::create_dir_all(own.join("sub")).unwrap();
    fs::write(own.join("sub/file"), [7; 5000]).unwrap();
    let from = format!("dataset = {{ from = \"{}\" }}\n", own.display());
    let text = text("source = \"other\"\n").replace("dataset = \"small-1000\"\n", &from);
    let file = guests.env.write("own.toml", &text);
    guests.run(&["run", &file]).good();
    for run in [1, 2, 3] {
        let records = guests.env.records(run);
        assert_eq!(records.len(), 1);
        done(&records);
        assert!(phase(&records[0], "copy").ops > 0);
    }
    guests.assert_nothing_left();
}

/// An ordinary user has all of it.
#[test]
fn virtual_trials_need_no_root() {
    let Some(guests) = Guests::new() else { return };
    if !is_root() {
        println!("not run: every test of guests is without root here");
        return;
    }
    let Some(setpriv) = tool("setpriv") else { return };
    let file = experiment(&guests.env, "\"ext4\"", "virtual:256M:model=const", "");
    // A copy that this user may execute and read, wherever the tests are built.
    let (program, kernels) = (guests.env.path("fsarena"), guests.env.path("kernels"));
    fs::copy(env!("CARGO_BIN_EXE_fsarena"), &program).unwrap();
    sh(&format!("cp -r {} {}", guests.kernels.dir().display(), kernels.display()));
    sh(&format!("chown -R 65534:65534 {}", guests.env.dir().display()));
    let program = program.display().to_string();
    let args = ["--reuid=65534", "--regid=65534", "--clear-groups", &program, "run", &file];
    let mut command = guests.env.command_of(&setpriv, &args);
    command.env("FSARENA_KERNEL_DIR", &kernels);
    guests.env.finish(command).good();
    // Root does nothing by what is in the state directory of another user, or below theirs.
    for dir in [guests.env.dir().to_owned(), guests.env.state()] {
        std::os::unix::fs::chown(dir, Some(0), Some(0)).unwrap();
    }
    let records = guests.env.records(1);
    assert_eq!(records.len(), 1);
    done(&records);
    guests.assert_nothing_left();
}

/// A RUN whose guest is at work.
fn caught(guests: &Guests, kill: impl FnOnce(&Live<'_>, &[Pid])) -> Ran {
    let file = guests.env.long_experiment("ext4", DISK, "");
    let mut live = guests.start(&["run", &file]);
    // Before, a guest may be asked what it is.
    live.wait_for("[1/2]");
    let found = live.poll("guest", |_| {
        let found = guests.env.fixture.guests();
        (!found.is_empty()).then_some(found)
    });
    kill(&live, &found);
    live.end()
}

#[test]
fn virtual_no_leftovers_after_kill() {
    let Some(guests) = Guests::new() else { return };
    let ran = caught(&guests, |_, found| found.iter().for_each(|pid| kill_dash_nine(*pid)));
    ran.good().says(&["was ended by the machine, attempt 1: it is done again"]);
    guests.assert_nothing_left();
    let ran = caught(&guests, |live, _| {
        for pid in live.virtual_executors() {
            kill_process(pid, Signal::KILL).unwrap();
        }
    });
    ran.good().says(&["was ended by the machine, attempt 1: it is done again"]);
    guests.assert_nothing_left();
    let ran = caught(&guests, |live, _| live.signal(Signal::KILL));
    assert_eq!(ran.code, None);
    guests.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    guests.assert_nothing_left();
    caught(&guests, |live, _| live.signal(Signal::INT)).code(130);
    guests.assert_nothing_left();
}

#[test]
fn virtual_what_has_no_place_in_a_guest_is_said() {
    let Some(guests) = Guests::new() else { return };
    let refused = |args: &[&str], words: &[&str]| {
        guests.run(&[&["run"], args].concat()).code(2).says(words);
    };
    let named = "virtual:1G:model=const:kernel=5.4";
    refused(&["--fs", "ext4", "--on", named], &["names a guest kernel that is not there", "6."]);
    refused(&["--fs", "ext4", "--on", "virtual:1G:model=hdd-2008"], &["did you mean hdd-20"]);
    refused(&["--fs", "ext4", "--on", "virtual:1G"], &["names no model", "virtual:8G:model="]);
    let both = "loop:1G,virtual:1G:model=const";
    refused(&["--fs", "ext4", "--on", both], &["in virtual and in real time"]);
    let little = ["run", "--fs", "ext4", "--on", "virtual:1G:model=const", "--memory", "32M"];
    guests.run(&little).code(1).says(&["a guest needs 64 MiB of memory"]);
    let tmpfs = guests.run(&["run", "--fs", "tmpfs", "--on", "virtual:1G:model=const"]);
    tmpfs.code(1).says(&["nothing else takes time in a guest"]);
    guests.assert_nothing_left();
}

/// Kernels of the user's own, by their paths: levels beside each other, of one release.
#[test]
fn virtual_kernels_are_named_by_their_files() {
    let Some(guests) = Guests::new() else { return };
    let built = guests.kernels.preferred().unwrap();
    let (own, other) = (guests.env.path("own/linux"), guests.env.path("other-linux"));
    fs::create_dir(guests.env.path("own")).unwrap();
    let contents = fs::read(&built.binary).unwrap();
    sh(&format!("cp {} {}", built.binary.display(), own.display()));
    sh(&format!("cp {0} {1}; echo >>{1}", own.display(), other.display()));
    let disk = "virtual:256M:model=hdd-2007";
    let devices = format!("{disk}\", \"{disk}:kernel={}", other.display());
    let file = experiment(&guests.env, "\"ext4\"", &format!("[\"{devices}\"]"), "");
    // Written as a list, not as one text.
    let text = fs::read_to_string(&file).unwrap().replace("\"[", "[").replace("]\"", "]");
    fs::write(&file, text).unwrap();
    let own = own.display().to_string();
    let release = &built.identity.release;
    let said = format!("{}: guest kernel {release}-", other.display());
    let label = format!("w on ext4 on hdd-2007 Linux {release}-");
    // One of them is named in the file, and is shown before it is booted.
    guests.run(&["run", &file, "--kernel", &own, "--yes"]).good().says(&[&said, &label]);
    let records = guests.env.records(1);
    done(&records);
    let hash = |contents: &[u8]| fsarena_model::seed::hex(&Sha256::digest(contents));
    let mut expected = [hash(&contents), hash(&[&contents[..], b"\n"].concat())];
    let mut found: Vec<&str> =
        records.iter().map(|one| one.device["guest_kernel_sha256"].as_str()).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    for record in &records {
        let digits = &record.device["guest_kernel_sha256"][..12];
        let level = format!("{}-{digits}", built.identity.release);
        assert_eq!(record.device["guest_kernel"], level);
        assert_eq!(record.device["guest_hz"], built.identity.hz.to_string());
    }
    guests.assert_nothing_left();
}

#[test]
fn virtual_files_that_are_no_kernels_are_refused_before_the_run() {
    let Some(guests) = Guests::new() else { return };
    let refused = |kernel: &str, words: &str| {
        let on = format!("virtual:256M:model=const:kernel={kernel}");
        let args = ["run", "--fs", "ext4", "--on", &on];
        guests.run(&args).code(2).says(&[words]);
        let args = ["run", "--fs", "ext4", "--on", "virtual:256M:model=const", "--kernel", kernel];
        guests.run(&args).code(2).says(&[words]);
    };
    refused("/bin/true", "the guest kernel /bin/true: not a kernel built for User-Mode Linux");
    refused("/nonexistent/linux", "/nonexistent/linux: cannot be started: no executable file");
    refused("linux", "a file is written with its path");
    let built = guests.kernels.preferred().unwrap().binary.display().to_string();
    let args = ["run", "--fs", "ext4", "--on", "loop:256M", "--kernel", &built];
    guests.run(&args).code(2).says(&["no device is in a guest kernel"]);
    let twice = format!("virtual:256M:model=const,virtual:256M:model=const:kernel={built}");
    let args = ["run", "--fs", "ext4", "--on", &twice];
    guests.run(&args).code(2).says(&["both kernels are the same"]);
    assert!(!Path::new(&guests.env.db()).exists(), "nothing was begun");
    guests.assert_nothing_left();
}

/// What a RUN boots is not deleted meanwhile, also between two guests.
#[test]
fn virtual_kernels_of_a_run_are_not_deleted() {
    let Some(guests) = Guests::new() else { return };
    let built = guests.kernels.preferred().unwrap();
    let (kernels, own) = (guests.env.path("kernels"), built.binary.parent().unwrap());
    fs::create_dir(&kernels).unwrap();
    sh(&format!("cp -r {} {}", own.display(), kernels.display()));
    let key = built.identity.key.as_str();
    let file = guests.env.long_experiment("ext4", DISK, "");
    let of_own = |args: &[&str]| {
        let mut command = guests.env.command(args);
        command.env("FSARENA_KERNEL_DIR", &kernels);
        command
    };
    let mut live = guests.env.start_command(of_own(&["run", &file]));
    live.poll("trial", |live| live.stderr().contains("[1/2]").then_some(()));
    let refused = guests.env.finish(of_own(&["kernel", "delete", key, "--yes"]));
    refused.code(1).says(&["a RUN or a guest has it"]);
    live.signal(Signal::INT);
    live.end().code(130);
    guests.env.finish(of_own(&["kernel", "delete", key, "--yes"])).good();
    assert!(!kernels.join(key).exists());
    guests.assert_nothing_left();
}

/// A kernel that was built again is another one: neither the rest of a RUN is done with it, nor
/// trials that are still to come.
#[test]
fn virtual_a_kernel_that_was_replaced_is_noticed() {
    let Some(guests) = Guests::new() else { return };
    let built = guests.kernels.preferred().unwrap().binary;
    let own = guests.env.path("linux");
    fs::copy(built, &own).unwrap();
    let replace = || {
        let new = guests.env.path("new");
        sh(&format!("cp {0} {1}; echo >>{1}; mv {1} {0}", own.display(), new.display()));
    };
    let file = guests.env.long_experiment("ext4", DISK, "");
    let kernel = own.display().to_string();
    let args = ["run", &file, "--kernel", &kernel];
    let mut live = guests.start(&args);
    live.poll("guest", |_| guests.env.fixture.guests().first().copied());
    live.poll("trial", |live| live.stderr().contains("[1/2]").then_some(()));
    live.signal(Signal::INT);
    live.end().code(130);
    replace();
    let digest = digest_in(&guests.run(&["run", "--resume"]).code(2));
    let refused = guests.run(&["run", "--resume", "--allow-commands", &digest]).code(2);
    refused.says(&["the guest kernel", "its SHA-256 began with"]);
    let mut live = guests.start(&args);
    live.poll("trial", |live| live.stderr().contains("[1/2]").then_some(()));
    replace();
    live.end().code(1).says(&["is not the file any more that the RUN began with"]);
    guests.assert_nothing_left();
}

/// Nobody has built a kernel: it is said what to do, and what needs none goes on.
#[test]
fn without_a_guest_kernel_it_is_said_how_to_build_one() {
    let env = TestEnv::new();
    let mut command = env.command(&["run", "--fs", "ext4", "--on", "virtual:1G:model=const"]);
    command.env("FSARENA_KERNEL_DIR", env.path("none"));
    env.finish(command).code(1).says(&["there is no guest kernel", "fsarena kernel build"]);
    assert!(!Path::new(&env.db()).exists(), "nothing was begun");
}
