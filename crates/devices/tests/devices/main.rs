//! Devices and file systems, vetted, made and left, on fakes and on real loop devices.

mod hostile;
mod loop_targets;

use fsarena_model::contender::{DeviceLevel, FsLevel, Levels};
use fsarena_model::device::QueueLevel;
use fsarena_model::factor;

/// The settings of a queue at this level: file and text.
fn settings(queue: &QueueLevel) -> Vec<(&'static str, String)> {
    let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
    let levels = Levels::plain(FsLevel::plain("ext4"), device);
    factor::queue_settings(&factor::settings(&Levels { queue: queue.clone(), ..levels }))
}
