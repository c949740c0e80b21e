//! Guests that are booted for real, with a kernel of the cache: files go in and out, disks are
//! answered as they should be, equal runs are equal, and nothing is left.
//!
//! This program is its own init: a guest kernel starts it with `guest_init`, the name of a test.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

use fsarena_disk_server::{
    ConstantDisk, CrashViewDisk, Description, Disk, DiskError, Op, Request, Status, disk_of_states,
};
use fsarena_guests::guest::{
    CommandRecord, Guest, GuestError, GuestOptions, GuestWork, Program, Record, Task, TaskRun,
    run_as_init,
};
use fsarena_guests::kernel::{Cache, check};
use fsarena_vdisk::{
    Completion, Discarded, Entry, Outcome, Piece, Request as ModelRequest, Store, View, WriteLog,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// In a guest this is all that runs.
#[test]
fn guest_init() {
    let none = GuestWork {
        trial: &|_, _| unreachable!("it is no guest"),
        crash: &|_, _| unreachable!("it is no guest"),
    };
    let outside = run_as_init(none).unwrap_err().to_string();
    assert!(outside.contains("first process of a guest kernel"), "{outside}");
}

/// A kernel of the cache, and a directory for guests.
struct Bench {
    kernel: PathBuf,
    dir: tempfile::TempDir,
}

/// `None`, with the reason printed, where no kernel was built.
fn bench() -> Option<Bench> {
    let cache = Cache::of_user().unwrap();
    let Some(kernel) = cache.preferred() else {
        println!("not run: no guest kernel in {}: fsarena kernel build", cache.dir().display());
        return None;
    };
    let dir = tempfile::Builder::new().prefix("fsarena-guest-test-").tempdir().unwrap();
    // Its own path, so that its processes can be told from those of other tests.
    let own = dir.path().join("linux-of-this-test");
    fs::copy(&kernel.binary, &own).unwrap();
    Some(Bench { kernel: own, dir })
}

impl Bench {
    fn options(&self) -> GuestOptions {
        GuestOptions { limit: Duration::from_secs(90), ..GuestOptions::new(&self.kernel) }
    }

    fn program(&self) -> Program {
        Program::this(&self.dir.path().join("guests")).unwrap()
    }

    fn shell(
        &self,
        options: &GuestOptions,
        command: &str,
        disk: &mut dyn Disk,
    ) -> Result<TaskRun, GuestError> {
        let program = self.program();
        let task = Task::Shell { command: command.to_owned() };
        Guest::new(options, &program).run_task(&task, &mut [disk], &|| false)
    }

    /// Nothing is left: no process of this kernel, no directory of a guest.
    fn assert_nothing_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = processes_of(&self.kernel);
            if left.is_empty() {
                break;
            }
            assert!(Instant::now() < deadline, "left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!self.dir.path().join("guests").exists(), "a directory is left");
    }
}

fn processes_of(program: &Path) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let runs = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program)
    };
    pids.filter(runs).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn shell_record(run: &TaskRun) -> &CommandRecord {
    let Record::Shell(record) = &run.record else { panic!("{:?}", run.record) };
    record
}

#[test]
fn virtual_a_kernel_of_the_cache_is_what_it_says() {
    let Some(bench) = bench() else { return };
    let checked = check(&bench.kernel, &bench.program(), &|| false).unwrap();
    assert!((3_600_000_000_000..3_600_001_000_000).contains(&checked.probe.slept_ns));
    assert!(checked.probe.filesystems.contains(&"ext4".to_owned()));
    let disk = checked.probe.disk.unwrap();
    assert_eq!((disk.bytes, disk.write_ns.len()), (16 << 20, 16));
    assert!(disk.write_ns.iter().all(|ns| (1_000_000..1_100_000).contains(ns)), "{disk:?}");
    println!("boot to power-off: {:?} ns", checked.boot_to_power_off_ns);
    bench.assert_nothing_left();
}

