//! `/proc/net/dev` and `/proc/net/snmp`: what this machine's network did.
//!
//! Both are those of the caller's network namespace (Documentation/filesystems/proc.rst). Traffic
//! is that of all interfaces since they came up, loopback included: a server may be on this host.
//! An interface that lies on others (a bond, a bridge, a VLAN) is left out, as they count the same
//! bytes.

use crate::read_file::{ReadFile, Records, expect_number, lines, words};
use crate::source::{Metric, Opened, Registration, Source};
use crate::{KernelRoots, Watch};
use crate::{Malformed, MetricError};
use fsarena_model::client::RECEIVED;
use std::path::Path;

pub(crate) const SOURCE: Registration = Registration { metrics: METRICS, open };

const METRICS: &[Metric] = &[
    Metric::counter(RECEIVED, "bytes", "received, loopback included; /proc/net/dev 1"),
    Metric::counter("net.received_packets", "packets", "received; /proc/net/dev 2"),
    Metric::counter("net.sent_bytes", "bytes", "sent; /proc/net/dev 9"),
    Metric::counter("net.sent_packets", "packets", "sent; /proc/net/dev 10"),
    Metric::counter(
        "net.retransmitted_segments",
        "segments",
        "TCP segments sent once more; /proc/net/snmp Tcp RetransSegs",
    ),
];

/// Columns of an interface, from 0, in the order of the metrics.
const COLUMNS: [usize; 4] = [0, 1, 8, 9];

struct Network {
    dev: ReadFile,
    snmp: ReadFile,
    /// Interfaces that lie on others.
    left_out: Vec<Vec<u8>>,
}

fn open(roots: &KernelRoots, watch: &Watch) -> Opened {
    if !watch.network {
        let [dev, snmp] = [ReadFile::unwatched(), ReadFile::unwatched()];
        return Ok(Box::new(Network { dev, snmp, left_out: Vec::new() }));
    }
    // What the kernel prints of an interface and what it prints of TCP may take several reads.
    let file = |name| ReadFile::open(roots.proc.join("net").join(name), Records::Many);
    let names = std::fs::read_dir(roots.sys.join("class/net")).into_iter().flatten().flatten();
    let left_out = names
        .filter(|interface| lies_on_others(&interface.path()))
        .map(|interface| interface.file_name().into_encoded_bytes());
    Ok(Box::new(Network { dev: file("dev")?, snmp: file("snmp")?, left_out: left_out.collect() }))
}

fn lies_on_others(interface: &Path) -> bool {
    let mut names = std::fs::read_dir(interface).into_iter().flatten().flatten();
    names.any(|entry| entry.file_name().to_string_lossy().starts_with("lower_"))
}

impl Source for Network {
    fn read(&mut self, values: &mut [Option<u64>]) -> Result<(), MetricError> {
        let (traffic, tcp) = values.split_at_mut(COLUMNS.len());
        let left_out = &self.left_out;
        self.dev.parse(|bytes| parse_traffic(bytes, left_out, traffic))?;
        self.snmp.parse(|bytes| parse_tcp(bytes, &mut tcp[0]))?;
        Ok(())
    }

    fn files(&mut self) -> Vec<&mut ReadFile> {
        vec![&mut self.dev, &mut self.snmp]
    }
}

/// Fills the sums over all interfaces that are not left out.
pub(crate) fn parse_traffic(
    bytes: &[u8],
    left_out: &[Vec<u8>],
    values: &mut [Option<u64>],
) -> Result<(), Malformed> {
    for (line, text) in lines(bytes) {
        // The two lines of the head have no colon.
        let Some(colon) = text.iter().position(|&byte| byte == b':') else { continue };
        let (name, columns) = (text[..colon].trim_ascii(), &text[colon + 1..]);
        if left_out.iter().any(|other| other == name) {
            continue;
        }
        for (at, value) in COLUMNS.iter().zip(values.iter_mut()) {
            let column = words(columns).nth(*at).unwrap_or_default();
            let number = expect_number(line, "column of an interface", column)?;
            *value = Some(value.unwrap_or(0).saturating_add(number));
        }
    }
    Ok(())
}

/// Fills the segments that were sent once more: a line of names and one of values.
pub(crate) fn parse_tcp(bytes: &[u8], value: &mut Option<u64>) -> Result<(), Malformed> {
    let mut of_tcp =
        lines(bytes).filter_map(|(line, text)| Some((line, text.strip_prefix(b"Tcp:")?)));
    let (Some((_, names)), Some((line, values))) = (of_tcp.next(), of_tcp.next()) else {
        return Ok(());
    };
    let mut pairs = words(names).zip(words(values));
    if let Some((_, found)) = pairs.find(|(name, _)| *name == b"RetransSegs") {
        *value = Some(expect_number(line, "RetransSegs", found)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;
    use std::fs;

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0: 5000000    4000    0    0    0     0          0         0     7000      70    0    0    0     0       0          0
 bond0: 5000000    4000    0    0    0     0          0         0     7000      70    0    0    0     0       0          0
";
    const SNMP: &str = "\
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin InSegs OutSegs RetransSegs InErrs
Tcp: 1 200 900 800 17 0
";
    #[test]
    fn traffic_is_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let roots =
            KernelRoots { proc: dir.join("proc"), sys: dir.join("sys"), ..KernelRoots::default() };
        for made in ["proc/net", "sys/class/net/bond0/lower_eth0", "sys/class/net/eth0/upper_bond0"]
        {
            fs::create_dir_all(dir.join(made)).unwrap();
        }
        let watch = Watch { network: true, ..Watch::default() };
        let read = |watch: &Watch| Sources::open(&roots, watch).unwrap().read().unwrap();
        assert_eq!(read(&watch).get(RECEIVED), None, "without the files");
        fs::write(roots.proc.join("net/dev"), DEV).unwrap();
        fs::write(roots.proc.join("net/snmp"), SNMP).unwrap();
        let found = read(&watch);
        for (name, value) in [
            (RECEIVED, 5_000_100),
            ("net.received_packets", 4001),
            ("net.sent_bytes", 7100),
            ("net.sent_packets", 71),
            ("net.retransmitted_segments", 17),
        ] {
            assert_eq!(found.get(name), Some(value), "{name}");
        }
        assert_eq!(read(&Watch::default()).get(RECEIVED), None, "not watched");
    }
}
