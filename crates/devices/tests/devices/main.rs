//! Devices and file systems, vetted, made and left, on fakes and on real loop devices.

mod hostile;
mod loop_targets;
