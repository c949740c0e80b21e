//! A RUN as what is disturbed: its trials are done again, and nothing that was stored is lost.

use super::age_images;
use super::run_target::RunTarget;
use super::work::Work;
use crate::chaos::checks::{self, Allowed};
use crate::chaos::draw::Draw;
use crate::chaos::kind::{Demand, Setting};
use crate::chaos::live::Ended;
use crate::chaos::ranks::{self, Launcher, Ranks};
use crate::chaos::shape::Nature;
use crate::chaos::subject::{Subject, Target, words};
use crate::chaos::testbed::{Testbed, named};
use anyhow::{Context as _, Result};
use fsarena_guests::kernel::Cache;
use fsarena_model::run::RunState;
use std::fs;
use std::path::PathBuf;

/// A resume is interrupted at most so often by what was done before: the last trial that the
/// machine has ended too often is given up at the second.
const RESUMES_MAX: usize = 2;
/// Of a start by which a phase could not be proved cold.
const NOT_COLD: i32 = 5;

impl Target for RunTarget {
    fn name(&self) -> &'static str {
        self.name
    }

    fn nature(&'static self) -> &'static Nature {
        &self.nature
    }

    fn why_not(&self) -> Option<String> {
        (self.why_not)()
    }

    fn draw(&'static self, draw: &Draw) -> Box<dyn Subject> {
        let work = Work::draw(draw, self);
        Box::new(Run { target: self, work, told: 0, is_resumed: false })
    }
}

struct Run {
    target: &'static RunTarget,
    work: Work,
    /// Trials that were said to be stored.
    told: usize,
    /// Whether a start has resumed it and said that all is done.
    is_resumed: bool,
}

fn experiment(setting: &Setting) -> PathBuf {
    setting.fixture.dir.join("chaos.toml")
}

fn age_images(setting: &Setting) -> PathBuf {
    setting.fixture.dir.join("ages")
}

impl Run {
    fn arguments_to_resume(&self, setting: &Setting, resume: &str) -> Result<Vec<String>> {
        let own = words(&["run", resume, "--yes"]);
        Ok([own, ranks::options(self.target.ranks, setting)?].concat())
    }

    /// Whether all is there that was said to be stored.
    fn kept(&self, setting: &Setting) -> Result<Vec<String>> {
        let stored = checks::stored(&setting.fixture.database)?;
        let mut found = checks::nothing_lost(stored.as_ref(), self.told);
        if self.work.keeps_images() {
            found.extend(age_images::wrong(&age_images(setting))?);
        }
        Ok(found)
    }
}

impl Subject for Run {
    fn describe(&self) -> String {
        self.work.describe()
    }

    fn trials(&self) -> usize {
        self.work.trials()
    }

    fn expected_ms(&self) -> u64 {
        self.work.expected_ms(self.target)
    }

    fn why_not(&self) -> Option<(String, String)> {
        self.target.why_not_with(self.work.file_systems())
    }

    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()> {
        let setting = &mut testbed.setting;
        let text = self.work.text(self.target, &setting.fixture.dir.join("target"));
        fs::write(experiment(setting), text)?;
        if self.work.keeps_images() {
            fs::create_dir(age_images(setting))?;
        }
        if self.target.is_in_guests {
            let kernels = Cache::of_user().context("the guest kernels of this user")?;
            let dir = kernels.dir().display().to_string();
            setting.more_variables.push(("FSARENA_KERNEL_DIR", dir));
        }
        Ok(())
    }

    fn arguments(&self, setting: &Setting) -> Result<Vec<String>> {
        let mut all = words(&["run", &experiment(setting).display().to_string(), "--yes"]);
        all.extend(ranks::number(self.target.ranks));
        all.extend(ranks::options(self.target.ranks, setting)?);
        all.extend(self.target.age.iter().flat_map(|age| words(&["--age", age])));
        if self.work.keeps_images() {
            all.extend(words(&["--age-images", &age_images(setting).display().to_string()]));
        }
        Ok(all)
    }

    fn again(&self, setting: &Setting) -> Result<Vec<String>> {
        self.arguments_to_resume(setting, "--resume")
    }

    fn launcher(&self, setting: &Setting, name: &str) -> Option<Launcher> {
        (self.target.ranks == Ranks::Dial).then(|| Launcher::start(setting, name))
    }

    fn allow(&self, allowed: &mut Allowed) {
        if self.work.is_cold() {
            allowed.codes.push(NOT_COLD);
        }
        if self.target.ranks == Ranks::Dial {
            // Ranks that did not come.
            allowed.codes.push(2);
        }
    }

