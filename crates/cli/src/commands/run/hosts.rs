//! Hosts over which the ranks of a RUN are spread: which they are, and whether each can work.
//!
//! Every host is asked before anything is made: all in one go, since a list may be long. Ranks of
//! an allocation come by themselves, and are waited for last of all.

use super::rendezvous::{self, Allocation};
use crate::args::RunArgs;
use crate::commands::remote;
use crate::commands::trust;
use crate::context::{Usage, exit};
use anyhow::Result;
use fsarena_executor::work_limit_ns;
use fsarena_hosts::{Ending, Host, HostList, TrustedSsh};
use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::factor::{self, HOST_COUNT, RANKS};
use fsarena_model::run::{RunPlace, RunPlan};
use fsarena_model::spec::{RankAgent, RankHost};
use fsarena_model::trust::TrustConsent;
use fsarena_model::visible;
use fsarena_model::work::{HostHello, WorkerSays};
use fsarena_plan::Experiment;
use fsarena_process::cmd::{End, capture};
use fsarena_process::command::ProgramCommand;
use fsarena_process::limits::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The ssh, where none is named.
const SSH: &str = "ssh";
/// The program on a host, where none is named.
const PROGRAM: &str = "fsarena";
/// Until a host has said what it is: a connection with its keys, and the start of a program.
const HELLO_TIMEOUT: Duration = Duration::from_secs(60);
/// Clocks that differ by more are told of: dates in logs of the hosts cannot be compared.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);

/// Hosts that can work.
#[derive(Default)]
pub(super) struct RankHosts {
    hosts: Vec<RankHost>,
    /// Whose ranks they are, where these have come by themselves.
    allocation: Option<Allocation>,
}

impl RankHosts {
    pub(super) fn as_slice(&self) -> &[RankHost] {
        &self.hosts
    }

    /// What each is called.
    pub(super) fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| host.name.clone()).collect()
    }

    /// The end of the RUN, of which ranks of an allocation are told.
    pub(super) fn end_with(&self, ended: Result<ExitCode>) -> Result<ExitCode> {
        let is_done =
            |code: &ExitCode| ![exit::FAILED, exit::INTERRUPTED].map(ExitCode::from).contains(code);
        if let Some(allocation) = &self.allocation {
            allocation.end(ended.as_ref().is_ok_and(is_done));
        }
        ended
    }
}

/// The hosts that are named.
///
/// # Errors
/// When it is no list of hosts.
pub(super) fn list(args: &RunArgs) -> Result<Option<HostList>> {
    args.hosts.as_deref().map(remote::hosts).transpose()
}

/// The ssh to them, where there are any.
///
/// # Errors
/// When it is not there, is none that root runs, or is named without hosts.
pub(super) fn ssh(args: &RunArgs, consents: &[TrustConsent]) -> Result<Option<TrustedSsh>> {
    if args.hosts.is_none() {
        if args.ssh.is_some() || args.remote_program.is_some() {
            refuse!("--ssh and --remote-program are for --hosts; add it");
        }
        return Ok(None);
    }
    let check = |path: &Path| trust::check_program(path, consents);
    remote::find_ssh(args.ssh.as_deref().unwrap_or(SSH), check).map(Some)
}

/// Adds the level of the ranks where it is not said: one for each host.
///
/// # Errors
/// When ranks are waited for and nobody says how many.
pub(super) fn add_ranks(
    args: &RunArgs,
    hosts: Option<&HostList>,
    named: Option<&Experiment>,
    levels: &mut BTreeMap<&'static str, String>,
) -> Result<()> {
    let is_said = |key: &str| {
        args.factors.levels.contains_key(key)
            || named.is_some_and(|named| named.factors.levels.contains_key(key))
    };
    if args.rendezvous.is_some() && !is_said(RANKS) {
        refuse!("--rendezvous: it waits for as many ranks as --ranks N says; add it");
    }
    if let Some(hosts) = hosts
        && !is_said(RANKS)
        && !is_said(HOST_COUNT)
    {
        levels.insert(RANKS, hosts.as_slice().len().to_string());
    }
    Ok(())
}

/// Refuses levels that ask for more hosts than there are, and hosts that never have a rank.
///
/// # Errors
/// When there are too few hosts, or too few ranks.
pub(super) fn check_numbers(
    args: &RunArgs,
    hosts: Option<&HostList>,
    plan: &RunPlan,
) -> Result<()> {
    let counts = plan.contenders.iter().filter_map(|one| factor::host_count(&one.levels));
    let (most_hosts, most_ranks) = (counts.max(), fsarena_plan::most_ranks(plan));
    match (hosts.map(|hosts| hosts.as_slice().len()), most_hosts) {
        (None, Some(_)) if args.rendezvous.is_some() => refuse!(
            "--host-count: it is for --hosts; ranks of an allocation are where its launcher puts \
             them: compare --ranks 1,2,4"
        ),
        (None, Some(_)) => refuse!("--host-count: it says how many of --hosts work; add --hosts"),
        (Some(hosts), Some(count)) if count as usize > hosts => refuse!(
            "--host-count {count}: --hosts names {}; name more, or ask for fewer",
            match hosts {
                1 => "1 host".to_owned(),
                hosts => format!("{hosts} hosts"),
            }
        ),
        (Some(hosts), None) if (most_ranks as usize) < hosts => refuse!(
            "--ranks {most_ranks}: fewer than the {hosts} hosts; name at least one for each"
        ),
        _ => Ok(()),
    }
}

