//! A contender's value of ours in a table of an article: which of its groups of trials is shown
//! for it, and what has to be said with it.

use crate::format::count;
use crate::labels::{absence, contenders, not_cold, not_limited, wrong_contents};
use crate::pictures::why_absent;
use crate::row_state::measured_state;
use crate::table::Cell;
use fsarena_model::record::CacheState;
use fsarena_model::units::Bytes;
use fsarena_reference::Caches;
use fsarena_study::{Absence, CpuLoad, MemoryView, PhaseRow, PhaseTable, Study, WorkloadView};

/// Under which conditions an article measured: what of ours is marked as other than that.
#[derive(Clone, Copy)]
pub(super) struct Conditions {
    /// State of its caches.
    pub(super) caches: Caches,
    /// Whether it had little memory.
    pub(super) limited: bool,
}

/// A contender in a table: the group that is shown for it and all its groups.
pub(super) struct Groups<'a> {
    pub(super) shown: Option<&'a PhaseRow>,
    all: Vec<&'a PhaseRow>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(table: &'a PhaseTable, contender: usize, article: Conditions) -> Self {
        let all: Vec<&PhaseRow> = table.rows.iter().filter(|r| r.contender == contender).collect();
        Self { shown: shown(&all, article), all }
    }

    /// In what the value shown is not like those of the article, or not of all its trials.
    pub(super) fn notes(&self, study: &Study, table: &PhaseTable, own: Conditions) -> Vec<String> {
        let named = |view: &&WorkloadView| view.name == table.workload;
        let cold_start = study.workloads.iter().find(named).is_some_and(|view| view.cold_start);
        self.shown.map_or_else(Vec::new, |shown| notes(shown, &self.all, own, cold_start))
    }

    /// Whether the value shown was not measured as the RUN asked, or not in all its trials.
    fn is_faulty(&self) -> bool {
        self.shown.is_none_or(|row| {
            let fell_back = row.not_cold_because.is_some()
                && row.cache == CacheState::Warm
                && !row.is_never_cold;
            let is_wrong = self.all.iter().any(|row| row.trials_with_bad_contents > 0);
            fell_back || not_limited(row).is_some() || row.n < row.n_planned || is_wrong
        })
    }
}

/// Values of contenders in one test, and those that are in no ratio to them, with why.
#[derive(Default)]
pub(super) struct Ratios {
    /// Index into the plan's contenders, label and value.
    pub(super) values: Vec<(usize, String, f64)>,
    /// Label, and in what it was measured otherwise.
    pub(super) left_out: Vec<(String, String)>,
}

impl Ratios {
    /// The contenders of a table that were measured as asked, in all trials and under the same
    /// conditions: those of the article where any was, else those of most.
    pub(super) fn new(
        study: &Study,
        table: &PhaseTable,
        own: Conditions,
        value: impl Fn(&PhaseRow) -> Option<f64>,
    ) -> Self {
        let mut found = Vec::new();
        for (contender, label) in contenders(study) {
            let groups = Groups::new(table, contender, own);
            let Some(value) = groups.shown.filter(|row| row.n > 0).and_then(&value) else {
                continue;
            };
            let notes = groups.notes(study, table, own);
            found.push((groups.is_faulty(), notes, (contender, label, value)));
        }
        let sound = || found.iter().filter(|(faulty, ..)| !faulty).map(|(_, notes, _)| notes);
        let alike = |notes: &Vec<String>| sound().filter(|other| *other == notes).count();
        // Of equals, the last is the greatest: backwards, so that it is the first.
        let common = sound().rev().max_by_key(|notes| (notes.is_empty(), alike(notes))).cloned();
        let mut all = Self::default();
        for (faulty, notes, value) in found {
            if !faulty && Some(&notes) == common.as_ref() {
                all.values.push(value);
            } else {
                let why = if notes.is_empty() { "not as asked".into() } else { notes.join(", ") };
                all.left_out.push((value.1, why));
            }
        }
        all
    }
}

/// A contender's cell: `value` of the group that is shown for it, with its own footnotes and those
/// of the group.
pub(super) fn cell(
    study: &Study,
    table: &PhaseTable,
    contender: usize,
    conditions: Conditions,
    value: impl Fn(&PhaseRow) -> Cell,
) -> Cell {
    let groups = Groups::new(table, contender, conditions);
    let Some(shown) = groups.shown else { return Cell::text(absent(table, contender)) };
    let cell = if shown.n == 0 { Cell::text("failed") } else { value(shown) };
    let notes = [cell.notes.clone(), groups.notes(study, table, conditions)].concat();
    cell.notes(notes)
}

/// Why a contender has no value in a table; nothing where it has one.
pub(super) fn why_missing(
    study: &Study,
    table: &PhaseTable,
    contender: usize,
    conditions: Conditions,
) -> Option<String> {
    let Some(shown) = Groups::new(table, contender, conditions).shown else {
        let absent = table.absent.iter().find(|own| own.contender == contender)?;
        return Some(why_absent(study, table, absent));
    };
    if shown.n == 0 {
        return Some("all its trials left wrong contents".to_owned());
    }
    // Beside a length stands no CPU load.
    match (shown.cpu, shown.cpu_per_op) {
        _ if !conditions.limited => None,
        (CpuLoad::TooShort, None) => Some("too short for a CPU load".to_owned()),
        (CpuLoad::Unknown, _) => Some("its CPU load was not recorded".to_owned()),
        _ => None,
    }
}

