//! The picture: who is watched, each quantity with its last samples as a line of blocks, and what
//! it all comes to. Columns and rows that have no room are left out, the least telling first.

use crate::line::{BOLD, Colour, Line, Size, Style};
use crate::lines::clock;
use crate::state::State;
use fsarena_model::units::{Bytes, Nanos};
use fsarena_model::visible;
use fsarena_study::watched::Watched;

/// Columns of the name of a quantity.
const NAME: usize = 14;
/// Columns of a figure.
const FIGURE: usize = 10;
/// From this width on mean and largest value stand next to the last one.
const WIDE: usize = 60;
/// A line of blocks shorter than this says nothing.
const SHORTEST_LINE: usize = 6;
/// A request for more than this share of the processors by the hypervisor is shown in red.
const MUCH_STEAL: f64 = 0.05;

/// Heights of a block, in eighths; the first is nothing.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same where the terminal has no such characters.
const SIGNS: [char; 9] = [' ', '.', '.', ':', ':', '-', '=', '+', '#'];

/// Quantities in the order in which they are given room.
const BY_WORTH: [Watched; 15] = [
    Watched::WrittenBytesPerS,
    Watched::ReadBytesPerS,
    Watched::BusyShare,
    Watched::QueueDepth,
    Watched::WriteLatencyNs,
    Watched::ReadLatencyNs,
    Watched::DirtyBytes,
    Watched::WritesPerS,
    Watched::ReadsPerS,
    Watched::IowaitShare,
    Watched::SystemShare,
    Watched::UserShare,
    Watched::FlushesPerS,
    Watched::WritebackBytes,
    Watched::StealShare,
];

/// What the terminal can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Theme {
    /// Whether colour is wanted: never with `NO_COLOR` (no-color.org).
    pub colour: bool,
    /// Whether its locale is UTF-8.
    pub blocks: bool,
}

/// A watch as it stands, as the lines of a terminal; none of them is too wide for it.
pub(crate) fn lines(state: &State, size: Size, theme: Theme) -> Vec<Line> {
    let Size { width, height: room } = size;
    let all = if state.has_help { help(width, theme) } else { picture(state, size, theme) };
    all.into_iter().take(room).map(|line| line.cut(width)).collect()
}

fn picture(state: &State, Size { width, height: room }: Size, theme: Theme) -> Vec<Line> {
    // Who, a line of totals and the keys come first; then the rows, the heads, and the rest.
    let (heads, foot) = (usize::from(room >= 8), usize::from(room >= 4));
    let (layers, said) = (usize::from(room >= 21), usize::from(room >= 10 && state.said.is_some()));
    let totals = if room >= 21 { 3 } else { usize::from(room >= 12) };
    let fixed = 1 + heads + foot + layers + said + totals;
    let rows = shown(room.saturating_sub(fixed));
    let mut lines = vec![who(state, width, theme)];
    if layers > 0 {
        lines.push(dim(&cut(&state.target.layers(), width), theme));
    }
    if heads > 0 {
        lines.push(head(state, width, theme));
    }
    lines.extend(rows.into_iter().map(|quantity| row(state, quantity, width, theme)));
    lines.extend(totals_lines(state, totals, width));
    while lines.len() + said + foot < room {
        lines.push(Line::default());
    }
    if said > 0 {
        lines.push(dim(&cut(state.said.as_deref().unwrap_or_default(), width), theme));
    }
    if foot > 0 {
        lines.push(keys(state, width, theme));
    }
    lines
}

/// As many quantities as there is room for, in their usual order.
fn shown(room: usize) -> Vec<Watched> {
    let kept = &BY_WORTH[..room.min(BY_WORTH.len())];
    Watched::ALL.into_iter().filter(|one| kept.contains(one)).collect()
}

/// The device, how long it has been watched, and whether the picture is held.
fn who(state: &State, width: usize, theme: Theme) -> Line {
    let mut time = clock(state.t_ns);
    if let Some(ns) = state.for_ns.filter(|_| width >= WIDE) {
        time = format!("{time} of {}", Nanos(ns));
    }
    let held = if state.is_paused { "held " } else { "" };
    let right = format!(" {held}{time}");
    let target = if width >= WIDE { state.target.describe() } else { state.target.name.clone() };
    let left = cut(&target, width.saturating_sub(right.chars().count()));
    let gap = width.saturating_sub(left.chars().count() + right.chars().count());
    let right_style = if state.is_paused { coloured(BOLD, Colour::Yellow, theme) } else { BOLD };
    Line::default().and(&format!("{left}{}", " ".repeat(gap)), BOLD).and(&right, right_style)
}

