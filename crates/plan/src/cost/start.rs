//! What a RUN does once: images and sources of real work are made before the first trial, the
//! machine is looked at, the report is written.

use super::jobs::stage_ns;
use super::source::CostSource;
use super::sums::whole;
use crate::artifacts::stage_bytes;
use fsarena_model::contender::{DeviceLevel, Discard, Levels};
use fsarena_model::device::SsdPolicy;
use fsarena_model::past::PastStart;
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use std::collections::BTreeSet;

/// An image to be written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ImageCost {
    /// The device as written: `loop:2G`.
    pub device: String,
    /// Whether its contenders discard, in their file systems or before mkfs: those that do have an
    /// image of their own.
    pub has_holes: bool,
    /// Whether it is in memory.
    pub in_memory: bool,
    /// Its size; of several devices the sum of their images.
    pub size_bytes: u64,
}

const ASSUMED_IMAGE_NS_PER_BYTE: f64 = 2.0;
/// The second for which the machine is looked at, and half of one for the report.
const STARTUP_NS: f64 = 1_500_000_000.0;

/// What is made once.
#[derive(PartialEq, Debug)]
pub(super) struct Start {
    images: Vec<ImageCost>,
    /// Of sources of real work, on disks and in memory.
    stage_bytes: (u64, u64),
    /// Without records, ns.
    assumed_ns: f64,
}

impl Start {
    pub(super) fn of_plan(plan: &RunPlan) -> Self {
        let contenders: BTreeSet<usize> = plan.schedule.iter().map(|slot| slot.contender).collect();
        let workloads: BTreeSet<usize> = plan.schedule.iter().map(|slot| slot.workload).collect();
        Self::new(
            contenders.into_iter().map(|at| &plan.contenders[at].levels),
            workloads.into_iter().map(|at| &plan.workloads[at]),
        )
    }

    fn new<'a>(
        levels: impl Iterator<Item = &'a Levels>,
        workloads: impl Iterator<Item = &'a Workload>,
    ) -> Self {
        let images: BTreeSet<ImageCost> = levels.flat_map(images_of).collect();
        let image_bytes: u64 = images.iter().map(|image| image.size_bytes).sum();
        let mut start = Self {
            images: images.into_iter().collect(),
            stage_bytes: (0, 0),
            assumed_ns: image_bytes as f64 * ASSUMED_IMAGE_NS_PER_BYTE,
        };
        for workload in workloads {
            let (disk, memory) = stage_bytes(workload);
            if disk == 0 && memory == 0 {
                continue;
            }
            let bytes = &mut start.stage_bytes;
            *bytes = (bytes.0.saturating_add(disk), bytes.1.saturating_add(memory));
            start.assumed_ns += stage_ns(workload);
        }
        start
    }

    /// Expected length: as long as the latest RUN took that made the same, else by what the latest
    /// took that made something, else assumed.
    fn expected(&self, past: &[PastStart]) -> (f64, CostSource) {
        let of_past = |old: &PastStart| Self::new(old.levels.iter(), old.workloads.iter());
        let known: Vec<(Self, f64)> =
            past.iter().map(|old| (of_past(old), old.elapsed_ns as f64)).collect();
        let is_same =
            |old: &Self| (&old.images, old.stage_bytes) == (&self.images, self.stage_bytes);
        if let Some((_, ns)) = known.iter().find(|(old, _)| is_same(old)) {
            return (*ns, CostSource::SameWork);
        }
        match known.iter().find(|(old, _)| old.assumed_ns > 0.0) {
            Some((old, ns)) => (self.assumed_ns * ns / old.assumed_ns, CostSource::Near),
            None => (self.assumed_ns, CostSource::Assumed),
        }
    }

    /// The cost of all of it.
    pub(super) fn cost(self, past: &[PastStart]) -> StartCost {
        let (ns, source) = self.expected(past);
        let source = (self.assumed_ns > 0.0).then_some(source);
        let Self { images, stage_bytes, .. } = self;
        StartCost { images, stage_bytes, ns: whole(ns + STARTUP_NS), source }
    }
}

/// The cost of what is done once.
pub(super) struct StartCost {
    pub(super) images: Vec<ImageCost>,
    /// Of sources of real work, on disks and in memory.
    pub(super) stage_bytes: (u64, u64),
    pub(super) ns: u64,
    /// Of the time of what is made; absent where nothing is.
    pub(super) source: Option<CostSource>,
}

/// The images that a contender of these levels needs, those on disks and those in memory.
fn images_of(levels: &Levels) -> Vec<ImageCost> {
    if !levels.has_own_device() {
        return Vec::new();
    }
    // A discard makes holes in an image: then it has one of its own.
    let has_holes = levels.discard == Discard::On || levels.ssd == SsdPolicy::Blkdiscard;
    let image = |in_memory: bool| {
        let of_part = |part: &DeviceLevel| match part {
            DeviceLevel::Loop { size_bytes } if !in_memory => *size_bytes,
            DeviceLevel::Ram { size_bytes } if in_memory => *size_bytes,
            _ => 0,
        };
        let size_bytes = levels.device.parts().iter().map(of_part).fold(0, u64::saturating_add);
        (size_bytes > 0).then(|| ImageCost {
            device: levels.device.written(),
            has_holes,
            in_memory,
            size_bytes,
        })
    };
    [false, true].into_iter().filter_map(image).collect()
}
