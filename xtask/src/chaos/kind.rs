//! What a kind of case is: one way to disturb a start, drawn from the seed.

use super::draw::Draw;
use super::live::{Live, Start};
use super::shape::{Nature, Shape};
use anyhow::Result;
use fsarena_testkit::fixture::Fixture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One way to disturb a start. A new one is a file in `kinds/` and a line in its list.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// What is done, for `--help`.
    pub(super) help: &'static str,
    /// How often it comes in a round of all kinds.
    pub(super) weight: usize,
    /// Why it is not done to targets of this nature.
    pub(super) unfit: fn(&Nature) -> Option<&'static str>,
    /// Chooses what exactly is done, to a start of this shape.
    pub(super) draw: fn(&Draw, &Shape) -> Box<dyn Disturbance>,
}

/// What a campaign may do on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Here {
    /// Other tests run, which look at all devices of some kinds.
    pub(super) is_beside: bool,
    /// What is mounted goes with the campaign.
    pub(super) has_private_mounts: bool,
}

/// Where a case takes place. Every start is made from it, so that all have the same surroundings.
pub(super) struct Setting {
    pub(super) fixture: Fixture,
    pub(super) program: PathBuf,
    /// `TMPDIR` of every start.
    pub(super) temporary: PathBuf,
    /// Where is written what somebody asks for.
    pub(super) output: PathBuf,
    /// Variables besides these and those of the fixture, for every start.
    pub(super) more_variables: Vec<(&'static str, String)>,
    /// Arguments of a start that goes on with what was disturbed.
    pub(super) again: Vec<String>,
    pub(super) stop: Arc<AtomicBool>,
    /// Number of the case, for names outside of the fixture.
    pub(super) number: u64,
}

impl Setting {
    /// A start of the program with these arguments.
    pub(super) fn start<S: AsRef<str>>(&self, args: &[S]) -> Start {
        Start {
            program: self.program.clone(),
            args: args.iter().map(|arg| arg.as_ref().to_owned()).collect(),
            through: Vec::new(),
            variables: self.variables(),
            terminal: None,
        }
    }

    /// Variables besides those of the fixture, for every start.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let temporary = ("TMPDIR", self.temporary.display().to_string());
        self.more_variables.iter().cloned().chain([temporary]).collect()
    }

    /// The directory next to that of the fixture for what is no part of it.
    pub(super) fn beside(&self, what: &str) -> PathBuf {
        let parent = self.fixture.dir.parent().unwrap_or(Path::new("/"));
        parent.join(format!("{what}-{}", self.number))
    }
}

/// Whether the start was met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Done,
    /// It had ended, or had no such process: nothing was done to it.
    Missed,
}

/// What has to come of the disturbed start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    /// Any documented end.
    Documented,
    /// All is done, as if nothing had happened.
    AllDone,
}

/// What is done to a start.
pub(super) trait Disturbance {
    /// What is met: processes, or a part of the machine.
    fn victim(&self) -> String;

    /// What is done to it: a signal or a fault.
    fn fault(&self) -> String;

    /// All of it in one line.
    fn describe(&self) -> String;

    /// Why it cannot be done here.
    fn why_not(&self, _here: &Here) -> Option<String> {
        None
    }

    /// Before the start, which may be changed.
    fn prepare(&mut self, _setting: &mut Setting, _start: &mut Start) -> Result<()> {
        Ok(())
    }

    /// While the program lives. Returns as soon as it can go on.
    fn act(&mut self, live: &mut Live) -> Result<Act>;

    /// After its end, before the next start.
    fn after_end(&mut self, _setting: &Setting) -> Result<()> {
        Ok(())
    }

    /// Copies what lies outside of the fixture into it, because the case has failed.
    fn save(&mut self, _setting: &Setting) -> Result<()> {
        Ok(())
    }

    /// What has to come of the start, where it was met.
    fn demand(&self) -> Demand {
        Demand::Documented
    }

    /// Signals that the program itself may end by.
    fn may_end_by(&self) -> Vec<i32> {
        Vec::new()
    }

    /// Whether what the program says last cannot be read, because nothing shows it any more.
    fn hides_words(&self) -> bool {
        false
    }

    /// Whether records may wait in files until the next start stores them.
    fn may_keep_records(&self) -> bool {
        false
    }
}
