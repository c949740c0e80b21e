//! Cycles of a periodic application: a row a contender, a row a cycle, what a second load did, and
//! what came of the periods.

use crate::context::SectionContext;
use crate::format::{bare_seconds, count, digits, grouped, ns, three};
use crate::io_summary::describe_load;
use crate::labels::OVERLAPPED;
use crate::pictures::{Unit, ends, file_name, key, phase_id_of};
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use fsarena_chart::{self as chart, Columns, ColumnsOf, Head, Spot};
use fsarena_model::cycle::{Cycle, UpdateKind};
use fsarena_model::units::{Bytes, Nanos};
use fsarena_study::cycles::{CycleRow, DisturberView, Factor, INTERVAL_FROM, LATE_SHARE, WorstOp};
use fsarena_study::{CycleFigures, CyclesRow, CyclesView, SpreadF, SpreadNs};

/// Cycles of all contenders that a page shows one by one, so that it can still be mailed.
const MOST_CYCLES: usize = 480;

/// Contenders of which sentences are open on a page.
const OPEN_CONTENDERS: usize = 4;

const LEGEND: &str = "Cycles: lengths from the start of a cycle; of a contender the median over \
     trials, each by the mean of its cycles; disturbed cycles have a row of their own, and one that \
     met the load of another is in neither row. quiet: the device had nothing to do for the stated \
     time. worst stall: the longest update of a file. device wrote: in a period; MB = 10^6 bytes. \
     busy: share of the period in which it had something to do; depth: requests under way, mean \
     over the period; latency: mean time of a write request. Overruns are of all cycles of a \
     contender. Factors: disturbed cycles to the plain ones of the same trials (worst: means of \
     each cycle's worst), with a 95 % interval from three trials on, and ? before.";
const CAPTION: &str = "Work time of each cycle, medians over trials with the least and the most; all \
                       panels by one scale. Hatched: a second load was at work. Work above the \
                       dotted line outlasts the period.";

/// Its blocks; nothing where a RUN has no cycles.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let views = context.run.study.cycles.iter().filter(|view| !view.rows.is_empty());
    let blocks: Vec<Block> = views.flat_map(|view| phase(context, view)).collect();
    if blocks.is_empty() { Section::none() } else { Section::new(blocks).legend(LEGEND) }
}

/// The contenders whose cycles a page shows one by one, and the others.
fn shown(view: &CyclesView) -> (&[CyclesRow], &[CyclesRow]) {
    let mut cycles = 0;
    let fits = |row: &&CyclesRow| {
        cycles += row.cycles.len();
        cycles <= MOST_CYCLES
    };
    let count = view.rows.iter().take_while(fits).count().max(1);
    view.rows.split_at(count.min(view.rows.len()))
}

fn phase(context: &SectionContext<'_>, view: &CyclesView) -> Vec<Block> {
    let (drawn, left_out) =
        if context.has_charts { shown(view) } else { (&view.rows[..], &[][..]) };
    let chart = || vec![(cycles(context, view, drawn).draw(), CAPTION.to_owned())];
    let mut blocks = vec![Block::Heading(title(view))];
    blocks.extend(context.charts(chart));
    if !left_out.is_empty() {
        blocks.push(Block::Note(format!(
            "Not shown one by one, to keep the page small: the cycles of {}. They are in the \
             database.",
            count(left_out.len(), "further contender")
        )));
    }
    let words = view.rows.iter().flat_map(sentences).collect();
    blocks.push(Block::Table(figures(view)));
    blocks.push(sentences_block("Worst stalls, overruns and second loads in words", view, words));
    let effects = effects(view);
    if !effects.is_empty() {
        let words = view.rows.iter().filter_map(effect_sentence).collect();
        blocks.push(sentences_block("What the second load did, in words", view, words));
        blocks.push(Block::Table(effects));
    }
    blocks.push(Block::Fold("Every cycle".to_owned(), vec![Block::Table(each(drawn, view))]));
    blocks
}

