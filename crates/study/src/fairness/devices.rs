//! Devices, by what they say of themselves and how their queues were set. Serials, names and paths
//! are left out.

use super::ledger::{ContenderRecords, DeviceFacts, Fact};
use crate::device;
use fsarena_model::record::TrialRecord;
use fsarena_model::units::Bytes;
use indexmap::IndexMap;

/// The step that partitions should begin at: erase blocks and stripes are powers of two up to there
/// (what fdisk and parted align to).
const ALIGNED_BYTES: u64 = 1 << 20;

/// How a fact is written.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Plain,
    /// A number of bytes.
    Bytes,
    /// A number of KiB.
    Kib,
    /// `1` or `0`, `true` or `false`.
    YesNo,
    /// Where a partition begins.
    Start,
    /// The most that one discard takes; 0: there is none.
    Trim,
    /// Mount options without those that name a place.
    Options,
}

/// Name in records, name for people, form; in the order shown.
const FACTS: [(&str, &str, Form); 18] = [
    ("model", "model", Form::Plain),
    ("size_bytes", "size", Form::Bytes),
    ("start_bytes", "alignment", Form::Start),
    ("logical_sector_bytes", "logical sector", Form::Bytes),
    ("physical_sector_bytes", "physical sector", Form::Bytes),
    ("rotational", "rotational", Form::YesNo),
    ("write_cache", "write cache", Form::Plain),
    ("discard_max_bytes", "TRIM", Form::Trim),
    ("discard_granularity_bytes", "step of TRIM", Form::Bytes),
    ("scheduler", "I/O scheduler", Form::Plain),
    ("read_ahead_kib", "read-ahead", Form::Kib),
    ("requests", "requests in the queue", Form::Plain),
    ("max_request_kib", "largest request", Form::Kib),
    ("in_memory", "in memory", Form::YesNo),
    ("direct_io", "past the page cache of the host", Form::YesNo),
    ("zram_algorithm", "compression", Form::Plain),
    ("backing_fs", "is on", Form::Plain),
    ("backing_options", "mounted with", Form::Options),
];

/// What is known of the device of a trial, in the order shown.
pub(super) fn facts(record: &TrialRecord) -> Vec<Fact> {
    let of = |&(key, name, form): &(&str, &str, Form)| {
        let text =
            record.device.get(key).map(|text| text.trim()).filter(|text| !text.is_empty())?;
        Some(Fact::new(name, written(text, form)?))
    };
    FACTS.iter().filter_map(of).collect()
}

fn written(text: &str, form: Form) -> Option<String> {
    let number = text.parse::<u64>().ok();
    let or_plain = |value: Option<String>| Some(value.unwrap_or_else(|| text.to_owned()));
    match form {
        Form::Plain => Some(text.to_owned()),
        Form::Bytes => or_plain(number.map(|bytes| Bytes(bytes).to_string())),
        Form::Kib => or_plain(number.map(|kib| Bytes(kib.saturating_mul(1024)).to_string())),
        Form::YesNo => or_plain(match text {
            "1" | "true" => Some("yes".to_owned()),
            "0" | "false" => Some("no".to_owned()),
            _ => None,
        }),
        Form::Start => or_plain(number.map(start)),
        Form::Trim => or_plain(number.map(|bytes| match bytes {
            0 => "no".to_owned(),
            _ => format!("yes, at most {} at once", Bytes(bytes)),
        })),
        Form::Options => {
            let is_place = |option: &&str| {
                option.split_once('=').is_some_and(|(_, value)| value.contains(['/', ':', '.']))
            };
            let kept: Vec<&str> = text.split(',').filter(|option| !is_place(option)).collect();
            Some(kept.join(",")).filter(|kept| !kept.is_empty())
        }
    }
}

fn start(bytes: u64) -> String {
    if bytes.is_multiple_of(ALIGNED_BYTES) {
        format!("begins at {}, a multiple of 1 MiB", Bytes(bytes))
    } else {
        format!("begins at byte {bytes}, not at a multiple of 1 MiB")
    }
}

/// What a contender lay on, in one line; `None` where it lives in memory alone or has no trial.
pub(super) fn title(trials: &ContenderRecords<'_>, contender: usize) -> Option<String> {
    let level = &trials.plan.contenders[contender].levels.device;
    trials.own[contender].iter().find_map(|record| device::line(Some(level), record))
}

/// The devices of all trials, in the order of the plan. Those that one line describes are one; what
/// differed between its trials is said in the fact.
pub(super) fn devices(trials: &ContenderRecords<'_>) -> Vec<DeviceFacts> {
    let mut devices: IndexMap<String, Vec<Fact>> = IndexMap::new();
    for (contender, own) in trials.plan.contenders.iter().zip(&trials.own) {
        let mut last = None;
        for record in own {
            // Most trials of a contender found the same: nothing new is in them.
            if last.replace(&record.device) == Some(&record.device) {
                continue;
            }
            let level = &contender.levels.device;
            let Some(title) = device::line(Some(level), record) else { continue };
            let known = devices.entry(title).or_default();
            facts(record).into_iter().for_each(|fact| add(known, fact));
        }
    }
    let device = |(title, mut facts): (String, Vec<Fact>)| {
        facts.sort_by_key(|fact| FACTS.iter().position(|known| known.1 == fact.name));
        DeviceFacts { title, facts }
    };
    devices.into_iter().map(device).collect()
}

/// Adds a fact, or another value to one that is known: `none; in other trials: bfq`.
fn add(facts: &mut Vec<Fact>, new: Fact) {
    const OTHERS: &str = "; in other trials: ";
    let Some(known) = facts.iter_mut().find(|known| known.name == new.name) else {
        return facts.push(new);
    };
    let (first, others) = known.value.split_once(OTHERS).unwrap_or((&known.value, ""));
    if first == new.value || others.split(" or ").any(|other| other == new.value) {
        return;
    }
    let joint = if others.is_empty() { OTHERS } else { " or " };
    known.value = format!("{}{joint}{}", known.value, new.value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_written_for_people() {
        let text = |text: &str, form| written(text, form).unwrap();
        assert_eq!(text("1048576", Form::Start), "begins at 1 MiB, a multiple of 1 MiB");
        assert_eq!(text("32256", Form::Start), "begins at byte 32256, not at a multiple of 1 MiB");
        assert_eq!(text("0", Form::Trim), "no");
        assert_eq!(text("2560", Form::Kib), "2.50 MiB");
        assert_eq!(text("odd", Form::Bytes), "odd", "what is not understood is shown as it is");
        let options = "rw,addr=10.0.0.1,lowerdir=/srv/me,discard,resuid=65534";
        assert_eq!(text(options, Form::Options), "rw,discard,resuid=65534");
        assert_eq!(written("upperdir=/x", Form::Options), None);
    }

    #[test]
    fn another_value_is_added_once() {
        let mut facts = vec![Fact::new("I/O scheduler", "none")];
        for value in ["none", "bfq", "bfq", "kyber", "none"] {
            add(&mut facts, Fact::new("I/O scheduler", value));
        }
        assert_eq!(facts, [Fact::new("I/O scheduler", "none; in other trials: bfq or kyber")]);
    }
}
