//! Watched intervals as tables: one alone, and two beside each other.

use crate::format::{bytes, grouped, utc};
use crate::notes::{closing_notes, heading};
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::{bold, wrap};
use fsarena_model::run::RunHeader;
use fsarena_model::units::{Nanos, three_digits};
use fsarena_study::Study;
use fsarena_study::watched::{Interval, Over, Watched, WatchedPair};

/// What stands below every table of a watch.
const LEGEND: &str = "A mean is of the whole interval: what was counted ÷ its length, the time of all requests ÷ their \
     number, memory as long as it was so. p10, median, p90 and the largest are of the stretches \
     between two samples, each once, however long it is; times of requests are of those stretches \
     in which there was one. MB are 10^6 bytes, MiB are 2^20; 100 % of the CPU is all processors.";

/// Which RUN it is, what was seen, and what has to be said with it.
#[must_use]
pub fn watched_tables(
    header: &RunHeader,
    interval: Option<&Interval>,
    study: &Study,
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = heading(study, width, style);
    out.push('\n');
    match interval {
        None => {
            let text = "There are no figures: it has fewer than two samples.";
            out.push_str(&wrap("", text, width));
        }
        Some(interval) => {
            let every = Nanos(header.plan.sample_period_ns);
            let text = format!("Watched {}, every {every}", words(interval));
            for line in wrap("", &text, width).lines() {
                out.push_str(&bold(line, style.colour));
                out.push('\n');
            }
            out.push_str(&one(interval).render(width));
            out.push_str(&wrap("", &totals(interval), width));
            out.push_str(&wrap("", LEGEND, width));
        }
    }
    out.push('\n');
    out.push_str(&closing_notes(study, width, style));
    out
}

/// Two intervals: means, medians and spreads, the ratio of the means, and why nothing is decided.
#[must_use]
pub fn watched_pair_tables(pair: &WatchedPair, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for (letter, interval) in [("A", &pair.a), ("B", &pair.b)] {
        let text = format!("RUN {}, {}: {}", interval.name, when(interval), words(interval));
        for line in wrap(&format!("{letter}  "), &text, width).lines() {
            out.push_str(&bold(line, style.colour));
            out.push('\n');
        }
    }
    out.push('\n');
    out.push_str(&two(pair).render(width));
    for (letter, interval) in [("A: ", &pair.a), ("B: ", &pair.b)] {
        out.push_str(&wrap(letter, &totals(interval), width));
    }
    out.push_str(&wrap("", LEGEND, width));
    out.push('\n');
    out.push_str(&wrap("", &format!("{}: {}.", pair.verdict.word(), pair.why), width));
    out
}

/// `2026-11-22 17:30 UTC`.
fn when(interval: &Interval) -> String {
    utc(interval.started_unix_ns)
}

/// `/dev/loop0, 64 MiB, ext4 at /mnt, from 0 s to 60 s, 60 stretches of 1 s`.
fn words(interval: &Interval) -> String {
    let time = |s: f64| match (s * 1e9).max(0.0) as u64 {
        0 => "0 s".to_owned(),
        ns => Nanos(ns).to_string(),
    };
    format!(
        "{}, from {} to {}, {} stretches of {}",
        interval.what,
        time(interval.from_s),
        time(interval.to_s),
        grouped(interval.stretches as u64),
        time(interval.period_s)
    )
}

fn text(quantity: Watched, over: Option<Over>, of: impl Fn(Over) -> f64) -> String {
    over.map_or_else(|| "-".to_owned(), |over| quantity.text(of(over)))
}

fn one(interval: &Interval) -> Grid {
    let mut grid = Grid::new(&[
        ("", Kind::Text),
        ("mean", Kind::Figure),
        ("p10", Kind::Figure),
        ("median", Kind::Figure),
        ("p90", Kind::Figure),
        ("largest", Kind::Figure),
    ]);
    for row in &interval.rows {
        let cell = |of: fn(Over) -> f64| text(row.quantity, row.over, of);
        grid.row(vec![
            row.quantity.title().to_owned(),
            cell(|over| over.mean),
            cell(|over| over.p10),
            cell(|over| over.median),
            cell(|over| over.p90),
            cell(|over| over.max),
        ]);
    }
    grid
}

