//! RUNs over numbers of ranks or hosts.

use super::lengthened::lengthened;
use fsarena_model::contender::Contender;
use fsarena_model::factor;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;

/// Contenders that differ in their number of ranks alone: `directory ranks=2`.
#[must_use]
pub fn in_ranks(numbers: &[u32]) -> Vec<Contender> {
    let of = |number: &u32| with(&format!("directory ranks={number}"), &[(factor::RANKS, *number)]);
    numbers.iter().map(of).collect()
}

/// Contenders that differ in their number of hosts, with one rank on each: `directory hosts=2`.
#[must_use]
pub fn on_hosts(numbers: &[u32]) -> Vec<Contender> {
    let of = |number: &u32| {
        let levels = [(factor::HOST_COUNT, *number), (factor::RANKS, *number)];
        with(&format!("directory hosts={number}"), &levels)
    };
    numbers.iter().map(of).collect()
}

fn with(label: &str, levels: &[(&str, u32)]) -> Contender {
    let mut contender = super::jobs::contender(label, "directory", 1);
    for (key, number) in levels {
        contender.levels.factors.insert((*key).to_owned(), number.to_string());
    }
    contender
}

/// Their trials of small files. A phase takes a second ÷ what `speed_up` says of the contender and
/// the phase, and up to 1 % more, otherwise in each block.
///
/// # Panics
/// When there are no contenders.
#[must_use]
pub fn scaled(
    contenders: Vec<Contender>,
    blocks: u32,
    speed_up: impl Fn(usize, &str) -> f64,
) -> (RunHeader, Vec<TrialRecord>) {
    let header = super::header(contenders, vec![super::small_files()], blocks);
    let records =
        lengthened(&header, |slot, phase, longer| longer / speed_up(slot.contender, phase));
    (header, records)
}
