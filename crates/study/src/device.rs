//! The devices under the file systems: what they are, what was done to them before mkfs, and how
//! their queues really were set. Serials and paths are left out: it is passed on.

use crate::contenders::{Contenders, of_one_base};
use crate::figures::{SpreadF, SpreadNs, median};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::device::Conditioning;
use fsarena_model::factor::{self, Factor, SYSCTL_FACT};
use fsarena_model::record::{Notice, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::units::Bytes;
use indexmap::IndexSet;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the SSD policy of a contender did, over all its trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ConditioningRow {
    pub label: String,
    /// Name of the policy (`blkdiscard`, `precondition`).
    pub policy: &'static str,
    /// Trials before which it was carried out.
    pub n: usize,
    /// Bytes discarded, or written by the sequential fill; median.
    pub whole_bytes: Option<u64>,
    /// Time that it took, all of it.
    pub elapsed: Option<SpreadNs>,
    /// Rounds of random writes.
    pub rounds: Option<SpreadF>,
    /// Random writes per second in the last round.
    pub last_round_ops_per_s: Option<SpreadF>,
    /// Trials before which a steady state was found; absent where none was looked for.
    pub steady: Option<usize>,
    /// Why it could not be done, each reason once.
    pub not_done: Vec<String>,
}

/// One row a contender that asks for a policy and has a trial.
pub(crate) fn conditioning(plan: &RunPlan, records: &[TrialRecord]) -> Vec<ConditioningRow> {
    let known = Contenders::new(plan);
    let of = |(index, contender): (usize, &Contender)| {
        let is_own = |record: &&TrialRecord| known.index(record) == Some(index);
        let own = of_one_base(&records.iter().filter(is_own).collect::<Vec<_>>());
        let own = own.iter().filter_map(|record| record.conditioning.as_ref());
        let own: Vec<Conditioning> = own.map(|done| in_one(done.parts())).collect();
        let policy = contender.levels.ssd.name();
        let own: Vec<&Conditioning> = own.iter().collect();
        (!own.is_empty()).then(|| conditioning_row(contender.label.clone(), policy, &own))
    };
    plan.contenders.iter().enumerate().filter_map(of).collect()
}

/// What was done to the devices of a trial, one after the other: bytes and times are added, rounds
/// are those of the device that was slowest in its last one, and a steady state was found where
/// each has one. What was not done to one of them was not done.
fn in_one(devices: &[Conditioning]) -> Conditioning {
    let mut all = devices.first().cloned().unwrap_or(Conditioning::Several { devices: vec![] });
    for one in devices.iter().skip(1) {
        match (&mut all, one) {
            (Conditioning::NotDone { .. }, _) => {}
            (_, Conditioning::NotDone { .. }) => all = one.clone(),
            (
                Conditioning::Discarded { discarded_bytes, elapsed_ns },
                Conditioning::Discarded { discarded_bytes: bytes, elapsed_ns: ns },
            ) => {
                *discarded_bytes = discarded_bytes.saturating_add(*bytes);
                *elapsed_ns = elapsed_ns.saturating_add(*ns);
            }
            (
                Conditioning::Preconditioned {
                    fill_bytes,
                    fill_ns,
                    rounds_ops_per_s,
                    steady,
                    rounds_ns,
                    ..
                },
                Conditioning::Preconditioned {
                    fill_bytes: bytes,
                    fill_ns: ns,
                    rounds_ops_per_s: rounds,
                    steady: is_steady,
                    rounds_ns: all_ns,
                    ..
                },
            ) => {
                *fill_bytes = fill_bytes.saturating_add(*bytes);
                *fill_ns = fill_ns.saturating_add(*ns);
                *rounds_ns = rounds_ns.saturating_add(*all_ns);
                *steady &= is_steady;
                if rounds.last() < rounds_ops_per_s.last() {
                    rounds_ops_per_s.clone_from(rounds);
                }
            }
            _ => {}
        }
    }
    all
}

fn conditioning_row(label: String, policy: &'static str, own: &[&Conditioning]) -> ConditioningRow {
    let (mut whole_bytes, mut elapsed_ns) = (Vec::new(), Vec::new());
    let (mut rounds, mut last, mut steady, mut not_done) =
        (Vec::new(), Vec::new(), None, Vec::new());
    for &done in own {
        match done {
            Conditioning::Discarded { discarded_bytes, elapsed_ns: ns } => {
                whole_bytes.push(*discarded_bytes);
                elapsed_ns.push(*ns);
            }
            Conditioning::Preconditioned {
                fill_bytes,
                fill_ns,
                rounds_ops_per_s,
                steady: is_steady,
                rounds_ns,
                ..
            } => {
                whole_bytes.push(*fill_bytes);
                elapsed_ns.push(fill_ns.saturating_add(*rounds_ns));
                rounds.push(rounds_ops_per_s.len() as f64);
                last.extend(rounds_ops_per_s.last());
                *steady.get_or_insert(0) += usize::from(*is_steady);
            }
            Conditioning::NotDone { reason } if !not_done.contains(reason) => {
                not_done.push(reason.clone());
            }
            Conditioning::Several { .. } | Conditioning::NotDone { .. } => {}
        }
    }
    ConditioningRow {
        label,
        policy,
        n: elapsed_ns.len(),
        whole_bytes: median(whole_bytes),
        elapsed: SpreadNs::from_values(elapsed_ns),
        rounds: SpreadF::from_values(rounds),
        last_round_ops_per_s: SpreadF::from_values(last),
        steady,
        not_done,
    }
}

/// Settings of queue and kernel in trials of a contender, as they were read back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct QueueRow {
    pub label: String,
    /// In words, by the key of the factor that each is a level of.
    #[serde(flatten)]
    pub settings: BTreeMap<&'static str, String>,
    /// Largest read-ahead, bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Trials with these settings.
    pub trials: usize,
}

