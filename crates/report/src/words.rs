//! Figures and sentences as people read them.

use fsarena_model::record::CacheState;
use fsarena_model::run::{Clock, RateStyle, RunState};
use fsarena_model::units::{Bytes, Nanos, three_digits};
use fsarena_study::{CpuLoad, PhaseRow, PhaseTable, RateUnit};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    text.width()
}

/// Text from a record or a file, safe to show: control characters (which could move the cursor or
/// change colours) and line breaks become spaces.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Breaks a sentence into lines of at most `width` columns; words that are longer are split. The
/// first line starts with `first`, the others with as many spaces.
pub(crate) fn wrap(first: &str, text: &str, width: usize) -> String {
    let indent = width_of(first).min(width / 2);
    let room = width.saturating_sub(indent).max(8);
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in clean(text).split_whitespace() {
        for piece in pieces(word, room) {
            let needed = width_of(&piece) + usize::from(used > 0);
            if used > 0 && used + needed > room {
                lines.push(String::new());
                used = 0;
            }
            let line = lines.last_mut().expect("there is always a line");
            if used > 0 {
                line.push(' ');
            }
            line.push_str(&piece);
            used += width_of(&piece) + usize::from(used > 0);
        }
    }
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if at == 0 {
            out.push_str(first);
        } else {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(line);
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in word.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > room {
            pieces.push(String::new());
            used = 0;
        }
        pieces.last_mut().expect("there is always a piece").push(c);
        used += columns;
    }
    pieces
}

/// A heading; bold where colour is wanted.
pub(crate) fn bold(text: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A whole number with separators: `207,374`.
pub(crate) fn grouped(value: u64) -> String {
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

/// A length, or a dash.
pub(crate) fn ns(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |ns| Nanos(ns).to_string())
}

/// A size, or a dash.
pub(crate) fn bytes(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |bytes| Bytes(bytes).to_string())
}

/// `95.8 %`, `too short`, or a dash.
pub(crate) fn cpu(load: CpuLoad) -> String {
    match load {
        CpuLoad::Percent { percent } => format!("{:.1} %", percent.median),
        CpuLoad::TooShort => "too short".to_owned(),
        CpuLoad::Unknown => "-".to_owned(),
    }
}

/// Unit in which the rates of a table are written: one for all its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// `127.03 KB/s`, KB = 1024 bytes.
    ArticleKb,
    /// `127 KiB/s`.
    Kib,
    /// `12.7 MiB/s`.
    Mib,
    /// `4,188 files/s`.
    Files,
    /// `312 dirs/s`.
    Dirs,
    /// `12,345 IOPS`.
    Iops,
}

impl Scale {
    /// The unit of a table: MiB/s where every row has one at least.
    pub(crate) fn of(table: &PhaseTable, style: RateStyle) -> Self {
        match (RateUnit::of(style, table.op, &table.dataset), style) {
            (RateUnit::Files, _) => Self::Files,
            (RateUnit::Dirs, _) => Self::Dirs,
            (RateUnit::Ops, _) => Self::Iops,
            (RateUnit::Bytes, style) => Self::of_bytes(table, style),
        }
    }

    /// The unit in which a table writes contents per second.
    pub(crate) fn of_bytes(table: &PhaseTable, style: RateStyle) -> Self {
        if style == RateStyle::Article2003 {
            return Self::ArticleKb;
        }
        let mut rates = table.rows.iter().filter_map(|r| r.rates.bytes_per_s);
        if rates.all(|rate| rate.median >= 1_048_576.0) { Self::Mib } else { Self::Kib }
    }

    /// The median rate of a row.
    pub(crate) fn rate(self, row: &PhaseRow) -> String {
        let unit = match self {
            Self::ArticleKb | Self::Kib | Self::Mib => RateUnit::Bytes,
            Self::Files => RateUnit::Files,
            Self::Dirs => RateUnit::Dirs,
            Self::Iops => RateUnit::Ops,
        };
        row.rates.get(unit).map_or_else(|| "-".to_owned(), |s| self.text(s.median))
    }

    /// An amount per second with its unit.
    pub(crate) fn text(self, per_s: f64) -> String {
        match self {
            Self::ArticleKb => format!("{:.2} KB/s", per_s / 1024.0),
            Self::Kib => format!("{} KiB/s", digits(per_s / 1024.0)),
            Self::Mib => format!("{} MiB/s", digits(per_s / 1_048_576.0)),
            Self::Files => format!("{} files/s", digits(per_s)),
            Self::Dirs => format!("{} dirs/s", digits(per_s)),
            Self::Iops => format!("{} IOPS", digits(per_s)),
        }
    }
}

/// Three digits, with separators from a thousand on.
fn digits(value: f64) -> String {
    if value >= 1000.0 { grouped(value.round() as u64) } else { three_digits(value) }
}

/// Name of a clock in a column heading.
pub(crate) fn clock(clock: Clock) -> &'static str {
    clock.name()
}

/// State of the cache in a sentence.
pub(crate) fn cache(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm by nature",
    }
}

/// State of a RUN.
pub(crate) fn state(state: RunState) -> &'static str {
    state.name()
}

/// Minutes in UTC: `2026-01-01 00:00 UTC`.
pub(crate) fn utc(unix_ns: u64) -> String {
    let seconds = i64::try_from(unix_ns / 1_000_000_000).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{seconds} s after 1970"),
    }
}

/// `1 trial`, `3 trials`.
pub(crate) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(Scale::ArticleKb.text(127.03 * 1024.0), "127.03 KB/s");
        assert_eq!(Scale::Files.text(14_620.4), "14,620 files/s");
        assert_eq!(Scale::Mib.text(1_048_576.0 * 12.34), "12.3 MiB/s");
        assert_eq!(utc(1_767_225_600_000_000_000), "2026-01-01 00:00 UTC");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{7}"), "a [31mb c ");
    }

    #[test]
    fn sentences_are_wrapped_under_their_mark() {
        assert_eq!(wrap("- ", "one two three", 10), "- one two\n  three\n");
        assert_eq!(wrap("", "abcdefghijkl", 10), "abcdefghij\nkl\n");
        assert_eq!(wrap("- ", "", 10), "-\n");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(text in ".{0,200}", width in 20usize..120) {
            for line in wrap("    ", &text, width).lines() {
                prop_assert!(width_of(line) <= width, "{line:?}");
            }
        }
    }
}
