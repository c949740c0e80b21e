//! Sizes, durations and percentages as people write and read them.
//!
//! `K M G T` and `KiB MiB GiB TiB` are powers of 1024 (as in fio and mkfs), `kB MB GB TB` powers of
//! 1000. `KB` is refused: some programs mean 1024 by it and some 1000. Machine output never passes
//! through here: it is bytes and nanoseconds with the unit in the key.

use std::fmt;
use std::str::FromStr;

/// A number of bytes, read from `"64M"`, `"256 B"`, `"1.5 GiB"` or a plain number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bytes(pub u64);

/// A duration in nanoseconds, read from `"300 s"`, `"30m"`, `"100ms"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nanos(pub u64);

/// A quantity that could not be read; says what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadQuantity {
    /// No number stands at the start.
    #[error("{0:?}: expected a number and a unit, such as {1}")]
    NoNumber(String, &'static str),
    /// The unit is not one of ours.
    #[error("{text:?}: unknown unit {unit:?}; use one of {known}")]
    Unit {
        /// What was written.
        text: String,
        /// Its unit.
        unit: String,
        /// The units that are understood.
        known: &'static str,
    },
    /// `KB` means 1024 to some and 1000 to others.
    #[error("{0:?}: KB is ambiguous; write KiB (or K) for 1024 bytes, kB for 1000")]
    AmbiguousKb(String),
    /// Not a whole number of base units, or too large for 64 bits.
    #[error("{0:?}: not a whole number of {1}, or too large")]
    Range(String, &'static str),
}

impl BadQuantity {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn what_and_remedy(&self) -> (String, String) {
        match self {
            Self::NoNumber(text, example) => {
                (format!("{text:?} has no number and unit"), format!("write it like {example}"))
            }
            Self::Unit { text, unit, known } => {
                (format!("{text:?}: unknown unit {unit:?}"), format!("use one of {known}"))
            }
            Self::AmbiguousKb(text) => (
                format!("{text:?}: KB is ambiguous"),
                "write KiB (or K) for 1024 bytes, kB for 1000".to_owned(),
            ),
            Self::Range(text, unit) => (
                format!("{text:?} is not a whole number of {unit}, or too large"),
                "write a smaller or rounder value".to_owned(),
            ),
        }
    }
}

/// A size without loss and without a space.
///
/// ```
/// use fsarena_model::units::size_text;
///
/// assert_eq!((size_text(2 << 30), size_text(100)), ("2G".to_owned(), "100".to_owned()));
/// ```
#[must_use]
pub fn size_text(size: u64) -> String {
    for (unit, factor) in [("T", 1u64 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)] {
        if size >= factor && size.is_multiple_of(factor) {
            return format!("{}{unit}", size / factor);
        }
    }
    size.to_string()
}

/// A duration without loss and without a space.
///
/// ```
/// use fsarena_model::units::nanos_text;
///
/// assert_eq!((nanos_text(30_000_000), nanos_text(0)), ("30ms".to_owned(), "0ms".to_owned()));
/// ```
#[must_use]
pub fn nanos_text(nanos: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let fits = |unit: &&(&str, u64)| nanos >= unit.1 && nanos.is_multiple_of(unit.1);
    match units.iter().find(fits) {
        Some((unit, factor)) => format!("{}{unit}", nanos / factor),
        None => "0ms".to_owned(),
    }
}

const BYTE_UNITS: &str = "B, K, KiB, M, MiB, G, GiB, T, TiB (1024), kB, MB, GB, TB (1000)";
const TIME_UNITS: &str = "ns, us, ms, s, m, h";

impl FromStr for Bytes {
    type Err = BadQuantity;

    /// ```
    /// use fsarena_model::units::Bytes;
    ///
    /// assert_eq!("1.5 GiB".parse(), Ok(Bytes(1_610_612_736)));
    /// assert_eq!("64M".parse(), Ok(Bytes(64 << 20)));
    /// assert!("64 KB".parse::<Bytes>().is_err(), "1024 or 1000?");
    /// ```
    fn from_str(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split(text, "64M or 256 B")?;
        let factor: u64 = match unit {
            "" | "B" => 1,
            "K" | "k" | "KiB" => 1 << 10,
            "M" | "m" | "MiB" => 1 << 20,
            "G" | "g" | "GiB" => 1 << 30,
            "T" | "t" | "TiB" => 1 << 40,
            "kB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "KB" => return Err(BadQuantity::AmbiguousKb(text.to_owned())),
            _ => return Err(unknown(text, unit, BYTE_UNITS)),
        };
        scaled(text, number, factor, "bytes").map(Self)
    }
}

impl FromStr for Nanos {
    type Err = BadQuantity;

    /// ```
    /// use fsarena_model::units::Nanos;
    ///
    /// assert_eq!("100ms".parse(), Ok(Nanos(100_000_000)));
    /// assert_eq!("2 m".parse(), Ok(Nanos(120_000_000_000)));
    /// ```
    fn from_str(text: &str) -> Result<Self, BadQuantity> {
        let (number, unit) = split(text, "100ms or 30 s")?;
        let factor: u64 = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(unknown(text, unit, TIME_UNITS)),
        };
        scaled(text, number, factor, "nanoseconds").map(Self)
    }
}

fn unknown(text: &str, unit: &str, known: &'static str) -> BadQuantity {
    BadQuantity::Unit { text: text.to_owned(), unit: unit.to_owned(), known }
}

