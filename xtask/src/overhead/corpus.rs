//! Datasets of real work: how fast their contents are made, and their trees against bare loops.
//!
//! A tree is made by [`fsarena_corpus::Tree::write`] and by a loop that makes the same directories
//! and files from a ready buffer, each in a process of its own, in fresh directories on tmpfs and
//! on ext4 on a loop device. Of the two ways to name a file, relative to the descriptor of its
//! directory or by its whole path, the loop takes the one that is quicker there.

mod make;
mod speed;

use super::image::Mounted;
use super::options::{CORPUS_JUDGED_FILES, MIB, Options, Section, Verdict};
use super::pairs::{Pace, Sample, Side, stage, warm};
use super::table::{Centre, Compared, Comparison};
use anyhow::{Context as _, Result};
use fsarena_corpus::builtin;
pub(super) use make::run_child;
use make::{Dataset, Made, Make, Way};
use std::path::Path;

pub(super) const SECTION: Section = Section { name: "corpus", judged, run };

const USUAL_PAIRS: u32 = 31;
const JUDGED_PAIRS: u32 = 21;
/// Pairs of what is shown only.
const SHOWN_PAIRS: u32 = 7;
/// Runs of each way of the loop before the quicker one is taken.
const RACES: usize = 3;

/// A tree takes at most 1.15 of the time of the loop.
const LEAST_RATIO: f64 = 1.0 / 1.15;
const JUDGED: [Compared; 2] = [
    Compared { name: "created", ratio: LEAST_RATIO, low: 0.0 },
    Compared { name: "durable", ratio: 0.0, low: 0.0 },
];
const SHOWN: [Compared; 2] = [
    Compared { name: "created", ratio: 0.0, low: 0.0 },
    Compared { name: "durable", ratio: 0.0, low: 0.0 },
];

/// Blocks, inodes and entries on ext4, of each file of some hundred bytes.
const IMAGE_BYTES_A_FILE: u64 = 16_384;
/// The journal, and the large files of a tree.
const IMAGE_BYTES_LEAST: u64 = 160 * MIB;

fn judged(options: &Options) -> bool {
    options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS && options.corpus_files >= CORPUS_JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict { missed: speed::measure(options.smoke)?, ..Verdict::default() };
    let judged = judged(options) && !options.smoke;
    let trees = [Dataset::small(options.corpus_files), Dataset::ports(options.corpus_files)?];
    let tmpfs = TreeLocation { name: "tmpfs", options, mounted: None };
    for tree in &trees {
        tmpfs.compare(tree, judged, &mut verdict)?;
    }
    let image_bytes = IMAGE_BYTES_LEAST + options.corpus_files * IMAGE_BYTES_A_FILE;
    match Mounted::new(&options.dir, image_bytes)? {
        Ok(mounted) => {
            let name = "ext4 on a loop device";
            let ext4 = TreeLocation { name, options, mounted: Some(mounted.path()) };
            for tree in &trees {
                ext4.compare(tree, judged, &mut verdict)?;
            }
        }
        Err(why) => verdict.not_run("corpus on a loop device", &why),
    }
    Ok(verdict)
}

impl Dataset {
    fn small(files: u64) -> Self {
        Self { name: format!("small-{files}"), scale: 1.0 }
    }

    /// About `files` files of ports-2004.
    fn ports(files: u64) -> Result<Self> {
        let name = "ports-2004";
        let whole = builtin(name).context(name)?.tree().contents().files;
        Ok(Self { name: name.to_owned(), scale: (files as f64 / whole as f64).min(1.0) })
    }
}

/// Where trees are made.
struct TreeLocation<'a> {
    name: &'static str,
    options: &'a Options,
    /// Where its file system is mounted; absent: a directory on tmpfs.
    mounted: Option<&'a Path>,
}

