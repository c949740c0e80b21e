//! What is not the same before and after: kernel, settings, programs, what mkfs made.

use super::run::{Facts, RunOf};
use crate::programs;
use fsarena_model::host::Host;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use serde::Serialize;

/// Something that is not the same on both sides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    pub what: String,
    /// Before; empty where it was not there.
    pub before: Vec<String>,
    /// After.
    pub after: Vec<String>,
}

/// The facts of a RUN: of its machine, of this program, and of its records.
#[must_use]
pub fn facts(header: &RunHeader, records: &[TrialRecord]) -> Facts {
    let mut facts = Facts::new();
    let mut add = |what: String, value: String| {
        if !value.is_empty() {
            facts.entry(what).or_default().insert(value);
        }
    };
    of_host(&header.host, &mut add);
    add("fsarena".to_owned(), header.program_version.clone());
    if let Some(place) = &header.place {
        add("fsarena, its program file".to_owned(), place.program_sha256.clone());
    }
    for contender in &header.plan.contenders {
        let levels = &contender.levels;
        add(
            format!("contender {}", contender.label),
            format!("{} on {}", levels.fs, levels.device),
        );
    }
    for record in records {
        let contender = header.plan.contenders.iter().find(|c| c.id() == record.key.contender);
        let Some(contender) = contender else { continue };
        let made = &record.filesystem;
        let own = |what: &str| format!("{}: {what}", contender.label);
        add(own("made by"), made.tool_version.clone().unwrap_or_default());
        add(own("mount options"), made.mounted_options.clone().unwrap_or_default());
        add(own("served by"), made.served_by.clone().unwrap_or_default());
        for (feature, value) in &made.features {
            add(own(feature), value.clone());
        }
        for (fact, value) in &record.device {
            add(format!("{}, device: {fact}", contender.label), value.clone());
        }
    }
    for program in programs::used(&header.plan, records) {
        add(format!("program {}", program.name), program.version);
    }
    facts
}

fn of_host(host: &Host, add: &mut dyn FnMut(String, String)) {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    for (what, value) in [
        ("system", host.os.clone()),
        ("kernel release", host.kernel_release.clone()),
        ("kernel version", host.kernel_version.clone()),
        ("distribution", text(&host.distribution)),
        ("swap (bytes)", host.swap_bytes.to_string()),
        ("clock source", text(&host.clocksource)),
        ("frequency governor", text(&host.governor)),
        ("free memory goes to the hypervisor", host.page_reporting.to_string()),
    ] {
        add(what.to_owned(), value);
    }
    // The load is of a moment, and no setting.
    for (name, value) in host.settings.iter().filter(|(name, _)| !name.starts_with("load_")) {
        add(format!("setting {name}"), value.clone());
    }
}

/// What differs between two sides, and what is not the same within one of them.
pub(super) fn changes(before: &[RunOf<'_>], after: &[RunOf<'_>]) -> (Vec<Change>, Vec<String>) {
    let of = |side: &[RunOf<'_>]| {
        let mut all = Facts::new();
        for (what, values) in side.iter().flat_map(|run| &run.facts) {
            all.entry(what.clone()).or_default().extend(values.iter().cloned());
        }
        all
    };
    let (one, other) = (of(before), of(after));
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    // The kernel first: it is what most comparisons of this kind are about.
    names.sort_by_key(|name| (!name.starts_with("kernel "), name.contains(':'), *name));
    names.dedup();
    let values = |side: &Facts, name: &String| {
        side.get(name).map(|values| values.iter().cloned().collect()).unwrap_or_default()
    };
    let mut found = Vec::new();
    for name in names {
        let change =
            Change { what: name.clone(), before: values(&one, name), after: values(&other, name) };
        if change.before != change.after {
            found.push(change);
        }
    }
    let mut notes = Vec::new();
    for (side, word) in [(&one, "before"), (&other, "after")] {
        for name in ["kernel release", "kernel version", "distribution"] {
            if let Some(values) = side.get(name).filter(|values| values.len() > 1) {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                notes.push(format!("the RUNs {word} are not of one {name}: {}", values.join("; ")));
            }
        }
    }
    (found, notes)
}
