//! A host as a client of the file system under test: what an agent on it does for a trial, and what
//! it tells of a phase.
//!
//! The executor starts one agent a host, hands it a [`ClientSpec`] as one line of JSON, and hears
//! [`ClientSays`]. From then on it says `chill`, `count`, `counted` or `end`, a line each, and each
//! has its answer.

use crate::JsonSchema;
use crate::sample::{Counters, SamplerCost, Series};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Bytes that the network interfaces of a host received, loopback included, among its counters.
pub const RECEIVED: &str = "net.received_bytes";

/// What an agent is to do.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Directory of the trial; it has to be there when the file system is.
    pub root: PathBuf,
    /// How the host mounts the file system; absent: it is mounted there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<ClientMount>,
    /// Period of the samples between the orders `count` and `counted`; 0: none.
    #[serde(default)]
    pub sample_period_ns: u64,
}

/// The mount of a client, in a mount namespace of the agent's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientMount {
    /// The shell command; `{mnt}` in it is the mount point.
    pub command: String,
    /// Where it is mounted: as on the host of the runner.
    pub mount_point: PathBuf,
}

/// An answer of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientSays {
    /// The directory of the trial is there; ranks can join.
    Mounted(ClientPlace),
    /// The caches of the host were dropped.
    Chilled,
    /// Counters were read for the first time.
    Counting,
    /// What happened since then.
    Counted(ClientCounts),
    /// What was mounted is unmounted.
    Ended,
}

/// What a host counted in a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClientCounts {
    /// What its counters grew by.
    pub counters: Counters,
    /// Some of them over time; as it comes from an agent by `CLOCK_MONOTONIC` of its host, in a
    /// record since the start of the phase. Absent where none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// What the sampler there used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerCost>,
}

/// What ranks on a host join before they begin.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientPlace {
    /// A process of that host whose mounts are those of the client; absent: all have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mounts_of_pid: Option<u32>,
    /// Type of the file system there, as in mountinfo.
    #[serde(default)]
    pub fstype: String,
}

/// A host in a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClientRecord {
    /// Name of the host.
    pub hostname: String,
    /// Type of the file system there.
    pub fstype: String,
    /// What it did, from before its first rank went to after the last of all was heard.
    #[serde(flatten)]
    pub counts: ClientCounts,
}

/// What all clients received in a phase, bytes; `None` where one of them does not tell, or there is
/// none.
#[must_use]
pub fn received_bytes(clients: &[ClientRecord]) -> Option<u64> {
    let of_each = clients.iter().map(|client| client.counts.counters.get(RECEIVED).copied());
    of_each
        .collect::<Option<Vec<u64>>>()
        .filter(|all| !all.is_empty())
        .map(|all| all.into_iter().fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_that_does_not_tell_leaves_the_sum_unknown() {
        let client = |received: Option<u64>| ClientRecord {
            counts: ClientCounts {
                counters: received.map(|bytes| (RECEIVED.to_owned(), bytes)).into_iter().collect(),
                ..ClientCounts::default()
            },
            ..ClientRecord::default()
        };
        assert_eq!(received_bytes(&[client(Some(3)), client(Some(4))]), Some(7));
        assert_eq!(received_bytes(&[client(Some(3)), client(None)]), None);
        assert_eq!(received_bytes(&[]), None);
    }
}
