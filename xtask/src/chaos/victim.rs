//! Which processes of a start are met, and what they are sent.

use super::live::Live;
use fsarena_testkit::processes::{parent_of, runs_as, state_of};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::BTreeMap;
use std::fs;

/// What ends programs: by hand, by a terminal, by a service manager, by the kernel, by a pipe whose
/// reader is gone.
pub(super) const SIGNALS: &[(Signal, &str)] = &[
    (Signal::KILL, "KILL"),
    (Signal::TERM, "TERM"),
    (Signal::INT, "INT"),
    (Signal::HUP, "HUP"),
    (Signal::QUIT, "QUIT"),
    (Signal::PIPE, "PIPE"),
];

/// Subcommands that are processes of the program itself.
const PARTS: &[&str] =
    &["executor", "virtual_executor", "crash_executor", "vdisk_server", "worker"];

/// Some processes of a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Victim {
    /// The program that was started, alone.
    Runner,
    /// Its process group, as Ctrl-C reaches it.
    Group,
    /// All there is, the youngest first, as the end of a session reaches it.
    Everything,
    /// The executor outside of the namespaces.
    Executor,
    /// The one inside, whose end is that of everything in them.
    InnerExecutor,
    Worker,
    /// The process that serves a modelled disk.
    DiskServer,
    /// The executor of a trial in a guest.
    VirtualExecutor,
    /// The kernel that runs as a guest.
    Guest,
    /// A rank that has dialled, or the process on a host that starts its worker.
    Rank,
    /// The process that speaks for a rank next to the runner.
    RankConnection,
    /// The process that mounts crash states under the kernel of this machine.
    Mounter,
    /// A program that one of these has started, such as mkfs or a compiler.
    Tool,
}

impl Victim {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Group => "group",
            Self::Everything => "everything",
            Self::Executor => "executor",
            Self::InnerExecutor => "inner executor",
            Self::Worker => "worker",
            Self::DiskServer => "disk server",
            Self::VirtualExecutor => "guest executor",
            Self::Guest => "guest",
            Self::Rank => "rank",
            Self::RankConnection => "connection of a rank",
            Self::Mounter => "mounter",
            Self::Tool => "tool",
        }
    }

    /// Those of a start that has these of its own.
    pub(super) fn all(own: &[Self]) -> Vec<Self> {
        [&[Self::Runner, Self::Group, Self::Everything][..], own].concat()
    }

    /// Whether the program that was started is one of them.
    pub(super) fn includes_runner(self) -> bool {
        matches!(self, Self::Runner | Self::Group | Self::Everything)
    }

    /// The processes; none where there is none at the moment.
    pub(super) fn find(self, live: &Live) -> Vec<Pid> {
        let all = || live.fixture.processes();
        let called = |name: &str| all().into_iter().find(|pid| runs_as(*pid, name));
        let is_executor = |pid: &Pid| runs_as(*pid, "executor");
        let is_inner = |pid: &Pid| parent_of(*pid).is_some_and(|parent| is_executor(&parent));
        let found = match self {
            Self::Runner | Self::Group => Some(live.pid()),
            Self::Everything => return all().into_iter().rev().collect(),
            Self::Executor => all().into_iter().find(|pid| is_executor(pid) && !is_inner(pid)),
            Self::InnerExecutor => all().into_iter().find(|pid| is_executor(pid) && is_inner(pid)),
            Self::Worker => called("worker"),
            Self::DiskServer => called("vdisk_server"),
            Self::VirtualExecutor => called("virtual_executor"),
            Self::Guest => live.fixture.guests().first().copied(),
            Self::Rank => called("rank").or_else(|| called("rank-server")),
            Self::RankConnection => called("rank-connection"),
            Self::Mounter => called("crash_executor"),
            Self::Tool => tools(live.pid()).first().copied(),
        };
        found.into_iter().collect()
    }

    /// Sends a signal; whether there was anything to send it to.
    pub(super) fn signal(self, live: &Live, signal: Signal) -> bool {
        let found = self.find(live);
        for pid in &found {
            // Gone already is as good.
            let _ = match self {
                Self::Group => kill_process_group(*pid, signal),
                _ => kill_process(*pid, signal),
            };
        }
        !found.is_empty()
    }
}

/// Programs that `root` or its descendants have started, and that are none of its own parts. They
/// may have an environment without any mark, so it is their parents that tell.
fn tools(root: Pid) -> Vec<Pid> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut children: BTreeMap<i32, Vec<Pid>> = BTreeMap::new();
    for pid in pids.filter_map(Pid::from_raw) {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent.as_raw_nonzero().get()).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut ahead = vec![root];
    while let Some(pid) = ahead.pop() {
        let own = children.get(&pid.as_raw_nonzero().get()).cloned().unwrap_or_default();
        found.extend(own.iter().copied());
        ahead.extend(own);
    }
    let is_part = |pid: &Pid| PARTS.iter().any(|part| runs_as(*pid, part));
    // What is dead and not waited for cannot be killed once more.
    let is_alive = |pid: &Pid| state_of(*pid).is_some_and(|state| state != 'Z');
    found.retain(|pid| is_alive(pid) && !is_part(pid));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn three_victims_of_every_start_have_it_among_them() {
        let all = Victim::all(&[Victim::Worker]);
        assert_eq!(all.iter().filter(|victim| victim.includes_runner()).count(), 3);
        assert!(all.contains(&Victim::Worker) && all.len() == 4);
    }

    #[test]
    fn tools_are_descendants_that_live() {
        let script = "env -i sleep 600 & echo $!; read line";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let sleeper = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        assert_eq!(tools(Pid::from_child(&shell)), [sleeper]);
        kill_process(sleeper, Signal::KILL).unwrap();
        while state_of(sleeper).is_some_and(|state| state != 'Z') {
            std::thread::yield_now();
        }
        assert_eq!(tools(Pid::from_child(&shell)), []);
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}