const WORK: &str = "set -e; {mkfs} /dev/vdisk0 >/dev/null 2>&1; mkdir /mnt/t; \
    mount -t {fs} /dev/vdisk0 /mnt/t; \
    for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/mnt/t/f$i bs=4k count=3 conv=fsync 2>/dev/null; \
    date +%s.%N; done; umount /mnt/t";

/// Output and image, to the nanosecond and to the byte; another seed gives others.
#[test]
fn virtual_equal_runs_are_equal() {
    let Some(bench) = bench() else { return };
    let all =
        [("ext4", "mkfs.ext4 -q -F"), ("xfs", "mkfs.xfs -q -f"), ("btrfs", "mkfs.btrfs -q -f")];
    for (fs, mkfs) in all {
        let program = mkfs.split(' ').next().unwrap();
        if fsarena_process::cmd::find(program).is_none() {
            println!("not run: {program} is not installed");
            continue;
        }
        let command = WORK.replace("{fs}", fs).replace("{mkfs}", mkfs);
        let run = |seed| {
            let mut disk = ConstantDisk::new(320 << 20, 8_000_000);
            let options = GuestOptions { seed, ..bench.options() };
            let run = bench.shell(&options, &command, &mut disk).unwrap();
            assert_eq!(shell_record(&run).exit_code, Some(0), "{fs}: {run:?}");
            (run.record_bytes, disk)
        };
        let ((one, first), (two, second), (_, other)) = (run(1), run(1), run(2));
        assert!(one == two, "{fs}: {} {}", text(&one), text(&two));
        assert!(first.contents() == second.contents(), "{fs}: two images");
        assert!(first.contents() != other.contents(), "{fs}: the seed has no effect");
    }
    bench.assert_nothing_left();
}

/// Three contents of a disk of 1 MiB: the first has no byte 1 at 128 KiB, the last no byte 2 at 0.
fn three_contents(log: &mut WriteLog) -> [Vec<Piece>; 3] {
    for (number, (sector, byte)) in [(0, 1), (256, 1), (0, 2)].into_iter().enumerate() {
        let done = Completion { tag: 0, at_ns: number as u64, outcome: Outcome::Done };
        let request = ModelRequest::write(0, sector, 8);
        log.completed(&request, number as u64, &done, &[byte; 4096]).unwrap();
    }
    let piece = |entry: u32| {
        let Entry { sector, sectors, .. } = log.entries()[entry as usize];
        Piece { entry, sector, sectors }
    };
    [vec![piece(0)], vec![piece(0), piece(1), piece(2)], vec![piece(0), piece(1)]]
}

/// Bytes at 0, 128 KiB and 160 KiB; what is written is gone with the next contents, and those do
/// not come while the disk is open.
const IN_TURN: &str = "set -e; next=/sys/block/vdisk0/next_contents; \
    byte() { od -An -tu1 -N1 -j$1 /dev/vdisk0 | tr -d ' \\n'; }; \
    bytes() { echo $(byte 0) $(byte 131072) $(byte 163840); }; \
    bytes; printf 7 | dd of=/dev/vdisk0 bs=1 seek=163840 conv=notrunc,fsync 2>/dev/null; \
    blkdiscard -z -o 0 -l 131072 /dev/vdisk0; bytes; \
    exec 3</dev/vdisk0; echo 1 2>/dev/null >$next && echo taken || echo busy; exec 3<&-; bytes; \
    echo 1 >$next; bytes; printf 8 | dd of=/dev/vdisk0 bs=1 conv=notrunc,fsync 2>/dev/null; bytes; \
    echo 1 >$next; bytes";

