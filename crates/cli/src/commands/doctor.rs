//! `fsarena doctor`: conditions of the machine and of devices that distort results.

mod noise;

use crate::args::DoctorArgs;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_doctor::Target;
use fsarena_metrics::Roots;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long the load of the machine is measured.
const WINDOW: Duration = Duration::from_secs(1);

/// Checks what was named, and measures the spread of equal runs if asked to.
pub fn run(args: &DoctorArgs, _db: Option<&Path>) -> Result<ExitCode> {
    let subjects = args.paths.iter().map(|path| Target::from_path(path));
    let subjects: Vec<Target> =
        subjects.collect::<Result<_, _>>().map_err(|error| Usage(error.to_string()))?;
    let place = if args.noise { Some(noise::choose_target(&subjects)?) } else { None };
    let findings = fsarena_doctor::examine(&Roots::default(), &subjects, WINDOW);
    let (width, style) = (context::width(), context::style());
    if !args.json {
        context::print(&fsarena_report::doctor_table(&findings, args.all, width, style))?;
    }
    let noise = match place.map(|place| noise::measure(&place)).transpose()? {
        Some(noise::NoiseOutcome::Stopped(ended)) => return Ok(ended),
        Some(noise::NoiseOutcome::Noise(noise)) => Some(noise),
        None => None,
    };
    if args.json {
        context::print_json(&fsarena_report::json::doctor(&findings, noise.as_ref()))?;
    } else if let Some(noise) = &noise {
        context::print(&format!("\n{}", fsarena_report::noise_table(noise, width, style)))?;
    }
    Ok(ExitCode::SUCCESS)
}
