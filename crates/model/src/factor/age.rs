//! The factor of age: a fresh file system, or one that was filled and fragmented before.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::{LevelError, bytes};
use crate::age::{Age, ShareOf};
use crate::contender::Levels;
use crate::units::{Bytes, size_text};

/// Key of the age.
pub const AGE: &str = "age";

/// The level of a file system as mkfs leaves it.
const FRESH: &str = "fresh";
/// Churn where extents per file are asked for and no limit is: in multiples of the fill.
const LIMIT: f64 = 8.0;
/// Most of a churn, in multiples of the fill.
const MAX_CHURN: f64 = 100.0;
/// Median sizes of files, least and most.
const MEDIAN_BYTES: (u64, u64) = (4 << 10, 64 << 20);
const HOW: &str = "write it like 80%, 95%:of=room, 80%:churn=4, or \
                   80%:extents=2:churn=8:size=13K:sigma=2.46:seed=1";

/// How contenders of these levels are aged; none where they are fresh.
#[must_use]
pub fn age(levels: &Levels) -> Option<Age> {
    read(levels.factors.get(AGE)?).ok().flatten()
}

/// What a text says; none for a fresh file system.
fn read(text: &str) -> Result<Option<Age>, LevelError> {
    let text = text.trim();
    if text == FRESH {
        return Ok(None);
    }
    let refused = |what: String| LevelError::new(what, HOW);
    let mut parts = text.split(':').map(str::trim);
    let share = parts.next().unwrap_or_default();
    let percent = share.strip_suffix('%').and_then(|number| number.trim().parse::<u32>().ok());
    let Some(percent) = percent.filter(|percent| (1..=99).contains(percent)) else {
        let what = format!("{share:?} is no share of a device from 1% to 99%, and not \"fresh\"");
        return Err(refused(what));
    };
    let mut age = Age::filled(percent);
    let mut seen: Vec<&str> = Vec::new();
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(refused(format!("{part:?} is no parameter of an age")));
        };
        let (key, value) = (key.trim(), value.trim());
        if seen.contains(&key) {
            return Err(LevelError::new(format!("{key:?} twice in {text:?}"), "keep one of them"));
        }
        seen.push(key);
        put(&mut age, key, value)?;
    }
    if age.extents_per_file.is_some() && !seen.contains(&"churn") {
        age.churn = LIMIT;
    }
    Ok(Some(age))
}

/// Puts one parameter in.
fn put(age: &mut Age, key: &str, value: &str) -> Result<(), LevelError> {
    match key {
        "of" => {
            age.share_of = match value {
                "device" => ShareOf::Device,
                "room" => ShareOf::Room,
                _ => {
                    let what = format!("of: {value:?} is neither \"device\" nor \"room\"");
                    return Err(LevelError::new(what, HOW));
                }
            }
        }
        "churn" => age.churn = number(key, value, (0.0, MAX_CHURN))?,
        "extents" => age.extents_per_file = Some(number(key, value, (1.0, 1000.0))?),
        "sigma" => age.size_sigma = number(key, value, (0.0, 4.0))?,
        "size" => {
            let median = bytes(value)?;
            if !(MEDIAN_BYTES.0..=MEDIAN_BYTES.1).contains(&median) {
                return Err(LevelError::new(
                    format!("a median size of {}", Bytes(median)),
                    format!("use {} to {}", Bytes(MEDIAN_BYTES.0), Bytes(MEDIAN_BYTES.1)),
                ));
            }
            age.size_median_bytes = median;
        }
        "seed" => {
            let what = || LevelError::new(format!("{value:?} is no seed"), "use a whole number");
            age.seed = value.parse().map_err(|_| what())?;
        }
        _ => return Err(LevelError::new(format!("an age has no {key:?}"), HOW)),
    }
    Ok(())
}

fn number(key: &str, value: &str, (least, most): (f64, f64)) -> Result<f64, LevelError> {
    let number = value.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
    // Of -0 it makes 0.
    number.map(|number| number + 0.0).ok_or_else(|| {
        let what = format!("{key}: {value:?} is no number from {least} to {most}");
        LevelError::new(what, HOW)
    })
}

/// The parameters of an age that are no defaults, each as `KEY=VALUE`.
fn parameters(age: &Age) -> Vec<String> {
    let mut plain = Age::filled(age.fill_percent);
    if age.extents_per_file.is_some() {
        plain.churn = LIMIT;
    }
    let mut all = Vec::new();
    let mut push = |is_said: bool, key: &str, value: String| {
        if is_said {
            all.push(format!("{key}={value}"));
        }
    };
    push(age.share_of == ShareOf::Room, "of", "room".to_owned());
    #[expect(clippy::float_cmp, reason = "both come from the same text")]
    push(age.churn != plain.churn, "churn", age.churn.to_string());
    let extents = age.extents_per_file.map(|extents| extents.to_string());
    push(extents.is_some(), "extents", extents.unwrap_or_default());
    let (size, sigma) = (age.size_median_bytes, age.size_sigma);
    push(size != plain.size_median_bytes, "size", size_text(size));
    #[expect(clippy::float_cmp, reason = "both come from the same text")]
    push(sigma != plain.size_sigma, "sigma", sigma.to_string());
    push(age.seed != plain.seed, "seed", age.seed.to_string());
    all
}

pub(super) struct AgeOfFiles;

