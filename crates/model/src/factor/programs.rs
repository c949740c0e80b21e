//! The width of the programs that do the work: those of this machine, or the same ones of i386.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::{LevelError, word};
use crate::contender::Levels;

/// Key of the factor.
pub const PROGRAMS: &str = "programs";
/// The level of programs of 32 bits.
pub const I386: &str = "i386";
/// The level of those that are installed.
const NATIVE: &str = "native";

/// Whether programs of i386 do the work.
#[must_use]
pub fn has_i386_programs(levels: &Levels) -> bool {
    levels.factors.get(PROGRAMS).is_some_and(|level| level == I386)
}

pub(super) struct ProgramWidth;

impl Factor for ProgramWidth {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            help: "Programs that do the work: native, or i386 (32 bits, from `fsarena programs add \
                   i386`)",
            example: "\"i386\"",
            default_level: NATIVE,
            ..FactorInfo::new(PROGRAMS, ActsOn::Work)
        }
    }
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        word(text, "width of programs", &[NATIVE, I386])
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        let in_guest = has_i386_programs(target.levels) && target.levels.device.is_virtual();
        in_guest
            .then_some(Illegal::LeftOut("programs of i386 run under the kernel of this machine"))
    }
    fn label(&self, level: &str) -> String {
        if level == I386 { "i386 programs" } else { "native programs" }.to_owned()
    }
    fn words(&self, level: &str) -> String {
        if level == I386 { "i386, 32-bit programs under a 64-bit kernel" } else { level }.to_owned()
    }
}