fn two(pair: &WatchedPair) -> Grid {
    let mut grid = Grid::new(&[
        ("", Kind::Text),
        ("A mean", Kind::Figure),
        ("A p10", Kind::Optional(1)),
        ("A median", Kind::Figure),
        ("A p90", Kind::Figure),
        ("B mean", Kind::Figure),
        ("B p10", Kind::Optional(1)),
        ("B median", Kind::Figure),
        ("B p90", Kind::Figure),
        ("A ÷ B", Kind::Figure),
    ]);
    let rows = pair.a.rows.iter().zip(&pair.b.rows).zip(&pair.ratios_of_means);
    for ((a, b), ratio) in rows {
        let mut cells = vec![a.quantity.title().to_owned()];
        for row in [a, b] {
            let cell = |of: fn(Over) -> f64| text(row.quantity, row.over, of);
            cells.extend([
                cell(|over| over.mean),
                cell(|over| over.p10),
                cell(|over| over.median),
                cell(|over| over.p90),
            ]);
        }
        cells.push(ratio.map_or_else(|| "-".to_owned(), three_digits));
        grid.row(cells);
    }
    grid
}

/// What it came to.
pub fn totals(interval: &Interval) -> String {
    let of = |name: &str| interval.totals.get(name).copied();
    let count = |name: &str| of(name).map_or_else(|| "-".to_owned(), grouped);
    format!(
        "In all: read {} in {} requests, written {} in {}, {} flushes, discarded {}.",
        bytes(of("read_bytes")),
        count("reads"),
        bytes(of("written_bytes")),
        count("writes"),
        count("flushes"),
        bytes(of("discarded_bytes"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_study::watched::{WatchedRow, side_by_side};

    fn interval(name: &str, factor: f64) -> Interval {
        let row = |(at, quantity): (usize, Watched)| {
            let mean = factor * (at + 1) as f64 * 1e-2;
            let mean = if quantity.limit().is_some() { mean } else { mean * 1e9 };
            let (p10, median, p90, max) = (mean * 0.5, mean, mean * 1.5, mean * 2.0);
            let over = Over { n: 9, mean, p10, median, p90, max };
            WatchedRow { quantity, over: (at != 6).then_some(over) }
        };
        Interval {
            name: name.to_owned(),
            what: "/dev/loop0, 64 MiB, ext4 at /mnt".to_owned(),
            started_unix_ns: 1_795_368_000_000_000_000,
            from_s: 0.0,
            to_s: 9.0,
            period_s: 1.0,
            stretches: 9,
            totals: [("written_bytes".to_owned(), 1 << 30), ("writes".to_owned(), 12_345)].into(),
            rows: Watched::ALL.into_iter().enumerate().map(row).collect(),
        }
    }

    #[test]
    fn two_watches_beside_each_other_decide_nothing() {
        let pair = side_by_side(interval("1", 2.0), interval("2@1m-2m", 1.0));
        let text = watched_pair_tables(&pair, 120, Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        assert!(text.contains("A  RUN 1, 2026-11-22 17:20 UTC: /dev/loop0, 64 MiB"), "{text}");
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
        let words: Vec<&str> = row("write MB/s").split_whitespace().collect();
        let values = ["40.0", "20.0", "40.0", "60.0", "20.0", "10.0", "20.0", "30.0", "2.00"];
        assert_eq!(words[2..], values, "{text}");
        assert!(row("read ms").ends_with(" -"), "{text}");
        assert!(
            text.contains("B: In all: read - in - requests, written 1 GiB in 12,345"),
            "{text}"
        );
        assert!(text.contains("UNDECIDED: there is one interval a side."), "{text}");
    }
}
