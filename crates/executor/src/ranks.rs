//! The workers of a timed phase: one, or several ranks that share it, here or on other hosts.
//!
//! All are made ready, then all are let go one right after the other, then all are heard, whoever
//! speaks first. A rank that dies ends the phase at once; one whose work fails ends the others, and
//! what was heard so far is the report.

use crate::clients::Clients;
use crate::host_time::{AnswerLimits, HostTimeError, RunnerSpan, check_rate};
use crate::stop::Stop;
use crate::worker::{ReadyWorker, WorkerFailure, command_of, local_command};
use fsarena_metrics::{KernelRoots, host, monotonic_ns};
use fsarena_model::host::Host;
use fsarena_model::rank::{ClockOffset, HeardRank, RankReport, merge};
use fsarena_model::spec::RankHost;
use fsarena_model::split::piece;
use fsarena_model::work::{
    CounterFile, HostHello, Pauses, WEAR_OUT, WorkerReport, WorkerSays, WorkerSpec,
};
use fsarena_process::command::ProgramCommand;
use fsarena_process::program::TrustedProgram;
use rustix::event::poll;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::cell::LazyCell;
use std::time::Duration;

/// In a failure of a rank here.
const THIS_HOST: &str = "this host";
/// How often a clock is asked for before and after a phase; the quickest answer counts.
const CLOCK_READINGS: u32 = 64;
/// Of a host far away it is fewer.
const CLOCK_READINGS_NS: u64 = 200_000_000;

/// The workers of a phase, in order of their numbers.
pub(crate) struct Ranks<'a> {
    ranks: Vec<Rank<'a>>,
    reports: Vec<RankReport>,
}

/// One of them.
struct Rank<'a> {
    number: u32,
    worker: ReadyWorker<'a>,
    /// What it runs on, where that is another host.
    elsewhere: Option<Elsewhere>,
    heard: Heard,
    /// Ops of its thread that had done the most when the time of a stonewall was over.
    at_wall: Option<u64>,
    /// How long it was away, by the clock here.
    span: RunnerSpan,
}

struct Elsewhere {
    /// What the user calls it.
    name: String,
    hello: HostHello,
    /// Whose mounts its ranks enter there.
    mounts_of_pid: Option<u32>,
    clock: ClockOffset,
    /// When that was read, by the clock here.
    clock_read_ns: u64,
    /// How long its worker stood still.
    pauses: Pauses,
}

enum Heard {
    Nothing,
    Durable,
    Done(Box<WorkerReport>),
}

impl<'a> Ranks<'a> {
    /// Starts as many ranks as `count` says, spread over `hosts` or else here, and waits until all
    /// are ready.
    ///
    /// # Errors
    /// When one cannot be started, refuses the spec, dies, or a stop is asked for meanwhile.
    pub(crate) fn start(
        program: &TrustedProgram,
        spec: &WorkerSpec,
        (count, hosts, clients): (u32, &[RankHost], &Clients<'_>),
        stop: &'a Stop,
    ) -> Result<Self, WorkerFailure> {
        if count <= 1 && hosts.is_empty() {
            let worker = ReadyWorker::start(program, spec, stop)?;
            let alone = Rank::new(0, worker, None);
            return Ok(Self { ranks: vec![alone], reports: vec![] });
        }
        let mut ranks = Self { ranks: Vec::with_capacity(count as usize), reports: vec![] };
        for number in 0..count {
            let host = host_of(number, count, hosts);
            let name = host.map_or(THIS_HOST, |host| host.name.as_str());
            let worker = command(program, host)
                .and_then(|mut command| ReadyWorker::spawn(&mut command, stop));
            let worker = worker.map_err(|failure| of_rank(number, name, failure))?;
            let worker = worker.within(host.map(AnswerLimits::of_host));
            let elsewhere = host.map(|host| Elsewhere {
                name: host.name.clone(),
                hello: HostHello::default(),
                mounts_of_pid: clients.mounts_on(host),
                clock: ClockOffset::default(),
                clock_read_ns: 0,
                pauses: Pauses::default(),
            });
            ranks.ranks.push(Rank::new(number, worker, elsewhere));
        }
        // Each prepares itself while others do.
        for rank in &mut ranks.ranks {
            rank.worker.give(&rank.own_spec(spec, count));
        }
        ranks.each(Rank::get_ready)?;
        Ok(ranks)
    }

    /// The one worker of a phase without other ranks.
    pub(crate) fn alone(&mut self) -> &mut ReadyWorker<'a> {
        &mut self.ranks[0].worker
    }

