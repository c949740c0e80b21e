//! Where a case is under way: starts of the program, and what is left after them.

use super::checks;
use super::kind::Setting;
use super::live::{Ended, kill_all};
use super::ranks::Launcher;
use anyhow::Result;
use fsarena_testkit::machine::Machine;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// For so long a journal without its name may be one that is being made.
const YOUNG: Duration = Duration::from_secs(11);

/// A case under way.
pub(super) struct Testbed {
    pub(super) setting: Setting,
    before: Machine,
    /// Ids of all RUNs that were seen, and of what else gives names on this machine.
    uids: Vec<String>,
}

impl Testbed {
    pub(super) fn new(setting: Setting) -> Self {
        Self { setting, before: Machine::now(), uids: Vec::new() }
    }

    /// Nothing on the machine has this id in its name when all is over.
    pub(super) fn expect_gone(&mut self, uids: impl IntoIterator<Item = String>) {
        self.uids.extend(uids);
        self.uids.sort_unstable();
        self.uids.dedup();
    }

    /// Starts the program and waits for its end. Commands of a stored RUN are allowed, as a user
    /// does who has read them.
    pub(super) fn start<S: AsRef<str>>(&self, name: &str, args: &[S]) -> Result<Ended> {
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let start = |args: &[&str]| {
            let start = self.setting.start(args);
            start.begin(&self.setting.fixture, name, &self.setting.stop)?.end()
        };
        let ended = start(&args)?;
        match digest_of_commands(&ended) {
            Some(digest) => start(&[&args[..], &["--allow-commands", digest]].concat()),
            None => Ok(ended),
        }
    }

    /// The same with whoever starts its ranks; what is wrong with those goes to `faults`.
    pub(super) fn start_with(
        &self,
        launcher: Option<Launcher>,
        (name, args): (&str, &[String]),
        faults: &mut Vec<String>,
    ) -> Result<Ended> {
        let ended = self.start(name, args);
        faults.extend(launcher.map(Launcher::end).unwrap_or_default());
        ended
    }

    /// What is wrong with the database and the machine while nothing is at work.
    pub(super) fn standing(&mut self) -> Result<Vec<String>> {
        let mut uids = Vec::new();
        let mut faults = checks::database(&self.setting.fixture.database, &mut uids)?;
        self.expect_gone(uids);
        faults.extend(self.leftovers()?);
        Ok(faults)
    }

    /// What is left. A journal that has its temporary name still is removed by a start that comes
    /// some seconds later.
    fn leftovers(&self) -> Result<Vec<String>> {
        let left = || checks::leftovers(&self.setting, &self.uids, &self.before);
        let found = left();
        if found.is_empty() || !found.iter().all(|what| what.ends_with(".new")) {
            return Ok(found);
        }
        std::thread::sleep(YOUNG);
        self.start("later", &["list"])?;
        Ok(left())
    }

    /// Ends what still works and has the program clean up, so that the next case is not met by it.
    pub(super) fn put_away(&self) {
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

/// Findings with what they are about.
pub(super) fn named(what: &str, faults: Vec<String>) -> Vec<String> {
    faults.into_iter().map(|fault| format!("{what}: {fault}")).collect()
}