#[test]
fn virtual_a_disk_has_contents_one_after_another() {
    let Some(bench) = bench() else { return };
    let mut log = WriteLog::in_memory();
    let [first, later @ ..] = three_contents(&mut log);
    let store = Store::in_memory(1 << 20, Discarded::Zeros);
    let view = |pieces: &Vec<Piece>| View::of_pieces(&store, &log, pieces.iter().copied());
    let later = || Box::new(later.iter().map(|pieces| Ok(view(pieces))));
    let mut mapped = disk_of_states(view(&first), later(), (&store, &log));
    let mut asked = CrashViewDisk::in_turn(view(&first), later(), 1 << 20);
    assert!(mapped.mapped().is_some() && asked.mapped().is_none());
    for disk in [&mut *mapped, &mut asked] {
        let run = bench.shell(&bench.options(), IN_TURN, disk).unwrap();
        let record = shell_record(&run);
        let expected = "1 0 0\n0 0 55\nbusy\n0 0 55\n2 1 0\n56 1 0\n1 1 0\n";
        assert_eq!((record.exit_code, record.stdout.as_str()), (Some(0), expected), "{record:?}");
    }
    // One too many: the model process says that there is none, and the guest ends.
    let mut disk = disk_of_states(view(&first), Box::new(std::iter::empty()), (&store, &log));
    let command = "echo 1 >/sys/block/vdisk0/next_contents";
    let error = bench.shell(&bench.options(), command, &mut *disk).unwrap_err().to_string();
    assert!(error.contains("no further contents"), "{error}");
    bench.assert_nothing_left();
}

/// As the driver of UFS1 has it made on this disk; the other with its smallest blocks.
const UFS1: &str = "makefs -t ffs -B le -T 0 -S 512 -s 335544320 \
    -o version=1,bsize=16384,fsize=2048,density=8192,minfree=8,optimization=time,extent=16384,\
    maxbpf=4096,avgfilesize=16384,avgfpdir=64 {} /proc/tty/ldisc";
const UFS1_SMALL: &str = "makefs -t ffs -B le -T 0 -S 512 -s 335544320 \
    -o version=1,bsize=4096,fsize=512,density=2048,minfree=8,optimization=time,extent=4096,\
    maxbpf=1024,avgfilesize=16384,avgfpdir=64 {} /proc/tty/ldisc";
const UFS1_MOUNT: &str = "-o rw,ufstype=44bsd";

/// Wherever this machine puts the heap of a kernel's process, which the kernel counts as memory.
#[test]
fn virtual_equal_guests_have_equal_memory() {
    let Some(bench) = bench() else { return };
    let run = || {
        let mut disk = ConstantDisk::new(1 << 20, 1);
        let command = "head -2 /proc/meminfo; cat /proc/zoneinfo";
        let run = bench.shell(&bench.options(), command, &mut disk).unwrap();
        shell_record(&run).stdout.clone()
    };
    let first = run();
    assert!(first.starts_with("MemTotal:"), "{first}");
    for _ in 0..4 {
        assert_eq!(run(), first);
    }
    bench.assert_nothing_left();
}

/// Whether a read of the program gives it a new time of last access depends on the times that the
/// host has of it. Context switches tell whether an inode was to be written for that.
#[test]
fn virtual_times_of_files_of_the_host_do_not_matter() {
    let Some(bench) = bench() else { return };
    let program = bench.program();
    let run = || {
        let task = Task::Shell { command: "sleep 12; cat /proc/stat; date +%s.%N".to_owned() };
        let mut disk = ConstantDisk::new(1 << 20, 1);
        let options = bench.options();
        let run = Guest::new(&options, &program).run_task(&task, &mut [&mut disk], &|| false);
        shell_record(&run.unwrap()).stdout.clone()
    };
    let first = run();
    assert!(first.contains("ctxt "), "{first}");
    let files = bench.dir.path().join("guests");
    let in_future = ["-type", "f", "-exec", "touch", "-a", "-d", "2100-01-01", "{}", "+"];
    let found = std::process::Command::new("find").arg(files).args(in_future).status();
    assert!(found.unwrap().success());
    assert_eq!(run(), first);
    drop(program);
    bench.assert_nothing_left();
}