/// Sentences on each contender; folded where there are many.
fn sentences_block(summary: &str, view: &CyclesView, lines: Vec<String>) -> Block {
    let is_long = view.rows.len() > OPEN_CONTENDERS && !lines.is_empty();
    let list = Block::List(None, lines);
    if is_long { Block::Fold(summary.to_owned(), vec![list]) } else { list }
}

/// `periodic / cycle: 3 cycles of 5m00s, 40,000 files each; overrun overlap; …`.
fn title(view: &CyclesView) -> String {
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
        text.push_str(&format!("; second load in {when}: {}", describe_load(disturb.load)));
    }
    text
}

/// A figure of a cycle as a column has it.
type Figure = fn(&CycleFigures) -> Option<(String, f64)>;

/// Heading, unit, and when it is left out where there is no room.
const FIGURES: [(&str, &str, u8, Figure); 13] = [
    ("work", "", 0, |f| length(f.work)),
    ("durable", "", 0, |f| length(f.durable)),
    ("quiet", "", 2, |f| length(f.quiet)),
    ("worst stall", "", 1, |f| {
        let worst_ns = f.worst?.worst_ns;
        Some((ns(Some(worst_ns)), worst_ns as f64))
    }),
    ("asked", "MB", 8, |f| mb(f.asked_bytes)),
    ("device wrote", "MB", 0, |f| mb(f.written_bytes)),
    ("written", "MB/s", 0, |f| mb(f.written_bytes_per_s)),
    ("busy", "", 0, |f| {
        let percent = f.busy_share?.median * 100.0;
        Some((format!("{percent:.1} %"), percent))
    }),
    ("depth", "", 3, |f| number(f.queue_depth)),
    ("latency", "", 4, |f| {
        let own = f.write_latency_ns?.median;
        Some((ns(Some(own.round() as u64)), own))
    }),
    ("writes", "", 6, |f| number(f.writes)),
    ("flushes", "", 7, |f| number(f.flushes)),
    ("swap in/out", "", 5, |f| {
        let [a, b] = [f.swap_in_bytes, f.swap_out_bytes].map(|spread| spread.map(|s| s.median));
        let (a, b) = if a.is_none() && b.is_none() { return None } else { (a?, b?) };
        let text = match a + b {
            0.0 => "0".to_owned(),
            _ => format!("{}/{}", Bytes(a.round() as u64), Bytes(b.round() as u64)),
        };
        Some((text, a + b))
    }),
];

/// A length; from a minute on in seconds alone, so that three digits are left to compare.
fn length(spread: Option<SpreadNs>) -> Option<(String, f64)> {
    let own_ns = spread?.median_ns;
    let text = match own_ns {
        0..60_000_000_000 => Nanos(own_ns).to_string(),
        _ => format!("{} s", bare_seconds(own_ns)),
    };
    Some((text, own_ns as f64))
}

fn mb(spread: Option<SpreadF>) -> Option<(String, f64)> {
    let own = spread?.median / 1e6;
    Some((three(own), own))
}

fn number(spread: Option<SpreadF>) -> Option<(String, f64)> {
    let own = spread?.median;
    Some((digits(own), own))
}

/// The columns of figures, behind those that name a row.
fn columns(first: Vec<Column>) -> Vec<Column> {
    let column = |&(head, unit, rank, _): &(&str, &str, u8, Figure)| {
        Column::figure(head).unit(unit).optional(rank).narrow()
    };
    first.into_iter().chain(FIGURES.iter().map(column)).collect()
}

fn cells(found: &CycleFigures) -> impl Iterator<Item = Cell> {
    FIGURES.iter().map(|(.., figure)| Cell::maybe(figure(found)))
}

const OVERRUNS: [&str; 4] = ["outlasted the period", "overlapped another", "left out", "late"];

