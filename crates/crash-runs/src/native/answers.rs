//! The process that serves one disk: what it is told, what it is asked, when it ends.

use super::NativeError;
use super::states::{States, write_log};
use fsarena_bounded::Bounded;
use fsarena_disk_server::fuse::{Served, ServedFile, contents_changed, serve};
use fsarena_disk_server::{CrashViewDisk, Disk, DiskOrder, DiskOrderError};
use fsarena_process::memory_group::waiting_limit_bytes;
use fsarena_process::private::PrivateListener;
use fsarena_vdisk::{Logged, Question, ServedDisk, WriteLog};
use rustix::mm::{MlockAllFlags, mlockall};
use std::io::{self, BufReader, Read as _, Write as _};
use std::num::NonZeroU64;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest line that is read.
const LINE_MAX_BYTES: u64 = 16 << 10;
/// A disk is not exchanged before it is idle; nobody uses it then.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// Serves until standard input ends or the kernel lets go of the disk. Prints one line when it is
/// ready, to whoever holds the other end of standard input.
///
/// # Errors
/// In one sentence, which that one has been told too.
pub fn run() -> Result<(), NativeError> {
    let input = io::stdin().as_fd().try_clone_to_owned().map_err(NativeError::io("stdin"))?;
    let mut parent = UnixStream::from(input);
    let begun = begin(&parent);
    let said = match &begun {
        Ok(_) => "ready\n".to_owned(),
        Err(error) => format!("{error}\n"),
    };
    parent.write_all(said.as_bytes()).map_err(NativeError::io("answer"))?;
    let ServedState { shared, told, states, listener } = begun?;
    std::thread::spawn(move || {
        // Nothing more is ever said.
        let _ = parent.read(&mut [0]);
        std::process::exit(0);
    });
    let answered = Arc::clone(&shared);
    std::thread::spawn(move || {
        loop {
            // Another user is not answered, and what cannot be taken now may be later.
            if let Ok(Some(stream)) = listener.accept() {
                let _ = talk(&stream, &answered, (&told, states));
            }
        }
    });
    let fuse = io::stdout().as_fd().try_clone_to_owned().map_err(NativeError::io("stdout"))?;
    serve(fuse.as_fd(), &shared).map_err(|error| NativeError::io("/dev/fuse")(error.into()))
}

struct ServedState {
    shared: Arc<Mutex<Served>>,
    told: ServedDisk,
    /// They live as long as the process.
    states: Option<&'static States>,
    listener: PrivateListener,
}

fn begin(parent: &UnixStream) -> Result<ServedState, NativeError> {
    let line = line_from(parent).map_err(NativeError::io("stdin"))?;
    let told: ServedDisk =
        serde_json::from_str(&line).map_err(|error| NativeError::Told(error.to_string()))?;
    // What cannot be served is refused now.
    drop(fresh(&told, 0)?);
    let states = match &told.states_dir {
        Some(dir) => Some(&*Box::leak(Box::new(States::read(dir, told.size_bytes)?))),
        None => None,
    };
    stay_awake(told.size_bytes)?;
    let listener = PrivateListener::bind_abstract(told.socket.as_bytes());
    let listener = listener.map_err(NativeError::io("the socket of the disk"))?;
    let file = ServedFile { size_bytes: told.size_bytes, is_cached: told.is_cached() };
    let shared = Arc::new(Mutex::new(Served::new(file, told.is_beside_another)));
    Ok(ServedState { shared, told, states, listener })
}

/// One line; empty where there is none.
fn line_from(stream: &UnixStream) -> io::Result<String> {
    let line = Bounded::new(BufReader::new(stream), LINE_MAX_BYTES).next_text_line()?;
    Ok(line.unwrap_or_default())
}

/// The file systems that are written to free memory are on this disk: this process must not wait
/// for memory. What it may not do is left, but where it would come to wait for itself.
fn stay_awake(size_bytes: u64) -> Result<(), NativeError> {
    if rustix::process::configure_io_flusher_behavior(true).is_err() {
        let limit = waiting_limit_bytes(Path::new("/proc"), Path::new("/sys"));
        if let Some(limit_bytes) = limit.filter(|limit_bytes| *limit_bytes < size_bytes) {
            return Err(NativeError::SmallGroup { limit_bytes, size_bytes });
        }
    }
    let _ = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE);
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
    // Before whoever waits for it.
    let _ = rustix::process::nice(-20);
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    Ok(())
}

fn fresh(told: &ServedDisk, seed: u64) -> Result<Box<dyn Disk>, DiskOrderError> {
    let store_dir = told.store_dir.as_deref();
    let order = DiskOrder { model: &told.model, size_bytes: told.size_bytes, store_dir };
    let disk = if told.is_logged {
        order.make_logged(seed, WriteLog::in_memory())?
    } else {
        order.make(seed)?
    };
    Ok(Box::new(disk))
}

/// A crash state of the directory.
fn state(
    (told, states): (&ServedDisk, Option<&'static States>),
    number: u32,
    is_logged: bool,
) -> Result<Box<dyn Disk>, NativeError> {
    let none = || NativeError::Told("it has no crash states".to_owned());
    let view = states.ok_or_else(none)?.view(number)?;
    let disk = match is_logged {
        true => CrashViewDisk::logged(view, told.size_bytes),
        false => CrashViewDisk::new(view, told.size_bytes),
    };
    Ok(Box::new(disk))
}

/// Answers one who asks, until it goes.
fn talk(
    stream: &UnixStream,
    shared: &Mutex<Served>,
    (told, states): (&ServedDisk, Option<&'static States>),
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let line = line_from(stream)?;
    let answer = match serde_json::from_str(&line) {
        Ok(Question::Report) => {
            let served = locked(shared).late.take();
            serde_json::to_string(&served)?
        }
        Ok(Question::Fresh { seed }) => match fresh(told, seed) {
            Ok(disk) => exchange(shared, disk),
            Err(error) => error.to_string(),
        },
        Ok(Question::State { number, is_logged }) => {
            match state((told, states), number, is_logged) {
                Ok(disk) => exchange(shared, disk),
                Err(error) => error.to_string(),
            }
        }
        Ok(Question::Log { file }) => match log(shared, &file) {
            Ok(logged) => serde_json::to_string(&logged)?,
            Err(error) => format!("{}: {error}", file.display()),
        },
        Err(error) => format!("not understood: {error}"),
    };
    let mut stream = stream;
    stream.write_all(answer.as_bytes())?;
    stream.write_all(b"\n")
}

/// Writes the log of the disk to a new file.
fn log(shared: &Mutex<Served>, file: &Path) -> io::Result<Logged> {
    let served = locked(shared);
    let none = || io::Error::other("the disk has no log");
    let log = served.disk.as_ref().and_then(|disk| disk.log()).ok_or_else(none)?;
    write_log(file, log)?;
    Ok(Logged { began_ns: served.began_ns })
}

fn exchange(shared: &Mutex<Served>, disk: Box<dyn Disk>) -> String {
    let began = std::time::Instant::now();
    loop {
        let mut served = locked(shared);
        if !served.is_busy() {
            let differing = served.exchange(disk);
            let is_cached = served.file.is_cached;
            drop(served);
            return match is_cached.then(|| contents_changed(io::stdout().as_fd(), &differing)) {
                None | Some(Ok(())) => "ok".to_owned(),
                Some(Err(error)) => format!("the page cache of the disk: {error}"),
            };
        }
        drop(served);
        if began.elapsed() > IDLE_LIMIT {
            return "the disk is not idle".to_owned();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn locked(shared: &Mutex<Served>) -> MutexGuard<'_, Served> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