/// Splits `"1.5 GiB"` into `"1.5"` and `"GiB"`.
fn split<'a>(text: &'a str, example: &'static str) -> Result<(&'a str, &'a str), BadQuantity> {
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    if number.is_empty() {
        return Err(BadQuantity::NoNumber(text.to_owned(), example));
    }
    Ok((number, unit.trim()))
}

/// `number × factor`, exact: decimals are scaled as integers, never through a float.
fn scaled(text: &str, number: &str, factor: u64, unit: &'static str) -> Result<u64, BadQuantity> {
    let range = || BadQuantity::Range(text.to_owned(), unit);
    let clean = number.replace('_', "");
    let (whole, decimals) = clean.split_once('.').unwrap_or((&clean, ""));
    let digits: u128 = format!("{whole}{decimals}").parse().map_err(|_| range())?;
    let ten = 10u128.checked_pow(u32::try_from(decimals.len()).map_err(|_| range())?);
    let product = digits.checked_mul(u128::from(factor)).ok_or_else(range)?;
    let ten = ten.ok_or_else(range)?;
    if product % ten != 0 {
        return Err(range());
    }
    u64::try_from(product / ten).map_err(|_| range())
}

/// Binary units: `512 B`, `64 MiB`, `1.43 GiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] =
            [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        for (unit, factor) in UNITS {
            if self.0 >= factor {
                if self.0.is_multiple_of(factor) {
                    return write!(f, "{} {unit}", self.0 / factor);
                }
                return write!(f, "{} {unit}", three_digits(self.0 as f64 / factor as f64));
            }
        }
        write!(f, "{} B", self.0)
    }
}

/// `830 ns`, `7.31 µs`, `12.5 ms`, `3.42 s`, `2m05s`, `1h02m`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0;
        let whole_s = nanos.saturating_add(500_000_000) / 1_000_000_000;
        match nanos {
            0..1_000 => write!(f, "{nanos} ns"),
            1_000..999_500 => write!(f, "{} µs", three_digits(nanos as f64 / 1e3)),
            999_500..999_500_000 => write!(f, "{} ms", three_digits(nanos as f64 / 1e6)),
            999_500_000..120_000_000_000 => {
                write!(f, "{} s", three_digits(nanos as f64 / 1e9))
            }
            120_000_000_000..3_600_000_000_000 => {
                write!(f, "{}m{:02}s", whole_s / 60, whole_s % 60)
            }
            _ => write!(f, "{}h{:02}m", whole_s / 3600, whole_s % 3600 / 60),
        }
    }
}

/// Three significant digits without an exponent.
///
/// ```
/// use fsarena_model::units::three_digits;
///
/// assert_eq!((three_digits(1.234), three_digits(1234.4)), ("1.23".to_owned(), "1234".to_owned()));
/// ```
#[must_use]
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A whole number with separators: `207,374`.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share written as `"5%"` or `0.05`, kept as a fraction.
///
/// ```
/// assert_eq!(fsarena_model::units::parse_share("5%"), Ok(0.05));
/// ```
///
/// # Errors
/// When the text is neither, or not between 0 and 10 (1000 %).
pub fn parse_share(text: &str) -> Result<f64, BadQuantity> {
    let bad = || BadQuantity::NoNumber(text.to_owned(), "5% or 0.05");
    let value = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| bad())? / 100.0,
        None => text.trim().parse::<f64>().map_err(|_| bad())?,
    };
    if value.is_finite() && (0.0..=10.0).contains(&value) { Ok(value) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_in_both_bases() {
        for (text, bytes) in [
            ("64M", 64 << 20),
            ("256 B", 256),
            ("256", 256),
            ("1.5GiB", 3 << 29),
            ("1500000 KiB", 1_536_000_000),
            ("1_000 kB", 1_000_000),
            ("2TB", 2_000_000_000_000),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap().0, bytes, "{text}");
        }
    }

    #[test]
    fn what_is_refused_names_the_remedy() {
        let text = |t: &str| t.parse::<Bytes>().unwrap_err().to_string();
        assert!(text("64KB").contains("KiB"), "{}", text("64KB"));
        assert!(text("64X").contains("MiB"), "{}", text("64X"));
        assert!(text("lots").contains("64M"), "{}", text("lots"));
        assert!(text("0.3 B").contains("whole number"));
        assert!(text("99999999999 TiB").contains("too large"));
        assert!("5".parse::<Nanos>().is_err(), "a duration needs a unit");
    }

    #[test]
    fn durations_are_read_and_shown() {
        assert_eq!("30m".parse::<Nanos>().unwrap().0, 1_800_000_000_000);
        assert_eq!("0.5 s".parse::<Nanos>().unwrap().0, 500_000_000);
        assert_eq!(Nanos(7_310).to_string(), "7.31 µs");
        assert_eq!(Nanos(999_700_000).to_string(), "1.00 s", "not 1000 ms");
        assert_eq!(Nanos(125_400_000_000).to_string(), "2m05s");
        assert_eq!(Nanos(3_720_000_000_000).to_string(), "1h02m");
    }

    #[test]
    fn shares() {
        assert!((parse_share("5%").unwrap() - 0.05).abs() < 1e-12);
        assert!(parse_share("-1%").is_err() && parse_share("many").is_err());
    }

    proptest! {
        #[test]
        fn whole_units_are_exact(n in 0u64..1_000_000) {
            for (unit, factor) in [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("kB", 1000)] {
                let bytes: Bytes = format!("{n} {unit}").parse().unwrap();
                prop_assert_eq!(bytes.0, n * factor);
            }
        }

        #[test]
        fn never_panics(text in ".{0,20}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Nanos>();
            let _ = parse_share(&text);
        }
    }
}