    /// Process ids of those that run here.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let here = self.ranks.iter().filter(|rank| rank.elsewhere.is_none());
        here.map(|rank| rank.worker.pid()).collect()
    }

    fn are_here(&self) -> bool {
        self.ranks.iter().all(|rank| rank.elsewhere.is_none())
    }

    /// Has each open `files`, which it reads when its work is durable. Other hosts have counters of
    /// their own.
    ///
    /// # Errors
    /// As [`ReadyWorker::read_when_durable`].
    pub(crate) fn read_when_durable(&mut self, files: &[CounterFile]) -> Result<(), WorkerFailure> {
        if !self.are_here() {
            return Ok(());
        }
        self.each(|rank| rank.worker.read_when_durable(files))
    }

    /// Has the first run the canary loop; `None` where none runs here.
    ///
    /// # Errors
    /// As [`ReadyWorker::canary`].
    pub(crate) fn canary(&mut self) -> Result<Option<u64>, WorkerFailure> {
        if !self.are_here() {
            return Ok(None);
        }
        self.alone().canary().map(Some)
    }

    /// Lets all go and waits until what they did is durable ([`WorkerSays::Durable`]), or for the
    /// result of all.
    ///
    /// # Errors
    /// When one dies or a stop is asked for.
    pub(crate) fn go_until_durable(&mut self) -> Result<WorkerSays, WorkerFailure> {
        if let [alone] = self.ranks.as_mut_slice()
            && alone.elsewhere.is_none()
        {
            return alone.worker.go_until_durable();
        }
        for rank in &mut self.ranks {
            rank.span.went_ns = monotonic_ns();
            rank.worker.let_go();
        }
        let mut has_failed = false;
        while !has_failed && self.ranks.iter().any(|rank| matches!(rank.heard, Heard::Nothing)) {
            for number in self.who_speaks()? {
                let rank = &mut self.ranks[number];
                rank.hear().map_err(|failure| rank.of_it(failure))?;
                has_failed |= rank.has_failed();
            }
            self.wear_out();
        }
        if has_failed || !self.are_here() {
            self.results(!has_failed)
        } else {
            Ok(WorkerSays::Durable)
        }
    }

    /// Tells all to how many ops each thread goes on, once all have said how far they were when the
    /// time of a stonewall was over.
    fn wear_out(&mut self) {
        let at_wall: Option<Vec<u64>> = self.ranks.iter().map(|rank| rank.at_wall).collect();
        let Some(most_ops) = at_wall.and_then(|all| all.into_iter().max()) else { return };
        for rank in &mut self.ranks {
            rank.at_wall = None;
            rank.worker.say(&format!("{WEAR_OUT}{most_ops}"));
        }
    }

    /// The result of all that were durable.
    ///
    /// # Errors
    /// As [`Self::go_until_durable`].
    pub(crate) fn hear(&mut self) -> Result<WorkerSays, WorkerFailure> {
        match self.ranks.as_mut_slice() {
            [alone] if alone.elsewhere.is_none() => alone.worker.hear(),
            _ => self.results(true),
        }
    }

    /// What each has done, once there is a result; nothing of one worker alone.
    pub(crate) fn take_reports(&mut self) -> Vec<RankReport> {
        std::mem::take(&mut self.reports)
    }

    /// Who of those on other hosts stood still for the longest time, and how long.
    pub(crate) fn longest_pause(&self) -> (String, Pauses) {
        let elsewhere = self.ranks.iter().filter_map(|rank| Some((rank, rank.elsewhere.as_ref()?)));
        let longest = elsewhere.max_by_key(|(_, at)| at.pauses.stopped_ns.max(at.pauses.gap_ns));
        longest.map_or_else(Default::default, |(rank, at)| {
            (format!("rank {} on {}", rank.number, at.name), at.pauses)
        })
    }

    /// The numbers of those that have something to say and were not heard to the end, after a wait.
    ///
    /// # Errors
    /// When one has been at its work for too long.
    fn who_speaks(&self) -> Result<Vec<usize>, WorkerFailure> {
        let waiting = |rank: &&Rank<'_>| matches!(rank.heard, Heard::Nothing);
        let waiting: Vec<&Rank<'_>> = self.ranks.iter().filter(waiting).collect();
        let now_ns = monotonic_ns();
        let mut left_ns = None;
        for rank in &waiting {
            let Some(own_ns) = rank.left_ns(now_ns) else { continue };
            if own_ns == 0 {
                return Err(rank.of_it(rank.silent()));
            }
            left_ns = Some(left_ns.map_or(own_ns, |least_ns: u64| least_ns.min(own_ns)));
        }
        let is_in: Vec<usize> = waiting
            .iter()
            .filter(|rank| rank.worker.wait_for().is_none())
            .map(|rank| rank.number as usize)
            .collect();
        if !is_in.is_empty() {
            return Ok(is_in);
        }
        let mut pipes: Vec<_> = waiting.iter().filter_map(|rank| rank.worker.wait_for()).collect();
        let wait = left_ns.and_then(|ns| Timespec::try_from(Duration::from_nanos(ns)).ok());
        match poll(&mut pipes, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // What cannot be waited for is heard of by reading.
            Err(_) => return Ok(waiting.iter().map(|rank| rank.number as usize).collect()),
        }
        let ready = waiting.iter().zip(&pipes).filter(|(_, pipe)| !pipe.revents().is_empty());
        Ok(ready.map(|(rank, _)| rank.number as usize).collect())
    }

    /// The results of all as one; where one has failed, of those that were heard already.
    fn results(&mut self, of_all: bool) -> Result<WorkerSays, WorkerFailure> {
        if of_all {
            self.each(Rank::hear_result)?;
            self.each(Rank::set_clock)?;
            self.each(Rank::hear_pauses)?;
        }
        self.each(Rank::check_time)?;
        let here = LazyCell::new(|| host(&KernelRoots::default()));
        let heard = self.ranks.iter_mut().filter_map(|rank| rank.take_heard(&here)).collect();
        let (report, reports) = merge(heard);
        self.reports = reports;
        Ok(WorkerSays::Done(Box::new(report)))
    }

    /// Does `what` to each, and says whose failure it was.
    fn each(
        &mut self,
        mut what: impl FnMut(&mut Rank<'a>) -> Result<(), WorkerFailure>,
    ) -> Result<(), WorkerFailure> {
        for rank in &mut self.ranks {
            what(rank).map_err(|failure| rank.of_it(failure))?;
        }
        Ok(())
    }
}

