//! What a row is that its figures do not show: the caches were warm where cold ones are expected,
//! a model answered in place of a device, the time is virtual, another program measured it. And
//! what was asked of a RUN and could not be had.
//!
//! One function decides it from the study, and every table, chart and matrix follows.

use crate::verdict::text::some_of;
use fsarena_model::contender::{AskedBy, Contender, Measured, RequestedLevel};
use fsarena_model::factor;
use fsarena_model::record::CacheState;
use fsarena_model::run::RunPlan;
use fsarena_study::PhaseRow;
use serde::Serialize;

/// Contenders that a sentence names at most.
const NAMED: usize = 4;

/// A state that is said where a row stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// Another program measured it.
    Imported,
    /// Its time is virtual, on a modelled disk of a guest kernel.
    VirtualTime,
    /// A model answered in place of a device.
    Modelled,
    /// Its caches were warm, and cold ones were asked for, or other rows are cold.
    Warm,
    /// Its caches were to be warm and were not.
    NotWarm,
}

impl RowState {
    /// As a row shows it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::VirtualTime => "virtual time",
            Self::Modelled => "modelled",
            Self::Warm => "warm",
            Self::NotWarm => "not warm",
        }
    }
}

/// What it is by how its times came about.
pub(crate) fn measured_state(row: &PhaseRow) -> Option<RowState> {
    match row.measured {
        Measured::OnDevice => None,
        Measured::OnModel => Some(RowState::Modelled),
        Measured::InVirtualTime => Some(RowState::VirtualTime),
        Measured::Elsewhere => Some(RowState::Imported),
    }
}

/// The states of a row. `beside_cold`: its table has cold rows, so that it is expected to be one.
pub(crate) fn row_states(row: &PhaseRow, beside_cold: bool) -> Vec<RowState> {
    let cold_asked = beside_cold || row.not_cold_because.is_some();
    let cache = match row.cache {
        CacheState::NotWarm => Some(RowState::NotWarm),
        CacheState::Warm | CacheState::WarmByNature if cold_asked => Some(RowState::Warm),
        CacheState::Warm | CacheState::WarmByNature => None,
        CacheState::Cold | CacheState::ColdClients | CacheState::Unknown => None,
    };
    measured_state(row).into_iter().chain(cache).collect()
}

/// `warm, modelled`.
pub(crate) fn state_words(states: &[RowState]) -> String {
    states.iter().map(|state| state.words()).collect::<Vec<_>>().join(", ")
}

/// `ext4 (virtual time)`.
pub(crate) fn with_states(label: &str, states: &[RowState]) -> String {
    match states {
        [] => label.to_owned(),
        states => format!("{label} ({})", state_words(states)),
    }
}

/// What was asked for and could not be had, a sentence without a full stop for each level: `cache =
/// cold was asked for and is not possible for directory, so cache = warm: fsarena cannot …`. That
/// what is in memory is warm where nobody asked for cold by name is no news.
pub(crate) fn asked_and_not_had(plan: &RunPlan) -> Vec<String> {
    let mut groups: Vec<NotHad<'_>> = Vec::new();
    for contender in &plan.contenders {
        let is_news =
            |asked: &RequestedLevel| asked.by == AskedBy::User || !contender.levels.is_in_memory();
        for (key, asked) in contender.asked.iter().filter(|(_, asked)| is_news(asked)) {
            let had = had(contender, key);
            let is_alike = |one: &&mut NotHad<'_>| {
                (one.key, &one.asked.level, &one.had, &one.asked.why)
                    == (key.as_str(), &asked.level, &had, &asked.why)
            };
            match groups.iter_mut().find(is_alike) {
                Some(known) => known.labels.push(contender.label.clone()),
                None => {
                    let labels = vec![contender.label.clone()];
                    groups.push(NotHad { key, asked, had, labels });
                }
            }
        }
    }
    groups.iter().map(NotHad::sentence).collect()
}

