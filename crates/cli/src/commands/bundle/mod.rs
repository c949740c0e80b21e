//! `fsarena bundle`: a RUN with all that is needed to check it, in one file that is passed on.

mod check;
mod names;
mod write;

use crate::args::{BundleArgs, BundleCommand};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// Writes a bundle, or checks one.
pub fn run(args: &BundleArgs, db: Option<&Path>) -> Result<ExitCode> {
    match &args.what {
        Some(BundleCommand::Check(args)) => check::run(args),
        None => write::run(args, db).map(|()| ExitCode::SUCCESS),
    }
}
