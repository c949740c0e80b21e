//! Start and end of programs that do work: started in the root with a fixed environment and bound
//! to the life of this process, waited for while their standard error is read; and their versions,
//! asked for before the clock runs.
//!
//! Standard error is a pipe that is emptied while the program runs, of which the last part is
//! kept: a program that floods it neither waits for a reader nor fills memory.

use super::find::Program;
use fsarena_engine::Root;
use fsarena_model::job::PROGRAM_PATH;
use fsarena_process::adopt_orphans;
use fsarena_process::child::{end_with_parent, start_in};
use fsarena_process::cmd::{capture, first_line};
use fsarena_process::command::ProgramCommand;
use fsarena_process::limits::Limits;
use fsarena_process::tunables;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use std::io;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

/// Of standard error, kept, bytes.
const KEPT_BYTES: usize = 64 << 10;
/// Parts that are taken when all is over: more than any pipe holds.
const MOST_AT_THE_END: usize = 64;

/// How long a program may think about its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// What a program sees: nothing of the user's changes what it does.
pub(super) fn environment(command: &mut ProgramCommand) -> &mut ProgramCommand {
    command.env_clear().envs(tunables::inherited());
    command.env("PATH", PROGRAM_PATH).env("LC_ALL", "C").env("HOME", "/")
}

/// Lets `command` start in the root, and be sent `at_death` when this process dies. Descendants of
/// it that outlive their parent become children of this process ([`adopt_orphans`]).
pub(super) fn start_in_root(command: &mut ProgramCommand, root: &Root, at_death: Signal) {
    start_in(command, root.dir().as_fd());
    end_with_parent(command, at_death);
    adopt_orphans();
}

/// The first line that a program prints of its version; empty where it prints none. Not asked with
/// the root under test as the working directory, and a program that does not answer is ended: it
/// must not hold a trial up.
pub(super) fn version(found: &Program) -> String {
    version_within(found, VERSION_LIMIT).unwrap_or_default()
}

fn version_within(found: &Program, limit: Duration) -> io::Result<String> {
    let mut command = ProgramCommand::new(&found.trusted);
    environment(&mut command).arg("--version");
    let printed = capture(&mut command, "", Limits::of_tool(), Some(limit), None)?;
    // bzip2 tells it on standard error. A dash knows no such option, and says so there.
    let line = printed.succeeded().then(|| first_line(&printed.stdout, &printed.stderr));
    Ok(line.flatten().unwrap_or_default())
}

/// Standard error of one or several programs, of which the end is kept.
#[derive(Debug)]
pub(super) struct StderrTail {
    read: OwnedFd,
    write: OwnedFd,
    /// At most twice [`KEPT_BYTES`].
    kept: Vec<u8>,
    read_buf: Box<[u8]>,
}

