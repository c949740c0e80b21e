//! The fairness ledger: how each contender really was, in what they differ besides what was under
//! test, and what the host and the devices were like.
//!
//! Names of hosts, serials and paths are left out: what is here is passed on.

mod caches;
mod devices;
mod differences;
mod ledger;
mod made;

pub use ledger::{AsMade, CacheProof, DeviceFacts, Difference, Disturbance, Fact, Fairness};

use crate::cpu::steal_share;
use crate::figures::SpreadF;
use fsarena_model::host::Host;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::units::{Bytes, three_digits};
use ledger::ContenderRecords;
use std::collections::BTreeSet;

/// The ledger of a RUN.
#[must_use]
pub fn fairness(header: &RunHeader, sessions: &[RunSession], records: &[TrialRecord]) -> Fairness {
    let trials = ContenderRecords::new(header, records);
    Fairness {
        contenders: made::as_made(&trials),
        differences: differences::all(&trials),
        host: host_facts(header, sessions, records),
        devices: devices::devices(&trials),
        tools: caches::tools(&trials, records),
        caches: caches::proofs(&trials),
        disturbances: caches::disturbances(&header.plan, sessions, records),
    }
}

// The host: what it is, how it was set, and what its hypervisor took. Its name is left out.

/// Settings with a name for people; in the order shown, before all others.
const SETTINGS: [(&str, &str); 22] = [
    ("smt", "SMT"),
    ("no_turbo", "turbo switched off (no_turbo)"),
    ("numa_nodes", "NUMA nodes"),
    ("mitigated", "mitigations in effect"),
    ("vulnerable", "without mitigation"),
    ("load_1m", "load before the RUN (1 minute)"),
    ("dirty_background_ratio", "write-back begins at, % of memory (dirty_background_ratio)"),
    ("dirty_background_bytes", "write-back begins at, bytes (dirty_background_bytes)"),
    ("dirty_ratio", "writers wait at, % of memory (dirty_ratio)"),
    ("dirty_bytes", "writers wait at, bytes (dirty_bytes)"),
    ("dirty_expire_centisecs", "dirty data is written after, 1/100 s (dirty_expire_centisecs)"),
    ("dirty_writeback_centisecs", "write-back wakes every, 1/100 s (dirty_writeback_centisecs)"),
    ("laptop_mode", "laptop mode"),
    ("swappiness", "swappiness"),
    ("vfs_cache_pressure", "vfs_cache_pressure"),
    ("min_free_kib", "memory kept free, KiB (min_free_kbytes)"),
    ("thp", "transparent huge pages"),
    ("thp_defrag", "transparent huge pages, defrag"),
    ("thp_shmem", "transparent huge pages of tmpfs"),
    ("zswap", "zswap"),
    ("cgroup", "cgroup hierarchy"),
    ("psi", "pressure stall information"),
];

/// Facts of the host, and of how it was during the RUN.
fn host_facts(header: &RunHeader, sessions: &[RunSession], records: &[TrialRecord]) -> Vec<Fact> {
    let host = &header.host;
    let mut facts = machine(host);
    if !sessions.is_empty() {
        let boots: BTreeSet<&str> = sessions.iter().map(|one| one.boot_id.as_str()).collect();
        let text =
            format!("{} in {}", count(sessions.len(), "session"), count(boots.len(), "boot"));
        facts.push(Fact::new("measured in", text));
    }
    if is_known(host) {
        facts.push(Fact::new("steal", steal(records)));
    }
    facts.extend(settings(host));
    facts
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Whether anything was read of the host: of values that were brought in it is unknown where they
/// come from, and what is absent says nothing then.
fn is_known(host: &Host) -> bool {
    !host.os.is_empty()
}

fn machine(host: &Host) -> Vec<Fact> {
    let absent = |words: &str| is_known(host).then(|| words.to_owned());
    let filled = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let kernel = format!("{} {} {}", host.os, host.kernel_release, host.architecture);
    let kernel = kernel.split_whitespace().collect::<Vec<_>>().join(" ");
    let memory = (host.memory_bytes > 0).then(|| Bytes(host.memory_bytes).to_string());
    // Without a figure of memory nothing was read of it, and no swap would be a guess.
    let swap = memory.as_ref().map(|_| match host.swap_bytes {
        0 => "none".to_owned(),
        bytes => Bytes(bytes).to_string(),
    });
    let model = host.cpu_model.as_deref().unwrap_or("model not known");
    let reporting = if host.page_reporting {
        Some("yes: memory that was freed is slow when it is touched again".to_owned())
    } else {
        absent("no")
    };
    let all = [
        ("kernel", filled(&kernel)),
        ("kernel build", filled(&host.kernel_version)),
        ("distribution", host.distribution.clone()),
        ("CPUs", (host.cpus > 0).then(|| format!("{} × {model}", host.cpus))),
        ("memory", memory),
        ("swap", swap),
        ("virtualisation", host.hypervisor.clone().or_else(|| absent("none that says so"))),
        ("memory handed to the hypervisor (page reporting)", reporting),
        ("clock source", host.clocksource.clone()),
        (
            "frequency governor",
            host.governor.clone().or_else(|| absent("none to be trials by this kernel")),
        ),
    ];
    all.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value?))).collect()
}

/// What the hypervisor took over all phases that were long enough to say.
fn steal(records: &[TrialRecord]) -> String {
    let of = |record: &TrialRecord| {
        let sequence = record.key.sequence;
        let phases = record.phases.iter();
        let shares = phases.filter_map(move |p| Some((steal_share(p)?, sequence, p.name.clone())));
        shares.collect::<Vec<_>>()
    };
    let all: Vec<(f64, u32, String)> = records.iter().flat_map(of).collect();
    let percent = |share: f64| format!("{} %", three_digits(share * 100.0));
    let Some(spread) = SpreadF::from_values(all.iter().map(|one| one.0).collect()) else {
        return "not known: no phase has the counter and is long enough".to_owned();
    };
    let phases = count(spread.n, "phase");
    let worst = all.iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|one| one.0 > 0.0);
    match worst {
        None => format!("none in {phases}"),
        Some((share, sequence, phase)) => format!(
            "median {} of the machine's time over {phases}, at worst {} (trial {}, {phase})",
            percent(spread.median),
            percent(*share),
            sequence + 1
        ),
    }
}

fn settings(host: &Host) -> Vec<Fact> {
    let known = SETTINGS.iter().filter_map(|(key, name)| {
        let value = host.settings.get(*key).filter(|value| !is_unset(key, value))?;
        Some(Fact::new(name, value))
    });
    let is_known = |key: &String| SETTINGS.iter().any(|(known, _)| known == key);
    let others = host.settings.iter().filter(|(key, _)| !is_known(key));
    known.chain(others.map(|(key, value)| Fact::new(&key.replace('_', " "), value))).collect()
}

/// Of the two ways to set a limit of dirty memory, the one that is 0 is not in force.
fn is_unset(key: &str, value: &str) -> bool {
    key.starts_with("dirty_")
        && (key.ends_with("_bytes") || key.ends_with("_ratio"))
        && value == "0"
}