/// A row a contender, and one more for its disturbed cycles.
fn figures(view: &CyclesView) -> Table {
    let mut heads = columns(vec![Column::text("contender")]);
    heads.extend(OVERRUNS.map(|head| Column::figure(head).optional(9).narrow()));
    heads.push(Column::figure("cycles").optional(10));
    heads.push(Column::figure("trials").optional(11));
    let caption =
        format!("{} / {}: figures of a cycle, medians over trials", view.workload, view.phase);
    let mut table = Table::new(heads).caption(caption).sortable();
    for row in &view.rows {
        for (figures, what) in [(&row.plain, ""), (&row.disturbed, ", disturbed")] {
            let Some(found) = figures else { continue };
            let label = Cell::contender(row.contender, format!("{}{what}", row.label));
            let mut line = vec![label.notes(notes(found))];
            line.extend(cells(found));
            let is_first = what.is_empty() || row.plain.is_none();
            let all = &row.overruns;
            line.extend(
                [all.outlasted, all.overlapped, all.skipped, all.late]
                    .map(|n| if is_first && all.is_any() { Cell::count(n) } else { Cell::none() }),
            );
            line.extend([Cell::count(found.cycles), Cell::count(row.n)]);
            table.row(line);
        }
    }
    table.without_empty_columns()
}

/// A row a cycle.
fn each(rows: &[CyclesRow], view: &CyclesView) -> Table {
    let first = vec![Column::text("contender"), Column::figure("cycle")];
    let caption = format!("{} / {}: every cycle", view.workload, view.phase);
    let mut table = Table::new(columns(first)).caption(caption).sortable();
    for row in rows {
        for cycle in &row.cycles {
            let label = format!("{}{}", row.label, load_met(cycle));
            let number = Cell::figure(cycle.number.to_string(), f64::from(cycle.number));
            let head = [Cell::contender(row.contender, label), number];
            table.row(head.into_iter().chain(cells(&cycle.figures)));
        }
    }
    table.without_empty_columns()
}

/// Which second load a cycle met, as an end of its label.
fn load_met(cycle: &CycleRow) -> String {
    match (cycle.disturbed, cycle.met_load) {
        (true, _) => ", disturbed".to_owned(),
        (false, 0) => String::new(),
        (false, met) if met == cycle.figures.cycles => ", met the load of another".to_owned(),
        (false, met) => format!(", {met} of {} met the load of another", cycle.figures.cycles),
    }
}

fn notes(figures: &CycleFigures) -> Vec<String> {
    let cycles = count(figures.cycles, "cycle");
    let missed = (figures.not_quiet > 0)
        .then(|| format!("not quiet in the period of {} of {cycles}", figures.not_quiet));
    let overlapped = (figures.beside > 0).then(|| OVERLAPPED.to_owned());
    missed.into_iter().chain(overlapped).collect()
}

/// What the second load did to the cycles, and what it got itself.
fn effects(view: &CyclesView) -> Table {
    let columns = [
        Column::text("disturbed ÷ other cycles"),
        Column::figure("work").unit("×"),
        Column::figure("durable").unit("×").optional(4),
        Column::figure("busy").unit("×"),
        Column::figure("worst stall").unit("×").optional(2),
        Column::figure("written").unit("×").optional(3),
        Column::figure("load asked").narrow(),
        Column::figure("load got").narrow(),
        Column::figure("its 99 %").narrow().optional(6),
        Column::figure("its worst").narrow().optional(1),
        Column::figure("behind its rate").narrow().optional(5),
    ];
    let caption = format!(
        "{} / {}: disturbed cycles as multiples of plain ones, and what the second load got",
        view.workload, view.phase
    );
    let mut table = Table::new(columns).caption(caption).sortable();
    for row in &view.rows {
        let Some(got) = &row.disturber else { continue };
        let effect = row.effect.as_ref();
        let factor = |factor: Option<Factor>| {
            Cell::maybe(factor.map(|factor| (factor_text(factor), factor.factor)))
        };
        let length = |own_ns: u64| Cell::figure(ns(Some(own_ns)), own_ns as f64);
        let per_s = |value: f64| Cell::figure(format!("{}/s", digits(value)), value);
        let p99_ns = got.latency.as_ref().and_then(|latency| latency.p99_ns);
        table.row([
            Cell::contender(row.contender, row.label.as_str()),
            factor(effect.and_then(|effect| effect.work)),
            factor(effect.and_then(|effect| effect.durable)),
            factor(effect.and_then(|effect| effect.busy)),
            factor(effect.and_then(|effect| effect.worst)),
            factor(effect.and_then(|effect| effect.written)),
            got.asked_ops_per_s.map_or_else(|| Cell::figure("no limit", f64::MAX), per_s),
            got.ops_per_s.map_or_else(Cell::none, |rate| per_s(rate.median)),
            p99_ns.map_or_else(Cell::none, length),
            length(got.worst_ns),
            length(got.late_ns),
        ]);
    }
    table.without_empty_columns()
}

