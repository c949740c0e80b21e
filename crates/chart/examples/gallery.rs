//! Every kind of chart on one page, with plain and with awkward input: to look at after a change.
//!
//! `cargo run -p fsarena-chart --example gallery -- /tmp/gallery.html [dark]`; with `dark` the page
//! is dark whatever the system says.

use fsarena_chart::{
    Axis, Bar, Bars, Cell, Column, Columns, ColumnsOf, Curve, Curves, Group, Groups, Head, Heat,
    Key, Level, LevelCurve, LevelCurves, LevelPoint, Levels, Panel, PaperWidth, Part, Plot,
    PlotLine, Plots, Proof, Ratio, Ratios, STYLE, Segment, Span, Spot, Stack, Stacks, Standing,
    Svg, Trace, Traces,
};
use std::fmt::Write as _;

const LABELS: [&str; 9] = [
    "ext4",
    "xfs",
    "btrfs",
    "f2fs",
    "ext4 without a journal, 1 KiB blocks and a label that goes on",
    "bcachefs",
    "nilfs2",
    "jfs",
    "xfs, reflink=0",
];

fn head(id: &str, title: &str) -> Head {
    let (id, title) = (id.to_owned(), title.to_owned());
    let description = format!("{title}: a sample.");
    Head { id, name: Vec::new(), title, description }
}

fn key(hue: usize) -> Key {
    Key { label: LABELS.get(hue).map_or(format!("contender {hue}"), ToString::to_string), hue }
}

fn spot(value: f64) -> Spot {
    Spot { value, tip: format!("{value:.2} s") }
}

/// Something between 0 and 1 that looks like chance and is always the same.
fn wobble(seed: usize) -> f64 {
    let spread = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    spread as f64 / f64::from(1 << 24)
}

fn axis() -> Axis {
    Axis { title: "durable, s (less is better)".into(), log: false, unit: " s".into() }
}

fn bars(id: &str, count: usize, log: bool) -> Svg {
    let bar = |at: usize| {
        let value = 1.0 + 2.4 * wobble(at);
        let note = ["baseline", "FASTER", "SLOWER", "SAME", "UNDECIDED"][at % 5];
        Bar {
            key: key(at),
            value: Some(spot(value)),
            interval: Some((value * 0.94, value * (1.05 + wobble(at + 7) * 0.1))),
            points: (0..7)
                .map(|point| spot(value * (0.92 + 0.2 * wobble(at * 31 + point))))
                .collect(),
            note: note.into(),
        }
    };
    let mut bars: Vec<_> = (0..count).map(bar).collect();
    if let Some(bar) = bars.get_mut(3) {
        *bar = Bar { key: key(3), note: "not run: no mkfs.f2fs here".into(), ..Bar::default() };
    }
    if let Some(bar) = bars.get_mut(2) {
        bar.interval = Some((0.2, 400.0));
    }
    Bars { head: head(id, "Copying a ports tree"), axis: Axis { log, ..axis() }, bars }.draw()
}

fn groups() -> Svg {
    let part = |label: &str, hue, hatched, value: Option<f64>| Part {
        key: Key { label: label.into(), hue },
        hatched,
        value: value.map(spot),
    };
    let group = |at: usize, label: &str| Group {
        label: label.into(),
        parts: vec![
            part("2003, a disk of 5400/min", 7, true, Some(20.0 + 90.0 * wobble(at))),
            part("this machine", 0, false, (at != 2).then_some(3.0 + 20.0 * wobble(at + 9))),
        ],
    };
    let groups = ["ext2, copy of a tree", "ext3, copy of a tree", "reiserfs", "xfs"];
    let groups = groups.iter().enumerate().map(|(at, label)| group(at, label)).collect();
    Groups { head: head("groups", "Then and now"), axis: axis(), groups }.draw()
}

fn heat(id: &str, rows: usize, columns: usize) -> Svg {
    let names =
        ["ports tree, copy", "ports tree, delete", "maildir", "random read", "fsync", "untar"];
    let cell = |row: usize, column: usize| {
        let ratio = if row == 0 { 1.0 } else { 4f64.powf(wobble(row * 17 + column) * 2.0 - 1.0) };
        Cell {
            ratio: (wobble(row * 5 + column * 3) > 0.08 || row == 0).then(|| spot(ratio)),
            proof: [Proof::None, Proof::Same, Proof::Differs]
                [(wobble(row + column * 11) * 2.99) as usize],
            reference: row == 0,
        }
    };
    Heat {
        head: head(id, "Ratios of durable times"),
        columns: (0..columns).map(|at| names[at % 6].to_owned()).collect(),
        rows: (0..rows).map(key).collect(),
        cells: (0..rows)
            .map(|row| (0..columns).map(|column| cell(row, column)).collect())
            .collect(),
        legend: "time ÷ time of ext4: above 1 is slower".into(),
    }
    .draw()
}

