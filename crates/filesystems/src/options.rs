//! What the drivers share: reading and checking option values, version lines, parsers of
//! `key: value` output. Pure but for [`version_of`] and [`output_of`].

use fsarena_model::account::Range;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::units::Bytes;
use fsarena_process::cmd;
use fsarena_process::cmd::CmdError;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A level that cannot be had: the rule and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fs}: {rule}; {remedy}")]
pub struct IllegalLevel {
    /// Name of the file system.
    pub fs: String,
    /// The rule that is broken.
    pub rule: String,
    /// What to do.
    pub remedy: String,
}

/// No driver has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown file system \"{name}\"{}; known: {}; others can be defined in an experiment file",
    nearest.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default(),
    known.join(", ")
)]
pub struct UnknownFs {
    pub name: String,
    /// All that are known.
    pub known: Vec<String>,
    /// The one that differs in a letter or two.
    pub nearest: Option<String>,
}

/// A file system could not be made or read back.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// A program is not there.
    #[error(
        "{}{}",
        cmd::why_missing(program),
        package.as_ref().map(|name| format!("; install the package {name}")).unwrap_or_default()
    )]
    MissingTool { program: String, package: Option<String> },
    /// A program failed.
    #[error(transparent)]
    Command(#[from] CmdError),
    /// What a program wrote was not understood.
    #[error("{tool}: output not understood: {problem}; is its version too new for this program?")]
    Malformed {
        tool: &'static str,
        /// What was missing or odd.
        problem: String,
    },
    /// A command of an external file system names something that is not filled in.
    #[error("command \"{command}\": {placeholder} has no value; known: {{dev}}, {{mnt}}, {{size}}")]
    Placeholder {
        command: String,
        /// The word in braces.
        placeholder: String,
    },
}

/// Limit for programs that only read.
pub(super) const READ_LIMIT: Duration = Duration::from_secs(60);

/// For options that name another device: it would be written to.
const OTHER_DEVICE: &str = "only the device of the target is used; leave it out";

/// Mount options that would change what is measured behind the plan's back.
const NOT_HERE: [(&str, &str); 15] = [
    ("ro", "the work writes; leave it out"),
    ("bind", "leave it out"),
    ("rbind", "leave it out"),
    ("move", "leave it out"),
    ("remount", "leave it out"),
    ("loop", "the device is attached already; leave it out"),
    ("offset", "the device is attached already; leave it out"),
    ("sizelimit", "use --on loop:SIZE"),
    ("logdev", OTHER_DEVICE),
    ("rtdev", OTHER_DEVICE),
    ("device", OTHER_DEVICE),
    ("journal_path", OTHER_DEVICE),
    ("journal_dev", OTHER_DEVICE),
    ("discard", "write discard = \"on\", so that mkfs and mount agree"),
    ("nodiscard", "it is the default; leave it out"),
];

/// Builds the errors of one driver.
pub(super) struct Rule<'a> {
    pub fs: &'a str,
}

