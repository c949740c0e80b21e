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
    /// What a modelled device reads and programs at once, bytes; absent where it has no pages.
    pub page_bytes: Option<u64>,
}

/// Why a combination of levels does not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Illegal {
    /// Nothing was written wrong: the reason is part of the result.
    LeftOut(&'static str),
    /// A rule forbids it: what is wrong, and what to do.
    Forbidden(String),
}

/// What a factor is called, and what it acts on.
#[derive(Clone, Copy, Debug)]
pub struct FactorInfo {
    /// Its key in experiments, labels and SQL.
    pub key: &'static str,
    /// Its long option, without the dashes.
    pub flag: &'static str,
    /// Other names that are read as its key and its option.
    pub aliases: &'static [&'static str],
    /// Its name in words.
    pub title: &'static str,
    /// Head of its column in tables, where it is not the title.
    pub head: Option<&'static str>,
    /// Its line in the help.
    pub help: &'static str,
    /// A level as an experiment file has it, for errors.
    pub example: &'static str,
    /// Whether an experiment file may give it as a number.
    pub takes_number: bool,
    /// Whether `1..8` is every power of two between these, as of an option of mkfs.
    pub takes_range: bool,
    /// The level where nothing is said.
    pub default_level: &'static str,
    /// What a level changes.
    pub acts_on: ActsOn,
    /// Whether it means something to some file systems only, as their options do.
    pub is_option: bool,
}

impl FactorInfo {
    /// A factor whose option and title are its key, and that leaves things as they are where
    /// nothing is said.
    #[must_use]
    pub const fn new(key: &'static str, acts_on: ActsOn) -> Self {
        Self {
            key,
            flag: key,
            aliases: &[],
            title: key,
            head: None,
            help: "",
            example: "",
            takes_number: false,
            takes_range: false,
            default_level: UNCHANGED,
            acts_on,
            is_option: false,
        }
    }
}

/// Something that contenders can differ in.
pub trait Factor: Sync {
    /// What it is called, and what it acts on.
    fn info(&self) -> FactorInfo;
    /// Its key in experiments, labels and SQL.
    fn key(&self) -> &'static str {
        self.info().key
    }
    /// Its key and its other names.
    fn names(&self) -> Box<dyn Iterator<Item = &'static str>> {
        let info = self.info();
        Box::new(std::iter::once(info.key).chain(info.aliases.iter().copied()))
    }
    /// Its name in words.
    fn title(&self) -> &'static str {
        self.info().title
    }
    /// Head of its column in tables.
    fn head(&self) -> &'static str {
        self.info().head.unwrap_or(self.title())
    }
    /// The level where nothing is said.
    fn default_level(&self) -> &'static str {
        self.info().default_level
    }
    /// Its example as a level: without the quotes of a file.
    fn example_level(&self) -> &'static str {
        self.info().example.trim_matches('"')
    }
    /// The canonical text of a level.
    ///
    /// # Errors
    /// Where it is no level of this factor.
    fn parse(&self, text: &str) -> Result<String, LevelError>;
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
        let needs_device = self.info().acts_on == ActsOn::Device;
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
        self.setting(self.example_level()).is_some()
    }
    /// The setting of the kernel that a level is, where it is one.
    fn setting(&self, _level: &str) -> Option<Setting> {
        None
    }
}
