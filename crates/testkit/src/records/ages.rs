//! RUNs over ages of file systems, with known ratios of aged to fresh and a made-up state of each.

use fsarena_model::age::{AgeExtents, AgeRecord};
use fsarena_model::contender::Contender;
use fsarena_model::factor;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;

/// Each of the file systems in each age, as a plan has them: `ext4 fresh`, `ext4 aged 80%`.
///
/// # Panics
/// Where a text is no age.
#[must_use]
pub fn in_ages(file_systems: &[&str], ages: &[&str]) -> Vec<Contender> {
    let factor = factor::find(factor::AGE).expect("it is registered");
    let of = |name: &str, age: &str| {
        let level = factor.parse(age).expect("an age");
        let mut contender =
            super::jobs::contender(&format!("{name} {}", factor.label(&level)), name, 1);
        factor.set(&mut contender.levels, &level);
        contender
    };
    file_systems.iter().flat_map(|name| ages.iter().map(move |age| of(name, age))).collect()
}

/// Their trials of small files: as [`super::scaled`], and each aged one with a record of its age,
/// in which files of contender `n` have 1 + `n` ÷ 10 extents.
#[must_use]
pub fn aged(
    contenders: Vec<Contender>,
    blocks: u32,
    speed_up: impl Fn(usize, &str) -> f64,
) -> (RunHeader, Vec<TrialRecord>) {
    let (header, mut records) = super::scaled(contenders, blocks, speed_up);
    for (record, slot) in records.iter_mut().zip(&header.plan.schedule) {
        let levels = &header.plan.contenders[slot.contender].levels;
        record.age = factor::age(levels).map(|_| age_record(slot.contender));
    }
    (header, records)
}

/// What was noted of the age of contender `contender`.
#[must_use]
pub fn age_record(contender: usize) -> AgeRecord {
    AgeRecord {
        operations: 44_517,
        operations_sha256: "5e".repeat(32),
        fill_bytes: 800 << 20,
        churned_bytes: 1600 << 20,
        rounds: 0,
        files: 6461,
        file_bytes: 798 << 20,
        total_bytes: 1 << 30,
        used_bytes: 850 << 20,
        extents: Some(AgeExtents {
            files: 6461,
            mean: 1.0 + contender as f64 / 10.0,
            p99: 6,
            max: 40,
            per_mib: 6.5,
        }),
        room_retries: 0,
        elapsed_ns: 26 * crate::SECOND_NS,
        image: None,
    }
}