impl Rule<'_> {
    pub fn broken(&self, rule: impl Into<String>, remedy: impl Into<String>) -> IllegalLevel {
        IllegalLevel { fs: self.fs.to_owned(), rule: rule.into(), remedy: remedy.into() }
    }

    /// Every mkfs option must be one of `known`.
    pub fn known(&self, level: &FsLevel, names: &[&str]) -> Result<(), IllegalLevel> {
        for key in level.mkfs.keys() {
            if names.contains(&&**key) {
                continue;
            }
            let near = nearest(key, names.iter().copied())
                .map(|near| format!("did you mean {near}? "))
                .unwrap_or_default();
            let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(
                self.broken(format!("unknown mkfs option {key}"), format!("{near}known: {list}"))
            );
        }
        Ok(())
    }

    /// Mount options must be single words, once each, and none of those that the plan decides.
    pub fn mount_words(&self, level: &FsLevel) -> Result<(), IllegalLevel> {
        for (index, option) in level.mount.iter().enumerate() {
            if option.is_empty() || option.contains([',', ' ', '\t', '\n', '\0']) {
                return Err(self.broken(
                    format!("mount option {option:?} is not one word"),
                    "give each option on its own, without commas and spaces",
                ));
            }
            let (key, _) = key_value(option);
            if let Some((_, remedy)) = NOT_HERE.iter().find(|(name, _)| *name == key) {
                return Err(
                    self.broken(format!("mount option {option} cannot be used here"), *remedy)
                );
            }
            if level.mount[..index].iter().any(|before| key_value(before).0 == key) {
                return Err(self.broken(
                    format!("mount option {key} is given twice"),
                    "keep one of them, or make it a list of contenders",
                ));
            }
        }
        Ok(())
    }

    /// None of these may be a mount option, because of `why`.
    pub fn no_mount_option(
        &self,
        level: &FsLevel,
        keys: &[&str],
        why: &str,
        remedy: &str,
    ) -> Result<(), IllegalLevel> {
        match level.mount.iter().find(|option| keys.contains(&key_value(option).0)) {
            Some(option) => Err(self.broken(format!("mount option {option}{why}"), remedy)),
            None => Ok(()),
        }
    }

    /// The device must have at least this size.
    pub fn least_size(&self, device: Option<u64>, least: u64) -> Result<(), IllegalLevel> {
        match device {
            Some(bytes) if bytes < least => Err(self.broken(
                format!(
                    "a device of {} is too small: it needs {} at least",
                    Bytes(bytes),
                    Bytes(least)
                ),
                format!("use --on loop:{} or larger", rounded_up(least)),
            )),
            _ => Ok(()),
        }
    }
}

/// The least whole number of MiB, in the words of `--on`.
fn rounded_up(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

/// The mount options of the level, and `discard` where it is asked for: of a file system that
/// knows no word for the contrary.
pub(super) fn discard_alone(level: &FsLevel, discard: Discard) -> Vec<String> {
    let asked = (!discard.is_none()).then(|| "discard".to_owned());
    level.mount.iter().cloned().chain(asked).collect()
}

/// `data=writeback` as `("data", Some("writeback"))`.
pub(super) fn key_value(option: &str) -> (&str, Option<&str>) {
    match option.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (option, None),
    }
}

/// The candidate that differs least, if by two letters at most.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = if word.len() <= 3 { 1 } else { 2 };
    candidates
        .map(|candidate| (strsim::levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A UUID that is the same for these devices each time, and another for others: two file systems
/// of one UUID cannot be mounted at once (xfs, btrfs), and two runs may work side by side. It is of
/// all devices, for the second of a pair holds the old UUID after the first went to another run.
pub(super) fn uuid_of(devices: &[&Path]) -> String {
    // FNV-1a: only distinctness matters here.
    let names = devices.iter().map(|device| device.as_os_str().as_encoded_bytes());
    let hash = names
        .collect::<Vec<_>>()
        .join(&b'\0')
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("f5a2e4a0-0000-4000-8000-{:012x}", hash & 0xffff_ffff_ffff)
}

/// Standard output of a program that only reads, given its package for the error.
pub(crate) fn output_of(
    program: &str,
    package: &str,
    args: &[&str],
    device: &Path,
) -> Result<String, FsError> {
    let Some(tool) = cmd::find(program) else {
        return Err(FsError::MissingTool {
            program: program.to_owned(),
            package: Some(package.to_owned()),
        });
    };
    let mut all: Vec<&std::ffi::OsStr> = args.iter().map(std::ffi::OsStr::new).collect();
    all.push(device.as_os_str());
    Ok(cmd::run(&tool, &all, READ_LIMIT)?.stdout)
}

/// First line that a program prints about its version, on either stream.
pub(super) fn version_of(program: &str, args: &[&str]) -> Option<String> {
    let tool = cmd::find(program)?;
    let ran = cmd::run(&tool, args, READ_LIMIT).ok()?;
    cmd::first_line(&ran.stdout, &ran.stderr)
}

/// The lines `key: value` of what `tool` printed whose key is among `kept`; keys in lower case with
/// underscores. All of `needed` must be among them.
pub(super) fn kept_lines(
    tool: &'static str,
    text: &str,
    kept: &[&str],
    needed: &[&str],
) -> Result<BTreeMap<String, String>, FsError> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let lines = lines.map(|(key, value)| (key.trim(), value));
    let name = |key: &str| key.trim_matches(['#', '%', ' ']).to_lowercase().replace(' ', "_");
    let words = |value: &str| value.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = lines.filter(|(key, _)| kept.contains(key));
    let map = kept.map(|(key, value)| (name(key), words(value))).collect();
    complete(map, tool, needed, " ")
}

/// `map`, where it has all the keys `needed`. The program writes them with `gap` between words.
pub(super) fn complete(
    map: BTreeMap<String, String>,
    tool: &'static str,
    needed: &[&str],
    gap: &str,
) -> Result<BTreeMap<String, String>, FsError> {
    match needed.iter().find(|key| !map.contains_key(**key)) {
        None => Ok(map),
        Some(key) => {
            let problem = format!("no {}", key.replace('_', gap));
            Err(FsError::Malformed { tool, problem })
        }
    }
}

/// The output of one program, read.
pub(super) struct ToolOutput<'a> {
    pub tool: &'static str,
    pub text: &'a str,
}

