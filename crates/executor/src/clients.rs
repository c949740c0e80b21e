//! The hosts of ranks as clients of the file system under test: an agent on each, from the mount of
//! a trial to its teardown.
//!
//! All are told, then all are heard, so that what they do takes as long as the slowest of them.

use crate::host_time::AnswerLimits;
use crate::stop::Stop;
use crate::worker::{ReadyWorker, WorkerFailure, command_of};
use fsarena_devices::mountinfo;
use fsarena_model::SPEC_SCHEMA;
use fsarena_model::client::{ClientMount, ClientPlace, ClientRecord, ClientSays, ClientSpec};
use fsarena_model::rank::ClockOffset;
use fsarena_model::spec::RankHost;
use fsarena_model::work::WorkerSays;
use std::path::Path;

/// The agents of a trial; none where its ranks are here or have come by themselves.
#[derive(Default)]
pub(crate) struct Clients<'a> {
    agents: Vec<Agent<'a>>,
}

struct Agent<'a> {
    host: &'a RankHost,
    process: ReadyWorker<'a>,
    place: ClientPlace,
}

impl<'a> Clients<'a> {
    /// Starts an agent on each host that has one and waits until `root` is there. Each samples what
    /// it counts every `sample_period_ns`; 0: it does not.
    ///
    /// # Errors
    /// When one cannot be started, or its host cannot mount the file system.
    pub(crate) fn start(
        hosts: &'a [RankHost],
        (root, sample_period_ns): (&Path, u64),
        stop: &'a Stop,
    ) -> Result<Self, WorkerFailure> {
        let mut clients = Self::default();
        for host in hosts {
            let Some(agent) = &host.agent else { continue };
            let process = command_of(&agent.argv)
                .and_then(|mut command| ReadyWorker::spawn(&mut command, stop));
            let process = process.map_err(|failure| of_host(host, failure))?;
            let mut process = process.within(Some(AnswerLimits::of_host(host)));
            process.say(&spec_of(agent.mount.as_deref(), root, sample_period_ns));
            clients.agents.push(Agent { host, process, place: ClientPlace::default() });
        }
        for agent in &mut clients.agents {
            let place = agent.wait_for_place().map_err(|failure| of_host(agent.host, failure))?;
            agent.place = place;
        }
        Ok(clients)
    }

    /// The process on `host` whose mounts its ranks enter.
    pub(crate) fn mounts_on(&self, host: &RankHost) -> Option<u32> {
        self.agents.iter().find(|agent| agent.host.name == host.name)?.place.mounts_of_pid
    }

    /// Has every host forget what it has cached.
    ///
    /// # Errors
    /// When one cannot, or is gone.
    pub(crate) fn chill(&mut self) -> Result<(), WorkerFailure> {
        self.order("chill", |_, says| matches!(says, ClientSays::Chilled).then_some(())).map(|_| ())
    }

    /// Has every host read its counters before a phase.
    ///
    /// # Errors
    /// When one cannot, or is gone.
    pub(crate) fn count(&mut self) -> Result<(), WorkerFailure> {
        self.order("count", |_, says| matches!(says, ClientSays::Counting).then_some(()))
            .map(|_| ())
    }

    /// What each host did since then.
    ///
    /// # Errors
    /// When one cannot tell, or is gone.
    pub(crate) fn counted(&mut self) -> Result<Vec<ClientRecord>, WorkerFailure> {
        self.order("counted", |agent, says| match says {
            ClientSays::Counted(counts) => Some(ClientRecord {
                hostname: agent.host.name.clone(),
                fstype: agent.place.fstype.clone(),
                counts,
            }),
            _ => None,
        })
    }

    /// Has every host unmount what it has mounted. Without it that goes with the agents, and what
    /// is dirty there may be lost.
    ///
    /// # Errors
    /// When one cannot, or is gone.
    pub(crate) fn end(&mut self) -> Result<(), WorkerFailure> {
        let ended = self.order("end", |_, says| matches!(says, ClientSays::Ended).then_some(()));
        self.drop_agents();
        ended.map(|_| ())
    }

