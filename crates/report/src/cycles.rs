//! Cycles of a periodic application: a row a contender, a row a cycle, what a second load did, and
//! what came of the periods.

use crate::footnotes::Footnotes;
use crate::format::{bare_seconds, count, digits, grouped, ns};
use crate::labels::BESIDE;
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::{bold, wrap};
use fsarena_model::cycle::{Cycle, Load, UpdateKind};
use fsarena_model::units::{Bytes, Nanos, three_digits};
use fsarena_study::cycles::{DisturberView, Factor, LATE_SHARE, WorstOp};
use fsarena_study::{CycleFigures, CyclesRow, CyclesView, SpreadF, SpreadNs, Study};

/// All phases of cycles of a RUN; empty where there are none.
#[must_use]
pub fn cycles_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for view in study.cycles.iter().filter(|view| !view.rows.is_empty()) {
        for line in wrap("", &cycles_title(view), width).lines() {
            out.push_str(&format!("{}\n", bold(line, style.colour)));
        }
        let mut footnotes = Footnotes::default();
        out.push_str(&summary(view, &mut footnotes).render(width));
        out.push_str(&footnotes.render(width));
        let effects = effects(view);
        if !effects.is_empty() {
            out.push('\n');
            out.push_str(&effects.render(width));
        }
        out.push('\n');
        out.push_str(&each(view).render(width));
        for line in cycles_lines(view) {
            out.push_str(&wrap("- ", &line, width));
        }
        out.push('\n');
    }
    if !out.is_empty() {
        out.push_str(&wrap("", LEGEND, width));
    }
    out
}

/// What stands below tables of cycles.
pub const LEGEND: &str = "Cycles: lengths from the start of a cycle; of a contender the median over trials, each by the \
     mean of its cycles; disturbed cycles stand apart, and one that met the load of another is in neither row. quiet: the device had nothing to do for the \
     stated time. worst: the longest update of a file. device: written to it in a period; \
     MB = 10^6 bytes. busy: share of the period in which it had something to do; depth: requests under way, mean \
     over the period; latency: mean time of a write request. Factors: disturbed cycles to the \
     plain ones of the same trials (worst: means of each cycle's worst), with a 95 % interval from \
     three trials on.";

/// `periodic / cycle: 3 cycles of 5m00s, 40,000 files each; overrun overlap; …`.
#[must_use]
pub fn cycles_title(view: &CyclesView) -> String {
    let Cycle { cycles, period_ns, overrun, updates, disturb, .. } = &view.cycle;
    let mut text = format!(
        "{} / {}: {} of {}, {} files each; work that outlasts a period: {}",
        view.workload,
        view.phase,
        count(*cycles as usize, "cycle"),
        Nanos(*period_ns),
        grouped(*updates),
        overrun.name()
    );
    if let Some(disturb) = disturb {
        let numbers: Vec<String> = disturb.cycles.iter().map(u32::to_string).collect();
        let when = match numbers.as_slice() {
            [] => "all cycles".to_owned(),
            [one] => format!("cycle {one}"),
            _ => format!("cycles {}", numbers.join(", ")),
        };
        text.push_str(&format!("; second load in {when}: {}", load(disturb.load)));
    }
    text
}

/// A second load in words.
#[must_use]
pub fn load(load: Load) -> String {
    let rate = |bytes: u64| match bytes {
        0 => "as fast as it goes".to_owned(),
        bytes => format!("{}/s", Bytes(bytes)),
    };
    match load {
        Load::Create { files, size_bytes, rate } => {
            let rate = match rate {
                0 => "as fast as it goes".to_owned(),
                rate => format!("{}/s", grouped(rate)),
            };
            format!("{} files of {} made, {rate}", grouped(files), Bytes(size_bytes))
        }
        Load::Write { size_bytes, rate_bytes, .. } => {
            format!("one file of {} written, {}", Bytes(size_bytes), rate(rate_bytes))
        }
        Load::Read { size_bytes, rate_bytes, .. } => {
            format!("one file of {} read, {}", Bytes(size_bytes), rate(rate_bytes))
        }
    }
}

