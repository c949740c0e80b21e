//! One short look at the load: processors and devices over a window.

use fsarena_metrics::{BlockStat, KernelRoots, Sources, Watch, block_stat, delta, monotonic_ns};
use fsarena_model::sample::Counters;
use std::collections::BTreeMap;
use std::time::Duration;

/// What happened in the window.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sample {
    /// Length of the window.
    pub window_ns: u64,
    /// Counters of the machine over it, or why there are none.
    pub counters: Result<Counters, String>,
    /// Traffic of each device, by kernel name.
    pub devices: BTreeMap<String, Result<Traffic, String>>,
}

/// Traffic of a device in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Traffic {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

impl Sample {
    /// Watches for as long as `window`.
    pub fn take(roots: &KernelRoots, devices: &[&str], window: Duration) -> Self {
        let mut sources =
            Sources::open(roots, &Watch::default()).map_err(|error| error.to_string());
        let mut read =
            || sources.as_mut().map_err(|error| error.clone())?.read().map_err(|e| e.to_string());
        let stat = |device: &&str| block_stat(roots, device).map_err(|error| error.to_string());
        let started_ns = monotonic_ns();
        let before = read();
        let devices_before: Vec<_> = devices.iter().map(stat).collect();
        std::thread::sleep(window);
        let after = read();
        let devices_after = devices.iter().map(stat);
        let pairs = devices_before.into_iter().zip(devices_after);
        let traffic = pairs.map(|(before, after)| Ok(between(before?, after?)));
        let devices = devices.iter().map(|name| (*name).to_owned()).zip(traffic).collect();
        let counters = before.and_then(|before| Ok(delta(&before, &after?)));
        Self { window_ns: monotonic_ns() - started_ns, counters, devices }
    }

    /// A counter of the machine, or why it is not known.
    pub fn counter(&self, name: &str) -> Result<u64, String> {
        let counters = self.counters.as_ref().map_err(Clone::clone)?;
        counters.get(name).copied().ok_or_else(|| format!("this kernel does not tell {name}"))
    }

    /// Time of all processors over the window, ns: busy, stolen, and all.
    pub fn processors(&self) -> Result<Processors, String> {
        let mut busy_ns = self.counter("cpu.user_ns")?;
        busy_ns = busy_ns.saturating_add(self.counter("cpu.system_ns")?);
        for name in ["cpu.nice_ns", "cpu.irq_ns", "cpu.softirq_ns"] {
            busy_ns = busy_ns.saturating_add(self.counter(name).unwrap_or(0));
        }
        let idle_ns =
            self.counter("cpu.idle_ns")?.saturating_add(self.counter("cpu.iowait_ns").unwrap_or(0));
        let steal_ns = self.counter("cpu.steal_ns");
        let stolen_ns = steal_ns.as_ref().map_or(0, |ns| *ns);
        let all_ns = busy_ns.saturating_add(idle_ns).saturating_add(stolen_ns);
        if all_ns == 0 {
            return Err("no clock tick passed while the machine was watched".to_owned());
        }
        let share = |ns: u64| ns as f64 / all_ns as f64;
        Ok(Processors { busy: share(busy_ns), stolen: steal_ns.map(share) })
    }
}

/// Shares of the machine, 0 to 1.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Processors {
    /// Busy with anything.
    pub busy: f64,
    /// Taken by the hypervisor, or why that is not known.
    pub stolen: Result<f64, String>,
}

fn between(before: BlockStat, after: BlockStat) -> Traffic {
    Traffic {
        read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
        written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
    }
}
