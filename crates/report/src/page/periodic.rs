//! Cycles of a periodic application: the work of each, their figures, and what a second load did.

use crate::cycles::{LEGEND as CYCLES_LEGEND, cycles_lines, cycles_title, factor_text};
use crate::format::{count, digits, grouped, ns};
use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::page::pictures::{self, Unit, three};
use fsarena_chart::Svg;
use fsarena_model::units::{Bytes, Nanos};
use fsarena_study::cycles::Factor;
use fsarena_study::{CycleFigures, CyclesRow, CyclesView, SpreadF, SpreadNs};
use maud::{Markup, html};

/// Cycles of all contenders that a page shows one by one, so that it can still be mailed.
const MOST_CYCLES: usize = 480;

/// Contenders of which sentences stand open.
const OPEN_CONTENDERS: usize = 4;

/// The section of one RUN; empty where it has no cycles.
pub(crate) fn section(context: &SectionContext<'_>) -> Markup {
    if views(context).next().is_none() {
        return html! {};
    }
    let body = html! {
        (parts::note(CYCLES_LEGEND))
        @for view in views(context) { (phase(context, view)) }
    };
    parts::section(context, "cycles", "Cycles", &body)
}

/// Its charts, in their order on the page.
pub(crate) fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    views(context).map(|view| pictures::cycles(context, view, shown(view).0).draw()).collect()
}

fn views<'a>(context: &SectionContext<'a>) -> impl Iterator<Item = &'a CyclesView> {
    context.run.study.cycles.iter().filter(|view| !view.rows.is_empty())
}

/// The contenders whose cycles are shown one by one, and the others.
fn shown(view: &CyclesView) -> (&[CyclesRow], &[CyclesRow]) {
    let mut cycles = 0;
    let fits = |row: &&CyclesRow| {
        cycles += row.cycles.len();
        cycles <= MOST_CYCLES
    };
    let count = view.rows.iter().take_while(fits).count().max(1);
    view.rows.split_at(count.min(view.rows.len()))
}

fn phase(context: &SectionContext<'_>, view: &CyclesView) -> Markup {
    let (shown, left_out) = shown(view);
    let caption = "Work time of each cycle, medians over trials with the least and the most; all \
                   panels by one scale. Hatched: a second load was at work. Work above \
                   the dotted line outlasts the period.";
    let effects = effects(view);
    html! {
        (parts::heading(&cycles_title(view)))
        (parts::figure(&pictures::cycles(context, view, shown).draw(), caption))
        @if !left_out.is_empty() {
            (parts::note(&format!(
                "Not shown one by one, to keep the page small: the cycles of {}. They are in the \
                 database.",
                count(left_out.len(), "further contender")
            )))
        }
        (figures(view))
        (lines("Worst stalls, overruns and second loads in words", view, &cycles_lines(view)))
        @if !effects.is_empty() {
            @let words: Vec<String> = view.rows.iter().filter_map(effect_words).collect();
            (lines("What the second load did, in words", view, &words))
            (effects)
        }
        (parts::fold("Every cycle", &html! { (each(shown, view)) }))
    }
}

/// Sentences on each contender; folded where there are many.
fn lines(summary: &str, view: &CyclesView, lines: &[String]) -> Markup {
    if view.rows.len() > OPEN_CONTENDERS && !lines.is_empty() {
        return parts::fold(summary, &parts::list(lines));
    }
    parts::list(lines)
}

/// A figure, in words, and what it is sorted by.
type Figure = Box<dyn Fn(&CycleFigures) -> Option<(String, f64)>>;

/// A length of a cycle.
type Length = fn(&CycleFigures) -> Option<SpreadNs>;

