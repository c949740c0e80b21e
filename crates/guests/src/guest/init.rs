//! The first process in a guest: mounts what a program expects, does the task, powers off.
//!
//! Runs inside the guest alone. It must not end by itself, which would be a panic of the kernel.

use super::program::INIT;
use super::task::{CommandRecord, DiskProbe, MemoryProbe, ProbeRecord, Record, Task};
use fsarena_process::cmd::{End, SearchPath};
use fsarena_process::guarded::Guarded;
use fsarena_process::program::TrustedProgram;
use rustix::fs::{Advice, CWD, Mode, OFlags, fadvise, openat};
use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};
use rustix::process::{chdir, chroot, getpid};
use rustix::system::{RebootCommand, reboot, uname};
use rustix::thread::{ClockId as SleepClock, NanosleepRelativeResult, clock_nanosleep_relative};
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Files in the directory of a guest.
pub const TASK: &str = "task.json";
pub const RECORD: &str = "record.json";
/// What was seen in states, a line each, on the host as soon as it was seen.
pub const OBSERVATIONS: &str = "observations.jsonl";
/// Directory in it at which the tree of the host is mounted.
pub const HOST: &str = "host";
/// Directories of the tree of the host over which a guest mounts its own file systems.
const KERNELS_OWN: [&str; 3] = ["proc", "sys", "dev"];
const IN_MEMORY: [&str; 3] = ["run", "tmp", "mnt"];
/// Where the whole tree of the host is, those directories too.
const HOST_TREE: &str = "/mnt/host";
/// Where its directory is, once the tree of the host is its root.
const OWN: &str = "/mnt/own";
/// The kernel sets its timers by ticks until the second tick, and boots in less virtual time than
/// one.
const TIMERS_READY_NS: u64 = 40_000_000;
const BLOCK_BYTES: usize = 4096;
const WRITES: usize = 16;

/// What a guest does that is not of this crate; each gives its record.
#[derive(Clone, Copy)]
pub struct GuestWork<'f> {
    /// A trial: its spec, and where this program is in a guest.
    pub trial: &'f dyn Fn(&str, &Path) -> Result<String, String>,
    /// Crash work, or a check of what it left, which hands on what it sees in each state.
    pub crash: &'f dyn Fn(&str, &mut TakeLine<'_>) -> Result<String, String>,
}

/// Takes a line.
pub type TakeLine<'t> = dyn FnMut(&str) -> io::Result<()> + 't;

/// Does what a guest was booted for and powers it off. To be called as its first process.
///
/// # Errors When this is no guest, or it cannot be made ready; its kernel panics then, and the
/// reason is on its console.
pub fn run_as_init(work: GuestWork<'_>) -> io::Result<()> {
    if getpid().as_raw_nonzero().get() != 1 || !Path::new("/").join(TASK).is_file() {
        return Err(io::Error::other("only to be started as the first process of a guest kernel"));
    }
    let has_time_travel = std::env::var_os("time-travel").is_none();
    mount_all()?;
    sleep(TIMERS_READY_NS);
    let own = Path::new(OWN);
    let text = fs::read_to_string(own.join(TASK))?;
    let record = match serde_json::from_str(&text) {
        Ok(Task::Probe { sleep_ns }) => Record::Probe(probe(sleep_ns, has_time_travel)?),
        Ok(Task::Shell { command }) => run_command(&command),
        Ok(Task::Trial { spec, delay_ns }) => {
            sleep(delay_ns);
            (work.trial)(&spec, &own.join(INIT)).map_or_else(Record::Failed, Record::Trial)
        }
        Ok(Task::Crash { task }) => {
            let done = (work.crash)(&task, &mut lines_into(&own.join(OBSERVATIONS)));
            done.map_or_else(Record::Failed, Record::Crash)
        }
        Err(error) => Record::Failed(format!("the task: {error}")),
    };
    let path = own.join(RECORD);
    fs::write(&path, serde_json::to_vec(&record)?)?;
    File::open(&path)?.sync_all()?;
    reboot(RebootCommand::PowerOff)?;
    Ok(())
}