/// Columns of the line of blocks.
fn line_width(width: usize) -> usize {
    let figures = if width >= WIDE { 3 } else { 1 };
    let left = width.saturating_sub(NAME + figures * FIGURE + 2);
    if left < SHORTEST_LINE { 0 } else { left }
}

fn head(state: &State, width: usize, theme: Theme) -> Line {
    let figures: &[&str] = if width >= WIDE { &["now", "mean", "largest"] } else { &["now"] };
    let mut text = " ".repeat(NAME);
    text.extend(figures.iter().map(|figure| format!("{figure:>FIGURE$}")));
    let columns = line_width(width);
    if columns > 0 {
        let span = state.every_ns.saturating_mul(columns as u64);
        text.push_str(&format!("  {}", cut(&format!("last {}", Nanos(span)), columns)));
    }
    dim(&text, theme)
}

fn row(state: &State, quantity: Watched, width: usize, theme: Theme) -> Line {
    let text = |value: Option<f64>| {
        let text = value.map_or_else(|| "-".to_owned(), |value| quantity.text(value));
        format!("{text:>FIGURE$}")
    };
    let now = state.now(quantity);
    let is_bad = quantity == Watched::StealShare && now.is_some_and(|share| share > MUCH_STEAL);
    let now_style = if is_bad { coloured(BOLD, Colour::Red, theme) } else { BOLD };
    let name = Line::plain(format!("{:<NAME$}", quantity.title()));
    let mut line = name.and(&text(now), now_style);
    if width >= WIDE {
        let figures = text(state.mean(quantity)) + &text(state.max(quantity));
        line = line.and(&figures, Style::default());
    }
    let columns = line_width(width);
    if columns > 0 {
        let blocks = blocks(state, quantity, columns, theme);
        let style = coloured(Style::default(), colour(quantity), theme);
        line = line.and("  ", Style::default()).and(&blocks, style);
    }
    line
}

/// The last samples, the latest at the right end; the highest block is the largest value of those
/// shown, or all there can be. What is missing is a dot in the middle.
fn blocks(state: &State, quantity: Watched, columns: usize, theme: Theme) -> String {
    let (heights, missing) = if theme.blocks { (BLOCKS, '·') } else { (SIGNS, '?') };
    // A request that was not made has no time; that is no gap.
    let is_time = matches!(quantity, Watched::ReadLatencyNs | Watched::WriteLatencyNs);
    let missing = if is_time { heights[0] } else { missing };
    let values: Vec<Option<f64>> = state.last(quantity, columns).collect();
    let largest = values.iter().flatten().copied().fold(0.0, f64::max);
    let top = quantity.limit().unwrap_or(largest);
    let block = |value: &Option<f64>| match value {
        None => missing,
        Some(value) if *value <= 0.0 || top <= 0.0 => heights[0],
        // Anything that is not nothing is seen.
        Some(value) => heights[((value / top * 8.0).round() as usize).clamp(1, 8)],
    };
    let line: String = values.iter().map(block).collect();
    format!("{line:>columns$}")
}

fn colour(quantity: Watched) -> Colour {
    match quantity {
        Watched::ReadBytesPerS | Watched::ReadsPerS | Watched::ReadLatencyNs => Colour::Blue,
        Watched::WrittenBytesPerS | Watched::WritesPerS | Watched::WriteLatencyNs => Colour::Yellow,
        Watched::BusyShare | Watched::QueueDepth | Watched::FlushesPerS => Colour::Magenta,
        Watched::DirtyBytes | Watched::WritebackBytes => Colour::Cyan,
        Watched::UserShare | Watched::SystemShare => Colour::Green,
        Watched::IowaitShare | Watched::StealShare => Colour::Red,
    }
}

