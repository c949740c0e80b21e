//! What a target is: what can be started there, what is like it, and what has to hold afterwards.

use super::checks::Allowed;
use super::draw::Draw;
use super::kind::{Demand, Setting};
use super::live::Ended;
use super::ranks::Launcher;
use super::shape::Nature;
use super::testbed::Testbed;
use anyhow::Result;

/// What cases take place on. A new one is a file in `targets/`, or a row in one, and a line in
/// their list.
pub(super) trait Target: Sync {
    fn name(&self) -> &'static str;

    /// What is the same for all its cases.
    fn nature(&'static self) -> &'static Nature;

    /// Why this machine has none.
    fn why_not(&self) -> Option<String>;

    /// Chooses what is started there.
    fn draw(&'static self, draw: &Draw) -> Box<dyn Subject>;
}

/// What is started in a case, disturbed, and looked at afterwards.
pub(super) trait Subject {
    /// In a few words.
    fn describe(&self) -> String;

    /// Trials of a RUN that is whole.
    fn trials(&self) -> usize {
        1
    }

    /// Of the wait for the end, where nothing disturbs it.
    fn expected_ms(&self) -> u64;

    /// What is missing here for it, and the reason.
    fn why_not(&self) -> Option<(String, String)> {
        None
    }

    /// Makes what it works on.
    fn prepare(&mut self, testbed: &mut Testbed) -> Result<()>;

    /// Arguments of the start that is disturbed.
    fn arguments(&self, setting: &Setting) -> Result<Vec<String>>;

    /// Arguments of a start that does what is missing: the same, or those of a resume.
    fn again(&self, setting: &Setting) -> Result<Vec<String>> {
        self.arguments(setting)
    }

    /// Whoever starts the ranks of the start called `name`, where they come by themselves.
    fn launcher(&self, _setting: &Setting, _name: &str) -> Option<Launcher> {
        None
    }

    /// Ends of the disturbed start besides the usual ones.
    fn allow(&self, _allowed: &mut Allowed) {}

    /// Exit codes of a start that does what is missing.
    fn codes_again(&self) -> Vec<i32> {
        vec![0]
    }

    /// Keeps what a start says, the disturbed one or another.
    fn hear(&mut self, _ended: &Ended) {}

    /// The same of one that does what is missing.
    fn hear_again(&mut self, ended: &Ended) {
        self.hear(ended);
    }

    /// What is wrong with what it has written so far, before anything else is started.
    fn halves(&self, _setting: &Setting) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// What is wrong with what it keeps, after another start has cleaned up.
    fn standing(&self, _setting: &Setting) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// What the demand finds wrong, of the end of the disturbed start.
    fn demanded(&self, setting: &Setting, demand: Demand, ended: &Ended) -> Result<Vec<String>>;

    /// Has it done to its end; what is wrong with that.
    fn complete(&mut self, testbed: &mut Testbed) -> Result<Vec<String>>;
}

/// Arguments from words.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
