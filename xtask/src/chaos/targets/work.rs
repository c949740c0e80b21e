//! What a RUN of a case does: seconds of work, as an experiment file.

use super::run_target::RunTarget;
use crate::chaos::draw::Draw;
use std::path::Path;

/// A workload: its name and its keys.
type Workload = (&'static str, &'static str);

const WORKLOADS: &[Workload] = &[
    (
        "small",
        "files = 1500\nsize = \"4 KiB\"\ndirs = 4\nphases = [\"create\", \"read\", \"delete\"]",
    ),
    ("many", "files = 8000\nsize = \"256 B\"\ndirs = 4\nphases = [\"create\", \"stat\"]"),
    (
        "large",
        "files = 4\nsize = \"4 MiB\"\nbs = \"64 KiB\"\nphases = [\"big-write\", \"big-read\"]",
    ),
    (
        "threads",
        "files = 2000\nsize = \"1 KiB\"\ndirs = 8\nthreads = 2\nphases = [\"create\", \"read\"]",
    ),
];

/// Blocks of a RUN.
pub(super) const BLOCKS: usize = 2;

/// The experiment of a case.
#[derive(Clone, Debug)]
pub(super) struct Work {
    workload: Workload,
    file_systems: Vec<&'static str>,
    is_cold: bool,
    is_limited: bool,
    has_account: bool,
    is_verified: bool,
    keeps_images: bool,
}

impl Work {
    pub(super) fn draw(draw: &Draw, target: &RunTarget) -> Self {
        let count = if draw.once_in("two file systems", 2) { 2 } else { 1 };
        let mut file_systems = draw.shuffled("file systems", target.file_systems);
        file_systems.truncate(count);
        Self {
            workload: draw.one_of("workload", WORKLOADS),
            file_systems,
            is_cold: target.is_device && draw.once_in("cold", 3),
            is_limited: target.is_device && draw.once_in("memory", 5),
            has_account: target.is_device && draw.once_in("account", 5),
            is_verified: draw.once_in("verify", 4),
            keeps_images: target.age.is_some() && !draw.once_in("ages are not kept", 3),
        }
    }

    /// File systems that are compared; none in a directory.
    pub(super) fn file_systems(&self) -> &[&'static str] {
        &self.file_systems
    }

    /// Trials that the RUN has where none of them fails.
    pub(super) fn trials(&self) -> usize {
        self.file_systems.len().max(1) * BLOCKS
    }

    /// Of the wait for the end, where every trial runs alone and nothing disturbs it.
    pub(super) fn expected_ms(&self, target: &RunTarget) -> u64 {
        400 + target.trial_ms * self.trials() as u64
    }

    /// Whether images of aged devices are kept.
    pub(super) fn keeps_images(&self) -> bool {
        self.keeps_images
    }

    /// Whether a phase is to be cold.
    pub(super) fn is_cold(&self) -> bool {
        self.is_cold
    }

    /// The text of the experiment file; a target that is a directory is `dir`.
    pub(super) fn text(&self, target: &RunTarget, dir: &Path) -> String {
        let quoted: Vec<String> = self.file_systems.iter().map(|fs| format!("\"{fs}\"")).collect();
        let fs = match quoted.as_slice() {
            [] => String::new(),
            all => format!("fs = [{}]\n", all.join(", ")),
        };
        let device = (target.device)(&self.file_systems, dir);
        let cache = if self.is_cold { "cold" } else { "warm" };
        // A directory and guests are what they are.
        let cache = match target.has_cache {
            true => format!("cache = \"{cache}\"\n"),
            false => String::new(),
        };
        let memory = if self.is_limited { "memory = \"64M\"\n" } else { "" };
        let (name, keys) = self.workload;
        format!(
            "schema = 1\nname = \"chaos\"\n[run]\nblocks = {BLOCKS}\nseed = 1\n\
             steal_limit = \"none\"\nforeign_limit = \"none\"\nsample_period = \"50 ms\"\n\
             account = {}\nverify = {}\n\
             [factors]\n{fs}device = \"{device}\"\n{cache}{memory}\
             [[workload]]\nname = \"{name}\"\n{keys}\n{}",
            self.has_account, self.is_verified, target.definition
        )
    }

    /// In a few words.
    pub(super) fn describe(&self) -> String {
        let mut words = vec![self.file_systems.join("+"), self.workload.0.to_owned()];
        let marks = [
            (self.is_cold, "cold"),
            (self.is_limited, "memory"),
            (self.has_account, "account"),
            (self.is_verified, "verify"),
            (self.keeps_images, "images"),
        ];
        words.extend(marks.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned()));
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}
