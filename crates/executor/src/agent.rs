//! The agent of a host whose ranks work on a shared file system: it makes the host a client, drops
//! what that has cached, and counts what it does in a phase.
//!
//! ```text
//! ssh ── agent (outside: makes the namespaces, waits) ── agent --inside
//! ```
//! As root it has mounts and processes of its own, as an executor has: what it mounts and the
//! daemon that serves it end with it, and it ends with its input. Ranks join its mounts. Without
//! root it only counts.

use crate::place::{PlaceError, end_with_outside, in_own_namespaces};
use crate::rank_server::{host_hello, say};
use fsarena_bounded::Bounded;
use fsarena_devices::mount::{Mounted, mount_by_command};
use fsarena_devices::mountinfo::{self, MountEntry};
use fsarena_devices::{cache, settle};
use fsarena_metrics::{
    KernelRoots, MetricError, Sampler, Snapshot, Sources, Watch, counters_growth, delta,
    nfs_counters, series,
};
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::client::{ClientCounts, ClientPlace, ClientSays, ClientSpec};
use fsarena_model::sample::{Counters, SamplerCost, Series};
use fsarena_model::work::{LINE_MOST_BYTES, WorkerSays};
use fsarena_process::program::TrustedProgram;
use rustix::fs::{Access, access};
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// Until a directory that the runner has made is seen by another client.
const SEEN_LIMIT: Duration = Duration::from_secs(10);
const SEEN_PAUSE: Duration = Duration::from_millis(20);

/// Most samples of a phase that are sent: one line of JSON has them.
const SAMPLES_MOST: usize = 256;
/// Beginnings of the names of counters of which samples are sent.
const SAMPLED: [&str; 4] = ["net.", "cpu.", "mem.dirty", "mem.writeback"];

/// The outer process: as root it runs `program agent --inside` in mounts and processes of its own;
/// else, and where it may not make them, it is the agent itself.
///
/// # Errors
/// When the inner process cannot be started, or standard input or output fails.
pub fn agent_outside(program: &TrustedProgram) -> Result<(), PlaceError> {
    let own_pid = std::process::id().to_string();
    match in_own_namespaces(program, &["agent", "--inside", &own_pid])? {
        Some(_) => Ok(()),
        None => Ok(serve_agent(None, io::stdin().lock(), io::stdout().lock())?),
    }
}

/// The inner process; `outside_pid` is the one that shares its mounts and is seen by ranks.
///
/// # Errors
/// When its parent is gone, or standard input or output fails.
pub fn agent_inside(outside_pid: u32) -> Result<(), PlaceError> {
    end_with_outside()?;
    Ok(serve_agent(Some(outside_pid), io::stdin().lock(), io::stdout().lock())?)
}

/// One spec, then orders until the input ends.
fn serve_agent(
    outside_pid: Option<u32>,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut input = Bounded::new(input, LINE_MOST_BYTES);
    say(&mut output, &WorkerSays::Host(host_hello()))?;
    let Some(line) = input.next_text_line()? else { return Ok(()) };
    let mut client = match Client::begin(&line, outside_pid) {
        Ok((client, place)) => {
            say(&mut output, &WorkerSays::Client(ClientSays::Mounted(place)))?;
            client
        }
        Err(why) => return say(&mut output, &WorkerSays::Refused(why)),
    };
    loop {
        let Some(line) = input.next_text_line()? else { return Ok(()) };
        let done = match line.trim_end() {
            "chill" => client.chill(),
            "count" => client.count(),
            "counted" => client.counted(),
            "end" => client.end(),
            other => Err(format!("an order that this program does not know: {other:?}")),
        };
        let says = done.map_or_else(WorkerSays::Refused, WorkerSays::Client);
        say(&mut output, &says)?;
        if matches!(says, WorkerSays::Refused(_)) {
            return Ok(());
        }
    }
}

/// This host as a client.
struct Client {
    spec: ClientSpec,
    mounted: Option<Mounted>,
    roots: KernelRoots,
    sources: Sources,
    begun: Option<CountedPhase>,
}

/// A phase that is being counted.
struct CountedPhase {
    before: Reading,
    sampler: Option<Sampler>,
}

/// Counters at one moment.
struct Reading {
    snapshot: Snapshot,
    nfs: Counters,
}

/// The counters of a whole host.
fn sources(roots: &KernelRoots) -> Result<Sources, MetricError> {
    Sources::open(roots, &Watch { network: true, ..Watch::default() })
}

