//! Boots a guest and waits for its end: files in, files out, disks answered meanwhile.

use super::init::{HOST, OBSERVATIONS, RECORD, TASK};
use super::memory;
use super::program::{INIT, Program, ProgramError};
use super::task::{Record, Task};
use crate::owned_dir::{GUEST_PREFIX, OwnedDir};
use fsarena_bounded::Bounded;
use fsarena_disk_server::{Disk, ServeError, serve};
use fsarena_model::contender::GUEST_MEMORY_BYTES;
use fsarena_process::cmd::{Captured, End, SearchPath, TOO_MUCH_OUTPUT, ended_text};
use fsarena_process::guarded::Guarded;
use fsarena_process::held::open_regular;
use fsarena_process::open_file::path_of_open;
use fsarena_process::private::PrivateListener;
use fsarena_process::program::TrustedProgram;
use fsarena_process::tunables::TUNABLES;
use rustix::process::Signal;
use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// The clock of every guest begins here: 2023-11-14 22:13:20 UTC.
const START_NS: u64 = 1_700_000_000_000_000_000;
const MIB: u64 = 1 << 20;
/// Lines of the console in an error.
const SHOWN_LINES: usize = 4;

/// How a guest is booted.
#[derive(Clone, Debug)]
pub struct GuestOptions {
    pub kernel: PathBuf,
    pub memory_bytes: u64,
    /// Of all random numbers in it.
    pub seed: u64,
    /// Virtual time that each system call takes.
    pub syscall_ns: u64,
    /// Wall-clock time after which it is killed; of looks at states for each of them.
    pub limit: Duration,
    /// Whether its kernel clears memory before it is used. File systems write memory that they
    /// never set, such as the log tree of btrfs: it would be what was there before, such as pages
    /// of the init program. Where nothing is kept of what is written, it is time for nothing.
    pub clears_memory: bool,
}

impl GuestOptions {
    /// 256 MiB, which is cleared, seed 1, system calls for nothing, ten minutes.
    #[must_use]
    pub fn new(kernel: &Path) -> Self {
        Self {
            kernel: kernel.to_owned(),
            memory_bytes: GUEST_MEMORY_BYTES,
            seed: 1,
            syscall_ns: 0,
            limit: Duration::from_secs(600),
            clears_memory: true,
        }
    }
}

/// Why a guest gave no record.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Its kernel may not be started.
    #[error(transparent)]
    Kernel(#[from] fsarena_process::program::ProgramError),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("a guest needs 32 MiB of memory at least, in whole MiB; {0} bytes were asked for")]
    Memory(u64),
    #[error("the guest did not end within {} s and was killed{}", limit.as_secs(), tail(console))]
    TimedOut { limit: Duration, console: String },
    #[error("the guest's kernel panicked: {reason}")]
    Panicked { reason: String, console: String },
    #[error("the guest ended without a record ({how}){}", tail(console))]
    NoRecord { how: String, console: String },
    #[error("the guest's disk {index}: {error}")]
    Disk { index: usize, error: ServeError },
    #[error("the guest could not do its task: {0}")]
    Failed(String),
    #[error("the guest's record cannot be read: {record}")]
    Unexpected { record: String },
    #[error("stopped")]
    Stopped,
}

impl GuestError {
    /// Whether it says nothing of what the guest was to do: this machine could not do its part.
    #[must_use]
    pub fn is_of_machine(&self) -> bool {
        match self {
            Self::Program(_) | Self::File { .. } | Self::Memory(_) => true,
            Self::Panicked { reason, .. } => reason.contains(NOT_MAPPED),
            _ => false,
        }
    }
}

/// In the last words of a guest that could not have the contents of a disk.
const NOT_MAPPED: &str = "its contents cannot be mapped";

/// Bytes of a record or of observations, at most: the largest value that a database takes.
const LEFT_MOST_BYTES: u64 = 512 << 20;

/// What a guest has left in a file; of one that is larger the beginning. A guest that has left
/// something else there, such as a link or a FIFO, has left nothing.
fn left_in(path: &Path) -> Vec<u8> {
    let left = open_regular(path).and_then(|file| Bounded::new(file, LEFT_MOST_BYTES).beginning());
    left.unwrap_or_default()
}

fn tail(console: &str) -> String {
    let lines: Vec<&str> = console.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    if last.is_empty() { String::new() } else { format!("; its console: {}", last.join(" | ")) }
}