/// The hosts of a new RUN, each of which has answered.
///
/// # Errors
/// When one cannot work as a rank, or the plan is not for several hosts.
pub(super) fn of_run(
    args: &RunArgs,
    hosts: Option<&HostList>,
    ssh: Option<&TrustedSsh>,
    plan: &RunPlan,
    database: &Path,
) -> Result<RankHosts> {
    let Some((hosts, ssh)) = hosts.zip(ssh) else {
        check_cold_clients(args, plan)?;
        return match &args.rendezvous {
            Some(at) => of_allocation(args, (at, fsarena_plan::most_ranks(plan)), plan, database),
            None => Ok(RankHosts::default()),
        };
    };
    check_directories("--hosts", plan)?;
    let program = args.remote_program.as_deref().unwrap_or(PROGRAM);
    remote::check_program(program)?;
    let hosts = hosts.as_slice();
    let answers: Vec<Result<HostHello, String>> = std::thread::scope(|scope| {
        let ask = |host| scope.spawn(move || hello(ssh, host, program));
        let asked: Vec<_> = hosts.iter().map(ask).collect();
        let failed = || Err("the question to a host could not be asked".to_owned());
        asked.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
    });
    let needs_root = needs_root(args, plan);
    let check = |(host, answer): (&Host, Result<HostHello, String>)| {
        check_hello(host, &answer?, needs_root)
    };
    let checked = hosts.iter().zip(answers).map(check);
    let refused: Vec<String> = checked.filter_map(Result::err).collect();
    if !refused.is_empty() {
        refuse!("--hosts: {}", refused.join("\n"));
    }
    let mount = args.client_mount.as_deref();
    let hosts: Vec<_> = hosts.iter().map(|host| rank_host(ssh, host, (program, mount))).collect();
    if mount.is_some() {
        for dir in directories(plan) {
            check_mount_point(dir)?;
            fsarena_executor::try_clients(&hosts, dir)
                .map_err(|failure| Usage(format!("--client-mount: {failure}")))?;
        }
    }
    Ok(RankHosts { hosts, allocation: None })
}

/// The directories in which it works.
fn directories(plan: &RunPlan) -> BTreeSet<&Path> {
    let levels = plan.contenders.iter().map(|contender| &contender.levels);
    let devices = levels.filter_map(|levels| match &levels.device {
        DeviceLevel::Directory { path } => Some(path.as_path()),
        _ => None,
    });
    devices.collect()
}

/// Refuses a directory of the root file system, which no client can mount in its place.
fn check_mount_point(dir: &Path) -> Result<()> {
    let found = fsarena_devices::mountinfo::find_for_path(dir)?;
    if found.is_none_or(|entry| entry.mount_point.parent().is_none()) {
        let dir = dir.display();
        refuse!(
            "--client-mount: {dir} is on the root file system of this machine; mount the shared \
             one here too, and name a directory of it with --on"
        );
    }
    Ok(())
}

/// What on a host only root may do, of what is asked for.
fn needs_root(args: &RunArgs, plan: &RunPlan) -> Option<&'static str> {
    if args.client_mount.is_some() {
        return Some("--client-mount");
    }
    has_cold_clients(plan).then_some("cache=cold-clients")
}

fn has_cold_clients(plan: &RunPlan) -> bool {
    plan.contenders.iter().any(|contender| contender.levels.cache == Cache::ColdClients)
}

/// Without hosts that are reached by ssh there are no agents that could drop caches.
fn check_cold_clients(args: &RunArgs, plan: &RunPlan) -> Result<()> {
    if !has_cold_clients(plan) {
        return Ok(());
    }
    if args.rendezvous.is_some() {
        refuse!(
            "cache=cold-clients: hosts of --rendezvous have no agent that drops caches; name them \
             with --hosts, or leave it out"
        );
    }
    refuse!("cache=cold-clients is for the hosts of --hosts; add it, or use cache=cold or warm")
}

/// The ranks of an allocation, which are waited for.
fn of_allocation(
    args: &RunArgs,
    (at, size): (&str, u32),
    plan: &RunPlan,
    database: &Path,
) -> Result<RankHosts> {
    check_directories("--rendezvous", plan)?;
    rendezvous::check(args, at)?;
    if args.dry_run {
        return Ok(RankHosts::default());
    }
    let (allocation, hosts) = Allocation::wait(args, (at, size), database)?;
    Ok(RankHosts { hosts, allocation: Some(allocation) })
}

