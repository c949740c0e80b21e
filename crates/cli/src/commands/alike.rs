//! `fsarena selftest virtual`: a fixed experiment in guests, and hashes of what came out, to be
//! compared with those of another machine.

use super::run;
use crate::args::RunArgs;
use crate::context::{self, exit};
use anyhow::{Context as _, Result};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunHeader;
use fsarena_store::Store;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::process::ExitCode;

const EXPERIMENT: &str = include_str!("alike.toml");
/// Its mkfs writes memory that it never set into the pages of its log: its environment, names of
/// files. So its disk is not the same where these are not.
const WRITES_OWN_MEMORY: &str = "jfs";
/// Digits of a hash that are printed.
const DIGITS: usize = 16;

/// Runs it in a database of its own and prints the hashes.
pub fn run() -> Result<ExitCode> {
    let own = context::scratch_dir()?;
    let experiment = own.path().join("alike.toml");
    std::fs::write(&experiment, EXPERIMENT).with_context(|| experiment.display().to_string())?;
    let db = own.path().join("alike.db");
    let asked = RunArgs {
        experiment: Some(experiment.display().to_string()),
        silent: true,
        ..RunArgs::default()
    };
    let ended = run::run(&asked, Some(&db))?;
    if ended == ExitCode::from(exit::INTERRUPTED) || !db.exists() {
        return Ok(ended);
    }
    let store = Store::open_read_only(&db)?;
    let run = store.find("latest")?;
    let (header, records) = (store.header(run)?, store.records(run)?);
    context::print(&text(&header, &records))?;
    let is_done = records.iter().all(|record| record.outcome == Outcome::Done);
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line a file system, and one over all.
fn text(header: &RunHeader, records: &[TrialRecord]) -> String {
    let mut out = String::new();
    let fact = |name: &str| {
        let of = |record: &TrialRecord| record.device.get(name).cloned();
        records.iter().find_map(of).unwrap_or_else(|| "unknown".to_owned())
    };
    let kernel = fact("guest_kernel_sha256");
    let cpu = header.host.cpu_model.as_deref().unwrap_or("an unknown processor");
    let _ = writeln!(out, "processor: {cpu}");
    let _ = writeln!(out, "guest kernel: {} {kernel}", fact("guest_kernel"));
    let _ = writeln!(out, "fsarena {}", header.program_version);
    let mut all = Sha256::new();
    for contender in &header.plan.contenders {
        let own = records.iter().filter(|record| record.key.contender == contender.id());
        let own: Vec<&TrialRecord> = own.collect();
        let Some(first) = own.first() else {
            let _ = writeln!(out, "{}: not run", contender.label);
            continue;
        };
        let times = times(&own);
        let images = match contender.levels.fs.name == WRITES_OWN_MEMORY {
            true => "none".to_owned(),
            false => images(&own),
        };
        let tool = first.filesystem.tool_version.as_deref().unwrap_or("unknown");
        let _ = writeln!(out, "{}: times {times} image {images} ({tool})", contender.label);
        all.update(times);
        all.update(images);
    }
    let _ = writeln!(out, "all: {}", digits(all));
    let _ = writeln!(
        out,
        "Compare with another machine: where kernel, fsarena (this build of it) and the versions \
         of mkfs are the same, each line has to be the same. jfs has no image: jfs_mkfs writes parts \
         of its memory to the disk."
    );
    out
}

/// Of all clocks of all phases.
fn times(records: &[&TrialRecord]) -> String {
    let mut hash = Sha256::new();
    for phase in records.iter().flat_map(|record| &record.phases) {
        hash.update(&phase.name);
        hash.update(format!("{:?}", phase.clocks));
    }
    digits(hash)
}

/// Of the contents of the disks.
fn images(records: &[&TrialRecord]) -> String {
    let mut hash = Sha256::new();
    for image in records.iter().filter_map(|record| record.device.get("done_twice_image_sha256")) {
        hash.update(image);
    }
    digits(hash)
}

fn digits(hash: Sha256) -> String {
    let mut text: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(DIGITS);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records;

    #[test]
    fn the_experiment_is_read_and_all_of_it_is_in_guests() {
        assert!(fsarena_plan::parse(EXPERIMENT, "alike.toml").unwrap().is_virtual());
    }

    #[test]
    fn what_mkfs_fills_with_its_memory_is_not_compared() {
        let line = |fs: &str| {
            let contenders = vec![records::contender(fs, fs, 1)];
            let header = records::header(contenders, vec![records::small_files()], 1);
            let text = text(&header, &[records::record(&header, 0)]);
            text.lines().find(|line| line.starts_with(&format!("{fs}: "))).unwrap().to_owned()
        };
        assert!(line("jfs").contains(" image none ("), "{}", line("jfs"));
        assert!(!line("ext4").contains(" image none ("), "{}", line("ext4"));
    }

    #[test]
    fn equal_records_have_equal_lines_and_another_time_another_one() {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 1);
        let record = records::record(&header, 0);
        let mut later = record.clone();
        later.started_unix_ns += 1;
        let line = |record: &TrialRecord| {
            let text = text(&header, std::slice::from_ref(record));
            text.lines().find(|line| line.starts_with("all: ")).unwrap().to_owned()
        };
        assert_eq!(line(&record), line(&later));
        later.phases[0].clocks.returned_ns += 1;
        assert_ne!(line(&record), line(&later));
    }
}