fn columns(view: &CyclesView) -> Vec<(Column, Figure)> {
    let both = || view.rows.iter().flat_map(|row| [&row.plain, &row.disturbed]).flatten();
    let mut columns: Vec<(Column, Figure)> = Vec::new();
    let times: [(&str, Length); 3] =
        [("work", |f| f.work), ("durable", |f| f.durable), ("quiet", |f| f.quiet)];
    for (head, of) in times {
        let unit = Unit::of_ns(both().filter_map(of).map(|s| s.median_ns).max().unwrap_or(0));
        let figure = move |f: &CycleFigures| {
            let own = of(f)?.median_ns as f64;
            Some((unit.text(own), unit.convert(own)))
        };
        columns.push((Column::figure(head, unit.name), Box::new(figure)));
    }
    let mut add = |head: &str, unit: &str, figure: Figure| {
        columns.push((Column::figure(head, unit), figure));
    };
    add(
        "worst stall",
        "",
        Box::new(|f| {
            let worst_ns = f.worst?.worst_ns;
            Some((ns(Some(worst_ns)), worst_ns as f64))
        }),
    );
    let mb: fn(Option<SpreadF>) -> Option<(String, f64)> = |spread| {
        let own = spread?.median / 1e6;
        Some((three(own), own))
    };
    let number: fn(Option<SpreadF>) -> Option<(String, f64)> =
        |spread| Some((digits(spread?.median), spread?.median));
    add("asked", "MB", Box::new(move |f| mb(f.asked_bytes)));
    add("device wrote", "MB", Box::new(move |f| mb(f.written_bytes)));
    add("written", "MB/s", Box::new(move |f| mb(f.written_bytes_per_s)));
    add(
        "busy",
        "%",
        Box::new(|f| {
            let percent = f.busy_share?.median * 100.0;
            Some((format!("{percent:.1}"), percent))
        }),
    );
    add("queue depth", "", Box::new(move |f| number(f.queue_depth)));
    add(
        "write latency",
        "",
        Box::new(|f| {
            let own = f.write_latency_ns?.median;
            Some((ns(Some(own.round() as u64)), own))
        }),
    );
    add("writes", "", Box::new(move |f| number(f.writes)));
    add("flushes", "", Box::new(move |f| number(f.flushes)));
    add(
        "swap in and out",
        "",
        Box::new(|f| {
            let [a, b] = [f.swap_in_bytes?.median, f.swap_out_bytes?.median];
            let text = match a + b {
                0.0 => "0".to_owned(),
                _ => format!("{} / {}", Bytes(a.round() as u64), Bytes(b.round() as u64)),
            };
            Some((text, a + b))
        }),
    );
    columns.retain(|(_, figure)| both().any(|found| figure(found).is_some()));
    columns
}

/// A row a contender, and one more for its disturbed cycles.
fn figures(view: &CyclesView) -> Table {
    let columns = columns(view);
    let has_overruns = view.rows.iter().any(|row| row.overruns.is_any());
    let mut heads = vec![Column::text("contender"), Column::text("cycles")];
    heads.extend(columns.iter().map(|(column, _)| column.clone()));
    if has_overruns {
        heads.extend(OVERRUNS.map(|head| Column::figure(head, "")));
    }
    heads.push(Column::figure("trials", ""));
    let caption =
        format!("{} / {}: figures of a cycle, medians over trials", view.workload, view.phase);
    let mut table = Table::new(caption, heads).sortable();
    for row in &view.rows {
        for (figures, what) in [(&row.plain, "plain"), (&row.disturbed, "disturbed")] {
            let Some(found) = figures else { continue };
            let mut cells = vec![
                Cell::markup(parts::swatch(row.contender, &row.label)),
                Cell::markup(html! { span.word { (found.cycles) " " (what) } }),
            ];
            cells.extend(columns.iter().map(|(_, figure)| Cell::maybe(figure(found))));
            if has_overruns {
                // They are of all cycles together.
                let is_first = what == "plain" || row.plain.is_none();
                cells.extend(overruns(row).map(|n| match is_first {
                    true => Cell::figure(grouped(n), n as f64),
                    false => Cell::none(),
                }));
            }
            cells.push(Cell::figure(row.n.to_string(), row.n as f64));
            table.row(cells);
        }
    }
    table
}

const OVERRUNS: [&str; 4] = ["outlasted the period", "began during another", "left out", "late"];

fn overruns(row: &CyclesRow) -> [u64; 4] {
    let found = &row.overruns;
    [found.outlasted, found.overlapped, found.skipped, found.late].map(|n| n as u64)
}

/// A row a cycle.
fn each(rows: &[CyclesRow], view: &CyclesView) -> Table {
    let columns = columns(view);
    let mut heads =
        vec![Column::text("contender"), Column::figure("cycle", ""), Column::text("second load")];
    heads.extend(columns.iter().map(|(column, _)| column.clone()));
    let caption = format!("{} / {}: every cycle", view.workload, view.phase);
    let mut table = Table::new(caption, heads).sortable();
    for row in rows {
        for cycle in &row.cycles {
            let mut cells = vec![
                Cell::markup(parts::swatch(row.contender, &row.label)),
                Cell::figure(cycle.number.to_string(), f64::from(cycle.number)),
                match (cycle.disturbed, cycle.met_load) {
                    (true, _) => Cell::text("yes"),
                    (false, 0) => Cell::none(),
                    (false, _) => Cell::text("of another"),
                },
            ];
            cells.extend(columns.iter().map(|(_, figure)| Cell::maybe(figure(&cycle.figures))));
            table.row(cells);
        }
    }
    table
}