/// The columns of figures, in the order of [`figures`].
const COLUMNS: [(&str, Kind); 13] = [
    ("work", Kind::Figure),
    ("durable", Kind::Figure),
    ("quiet", Kind::Optional(2)),
    ("worst", Kind::Optional(1)),
    ("asked MB", Kind::Optional(8)),
    ("device MB", Kind::Figure),
    ("MB/s", Kind::Figure),
    ("busy", Kind::Figure),
    ("depth", Kind::Optional(3)),
    ("latency", Kind::Optional(4)),
    ("writes", Kind::Optional(6)),
    ("flushes", Kind::Optional(7)),
    ("swap in/out", Kind::Optional(5)),
];

fn grid_of(first: &[(&str, Kind)]) -> Grid {
    let columns: Vec<(&str, Kind)> = first.iter().chain(&COLUMNS).copied().collect();
    Grid::new(&columns)
}

/// One row a contender; a second one for its disturbed cycles.
pub(crate) fn summary(view: &CyclesView, footnotes: &mut Footnotes) -> Grid {
    let mut grid = grid_of(&[("file system", Kind::Text)]);
    for row in &view.rows {
        let both = [(&row.plain, ""), (&row.disturbed, ", disturbed")];
        for (figures, what) in both {
            let Some(found) = figures else { continue };
            let label = footnotes.annotate(format!("{}{what}", row.label), notes(found));
            grid.row(std::iter::once(label).chain(cells(found)).collect());
        }
    }
    grid
}

/// One row a cycle.
pub(crate) fn each(view: &CyclesView) -> Grid {
    let mut grid = grid_of(&[("file system", Kind::Text), ("cycle", Kind::Figure)]);
    for row in &view.rows {
        for cycle in &row.cycles {
            let what = match (cycle.disturbed, cycle.met_load) {
                (true, _) => ", disturbed".to_owned(),
                (false, 0) => String::new(),
                (false, met) if met == cycle.figures.cycles => {
                    ", met the load of another".to_owned()
                }
                (false, met) => {
                    format!(", {met} of {} met the load of another", cycle.figures.cycles)
                }
            };
            let head = [format!("{}{what}", row.label), cycle.number.to_string()];
            grid.row(head.into_iter().chain(cells(&cycle.figures)).collect());
        }
    }
    grid
}

fn notes(figures: &CycleFigures) -> Vec<String> {
    let missed = (figures.not_quiet > 0).then(|| {
        format!(
            "not quiet in the period of {} of {}",
            figures.not_quiet,
            count(figures.cycles, "cycle")
        )
    });
    let beside = (figures.beside > 0).then(|| BESIDE.to_owned());
    missed.into_iter().chain(beside).collect()
}

