//! A run that is under way: caught in the middle of a timed phase, signalled, killed.

use super::{LIMIT, Outputs, Ran, TestEnv, wait};
use fsarena_testkit::processes::{runs_as, state_of};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A started program, in a process group of its own.
pub struct Live<'a> {
    env: &'a TestEnv,
    child: Child,
    files: Outputs,
}

impl TestEnv {
    /// Starts the program and does not wait.
    pub fn start(&self, args: &[&str]) -> Live<'_> {
        self.start_command(self.command(args))
    }

    pub fn start_command(&self, mut command: Command) -> Live<'_> {
        let files = self.redirect(&mut command);
        let child = command.stdin(Stdio::null()).process_group(0).spawn().unwrap();
        Live { env: self, child, files }
    }

    /// An experiment of two blocks of one timed phase, `create`, that lasts long enough to be
    /// caught; `fs` is empty for a directory.
    pub fn long_experiment(&self, fs: &str, device: &str, more: &str) -> String {
        let fs = if fs.is_empty() { String::new() } else { format!("fs = \"{fs}\"\n") };
        let cache = if fs.is_empty() { "cache = \"warm\"\n" } else { "" };
        let text = format!(
            "schema = 1\nname = \"long\"\n[run]\nblocks = 2\nseed = 1\n\
             [factors]\n{fs}device = \"{device}\"\n{cache}\
             [[workload]]\nname = \"many\"\nfiles = 20000\nsize = \"256 B\"\n\
             phases = [\"create\"]\n{more}"
        );
        self.write("long.toml", &text)
    }
}

impl Live<'_> {
    /// Waits until standard error has `text`.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.poll(text, |live| live.stderr().contains(text).then_some(()));
    }

    /// Waits until the phase of block `block` is under way (its first file is there), stops the
    /// worker in its middle and gives its process id.
    #[track_caller]
    pub fn stop_in_phase(&mut self, block: u32) -> Pid {
        self.wait_for(&format!("[{block}/2]"));
        let mut found = None;
        let worker = self.poll("first file of the phase", |live| {
            // There may be workers of untimed steps before.
            if found.is_none_or(|pid| state_of(pid).is_none()) {
                found = live.worker();
            }
            let root = format!("/proc/{}/cwd", found?.as_raw_nonzero());
            let mut files = fs::read_dir(root).ok()?.flatten();
            files.any(|file| file.file_name().as_encoded_bytes()[0] == b'f').then_some(found?)
        });
        kill_process(worker, Signal::STOP).expect("the worker is at work");
        self.poll("worker to stop", |_| (state_of(worker)? == 'T').then_some(()));
        worker
    }

    /// Waits until the image is there and not yet whole.
    #[track_caller]
    pub fn image_begun(&mut self) {
        let images = self.env.images();
        self.poll("image", |_| fs::read_dir(&images).ok()?.next()?.ok());
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Sends a signal to the program's process group, as a terminal does.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(self.pid(), signal).unwrap();
    }

    /// Sends a signal to the program and all that belongs to it, the youngest first.
    pub fn signal_tree(&self, signal: Signal) {
        for pid in self.env.fixture.processes().into_iter().rev() {
            // Gone already is as good.
            let _ = kill_process(pid, signal);
        }
    }

    /// `kill -9` of the program, its executor, its worker and all else in this test environment.
    pub fn kill_tree(&self) {
        for pid in self.env.fixture.processes() {
            kill_dash_nine(pid);
        }
    }

    /// The executors (outer, then inner where there are two).
    pub fn executors(&self) -> Vec<Pid> {
        self.env.fixture.processes().into_iter().filter(|pid| runs_as(*pid, "executor")).collect()
    }

    /// The processes that serve modelled disks.
    pub fn disk_servers(&self) -> Vec<Pid> {
        self.env
            .fixture
            .processes()
            .into_iter()
            .filter(|pid| runs_as(*pid, "vdisk_server"))
            .collect()
    }

    /// The processes that mount crash states (outer, then inner).
    pub fn mounters(&self) -> Vec<Pid> {
        self.env
            .fixture
            .processes()
            .into_iter()
            .filter(|pid| runs_as(*pid, "crash_executor"))
            .collect()
    }

    /// The executors of trials in guests.
    pub fn virtual_executors(&self) -> Vec<Pid> {
        self.env
            .fixture
            .processes()
            .into_iter()
            .filter(|pid| runs_as(*pid, "virtual_executor"))
            .collect()
    }

    /// The root of the mounted file system, reached through an executor's mount namespace.
    #[track_caller]
    pub fn mounted_root(&self) -> PathBuf {
        let place = self.env.dir().display().to_string();
        let found = self.executors().into_iter().rev().find_map(|pid| {
            let proc = format!("/proc/{}", pid.as_raw_nonzero());
            let mounts = fs::read_to_string(format!("{proc}/mountinfo")).ok()?;
            let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
            let mut ours = points.filter(|at| at.starts_with(&place) && at.ends_with("/mnt"));
            Some(Path::new(&format!("{proc}/root{}", ours.next()?)).to_owned())
        });
        found.expect("a file system is mounted")
    }

    pub fn worker(&self) -> Option<Pid> {
        self.workers().first().copied()
    }

    /// All workers, on this host.
    pub fn workers(&self) -> Vec<Pid> {
        let processes = self.env.fixture.processes().into_iter();
        processes.filter(|pid| runs_as(*pid, "worker")).collect()
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ran {
        wait(&mut self.child, &self.files)
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.files.err).unwrap()
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Looks again and again until there is something; fails where it ends before.
    #[track_caller]
    pub fn poll<T>(&mut self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("ended ({status}) while {what:?} was awaited:\n{}", self.stderr());
            }
            assert!(Instant::now() < deadline, "no {what:?}:\n{}", self.stderr());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn kill_dash_nine(pid: Pid) {
    // Gone already is as good.
    let _ = kill_process(pid, Signal::KILL);
}