/// `2.02 [1.96, 2.08]`.
fn factor_text(factor: Factor) -> String {
    match factor.low.zip(factor.high) {
        Some((low, high)) => format!("{:.2} [{low:.2}, {high:.2}]", factor.factor),
        None => format!("{:.2} ?", factor.factor),
    }
}

/// Worst stalls, overruns and second loads of a contender.
fn sentences(row: &CyclesRow) -> Vec<String> {
    let behind = row.disturber.as_ref().and_then(behind);
    let all = [worst(row), met_load(row), overruns(row), behind];
    all.into_iter().flatten().map(|text| format!("{}: {text}", row.label)).collect()
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

/// How many undisturbed cycles were none.
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
    let late = format!(
        "began more than {} % of a period late, the latest by {}",
        LATE_SHARE * 100.0,
        Nanos(found.latest_ns)
    );
    let counted = [
        (found.outlasted, "outlasted their period".to_owned()),
        (found.overlapped, "began while another was at work".to_owned()),
        (found.skipped, "starts were left out".to_owned()),
        (found.late, late),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    if found.collisions > 0 {
        let files = grouped(found.collisions);
        parts.push(format!("{files} updates met another cycle's work on the same file"));
    }
    if found.overlapped > 0 {
        parts.push(OVERLAPPED.to_owned());
    }
    let all = count(found.begun, "cycle");
    (!parts.is_empty()).then(|| format!("overruns, of {all}: {}", parts.join("; ")))
}

/// That a second load did not get what it asked for.
fn behind(got: &DisturberView) -> Option<String> {
    let mut parts = Vec::new();
    if got.late_ns > 0 {
        parts.push(format!("its last op was up to {} behind its rate", Nanos(got.late_ns)));
    }
    if got.failed > 0 {
        let cycles = count(got.failed, "cycle");
        parts.push(format!("it ended early in {cycles}: {}", got.errors.join("; ")));
    }
    (!parts.is_empty()).then(|| format!("the second load: {}", parts.join("; ")))
}

/// `ext4: under the second load a cycle worked 1.64 [1.51, 1.78] times as long; the device was busy
/// 1.90 [1.80, 2.01] times as long (geometric mean over 5 trials, 95 % intervals).` Ratios alone: a
/// quotient of the medians in the tables is another estimator.
fn effect_sentence(row: &CyclesRow) -> Option<String> {
    let effect = row.effect.as_ref()?;
    let work = effect.work?;
    let parts = [("a cycle worked", Some(work)), ("the device was busy", effect.busy)];
    let parts = parts.into_iter().filter_map(|(what, factor)| Some(times_as_long(what, factor?)));
    let trials = count(work.n, "trial");
    let how = match work.n {
        1 => trials,
        _ => format!("{} over {trials}", work.estimator()),
    };
    let intervals = if work.low.is_some() { ", 95 % intervals" } else { "" };
    let parts = parts.collect::<Vec<_>>().join("; ");
    Some(format!("{}: under the second load {parts} ({how}{intervals}).", row.label))
}

/// What a factor says, and whether it is known: its interval leaves 1 out.
fn times_as_long(what: &str, factor: Factor) -> String {
    match factor.low.zip(factor.high) {
        None => format!(
            "{what} {:.2} times as long, which is not known yet: an interval takes {INTERVAL_FROM} \
             trials",
            factor.factor
        ),
        Some((low, high)) => {
            let is_open = low <= 1.0 && high >= 1.0;
            let open = if is_open { ", which is undecided" } else { "" };
            format!("{what} {} times as long{open}", factor_text(factor))
        }
    }
}

/// Work time of each cycle, held against the period.
fn cycles(context: &SectionContext<'_>, view: &CyclesView, rows: &[CyclesRow]) -> Columns {
    let works = || rows.iter().flat_map(|row| &row.cycles).filter_map(|cycle| cycle.figures.work);
    let unit = Unit::of_ns(works().map(|work| work.median_ns).max().unwrap_or(0));
    let panel = |row: &CyclesRow| ColumnsOf {
        key: key(row.contender, row.label.as_str()),
        columns: row.cycles.iter().map(|cycle| work_column(cycle, unit)).collect(),
    };
    let period = Nanos(view.cycle.period_ns);
    Columns {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "cycles"),
            name: file_name(&[&view.workload, &view.phase, "cycles"]),
            title: format!("{} / {}: work of each cycle", view.workload, view.phase),
            description: describe_cycles(view, rows),
        },
        axis: unit.axis("work time of a cycle"),
        limit: Some((unit.convert(view.cycle.period_ns as f64), format!("period, {period}"))),
        names: ["no second load", "second load at work"].map(str::to_owned),
        panels: rows.iter().map(panel).collect(),
    }
}