impl Factor for AgeOfFiles {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "Age of the file system before the work: fresh, or the share of the device that \
                   is filled and then churned, such as fresh,80%; 80%:churn=4 writes four times \
                   the fill, 80%:extents=2 goes on until files have two extents on average, \
                   95%:of=room is a share of what the file system has available (others: size, \
                   sigma, seed)",
            example: "\"80%\"",
            default_level: FRESH,
            ..FactorInfo::new(AGE, ActsOn::Device)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let Some(age) = read(text)? else { return Ok(FRESH.to_owned()) };
        let share = format!("{}%", age.fill_percent);
        Ok([vec![share], parameters(&age)].concat().join(":"))
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        age(target.levels)?;
        if target.levels.is_raw() {
            return Some(Illegal::LeftOut("a device without a file system has no files to age"));
        }
        target.levels.device.is_virtual().then_some(Illegal::LeftOut(IN_A_GUEST))
    }
    /// `aged 80%`, `filled 80%` where nothing is churned.
    fn label(&self, level: &str) -> String {
        let Ok(Some(age)) = read(level) else { return FRESH.to_owned() };
        let mut more = parameters(&age);
        let word = if age.churn > 0.0 { "aged" } else { "filled" };
        more.retain(|one| one != "churn=0");
        [vec![format!("{word} {}%", age.fill_percent)], more].concat().join(" ")
    }
    fn is_always_labelled(&self, level: &str) -> bool {
        !self.is_unset(level)
    }
    fn words(&self, level: &str) -> String {
        self.label(level)
    }
    fn fact(&self, level: &str) -> Option<String> {
        (!self.is_unset(level)).then(|| format!("{} before the work", self.label(level)))
    }
}

/// Why no file system is aged in a guest.
const IN_A_GUEST: &str = "file systems are aged on devices of this machine, not in a guest kernel";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::{DeviceLevel, FsLevel};

    fn canonical(text: &str) -> String {
        AgeOfFiles.parse(text).unwrap()
    }

    #[test]
    fn defaults_are_left_out_and_the_order_is_one() {
        for (text, level) in [
            ("fresh", "fresh"),
            (" 80 % ", "80%"),
            ("80%:churn=2", "80%"),
            ("80%:seed=1:size=13K:sigma=2.46", "80%"),
            ("50%:seed=7:churn=0.50", "50%:churn=0.5:seed=7"),
            ("50%:churn=-0", "50%:churn=0"),
            ("95%:extents=2", "95%:extents=2"),
            ("95%:churn=8:extents=2.0", "95%:extents=2"),
            ("95%:extents=2:churn=2", "95%:churn=2:extents=2"),
            ("80%:size=16KiB", "80%:size=16K"),
        ] {
            assert_eq!(canonical(text), level, "{text}");
            assert_eq!(canonical(level), level, "{text}");
        }
    }

    #[test]
    fn what_is_no_age_says_what_would_be() {
        for (text, words) in [
            ("old", "\"old\" is no share of a device from 1% to 99%"),
            ("100%", "\"100%\" is no share"),
            ("80", "\"80\" is no share"),
            ("80%:churn", "\"churn\" is no parameter"),
            ("80%:churn=-1", "churn: \"-1\" is no number from 0 to 100"),
            ("80%:churn=NaN", "churn: \"NaN\" is no number"),
            ("80%:extents=0.5", "extents: \"0.5\" is no number from 1 to 1000"),
            ("80%:of=disk", "of: \"disk\" is neither"),
            ("80%:files=3", "an age has no \"files\""),
            ("80%:seed=x", "\"x\" is no seed"),
            ("80%:seed=1:seed=2", "\"seed\" twice"),
            ("80%:size=1", "a median size of 1 B"),
        ] {
            let Err(LevelError::Refused { what, remedy }) = AgeOfFiles.parse(text) else {
                panic!("{text} was taken")
            };
            assert!(what.contains(words) && !remedy.is_empty(), "{text}: {what}; {remedy}");
        }
    }

    #[test]
    fn labels_say_how_old_it_is() {
        let label = |text: &str| AgeOfFiles.label(&canonical(text));
        assert_eq!(label("fresh"), "fresh");
        assert_eq!(label("80%"), "aged 80%");
        assert_eq!(label("80%:churn=0"), "filled 80%");
        assert_eq!(label("95%:of=room"), "aged 95% of=room");
        assert_eq!(label("80%:of=device"), "aged 80%");
        assert_eq!(label("80%:extents=2:seed=3"), "aged 80% extents=2 seed=3");
    }

    #[test]
    fn no_file_system_is_aged_in_a_guest_and_none_without_a_device() {
        let disk = DeviceLevel::Virtual {
            size_bytes: 1 << 30,
            model: "hdd-2003".to_owned(),
            kernel: String::new(),
            syscall_ns: 0,
        };
        let mut levels = Levels::plain(FsLevel::plain("ext4"), disk);
        let illegal = |levels: &Levels| {
            AgeOfFiles.illegal(&Target { levels, reflinks: None, page_bytes: None }).is_some()
        };
        assert!(!illegal(&levels), "it is fresh");
        AgeOfFiles.set(&mut levels, "80%");
        assert!(illegal(&levels));
        levels.device = DeviceLevel::Loop { size_bytes: 1 << 30 };
        assert!(!illegal(&levels));
        assert_eq!(age(&levels), Some(Age::filled(80)));
        levels.fs = FsLevel::plain("tmpfs");
        AgeOfFiles.resolve(&mut levels);
        assert_eq!(age(&levels), None);
    }
}
