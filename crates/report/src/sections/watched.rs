//! Watched intervals: what was seen of a device while another application used it, one alone and
//! two compared; and no verdict.

use crate::context::SectionContext;
use crate::format::{bytes, grouped, utc};
use crate::notes::{self, run_heading};
use crate::render;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::{MIN_WIDTH, Style, wrap};
use fsarena_model::run::RunHeader;
use fsarena_model::units::{Nanos, three_digits};
use fsarena_study::Study;
use fsarena_study::watched::{Interval, Over, Part, Watched, WatchedPair, interval};

const LEGEND: &str = "A mean is of the whole interval: what was counted ÷ its length, the time of all \
     requests ÷ their number, memory as long as it was so. p10, median, p90 and the largest are of \
     the stretches between two samples, each once, however long it is; times of requests are of \
     those stretches in which there was one. MB are 10^6 bytes, MiB are 2^20; 100 % of the CPU is \
     all CPUs.";

/// Its blocks; nothing where nothing was watched.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    if !context.run.is_watched() {
        return Section::none();
    }
    let records = context.run.records.iter();
    let all: Vec<Interval> =
        records.filter_map(|record| interval("", record, Part::default())).collect();
    let mut blocks = vec![Block::Note(
        "Watched and not measured: another application was at work, and nothing says what it did. \
         So there is nothing here to be compared, and no verdict."
            .to_owned(),
    )];
    if all.is_empty() {
        let text = "There are no figures: the watch has fewer than two samples.";
        blocks.push(Block::Missing(text.to_owned()));
    }
    blocks.extend(all.iter().flat_map(session));
    Section::new(blocks).legend(LEGEND)
}

/// What was seen in one interval.
fn session(own: &Interval) -> [Block; 3] {
    let stretches =
        format!("{} stretches of {}", grouped(own.stretches as u64), length(own.period_s));
    let facts = [
        ("Device", own.what.clone()),
        ("Watched for", length(own.to_s - own.from_s)),
        ("Samples", stretches),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).to_vec();
    [Block::Facts(facts), Block::Note(totals(own)), Block::Table(figures(own))]
}

/// Which RUN it is, what was seen, and what has to be said with it.
#[must_use]
pub fn watched_tables(
    header: &RunHeader,
    interval: Option<&Interval>,
    study: &Study,
    width: usize,
    style: Style,
) -> String {
    let blocks = match interval {
        None => {
            vec![Block::Note("There are no figures: it has fewer than two samples.".to_owned())]
        }
        Some(interval) => {
            let every = Nanos(header.plan.sample_period_ns);
            let title = format!("Watched {}, every {every}", describe(interval));
            let (table, totals) = (Block::Table(figures(interval)), Block::Note(totals(interval)));
            vec![Block::Heading(title), table, totals, Block::Note(LEGEND.to_owned())]
        }
    };
    let text = |section: &Section| render::text::section(section, width, style);
    let heading = run_heading(study, None, width, style);
    format!("{heading}\n{}\n{}", text(&Section::new(blocks)), text(&notes::section(study)))
}

/// Two intervals: means, medians and spreads, the ratio of the means, and why nothing is decided.
#[must_use]
pub fn watched_pair_tables(pair: &WatchedPair, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for (letter, interval) in [("A", &pair.a), ("B", &pair.b)] {
        let when = utc(interval.started_unix_ns);
        let text = format!("RUN {}, {when}: {}", interval.name, describe(interval));
        for line in wrap(&format!("{letter}  "), &text, width).lines() {
            out.push_str(&crate::text::bold(line, style.colour));
            out.push('\n');
        }
    }
    out.push('\n');
    out.push_str(&render::text::table(&two(pair), width));
    for (letter, interval) in [("A: ", &pair.a), ("B: ", &pair.b)] {
        out.push_str(&wrap(letter, &totals(interval), width));
    }
    out.push_str(&wrap("", LEGEND, width));
    out.push('\n');
    out.push_str(&wrap("", &format!("{}: {}.", pair.verdict.word(), pair.why), width));
    out
}

fn length(s: f64) -> String {
    match (s * 1e9).max(0.0).round() as u64 {
        0 => "0 s".to_owned(),
        ns => Nanos(ns).to_string(),
    }
}

/// `/dev/loop0, 64 MiB, ext4 at /mnt, from 0 s to 60 s, 60 stretches of 1 s`.
fn describe(interval: &Interval) -> String {
    format!(
        "{}, from {} to {}, {} stretches of {}",
        interval.what,
        length(interval.from_s),
        length(interval.to_s),
        grouped(interval.stretches as u64),
        length(interval.period_s)
    )
}

/// A figure over all stretches.
type Figure = fn(&Over) -> f64;

/// Of one interval; of two the first four.
const FIGURES: [(&str, Figure); 5] = [
    ("mean", |over| over.mean),
    ("p10", |over| over.p10),
    ("median", |over| over.median),
    ("p90", |over| over.p90),
    ("largest", |over| over.max),
];

fn cell(quantity: Watched, over: Option<Over>, figure: Figure) -> Cell {
    let value = over.as_ref().map(figure);
    Cell::maybe(value.map(|value| (quantity.text(value), value)))
}

fn figures(own: &Interval) -> Table {
    let mut heads = vec![Column::text("")];
    heads.extend(FIGURES.iter().map(|(head, _)| Column::figure(*head)));
    let caption = "What was seen, over all stretches between two samples";
    let mut table = Table::new(heads).caption(caption);
    for row in &own.rows {
        let cells = FIGURES.iter().map(|(_, figure)| cell(row.quantity, row.over, *figure));
        table.row(std::iter::once(row.quantity.title().into()).chain(cells));
    }
    table
}

fn two(pair: &WatchedPair) -> Table {
    let mut heads = vec![Column::text("")];
    for letter in ["A", "B"] {
        heads.extend(FIGURES[..4].iter().map(|(head, _)| {
            let priority = u8::from(*head == "p10");
            Column::figure(format!("{letter} {head}")).optional(priority)
        }));
    }
    heads.push(Column::figure("A ÷ B"));
    let mut table = Table::new(heads);
    let rows = pair.a.rows.iter().zip(&pair.b.rows).zip(&pair.ratios_of_means);
    for ((a, b), ratio) in rows {
        let of = |(quantity, over)| {
            FIGURES[..4].iter().map(move |(_, figure)| cell(quantity, over, *figure))
        };
        let mut cells = vec![Cell::text(a.quantity.title())];
        cells.extend([(a.quantity, a.over), (b.quantity, b.over)].into_iter().flat_map(of));
        cells.push(Cell::maybe(ratio.map(|ratio| (three_digits(ratio), ratio))));
        table.row(cells);
    }
    table
}

/// What it came to.
fn totals(interval: &Interval) -> String {
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
