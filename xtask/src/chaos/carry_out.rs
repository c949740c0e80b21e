//! One case from its first start to its last check.
//!
//! It is started and disturbed; the next start cleans up after it; then everything is looked at,
//! and once more when it was done to its end. The machine is left as it was, whatever was found.

use super::case::{Case, NextStart};
use super::checks::{self, Allowed};
use super::kind::{Act, Demand, Setting};
use super::live::Ended;
use super::ranks::Launcher;
use super::subject::words;
use super::testbed::{Testbed, named};
use anyhow::{Context as _, Result};
use fsarena_testkit::fixture::Fixture;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Name of the start that is disturbed.
const START: &str = "run";
/// What takes minutes and was not ended is interrupted after this time.
const GRACE: Duration = Duration::from_secs(3);

/// What the program says where there is nothing to be resumed, or nothing to be listed.
const NOTHING_THERE: [&str; 4] = [
    "there is no database yet",
    "no RUN is stored there yet",
    "no RUN was interrupted",
    "RUN 1 is done",
];

/// What came of a case.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Whether the start was met.
    pub(super) act: Act,
    /// What is wrong; empty where it has passed.
    pub(super) faults: Vec<String>,
}

/// Where cases take place.
pub(super) struct Ground {
    pub(super) program: PathBuf,
    /// The directory of all scenes.
    pub(super) dir: PathBuf,
    pub(super) stop: Arc<AtomicBool>,
}

impl Ground {
    /// The directory of a case.
    pub(super) fn dir_of(&self, number: u64) -> PathBuf {
        self.dir.join(format!("case-{number}"))
    }

    fn setting(&self, case: &Case) -> Result<Setting> {
        let dir = self.dir_of(case.number);
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        let fixture = Fixture::new(&dir);
        let (temporary, output) = (dir.join("tmp"), dir.join("output"));
        let own = [&fixture.images, &temporary, &output, &dir.join("target"), &dir.join("other")];
        for dir in own {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        Ok(Setting {
            fixture,
            program: self.program.clone(),
            temporary,
            output,
            more_variables: Vec::new(),
            again: Vec::new(),
            stop: Arc::clone(&self.stop),
            number: case.number,
        })
    }
}

/// Carries it out. A case that has passed leaves nothing; of one that has not, its directory stays.
///
/// # Errors
/// When the campaign is to stop, or the case could not be carried out as it was drawn.
pub(super) fn carry_out(case: &mut Case, ground: &Ground) -> Result<Outcome> {
    let setting = ground.setting(case)?;
    let mut run = CaseRun { testbed: Testbed::new(setting), ranks: Vec::new() };
    let done = run.all(case);
    let is_good = done.as_ref().is_ok_and(|outcome| outcome.faults.is_empty());
    if !is_good {
        run.testbed.put_away();
        case.disturbance.save(&run.testbed.setting)?;
        return done;
    }
    fs::remove_dir_all(&run.testbed.setting.fixture.dir)?;
    done
}

/// A case under way.
struct CaseRun {
    testbed: Testbed,
    /// What is wrong with ranks.
    ranks: Vec<String>,
}

impl CaseRun {
    fn all(&mut self, case: &mut Case) -> Result<Outcome> {
        let mut faults = Vec::new();
        let (act, ended) = self.disturbed(case)?;
        let mut allowed = Allowed::disturbed(case.disturbance.may_end_by());
        case.subject.allow(&mut allowed);
        allowed.has_words = !case.disturbance.hides_words();
        faults.extend(named("the start", checks::end(&ended, &allowed)));
        faults.extend(case.subject.halves(&self.testbed.setting)?);
        // Whoever came to its end has put everything away; records may wait for the next start.
        if matches!(ended.code(), Some(0 | 130)) && !case.disturbance.may_keep_records() {
            faults.extend(named("before the next start", self.testbed.standing()?));
        }
        case.disturbance.after_end(&self.testbed.setting)?;
        faults.extend(self.next_start(case)?);
        let mut standing = self.testbed.standing()?;
        if standing.is_empty() {
            standing.extend(case.subject.standing(&self.testbed.setting)?);
        }
        faults.extend(named("after the next start", standing));
        // The start after may have resumed it: what is demanded holds for both.
        let demand = match act {
            Act::Done => case.disturbance.demand(),
            // It may fail where nothing was done to it.
            Act::Missed if case.target.nature().may_fail => Demand::Documented,
            Act::Missed => Demand::AllDone,
        };
        faults.extend(case.subject.demanded(&self.testbed.setting, demand, &ended)?);
        if case.is_completed && faults.is_empty() {
            faults.extend(named("to its end", case.subject.complete(&mut self.testbed)?));
        }
        faults.append(&mut self.ranks);
        Ok(Outcome { act, faults })
    }

    /// The start that is disturbed.
    fn disturbed(&mut self, case: &mut Case) -> Result<(Act, Ended)> {
        let mut start = self.testbed.setting.start::<&str>(&[]);
        // What is disturbed may lie in other places then.
        case.disturbance.prepare(&mut self.testbed.setting, &mut start)?;
        case.subject.prepare(&mut self.testbed)?;
        let setting = &mut self.testbed.setting;
        start.args = case.subject.arguments(setting)?;
        start.variables.extend(setting.variables());
        setting.again = case.subject.again(setting)?;
        let launcher = case.subject.launcher(setting, START);
        let done = (|| {
            let mut live = start.begin(&setting.fixture, START, &setting.stop)?;
            let pid = live.pid();
            let act = case.disturbance.act(&mut live)?;
            if case.target.nature().is_long {
                live.interrupt_after(GRACE)?;
            }
            Ok::<_, anyhow::Error>((pid, act, live.end()?))
        })();
        self.ranks.extend(launcher.map(Launcher::end).unwrap_or_default());
        let (pid, act, ended) = done?;
        let uids = self.testbed.setting.fixture.uids_of_journals();
        // Disks of power cuts are called by the process.
        self.testbed
            .expect_gone(uids.into_iter().chain([format!("crash-{}", pid.as_raw_nonzero())]));
        case.subject.hear(&ended);
        Ok((act, ended))
    }