/// What it comes to since the start, in so many lines.
fn totals_lines(state: &State, lines: usize, width: usize) -> Vec<Line> {
    let counter = |name: &str| state.totals.get(&format!("device.{name}")).copied();
    let count = |name: &str| counter(name).map_or_else(|| "-".to_owned(), |n| n.to_string());
    let bytes = |name: &str| counter(name).map_or_else(|| "-".to_owned(), |n| Bytes(n).to_string());
    let read = format!("read {} in {} requests", bytes("read_bytes"), count("reads"));
    let written = format!("written {} in {} requests", bytes("written_bytes"), count("writes"));
    let rest = format!(
        "{} flushes, discarded {} in {} requests",
        count("flushes"),
        bytes("discarded_bytes"),
        count("discards")
    );
    let short = format!("since start: r {} w {}", bytes("read_bytes"), bytes("written_bytes"));
    let all = match lines {
        0 => vec![],
        1 => vec![if width >= WIDE { format!("since the start {read}, {written}") } else { short }],
        _ => vec![String::new(), format!("since the start {read}, {written}"), rest],
    };
    all.into_iter().map(|text| Line::plain(cut(&text, width))).collect()
}

fn keys(state: &State, width: usize, theme: Theme) -> Line {
    let own = state.own_share.map(|share| format!("watch itself {:.2} %", share * 100.0));
    let pause = if state.is_paused { "p go on" } else { "p hold" };
    let keys = format!("q end  {pause}  ? help");
    let (keys, own) = match own {
        Some(own) if width >= WIDE => {
            (format!("{keys}   {}", state.recorded), format!("{own} of one CPU core"))
        }
        Some(own) => (keys, own),
        None => (keys, String::new()),
    };
    let room = width.saturating_sub(keys.chars().count() + 1);
    let own = if own.chars().count() > room { String::new() } else { own };
    let gap = width.saturating_sub(keys.chars().count() + own.chars().count());
    dim(&cut(&format!("{keys}{}{own}", " ".repeat(gap)), width), theme)
}

fn dim(text: &str, theme: Theme) -> Line {
    Line::default().and(text, coloured(Style::default(), Colour::Gray, theme))
}

fn coloured(style: Style, colour: Colour, theme: Theme) -> Style {
    if theme.colour { Style { colour: Some(colour), ..style } } else { style }
}

/// At most so many columns, with an ellipsis where something was cut off.
fn cut(text: &str, width: usize) -> String {
    let clean = visible::one_line(text);
    if clean.chars().count() <= width {
        return clean.into_owned();
    }
    clean.chars().take(width.saturating_sub(1)).chain(['…']).take(width).collect()
}

/// What the keys and figures mean; the first lines are those that a small terminal has room for.
const HELP: [&str; 21] = [
    "q, Ctrl-C  end the watch; it is stored",
    "p, space   hold the picture; what is seen is recorded meanwhile",
    "?          this page; any key takes it away",
    "",
    "MB/s, reads/s, writes/s: requests completed since the sample before; MB are",
    "  10^6 bytes, MiB are 2^20.",
    "busy %: share of the time in which something was under way. A device that does",
    "  many requests at once is not at its limit at 100 %: see queue depth and times.",
    "queue depth: mean number of requests at the device.",
    "read ms, write ms: mean time of the requests completed; - where there was none.",
    "flushes/s: cache flushes (fsync, journals); of a partition they count at its",
    "  disk.",
    "dirty, writeback: memory of the whole machine that is still to be written.",
    "CPU: of the whole machine, 100 % is all CPUs. iowait is idle time in which",
    "  requests were awaited; steal is time that the hypervisor took.",
    "",
    "A - is a figure that could not be had, never zero; in a line of blocks a dot.",
    "The highest block is the largest value shown there, or 100 %.",
    "mean is of all the time since the start, largest is of the samples in it.",
    "",
    "fsarena doc watch says more.",
];

fn help(width: usize, theme: Theme) -> Vec<Line> {
    let (keys, rest) = HELP.split_at(3);
    let mut lines: Vec<Line> = keys.iter().map(|text| Line::plain(cut(text, width))).collect();
    lines.extend(rest.iter().map(|text| dim(&cut(text, width), theme)));
    lines
}

#[cfg(test)]
mod tests;