impl TreeLocation<'_> {
    /// One comparison that is judged, and those that are shown.
    fn compare(&self, dataset: &Dataset, judged: bool, verdict: &mut Verdict) -> Result<()> {
        let contents = make::tree(&dataset.name, dataset.scale)?.contents();
        let mb = contents.bytes as f64 / 1e6;
        let loops = self.quicker(dataset)?;
        println!(
            "{} on {}: {} files in {} directories, {mb:.1} MB (10^6 bytes); the loop names files \
             {}",
            dataset.name,
            self.name,
            contents.files,
            contents.dirs,
            loops.words()
        );
        let options = self.options;
        let pairs = options.pairs(USUAL_PAIRS);
        let needs = if judged { JUDGED_PAIRS } else { 0 };
        let wanted = |threads| Make::new(dataset, Way::Ours { threads });
        let (judged_pace, shown_pace) =
            (Pace::new(options, pairs, judged), Pace::new(options, pairs.min(SHOWN_PAIRS), false));
        let one = "1 thread for contents beside the calls, at most 1.15 of the loop's time";
        let two = "2 threads for contents, for information";
        let pinned = "both sides on one CPU, for information";
        for (what, ours, pace, needs, compared) in [
            (one, wanted(1), judged_pace, needs, &JUDGED),
            (two, wanted(2), shown_pace, 0, &SHOWN),
            (pinned, wanted(1).on_one_processor(), shown_pace, 0, &SHOWN),
        ] {
            let other = ours.by(loops);
            let pace = if self.mounted.is_some() { pace.with_kernel_help() } else { pace };
            let pairs = pace.run(|side| {
                self.once(match side {
                    Side::Ours => &ours,
                    Side::Other => &other,
                })
                .map(|made| self.samples(&made))
            })?;
            let comparison = Comparison {
                title: format!("{} on {}, {what}", dataset.name, self.name),
                other: "loop",
                compared: if self.mounted.is_some() { compared } else { &compared[..1] },
                centre: Centre::HodgesLehmann,
                needs,
            };
            verdict.missed.extend(comparison.print(&pairs)?);
        }
        Ok(())
    }

    /// The way of the loop that is quicker here.
    fn quicker(&self, dataset: &Dataset) -> Result<Way> {
        let mut quicker = (u64::MAX, Way::Descriptors);
        for _ in 0..if self.options.smoke { 1 } else { RACES } {
            for way in [Way::Descriptors, Way::Paths] {
                let made = self.once(&Make::new(dataset, way))?;
                if made.created_ns < quicker.0 {
                    quicker = (made.created_ns, way);
                }
            }
        }
        Ok(quicker.1)
    }

    /// Makes a tree in a fresh directory, and removes it. The next one finds nothing to be written
    /// back.
    fn once(&self, make: &Make) -> Result<Made> {
        let fresh = match self.mounted {
            None => stage(self.options, 0)?,
            Some(mounted) => {
                warm(self.options, 0)?;
                tempfile::Builder::new().prefix("fsarena-overhead-").tempdir_in(mounted)?
            }
        };
        let made = make.send(fresh.path())?;
        fresh.close().context("a tree could not be removed")?;
        if let Some(mounted) = self.mounted {
            rustix::fs::syncfs(std::fs::File::open(mounted)?)?;
        }
        Ok(made)
    }

    fn samples(&self, made: &Made) -> Vec<Sample> {
        let entries = made.entries.max(1) as f64;
        let sample = |ns: u64| Sample {
            ns_per_op: ns as f64 / entries,
            cpu_ns_per_op: made.cpu_ns as f64 / entries,
        };
        let durable = self.mounted.map(|_| sample(made.durable_ns));
        std::iter::once(sample(made.created_ns)).chain(durable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_scaled_to_the_number_of_files() {
        for files in [300, 5000] {
            for dataset in [Dataset::small(files), Dataset::ports(files).unwrap()] {
                let tree = make::tree(&dataset.name, dataset.scale).unwrap();
                let found = tree.contents().files as f64 / files as f64;
                assert!((0.9..1.1).contains(&found), "{}: {found}", dataset.name);
            }
        }
        assert!(Dataset::ports(10_000_000).unwrap().scale <= 1.0);
        assert!(make::tree("no-such-dataset", 1.0).is_err());
    }

    #[test]
    fn a_time_of_1_15_is_met_and_more_is_not() {
        let met = |time: f64| 1.0 / time >= JUDGED[0].ratio;
        assert!(met(1.149) && !met(1.151));
        assert!(JUDGED[1].ratio == 0.0 && SHOWN.iter().all(|one| one.ratio == 0.0));
    }
}
