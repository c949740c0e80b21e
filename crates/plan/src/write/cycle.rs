//! Cycles as text: the keys of a phase of them, each written out so that it reads back the same.

use super::toml::quoted;
use fsarena_model::cycle::{Cycle, Disturb, Load, UpdateKind};
use fsarena_model::units::{nanos_text, size_text};

/// The keys of a cycle phase.
pub(super) fn parts(cycle: &Cycle, parts: &mut Vec<String>) {
    parts.push(format!("period = {}", quoted(&nanos_text(cycle.period_ns))));
    parts.push(format!("cycles = {}", cycle.cycles));
    parts.push(format!("updates = {}", cycle.updates));
    parts.push(format!("overrun = {}", quoted(cycle.overrun.name())));
    let kinds = UpdateKind::ALL.iter().zip(cycle.shares.weights());
    let shares: Vec<String> =
        kinds.filter(|kind| kind.1 > 0).map(|(kind, n)| format!("{} = {n}", kind.0)).collect();
    parts.push(format!("shares = {{ {} }}", shares.join(", ")));
    parts.extend(cycle.disturb.as_ref().map(disturb));
}

fn disturb(disturb: &Disturb) -> String {
    let mut parts = vec![format!("load = {}", quoted(disturb.load.name()))];
    let mut size = |key: &str, bytes: u64| {
        parts.push(format!("{key} = {}", quoted(&size_text(bytes))));
    };
    match disturb.load {
        Load::Create { files, size_bytes, rate } => {
            size("size", size_bytes);
            parts.push(format!("files = {files}, rate = {rate}"));
        }
        Load::Write { size_bytes, bs_bytes, rate_bytes }
        | Load::Read { size_bytes, bs_bytes, rate_bytes } => {
            size("size", size_bytes);
            size("bs", bs_bytes);
            size("rate", rate_bytes);
        }
    }
    if !disturb.cycles.is_empty() {
        parts.push(format!("cycles = {:?}", disturb.cycles));
    }
    format!("disturb = {{ {} }}", parts.join(", "))
}