/// What the second load did to the cycles, and what it got itself.
fn effects(view: &CyclesView) -> Table {
    let columns = vec![
        Column::text("contender"),
        Column::figure("work", "×"),
        Column::figure("durable", "×"),
        Column::figure("busy", "×"),
        Column::figure("worst stall", "×"),
        Column::figure("written", "×"),
        Column::figure("load asked for", "ops/s"),
        Column::figure("load got", "ops/s"),
        Column::figure("its 99 %", ""),
        Column::figure("its worst op", ""),
        Column::figure("behind its rate", ""),
    ];
    let caption = format!(
        "{} / {}: disturbed cycles as multiples of plain ones, and what the second load got",
        view.workload, view.phase
    );
    let mut table = Table::new(caption, columns).sortable();
    for row in &view.rows {
        let Some(got) = &row.disturber else { continue };
        let effect = row.effect.as_ref();
        let factor = |factor: Option<Factor>| {
            Cell::maybe(factor.map(|factor| (factor_text(factor), factor.factor)))
        };
        let length = |own_ns: u64| Cell::figure(ns(Some(own_ns)), own_ns as f64);
        let p99_ns = got.latency.as_ref().and_then(|latency| latency.p99_ns);
        table.row(vec![
            Cell::markup(parts::swatch(row.contender, &row.label)),
            factor(effect.and_then(|effect| effect.work)),
            factor(effect.and_then(|effect| effect.durable)),
            factor(effect.and_then(|effect| effect.busy)),
            factor(effect.and_then(|effect| effect.worst)),
            factor(effect.and_then(|effect| effect.written)),
            match got.asked_ops_per_s {
                Some(asked) => Cell::figure(digits(asked), asked),
                None => Cell::figure("all it can", f64::MAX),
            },
            Cell::maybe(got.ops_per_s.map(|rate| (digits(rate.median), rate.median))),
            p99_ns.map_or_else(Cell::none, length),
            length(got.worst_ns),
            length(got.late_ns),
        ]);
    }
    table
}

/// `ext4: under the second load a cycle worked 315 s instead of 192 s (× 1.64); the device was
/// busy for 85 % of the period instead of 44 %`.
fn effect_words(row: &CyclesRow) -> Option<String> {
    let (plain, disturbed) = (row.plain.as_ref()?, row.disturbed.as_ref()?);
    let effect = row.effect.as_ref()?;
    let [before, after] = [plain, disturbed].map(|figures| figures.work);
    let mut said = format!(
        "{}: under the second load a cycle worked {} instead of {} (× {})",
        row.label,
        Nanos(after?.median_ns),
        Nanos(before?.median_ns),
        factor_text(effect.work?)
    );
    let [before, after] = [plain, disturbed].map(|figures| figures.busy_share);
    if let Some((before, after)) = before.zip(after) {
        let percent = |share: SpreadF| format!("{:.0} %", share.median * 100.0);
        said.push_str(&format!(
            "; the device was busy for {} of the period instead of {}",
            percent(after),
            percent(before)
        ));
    }
    said.push('.');
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::pictures::sample::Sample;
    use fsarena_testkit::records;

    #[test]
    fn a_cycle_has_a_column_and_a_disturbed_one_is_hatched() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let view = &sample.study.cycles[0];
        let chart = pictures::cycles(&context, view, &view.rows);
        assert_eq!((chart.panels.len(), chart.panels[0].columns.len()), (6, 3));
        let hatched: Vec<bool> = chart.panels[0].columns.iter().map(|c| c.hatched).collect();
        assert_eq!(hatched, [false, false, true]);
        let third = chart.panels[2].columns[2].value.as_ref().unwrap();
        assert!(third.tip.starts_with("cycle 3, disturbed: 7m3"), "{}", third.tip);
        assert!(chart.head.description.contains("A second load is at work in cycle 3."));
        assert_eq!(chart.limit.as_ref().map(|(limit, _)| *limit), Some(300.0));
    }

    #[test]
    fn figures_effects_and_overruns_stand_below() {
        let sample = Sample::periodic();
        let run = sample.run();
        let page = section(&SectionContext::new(0, &run)).into_string();
        for said in [
            "under the second load a cycle worked 5m",
            "the device was busy for 85 % of the period instead of 44 %",
            "2.00 [2.00, 2.00]",
            "outlasted the period",
            "worst stall",
            "8 plain",
            "4 disturbed",
        ] {
            assert!(page.contains(said), "no {said} in {page}");
        }
        assert_eq!(page.matches("<tr>").count(), 3 + 12 + 6 + 18, "heads, and a row each");
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
        assert!(section(&context).into_string().is_empty() && charts(&context).is_empty());
    }
}
