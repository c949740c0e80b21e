//! All targets. A new one is a file here, or a row of one that is there, and a line in the list.

mod age_images;
mod article;
mod bundle;
mod crash;
mod kernel_build;
mod results;
mod run;
mod run_target;
mod work;
mod written;

use super::subject::Target;

/// In the order of help.
pub(super) const TARGETS: &[&dyn Target] = &[
    &run_target::LOOP,
    &run_target::RAM,
    &run_target::ZRAM,
    &run_target::FUSE,
    &run_target::DIRECTORY,
    &run_target::TMPFS,
    &run_target::VDISK,
    &run_target::VIRTUAL,
    &run_target::RENDEZVOUS,
    &run_target::HOSTS,
    &run_target::AGES,
    &bundle::Bundles,
    &article::Articles,
    &kernel_build::KernelBuilds,
    &crash::PowerCuts,
];
