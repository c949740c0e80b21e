//! The options of mkfs: one table per driver says what each is called, what it may be and what a
//! user reads of it; the command of the driver says where its value goes. Pure.

use super::options::{IllegalLevel, Rule, uuid_of};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::units::Bytes;
use std::collections::BTreeMap;
use std::path::Path;

/// How a driver has its file system made.
pub struct Mkfs {
    /// Program and arguments, with the options in braces: see `MkfsValues::argv`. Empty where
    /// there is nothing to make.
    pub command: &'static str,
    /// Programs that it needs: the one that makes it, and those that tell what was made.
    pub(super) programs: &'static [&'static str],
    /// Debian package that brings them.
    pub(super) package: &'static str,
    /// The options, in the order in which they are read.
    pub options: &'static [MkfsOption],
}

pub struct MkfsOption {
    /// Key of [`FsLevel::mkfs`]; also the word in braces of the driver's command.
    pub name: &'static str,
    /// What it is; empty where it follows from the others and cannot be given.
    help: &'static str,
    rule: ValueRule,
}

impl MkfsOption {
    pub(super) const fn new(name: &'static str, help: &'static str, rule: ValueRule) -> Self {
        Self { name, help, rule }
    }

    /// What it is, may be, and is by default, in one line; absent where it cannot be given.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let rule = match self.rule {
            ValueRule::PowerOfTwo(least, most, default) => {
                format!(": power of two from {least} to {most}; {default}")
            }
            ValueRule::Number(least, most, default) => format!(": {least} to {most}; {default}"),
            ValueRule::Flag(default) | ValueRule::Switch(default, _) => {
                if default { ": 1 (default) or 0" } else { ": 0 (default) or 1" }.to_owned()
            }
            ValueRule::OneOf(words) => format!(": {}; {}", words.join(", "), words[0]),
            ValueRule::Computed(_) | ValueRule::Text(_) => String::new(),
        };
        (!self.help.is_empty()).then(|| format!("{}{rule}", self.help))
    }
}