/// Why a contender has nothing to show.
fn absent(table: &PhaseTable, contender: usize) -> &'static str {
    let why = table.absent.iter().find(|own| own.contender == contender).map(|own| own.why);
    why.filter(|why| !matches!(why, Absence::Interrupted | Absence::NotYet)).map_or("-", absence)
}

/// The group of trials that is shown for a contender: one under the conditions of the article (cold
/// or warm, and no limit of memory missing) before one that is not, then the one of more trials.
fn shown<'a>(groups: &[&'a PhaseRow], article: Conditions) -> Option<&'a PhaseRow> {
    let cold = article.caches != Caches::Warm;
    let as_asked = |row: &PhaseRow| {
        row.cache.is_cold() == cold && !matches!(row.memory, MemoryView::NotLimited { .. })
    };
    // Of equals, the last is the greatest: backwards, so that it is the first.
    groups.iter().rev().copied().max_by_key(|row| (row.n > 0, as_asked(row), row.n))
}

fn notes(
    shown: &PhaseRow,
    groups: &[&PhaseRow],
    article: Conditions,
    cold_start: bool,
) -> Vec<String> {
    let mut notes = conditions(shown, article, cold_start);
    if (1..shown.n_planned).contains(&shown.n) {
        let mut text = format!("{} of {}", shown.n, count(shown.n_planned, "planned trial"));
        for other in groups.iter().filter(|row| !std::ptr::eq(**row, shown) && row.n > 0) {
            let mut why = conditions(other, article, cold_start);
            if why.is_empty() {
                why.push("as asked".to_owned());
            }
            text.push_str(&format!("; not among them: {} {}", other.n, why.join(", ")));
        }
        notes.push(text);
    }
    notes.extend(wrong_contents(groups.iter().map(|row| row.trials_with_bad_contents).sum()));
    notes
}

/// Conditions of a row that the article had not.
fn conditions(row: &PhaseRow, article: Conditions, cold_start: bool) -> Vec<String> {
    let cache = match (article.caches, row.cache) {
        (Caches::Warm, CacheState::Cold) => Some("cold, as asked".to_owned()),
        // In 2008 what lives in memory was one of the two sides.
        (Caches::Warm, CacheState::WarmByNature)
        | (_, CacheState::Cold | CacheState::ColdClients) => None,
        (caches, _) => not_cold(row).or_else(|| match caches {
            Caches::Warm => None,
            _ if cold_start => Some("warm by the experiment: cold only at the start".to_owned()),
            _ => Some("warm, as asked".to_owned()),
        }),
    };
    let memory = match &row.memory {
        MemoryView::Whole => match (row.guest_memory_bytes, article.limited) {
            (None, true) => Some("memory not limited, as asked".to_owned()),
            (Some(bytes), false) => Some(format!("memory {} of the guest", Bytes(bytes))),
            (Some(_), true) | (None, false) => None,
        },
        MemoryView::Limited { limit_bytes, by } if !article.limited => {
            Some(format!("memory {} by {by}", Bytes(*limit_bytes)))
        }
        _ => None,
    };
    let measured = measured_state(row).map(|state| state.words().to_owned());
    measured.into_iter().chain(cache).chain(not_limited(row)).chain(memory).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::{Cache, DeviceLevel};
    use fsarena_model::run::RunState;
    use fsarena_testkit::records::{self, contender, small_files};

    const LITTLE: Conditions = Conditions { caches: Caches::Cold, limited: true };

    /// Notes on the first phase of a contender whose cache is cold, on a device and with a memory
    /// level; the record of its phases has no limit.
    fn notes_on(
        device: DeviceLevel,
        memory_bytes: Option<u64>,
        article: Conditions,
    ) -> Vec<String> {
        let mut own = contender("ext4", "ext4", 1);
        (own.levels.device, own.levels.memory_bytes) = (device, memory_bytes);
        let header = records::header(vec![own], vec![small_files()], 1);
        let mut record = records::record(&header, 0);
        for phase in &mut record.phases {
            (phase.cache.asked, phase.cache.state) = (Cache::Cold, CacheState::Cold);
        }
        let study = fsarena_study::study(&header, RunState::Done, &[], &[record]);
        conditions(&study.tables[0].rows[0], article, false)
    }

    #[test]
    fn a_guest_has_the_memory_that_was_asked() {
        let (model, kernel) = ("hdd-2003".to_owned(), String::new());
        let guest = DeviceLevel::Virtual { size_bytes: 1 << 32, model, kernel, syscall_ns: 0 };
        let image = DeviceLevel::Loop { size_bytes: 1 << 32 };
        let not_limited = "memory not limited, as asked";
        assert_eq!(notes_on(image, None, LITTLE), [not_limited]);
        assert_eq!(notes_on(guest.clone(), None, LITTLE), ["virtual time", not_limited]);
        assert_eq!(notes_on(guest.clone(), Some(64 << 20), LITTLE), ["virtual time"]);
        let whole = Conditions { limited: false, ..LITTLE };
        let beside = ["virtual time", "memory 64 MiB of the guest"];
        assert_eq!(notes_on(guest, Some(64 << 20), whole), beside);
    }
}