/// A task that was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskRun {
    pub record: Record,
    /// The same as bytes, for a comparison of equal runs.
    pub record_bytes: Vec<u8>,
    /// What the kernel said.
    pub console: String,
    /// Wall-clock time from the start of its process to its end.
    pub elapsed_ns: u64,
}

/// What came of inspecting states, in their order.
#[derive(Debug)]
pub struct InspectionRun {
    /// What was seen in the first ones, as many as the guest came to.
    pub lines: Vec<String>,
    pub end: Result<(), GuestError>,
}

/// A guest that can be booted, again and again: each time in a state that depends on nothing but
/// the options, the task, the program and the disks.
#[derive(Clone, Copy, Debug)]
pub struct Guest<'g> {
    options: &'g GuestOptions,
    program: &'g Program,
}

impl<'g> Guest<'g> {
    /// A guest with `program` as its init.
    #[must_use]
    pub fn new(options: &'g GuestOptions, program: &'g Program) -> Self {
        Self { options, program }
    }

    /// Boots it, has it do `task` with these disks (`/dev/vdisk0` is the first), and waits until it
    /// has powered off.
    ///
    /// # Errors
    /// When there is no record. The guest is gone then too.
    pub fn run_task(
        &self,
        task: &Task,
        disks: &mut [&mut dyn Disk],
        stop: &dyn Fn() -> bool,
    ) -> Result<TaskRun, GuestError> {
        let dir = self.prepared_dir(task)?;
        let ran = self.boot(&dir, disks, Some(self.options.limit), stop)?;
        self.judge(&dir, &ran)
    }

    /// The same with a task that inspects states, each of which has the whole limit.
    pub fn inspect_states(
        &self,
        task: &Task,
        disks: &mut [&mut dyn Disk],
        stop: &dyn Fn() -> bool,
    ) -> InspectionRun {
        let dir = match self.prepared_dir(task) {
            Ok(dir) => dir,
            Err(error) => return InspectionRun { lines: Vec::new(), end: Err(error) },
        };
        let path = dir.path().join(OBSERVATIONS);
        let progress = Progress::from_now(&path, self.options.limit);
        let ends = || stop() || progress.is_stalled();
        let ran = self.boot(&dir, disks, None, &ends).map(|ran| match ran.end {
            End::Stopped if !stop() => Captured { end: End::TimedOut, ..ran },
            _ => ran,
        });
        let end = ran.and_then(|ran| self.judge(&dir, &ran)).map(drop);
        let bytes = left_in(&path);
        let text = String::from_utf8_lossy(&bytes);
        // The last line may have been cut.
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        InspectionRun { lines: whole.map(str::to_owned).collect(), end }
    }

    /// A directory that is ready to be booted in.
    fn prepared_dir(&self, task: &Task) -> Result<OwnedDir, GuestError> {
        let memory = self.options.memory_bytes;
        if memory < 32 * MIB || !memory.is_multiple_of(MIB) {
            return Err(GuestError::Memory(memory));
        }
        let base = self.program.base();
        let failed = |error| GuestError::File { path: base.to_owned(), error };
        let dir = OwnedDir::make(base, GUEST_PREFIX).map_err(failed)?;
        self.prepare(dir.path(), task).map_err(failed)?;
        Ok(dir)
    }

    /// The directory of the guest, which is its root until it has mounted the host's.
    fn prepare(&self, root: &Path, task: &Task) -> io::Result<()> {
        self.program.put_into(root)?;
        fs::create_dir(root.join(HOST))?;
        fs::write(root.join(TASK), serde_json::to_vec(task)?)
    }

    /// Always the same for the same options: it goes into the random numbers of the guest.
    fn command_line(&self, disks: usize) -> Vec<String> {
        let GuestOptions { memory_bytes, syscall_ns, clears_memory, .. } = self.options;
        let mut sockets = String::new();
        for index in 0..disks {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(sockets, "{comma}{}", socket_name(index));
        }
        let mut words: Vec<String> = [
            "umid=guest",
            "root=/dev/root",
            "rootfstype=hostfs",
            // Its working directory, by a name that is the same for every guest.
            "rootflags=/proc/self/cwd/.",
            // Until init has said that no time of a last access is kept, see there.
            "ro",
            "con=null",
            "con0=null,fd:1",
            "quiet",
            "loglevel=4",
            "time-travel=inf-cpu",
            if *clears_memory { "init_on_alloc=1" } else { "init_on_alloc=0" },
        ]
        .map(str::to_owned)
        .into();
        words.push(format!("mem={}M", memory_bytes / MIB));
        words.push(format!("time-travel-start={START_NS}"));
        words.push(format!("init=/{INIT}"));
        if disks > 0 {
            words.push(format!("vdisk.socket={sockets}"));
        }
        if *syscall_ns > 0 {
            words.push(format!("syscall_ns={syscall_ns}"));
        }
        // Words that the kernel does not know go to init: one with a value into its environment.
        let (name, value) = TUNABLES;
        words.push(format!("{name}={value}"));
        // Not behind `--`: it appends words of its own.
        words.push("guest_init".to_owned());
        words
    }