/// Puts lines into a file of the host, which has them after each write: what a guest has seen is
/// there whatever becomes of it.
fn lines_into(path: &Path) -> impl FnMut(&str) -> io::Result<()> {
    let mut file = None;
    move |line| {
        let file = match &mut file {
            Some(file) => file,
            None => file.insert(File::create(path)?),
        };
        file.write_all(format!("{line}\n").as_bytes())
    }
}

/// The tree of the host becomes the root, read-only, with the file systems of this kernel in it.
fn mount_all() -> io::Result<()> {
    // The times of files are those of the host: whether a read makes its file a new time of last
    // access depends on them, and one more inode to be written is one more event in the guest.
    mount_remount("/", MountFlags::NOATIME, c"")?;
    let host = Path::new("/").join(HOST);
    let none = MountFlags::empty();
    let data = |text: &str| CString::new(text).expect("no NUL in it");
    let at = |name: &str| host.join(name);
    let on_host = |source: &str, kind: &str, name: &str, options: &str| {
        let done = mount(source, at(name), kind, none, data(options).as_c_str());
        done.map_err(|error| io::Error::other(format!("{kind} on /{name}: {error}")))
    };
    mount("none", &host, "hostfs", MountFlags::RDONLY, data("/").as_c_str())?;
    on_host("proc", "proc", "proc", "")?;
    on_host("sysfs", "sysfs", "sys", "")?;
    on_host("devtmpfs", "devtmpfs", "dev", "")?;
    for name in IN_MEMORY {
        on_host("tmpfs", "tmpfs", name, "mode=1777")?;
    }
    fs::create_dir(at("mnt/own"))?;
    mount_bind("/", at("mnt/own"))?;
    fs::create_dir(at("mnt/host"))?;
    // Without what is mounted over it.
    mount_bind(&host, at("mnt/host"))?;
    chroot(&host)?;
    chdir(OWN)?;
    Ok(())
}

/// Where a guest finds what is at this path of the host: an absolute one without links.
pub fn in_guest(path: &Path) -> PathBuf {
    let inside = path.strip_prefix("/").unwrap_or(path);
    let is_hidden = KERNELS_OWN.iter().chain(&IN_MEMORY).any(|dir| inside.starts_with(dir));
    if is_hidden { Path::new(HOST_TREE).join(inside) } else { path.to_owned() }
}

fn now_ns() -> u64 {
    ns_of(clock_gettime(ClockId::Monotonic))
}

fn ns_of(time: Timespec) -> u64 {
    let second = time.tv_sec.cast_unsigned().saturating_mul(1_000_000_000);
    second + time.tv_nsec.cast_unsigned()
}

fn sleep(ns: u64) {
    let mut left = Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    };
    while let NanosleepRelativeResult::Interrupted(rest) =
        clock_nanosleep_relative(SleepClock::Monotonic, &left)
    {
        left = rest;
    }
}

fn probe(sleep_ns: u64, has_time_travel: bool) -> io::Result<ProbeRecord> {
    let memory = memory_in(&fs::read_to_string("/proc/meminfo")?)?;
    let tick_ns = ns_of(clock_getres(ClockId::MonotonicCoarse)).max(1);
    let names = fs::read_to_string("/proc/filesystems")?;
    let on_devices = names.lines().filter(|line| !line.starts_with("nodev"));
    let mut random = [0; 16];
    let source = File::open("/dev/urandom")?;
    io::Read::read_exact(&mut &source, &mut random)?;
    let disk = probe_disk().map_err(|error| error.to_string());
    // Where there is no time travel, this is where the host's limit ends it.
    let slept_ns = if has_time_travel {
        let from = now_ns();
        sleep(sleep_ns);
        now_ns() - from
    } else {
        0
    };
    Ok(ProbeRecord {
        release: uname().release().to_string_lossy().into_owned(),
        has_time_travel,
        slept_ns,
        hz: u32::try_from((1_000_000_000 + tick_ns / 2) / tick_ns).unwrap_or(0),
        filesystems: on_devices.map(|line| line.trim().to_owned()).collect(),
        random: random.iter().map(|byte| format!("{byte:02x}")).collect(),
        memory,
        disk,
    })
}