fn ratios() -> Svg {
    let rows = [
        (1.0, None, "baseline"),
        (0.76, Some((0.72, 0.81)), "FASTER"),
        (1.01, Some((0.98, 1.035)), "SAME"),
        (1.31, Some((1.24, 1.38)), "SLOWER"),
        (1.12, Some((0.9, 40.0)), "UNDECIDED"),
    ];
    let mut rows: Vec<_> = rows
        .into_iter()
        .enumerate()
        .map(|(at, (ratio, interval, word))| Ratio {
            key: key(at),
            ratio: Some(spot(ratio)),
            interval,
            word: word.into(),
        })
        .collect();
    rows.push(Ratio { key: key(5), word: "not run".into(), ..Ratio::default() });
    let title = "time ÷ time of ext4 (less is better)".into();
    Ratios { head: head("ratios", "Ratios to ext4"), title, margin: 0.05, rows }.draw()
}

fn stacks() -> Svg {
    let stack = |at: usize| {
        let ends = [0.0, wobble(at) + 0.3, wobble(at) * 2.0 + 1.0, wobble(at) * 3.0 + 1.8];
        let names = ["returned", "durable", "drained"];
        let segment = |name: usize| Segment {
            name,
            from: ends[name],
            to: ends[name + 1],
            tip: format!("{} at {:.2} s", names[name], ends[name + 1]),
        };
        Stack {
            key: key(at),
            segments: (0..if at == 2 { 2 } else { 3 }).map(segment).collect(),
            note: if at == 2 { "not drained".into() } else { String::new() },
            ..Stack::default()
        }
    };
    let names = ["returned", "durable", "drained"].map(String::from).to_vec();
    let stacks = (0..5).map(stack).collect();
    let head = head("stacks", "Returned, durable, drained");
    Stacks { head, axis: axis(), names, stacks, ..Stacks::default() }.draw()
}

fn parts_of_a_sum() -> Svg {
    let names = ["data", "rounding", "gone", "again", "journal", "metadata", "unattributed"];
    let stack = |at: usize| {
        let mut end = 0.0;
        let segment = |name: usize| {
            let from = end;
            end += 0.1 + wobble(at * 9 + name) * if name == 1 { at as f64 } else { 0.4 };
            Segment { name, from, to: end, tip: format!("{} {:.2} GB", names[name], end - from) }
        };
        Stack {
            key: key(at),
            segments: (0..if at == 3 { 0 } else { 7 }).map(segment).collect(),
            held_against: (at != 3).then(|| spot(0.4)),
            note: if at == 3 { "SPOILT".into() } else { format!("{at}.2 × asked") },
        }
    };
    let axis = Axis { title: "written, GB a cycle".into(), log: false, unit: " GB".into() };
    let stacks = (0..5).map(stack).collect();
    let (head, against) = (head("parts", "Where the bytes went"), "asked for".to_owned());
    let names = names.map(String::from).to_vec();
    Stacks { head, axis, names, by_name: true, against, stacks }.draw()
}

fn level_curves(id: &str, contenders: usize) -> Svg {
    let texts = ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"];
    let point = |hue: usize, at: usize| {
        let value = 100.0 * (at + 1) as f64 * (0.8 + 0.4 * wobble(hue * 7 + at));
        LevelPoint { value: Some(spot(value)), interval: Some((value * 0.93, value * 1.08)) }
    };
    let curve = |hue| LevelCurve {
        key: key(hue),
        points: (0..texts.len()).map(|at| point(hue, at)).collect(),
    };
    let levels = texts.iter().enumerate();
    LevelCurves {
        head: head(id, "Rates by size of call"),
        axis: Axis { title: "randread, MiB/s (more is better)".into(), ..Axis::default() },
        parameter: "bs".into(),
        levels: levels.map(|(at, text)| (4096.0 * 4f64.powi(at as i32), (*text).into())).collect(),
        curves: (0..contenders).map(curve).collect(),
    }
    .draw()
}

fn levels(id: &str, hue: usize, count: u32) -> Svg {
    let value = |at: u32| 120.0 + 9.0 * f64::from(at.abs_diff(count / 2)).powi(2);
    let level = |at: u32| {
        let (value, own) = (value(at), f64::from(512_u32 << at));
        Level {
            at: own,
            label: own.to_string(),
            value: (at != 6).then(|| spot(value)),
            interval: Some((value * 0.95, value * 1.06)),
            standing: match at.abs_diff(count / 2) {
                0 => Standing::Best,
                1 => Standing::Same,
                _ => Standing::Other,
            },
        }
    };
    Levels {
        head: head(id, "Work time by size of block"),
        axis: Axis { title: "work time, s".into(), log: false, unit: " s".into() },
        option: "block_size".into(),
        hue,
        levels: (0..count).map(level).collect(),
        flat: Some((count as usize / 2 - 1, count as usize / 2 + 1)),
        same: "the same within 5 %".into(),
        ..Levels::default()
    }
    .draw()
}

