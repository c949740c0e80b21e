//! fio job files as workloads: what a job file asks for, whether it stays inside a trial, and what
//! fio says of its work.
//!
//! A job file is read ([`JobFile::parse`]), checked against everything that would reach outside the
//! trial, cut into phases ([`JobFile::phases`]), weighed ([`JobFile::needed_bytes`]), and written
//! anew for one phase ([`JobFile::for_phase`]); the JSON that fio prints becomes figures
//! ([`Outcome::parse`]). What reaches fio is only ever what this crate wrote, never the text that
//! it was given: two programs that read one text differently are how checks are got around.
//!
//! | module | what |
//! |---|---|
//! | `syntax` | lines and sections |
//! | `refused` | the table of what is refused, and why |
//! | `paths` | names of files that stay below the root |
//! | `job` | sections with their globals, phases, notices |
//! | `length` | how long a phase takes by what its jobs state |
//! | `space` | bytes that the files of a job file take |
//! | `rewrite` | the job file and the arguments for one phase; the scaled text |
//! | `output` | fio's JSON |
//! | `constraints` | what the options of a job leave free |
//! | `normal` | one spelling of options that have several |
//! | `outcome` | what a run of fio comes to, in the words of the model |
//!
//! Pure functions on text: no process is started and no file is touched. Sources: the HOWTO
//! (fio.readthedocs.io) and the behaviour of fio 3.33.

mod constraints;
mod job;
mod length;
mod normal;
mod outcome;
mod output;
mod paths;
mod refused;
mod rewrite;
mod space;
mod syntax;

pub use job::{JobFile, JobPhase};
pub use length::PhaseLength;
pub(crate) use normal::normalised;
pub use outcome::{JobReport, Outcome, OutputError, Report};
pub use rewrite::{PhaseRun, version_of};
pub use syntax::FioError;

// Numbers as fio reads them: `4k`, `1g`, `0x200`, and units that turn round with `kb_base`. With
// `kb_base=1024` (the default) `k` and `kb` are 1024 and `kib` is 1000; with `kb_base=1000` it is
// the other way round (parse.c, `__get_mult_bytes`).

/// The meaning of `k`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KbBase {
    K1024,
    K1000,
}

impl KbBase {
    /// From the value of `kb_base`.
    pub(crate) fn read(value: Option<&str>) -> Self {
        if value == Some("1000") { Self::K1000 } else { Self::K1024 }
    }
}

/// Bytes in `text`; `None` where fsarena cannot tell (a share, an expression, a fraction).
pub(crate) fn amount_bytes(text: &str, base: KbBase) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let plain = if base == KbBase::K1024 { 1024 } else { 1000 };
    let turned = 2024 - plain;
    let (letter, factor) = match unit.strip_suffix("ib") {
        Some(letter) if !letter.is_empty() => (letter, turned),
        _ => (unit.strip_suffix('b').unwrap_or(unit), plain),
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(u64::checked_pow(factor, power)?)
}

/// The larger end of `4k-64k`, or the value of `4k`.
pub(crate) fn high_bytes(text: &str, base: KbBase) -> Option<u64> {
    text.split('-')
        .map(|part| amount_bytes(part, base))
        .try_fold(0, |most, part| Some(most.max(part?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_both_bases() {
        for (text, in_1024, in_1000) in [
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("1m", 1 << 20, 1_000_000),
            ("1gib", 1_000_000_000, 1 << 30),
            ("2t", 2 << 40, 2_000_000_000_000),
            ("512", 512, 512),
            ("512b", 512, 512),
            ("0x200", 512, 512),
        ] {
            assert_eq!(amount_bytes(text, KbBase::K1024), Some(in_1024), "{text}");
            assert_eq!(amount_bytes(text, KbBase::read(Some("1000"))), Some(in_1000), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        for text in ["", "50%", "(8*1024)", "1.5g", "g", "4x", "99999999999t", "-1", "k4"] {
            assert_eq!(amount_bytes(text, KbBase::K1024), None, "{text}");
        }
        assert_eq!(high_bytes("4k-64k", KbBase::K1024), Some(65536));
        assert_eq!(high_bytes("64k", KbBase::K1024), Some(65536));
        assert_eq!(high_bytes("4k-x", KbBase::K1024), None);
    }
}