impl StderrTail {
    pub fn new() -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&read, true)?;
        let read_buf = vec![0; KEPT_BYTES].into_boxed_slice();
        Ok(Self { read, write, kept: Vec::with_capacity(2 * KEPT_BYTES), read_buf })
    }

    /// Becomes the standard error of `command`; standard output and input are `/dev/null`.
    pub fn attach(&self, command: &mut ProgramCommand) -> io::Result<()> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::from(self.write.try_clone()?));
        Ok(())
    }

    /// Waits for the end of `child`.
    pub fn wait_for(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        loop {
            let mut fds =
                [PollFd::new(&ended, PollFlags::IN), PollFd::new(&self.read, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            // A process that it left behind may write for ever: its end comes first.
            if !fds[0].revents().is_empty() {
                return child.wait();
            }
            self.take_once();
        }
    }

    /// Takes what is there, at most the size of the buffer; whether that was anything.
    fn take_once(&mut self) -> bool {
        match rustix::io::read(self.read.as_fd(), &mut *self.read_buf) {
            Ok(got) => {
                self.kept.extend_from_slice(&self.read_buf[..got]);
                let excess = self.kept.len().saturating_sub(KEPT_BYTES);
                self.kept.drain(..excess);
                got > 0
            }
            Err(Errno::INTR) => true,
            Err(_) => false,
        }
    }

    /// The end of what was written: whole lines that say something, at most `max_bytes` of them,
    /// as one line. To be called when no process is left that writes.
    pub fn last_lines(&mut self, max_bytes: usize) -> String {
        // One that could not be killed may go on writing.
        for _ in 0..MOST_AT_THE_END {
            if !self.take_once() {
                break;
            }
        }
        last_lines(&String::from_utf8_lossy(&self.kept), max_bytes)
    }
}

/// The last lines of `text` that say something, joined; cut at the front to `max_bytes`.
fn last_lines(text: &str, max_bytes: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut kept = String::new();
    for line in lines.iter().rev() {
        if !kept.is_empty() && kept.len() + line.len() + 3 > max_bytes {
            break;
        }
        kept = if kept.is_empty() { (*line).to_owned() } else { format!("{line} / {kept}") };
    }
    let cut = kept.len().saturating_sub(max_bytes);
    let cut = (cut..=kept.len()).find(|&at| kept.is_char_boundary(at)).unwrap_or(kept.len());
    kept.split_off(cut)
}

/// The error number of the gravest well-known message in `text`, by the words of the C locale; 0
/// where there is none.
pub(super) fn errno_in(text: &str) -> i32 {
    const KNOWN: [(&str, Errno); 9] = [
        ("No space left on device", Errno::NOSPC),
        ("Disk quota exceeded", Errno::DQUOT),
        ("Input/output error", Errno::IO),
        ("Read-only file system", Errno::ROFS),
        ("Permission denied", Errno::ACCESS),
        ("Operation not permitted", Errno::PERM),
        ("Operation not supported", Errno::OPNOTSUPP),
        ("File name too long", Errno::NAMETOOLONG),
        ("No such file or directory", Errno::NOENT),
    ];
    // Of several, want of space explains the others.
    KNOWN.iter().find(|(words, _)| text.contains(words)).map_or(0, |(_, e)| e.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_process::program::TrustedProgram;
    use std::time::Instant;

    #[test]
    fn the_last_lines_are_kept_whole_as_far_as_they_fit() {
        assert_eq!(last_lines("", 500), "");
        assert_eq!(last_lines("\n one \n\n two\n", 500), "one / two");
        assert_eq!(last_lines("first\nsecond\nthird\n", 14), "second / third");
        assert_eq!(last_lines("first\nsecond\nthird\n", 13), "third");
        assert_eq!(last_lines("ab\u{e9}\u{e9}\n", 3), "\u{e9}", "not in the middle of a letter");
        let long = "x".repeat(1000);
        assert_eq!(last_lines(&long, 500).len(), 500);
    }

    #[test]
    fn complaints_of_want_are_known_by_number() {
        let printed = "cp: error writing 'x': No space left on device / cp: bye";
        assert_eq!(errno_in(printed), Errno::NOSPC.raw_os_error());
        assert_eq!(errno_in("cp: cannot stat 'y': No such file or directory"), 2);
        assert_eq!(errno_in("what do I know"), 0);
    }

    #[test]
    fn a_flood_is_taken_and_its_end_kept() {
        let mut stderr_tail = StderrTail::new().unwrap();
        let text = "yes complaint | head -n 500000 >&2; echo end >&2; exit 3";
        let mut command = ProgramCommand::new(&TrustedProgram::confirmed(text));
        stderr_tail.attach(&mut command).unwrap();
        let mut child = command.spawn().unwrap();
        drop(command);
        assert_eq!(stderr_tail.wait_for(&mut child).unwrap().code(), Some(3));
        assert_eq!(stderr_tail.last_lines(27), "complaint / complaint / end");
        assert!(stderr_tail.kept.len() <= KEPT_BYTES && stderr_tail.kept.len() > KEPT_BYTES / 2);
        assert!(stderr_tail.kept.capacity() <= 4 * KEPT_BYTES, "{}", stderr_tail.kept.capacity());
    }

    fn script(dir: &tempfile::TempDir, text: &str) -> Program {
        let path = dir.path().join("program");
        fsarena_testkit::write_script(&path, text);
        Program { name: "program".to_owned(), trusted: TrustedProgram::at(&path).unwrap() }
    }

    #[test]
    fn a_version_is_the_first_line_that_is_printed() {
        let dir = tempfile::tempdir().unwrap();
        let soon = Duration::from_secs(10);
        let printed = |text: &str| version_within(&script(&dir, text), soon).unwrap();
        assert_eq!(printed("echo; echo \" 7 for $1 \"; echo more"), "7 for --version");
        assert_eq!(printed("echo version 7 >&2"), "version 7");
        assert_eq!(printed("echo unknown option >&2; exit 2"), "", "a complaint is no version");
        assert_eq!(printed("cat; pwd"), "/", "nothing on standard input, and not in a tree");
        let gone = script(&dir, "true");
        std::fs::remove_file(gone.path()).unwrap();
        assert_eq!(version(&gone), "");
    }

    #[test]
    fn a_program_that_does_not_answer_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        assert_eq!(
            version_within(&script(&dir, "sleep 100"), Duration::from_millis(100)).unwrap(),
            ""
        );
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
