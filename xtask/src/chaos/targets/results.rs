//! Databases of results that were never measured, for commands that read them.

use crate::chaos::live::Ended;
use crate::chaos::shape::{Nature, Stored};
use anyhow::{Result, bail};
use fsarena_model::run::RunState;
use fsarena_model::verdict::Rule;
use fsarena_store::{Owner, Store};
use fsarena_testkit::records;
use std::path::Path;

/// So many that commands take about a second with them.
const BLOCKS: u32 = 8;
const FILE_SYSTEMS: [&str; 4] = ["ext4", "xfs", "btrfs", "f2fs"];

/// Of a command that reads a database and writes what was asked for.
pub(super) const NATURE: Nature = Nature {
    victims: &[],
    steps: &[],
    words: &[],
    stored: &[Stored::Journals, Stored::Temporary, Stored::Output],
    has_database: true,
    has_images: false,
    is_long: false,
    may_fail: false,
    is_seen_by_all: false,
};
/// Of such a command.
pub(super) const EXPECTED_MS: u64 = 1200;

/// Adds a RUN that is done, of this id, to the database `path`.
pub(super) fn put_run(path: &Path, uid: &str) -> Result<()> {
    let contenders = FILE_SYSTEMS.map(|name| records::contender(name, name, 1)).to_vec();
    let workloads = vec![records::small_files(), records::big_file()];
    let mut header = records::header(contenders, workloads, BLOCKS);
    header.uid = uid.to_owned();
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: BLOCKS }));
    let store = Store::open(path)?;
    let nobody = Owner { pid: 0, start_ticks: 0, boot_id: String::new() };
    let run = store.create_run(&header, &nobody)?;
    store.put_session(run, &records::session("b", 0))?;
    for sequence in 0..u32::try_from(header.plan.schedule.len())? {
        store.put_record(run, &records::record(&header, sequence))?;
    }
    Ok(store.set_state(run, RunState::Done, None)?)
}

/// A start in the set-up of a case, which has to end well.
pub(super) fn good(ended: Ended) -> Result<Ended> {
    if ended.code() != Some(0) {
        bail!("the set-up: {}: {}", ended.describe(), ended.stderr.trim());
    }
    Ok(ended)
}