/// Reads `/proc/meminfo`.
fn memory_in(text: &str) -> io::Result<MemoryProbe> {
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
        number.ok_or_else(|| io::Error::other(format!("/proc/meminfo has no {name} in kB")))
    };
    Ok(MemoryProbe { total_kib: kib("MemTotal")?, free_kib: kib("MemFree")? })
}

/// Writes blocks until they are on the medium, and reads them again from the disk.
fn probe_disk() -> io::Result<DiskProbe> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let disk = File::from(openat(CWD, "/dev/vdisk0", flags, Mode::empty())?);
    let bytes = io::Seek::seek(&mut &disk, io::SeekFrom::End(0))?;
    let block = |index: usize| vec![u8::try_from(index + 1).unwrap_or(0); BLOCK_BYTES];
    // Far apart, so that each is read by itself.
    let place = |index: usize| (index * 64 * BLOCK_BYTES) as u64;
    let mut write_ns = Vec::new();
    for index in 0..WRITES {
        let from = now_ns();
        disk.write_all_at(&block(index), place(index))?;
        disk.sync_data()?;
        write_ns.push(now_ns() - from);
    }
    fadvise(&disk, 0, None, Advice::DontNeed)?;
    let from = now_ns();
    for index in 0..WRITES {
        let mut got = vec![0; BLOCK_BYTES];
        disk.read_exact_at(&mut got, place(index))?;
        if got != block(index) {
            return Err(io::Error::other(format!(
                "block {index} of the disk is not what was written"
            )));
        }
    }
    Ok(DiskProbe { bytes, write_ns, read_ns: now_ns() - from })
}

fn run_command(command: &str) -> Record {
    let from = now_ns();
    let env = [
        ("PATH", SearchPath::from_env().joined()),
        ("HOME", "/tmp".into()),
        ("LC_ALL", "C".into()),
    ];
    let call = Guarded {
        tool: &TrustedProgram::confirmed(command),
        args: &[],
        env: &env,
        dir: Path::new(OWN),
        log: None,
        fixed_addresses: false,
    };
    // The time limit is the host's: virtual time may run fast.
    let ran = match call.run(None, None) {
        Ok(ran) => ran,
        Err(error) => return Record::Failed(format!("{command}: {error}")),
    };
    let exit_code = match ran.end {
        End::Ended(status) => status.code(),
        End::TimedOut | End::Stopped | End::TooMuchOutput => None,
    };
    let elapsed_ns = now_ns() - from;
    Record::Shell(CommandRecord { exit_code, stdout: ran.stdout, stderr: ran.stderr, elapsed_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_a_guest_it_does_nothing() {
        let none = GuestWork {
            trial: &|_, _| unreachable!("it is no guest"),
            crash: &|_, _| unreachable!("it is no guest"),
        };
        let error = run_as_init(none).unwrap_err().to_string();
        assert!(error.contains("first process of a guest kernel"), "{error}");
    }

    #[test]
    fn what_a_guest_hides_is_found_beside_it() {
        let at = |path: &str| in_guest(Path::new(path)).display().to_string();
        assert_eq!(at("/var/tmp/images"), "/var/tmp/images");
        assert_eq!(at("/tmpfiles"), "/tmpfiles");
        assert_eq!(at("/tmp"), "/mnt/host/tmp");
        assert_eq!(at("/dev/shm/stage/0/data.tar"), "/mnt/host/dev/shm/stage/0/data.tar");
        assert_eq!(at("/mnt/data"), "/mnt/host/mnt/data");
    }

    #[test]
    fn memory_is_read_in_kib() {
        let text = "MemTotal:         247360 kB\nMemFree:          229720 kB\nBuffers: 0 kB\n";
        let memory = memory_in(text).unwrap();
        assert_eq!(memory, MemoryProbe { total_kib: 247_360, free_kib: 229_720 });
        let error = memory_in("MemTotal: 247360 kB\n").unwrap_err().to_string();
        assert_eq!(error, "/proc/meminfo has no MemFree in kB");
    }

    #[test]
    fn a_sleep_takes_as_long_as_it_was_told() {
        let from = now_ns();
        sleep(2_000_000);
        assert!(now_ns() - from >= 2_000_000);
    }
}
