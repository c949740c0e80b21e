//! What phases and their rows are called, and what has to be said with a row: the words that
//! tables, charts and the page share.

use crate::format::{cache, count, ns};
use crate::io_summary::{describe_job, io_summary, work};
use crate::row_state::{row_states, with_states};
use crate::text::clean;
use fsarena_model::free::FreeQuantity;
use fsarena_model::record::{CacheState, TimeBase};
use fsarena_model::units::Bytes;
use fsarena_study::{
    Absence, AccountView, MemoryView, PhaseRow, PhaseTable, ScalingView, SpreadNs, Study, SweepView,
};

/// What is said of counters where cycles overlap.
pub(crate) const OVERLAPPED: &str = "cycles overlapped: counters of one, up to durable (CPU, :cpu) and \
                      of its period, hold what the others did meanwhile";

/// The memory limit that all rows of a table have.
pub(crate) fn common_memory(table: &PhaseTable) -> Option<&MemoryView> {
    let first = &table.rows.first()?.memory;
    let limited = matches!(first, MemoryView::Limited { .. });
    (limited && table.rows.iter().all(|row| row.memory == *first)).then_some(first)
}

/// What a phase is, how it is done, and in which state of cache and memory: `small-files / create:
/// 5,000 files of 256 B, in order; cold`.
#[must_use]
pub fn phase_title(table: &PhaseTable) -> String {
    let set = &table.dataset;
    let what = match &table.job {
        Some(job) => describe_job(job),
        None if matches!(table.free, FreeQuantity::Ops | FreeQuantity::Bytes) => {
            format!("up to {}", work(table.op, table.order, set))
        }
        None => work(table.op, table.order, set),
    };
    let mut text = format!("{} / {}: {what}", table.workload, table.phase);
    let io_summary = io_summary(table.op, table.bs_bytes, &table.io, set);
    if !io_summary.is_empty() {
        text.push_str(&format!("; {io_summary}"));
    }
    if is_mixed(table) {
        text.push_str("; cold (warm rows are not compared with cold ones)");
    } else if let Some(row) = table.rows.first() {
        text.push_str(match row.cache {
            CacheState::Cold => "; cold",
            CacheState::ColdClients => "; cold clients",
            CacheState::Unknown => "; caches unknown",
            _ => "; warm",
        });
    }
    if let Some(MemoryView::Limited { limit_bytes, by }) = common_memory(table) {
        text.push_str(&format!("; memory {} by {by}", Bytes(*limit_bytes)));
    }
    let guests = table.rows.iter().map(|row| row.guest_memory_bytes);
    let mut guests: Vec<Option<u64>> = guests.collect();
    guests.dedup();
    if let [Some(bytes)] = guests[..] {
        text.push_str(&format!("; memory {} of the guest", Bytes(bytes)));
    }
    text
}

/// A row's name in its table, with what it is that its figures do not show.
#[must_use]
pub fn row_label(table: &PhaseTable, row: &PhaseRow) -> String {
    with_states(&row.label, &row_states(row, is_mixed(table)))
}

/// Why a contender has no figure, in a word or two.
#[must_use]
pub fn absence(why: Absence) -> &'static str {
    match why {
        Absence::NotRun => "not run",
        Absence::Failed => "failed",
        Absence::Partial => "partial",
        Absence::Interrupted => "interrupted",
        Absence::NotYet => "no trial yet",
    }
}

/// Whether a table has cold and warm rows.
pub(crate) fn is_mixed(table: &PhaseTable) -> bool {
    let cold = table.rows.iter().filter(|row| row.cache.is_cold()).count();
    cold > 0 && cold < table.rows.len()
}

/// What is to be said of a row with its figures.
pub(crate) fn notes_of(row: &PhaseRow, common: Option<&MemoryView>) -> Vec<String> {
    let mut notes: Vec<String> = not_cold(row).into_iter().chain(not_limited(row)).collect();
    if let (MemoryView::Limited { limit_bytes, by }, None) = (&row.memory, common) {
        notes.push(format!("memory {} by {by}", Bytes(*limit_bytes)));
    }
    if row.drained.not_drained > 0 {
        let (n, of) = (row.drained.not_drained, count(row.n, "trial"));
        notes.push(format!("not drained in {n} of {of}: {}", row.drained.reasons.join("; ")));
    }
    notes.extend(wrong_contents(row.trials_with_bad_contents));
    if row.trials_partial > 0 {
        let trials = count(row.trials_partial, "trial");
        notes.push(format!("partial in {trials} (ended before the end of the work): in no figure"));
    }
    notes.extend(no_device_time(row));
    notes.extend(own_clock(row));
    notes.extend(row.overlapped_cycles.map(|_| OVERLAPPED.to_owned()));
    notes
}