/// Effective settings, one row a contender; more where they changed between its trials. Empty
/// where no record has any.
pub(crate) fn queues(plan: &RunPlan, records: &[TrialRecord]) -> Vec<QueueRow> {
    let mut rows: Vec<QueueRow> = Vec::new();
    let all: Vec<&TrialRecord> = records.iter().collect();
    let own = Contenders::new(plan).split(&all);
    for (contender, own) in plan.contenders.iter().zip(own) {
        for record in own {
            let settings = factor::in_force(&record.device);
            if settings.is_empty() {
                continue;
            }
            let label = &contender.label;
            let same = |row: &&mut QueueRow| row.label == *label && row.settings == settings;
            if let Some(row) = rows.iter_mut().find(same) {
                row.trials += 1;
                continue;
            }
            let kib = record.device.get("read_ahead_kib").and_then(|text| text.parse().ok());
            let read_ahead_bytes = kib.map(|kib: u64| kib.saturating_mul(1024));
            rows.push(QueueRow { label: label.clone(), settings, read_ahead_bytes, trials: 1 });
        }
    }
    rows
}

/// What has to be said of the device of a trial: a state that is not as asked.
pub(crate) fn notices(contenders: &Contenders<'_>, record: &TrialRecord) -> Vec<Notice> {
    let mut said = Vec::new();
    let mut say = |code: &str, text: String, remedy: &str| {
        said.push(Notice::new(code, text, Some(remedy)));
    };
    let parts = || record.conditioning.iter().flat_map(Conditioning::parts);
    if parts().any(|part| matches!(part, Conditioning::Preconditioned { steady: false, .. })) {
        say(
            "not-steady",
            "preconditioning ended before the device was steady: its speed still changes".into(),
            "Take the figures of this device with care, or precondition for longer.",
        );
    }
    for part in parts() {
        let Conditioning::NotDone { reason } = part else { continue };
        say(
            "not-conditioned",
            format!("the device was not brought into the stated state before mkfs: {reason}"),
            "Its flash is as earlier work left it.",
        );
    }
    let contender = contenders.get(record);
    for factor in contender.iter().flat_map(|_| factor::all()) {
        let setting = contender.and_then(|one| factor.setting(&factor.get(&one.levels)));
        let Some(setting) = setting else { continue };
        let (asked, is) = (setting.text(), record.device.get(&setting.fact_key()));
        if let Some(is) = is.filter(|is| *is != asked) {
            let (is, asked) = (setting.with_unit(is), setting.with_unit(asked));
            let of = if setting.is_of_queue() { " of the device" } else { "" };
            let text = format!("the {}{of} was {is}, not {asked} as asked", factor.title());
            say("queue-not-as-asked", text, "The figures are of what it was.");
        }
    }
    said
}

