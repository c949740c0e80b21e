//! `fsarena doctor`: the objections of a critical reader, before a run.

mod noise;

use crate::args::DoctorArgs;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_doctor::Target;
use fsarena_metrics::Roots;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::finding::Finding;
use fsarena_model::run::RunPlan;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long the load is watched where that is what was asked for, and where work waits.
const WATCHED: Duration = Duration::from_secs(1);
const GLANCED: Duration = Duration::from_millis(200);

/// Looks at what was named, and measures the spread of equal runs where that was asked for.
pub fn run(args: &DoctorArgs, _db: Option<&Path>) -> Result<ExitCode> {
    let subjects = args.place.iter().map(|path| Target::from_path(path));
    let subjects: Vec<Target> =
        subjects.collect::<Result<_, _>>().map_err(|error| Usage(error.to_string()))?;
    let place = if args.noise { Some(noise::place(&subjects)?) } else { None };
    let findings = fsarena_doctor::examine(&Roots::default(), &subjects, WATCHED);
    let (width, style) = (context::width(), context::style());
    if !args.json {
        context::print(&fsarena_report::doctor_table(&findings, args.all, width, style))?;
    }
    let noise = match place.map(|place| noise::measure(&place)).transpose()? {
        Some(noise::Measured::Stopped(ended)) => return Ok(ended),
        Some(noise::Measured::Noise(noise)) => Some(noise),
        None => None,
    };
    if args.json {
        context::print_json(&fsarena_report::json::doctor(&findings, noise.as_ref()))?;
    } else if let Some(noise) = &noise {
        context::print(&format!("\n{}", fsarena_report::noise_table(noise, width, style)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What doctor finds of the machine and of everything that the trials of a plan lie on, at a
/// glance.
pub fn before_run(plan: &RunPlan, image_dir: &Path) -> Vec<Finding> {
    let mut paths: Vec<&Path> = Vec::new();
    for contender in &plan.contenders {
        let path = match &contender.levels.device {
            DeviceLevel::Loop { .. } => image_dir,
            DeviceLevel::Block { path, .. } | DeviceLevel::Directory { path } => path,
            DeviceLevel::Ram { .. }
            | DeviceLevel::Zram { .. }
            | DeviceLevel::Brd { .. }
            | DeviceLevel::NullBlk { .. }
            | DeviceLevel::Elsewhere { .. } => continue,
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // What cannot be looked at is refused, or made, by the run itself.
    let subjects: Vec<Target> =
        paths.into_iter().filter_map(|path| Target::from_path(path).ok()).collect();
    fsarena_doctor::examine(&Roots::default(), &subjects, GLANCED)
}