/// Made by the tools of this machine, mounted twice: what was written and synced is there. Not
/// ntfs3: that of Linux 6.1.192 finds no room for the first file (docs/virtual.md).
#[test]
fn virtual_file_systems_that_other_kernels_lack_keep_files() {
    let Some(bench) = bench() else { return };
    let all = [
        ("jfs", "", "jfs_mkfs -q {}"),
        ("reiserfs", "", "mkreiserfs -q -f -f {}"),
        ("vfat", "", "mkfs.fat -I --mbr=n --invariant -F 16 -s 16 {}"),
        ("exfat", "", "mkfs.exfat {}"),
        ("f2fs", "", "mkfs.f2fs -f -q {}"),
        ("nilfs2", "", "mkfs.nilfs2 -f -q {}"),
        ("ufs", UFS1_MOUNT, UFS1),
        ("ufs", UFS1_MOUNT, UFS1_SMALL),
    ];
    let known = check(&bench.kernel, &bench.program(), &|| false).unwrap().probe.filesystems;
    for (fs, options, mkfs) in all {
        let program = mkfs.split(' ').next().unwrap();
        if fsarena_process::cmd::find(program).is_none() {
            println!("not run: {fs}: {program} is not installed");
            continue;
        }
        if !known.iter().any(|name| name == fs) {
            println!("not run: {fs}: this guest kernel has none (fsarena kernel build)");
            continue;
        }
        let command = "set -e; {mkfs} >/dev/null 2>&1; mkdir /mnt/t; \
            mount -i -t {fs} {options} /dev/vdisk0 /mnt/t; mkdir /mnt/t/dir; \
            for i in 1 2 3 4; do seq 1 ${i}000 > /mnt/t/dir/f$i; sync /mnt/t/dir/f$i; done; \
            umount /mnt/t; mount -i -t {fs} {options} /dev/vdisk0 /mnt/t; \
            rm /mnt/t/dir/f3; cat /mnt/t/dir/f4 | md5sum; \
            seq 1 4000 | md5sum; ls /mnt/t/dir | wc -l; umount /mnt/t";
        let mkfs = mkfs.replace("{}", "/dev/vdisk0");
        let command = command.replace("{fs}", fs).replace("{mkfs}", &mkfs);
        let command = command.replace("{options}", options);
        let mut disk = ConstantDisk::new(320 << 20, 100_000);
        let run = bench.shell(&bench.options(), &command, &mut disk).unwrap();
        let record = shell_record(&run);
        assert_eq!(record.exit_code, Some(0), "{fs}: {record:?}");
        let lines: Vec<&str> = record.stdout.lines().collect();
        assert!(lines.len() == 3 && lines[0] == lines[1] && lines[2] == "3", "{fs}: {record:?}");
        println!("{fs}: seen in a guest");
    }
    bench.assert_nothing_left();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A disk that notes what it is asked, has several requests under way, and fails at one sector.
struct Noting {
    disk: ConstantDisk,
    description: Description,
    seen: Vec<(Op, bool)>,
    outstanding: usize,
    deepest: usize,
    bad_sector: u64,
    bad_tags: Vec<u32>,
}

impl Noting {
    fn new() -> Self {
        let disk = ConstantDisk::new(16 << 20, 1_000_000);
        Self {
            description: disk.description(),
            disk,
            seen: Vec::new(),
            outstanding: 0,
            deepest: 0,
            bad_sector: u64::MAX,
            bad_tags: Vec::new(),
        }
    }
}

impl Disk for Noting {
    fn description(&self) -> Description {
        self.description
    }

    fn submit(&mut self, now_ns: u64, request: &Request, data: &[u8]) -> Result<(), DiskError> {
        self.seen.push((request.op, request.fua));
        self.outstanding += 1;
        self.deepest = self.deepest.max(self.outstanding);
        let sectors = request.sector..request.sector + request.bytes / 512;
        if sectors.contains(&self.bad_sector) {
            self.bad_tags.push(request.tag);
        }
        self.disk.submit(now_ns, request, data)
    }

    fn poll(&mut self, now_ns: u64) -> Result<Option<(u32, Status)>, DiskError> {
        let Some((tag, status)) = self.disk.poll(now_ns)? else { return Ok(None) };
        self.outstanding -= 1;
        let is_bad = self.bad_tags.contains(&tag);
        self.bad_tags.retain(|bad| *bad != tag);
        Ok(Some((tag, if is_bad { Status::IoError } else { status })))
    }

    fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError> {
        self.disk.read(request, into)
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.disk.next_event_ns()
    }
}

/// A program in place of the kernel that has its addresses random again.
#[test]
fn virtual_random_addresses_are_noticed_by_a_check() {
    let Some(bench) = bench() else { return };
    if !fs::read_to_string("/proc/sys/kernel/randomize_va_space").is_ok_and(|it| it.trim() == "2") {
        println!("not run: addresses of this machine are not random");
        return;
    }
    let kernel = bench.dir.path().join("random-linux");
    let script = format!("exec setarch \"$(uname -m)\" {} \"$@\"", bench.kernel.display());
    fsarena_testkit::write_script(&kernel, &script);
    // One pair in some thousands is equal by chance.
    let error = check(&kernel, &bench.program(), &|| false).unwrap_err().to_string();
    assert!(error.contains("KiB of free memory: the addresses of its process"), "{error}");
    bench.assert_nothing_left();
}

#[test]
fn virtual_every_kind_of_request_reaches_the_disk() {
    let Some(bench) = bench() else { return };
    let mut disk = Noting::new();
    let command = "set -e; d=/dev/vdisk0; dd if=/dev/zero of=$d bs=4k count=1 oflag=direct,dsync; \
        dd if=/dev/zero of=$d bs=4k count=1 conv=fsync; blkdiscard -o 1M -l 1M $d; \
        blkdiscard -z -o 2M -l 1M $d; \
        for i in 1 2 3 4 5 6 7 8; do dd if=$d of=/dev/null bs=4k skip=$((i*99)) count=9 iflag=direct & done; \
        wait; cat /sys/block/vdisk0/queue/rotational";
    let run = bench.shell(&bench.options(), command, &mut disk).unwrap();
    assert_eq!(shell_record(&run).exit_code, Some(0), "{run:?}");
    assert!(shell_record(&run).stdout.ends_with("0\n"));
    let has = |op, fua| disk.seen.contains(&(op, fua));
    assert!(has(Op::Write, true), "force unit access: {:?}", disk.seen);
    assert!(has(Op::Flush, false) && has(Op::Discard, false) && has(Op::WriteZeroes, false));
    assert!(disk.deepest >= 4, "{} requests at one time", disk.deepest);
    bench.assert_nothing_left();
}

#[test]
fn virtual_an_error_of_the_disk_is_one_in_the_guest() {
    let Some(bench) = bench() else { return };
    let mut disk = Noting { bad_sector: 100, ..Noting::new() };
    let command = "dd if=/dev/vdisk0 of=/dev/null bs=4k skip=100 count=1 iflag=direct && \
        dd if=/dev/vdisk0 of=/dev/null bs=4k skip=12 count=1 iflag=direct";
    let run = bench.shell(&bench.options(), command, &mut disk).unwrap();
    let record = shell_record(&run);
    assert_eq!(record.exit_code, Some(1), "{record:?}");
    assert!(record.stderr.contains("Input/output error"), "{}", record.stderr);
    bench.assert_nothing_left();
}

#[test]
fn virtual_a_guest_that_spins_is_killed_with_its_processes() {
    let Some(bench) = bench() else { return };
    let options = GuestOptions { limit: Duration::from_secs(4), ..bench.options() };
    let mut disk = ConstantDisk::new(1 << 20, 1);
    let error = bench.shell(&options, "sleep 9 & while :; do :; done", &mut disk).unwrap_err();
    assert!(matches!(error, GuestError::TimedOut { .. }), "{error}");
    bench.assert_nothing_left();
}

#[test]
fn virtual_a_disk_that_refuses_is_named() {
    let Some(bench) = bench() else { return };
    let mut disk = Noting::new();
    // Says that it is larger than it is.
    disk.description.capacity_sectors = 1 << 20;
    let command = "dd if=/dev/vdisk0 of=/dev/null bs=4k skip=100000 count=1 iflag=direct";
    let error = bench.shell(&bench.options(), command, &mut disk).unwrap_err().to_string();
    assert!(error.contains("the guest's disk 0: the disk refused a request"), "{error}");
    bench.assert_nothing_left();
}