/// The devices of the records, each once, in the order of first use.
pub(crate) fn lines(plan: &RunPlan, records: &[TrialRecord]) -> Vec<String> {
    let state = common_state(plan);
    let contenders = Contenders::new(plan);
    let of = |record: &TrialRecord| {
        let level = contenders.get(record).map(|contender| &contender.levels.device);
        let line = line(level, record)?;
        Some(format!("{line}{state}"))
    };
    records.iter().filter_map(of).collect::<IndexSet<String>>().into_iter().collect()
}

/// What was done to the devices of all contenders alike; what varies is in their labels.
fn common_state(plan: &RunPlan) -> String {
    let fact = |factor: &'static dyn Factor| {
        let mut levels = plan.contenders.iter().map(|contender| factor.get(&contender.levels));
        let first = levels.next()?;
        levels.all(|level| level == first).then(|| factor.fact(&first)).flatten()
    };
    factor::all().into_iter().filter_map(fact).map(|fact| format!(", {fact}")).collect()
}

/// What a trial was on; `None` for what is in memory alone.
pub(crate) fn line(level: Option<&DeviceLevel>, record: &TrialRecord) -> Option<String> {
    let fact = |name: &str| record.device.get(name).map(String::as_str);
    let size_bytes = fact("size_bytes").and_then(|text| text.parse().ok()).map(Bytes);
    let own_bytes = level.and_then(DeviceLevel::size_bytes).map(Bytes);
    let sized = |name: &str| match size_bytes.or(own_bytes) {
        Some(size) => format!("{name} of {size}"),
        None => name.to_owned(),
    };
    let made = match level {
        Some(DeviceLevel::Memory { kind, .. }) => Some((kind.row().written, kind.row().nature)),
        Some(DeviceLevel::Vdisk { model, .. }) => {
            let late = fact("answers_late_percent").zip(fact("answers_late_p99_us"));
            let late = late.map(|(share, p99)| {
                format!(
                    "; answers were late by {share} % of its time, 99 of 100 by at most {p99} us"
                )
            });
            return Some(format!("{}, modelled{}", sized(model), late.unwrap_or_default()));
        }
        Some(DeviceLevel::Virtual { model, kernel, .. }) => {
            let kernel = fact("guest_kernel").unwrap_or(kernel);
            return Some(format!("{}, modelled, in a guest of Linux {kernel}", sized(model)));
        }
        // A file system in memory takes the size of the device and not the device.
        Some(DeviceLevel::Block { .. })
            if record.device.keys().all(|name| name.starts_with(SYSCTL_FACT)) =>
        {
            return None;
        }
        Some(DeviceLevel::Block { .. }) => return Some(sized(&hardware(&fact))),
        Some(DeviceLevel::Several { members }) => {
            return Some(several(members, size_bytes.or(own_bytes), &fact));
        }
        Some(DeviceLevel::Elsewhere { .. }) if fact("watched").is_some() => {
            return Some(format!("{}, watched", sized(fact("kind")?)));
        }
        _ => None,
    };
    if let Some((name, what)) = made {
        return Some(format!("{}, {what}", sized(name)));
    }
    let backing = fact("backing_fs")?;
    let way = way(&fact);
    Some(match size_bytes {
        Some(size) => format!("loop device over an image of {size} on {backing}{way}"),
        None => format!("a directory on {backing}{way}"),
    })
}