impl ToolOutput<'_> {
    pub fn odd(&self, problem: impl Into<String>) -> FsError {
        FsError::Malformed { tool: self.tool, problem: problem.into() }
    }

    /// The value of the line `key<separator>value`.
    pub fn value(&self, key: &str, separator: char) -> Option<&str> {
        let pairs = self.text.lines().filter_map(|line| line.split_once(separator));
        pairs
            .map(|(name, value)| (name.trim(), value.trim()))
            .find(|(name, _)| *name == key)?
            .1
            .into()
    }

    /// That as a number.
    pub fn number(&self, key: &str, separator: char) -> Result<u64, FsError> {
        let value = self.value(key, separator).ok_or_else(|| self.odd(format!("no {key}")))?;
        value.parse().map_err(|_| self.odd(format!("{key} is {value:?}, no number")))
    }

    /// The bytes of `count` blocks from `first` on.
    pub fn blocks(&self, first: u64, count: u64, block_bytes: u64) -> Result<Range, FsError> {
        let bytes = |blocks: u64| blocks.checked_mul(block_bytes);
        match (bytes(first), bytes(count)) {
            (Some(start_bytes), Some(length_bytes)) => Ok(Range { start_bytes, length_bytes }),
            _ => Err(self.odd(format!("block {first} is no block"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_that_the_plan_decides_are_refused_with_the_way_out() {
        let rule = Rule { fs: "xfs" };
        let check = |words: &[&str]| {
            let mut level = FsLevel::plain("xfs");
            level.mount = words.iter().map(|word| (*word).to_owned()).collect();
            rule.mount_words(&level).map_err(|error| error.to_string())
        };
        assert_eq!(check(&["noatime", "logbufs=8"]), Ok(()));
        assert!(check(&["discard"]).unwrap_err().contains("discard = \"on\""));
        assert!(check(&["a,b"]).unwrap_err().contains("one word"));
        assert!(check(&["logbufs=8", "logbufs=4"]).unwrap_err().contains("twice"));
        for word in ["logdev=/dev/sda", "rtdev=/dev/sda", "device=/dev/sda", "journal_dev=0x801"] {
            assert!(check(&[word]).unwrap_err().contains("only the device of the target"));
        }
        assert!(check(&["journal_path=/dev/sda"]).unwrap_err().contains("cannot be used"));
        assert!(check(&["ro"]).unwrap_err().contains("cannot be used"));
    }

    #[test]
    fn nearest_is_near() {
        let known = ["ext2", "xfs", "btrfs"];
        assert_eq!(nearest("btfs", known.into_iter()), Some("btrfs"));
        assert_eq!(nearest("zfs", known.into_iter()), Some("xfs"));
        assert_eq!(nearest("reiserfs", known.into_iter()), None);
    }

    #[test]
    fn uuids_differ_by_device_and_stay_the_same() {
        let [a, b, c] = ["/dev/loop0", "/dev/loop1", "/dev/loop2"].map(Path::new);
        let all = [&[a][..], &[b], &[a, b], &[b, a], &[a, c], &[a, b, c]];
        let uuids: BTreeSet<String> = all.iter().map(|devices| uuid_of(devices)).collect();
        assert_eq!(uuids.len(), all.len(), "{uuids:?}");
        assert_eq!(uuid_of(&[a, b]), uuid_of(&[a, b]));
        assert!(uuids.iter().all(|uuid| uuid.len() == 36));
    }
}