/// The level that a contender has.
fn had(contender: &Contender, key: &str) -> String {
    factor::find(key).map_or_else(String::new, |factor| factor.get(&contender.levels))
}

/// A level that some contenders could not have.
struct NotHad<'a> {
    key: &'a str,
    asked: &'a RequestedLevel,
    had: String,
    labels: Vec<String>,
}

impl NotHad<'_> {
    fn sentence(&self) -> String {
        let Self { key, asked, had, labels } = self;
        format!(
            "{key} = {} was asked for and is not possible for {}, so {key} = {had}: {}",
            asked.level,
            some_of(labels, NAMED),
            asked.why
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::{Cache, DeviceLevel};
    use fsarena_model::run::RunState;
    use fsarena_testkit::records::{self, contender, small_files};
    use std::collections::BTreeMap;

    /// What is shown of `ext4` on `device`, whose phases have these caches.
    fn shown(device: DeviceLevel, asked: Cache, state: CacheState) -> String {
        let mut own = contender("ext4", "ext4", 1);
        own.levels.device = device;
        let header = records::header(vec![own], vec![small_files()], 1);
        let mut record = records::record(&header, 0);
        for phase in &mut record.phases {
            (phase.cache.asked, phase.cache.state) = (asked, state);
        }
        let study = fsarena_study::study(&header, RunState::Done, &[], &[record]);
        let table = &study.tables[0];
        crate::labels::row_label(table, &table.rows[0])
    }

    #[test]
    fn a_row_says_what_its_figures_do_not_show() {
        let image = || DeviceLevel::Loop { size_bytes: 1 << 30 };
        let model = "hdd-2007".to_owned();
        let vdisk = DeviceLevel::Vdisk { size_bytes: 1 << 30, model: model.clone() };
        let kernel = String::new();
        let guest = DeviceLevel::Virtual { size_bytes: 1 << 30, model, kernel, syscall_ns: 0 };
        let foreign = DeviceLevel::Elsewhere { program: "fio".into(), what: "a".into() };
        let cold = (Cache::Cold, CacheState::Cold);
        let warm = (Cache::Warm, CacheState::Warm);
        assert_eq!(shown(image(), cold.0, cold.1), "ext4");
        assert_eq!(shown(image(), warm.0, warm.1), "ext4", "as it was asked to be");
        assert_eq!(shown(image(), Cache::Cold, CacheState::Warm), "ext4 (warm)");
        assert_eq!(shown(image(), Cache::Warm, CacheState::NotWarm), "ext4 (not warm)");
        assert_eq!(shown(vdisk, Cache::Cold, CacheState::Warm), "ext4 (modelled, warm)");
        assert_eq!(shown(guest, cold.0, cold.1), "ext4 (virtual time)");
        assert_eq!(shown(foreign, Cache::Unknown, CacheState::Unknown), "ext4 (imported)");
    }

    #[test]
    fn what_was_asked_and_not_had_is_one_sentence_a_level() {
        let with = |label: &str, by: AskedBy, fs: &str| {
            let mut own = contender(label, fs, 1);
            own.levels.cache = Cache::Warm;
            let asked = RequestedLevel { level: "cold".into(), by, why: "it is so".into() };
            own.asked = BTreeMap::from([("cache".to_owned(), asked)]);
            own
        };
        let sentences = |contenders: Vec<Contender>| {
            asked_and_not_had(&records::header(contenders, vec![small_files()], 1).plan)
        };
        let (user, program) = (AskedBy::User, AskedBy::Program);
        let two = vec![with("a", user, "directory"), with("b", program, "directory")];
        let said = "cache = cold was asked for and is not possible for a and b, so cache = warm: it \
                    is so";
        assert_eq!(sentences(two), [said]);
        assert!(sentences(vec![contender("ext4", "ext4", 1)]).is_empty());
        assert!(sentences(vec![with("tmpfs", program, "tmpfs")]).is_empty(), "it is by nature");
        assert_eq!(sentences(vec![with("tmpfs", user, "tmpfs")]).len(), 1);
    }
}