    /// The last first: each ends whatever was started after it.
    fn drop_agents(&mut self) {
        while self.agents.pop().is_some() {}
    }

    /// Says `order` to all, and hears what `read` makes of each answer.
    fn order<T>(
        &mut self,
        order: &str,
        read: impl Fn(&Agent<'a>, ClientSays) -> Option<T>,
    ) -> Result<Vec<T>, WorkerFailure> {
        for agent in &mut self.agents {
            agent.process.say(order);
        }
        let mut all = Vec::with_capacity(self.agents.len());
        for agent in &mut self.agents {
            let heard = agent.process.hear_worked().and_then(|says| match says {
                WorkerSays::Client(says) => Ok(says),
                other => Err(WorkerFailure::ended(&format!("to {order} it answered {other:?}"))),
            });
            let says = heard.map_err(|failure| of_host(agent.host, failure))?;
            let answer = read(agent, says).ok_or_else(|| {
                let failure =
                    WorkerFailure::Ended(format!("it answered something else to {order}"));
                of_host(agent.host, failure)
            })?;
            all.push(answer);
        }
        Ok(all)
    }
}

impl Drop for Clients<'_> {
    fn drop(&mut self) {
        self.drop_agents();
    }
}

impl Agent<'_> {
    fn wait_for_place(&mut self) -> Result<ClientPlace, WorkerFailure> {
        self.process.hear_hello()?;
        match self.process.hear()? {
            WorkerSays::Client(ClientSays::Mounted(place)) => Ok(place),
            other => Err(WorkerFailure::ended(&format!("before it was ready it said {other:?}"))),
        }
    }
}

/// Has every host mount the file system that `dir` is on, and unmount it.
///
/// # Errors
/// When one cannot.
pub fn try_clients(hosts: &[RankHost], dir: &Path) -> Result<(), WorkerFailure> {
    let stop = Stop::default();
    Clients::start(hosts, (dir, 0), &stop)?.end()
}

/// Lays the series of a host beside a phase that began at `start_monotonic_ns` of the runner's
/// clock; without the clock of the host there is nothing to lay it beside, and it is dropped.
pub(crate) fn set_beside(
    client: &mut ClientRecord,
    clock: Option<ClockOffset>,
    start_monotonic_ns: u64,
) {
    let Some(clock) = clock else {
        client.counts.series = None;
        return;
    };
    for t_ns in client.counts.series.iter_mut().flat_map(|series| &mut series.t_ns) {
        let at_ns = clock.to_runner_ns(u64::try_from(*t_ns).unwrap_or(0));
        *t_ns = at_ns.wrapping_sub(start_monotonic_ns).cast_signed();
    }
}

/// What an agent is told: the file system is mounted there where it is mounted here.
fn spec_of(mount: Option<&str>, root: &Path, sample_period_ns: u64) -> String {
    let mount = mount.map(|command| ClientMount {
        command: command.to_owned(),
        mount_point: mountinfo::find_for_path(root)
            .ok()
            .flatten()
            .map_or_else(|| root.to_owned(), |entry| entry.mount_point),
    });
    let root = root.to_owned();
    let spec = ClientSpec { schema: SPEC_SCHEMA, root, mount, sample_period_ns };
    serde_json::to_string(&spec).expect("a spec is plain data")
}

fn of_host(host: &RankHost, failure: WorkerFailure) -> WorkerFailure {
    match failure {
        WorkerFailure::Stopped => WorkerFailure::Stopped,
        failure => WorkerFailure::Agent { host: host.name.clone(), failure: Box::new(failure) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::sample::Series;

    #[test]
    fn a_series_is_laid_beside_the_phase_by_the_clock_of_its_host() {
        let series = Series { t_ns: vec![900, 1000, 1100], ..Series::default() };
        let mut client = ClientRecord::default();
        client.counts.series = Some(series);
        let clock = ClockOffset { offset_ns: -50, error_ns: 3 };
        set_beside(&mut client, Some(clock), 950);
        assert_eq!(client.counts.series.as_ref().unwrap().t_ns, [-100, 0, 100]);
        set_beside(&mut client, None, 950);
        assert_eq!(client.counts.series, None);
    }
}
