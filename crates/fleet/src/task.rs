//! What is asked of a fleet, and what its hosts have.

use fsarena_hosts::{HostList, TrustedSsh};

/// What is to be carried out, and where.
#[derive(Debug)]
pub struct FleetTask {
    pub hosts: HostList,
    pub ssh: TrustedSsh,
    /// The program on the hosts, where this one is not copied.
    pub program: String,
    /// The experiment as a file; empty where it is a built-in one.
    pub experiment: Vec<u8>,
    /// Of `run` on each host, without the file.
    pub arguments: Vec<String>,
    pub seed: u64,
}

/// A host that has a program of this version.
#[derive(Clone, Debug)]
pub struct ReadyHost {
    /// Name or path of the program there.
    pub program: String,
    /// Its kernel and architecture.
    pub machine: String,
    /// As the program calls itself.
    pub version: String,
}
