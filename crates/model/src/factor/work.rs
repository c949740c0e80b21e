//! Factors of the work: whether copies share blocks, a delay of known size.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::{LevelError, nanos, word};
use crate::contender::Levels;
use crate::job::Reflink;
use crate::units::{Nanos, nanos_text};

/// Longest injected delay.
const MAX_DELAY_NS: u64 = 3_600_000_000_000;

pub(super) struct ReflinkPolicy;

impl Factor for ReflinkPolicy {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            title: "shared blocks (reflink)",
            head: Some("reflink"),
            help: "Whether copies may share blocks with the original: never, auto or always",
            example: "\"always\"",
            default_level: "never",
            is_option: true,
            ..FactorInfo::new("reflink", ActsOn::Work)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "reflink policy", &Reflink::ALL.map(Reflink::name))
    }
    fn get(&self, levels: &Levels) -> String {
        levels.reflink.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.reflink = Reflink::named(level).unwrap_or_default();
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let impossible = target.levels.reflink == Reflink::Always && target.reflinks == Some(false);
        impossible.then(|| {
            Illegal::Forbidden(format!(
                "files of {} cannot share blocks: use xfs or btrfs, or reflink = \"auto\"",
                target.levels.fs.name
            ))
        })
    }
}

/// A delay of known size: it shows what a comparison is able to find.
pub(super) struct InjectedDelay;

impl Factor for InjectedDelay {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            flag: "inject-delay",
            aliases: &["inject_delay"],
            help: "Sleep this long in each timed phase, such as 0ms,30ms: a known difference, to \
                   test what this machine can detect",
            example: "\"30 ms\"",
            default_level: "0ms",
            ..FactorInfo::new("handicap", ActsOn::Work)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        let delay = nanos(text)?;
        if delay > MAX_DELAY_NS {
            return Err(LevelError::new(
                format!("an injected delay of {}", Nanos(delay)),
                format!("use up to {}", Nanos(MAX_DELAY_NS)),
            ));
        }
        Ok(nanos_text(delay))
    }
    fn get(&self, levels: &Levels) -> String {
        nanos_text(levels.handicap_ns)
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.handicap_ns = nanos(level).unwrap_or(0);
    }
    /// What slows a contender down on purpose is always said.
    fn is_always_labelled(&self, level: &str) -> bool {
        !self.is_unset(level)
    }
    fn words(&self, level: &str) -> String {
        match nanos(level) {
            Ok(delay) if delay > 0 => Nanos(delay).to_string(),
            _ => "none".to_owned(),
        }
    }
}
