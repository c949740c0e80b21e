//! The facts of a RUN that its scores do not tell: machine, programs, what mkfs made.
//!
//! A comparison of RUNs before and after lists those that changed.

use crate::programs;
use fsarena_model::host::Host;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use fsarena_verdict::compare::Facts;

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