    fn codes_again(&self) -> Vec<i32> {
        // Trials of the disturbed start may have failed.
        if self.work.is_cold() { vec![0, 1, NOT_COLD, 130] } else { vec![0, 1, 130] }
    }

    fn hear(&mut self, ended: &Ended) {
        self.told = self.told.max(checks::trials_told(&ended.stderr));
    }

    fn hear_again(&mut self, ended: &Ended) {
        self.hear(ended);
        self.is_resumed = ended.code() == Some(0);
    }

    fn standing(&self, setting: &Setting) -> Result<Vec<String>> {
        self.kept(setting)
    }

    fn demanded(&self, setting: &Setting, demand: Demand, ended: &Ended) -> Result<Vec<String>> {
        let stored = match checks::stored(&setting.fixture.database) {
            Ok(stored) => stored,
            Err(error) => return Ok(vec![format!("RUN 1 cannot be read: {error}")]),
        };
        let trials = self.work.trials();
        let mut found = checks::demanded(demand, ended, stored.as_ref(), trials);
        if self.is_resumed {
            found.extend(named("the next start", checks::all_done(stored.as_ref(), trials)));
        }
        Ok(found)
    }

    /// Resumes RUN 1, where it was interrupted or could not go on.
    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>> {
        let database = testbed.setting.fixture.database.clone();
        for time in 1..=RESUMES_MAX {
            let Some(before) = checks::stored(&database)? else { return Ok(Vec::new()) };
            if !matches!(before.state, RunState::Interrupted | RunState::Failed) {
                return Ok(Vec::new());
            }
            let name = format!("resume-{time}");
            let args = self.arguments_to_resume(&testbed.setting, "--resume=1")?;
            let launcher = self.launcher(&testbed.setting, &name);
            let mut faults = Vec::new();
            let ended = testbed.start_with(launcher, (&name, &args), &mut faults)?;
            self.hear(&ended);
            let has_failed = !before.failed.is_empty() || self.target.nature.may_fail;
            let mut codes = if has_failed { vec![0, 1] } else { vec![0] };
            if self.work.is_cold() {
                codes.push(NOT_COLD);
            }
            if time < RESUMES_MAX {
                codes.push(130);
            }
            faults.extend(checks::end(&ended, &Allowed::codes(&codes)));
            faults.extend(testbed.standing()?);
            if faults.is_empty() {
                faults.extend(self.kept(&testbed.setting)?);
            }
            let after = checks::stored(&database)?;
            if faults.is_empty() && ended.code() != Some(130) && !has_failed {
                faults.extend(checks::all_done(after.as_ref(), self.work.trials()));
            }
            if !faults.is_empty() || ended.code() != Some(130) {
                return Ok(faults);
            }
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_target::{DIRECTORY, LOOP, VIRTUAL};
    use super::*;
    use crate::chaos::draw::numbers;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Experiments of all cases are such as the program takes.
    #[test]
    fn experiments_name_what_is_drawn() {
        for target in [LOOP, DIRECTORY, VIRTUAL] {
            for number in numbers(5).take(70) {
                let work = Work::draw(&Draw::of_case(number), &target);
                let text = work.text(&target, Path::new("/dir"));
                let table: toml::Table = text.parse().unwrap();
                let named = table["factors"].get("fs").and_then(|fs| fs.as_array());
                assert_eq!(named.map_or(0, Vec::len), work.file_systems().len(), "{text}");
                let device = table["factors"]["device"].as_str().unwrap();
                assert!(target.file_systems.is_empty() == device.starts_with('/'), "{text}");
                let distinct: BTreeSet<_> = work.file_systems().iter().collect();
                assert_eq!(distinct.len(), work.file_systems().len(), "{text}");
            }
        }
    }

    #[test]
    fn a_phase_that_need_not_be_cold_is_not_excused_for_it() {
        let codes = |number| {
            let work = Work::draw(&Draw::of_case(number), &LOOP);
            let is_cold = work.is_cold();
            let run = Run { target: &LOOP, work, told: 0, is_resumed: false };
            let mut allowed = Allowed::disturbed(Vec::new());
            run.allow(&mut allowed);
            (is_cold, allowed.codes.contains(&NOT_COLD))
        };
        let all: BTreeSet<(bool, bool)> = (0..50).map(codes).collect();
        assert_eq!(all, [(false, false), (true, true)].into());
    }
}
