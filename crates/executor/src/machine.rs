//! What ends a trial and is the machine's fault, not the work's: decided here alone, by the kind of
//! error. Such a trial is done again, and where that does not help the RUN is interrupted: a resume
//! can go on with it on a machine that has been put right.

use crate::worker::WORKER_ENDED;
use fsarena_model::work::NOT_DIALLED;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// What EMFILE and ENFILE are called by programs that give no number.
const TOO_MANY_FILES: &str = "Too many open files";
/// The second of them.
const OF_ALL: &str = "in system";

/// What was being done when the error came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Doing {
    /// The work itself: an op of it failed. In the work ext4 says that there is no memory where its
    /// device has ended, and a call may be told to come again.
    pub work: bool,
    /// With a limit on memory that was asked for.
    pub memory_limited: bool,
    /// In a guest, whose kernel alone kills a worker: where the guest has too little memory, which
    /// it has in every attempt of a seed.
    pub in_guest: bool,
}

/// Whether the machine is the cause of `error`, and not the work: the worker was killed, no file
/// could be opened any more, a rank was kept from its runner; or, outside of the work, a device was
/// busy, no process could be started, or there was no memory and no limit on it.
#[must_use]
pub fn is_at_fault(error: &str, doing: Doing) -> bool {
    if is_kill(error) {
        return !doing.in_guest;
    }
    if error.contains(NOT_DIALLED) {
        return true;
    }
    match errno_of(error) {
        Some(Errno::MFILE | Errno::NFILE) => true,
        Some(Errno::BUSY | Errno::AGAIN) => !doing.work,
        Some(Errno::NOMEM) => !doing.work && !doing.memory_limited,
        _ => false,
    }
}

/// What to do about a worker that was killed in a guest; nothing about other errors.
#[must_use]
pub fn remedy_in_guest(error: &str) -> Option<&'static str> {
    is_kill(error).then_some(
        "the kernel of the guest had no memory left: give it more (--memory), or use less work",
    )
}

fn is_kill(error: &str) -> bool {
    error.contains(WORKER_ENDED) && error.contains("(signal: 9")
}

/// What to do about an error of the machine, where it is no use to look into the kernel's log.
#[must_use]
pub fn remedy(error: &str) -> Option<String> {
    remedy_for(errno_of(error)?)
}

pub(crate) fn remedy_for(errno: Errno) -> Option<String> {
    Some(match errno {
        Errno::MFILE => {
            let limit = getrlimit(Resource::Nofile).current;
            let limit = limit.map_or_else(|| "unlimited".to_owned(), |files| files.to_string());
            format!(
                "raise the limit of open files, which is {limit} here (ulimit -n 1024; \
                 LimitNOFILE= of a service)"
            )
        }
        Errno::NFILE => {
            "raise the limit of open files of the machine (sysctl fs.file-max), or end \
                         other programs"
                .to_owned()
        }
        Errno::AGAIN => "raise the limit of processes (ulimit -u; pids.max of the cgroup), or end \
                         other programs"
            .to_owned(),
        _ => return None,
    })
}

fn errno_of(error: &str) -> Option<Errno> {
    let named = || {
        let (_, rest) = error.split_once(TOO_MANY_FILES)?;
        Some(if rest.trim_start().starts_with(OF_ALL) { Errno::NFILE } else { Errno::MFILE })
    };
    let number = errno_in(error).filter(|number| (1..4096).contains(number));
    number.map(Errno::from_raw_os_error).or_else(named)
}

/// The number of the error that the system's words end in.
pub(crate) fn errno_in(words: &str) -> Option<i32> {
    words.rsplit_once("(os error ")?.1.split(')').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_told_from_the_work() {
        let killed = "the worker ended without a result (signal: 9 (SIGKILL))";
        let busy = "open exclusively /dev/loop0: Device or resource busy (os error 16)";
        let memory = "mount: Cannot allocate memory (os error 12)";
        let files = "/proc/stat: cannot read it: Too many open files (os error 24)";
        let fork = "the worker fsarena could not be started: Resource temporarily unavailable (os \
                    error 11)";
        let [outside, inside] = [false, true].map(|work| Doing { work, ..Doing::default() });
        for (doing, error, expected) in [
            (inside, killed, true),
            (Doing { memory_limited: true, ..outside }, killed, true),
            (Doing { in_guest: true, ..inside }, killed, false),
            (Doing { in_guest: true, ..outside }, busy, true),
            (outside, busy, true),
            (inside, busy, false),
            (outside, memory, true),
            (Doing { memory_limited: true, ..outside }, memory, false),
            (inside, memory, false),
            (outside, files, true),
            (inside, "open f1: Too many open files (os error 24) (op 3 of phase read)", true),
            (inside, "phase job: fio: a.0.0: Too many open files", true),
            (outside, "socket: Too many open files in system (os error 23)", true),
            (outside, fork, true),
            (inside, fork, false),
            (inside, "the worker ended without a result (signal: 11 (SIGSEGV))", false),
            (inside, "write f1: No space left on device (os error 28)", false),
            (outside, "rank 1 on node2: it has not dialled again within 30 s", true),
            (outside, "rank 1 on node2: it has ended; start it there again", false),
            (outside, "a bad spec", false),
        ] {
            assert_eq!(is_at_fault(error, doing), expected, "{error}");
        }
    }

    #[test]
    fn a_limit_is_named_with_what_raises_it() {
        let files = remedy("pipe: Too many open files (os error 24)").unwrap();
        assert!(files.contains("limit of open files") && files.contains("ulimit -n"), "{files}");
        assert!(remedy("x: Too many open files in system").unwrap().contains("fs.file-max"));
        assert!(remedy("fork: again (os error 11)").unwrap().contains("ulimit -u"));
        let killed = "the worker ended without a result (signal: 9 (SIGKILL))";
        assert_eq!(remedy(killed), None);
        assert!(remedy_in_guest(killed).unwrap().contains("--memory"));
        assert_eq!(remedy_in_guest("x: Too many open files (os error 24)"), None);
    }
}