/// Refuses what several hosts do not have in common.
fn check_directories(option: &str, plan: &RunPlan) -> Result<()> {
    let is_directory = |device: &DeviceLevel| matches!(device, DeviceLevel::Directory { .. });
    if !plan.contenders.iter().all(|contender| is_directory(&contender.levels.device)) {
        refuse!(
            "{option}: ranks on several hosts work in a directory that all of them have; name one \
             of a shared file system with --on DIR"
        );
    }
    Ok(())
}

/// The hosts of a stored RUN, which must be named again: a database does not decide what is
/// connected to.
///
/// # Errors
/// When they are not named, or are others.
pub(super) fn of_stored(
    args: &RunArgs,
    ssh: Option<&TrustedSsh>,
    rest: &RunPlan,
    place: &RunPlace,
    database: &Path,
) -> Result<RankHosts> {
    let stored = place.hosts.as_slice();
    if args.client_mount != place.client_mount && !stored.is_empty() && args.hosts.is_some() {
        match &place.client_mount {
            Some(command) => {
                let command = visible::one_line(command);
                refuse!("the RUN has --client-mount {command:?}; name it again")
            }
            None => refuse!("--client-mount: the hosts of the RUN had it mounted; leave it out"),
        }
    }
    let hosts = match (&args.rendezvous, u32::try_from(stored.len())) {
        (Some(at), Ok(size)) if size > 0 => of_allocation(args, (at, size), rest, database)?,
        (Some(_), _) => refuse!("--rendezvous: the RUN has its ranks on this host; leave it out"),
        (None, _) => of_run(args, list(args)?.as_ref(), ssh, rest, database)?,
    };
    if hosts.names() == stored {
        return Ok(hosts);
    }
    let stored = visible::one_line(&stored.join(",")).into_owned();
    match stored.as_str() {
        "" => refuse!("--hosts: the RUN has its ranks on this host; leave it out"),
        _ if args.rendezvous.is_some() => {
            let came = hosts.names().join(",");
            refuse!("--rendezvous: the ranks are on {came}, and those of the RUN on {stored}")
        }
        _ => refuse!(
            "the RUN has its ranks on other hosts; name them again: --hosts {stored}; of an \
             allocation: --rendezvous PORT"
        ),
    }
}

/// A host with the command that starts a rank there.
fn rank_host(ssh: &TrustedSsh, host: &Host, (program, mount): (&str, Option<&str>)) -> RankHost {
    let agent = RankAgent {
        argv: ssh.command_line(host, &[program, "agent"]),
        mount: mount.map(str::to_owned),
    };
    let argv = ssh.command_line(host, &[program, "rank-server"]);
    let name = host.as_str().to_owned();
    // Each trial says what it is expected to take.
    RankHost { name, argv, work_limit_ns: work_limit_ns(0), agent: Some(agent) }
}

/// What a host says of itself, or in a sentence why it says nothing.
fn hello(ssh: &TrustedSsh, host: &Host, program: &str) -> Result<HostHello, String> {
    let mut command = ProgramCommand::new(ssh.program());
    command.args(ssh.arguments(host, &[program, "rank-server"]));
    let captured = capture(&mut command, "", Limits::of_writer(), Some(HELLO_TIMEOUT), None);
    let captured = captured.map_err(|error| {
        format!("{}: cannot be started: {error}", ssh.program().path().display())
    })?;
    let status = match captured.end {
        End::Ended(status) => status,
        _ => {
            let seconds = HELLO_TIMEOUT.as_secs();
            return Err(format!(
                "{host}: no answer within {seconds} s; see that `ssh {host}` works"
            ));
        }
    };
    let first = captured.stdout.lines().next().unwrap_or_default();
    match serde_json::from_str(first) {
        Ok(WorkerSays::Host(hello)) => Ok(hello),
        _ if status.success() => Err(format!(
            "{host}: {} is another program, or another version of fsarena; it said {:?}",
            visible::one_line(program),
            first.chars().take(80).collect::<String>()
        )),
        _ => {
            let ending = Ending::new(status, &captured.stderr, !captured.stdout.is_empty());
            Err(ending.sentence(host, program))
        }
    }
}

/// Whether a host that has answered can work as a rank, as root where something needs that; a clock
/// that is wrong is only told of.
fn check_hello(host: &Host, hello: &HostHello, needs_root: Option<&str>) -> Result<(), String> {
    if let Some(why) = hello.version_difference(env!("CARGO_PKG_VERSION")) {
        return Err(format!("{host}: {why}"));
    }
    if let Some(what) = needs_root.filter(|_| !hello.is_root) {
        return Err(format!("{host}: {what} needs root there; name it as root@HOST"));
    }
    let difference_ns = hello.unix_ns.abs_diff(fsarena_metrics::realtime_ns());
    if u128::from(difference_ns) > CLOCK_DIFFERENCE.as_nanos() {
        let difference = fsarena_model::units::Nanos(difference_ns);
        say!("{host}: its date differs from ours by {difference}; lengths are not affected");
    }
    Ok(())
}