/// How a loop device gets at its image.
fn way<'a>(fact: &impl Fn(&str) -> Option<&'a str>) -> &'static str {
    match (fact("in_memory"), fact("direct_io")) {
        (Some("true"), _) => ", in memory",
        (_, Some("true")) => ", direct I/O",
        (_, Some(_)) => ", through the page cache",
        _ => "",
    }
}

/// Several devices: of one kind by what they say of themselves, else as they were asked for.
fn several<'a>(
    members: &[DeviceLevel],
    size_bytes: Option<Bytes>,
    fact: &impl Fn(&str) -> Option<&'a str>,
) -> String {
    let count = members.len();
    let all = |is: fn(&DeviceLevel) -> bool| members.iter().all(is);
    let size = size_bytes.map(|size| format!(" of {size} in all")).unwrap_or_default();
    let is_image =
        |one: &DeviceLevel| matches!(one, DeviceLevel::Loop { .. } | DeviceLevel::Ram { .. });
    // Facts that differ are told one after the other, and of what they are is then not known.
    let is_one = |name: &str| fact(name).is_none_or(|text| !text.contains(" + "));
    let are_alike = ["backing_fs", "direct_io", "rotational", "model", "backing_file"];
    let is_one_kind = are_alike.into_iter().all(is_one);
    if all(is_image)
        && is_one_kind
        && (all(|one| matches!(one, DeviceLevel::Loop { .. })) || fact("in_memory") == Some("true"))
        && let Some(backing) = fact("backing_fs")
    {
        return format!("{count} loop devices over images{size} on {backing}{}", way(fact));
    }
    if is_one_kind && all(|one| matches!(one, DeviceLevel::Block { .. })) {
        return format!("{count} × {}{size}", hardware(fact));
    }
    let texts: Vec<String> = members.iter().map(DeviceLevel::written).collect();
    format!("{count} devices{size} ({})", texts.join("+"))
}

/// A block device of the user's, by what it says of itself.
fn hardware<'a>(fact: &impl Fn(&str) -> Option<&'a str>) -> String {
    if fact("backing_file").is_some() {
        let place = if fact("in_memory") == Some("true") { " in memory" } else { "" };
        return format!("loop device over a file{place}");
    }
    let turning = match fact("rotational") {
        Some("1") => "rotating ",
        Some("0") => "non-rotating ",
        _ => "",
    };
    let model = fact("model").map(|model| format!(" {}", model.trim())).unwrap_or_default();
    format!("{turning}block device{model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_a_trial_are_one_conditioning() {
        let discarded =
            |discarded_bytes| Conditioning::Discarded { discarded_bytes, elapsed_ns: 3 };
        let both = in_one(&[discarded(10), discarded(20)]);
        assert_eq!(both, Conditioning::Discarded { discarded_bytes: 30, elapsed_ns: 6 });
        let filled = |steady, last| Conditioning::Preconditioned {
            fill_bytes: 100,
            fill_ns: 5,
            bs_bytes: 4096,
            rounds_ops_per_s: vec![900.0, last],
            window_rounds: 5,
            steady,
            rounds_ns: 7,
        };
        let Conditioning::Preconditioned {
            fill_bytes, rounds_ops_per_s, steady, rounds_ns, ..
        } = in_one(&[filled(true, 500.0), filled(false, 400.0), filled(true, 600.0)])
        else {
            panic!("it was done")
        };
        assert_eq!((fill_bytes, steady, rounds_ns), (300, false, 21));
        assert_eq!(rounds_ops_per_s, [900.0, 400.0], "of the slowest");
        let refused = Conditioning::NotDone { reason: "no discard".to_owned() };
        assert_eq!(in_one(&[discarded(10), refused.clone(), discarded(20)]), refused);
        assert_eq!(in_one(&[discarded(10)]), discarded(10));
    }
}
