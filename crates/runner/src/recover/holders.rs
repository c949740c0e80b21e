//! Programs of a dead RUN that live on: what a command of the user's started, where there is no
//! process namespace that ends with its executor.
//!
//! All that an executor starts inherits the open journal, and so is known for sure. While an
//! executor or a worker is among them it tidies up itself, and no process is ended.

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Ends whoever holds the journal at `path` open, unless one of ours is among them. Processes of
/// other users are not seen.
pub(super) fn end(path: &Path) {
    let Ok(path) = &path.canonicalize() else { return };
    let holders: Vec<Pid> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|pid| *pid != getpid() && holds(*pid, path))
        .collect();
    if holders.iter().any(|pid| is_ours(*pid)) {
        return;
    }
    for pid in holders {
        end_holder(pid, path);
    }
}

/// Ends the process if it holds the journal still. One that was seen between its fork and its exec
/// held it only so long, and may be anybody's by now. Gone already is as good.
fn end_holder(pid: Pid, path: &Path) {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if holds(pid, path) {
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
}

fn holds(pid: Pid, path: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    let mut open = open.into_iter().flatten().flatten();
    open.any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == path))
}

/// A start of this program, or of another version of it as an executor (of this kernel or of
/// guests) or a worker.
fn is_ours(pid: Pid) -> bool {
    let pid = pid.as_raw_nonzero();
    let file = |path: String| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    let own = file("/proc/self/exe".to_owned());
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let subcommand = line.split(|byte| *byte == 0).nth(1);
    (own.is_some() && file(format!("/proc/{pid}/exe")) == own)
        || matches!(subcommand, Some(b"executor" | b"virtual_executor" | b"worker"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    /// Of another version, and so another file.
    #[test]
    fn while_an_executor_is_at_work_nobody_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        for subcommand in ["executor", "virtual_executor", "worker"] {
            let journal = dir.path().join(format!("journal-{subcommand}"));
            fs::write(&journal, "").unwrap();
            // A shell that runs a script of this name.
            fs::write(dir.path().join(subcommand), "echo ready; read line\n").unwrap();
            let mut command = Command::new("sh");
            command.arg(subcommand).current_dir(dir.path());
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command.stderr(fs::File::open(&journal).unwrap());
            let mut executor = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(executor.stdout.take().unwrap()).read_line(&mut line).unwrap();
            end(&journal);
            drop(executor.stdin.take());
            assert!(executor.wait().unwrap().code().is_some(), "{subcommand} was killed");
        }
    }

    #[test]
    fn whoever_holds_it_is_ended_and_nobody_else() {
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("journal");
        fs::write(&journal, "").unwrap();
        let sleep = |input: &Path| {
            let input = fs::File::open(input).unwrap();
            Command::new("sleep").arg("1000").stdin(input).spawn().unwrap()
        };
        let (mut holder, mut other) = (sleep(&journal), sleep(Path::new("/dev/null")));
        // As if it had been seen while it held the journal, between fork and exec.
        end_holder(Pid::from_child(&other), &journal);
        end(&journal);
        assert_eq!(holder.wait().unwrap().signal(), Some(9));
        assert!(other.try_wait().unwrap().is_none(), "it holds nothing of ours");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
