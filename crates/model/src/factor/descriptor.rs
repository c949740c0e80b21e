//! What describes a factor.

use super::level::{LevelError, UNCHANGED};
use crate::contender::Levels;

/// What a level changes; decides where it has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActsOn {
    /// The machine, for the time of a trial.
    Host,
    /// The device under the file system, or its queue: without one of its own there is no level.
    Device,
    /// Where the trial is carried out, such as another kernel.
    Place,
    /// What the workload does.
    Work,
}

/// A kernel setting that is a level: journaled before it is set, and put back after the trial.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// A file of the device's queue (`/sys/block/X/queue/FILE`) and its text.
    Queue(&'static str, String),
    /// A file below `/proc/sys`, its text, and the file that the kernel zeroes with it, if any.
    Sysctl(&'static str, String, Option<&'static str>),
}

impl Setting {
    /// Where the record of a trial has the value that was in force.
    #[must_use]
    pub fn fact_key(&self) -> String {
        match self {
            Self::Queue("read_ahead_kb", _) => "read_ahead_kib".to_owned(),
            Self::Queue("nr_requests", _) => "requests".to_owned(),
            Self::Queue(file, _) => (*file).to_owned(),
            Self::Sysctl(file, ..) => format!("{SYSCTL_FACT}{}", file.replace('/', ".")),
        }
    }

    /// Whether it is one of the device's queue.
    #[must_use]
    pub fn is_of_queue(&self) -> bool {
        matches!(self, Self::Queue(..))
    }

    /// Its text in the kernel.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Queue(_, text) | Self::Sysctl(_, text, _) => text,
        }
    }

    /// A text in the kernel, with the unit of the file where it has one.
    #[must_use]
    pub fn with_unit(&self, text: &str) -> String {
        match self {
            Self::Queue("read_ahead_kb", _) => format!("{text} KiB"),
            _ => text.to_owned(),
        }
    }
}

/// What begins the name of a fact that is a setting below `/proc/sys`.
pub const SYSCTL_FACT: &str = "sysctl ";

/// What a factor is asked about: a combination of levels, and what is known of its file system.
#[derive(Clone, Copy, Debug)]
pub struct Target<'l> {
    pub levels: &'l Levels,
    /// Whether files of the file system can share blocks, where that is known.
    pub reflinks: Option<bool>,
}

/// Why a combination of levels does not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Illegal {
    /// Nothing was written wrong: the reason is part of the result.
    LeftOut(&'static str),
    /// A rule forbids it: what is wrong, and what to do.
    Forbidden(String),
}

/// Something that contenders can differ in.
pub trait Factor: Sync {
    /// Its key in experiments, labels and SQL.
    fn key(&self) -> &'static str;
    /// Its long option, without the dashes.
    fn flag(&self) -> &'static str {
        self.key()
    }
    /// Other names that are read as its key and its option.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
    /// Its line in the help.
    fn help(&self) -> &'static str;
    /// A level as an experiment file has it, for errors.
    fn example(&self) -> &'static str;
    /// Whether an experiment file may give it as a number.
    fn takes_number(&self) -> bool {
        false
    }
    /// Its name in words.
    fn title(&self) -> &'static str {
        self.key()
    }
    /// Head of its column in tables.
    fn head(&self) -> &'static str {
        self.title()
    }
    /// The level where nothing is said.
    fn default_level(&self) -> &'static str;
    /// The canonical text of a level.
    ///
    /// # Errors
    /// Where it is no level of this factor.
    fn parse(&self, text: &str) -> Result<String, LevelError>;
    /// What a level changes.
    fn acts_on(&self) -> ActsOn;
    /// The level of a contender.
    fn get(&self, levels: &Levels) -> String {
        let level = levels.factors.get(self.key());
        level.cloned().unwrap_or_else(|| self.default_level().to_owned())
    }
    /// Puts a level, as [`Factor::parse`] gives it, into those of a contender.
    fn set(&self, levels: &mut Levels, level: &str) {
        if level == self.default_level() {
            levels.factors.remove(self.key());
        } else {
            levels.factors.insert(self.key().to_owned(), level.to_owned());
        }
    }
    /// Why it has no meaning with these levels; then its default is put in.
    fn without_meaning(&self, levels: &Levels) -> Option<&'static str> {
        let needs_device = self.acts_on() == ActsOn::Device;
        (needs_device && !levels.has_own_device()).then_some("it has no device of its own")
    }
    /// Takes back a level that means nothing with the others.
    fn resolve(&self, levels: &mut Levels) {
        if self.without_meaning(levels).is_some() {
            self.set(levels, self.default_level());
        }
    }
    /// Why its level cannot be combined with the others.
    fn illegal(&self, _target: &Target<'_>) -> Option<Illegal> {
        None
    }
    /// How a label shows a level.
    fn label(&self, level: &str) -> String {
        format!("{}={level}", self.key())
    }
    /// Whether labels show it although all contenders have this level.
    fn is_always_labelled(&self, _level: &str) -> bool {
        false
    }
    /// Whether it means something to some file systems only, as their options do.
    fn is_option(&self) -> bool {
        false
    }
    /// A level in words, for tables.
    fn words(&self, level: &str) -> String {
        if level == UNCHANGED { "as it is".to_owned() } else { level.to_owned() }
    }
    /// Whether a level says that nothing was asked for.
    fn is_unset(&self, level: &str) -> bool {
        level == self.default_level()
    }
    /// What a level says of machine or device, for the line that describes them.
    fn fact(&self, level: &str) -> Option<String> {
        self.setting(level).map(|_| format!("{} {}", self.title(), self.words(level)))
    }
    /// Whether its levels are settings of the kernel.
    fn is_setting(&self) -> bool {
        self.setting(self.example().trim_matches('"')).is_some()
    }
    /// The setting of the kernel that a level is, where it is one.
    fn setting(&self, _level: &str) -> Option<Setting> {
        None
    }
}
