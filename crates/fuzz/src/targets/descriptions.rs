//! Descriptions that users write: experiments, datasets, device models, applications.

use crate::target::{PLAIN, Target};
use fsarena_corpus::Description;
use fsarena_crash::application::Application;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use fsarena_model::header_rules;
use fsarena_model::run::RunPlan;
use fsarena_plan::{Experiment, Overrides, Rules, expand, notes_of, parse, to_toml};
use fsarena_vdisk::{DeviceOptions, Request, Sheet, VirtualDevice};
use std::fs;
use std::path::Path;

pub(super) const EXPERIMENT: Target = Target {
    name: "experiment",
    reads: "experiment files: plans, factors, workloads, questions",
    shares: 3,
    seeds: || {
        let dirs = ["experiments", "experiments/examples", "experiments/workloads"];
        dirs.into_iter().flat_map(files_of).collect()
    },
    run: experiment,
    ..PLAIN
};

pub(super) const DATASET: Target = Target {
    name: "dataset",
    reads: "descriptions of datasets",
    seeds: || files_of("datasets"),
    run: dataset,
    ..PLAIN
};

pub(super) const DEVICE_MODEL: Target = Target {
    name: "device-model",
    reads: "sheets of modelled disks",
    seeds: || files_of("devices"),
    run: device_model,
    ..PLAIN
};

pub(super) const APPLICATION: Target = Target {
    name: "application",
    reads: "descriptions of applications whose crash safety is looked at",
    seeds: || files_of("applications"),
    run: application,
    ..PLAIN
};

/// Size of the disks that models are tried on: the map of flash grows with it.
const MODEL_BYTES: u64 = 64 << 20;

/// The TOML files of a directory of the repository.
fn files_of(dir: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir);
    let mut paths: Vec<_> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

/// Takes every file system and every device.
pub(super) struct AnyRules;

impl Rules for AnyRules {
    fn check(&self, _: &FsLevel, _: &DeviceLevel) -> Result<(), String> {
        Ok(())
    }

    fn guest_kernel(&self, name: &str) -> Result<String, String> {
        Ok(if name.is_empty() { "6.1.1-0123456789ab".to_owned() } else { name.to_owned() })
    }

    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>> {
        path.starts_with("/dev").then_some(Ok(8 << 30))
    }

    fn logical_sector_bytes(&self, _: &DeviceLevel) -> Option<u64> {
        Some(512)
    }
}

fn planned(experiment: &Experiment) -> Result<RunPlan, String> {
    expand(experiment, &Overrides::default(), &AnyRules).map_err(|error| error.what)
}

/// What is read is written and read the same, and gives the same plan; a refusal names line and
/// column of the file.
fn experiment(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = notes_of(&text);
    let read = match parse(&text, "x.toml") {
        Ok(read) => read,
        Err(error) => return has_place(&error.to_string(), &text),
    };
    let written = to_toml(&read);
    let again = parse(&written, "again.toml");
    let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(to_toml(&again), written);
    let plan = planned(&read);
    assert_eq!(planned(&again), plan, "{written}");
    if let Ok(plan) = plan {
        // What can be planned is not refused as foreign once it is stored.
        let workloads = plan.workloads.clone();
        let mut header = fsarena_testkit::records::header(Vec::new(), workloads, 0);
        header.plan = plan;
        if let Err(rule) = header_rules::check(&header) {
            panic!("{rule}\n{written}");
        }
    }
}

/// `x.toml:LINE:COLUMN: …` or `x.toml:LINE: …`, with a line that there is.
fn has_place(error: &str, text: &str) {
    let rest = error.strip_prefix("x.toml").map(|rest| rest.trim_start_matches([':', ',', ' ']));
    let rest = rest.map(|rest| rest.trim_start_matches("line "));
    let digits = rest.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    let line: Option<usize> = digits.and_then(|digits| digits.parse().ok());
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let is_there = line.is_some_and(|line| (1..=lines).contains(&line));
    assert!(is_there, "{error}\nof {lines} lines");
    assert!(error.contains("; "), "no remedy: {error}");
}

/// A dataset that is read is written and read the same, and a small part of it is made.
fn dataset(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Description::parse(&text, "x.toml") {
        Ok(read) => {
            let written = read.to_toml();
            let again = Description::parse(&written, "again.toml");
            let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(again, read);
            let tree = read.scaled(1e-5 / read.scale()).tree();
            let mut last = None;
            for entry in tree.entries() {
                assert!(
                    !entry.path.starts_with('/') && !entry.path.split('/').any(|part| part == "..")
                );
                assert_ne!(last.replace(entry.path), Some(entry.path), "two of one name");
            }
        }
        Err(error) => has_place(&error.to_string(), &text),
    }
}

/// A disk that a sheet describes answers requests in an order of time.
fn device_model(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let sheet = match Sheet::parse(&text, "x.toml") {
        Ok(sheet) => sheet,
        Err(error) => return has_place(&error.to_string(), &text),
    };
    let size_bytes = Some(sheet.capacity_bytes.min(MODEL_BYTES));
    let options = DeviceOptions { size_bytes, seed: 1, ..DeviceOptions::default() };
    let Ok(mut device) = VirtualDevice::new(&sheet, &options) else { return };
    let last_sector = device.size_bytes() / 512 - 8;
    let mut now_ns = 0;
    for (tag, sector) in (0..).zip([0, 8, last_sector, last_sector / 2, 0, last_sector]) {
        let request = match tag % 3 {
            0 => Request::write(0, sector, 8),
            1 => Request::read(0, sector, 8),
            _ => Request::flush(0),
        };
        let taken = device.submit(now_ns, request);
        assert!(taken.is_ok(), "{taken:?}");
        while let Some(next_ns) = device.next_event_ns() {
            assert!(next_ns >= now_ns, "an event before now");
            now_ns = next_ns;
            if device.poll(now_ns).is_some() {
                break;
            }
        }
        assert_eq!(device.outstanding(), 0, "a request is never answered");
    }
}

/// An application that is read is stored and read the same.
fn application(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match Application::parse(&text, "x.toml") {
        Ok(read) => {
            let stored = serde_json::to_string(&read).expect("it is plain data");
            let again = serde_json::from_str::<Application>(&stored);
            assert!(again.is_ok_and(|again| again == read));
        }
        Err(error) => has_place(&error.to_string(), &text),
    }
}