    /// The start after the disturbed one, which has to clean up.
    fn next_start(&mut self, case: &mut Case) -> Result<Vec<String>> {
        let setting = &self.testbed.setting;
        let other = setting.fixture.dir.join("other").display().to_string();
        let args = match case.next {
            NextStart::List => words(&["list"]),
            NextStart::Again => setting.again.clone(),
            NextStart::OtherRun => {
                let run = ["run", "--on", &other, "--workload", "tiny-files"];
                words(&[&run[..], &["--scale", "0.02", "--runs", "1"]].concat())
            }
        };
        let is_again = case.next == NextStart::Again;
        let launcher = is_again.then(|| case.subject.launcher(setting, "next")).flatten();
        let ended = self.testbed.start_with(launcher, ("next", &args), &mut self.ranks)?;
        if is_again {
            case.subject.hear_again(&ended);
        }
        let nothing_there = NOTHING_THERE.iter().any(|words| ended.text().contains(words));
        let codes = match case.next {
            NextStart::OtherRun => vec![0],
            _ if nothing_there => vec![0, 2],
            NextStart::Again => case.subject.codes_again(),
            NextStart::List => vec![0],
        };
        let mut faults = named("the next start", checks::end(&ended, &Allowed::codes(&codes)));
        let said = ended.stderr.lines().filter(|line| line.contains("could not be cleaned up"));
        faults.extend(said.map(|line| format!("the next start: {line}")));
        Ok(faults)
    }
}

/// Where scenes are: on a disk, and gone with what was built.
pub(super) fn ground_dir(root: &Path) -> PathBuf {
    root.join("target/chaos")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::run::RunState;
    use fsarena_store::{Owner, RunId, Store};
    use fsarena_testkit::{records, write_script};

    /// A case in a directory, whose moment does not come in a program that ends at once.
    fn case() -> Case {
        let is_wanted = |case: &Case| {
            let what = case.to_string();
            case.kind.name == "kill"
                && case.target.name() == "directory"
                && case.next == NextStart::List
                && !case.is_completed
                && what.contains("into trial")
        };
        (0..).map(Case::new).find(is_wanted).unwrap()
    }

    /// A RUN as that of the case, done but for the last `missing` trials.
    fn database(path: &Path, missing: u32) {
        let contenders = vec![records::contender("directory", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 2);
        let store = Store::open(path).unwrap();
        let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        let run = store.create_run(&header, &owner).unwrap();
        for sequence in 0..2 - missing {
            store.put_record(run, &records::record(&header, sequence)).unwrap();
        }
        store.set_state(RunId(1), RunState::Done, None).unwrap();
    }

    /// What is found where the program is this script, and whether its directory stays.
    fn found(missing: u32, script: &str) -> (Vec<String>, bool) {
        let dir = tempfile::tempdir().unwrap();
        let (program, stored) = (dir.path().join("program"), dir.path().join("stored.db"));
        database(&stored, missing);
        let text = format!("[ $1 = run ] || exit 0\ncp {} $FSARENA_DB\n", stored.display());
        write_script(&program, &(text + script));
        let ground = Ground { program, dir: dir.path().join("ground"), stop: Arc::default() };
        let mut case = case();
        let outcome = carry_out(&mut case, &ground).unwrap();
        assert_eq!(outcome.act, Act::Missed);
        (outcome.faults, ground.dir_of(case.number).exists())
    }

    #[test]
    fn a_case_that_is_good_leaves_nothing() {
        assert_eq!(found(0, "exit 0"), (Vec::new(), false));
    }

    #[test]
    fn whatever_is_bad_is_found_and_its_directory_stays() {
        for (script, words) in [
            ("touch target/fsarena-00000000000000aa", "after the next start: left behind: "),
            ("touch images/fsarena-00000000000000aa-1.img", "left behind: "),
            ("mkdir state; touch state/fsarena-00000000000000aa.journal", "left behind: "),
            ("touch tmp/any", "left behind: "),
            ("sleep 600 >/dev/null 2>&1 & exit 0", "left behind: process "),
            ("echo \"thread 'main' panicked at a.rs:1:2:\" >&2", "the start: a panic: "),
            ("exit 101", "the start: exit code 101: it said nothing"),
            ("kill -SEGV $$", "the start: ended by signal 11"),
            ("echo '[4/4] x' >&2", "3 trials were said to be stored, 2 are"),
            ("head -c 20000 /dev/urandom | dd of=$FSARENA_DB seek=30 conv=notrunc status=none", ""),
        ] {
            let (faults, stays) = found(0, script);
            assert!(faults.iter().any(|fault| fault.contains(words)), "{script}: {faults:?}");
            assert!(stays, "{script}");
        }
        let (faults, stays) = found(1, "exit 0");
        assert_eq!(faults, ["1 of 2 trials have records"]);
        assert!(stays);
    }
}
