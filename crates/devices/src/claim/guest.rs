//! The disk of a guest kernel: it is there when the guest is, one trial long, so that a claim holds
//! nothing.

use super::kind::{Claimed, Kind, Nothing, Order, wrong_level};
use super::vdisk::{modelled, store_dir};
use crate::TargetError;
use crate::inventory::Roots;
use crate::reopen::GUEST_DISK;
use fsarena_filesystems::Availability;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::spec::{TargetSpec, Under};
use std::path::Path;

pub(super) struct Guest;

impl Kind for Guest {
    fn name(&self) -> &'static str {
        "virtual"
    }

    fn summary(&self) -> &'static str {
        "a modelled disk of a guest kernel, in virtual time; needs no root"
    }

    /// The kernel was found when the plan was made.
    fn availability(&self, _roots: &Roots, _modules: &Path) -> Availability {
        Availability::Ready
    }

    fn fits(&self, level: &DeviceLevel) -> Result<(), TargetError> {
        modelled(level, 0).map(drop)
    }

    fn claim(&self, level: &DeviceLevel, order: &mut Order<'_>) -> Result<Claimed, TargetError> {
        let DeviceLevel::Virtual { size_bytes, model, kernel, syscall_ns } = level else {
            return Err(wrong_level(level));
        };
        self.fits(level)?;
        let facts = [
            ("size_bytes", size_bytes.to_string()),
            ("model", model.clone()),
            ("guest_kernel", kernel.clone()),
            ("syscall_ns", syscall_ns.to_string()),
        ];
        let target = TargetSpec::Block {
            device: GUEST_DISK.into(),
            size_bytes: *size_bytes,
            in_memory: false,
            under: Under::Guest {
                kernel: kernel.clone(),
                // Where it is a file is known to the RUN.
                kernel_file: None,
                model: model.clone(),
                store_dir: store_dir(*size_bytes, order.image_dir)?,
                syscall_ns: *syscall_ns,
                twice: false,
            },
            members: Vec::new(),
        };
        let facts = facts.map(|(name, value)| (name.to_owned(), value)).into();
        Ok(Claimed { held: Box::new(Nothing), target, facts, notices: Vec::new() })
    }
}