fn work_column(cycle: &CycleRow, unit: Unit) -> chart::Column {
    let value = cycle.figures.work.map(|work| Spot {
        value: unit.convert(work.median_ns as f64),
        tip: format!("{}: {}", name_of(cycle), work_words(work)),
    });
    let several = cycle.figures.work.filter(|work| work.n > 1);
    chart::Column {
        label: cycle.number.to_string(),
        value,
        range: several.map(|w| (unit.convert(w.min_ns as f64), unit.convert(w.max_ns as f64))),
        pale: cycle.disturbed,
    }
}

/// `cycle 3, disturbed`.
fn name_of(cycle: &CycleRow) -> String {
    let disturbed = if cycle.disturbed { ", disturbed" } else { "" };
    format!("cycle {}{disturbed}", cycle.number)
}

fn work_words(work: SpreadNs) -> String {
    let median = Nanos(work.median_ns);
    match work.n {
        1 => median.to_string(),
        n => {
            format!("{median}, from {} to {} in {n} trials", Nanos(work.min_ns), Nanos(work.max_ns))
        }
    }
}

fn describe_cycles(view: &CyclesView, rows: &[CyclesRow]) -> String {
    let unit = Unit::of_ns(1_000_000_000);
    let all = rows.iter().flat_map(|row| row.cycles.iter().map(move |cycle| (row, cycle)));
    let values = all.filter_map(|(row, cycle)| {
        let own = unit.convert(cycle.figures.work?.median_ns as f64);
        let words = format!("{} {} in {}", three(own), unit.name, name_of(cycle));
        Some((row.label.as_str(), own, words))
    });
    let disturbed = rows.iter().flat_map(|row| &row.cycles).filter(|cycle| cycle.disturbed);
    let mut numbers: Vec<String> = disturbed.map(|cycle| cycle.number.to_string()).collect();
    numbers.sort();
    numbers.dedup();
    let loads = match numbers.as_slice() {
        [] => String::new(),
        numbers => format!(" A second load is at work in cycle {}.", numbers.join(", ")),
    };
    format!(
        "Work of each cycle; the next one is due after {}; {}.{loads}",
        Nanos(view.cycle.period_ns),
        ends(values)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_study::cycles::DisturbEffect;
    use fsarena_testkit::records;

    #[test]
    fn a_cycle_has_a_column_and_a_disturbed_one_is_pale() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let view = &sample.study.cycles[0];
        let chart = cycles(&context, view, &view.rows);
        assert_eq!((chart.panels.len(), chart.panels[0].columns.len()), (6, 3));
        let pale: Vec<bool> = chart.panels[0].columns.iter().map(|c| c.pale).collect();
        assert_eq!(pale, [false, false, true]);
        let third = chart.panels[2].columns[2].value.as_ref().unwrap();
        assert!(third.tip.starts_with("cycle 3, disturbed: 7m3"), "{}", third.tip);
        assert!(chart.head.description.contains("A second load is at work in cycle 3."));
        assert_eq!(chart.limit.as_ref().map(|(limit, _)| *limit), Some(300.0));
    }

    #[test]
    fn figures_effects_and_overruns_stand_below() {
        let sample = Sample::periodic();
        let run = sample.run();
        let page = html_of(&build(&SectionContext::new(0, &run)));
        for said in [
            "under the second load a cycle worked 2.00 [2.00, 2.00] times as long; the device was",
            "(geometric mean over 4 trials, 95 % intervals)",
            "2.00 [2.00, 2.00]",
            "outlasted the period",
            "worst stall",
            "ext4 1024, disturbed",
            ">8<",
        ] {
            assert!(page.contains(said), "no {said} in {page}");
        }
        assert_eq!(page.matches("<tr>").count(), 3 + 12 + 6 + 18, "heads, and a row each");
    }

    #[test]
    fn an_effect_is_one_ratio_and_whether_it_is_known() {
        let row = &Sample::periodic().study.cycles[0].rows[0];
        let with = |n: usize, interval: Option<(f64, f64)>| {
            let (low, high) = interval.unzip();
            let work = Some(Factor { n, factor: 1.2, low, high });
            let effect =
                row.effect.clone().map(|effect| DisturbEffect { work, busy: None, ..effect });
            effect_sentence(&CyclesRow { effect, ..row.clone() }).unwrap()
        };
        let begun = "ext4 1024: under the second load a cycle worked 1.20";
        let two = format!(
            "{begun} times as long, which is not known yet: an interval takes 3 trials (geometric \
             mean over 2 trials)."
        );
        assert_eq!(with(2, None), two);
        let told = with(5, Some((1.1, 1.3)));
        assert!(told.starts_with(&format!("{begun} [1.10, 1.30] times as long (")), "{told}");
        let open = with(5, Some((0.9, 1.6)));
        assert!(open.contains("times as long, which is undecided ("), "{open}");
        assert!(with(12, Some((1.1, 1.3))).contains("(Hodges-Lehmann estimate over 12 trials"));
    }

    #[test]
    fn many_cycles_are_not_shown_one_by_one() {
        let row =
            CyclesRow { cycles: Vec::new(), ..Sample::periodic().study.cycles[0].rows[0].clone() };
        let mut view = Sample::periodic().study.cycles[0].clone();
        let one = view.rows[0].cycles[0].clone();
        let long = CyclesRow { cycles: vec![one; MOST_CYCLES / 2 + 1], ..row };
        view.rows = vec![long.clone(), long];
        assert_eq!((shown(&view).0.len(), shown(&view).1.len()), (1, 1));
        view.rows.truncate(1);
        assert_eq!((shown(&view).0.len(), shown(&view).1.len()), (1, 0));
    }

    #[test]
    fn what_has_no_cycles_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(html_of(&build(&context)).is_empty() && charts_of(&build(&context)).is_empty());
    }
}