    fn boot(
        &self,
        dir: &OwnedDir,
        disks: &mut [&mut dyn Disk],
        limit: Option<Duration>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Captured, GuestError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| GuestError::File { path, error }
        };
        let listeners: Result<Vec<PrivateListener>, io::Error> = (0..disks.len())
            .map(|index| PrivateListener::bind(&dir.short_path().join(socket_name(index))))
            .collect();
        let listeners = listeners.map_err(failed(dir.path()))?;
        for (index, disk) in disks.iter().enumerate() {
            let Some(file) = disk.mapped() else { continue };
            let open = path_of_open(file).map_err(failed(Path::new("/proc/self")))?;
            // A name that is the same for every guest.
            let name = dir.path().join(format!("{}.base", socket_name(index)));
            symlink(open, &name).map_err(failed(&name))?;
        }
        let args: Vec<OsString> =
            self.command_line(disks.len()).into_iter().map(OsString::from).collect();
        let memory_dir = memory::dir_for(self.options.memory_bytes, dir.path());
        let env = [
            ("UML_SEED", self.options.seed.to_string().into()),
            ("TMPDIR", memory_dir.into_os_string()),
            // Where it makes the directory of its umid.
            ("HOME", dir.path().as_os_str().to_owned()),
            ("PATH", SearchPath::from_env().joined()),
        ];
        let kernel = TrustedProgram::at(&self.options.kernel)?;
        let call = Guarded {
            tool: &kernel,
            args: &args,
            env: &env,
            dir: dir.path(),
            log: None,
            // How much memory a guest has depends on where the kernel's own begins.
            fixed_addresses: true,
        };
        std::thread::scope(|scope| {
            let serving = listeners.into_iter().zip(disks.iter_mut());
            let served: Vec<_> = serving
                .map(|(listener, disk)| scope.spawn(move || answer(&listener, &mut **disk)))
                .collect();
            let ran = call.run(limit, Some(stop));
            let mut broken = None;
            for (index, served) in served.into_iter().enumerate() {
                // One that no guest has asked still waits for it.
                let _ = UnixStream::connect(dir.short_path().join(socket_name(index)));
                let ended = served.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                if let Err(error) = ended {
                    broken = broken.or(Some(GuestError::Disk { index, error }));
                }
            }
            let ran = ran.map_err(failed(&self.options.kernel))?;
            let own_end = matches!(ran.end, End::Ended(_));
            let broken = broken.filter(|error| own_end && !is_cut_off(error, ran.end));
            broken.map_or(Ok(ran), Err)
        })
    }

    fn judge(&self, dir: &OwnedDir, ran: &Captured) -> Result<TaskRun, GuestError> {
        let record_bytes = left_in(&dir.path().join(RECORD));
        let console = format!("{}{}", ran.stdout, ran.stderr);
        let how = match ran.end {
            End::Stopped => return Err(GuestError::Stopped),
            End::TimedOut => {
                return Err(GuestError::TimedOut { limit: self.options.limit, console });
            }
            End::TooMuchOutput => TOO_MUCH_OUTPUT.to_owned(),
            End::Ended(status) => ended_text(status),
        };
        if let Some(reason) = panic_in(&console) {
            return Err(GuestError::Panicked { reason, console });
        }
        if record_bytes.is_empty() {
            return Err(GuestError::NoRecord { how, console });
        }
        let record = serde_json::from_str(&String::from_utf8_lossy(&record_bytes));
        match record {
            Ok(Record::Failed(why)) => Err(GuestError::Failed(why)),
            Ok(record) => Ok(TaskRun { record, record_bytes, console, elapsed_ns: ran.elapsed_ns }),
            Err(error) => Err(GuestError::Unexpected { record: error.to_string() }),
        }
    }
}

/// How far a guest has come that hands on what it sees.
struct Progress<'p> {
    path: &'p Path,
    limit: Duration,
    bytes: Cell<u64>,
    since: Cell<Instant>,
}

