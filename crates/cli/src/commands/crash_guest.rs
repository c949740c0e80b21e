//! The modelled disk and the guests of a contender.

use super::trust::check_guest_kernel;
use anyhow::{Context as _, Result};
use fsarena_disk_server::DiskOrder;
use fsarena_guests::guest::GuestOptions;
use fsarena_guests::kernel::Kernels;
use fsarena_model::contender::{Contender, DeviceLevel};
use std::time::Duration;

/// What its guests are booted with, and their disk; a guest is given up after so much real time.
pub(super) fn guest_of<'a>(
    contender: &'a Contender,
    kernels: &Kernels,
    limit: Duration,
) -> Result<(DiskOrder<'a>, GuestOptions)> {
    let DeviceLevel::Virtual { size_bytes, model, kernel, syscall_ns } = &contender.levels.device
    else {
        anyhow::bail!("{} is in no guest", contender.label);
    };
    let found =
        kernels.named(kernel, |named| named.binary()).context("its guest kernel is gone")??;
    check_guest_kernel(&found)?;
    let options = GuestOptions { syscall_ns: *syscall_ns, limit, ..GuestOptions::new(&found) };
    Ok((DiskOrder { model, size_bytes: *size_bytes, store_dir: None }, options))
}