impl Client {
    fn begin(line: &str, outside_pid: Option<u32>) -> Result<(Self, ClientPlace), String> {
        let spec: ClientSpec =
            serde_json::from_str(line).map_err(|error| format!("client spec: {error}"))?;
        if spec.schema != SPEC_SCHEMA {
            let known = SPEC_SCHEMA;
            return Err(format!("client spec of schema {}; {known} is known here", spec.schema));
        }
        if spec.mount.is_some() && outside_pid.is_none() {
            return Err("a mount there needs root, and mounts of its own (no container)".to_owned());
        }
        let roots = KernelRoots::default();
        let sources = sources(&roots).map_err(|error| error.to_string())?;
        let mut client = Self { spec, mounted: None, roots, sources, begun: None };
        client.mount()?;
        let place = ClientPlace {
            mounts_of_pid: outside_pid,
            fstype: client.entry().map(|entry| entry.fstype).unwrap_or_default(),
        };
        Ok((client, place))
    }

    /// Mounts, where that is asked for, and waits until the directory of the trial is there. It has
    /// to be one that can be written.
    fn mount(&mut self) -> Result<(), String> {
        if let Some(mount) = &self.spec.mount {
            let place = &mount.mount_point;
            if place.parent().is_none() {
                return Err("the root of all mounts cannot be mounted by a client".to_owned());
            }
            if !place.is_dir() {
                let place = place.display();
                return Err(format!(
                    "{place}: no such directory, and it is mounted there; make it"
                ));
            }
            let mounted = mount_by_command(&mount.command, place);
            self.mounted = Some(mounted.map_err(|error| error.to_string())?);
        }
        let began = Instant::now();
        while !self.spec.root.is_dir() {
            if began.elapsed() > SEEN_LIMIT {
                let root = &self.spec.root;
                let on = self.entry().map_or_else(|| root.clone(), |entry| entry.mount_point);
                return Err(format!(
                    "{}: the directory of the trial is not there; see that {} is one file system \
                     on all hosts",
                    root.display(),
                    on.display()
                ));
            }
            std::thread::sleep(SEEN_PAUSE);
        }
        access(&self.spec.root, Access::WRITE_OK).map_err(|error| {
            let root = self.spec.root.display();
            let error = io::Error::from(error);
            format!("{root}: cannot be written there: {error}; see how it is mounted, and as whom")
        })
    }

    /// The mount that the directory of the trial is on.
    fn entry(&self) -> Option<MountEntry> {
        mountinfo::find_for_path(&self.spec.root).ok().flatten()
    }

    /// Forgets all that this host has cached: what is dirty goes to the servers first.
    fn chill(&mut self) -> Result<ClientSays, String> {
        settle::syncfs(&self.spec.root).map_err(|error| error.to_string())?;
        let is_mounted = self.mounted.is_some();
        self.unmount()?;
        cache::drop_caches().map_err(|error| error.to_string())?;
        if is_mounted {
            self.mount()?;
        }
        Ok(ClientSays::Chilled)
    }

    fn unmount(&mut self) -> Result<(), String> {
        let Some(mounted) = self.mounted.take() else { return Ok(()) };
        mounted.unmount().map(|_| ()).map_err(|refused| refused.1.to_string())
    }

    fn count(&mut self) -> Result<ClientSays, String> {
        let period_ns = self.spec.sample_period_ns;
        let sampler = match period_ns {
            0 => None,
            _ => Some(self.start_sampler(period_ns).map_err(|error| error.to_string())?),
        };
        self.begun = Some(CountedPhase { before: self.read()?, sampler });
        Ok(ClientSays::Counting)
    }

    fn start_sampler(&self, period_ns: u64) -> Result<Sampler, MetricError> {
        Sampler::start(sources(&self.roots)?, period_ns)
    }

    fn counted(&mut self) -> Result<ClientSays, String> {
        let after = self.read()?;
        let CountedPhase { before, sampler } =
            self.begun.take().ok_or("nothing was counted from")?;
        let mut counters = delta(&before.snapshot, &after.snapshot);
        counters.extend(counters_growth(&before.nfs, &after.nfs));
        let sampled = sampler.map(sampled).transpose().map_err(|error| error.to_string())?;
        let (series, sampler) = sampled.unzip();
        Ok(ClientSays::Counted(ClientCounts { counters, series, sampler }))
    }

    fn read(&mut self) -> Result<Reading, String> {
        let snapshot = self.sources.read().map_err(|error| error.to_string())?;
        let on = self.entry();
        let nfs = on.map(|on| nfs_counters(&self.roots, &on.mount_point)).unwrap_or_default();
        Ok(Reading { snapshot, nfs })
    }

    fn end(&mut self) -> Result<ClientSays, String> {
        self.unmount()?;
        Ok(ClientSays::Ended)
    }
}

/// The samples, by `CLOCK_MONOTONIC` of this host. An error ends them early, and the phase goes on.
fn sampled(sampler: Sampler) -> Result<(Series, SamplerCost), MetricError> {
    let (mut samples, cost) = sampler.stop()?;
    samples.thin_to(SAMPLES_MOST);
    let mut series = series(&samples, 0);
    series.columns.retain(|name, _| SAMPLED.iter().any(|begin| name.starts_with(begin)));
    Ok((series, cost))
}
