//! Factors of the work: whether copies share blocks, a delay of known size.

use super::descriptor::{ActsOn, Factor, Illegal, Target};
use super::level::{LevelError, nanos, word};
use crate::contender::Levels;
use crate::job::Reflink;
use crate::units::{Nanos, nanos_text};

/// Longest injected delay.
const MAX_DELAY_NS: u64 = 3_600_000_000_000;
const POLICIES: [Reflink; 3] = [Reflink::Never, Reflink::Auto, Reflink::Always];

pub(super) struct ReflinkPolicy;

impl Factor for ReflinkPolicy {
    fn key(&self) -> &'static str {
        "reflink"
    }
    fn title(&self) -> &'static str {
        "shared blocks (reflink)"
    }
    fn head(&self) -> &'static str {
        "reflink"
    }
    fn help(&self) -> &'static str {
        "Whether copies may share blocks with the original: never, auto or always"
    }
    fn example(&self) -> &'static str {
        "\"always\""
    }
    fn default_level(&self) -> &'static str {
        "never"
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "reflink policy", &POLICIES.map(Reflink::name))
    }
    fn acts_on(&self) -> ActsOn {
        ActsOn::Work
    }
    fn get(&self, levels: &Levels) -> String {
        levels.reflink.name().to_owned()
    }
    fn set(&self, levels: &mut Levels, level: &str) {
        levels.reflink =
            POLICIES.into_iter().find(|known| known.name() == level).unwrap_or(Reflink::Never);
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
    fn is_option(&self) -> bool {
        true
    }
}

/// A delay of known size: it shows what a comparison is able to find.
pub(super) struct InjectedDelay;

impl Factor for InjectedDelay {
    fn key(&self) -> &'static str {
        "handicap"
    }
    fn flag(&self) -> &'static str {
        "inject-delay"
    }
    fn aliases(&self) -> &'static [&'static str] {
        &["inject_delay"]
    }
    fn help(&self) -> &'static str {
        "Sleep this long in each timed phase, such as 0ms,30ms: a known difference, to test what \
         this machine can detect"
    }
    fn example(&self) -> &'static str {
        "\"30 ms\""
    }
    fn default_level(&self) -> &'static str {
        "0ms"
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
    fn acts_on(&self) -> ActsOn {
        ActsOn::Work
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