fn columns(id: &str, panels: usize, count: usize) -> Svg {
    let column = |of: usize, at: usize| {
        let value = 150.0 * (1.0 + 0.2 * wobble(of * 7 + at)) * if at % 3 == 2 { 1.9 } else { 1.0 };
        Column {
            label: (at + 1).to_string(),
            value: Some(spot(value)),
            range: Some((value * 0.93, value * 1.08)),
            pale: at % 3 == 2,
        }
    };
    let panel = |of: usize| ColumnsOf {
        key: key(of),
        columns: (0..count).map(|at| column(of, at)).collect(),
    };
    Columns {
        head: head(id, "Work of each cycle"),
        axis: Axis { title: "work time, s".into(), log: false, unit: " s".into() },
        limit: Some((300.0, "period".into())),
        names: ["alone", "with a second load"].map(String::from),
        panels: (0..panels).map(panel).collect(),
    }
    .draw()
}

fn curves() -> Svg {
    let curve = |at: usize| {
        let point = |step: i32| {
            let nines = f64::from(step) / 20.0;
            let ns = 4e3 * (1.0 + wobble(at)) * (nines * (1.2 + wobble(at + 40))).exp();
            (1.0 - 10f64.powf(-nines), ns)
        };
        Curve { key: key(at), points: (0..=90).map(point).collect(), tip: "half 12 µs".into() }
    };
    let title = "latency of a read (further left is better)".into();
    Curves { head: head("curves", "Latencies"), title, curves: (0..6).map(curve).collect() }.draw()
}

fn plots() -> Svg {
    let line = |at: usize| PlotLine {
        key: key(at),
        points: (0..=40).map(|x| (f64::from(x), 9.0 + f64::from(x).sqrt() * at as f64)).collect(),
        tip: "a line".into(),
    };
    let sizes = (2..14).map(|power| f64::from(1 << power));
    let size = PlotLine { points: sizes.clone().map(|at| (at, at / 99.0)).collect(), ..line(4) };
    let log = |title| Axis { log: true, ..Axis::linear(title, "") };
    Plots {
        head: head("plots", "Plots"),
        plots: vec![
            Plot {
                title: "A time over a distance".into(),
                along: Axis::linear("distance, %", ""),
                upright: Axis::linear("time, ms", ""),
                lines: (0..4).map(line).collect(),
                ..Plot::default()
            },
            Plot {
                title: "A rate over a size".into(),
                along: log("size, KiB"),
                ticks: sizes.step_by(2).map(|at| (at, at.to_string())).collect(),
                upright: log("rate, MB/s"),
                lines: vec![size],
            },
        ],
        latencies: None,
    }
    .draw()
}

fn traces() -> Svg {
    let trace = |label: &str, hue: usize, high: f64| {
        let value =
            |at: usize| high * (0.5 + 0.5 * wobble(at * (hue + 2))) * f64::from(at % 400 > 60);
        let point = |at| (at as f64 * 0.1, (at % 700 > 15).then(|| value(at)));
        Trace { label: label.into(), hue, points: (0..1200).map(point).collect() }
    };
    let panel = |title: &str, traces| Panel { title: title.into(), traces };
    let span = |label: &str, from_s, to_s| Span { label: label.into(), from_s, to_s };
    Traces {
        head: head("traces", "A trial over time"),
        panels: vec![
            panel("device, MB/s", vec![trace("read", 0, 180.0), trace("written", 1, 320.0)]),
            panel("busy, %", vec![trace("", 0, 100.0)]),
            panel("dirty memory, MiB", vec![trace("", 2, 900.0)]),
        ],
        spans: vec![
            span("prepare", 0.0, 30.0),
            span("copy", 30.0, 78.0),
            span("settle and wait for the device", 78.0, 82.0),
            span("read", 82.0, 120.0),
        ],
    }
    .draw()
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "gallery.html".to_owned());
    let style = match arguments.next().as_deref() {
        Some("dark") => STYLE.replace("screen and (prefers-color-scheme: dark)", "screen"),
        _ => STYLE.to_owned(),
    };
    let charts = [
        bars("bars", 6, false),
        bars("bars-log", 6, true),
        ratios(),
        groups(),
        stacks(),
        parts_of_a_sum(),
        level_curves("level-curves", 2),
        level_curves("level-curves-many", 9),
        levels("levels", 0, 8),
        levels("levels-few", 1, 3),
        columns("columns", 5, 3),
        columns("columns-many", 2, 24),
        curves(),
        heat("heat", 5, 4),
        heat("heat-wide", 9, 14),
        plots(),
        traces(),
        bars("bars-many", 30, false),
        Bars { head: head("empty", "Nothing"), ..Bars::default() }.draw(),
    ];
    let mut page = format!(
        "<!DOCTYPE html><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <style>{style} body{{background:var(--chart-paper);color:var(--chart-ink);\
         font:14px system-ui,sans-serif;display:flex;flex-wrap:wrap;gap:24px;margin:16px}}\
         figure{{margin:0;width:440px;max-width:100%}}</style>"
    );
    for chart in &charts {
        write!(page, "<figure><figcaption>{}</figcaption>{}</figure>", chart.title, chart.inline)
            .expect("writing to a String does not fail");
        if let Some(directory) = std::path::Path::new(&path).parent() {
            let file = chart.file(PaperWidth::default());
            std::fs::write(directory.join(format!("{}.svg", chart.id)), file)?;
        }
    }
    std::fs::write(path, page)
}
