//! One case from its first start to its last check.
//!
//! The RUN is started and disturbed; the next start cleans up after it; then everything is looked
//! at, and once more after a resume. The machine is left as it was, whatever was found.

use super::case::{Case, NextStart};
use super::checks::{self, Allowed};
use super::kind::{Act, Demand, Setting};
use super::live::{Ended, kill_all};
use super::ranks::{self, Launcher};
use super::targets::Ranks;
use anyhow::{Context as _, Result};
use fsarena_model::run::RunState;
use fsarena_places::kernel::Cache;
use fsarena_testkit::fixture::Fixture;
use fsarena_testkit::machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What the program says where there is nothing to be resumed, or nothing to be listed.
const NOTHING_THERE: [&str; 4] = [
    "there is no database yet",
    "no RUN is stored there yet",
    "no RUN was interrupted",
    "RUN 1 is done",
];

/// A resume is interrupted at most so often by what was done before: the last trial that the
/// machine has ended too often is given up at the second.
const RESUMES_MAX: usize = 2;

/// For so long a journal without its name may be one that is being made.
const YOUNG: Duration = Duration::from_secs(11);

/// What came of a case.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Whether the RUN was met.
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
        for dir in [&fixture.images, &dir.join("target"), &dir.join("other")] {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let mut variables = Vec::new();
        if case.target.is("virtual") {
            let kernels = Cache::of_user().context("the guest kernels of this user")?;
            variables.push(("FSARENA_KERNEL_DIR", kernels.dir().display().to_string()));
        }
        Ok(Setting {
            fixture,
            program: self.program.clone(),
            variables,
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
    let mut run = CaseRun {
        setting,
        before: Machine::now(),
        uids: Vec::new(),
        told: 0,
        is_resumed: false,
        ranks: Vec::new(),
    };
    let done = run.all(case);
    let is_good = done.as_ref().is_ok_and(|outcome| outcome.faults.is_empty());
    if !is_good {
        run.put_away();
        case.disturbance.save(&run.setting)?;
        return done;
    }
    fs::remove_dir_all(&run.setting.fixture.dir)?;
    done
}

/// A case under way.
struct CaseRun {
    setting: Setting,
    before: Machine,
    /// Ids of all RUNs that were seen.
    uids: Vec<String>,
    /// Trials of RUN 1 that were said to be stored.
    told: usize,
    /// Whether the next start has resumed it and said that all is done.
    is_resumed: bool,
    /// What is wrong with ranks.
    ranks: Vec<String>,
}

impl CaseRun {
    fn all(&mut self, case: &mut Case) -> Result<Outcome> {
        let mut faults = Vec::new();
        let (act, ended) = self.disturbed(case)?;
        let signals = case.disturbance.may_end_by();
        let mut allowed = Allowed::disturbed(signals, case.work.is_cold());
        if case.target.ranks == Ranks::Dial {
            // Ranks that did not come.
            allowed.codes.push(2);
        }
        allowed.has_words = !case.disturbance.hides_words();
        faults.extend(named("the RUN", checks::end(&ended, &allowed)));
        // Whoever came to its end has put everything away; records may wait for the next start.
        if matches!(ended.code(), Some(0 | 130)) && !case.disturbance.may_keep_records() {
            faults.extend(named("before the next start", self.standing()?));
        }
        case.disturbance.after_end(&self.setting)?;
        faults.extend(self.next_start(case)?);
        faults.extend(named("after the next start", self.standing_with_records()?));
        // The start after may have resumed it: what is demanded holds for both.
        let demand = match act {
            Act::Done => case.disturbance.demand(),
            // A disk may be late where nothing was done to it.
            Act::Missed if case.target.may_be_late => Demand::Documented,
            Act::Missed => Demand::AllDone,
        };
        let trials = case.work.trials();
        match checks::stored(&self.setting.fixture.database) {
            Ok(stored) => {
                faults.extend(checks::demanded(demand, &ended, stored.as_ref(), trials));
                if self.is_resumed {
                    let whole = checks::all_done(stored.as_ref(), trials);
                    faults.extend(named("the next start", whole));
                }
            }
            Err(error) => faults.push(format!("RUN 1 cannot be read: {error}")),
        }
        if case.is_resumed && faults.is_empty() {
            faults.extend(named("the resume", self.resume(case)?));
        }
        faults.append(&mut self.ranks);
        Ok(Outcome { act, faults })
    }

    /// The start that is disturbed.
    fn disturbed(&mut self, case: &mut Case) -> Result<(Act, Ended)> {
        let fixture = &self.setting.fixture;
        let experiment = fixture.dir.join("chaos.toml");
        fs::write(&experiment, case.work.text(case.target, &fixture.dir.join("target")))?;
        let mut start = self.setting.start(&["run", &experiment.display().to_string(), "--yes"]);
        start.args.extend(ranks::number(case.target.ranks));
        start.args.extend(ranks::options(case.target.ranks, &self.setting)?);
        case.disturbance.prepare(&mut self.setting, &mut start)?;
        let launcher = self.launcher(case.target.ranks, "run");
        let done = (|| {
            let mut live = start.begin(&self.setting.fixture, "run", &self.setting.stop)?;
            let act = case.disturbance.act(&mut live)?;
            Ok::<_, anyhow::Error>((act, live.end()?))
        })();
        self.ranks.extend(launcher.map(Launcher::end).unwrap_or_default());
        let (act, ended) = done?;
        self.uids.extend(self.setting.fixture.uids_of_journals());
        self.listen(&ended);
        Ok((act, ended))
    }

    /// Whoever starts the ranks of the start called `name`, where they come by themselves.
    fn launcher(&self, ranks: Ranks, name: &str) -> Option<Launcher> {
        let said = self.setting.fixture.dir.join(format!("{name}.err"));
        // What an earlier start of this name has said is not for its ranks.
        let _ = fs::remove_file(&said);
        (ranks == Ranks::Dial).then(|| Launcher::start(&self.setting, said))
    }

    /// Goes on with RUN 1, with its ranks.
    fn start_again(&mut self, case: &Case, name: &str, args: &[&str]) -> Result<Ended> {
        let options = ranks::options(case.target.ranks, &self.setting)?;
        let all: Vec<&str> =
            args.iter().copied().chain(options.iter().map(String::as_str)).collect();
        let launcher = self.launcher(case.target.ranks, name);
        let ended = self.start(name, &all);
        self.ranks.extend(launcher.map(Launcher::end).unwrap_or_default());
        ended
    }

    /// Keeps what a start of RUN 1 says of its records.
    fn listen(&mut self, ended: &Ended) {
        self.told = self.told.max(checks::trials_told(&ended.stderr));
    }

    /// Starts the program and waits for its end. Commands of a stored RUN are allowed, as a user
    /// does who has read them.
    fn start(&self, name: &str, args: &[&str]) -> Result<Ended> {
        let start = |args: &[&str]| {
            let start = self.setting.start(args);
            start.begin(&self.setting.fixture, name, &self.setting.stop)?.end()
        };
        let ended = start(args)?;
        match digest_of_commands(&ended) {
            Some(digest) => start(&[args, &["--allow-commands", digest]].concat()),
            None => Ok(ended),
        }
    }

    /// The start after the disturbed one, which has to clean up.
    fn next_start(&mut self, case: &Case) -> Result<Vec<String>> {
        let other = self.setting.fixture.dir.join("other").display().to_string();
        let args: &[&str] = match case.next {
            NextStart::List => &["list"],
            NextStart::Resume => &["run", "--resume", "--yes"],
            NextStart::OtherRun => &[
                "run",
                "--on",
                &other,
                "--workload",
                "tiny-files",
                "--scale",
                "0.02",
                "--runs",
                "1",
            ],
        };
        let ended = match case.next {
            NextStart::Resume => self.start_again(case, "next", args)?,
            _ => self.start("next", args)?,
        };
        let is_of_run_1 = case.next == NextStart::Resume;
        if is_of_run_1 {
            self.listen(&ended);
        }
        let nothing_there = NOTHING_THERE.iter().any(|words| ended.text().contains(words));
        let codes: &[i32] = match case.next {
            NextStart::OtherRun => &[0],
            _ if nothing_there => &[0, 2],
            // Trials of the disturbed start may have failed.
            NextStart::Resume if case.work.is_cold() => &[0, 1, 5, 130],
            NextStart::Resume => &[0, 1, 130],
            NextStart::List => &[0],
        };
        self.is_resumed = is_of_run_1 && ended.code() == Some(0);
        let mut faults = named("the next start", checks::end(&ended, &Allowed::codes(codes)));
        if ended.text().contains("could not be cleaned up") {
            let said = ended.stderr.lines().filter(|line| line.contains("could not be cleaned up"));
            faults.extend(said.map(|line| format!("the next start: {line}")));
        }
        Ok(faults)
    }

    /// What is wrong with the database and the machine while nothing is at work.
    fn standing(&mut self) -> Result<Vec<String>> {
        let mut faults = checks::database(&self.setting.fixture.database, &mut self.uids)?;
        self.uids.sort_unstable();
        self.uids.dedup();
        faults.extend(self.leftovers()?);
        Ok(faults)
    }

    /// The same, and whether a record is missing.
    fn standing_with_records(&mut self) -> Result<Vec<String>> {
        let mut faults = self.standing()?;
        if faults.is_empty() {
            let stored = checks::stored(&self.setting.fixture.database)?;
            faults.extend(checks::nothing_lost(stored.as_ref(), self.told));
        }
        Ok(faults)
    }

    /// What is left. A journal that has its temporary name still is removed by a start that comes
    /// some seconds later.
    fn leftovers(&self) -> Result<Vec<String>> {
        let left = || checks::leftovers(&self.setting.fixture, &self.uids, &self.before);
        let found = left();
        if found.is_empty() || !found.iter().all(|what| what.ends_with(".new")) {
            return Ok(found);
        }
        std::thread::sleep(YOUNG);
        self.start("later", &["list"])?;
        Ok(left())
    }

    /// Resumes RUN 1 to its end, where it was interrupted or could not go on.
    fn resume(&mut self, case: &Case) -> Result<Vec<String>> {
        let database = self.setting.fixture.database.clone();
        for time in 1..=RESUMES_MAX {
            let Some(before) = checks::stored(&database)? else { return Ok(Vec::new()) };
            if !matches!(before.state, RunState::Interrupted | RunState::Failed) {
                return Ok(Vec::new());
            }
            let name = format!("resume-{time}");
            let ended = self.start_again(case, &name, &["run", "--resume=1", "--yes"])?;
            self.listen(&ended);
            let has_failed = !before.failed.is_empty() || case.target.may_be_late;
            let mut codes = if has_failed { vec![0, 1] } else { vec![0] };
            if case.work.is_cold() {
                codes.push(5);
            }
            if time < RESUMES_MAX {
                codes.push(130);
            }
            let mut faults = checks::end(&ended, &Allowed::codes(&codes));
            faults.extend(self.standing_with_records()?);
            let after = checks::stored(&database)?;
            if faults.is_empty() && ended.code() != Some(130) && !has_failed {
                faults.extend(checks::all_done(after.as_ref(), case.work.trials()));
            }
            if !faults.is_empty() || ended.code() != Some(130) {
                return Ok(faults);
            }
        }
        Ok(Vec::new())
    }

    /// Ends what still works and has the program clean up, so that the next case is not met by it.
    fn put_away(&self) {
        kill_all(&self.setting.fixture);
        let cleanup = self.setting.start(&["list"]);
        // Its own failure is what the case has found already.
        let nobody = Arc::new(AtomicBool::new(false));
        if let Ok(live) = cleanup.begin(&self.setting.fixture, "put-away", &nobody) {
            let _ = live.end();
        }
    }
}

/// The digest that a refusal of commands of a stored RUN names.
fn digest_of_commands(ended: &Ended) -> Option<&str> {
    let (_, rest) = ended.stderr.rsplit_once("--allow-commands ")?;
    rest.split_whitespace().next().filter(|_| ended.code() == Some(2))
}

fn named(what: &str, faults: Vec<String>) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{what}: {fault}")).collect()
}

/// Where scenes are: on a disk, and gone with what was built.
pub(super) fn ground_dir(root: &Path) -> PathBuf {
    root.join("target/chaos")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_store::{Owner, RunId, Store};
    use fsarena_testkit::{records, write_script};

    /// A case in a directory, whose moment does not come in a program that ends at once.
    fn case() -> Case {
        let is_wanted = |case: &Case| {
            let what = case.to_string();
            case.kind.name == "kill"
                && case.target.is("directory")
                && case.next == NextStart::List
                && !case.is_resumed
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
            ("sleep 600 >/dev/null 2>&1 & exit 0", "left behind: process "),
            ("echo \"thread 'main' panicked at a.rs:1:2:\" >&2", "the RUN: a panic: "),
            ("exit 101", "the RUN: exit code 101: it said nothing"),
            ("kill -SEGV $$", "the RUN: ended by signal 11"),
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