/// In virtual time nothing but a disk takes time.
fn no_device_time(row: &PhaseRow) -> Option<String> {
    let is_none = row.time_base == TimeBase::Virtual && row.compared?.max_ns == 0;
    is_none.then(|| "no device time: it asked nothing of the disk".to_owned())
}

/// What a program that did the work says of its length.
fn own_clock(row: &PhaseRow) -> Option<String> {
    let program = row.program.as_ref()?;
    let own = ns(Some(program.own?.median_ns));
    let version = &program.version;
    Some(match program.startup {
        Some(startup) => format!(
            "{version} worked for {own} by its own clock; its start and end, {}, are in no time or \
             rate",
            ns(Some(startup.median_ns))
        ),
        None => format!(
            "the rate leaves out the start and end of {version}, which worked for {own} by its own \
             clock; the times do not"
        ),
    })
}

pub(crate) fn range_in(spread: Option<SpreadNs>, length: fn(Option<u64>) -> String) -> String {
    match spread {
        Some(s) if s.n > 1 => format!("{} - {}", length(Some(s.min_ns)), length(Some(s.max_ns))),
        _ => "-".to_owned(),
    }
}

/// Trials behind a row: `8`, or `7/8` where more were planned.
#[must_use]
pub fn trials(row: &PhaseRow) -> String {
    if row.n == row.n_planned { row.n.to_string() } else { format!("{}/{}", row.n, row.n_planned) }
}

/// What an account is of.
pub(crate) fn account_title(view: &AccountView) -> String {
    let per = if view.per_cycle { "a cycle" } else { "the phase" };
    let title = format!("{} / {}: where the bytes of {per} went", view.workload, view.phase);
    let mut scopes: Vec<String> =
        view.rows.iter().filter_map(|row| row.means.as_ref()?.scope()).collect();
    scopes.dedup();
    match scopes.as_slice() {
        [] => title,
        [one] => format!("{title} ({one})"),
        _ => format!("{title} (mean of all cycles, unmount included)"),
    }
}

/// What is swept.
pub(crate) fn sweep_title(view: &SweepView) -> String {
    let SweepView { workload, phase, file_system, option, .. } = view;
    format!("{workload} / {phase}: {option} of {}", clean(file_system))
}

/// What scales, and over what.
pub(crate) fn scaling_title(view: &ScalingView) -> String {
    let ScalingView { workload, contender, over, .. } = view;
    format!("{workload}: {} over {}", clean(contender), over.name())
}

/// The contenders of a study by index, with their labels.
pub(crate) fn contenders(study: &Study) -> Vec<(usize, String)> {
    let mut labels: Vec<(usize, String)> = Vec::new();
    let of_rows = study.tables.iter().flat_map(|t| &t.rows).map(|r| (r.contender, &r.label));
    let absent = study.tables.iter().flat_map(|t| &t.absent).map(|a| (a.contender, &a.label));
    for (index, label) in of_rows.chain(absent) {
        if !labels.iter().any(|(known, _)| *known == index) {
            labels.push((index, label.clone()));
        }
    }
    labels.sort();
    labels
}

/// Index of a contender in the plan, by its label.
pub(crate) fn contender_of(study: &Study, label: &str) -> Option<usize> {
    contenders(study).into_iter().find(|(_, own)| own == label).map(|(contender, _)| contender)
}

/// Why a row is not cold, where cold was asked for or cannot be had.
pub(crate) fn not_cold(row: &PhaseRow) -> Option<String> {
    match (&row.not_cold_because, row.cache) {
        (Some(why), CacheState::WarmByNature) => Some(format!("warm by nature: {why}")),
        (Some(why), CacheState::NotWarm) => {
            Some(format!("not warm, though warm was asked for: {why}"))
        }
        (Some(why), state) => Some(format!("{}, though cold was asked for: {why}", cache(state))),
        (None, CacheState::WarmByNature) => Some("warm by nature".to_owned()),
        (None, _) => None,
    }
}

/// Why a row has not the memory limit that was asked for.
pub(crate) fn not_limited(row: &PhaseRow) -> Option<String> {
    match &row.memory {
        MemoryView::NotLimited { limit_bytes, reason } => {
            Some(format!("memory not limited to {}: {reason}", Bytes(*limit_bytes)))
        }
        MemoryView::Whole | MemoryView::Limited { .. } => None,
    }
}

/// How many trials were left out for what they did to the contents.
pub(crate) fn wrong_contents(trials: usize) -> Option<String> {
    let trials = (trials > 0).then(|| count(trials, "trial"))?;
    Some(format!("WRONG CONTENTS after {trials}: in no figure"))
}
