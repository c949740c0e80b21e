//! The sectors of one file after a crash: what may be there, and what was found.

use super::FileAtCrash;
use crate::history::Contents;
use crate::promise::Promise;
use crate::stamp::{SECTOR, Sector, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Sectors of a file that follow each other, and of which the same can be said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct SectorRun {
    /// First sector, and how many.
    pub from: u32,
    pub sectors: u32,
    pub expected: String,
    pub found: String,
    pub is_as_expected: bool,
}

impl FileAtCrash<'_> {
    /// All sectors that should be there or are there. A name that should be there or gone and is
    /// not is one run of no sectors.
    pub fn sector_runs(&self) -> Vec<SectorRun> {
        let broken = self.broken();
        let is_deleted = broken.as_ref().is_some_and(|it| it.promise == Promise::SyncedDelete);
        let generation = match &broken {
            Some(broken) => self.begun.get(broken.step).map(|step| step.generation),
            None => self.generation.or_else(|| Some(self.acknowledged().last()?.generation)),
        };
        let since = generation.map(|generation| self.held_since(generation)).unwrap_or_default();
        let Some(found) = &self.found else {
            let expected = format!("the file, {}", sizes(&since));
            return vec![named(&expected, "the name is not there")];
        };
        if is_deleted {
            let size = format!("a file of {} bytes", found.size_bytes);
            return vec![named("no such name", &size)];
        }
        let expected = since.iter().map(|contents| contents.size().div_ceil(SECTOR as u64)).max();
        let count = expected.unwrap_or(0).max(found.sectors.len() as u64);
        let mut runs: Vec<SectorRun> = Vec::new();
        for sector in 0..count {
            let run = self.sector_run(&since, sector);
            match runs.last_mut() {
                Some(last)
                    if (&last.expected, &last.found, last.is_as_expected)
                        == (&run.expected, &run.found, run.is_as_expected) =>
                {
                    last.sectors += 1;
                }
                _ => runs.push(run),
            }
        }
        runs
    }

    /// What the file held since its contents were durable, or ever where they were not.
    fn held_since(&self, generation: u32) -> Vec<&Contents> {
        let from = self.contents_floor(generation).unwrap_or(0);
        let steps = self.steps_of(generation).filter(|(at, _)| *at >= from);
        steps.filter_map(|(_, step)| step.contents.as_ref()).collect()
    }

    fn sector_run(&self, since: &[&Contents], sector: u64) -> SectorRun {
        let mut words = BTreeSet::new();
        let mut is_as_expected = false;
        let found = self.found.as_ref();
        for contents in since {
            let expected = contents.sector(sector);
            words.insert(match (expected.bytes, expected.version) {
                (0, _) => "no bytes".to_owned(),
                (_, None) => "zeros".to_owned(),
                (512, Some(version)) => format!("version {version}"),
                (bytes, Some(version)) => format!("{bytes} bytes of version {version}"),
            });
            is_as_expected |=
                found.is_some_and(|found| found.has_sector_of(self.stamp, contents, sector));
        }
        let words: Vec<String> = words.into_iter().collect();
        let bytes = found.map_or(0, |found| found.bytes(sector));
        let seen = match found {
            Some(found) if bytes > 0 => self.words_of(found.sector(sector), sector),
            _ => "no bytes".to_owned(),
        };
        SectorRun {
            from: sector as u32,
            sectors: 1,
            expected: if words.is_empty() { "nothing".to_owned() } else { words.join(" or ") },
            found: seen,
            is_as_expected,
        }
    }

    fn words_of(&self, found: &Sector, sector: u64) -> String {
        match found {
            Sector::Zeros => "zeros".to_owned(),
            Sector::Piece(bytes) => format!("{} bytes, too few to say whose", bytes.len()),
            Sector::Foreign => "bytes of no file".to_owned(),
            Sector::Stamp { stamp, sector: number, bytes } => {
                let part = if *bytes == 512 { String::new() } else { format!("{bytes} bytes of ") };
                let own = Stamp { version: 0, ..*stamp } == self.own();
                let version = stamp.version;
                match crate::workload::path(stamp.file) {
                    _ if own && u64::from(*number) == sector => format!("{part}version {version}"),
                    _ if own => format!("{part}version {version}, of another place in it"),
                    Some(other) => format!("{part}{other}, version {version}"),
                    None => format!("{part}file {}, version {version}", stamp.file),
                }
            }
        }
    }
}

fn named(expected: &str, found: &str) -> SectorRun {
    SectorRun {
        from: 0,
        sectors: 0,
        expected: expected.to_owned(),
        found: found.to_owned(),
        is_as_expected: false,
    }
}

/// `900 bytes`, `900 or 1800 bytes`.
fn sizes(since: &[&Contents]) -> String {
    let sizes: BTreeSet<u64> = since.iter().map(|contents| contents.size()).collect();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    format!("{} bytes", sizes.join(" or "))
}