/// How the value of an option is read, or its default chosen. Numbers that are powers of two are
/// written as sizes (`64K`).
#[derive(Clone, Copy)]
pub(super) enum ValueRule {
    /// Least, most, default.
    PowerOfTwo(u64, u64, u64),
    /// Least, most, default.
    Number(u64, u64, u64),
    /// `0` or `1`.
    Flag(bool),
    /// Likewise, and the words for the two in the command.
    Switch(bool, [&'static str; 2]),
    /// One of these words, the first by default.
    OneOf(&'static [&'static str]),
    /// By the options above it and the device; left out of the command where it is absent.
    Computed(fn(&OptionReader<'_>) -> Result<Option<u64>, IllegalLevel>),
    /// Likewise, of words; left out where it is empty.
    Text(fn(&OptionReader<'_>) -> Result<String, IllegalLevel>),
}

/// One option while it is read; those above it in the table have been read.
pub(super) struct OptionReader<'a> {
    pub rule: Rule<'a>,
    pub values: &'a MkfsValues,
    level: &'a FsLevel,
    name: &'static str,
}

impl OptionReader<'_> {
    /// As it was written; absent where the default is taken.
    pub fn text(&self) -> Option<&str> {
        self.level.mkfs.get(self.name).map(String::as_str)
    }

    /// Whether another option was written.
    pub fn gives(&self, name: &str) -> bool {
        self.level.mkfs.contains_key(name)
    }

    /// `read`, where it was written.
    pub fn optional<T>(
        &self,
        read: impl FnOnce() -> Result<T, IllegalLevel>,
    ) -> Result<Option<T>, IllegalLevel> {
        self.text().map(|_| read()).transpose()
    }

    /// A size in bytes that must be a power of two within the limits.
    pub fn power_of_two(&self, least: u64, most: u64, default: u64) -> Result<u64, IllegalLevel> {
        let value = self.bytes(default)?;
        if value.is_power_of_two() && (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(self.rule.broken(
            format!("{} = {value} is not a power of two from {least} to {most}", self.name),
            format!("the default is {default}"),
        ))
    }

    /// A size in bytes.
    pub fn bytes(&self, default: u64) -> Result<u64, IllegalLevel> {
        let Some(text) = self.text() else { return Ok(default) };
        text.parse::<Bytes>().map(|bytes| bytes.0).map_err(|error| {
            self.rule.broken(format!("{}: {error}", self.name), format!("such as {default}"))
        })
    }

    /// A whole number within limits.
    pub fn number(&self, least: u64, most: u64, default: u64) -> Result<u64, IllegalLevel> {
        let Some(text) = self.text() else { return Ok(default) };
        text.parse().ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
            self.rule.broken(
                format!("{} = {text} is not a whole number from {least} to {most}", self.name),
                format!("the default is {default}"),
            )
        })
    }

    /// One word of a list, the first by default.
    fn one_of(&self, words: &[&str]) -> Result<String, IllegalLevel> {
        let value = self.text().unwrap_or(words[0]);
        if words.contains(&value) {
            return Ok(value.to_owned());
        }
        Err(self.rule.broken(
            format!("{} = {value} is not known", self.name),
            format!("use one of {}", words.join(", ")),
        ))
    }

    /// The number and the word that `rule` makes of what was written.
    fn read(&self, rule: ValueRule) -> Result<(Option<u64>, Option<String>), IllegalLevel> {
        let number = |value: Result<u64, IllegalLevel>| Ok((Some(value?), None));
        match rule {
            ValueRule::PowerOfTwo(least, most, default) => {
                number(self.power_of_two(least, most, default))
            }
            ValueRule::Number(least, most, default) => number(self.number(least, most, default)),
            ValueRule::Flag(default) => number(self.number(0, 1, default.into())),
            ValueRule::Switch(default, words) => {
                let value = self.number(0, 1, default.into())?;
                Ok((Some(value), Some(words[usize::from(value == 1)].to_owned())))
            }
            ValueRule::OneOf(words) => Ok((None, Some(self.one_of(words)?))),
            ValueRule::Computed(read) => Ok((read(self)?, None)),
            ValueRule::Text(read) => Ok((None, Some(read(self)?))),
        }
    }
}

/// The options of a level, checked, with their defaults.
#[derive(Debug)]
pub struct MkfsValues {
    fs: String,
    /// Of the device; the largest there is where it is not known.
    pub(super) device_bytes: u64,
    /// The number and the word of each option; it may have one of them, or both.
    values: BTreeMap<&'static str, (Option<u64>, Option<String>)>,
}

impl MkfsValues {
    /// Reads the options of `table` in its order.
    pub(super) fn read(
        fs: &str,
        table: &'static [MkfsOption],
        level: &FsLevel,
        device_bytes: Option<u64>,
    ) -> Result<Self, IllegalLevel> {
        let (fs, device_bytes) = (fs.to_owned(), device_bytes.unwrap_or(u64::MAX));
        let mut values = Self { fs, device_bytes, values: BTreeMap::new() };
        for MkfsOption { name, rule, .. } in table {
            let driver = Rule { fs: &values.fs };
            let reader = OptionReader { rule: driver, values: &values, level, name };
            let value = reader.read(*rule)?;
            values.values.insert(name, value);
        }
        Ok(values)
    }

    /// A number; 0 where it is absent.
    pub(super) fn number(&self, name: &str) -> u64 {
        self.optional(name).unwrap_or(0)
    }

    /// A number that may be absent.
    pub(super) fn optional(&self, name: &str) -> Option<u64> {
        self.values.get(name)?.0
    }

    /// A word; empty where there is none.
    pub(super) fn word(&self, name: &str) -> &str {
        self.values.get(name).and_then(|(_, word)| word.as_deref()).unwrap_or_default()
    }

    /// Whether a word that is a list with commas has `word`.
    pub(super) fn lists(&self, name: &str, word: &str) -> bool {
        self.word(name).split(',').any(|one| one == word)
    }

    /// `command` with the values filled in: `{log_size}`, in MiB `{log_size:M}`; and of every
    /// driver `{fs}`, `{device}`, `{uuid}`, `{discard}` (`discard` or `nodiscard`), `{discards}`
    /// (1 or 0) and `{keep}` (`-K`, where nothing is to be discarded). What is in `[]` is left out
    /// where it has no value. `{device}` is the first of `devices`, `{uuid}` is of all.
    pub(super) fn argv(&self, command: &str, discard: Discard, devices: &[&Path]) -> Vec<String> {
        let value = |name: &str| match name {
            "fs" => Some(self.fs.clone()),
            "device" => devices.first().map(|device| device.display().to_string()),
            "uuid" => Some(uuid_of(devices)),
            "discard" => Some(if discard.is_none() { "nodiscard" } else { "discard" }.to_owned()),
            "discards" => Some(u8::from(!discard.is_none()).to_string()),
            "keep" => discard.is_none().then(|| "-K".to_owned()),
            _ => match (name.split_once(':'), self.values.get(name)) {
                (Some((name, _)), _) => Some((self.optional(name)? >> 20).to_string()),
                (None, Some((_, Some(word)))) => (!word.is_empty()).then(|| word.clone()),
                (None, _) => self.optional(name).map(|number| number.to_string()),
            },
        };
        let fill = |word: &str| {
            let mut parts = word.split('{');
            let mut text = parts.next().unwrap_or_default().to_owned();
            for (name, rest) in parts.filter_map(|part| part.split_once('}')) {
                text.push_str(&value(name)?);
                text.push_str(rest);
            }
            Some(text)
        };
        let mut argv = Vec::new();
        for (index, part) in command.split(['[', ']']).enumerate() {
            let words: Option<Vec<String>> = part.split_whitespace().map(fill).collect();
            debug_assert!(index % 2 == 1 || words.is_some(), "{part}");
            argv.extend(words.unwrap_or_default());
        }
        argv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_value_is_left_out_and_a_value_stays_one_word() {
        static TABLE: [MkfsOption; 3] = [
            MkfsOption::new("size", "x", ValueRule::PowerOfTwo(512, 4096, 4096)),
            MkfsOption::new("log", "x", ValueRule::Computed(|r| r.optional(|| r.number(1, 9, 5)))),
            MkfsOption::new(
                "twice",
                "",
                ValueRule::Computed(|r| Ok(Some(2 * r.values.number("size")))),
            ),
        ];
        let argv = |mkfs: &[(&str, &str)], discard| {
            let mkfs = mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let level = FsLevel { mkfs, ..FsLevel::plain("x") };
            let values = MkfsValues::read("x", &TABLE, &level, None).unwrap();
            let command = "mk [{keep}] -s a={size},b={twice} [-l {log}] {device}";
            values.argv(command, discard, &[Path::new("/dev/a b")]).join("|")
        };
        assert_eq!(argv(&[], Discard::On), "mk|-s|a=4096,b=8192|/dev/a b");
        assert_eq!(
            argv(&[("log", "7"), ("size", "1K")], Discard::None),
            "mk|-K|-s|a=1024,b=2048|-l|7|/dev/a b"
        );
    }
}
