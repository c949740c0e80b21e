//! What the keys and the figures mean, on one page.

use super::{Looks, cut, dim, put};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// The page; the first lines are those that a small terminal has room for.
const TEXT: [&str; 21] = [
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
    "CPU: of the whole machine, 100 % is all processors. iowait is idle time in which",
    "  requests were awaited; steal is time that the hypervisor took.",
    "",
    "A - is a figure that could not be had, never zero; in a line of blocks a dot.",
    "The highest block is the largest value shown there, or 100 %.",
    "mean is of all the time since the start, largest is of the samples in it.",
    "",
    "fsarena doc watch says more.",
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, looks: Looks) {
    let width = usize::from(area.width);
    let (keys, rest) = TEXT.split_at(3);
    let mut lines: Vec<Line<'_>> = keys.iter().map(|text| Line::raw(cut(text, width))).collect();
    lines.extend(rest.iter().map(|text| dim(&cut(text, width), looks)));
    put(frame, area, lines);
}
