//! File systems of a test: real names, a few rules, no machine.

use fsarena_model::contender::{DeviceLevel, FsLevel, Levels};
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use fsarena_model::spec::Step;
use fsarena_plan::{Overrides, PlanError, Rules, expand, parse};
use std::path::Path;

pub struct TestRules;

impl Rules for TestRules {
    fn check(&self, fs: &FsLevel, device: &DeviceLevel) -> Result<(), String> {
        if fs.name == "xfs" && device.size_bytes().is_some_and(|size| size < 300 << 20) {
            return Err("xfs needs a device of at least 300 MiB".to_owned());
        }
        if fs.mount.iter().any(|option| option == "nonsense") {
            return Err(format!("{} has no mount option nonsense; leave it out", fs.name));
        }
        let value = |key: &str| fs.mkfs.get(key).map(String::as_str);
        if value("block_size") == Some("1024") && fs.mount.iter().any(|m| m == "dax") {
            return Err("dax needs blocks of 4096 B; use mkfs.block_size=4096".to_owned());
        }
        Ok(())
    }

    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>> {
        match path.to_str()? {
            "/dev/vdb" | "/dev/disk/by-id/b" => Some(Ok(8 << 30)),
            "/dev/vdc" => Some(Err("it is mounted at /home; unmount it first".to_owned())),
            _ => None,
        }
    }

    fn guest_kernel(&self, name: &str) -> Result<String, String> {
        match name {
            "" | "6.1" | "6.1.192-16c9f89d7291" => Ok("6.1.192-16c9f89d7291".to_owned()),
            "6.12" => Ok("6.12.117-8444a7d9177f".to_owned()),
            "/own/linux" => Ok("6.1.192-aaaaaaaaaaaa".to_owned()),
            _ => Err(format!("no guest kernel is called {name:?}; see fsarena kernel list")),
        }
    }

    fn logical_sector_bytes(&self, device: &DeviceLevel) -> Option<u64> {
        matches!(device, DeviceLevel::Block { .. }).then_some(4096)
    }
}

/// A file with these factors and one small workload.
pub fn file(factors: &str) -> String {
    format!("schema = 1\nname = \"t\"\n[factors]\n{factors}\n[[workload]]\nuse = \"small-files\"\n")
}

pub fn plan(text: &str) -> Result<RunPlan, PlanError> {
    expand(&parse(text, "t.toml")?, &Overrides::default(), &TestRules)
}

/// Labels, and with them why a contender is not run.
pub fn labels(plan: &RunPlan) -> String {
    let line = |(number, contender): (usize, &fsarena_model::contender::Contender)| {
        let reasons: Vec<String> = plan
            .not_run
            .iter()
            .filter(|not| not.contender == number)
            .map(|not| match not.workload {
                Some(workload) => format!("{}: {}", plan.workloads[workload].name, not.reason),
                None => not.reason.clone(),
            })
            .collect();
        match reasons.is_empty() {
            true => contender.label.clone(),
            false => format!("{}\n    not run: {}", contender.label, reasons.join(" | ")),
        }
    };
    plan.contenders.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Ops of one trial of a workload, over all its phases and the one that prepares.
pub fn ops_per_trial(workload: &Workload) -> u64 {
    let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
    let levels = Levels::plain(FsLevel::plain("ext4"), device);
    let ops = |step: Step| match step {
        Step::Prepare { phase } | Step::Measure { phase } => phase.count(&workload.dataset),
        _ => 0,
    };
    fsarena_plan::steps(workload, &levels, false).into_iter().map(ops).sum()
}