impl<'p> Progress<'p> {
    fn from_now(path: &'p Path, limit: Duration) -> Self {
        Self { path, limit, bytes: Cell::new(0), since: Cell::new(Instant::now()) }
    }

    /// Whether nothing has come for longer than the limit.
    fn is_stalled(&self) -> bool {
        let bytes = fs::metadata(self.path).map_or(0, |file| file.len());
        if bytes > self.bytes.replace(bytes) {
            self.since.set(Instant::now());
        }
        self.since.get().elapsed() > self.limit
    }
}

/// Whether a connection broke because the guest was killed in the middle of a message.
fn is_cut_off(error: &GuestError, end: End) -> bool {
    let is_connection = matches!(error, GuestError::Disk { error: ServeError::Connection(_), .. });
    let was_killed = |status: ExitStatus| status.signal() == Some(Signal::KILL.as_raw());
    is_connection && matches!(end, End::Ended(status) if was_killed(status))
}

/// Relative to the directory of the guest: no path of the host is on its command line.
fn socket_name(index: usize) -> String {
    format!("disk{index}")
}

/// Serves the one guest that connects.
fn answer(listener: &PrivateListener, disk: &mut dyn Disk) -> Result<u64, ServeError> {
    loop {
        if let Some(mut stream) = listener.accept()? {
            return serve(&mut stream, disk);
        }
    }
}