impl Drop for Ranks<'_> {
    fn drop(&mut self) {
        // Each is waited for by whoever started it: the last first, as each ends what came after.
        while self.ranks.pop().is_some() {}
    }
}

impl<'a> Rank<'a> {
    fn new(number: u32, worker: ReadyWorker<'a>, elsewhere: Option<Elsewhere>) -> Self {
        let span = RunnerSpan::default();
        Self { number, worker, elsewhere, heard: Heard::Nothing, at_wall: None, span }
    }
}

impl Rank<'_> {
    /// Its spec as one of `count`. Processors, users and devices are named as they are here, which
    /// says nothing of another host.
    fn own_spec(&self, spec: &WorkerSpec, count: u32) -> WorkerSpec {
        let mut own = WorkerSpec { rank: self.number, ..spec.clone() };
        own.warm_memory_bytes /= u64::from(count.max(1));
        if let Some(elsewhere) = &self.elsewhere {
            own.mounts_of_pid = elsewhere.mounts_of_pid;
            own.cpus.clear();
            (own.user, own.flush_device, own.warm_memory_bytes) = (None, None, 0);
        }
        own
    }

    fn get_ready(&mut self) -> Result<(), WorkerFailure> {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.hello = self.worker.hear_hello()?;
        }
        self.worker.wait_until_ready()?;
        let before = self.read_clock()?;
        if let Some(elsewhere) = &mut self.elsewhere {
            (elsewhere.clock, elsewhere.clock_read_ns) = (before, monotonic_ns());
        }
        Ok(())
    }

    /// How long it may still be at its work, where it is on another host.
    fn left_ns(&self, now_ns: u64) -> Option<u64> {
        let limit_ns = u64::try_from(self.worker.limits()?.work.as_nanos()).unwrap_or(u64::MAX);
        Some(self.span.went_ns.saturating_add(limit_ns).saturating_sub(now_ns))
    }

    /// That it has been at its work for too long.
    fn silent(&self) -> WorkerFailure {
        let limit = self.worker.limits().map(|limits| limits.work).unwrap_or_default();
        HostTimeError::Silent { awaited: "that it has done its work", limit }.into()
    }

    /// Hears one line: how far it was when the time of a stonewall was over, that its work is
    /// durable, which is said once, or its result.
    fn hear(&mut self) -> Result<(), WorkerFailure> {
        let says = self.worker.hear()?;
        if let (Heard::Nothing, WorkerSays::Stonewall { most_ops }) = (&self.heard, &says) {
            self.at_wall = Some(*most_ops);
            return Ok(());
        }
        self.heard = match (&self.heard, says) {
            (Heard::Nothing, WorkerSays::Durable) => Heard::Durable,
            (_, WorkerSays::Done(report)) => {
                self.span.heard_ns = monotonic_ns();
                Heard::Done(report)
            }
            (_, other) => return Err(WorkerFailure::ended(&format!("it answered {other:?}"))),
        };
        Ok(())
    }

    /// Whether its work has ended with an error.
    fn has_failed(&self) -> bool {
        matches!(&self.heard, Heard::Done(report) if report.error.is_some())
    }

    fn hear_result(&mut self) -> Result<(), WorkerFailure> {
        while !matches!(self.heard, Heard::Done(_)) {
            self.hear()?;
        }
        Ok(())
    }

    /// Sets the clock of its host for the time since it was read before.
    fn set_clock(&mut self) -> Result<(), WorkerFailure> {
        let after = self.read_clock()?;
        if let Some(elsewhere) = &mut self.elsewhere {
            let span_ns = monotonic_ns().saturating_sub(elsewhere.clock_read_ns);
            check_rate(elsewhere.clock, after, span_ns)?;
            elsewhere.clock = elsewhere.clock.over(after);
        }
        Ok(())
    }

    /// Asks its host how long its worker stood still.
    fn hear_pauses(&mut self) -> Result<(), WorkerFailure> {
        let Some(elsewhere) = &mut self.elsewhere else { return Ok(()) };
        let WorkerSays::Pauses(pauses) = self.worker.ask("pauses")? else {
            return Err(WorkerFailure::Ended("it does not tell of pauses".to_owned()));
        };
        elsewhere.pauses = pauses;
        Ok(())
    }

    /// Whether what it says of time can be, where its host has a clock of its own.
    fn check_time(&mut self) -> Result<(), WorkerFailure> {
        if let (Some(elsewhere), Heard::Done(report)) = (&self.elsewhere, &self.heard) {
            self.span.check(elsewhere.clock, report)?;
        }
        Ok(())
    }

    /// What its clock is to ours.
    fn read_clock(&mut self) -> Result<ClockOffset, WorkerFailure> {
        if self.elsewhere.is_none() {
            return Ok(ClockOffset::default());
        }
        let mut best = ClockOffset { offset_ns: 0, error_ns: u64::MAX };
        let until_ns = monotonic_ns().saturating_add(CLOCK_READINGS_NS);
        for _ in 0..CLOCK_READINGS {
            let asked_ns = monotonic_ns();
            let WorkerSays::Clock { monotonic_ns: theirs_ns } = self.worker.ask("clock")? else {
                return Err(WorkerFailure::Ended("it does not tell its clock".to_owned()));
            };
            let answered_ns = monotonic_ns();
            let error_ns = answered_ns.saturating_sub(asked_ns).div_ceil(2);
            if error_ns < best.error_ns {
                let ours_ns = asked_ns.midpoint(answered_ns);
                let offset_ns = ours_ns.wrapping_sub(theirs_ns).cast_signed();
                best = ClockOffset { offset_ns, error_ns };
            }
            if answered_ns > until_ns {
                break;
            }
        }
        Ok(best)
    }

    /// Its report with what it ran on; `here` is read where that is this host.
    fn take_heard<F: FnOnce() -> Host>(&mut self, here: &LazyCell<Host, F>) -> Option<HeardRank> {
        let Heard::Done(report) = std::mem::replace(&mut self.heard, Heard::Nothing) else {
            return None;
        };
        let (hostname, boot_id, clock) = match &self.elsewhere {
            Some(there) => (there.name.clone(), there.hello.boot_id.clone(), there.clock),
            None => (here.hostname.clone(), here.boot_id.clone(), ClockOffset::default()),
        };
        Some(HeardRank { rank: self.number, hostname, boot_id, clock, report: *report })
    }

    fn of_it(&self, failure: WorkerFailure) -> WorkerFailure {
        let name = self.elsewhere.as_ref().map_or(THIS_HOST, |there| there.name.as_str());
        of_rank(self.number, name, failure)
    }
}

fn of_rank(rank: u32, host: &str, failure: WorkerFailure) -> WorkerFailure {
    match failure {
        WorkerFailure::Stopped => WorkerFailure::Stopped,
        failure => WorkerFailure::Rank { rank, host: host.to_owned(), failure: Box::new(failure) },
    }
}

/// The host of rank `number`: hosts have runs of ranks, as even as can be; of more hosts than ranks
/// the first have one each.
fn host_of(number: u32, count: u32, hosts: &[RankHost]) -> Option<&RankHost> {
    let all = (hosts.len() as u64).min(count.into());
    let first = |host: u64| piece(count.into(), host, all.max(1));
    (0..all).rev().find(|&host| first(host) <= number.into()).map(|host| &hosts[host as usize])
}

fn command(
    program: &TrustedProgram,
    host: Option<&RankHost>,
) -> Result<ProgramCommand, WorkerFailure> {
    host.map_or_else(|| Ok(local_command(program)), |host| command_of(&host.argv))
}

#[cfg(test)]
mod tests;
