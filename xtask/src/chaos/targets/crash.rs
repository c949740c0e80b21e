//! `crash`: power cuts, in guests and under the kernel of this machine; states that break a
//! promise are kept.

use super::run_target::{no_fuse, no_guest_kernel, no_loop_devices};
use crate::chaos::checks::Allowed;
use crate::chaos::draw::Draw;
use crate::chaos::kind::{Demand, Setting};
use crate::chaos::live::Ended;
use crate::chaos::shape::{Nature, Stored};
use crate::chaos::subject::{Subject, Target, words};
use crate::chaos::testbed::{Testbed, named};
use crate::chaos::victim::Victim;
use anyhow::{Context as _, Result};
use fsarena_crash_runs::kept_states::KeptStates;
use fsarena_guests::kernel::Cache;
use serde_json::Value;
use std::fs;

const IN_GUESTS: &str = "virtual:1G:model=hdd-2007";
const NATIVE: &str = "vdisk:1G:model=hdd-laptop";
/// The second does not flush the cache of its disk: states are kept.
const FILE_SYSTEMS: [&str; 4] = ["ext4", "ext4:nobarrier", "xfs", "btrfs"];
/// What is said where other work keeps this machine from serving the disk in time.
const TOO_BUSY: &str = "which a native disk cannot do here";
/// A promise was broken.
const BROKEN: i32 = 7;

const NATURE: Nature = Nature {
    victims: &[Victim::Guest, Victim::DiskServer, Victim::Mounter, Victim::Tool],
    steps: &[],
    words: &[],
    stored: &[Stored::Temporary, Stored::Output],
    has_database: false,
    has_images: false,
    is_long: false,
    // Nothing of it is done again, and a disk may be late.
    may_fail: true,
    is_seen_by_all: false,
};

pub(super) struct PowerCuts;

impl Target for PowerCuts {
    fn name(&self) -> &'static str {
        "crash"
    }

    fn nature(&'static self) -> &'static Nature {
        &NATURE
    }

    fn why_not(&self) -> Option<String> {
        None
    }

    fn draw(&'static self, draw: &Draw) -> Box<dyn Subject> {
        Box::new(Crash {
            is_native: draw.once_in("under this kernel", 2),
            fs: draw.one_of("file system", &FILE_SYSTEMS),
            undisturbed: None,
        })
    }
}

struct Crash {
    is_native: bool,
    fs: &'static str,
    /// The end of an undisturbed one, and the states that it has kept: in guests they are always
    /// the same.
    undisturbed: Option<(Ended, Vec<String>)>,
}

/// The states that were kept by starts whose data directory this is.
fn kept(data: &std::path::Path) -> KeptStates {
    KeptStates::new(data.join("fsarena/crash-states"))
}

fn names(states: &KeptStates) -> Result<Vec<String>> {
    let mut names: Vec<String> = states.list()?.into_iter().map(|state| state.id).collect();
    names.sort_unstable();
    Ok(names)
}

/// The figures of a start.
fn rows(ended: &Ended) -> Value {
    let document: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    document["crash"]["rows"].clone()
}

impl Subject for Crash {
    fn describe(&self) -> String {
        format!("{} {}", self.fs, if self.is_native { "under this kernel" } else { "in guests" })
    }

    fn expected_ms(&self) -> u64 {
        if self.is_native { 9000 } else { 3000 }
    }

    fn why_not(&self) -> Option<(String, String)> {
        let reason = match self.is_native {
            true => no_loop_devices().or_else(no_fuse),
            false => no_guest_kernel(),
        };
        Some((self.describe(), reason?))
    }

    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()> {
        if !self.is_native {
            let kernels = Cache::of_user().context("the guest kernels of this user")?;
            let dir = kernels.dir().display().to_string();
            testbed.setting.more_variables.push(("FSARENA_KERNEL_DIR", dir));
            let ended = testbed.start("undisturbed", &self.arguments(&testbed.setting)?)?;
            let states = kept(&testbed.setting.fixture.dir.join(".local/share"));
            self.undisturbed = Some((ended, names(&states)?));
        }
        let data = testbed.setting.output.display().to_string();
        testbed.setting.more_variables.push(("XDG_DATA_HOME", data));
        Ok(())
    }

    fn arguments(&self, _setting: &Setting) -> Result<Vec<String>> {
        let on = if self.is_native { NATIVE } else { IN_GUESTS };
        let what = ["crash", "--json", "--fs", self.fs, "--on", on, "--workload", "synced"];
        let how = ["--seconds", "5", "--runs", "1", "--points", "6"];
        Ok(words(&[&what[..], &how].concat()))
    }

    fn allow(&self, allowed: &mut Allowed) {
        allowed.codes.push(BROKEN);
        allowed.of_interrupt = "stopped";
    }

    fn codes_again(&self) -> Vec<i32> {
        match &self.undisturbed {
            Some((ended, _)) => ended.code().into_iter().collect(),
            None => vec![0, 1, BROKEN],
        }
    }

    fn halves(&self, setting: &Setting) -> Result<Vec<String>> {
        let states = kept(&setting.output);
        let half = |state: &_| states.contents(state).err().map(|error| error.to_string());
        let halves = states.list()?.into_iter().filter_map(|state| half(&state));
        Ok(halves.map(|error| format!("half a state: {error}")).collect())
    }

    fn standing(&self, setting: &Setting) -> Result<Vec<String>> {
        let states = kept(&setting.output);
        let names = names(&states)?;
        let mut found = self.halves(setting)?;
        for entry in fs::read_dir(states.dir()).into_iter().flatten() {
            let entry = entry?;
            if !names.iter().any(|name| entry.file_name() == name.as_str()) {
                found.push(format!("left behind: {}", entry.path().display()));
            }
        }
        Ok(found)
    }

    fn demanded(&self, setting: &Setting, _demand: Demand, ended: &Ended) -> Result<Vec<String>> {
        let Some((undisturbed, states)) = &self.undisturbed else { return Ok(Vec::new()) };
        if ended.code() != undisturbed.code() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        if rows(ended) != rows(undisturbed) {
            found.push("its figures are other ones than undisturbed".to_owned());
        }
        let names = names(&kept(&setting.output))?;
        if names != *states {
            found.push(format!("kept states: {names:?}, undisturbed {states:?}"));
        }
        Ok(found)
    }

    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>> {
        let ended = testbed.start("again", &self.arguments(&testbed.setting)?)?;
        let mut found = Vec::new();
        let is_busy = self.is_native && ended.stderr.contains(TOO_BUSY);
        let is_one = |code| code != 1 && self.codes_again().contains(&code);
        if !is_busy && !ended.code().is_some_and(is_one) {
            found.push(format!("{}: {}", ended.describe(), ended.stderr.trim()));
        }
        found.extend(self.demanded(&testbed.setting, Demand::AllDone, &ended)?);
        found.extend(self.standing(&testbed.setting)?);
        found.extend(testbed.standing()?);
        Ok(named("again", found))
    }
}