/// The reason that a panic of the kernel gives.
pub(crate) fn panic_in(console: &str) -> Option<String> {
    let at = console.find("Kernel panic - not syncing: ")?;
    let rest = &console[at..];
    let reason = rest.split_once(": ")?.1.lines().next()?;
    Some(reason.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell script in place of a kernel: it is started as one, in the directory of a guest.
    fn run(script: &str, limit: Duration) -> Result<TaskRun, GuestError> {
        let base = tempfile::tempdir().unwrap();
        let kernel = base.path().join("kernel");
        fsarena_testkit::write_script(&kernel, script);
        let program = Program::this(base.path()).unwrap();
        let options = GuestOptions { limit, ..GuestOptions::new(&kernel) };
        let mut disk = fsarena_disk_server::ConstantDisk::new(4096, 1);
        let done = Guest::new(&options, &program).run_task(
            &Task::Probe { sleep_ns: 1 },
            &mut [&mut disk],
            &|| false,
        );
        drop(program);
        let left = fs::read_dir(base.path()).unwrap().count();
        assert_eq!(left, 1, "only the kernel is left");
        done
    }

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_record_comes_back_and_the_command_line_has_no_path_of_the_host() {
        let script = "test -x init && test -f task.json && test -S disk0 && test -d host || exit 9\n\
                      test \"$UML_SEED\" = 1 || exit 8\n\
                      printf '{\"shell\":{\"exit_code\":0,\"stdout\":\"%s\",\"stderr\":\"\",\
                      \"elapsed_ns\":1}}' \"$*\" > record.json";
        let done = run(script, SOON).unwrap();
        let Record::Shell(record) = done.record else { panic!("{:?}", done.record) };
        assert!(record.stdout.contains("rootflags=/proc/self/cwd/. ro con"), "{}", record.stdout);
        assert!(record.stdout.contains("init=/init vdisk.socket=disk0 GLIBC_TUNABLES="));
        assert!(record.stdout.ends_with(" guest_init"));
        assert!(!record.stdout.contains("/tmp"), "{}", record.stdout);
    }

    #[test]
    fn a_connection_of_a_guest_that_was_killed_is_no_fault() {
        let broken = || GuestError::Disk {
            index: 0,
            error: ServeError::Connection("failed to fill whole buffer".to_owned()),
        };
        let killed = |signal| End::Ended(ExitStatus::from_raw(signal));
        assert!(is_cut_off(&broken(), killed(9)));
        assert!(!is_cut_off(&broken(), killed(11)) && !is_cut_off(&broken(), End::TimedOut));
        let refused = GuestError::Disk { index: 0, error: ServeError::Version(1) };
        assert!(!is_cut_off(&refused, killed(9)));
    }

    #[test]
    fn a_guest_that_cannot_have_the_contents_of_its_disk_saw_nothing() {
        let panic = |what: &str| {
            run(&format!("echo 'Kernel panic - not syncing: {what}'; kill -ABRT $$"), SOON)
        };
        let error = panic("vdisk: disk0: its contents cannot be mapped: error 13").unwrap_err();
        assert!(error.is_of_machine(), "{error}");
        assert!(!panic("EXT4-fs: panic forced after error").unwrap_err().is_of_machine());
    }

    #[test]
    fn a_guest_that_panics_hangs_or_says_nothing_is_named_so() {
        let error = |script, limit| run(script, limit).unwrap_err().to_string();
        let panic = "echo 'Kernel panic - not syncing: VFS: no root'; kill -ABRT $$";
        assert_eq!(error(panic, SOON), "the guest's kernel panicked: VFS: no root");
        let hang = error("echo here; sleep 60", Duration::from_millis(300));
        assert!(hang.contains("was killed; its console: here"), "{hang}");
        let silent = error("exit 3", SOON);
        assert_eq!(silent, "the guest ended without a record (exit code 3)");
        let half = error("echo '{\"probe\":' > record.json", SOON);
        assert!(half.contains("cannot be read"), "{half}");
        let failed = error("echo '{\"failed\":\"no\"}' > record.json", SOON);
        assert_eq!(failed, "the guest could not do its task: no");
    }

    #[test]
    fn a_link_or_a_pipe_in_the_place_of_a_record_is_none() {
        for left in ["ln -s /etc/passwd record.json", "mkdir record.json", "mkfifo record.json"] {
            let error = run(left, SOON).unwrap_err().to_string();
            assert!(error.contains("ended without a record"), "{left}: {error}");
        }
        for left in ["ln -s /etc/passwd observations.jsonl", "mkfifo observations.jsonl"] {
            let done = inspect_with(left, SOON, &|| false);
            assert!(done.lines.is_empty() && done.end.is_err(), "{left}");
        }
    }

    /// The same with looks at states, each of which has so much time.
    fn inspect_with(script: &str, limit: Duration, stop: &dyn Fn() -> bool) -> InspectionRun {
        let base = tempfile::tempdir().unwrap();
        let kernel = base.path().join("kernel");
        fsarena_testkit::write_script(&kernel, script);
        let program = Program::this(base.path()).unwrap();
        let options = GuestOptions { limit, ..GuestOptions::new(&kernel) };
        let task = Task::Probe { sleep_ns: 1 };
        Guest::new(&options, &program).inspect_states(&task, &mut [], stop)
    }

    #[test]
    fn what_a_guest_saw_is_there_whatever_becomes_of_it() {
        let never = || false;
        let ends =
            "printf '1\\n2\\n' > observations.jsonl; printf '{\"crash\":\"\"}' > record.json";
        let done = inspect_with(ends, SOON, &never);
        assert_eq!(done.lines, ["1", "2"]);
        done.end.unwrap();
        let dies = "printf '1\\n2\\n\\303' > observations.jsonl; exit 3";
        let died = inspect_with(dies, SOON, &never);
        assert_eq!(died.lines, ["1", "2"], "not the line that was cut");
        assert!(died.end.unwrap_err().to_string().contains("exit code 3"));
        let nothing = inspect_with("exit 4", SOON, &never);
        assert!(nothing.lines.is_empty() && nothing.end.is_err());
    }

    #[test]
    fn each_inspection_has_the_whole_limit_and_ends_with_it() {
        let limit = Duration::from_secs(4);
        let steady = "for n in 1 2 3 4 5; do sleep 1; echo $n >> observations.jsonl; done\n\
                      printf '{\"crash\":\"\"}' > record.json";
        let done = inspect_with(steady, limit, &|| false);
        assert_eq!(done.lines.len(), 5);
        done.end.unwrap();
        let hangs = "echo 1 > observations.jsonl; sleep 60";
        let hung = inspect_with(hangs, limit, &|| false);
        assert_eq!(hung.lines, ["1"]);
        assert!(matches!(hung.end, Err(GuestError::TimedOut { .. })), "{:?}", hung.end);
        let stopped = inspect_with(hangs, SOON, &|| true);
        assert!(matches!(stopped.end, Err(GuestError::Stopped)), "{:?}", stopped.end);
    }

    #[test]
    fn memory_that_no_kernel_boots_with_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let program = Program::this(base.path()).unwrap();
        let options =
            GuestOptions { memory_bytes: 1 << 20, ..GuestOptions::new(Path::new("/bin/true")) };
        let task = Task::Probe { sleep_ns: 1 };
        let error = Guest::new(&options, &program).run_task(&task, &mut [], &|| false);
        assert!(error.unwrap_err().to_string().contains("32 MiB of memory at least"));
    }
}
