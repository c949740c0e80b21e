//! The hosts of a row's ranks as clients of the file system: what each sent, received and computed.

use crate::figures::median;
use fsarena_model::client::{ClientRecord, RECEIVED};
use fsarena_model::record::PhaseRecord;
use fsarena_model::sample::Counters;
use fsarena_model::score::{PROCESSOR, ProcessorTime};
use serde::Serialize;
use std::collections::BTreeMap;

/// A host in a row, each figure the median over trials. Counters are of the whole host, from before
/// its ranks went to after the last of all was heard.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ClientView {
    /// Its name.
    pub hostname: String,
    /// Type of the file system there.
    pub fstype: String,
    /// Bytes that its network received, loopback included.
    pub received_bytes: Option<u64>,
    /// Bytes that it sent.
    pub sent_bytes: Option<u64>,
    /// TCP segments that it sent once more.
    pub retransmitted_segments: Option<u64>,
    /// Share of its processors that was busy, 0 to 1.
    pub cpu_busy: Option<f64>,
    /// Calls that its NFS client made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs_ops: Option<u64>,
    /// Mean time from the sending of such a call to its answer, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nfs_round_trip_ns: Option<u64>,
}

impl ClientView {
    /// Of the phases on hosts with an agent, in the order of the hosts.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Vec<Self> {
        let mut by_host = BTreeMap::<(usize, &str), Vec<&ClientRecord>>::new();
        for phase in phases {
            for (at, client) in phase.clients.iter().enumerate() {
                by_host.entry((at, &client.hostname)).or_default().push(client);
            }
        }
        by_host.values().map(|clients| Self::of_host(clients)).collect()
    }

    /// `clients` is one host in several trials, and never empty.
    fn of_host(clients: &[&ClientRecord]) -> Self {
        let over = |figure: &dyn Fn(&Counters) -> Option<u64>| {
            median(clients.iter().filter_map(|one| figure(&one.counts.counters)).collect())
        };
        let of = |name: &str| over(&|counters| counters.get(name).copied());
        let parts = over(&|counters| Some((busy(counters)? * 1e6) as u64));
        Self {
            hostname: clients[0].hostname.clone(),
            fstype: clients[0].fstype.clone(),
            received_bytes: of(RECEIVED),
            sent_bytes: of("net.sent_bytes"),
            retransmitted_segments: of("net.retransmitted_segments"),
            cpu_busy: parts.map(|parts| parts as f64 / 1e6),
            nfs_ops: of("nfs.ops"),
            nfs_round_trip_ns: over(&|counters| {
                let (ops, all_ns) = (counters.get("nfs.ops")?, counters.get("nfs.round_trip_ns")?);
                all_ns.checked_div(*ops)
            }),
        }
    }
}

fn busy(counters: &Counters) -> Option<f64> {
    let time = ProcessorTime::from_counters(PROCESSOR.map(|name| counters.get(name).copied()));
    let (busy_ns, all_ns) = (time.cpu_ns?, time.machine_ns?);
    (all_ns > 0).then(|| busy_ns as f64 / all_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::client::ClientCounts;
    use fsarena_testkit::records::{self, contender, small_files};

    fn client(hostname: &str, pairs: &[(&str, u64)]) -> ClientRecord {
        let counters: Counters =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let counts = ClientCounts { counters, ..ClientCounts::default() };
        ClientRecord { hostname: hostname.to_owned(), fstype: "nfs4".to_owned(), counts }
    }

    #[test]
    fn a_host_has_its_medians() {
        let header = records::header(vec![contender("d", "directory", 1)], vec![small_files()], 3);
        let mut phases: Vec<PhaseRecord> =
            (0..3).map(|at| records::record(&header, at).phases.remove(0)).collect();
        assert_eq!(ClientView::over(&phases.iter().collect::<Vec<_>>()), []);
        for (phase, received) in phases.iter_mut().zip([10, 30, 20]) {
            let cpu = [("cpu.user_ns", 30), ("cpu.idle_ns", 90), ("net.received_bytes", received)];
            let nfs = [("nfs.ops", 4), ("nfs.round_trip_ns", 400)];
            phase.clients = vec![client("z", &cpu), client("a", &nfs)];
        }
        let views = ClientView::over(&phases.iter().collect::<Vec<_>>());
        let names: Vec<&str> = views.iter().map(|view| view.hostname.as_str()).collect();
        assert_eq!(names, ["z", "a"], "in the order of the hosts");
        assert_eq!((views[0].received_bytes, views[0].cpu_busy), (Some(20), Some(0.25)));
        assert_eq!((views[1].received_bytes, views[1].cpu_busy), (None, None));
        assert_eq!((views[1].nfs_ops, views[1].nfs_round_trip_ns), (Some(4), Some(100)));
    }
}