fn cells(figures: &CycleFigures) -> Vec<String> {
    let length = |spread: Option<SpreadNs>| or_dash(spread.map(|s| length(s.median_ns)));
    let median = |spread: Option<SpreadF>| spread.map(|spread| spread.median);
    let size = |spread| or_dash(median(spread).map(|value| digits(value / 1e6)));
    let number = |spread| or_dash(median(spread).map(digits));
    let swap = match (median(figures.swap_in_bytes), median(figures.swap_out_bytes)) {
        (Some(a), Some(b)) if a + b > 0.0 => {
            format!("{}/{}", Bytes(a.round() as u64), Bytes(b.round() as u64))
        }
        (None, None) => "-".to_owned(),
        _ => "0".to_owned(),
    };
    vec![
        length(figures.work),
        length(figures.durable),
        length(figures.quiet),
        or_dash(figures.worst.map(|worst| Nanos(worst.worst_ns).to_string())),
        size(figures.asked_bytes),
        size(figures.written_bytes),
        or_dash(median(figures.written_bytes_per_s).map(|per_s| three_digits(per_s / 1e6))),
        or_dash(median(figures.busy_share).map(percent)),
        number(figures.queue_depth),
        ns(median(figures.write_latency_ns).map(|value| value.round() as u64)),
        number(figures.writes),
        number(figures.flushes),
        swap,
    ]
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// A length; from a minute on in seconds alone, so that three digits are left to compare.
fn length(length_ns: u64) -> String {
    match length_ns {
        0..60_000_000_000 => Nanos(length_ns).to_string(),
        _ => format!("{} s", bare_seconds(length_ns)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What the second load did to the cycles, and what it got.
pub(crate) fn effects(view: &CyclesView) -> Grid {
    let mut grid = Grid::new(&[
        ("disturbed ÷ other cycles", Kind::Text),
        ("work", Kind::Figure),
        ("busy", Kind::Figure),
        ("worst", Kind::Optional(2)),
        ("written", Kind::Optional(3)),
        ("load asked", Kind::Narrow),
        ("load got", Kind::Narrow),
        ("its worst", Kind::Optional(1)),
    ]);
    for row in &view.rows {
        let Some(got) = &row.disturber else { continue };
        let effect = row.effect.as_ref();
        let of = |factor: Option<Factor>| factor.map_or_else(|| "-".to_owned(), factor_text);
        let per_s = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{}/s", digits(value)))
        };
        grid.row(vec![
            row.label.clone(),
            of(effect.and_then(|effect| effect.work)),
            of(effect.and_then(|effect| effect.busy)),
            of(effect.and_then(|effect| effect.worst)),
            of(effect.and_then(|effect| effect.written)),
            got.asked_ops_per_s.map_or_else(|| "no limit".to_owned(), |value| per_s(Some(value))),
            per_s(got.ops_per_s.map(|spread| spread.median)),
            ns(Some(got.worst_ns)),
        ]);
    }
    grid
}

/// `2.02 [1.96, 2.08]`.
#[must_use]
pub fn factor_text(factor: Factor) -> String {
    match factor.low.zip(factor.high) {
        Some((low, high)) => format!("{:.2} [{low:.2}, {high:.2}]", factor.factor),
        None => format!("{:.2}", factor.factor),
    }
}

/// Worst stalls, overruns and second loads in sentences, a line each.
#[must_use]
pub fn cycles_lines(view: &CyclesView) -> Vec<String> {
    view.rows
        .iter()
        .flat_map(|row| {
            let all =
                [worst(row), met_load(row), overruns(row), row.disturber.as_ref().and_then(behind)];
            all.into_iter().flatten().map(|text| format!("{}: {text}", row.label))
        })
        .collect()
}

fn worst(row: &CyclesRow) -> Option<String> {
    let of = |figures: &Option<CycleFigures>| figures.as_ref().and_then(|found| found.worst);
    let words = |worst: WorstOp, what: &str| {
        let kind = worst.kind.map_or("an update", UpdateKind::name);
        let length = Nanos(worst.worst_ns);
        format!("{what}worst stall {length} ({kind}, in cycle {})", worst.number)
    };
    let plain = of(&row.plain).map(|worst| words(worst, ""));
    let disturbed = of(&row.disturbed).map(|worst| words(worst, "disturbed, "));
    let all: Vec<String> = plain.into_iter().chain(disturbed).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// That undisturbed cycles were none.
fn met_load(row: &CyclesRow) -> Option<String> {
    let met = row.met_load;
    (met > 0).then(|| {
        format!(
            "{} met the load of another: left out of the plain ones, but in a trial in which all \
             of them did",
            count(met, "cycle")
        )
    })
}

fn overruns(row: &CyclesRow) -> Option<String> {
    let found = &row.overruns;
    let said = [
        (found.outlasted, "outlasted their period".to_owned()),
        (found.overlapped, "began while another was at work".to_owned()),
        (found.skipped, "starts were left out".to_owned()),
        (
            found.late,
            format!(
                "began more than {} % of a period late, the latest by {}",
                LATE_SHARE * 100.0,
                Nanos(found.latest_ns)
            ),
        ),
    ];
    let mut said: Vec<String> = said
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if found.collisions > 0 {
        let files = grouped(found.collisions);
        said.push(format!("{files} updates met another cycle's work on the same file"));
    }
    if found.overlapped > 0 {
        said.push(BESIDE.to_owned());
    }
    let of = count(found.begun, "cycle");
    (!said.is_empty()).then(|| format!("overruns, of {of}: {}", said.join("; ")))
}

/// That a second load did not get what it asked for.
fn behind(got: &DisturberView) -> Option<String> {
    let mut said = Vec::new();
    if got.late_ns > 0 {
        said.push(format!("its last op was up to {} behind its rate", Nanos(got.late_ns)));
    }
    if got.failed > 0 {
        let cycles = count(got.failed, "cycle");
        said.push(format!("it ended early in {cycles}: {}", got.errors.join("; ")));
    }
    (!said.is_empty()).then(|| format!("the second load: {}", said.join("; ")))
}
