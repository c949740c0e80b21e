//! Response curves: every measure over the levels of a swept option of mkfs, and where it is flat.

use crate::bars::bar;
use crate::context::SectionContext;
use crate::format::bytes;
use crate::labels::sweep_title;
use crate::pictures::{Unit, file_name};
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::{Detail, capital};
use crate::verdict::text::percent;
use fsarena_chart::{Head, Level, Levels, NO_HUE, Spot, Standing};
use fsarena_model::verdict::Verdict;
use fsarena_study::sweep::{SweepLevel, SweepPoint};
use fsarena_study::{SweepCurve, SweepMeasure, SweepView};

/// Columns of a bar.
const BAR_COLUMNS: usize = 20;

const LEGEND: &str = "Sweep: contenders that differ in this one number alone. Geometric means over \
     trials with 95 % intervals; the ratio to the best level is by the blocks that have both. SAME \
     and flat are said where they are shown by two one-sided tests within the margin, and FASTER or \
     SLOWER (less or more) where the interval of the ratio excludes 1; all pairs of levels of a \
     curve are one family, each curve has its own. These were not asked before block 1: what the \
     RUN asked is answered by its verdicts. slack: space used beyond what is stored. Only numbers \
     of mkfs have curves: levels that are words (a profile) or options of mount (compress=) are in \
     the other tables and in the verdicts.";

/// Its blocks: of each sweep its charts, all measures by level, each curve by itself, and where it
/// is flat; nothing where nothing was swept.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let views = &context.run.study.sweeps;
    let all = views.iter().enumerate().flat_map(|(at, view)| sweep(context, at, view));
    let blocks: Vec<Block> = all.collect();
    if blocks.is_empty() { Section::none() } else { Section::new(blocks).legend(LEGEND) }
}

fn sweep(context: &SectionContext<'_>, at: usize, view: &SweepView) -> Vec<Block> {
    let draw = |curve| levels_chart(context, (at, view), curve).draw();
    let charts = context.charts(|| {
        let caption = |curve: &SweepCurve| format!("{}.", capital(&curve.words));
        view.curves.iter().map(|curve| (draw(curve), caption(curve))).collect()
    });
    let is_time =
        |one: &&SweepCurve| matches!(one.measure, SweepMeasure::Work | SweepMeasure::Durable);
    let is_asked = |one: &&SweepCurve| context.detail != Detail::Brief || is_time(one);
    // Where its words say that there is no best level, a curve has no table of its own.
    let curves = view.curves.iter().filter(|one| one.best.is_some()).filter(is_asked);
    let curves = curves.map(|one| Block::Table(curve(context, view, one)));
    let words: Vec<String> = view.curves.iter().map(|curve| curve.words.clone()).collect();
    let mut blocks = vec![Block::Heading(sweep_title(view))];
    blocks.extend(charts);
    blocks.push(Block::Table(levels(view)));
    blocks.push(Block::Fold(
        "Intervals, ratios to the best level and what is shown".to_owned(),
        curves.chain([Block::List(None, words)]).collect(),
    ));
    blocks
}

/// A row a level, a column a measure; the best of each measure stands out.
fn levels(view: &SweepView) -> Table {
    let mut columns = vec![Column::figure(view.option.as_str())];
    columns.extend(view.curves.iter().map(|curve| Column::figure(curve.measure.name()).narrow()));
    columns.push(Column::figure("slack"));
    columns.push(Column::text("contender").optional(1));
    let caption = format!("{}: geometric means over trials", sweep_title(view));
    let mut table = Table::new(columns).caption(caption).sortable();
    for (at, level) in view.levels.iter().enumerate() {
        let mean = |curve: &SweepCurve| match curve.points.get(at) {
            Some(point) if curve.best == Some(at) => mean(curve, point).strong(),
            Some(point) => mean(curve, point),
            None => Cell::none(),
        };
        let mut cells = vec![level_cell(level)];
        cells.extend(view.curves.iter().map(mean));
        cells.push(Cell::maybe(level.slack_bytes.map(|slack| {
            let (sign, size) = (if slack.median < 0.0 { "-" } else { "" }, slack.median.abs());
            (format!("{sign}{}", bytes(Some(size.round() as u64))), slack.median)
        })));
        cells.push(Cell::contender(level.contender, level.label.as_str()));
        table.row(cells);
    }
    table
}

fn level_cell(level: &SweepLevel) -> Cell {
    Cell::figure(level.text.as_str(), level.value as f64)
}

fn mean(curve: &SweepCurve, point: &SweepPoint) -> Cell {
    Cell::maybe(point.geometric_mean.map(|mean| (curve.measure.text(mean), mean)))
}

/// One curve: level, mean, interval, ratio to the best, what is shown.
fn curve(context: &SectionContext<'_>, view: &SweepView, curve: &SweepCurve) -> Table {
    let mut columns = vec![
        Column::figure(view.option.as_str()),
        Column::figure(curve.measure.name()),
        Column::figure("95 % interval"),
        Column::figure("to the best"),
        Column::figure("interval"),
        Column::text("shown"),
        Column::figure("n"),
    ];
    if context.style.bars {
        columns.push(Column::text("").optional(1));
    }
    let caption = format!("{}: {}", sweep_title(view), curve.measure.name());
    let mut table = Table::new(columns).caption(caption).sortable();
    let means = curve.points.iter().filter_map(|point| point.geometric_mean);
    let most = means.fold(0.0, f64::max);
    for (at, (level, point)) in view.levels.iter().zip(&curve.points).enumerate() {
        let text = |value: f64| curve.measure.text(value);
        let ratio = |value: f64| format!("{value:.3}");
        let between = |low: Option<f64>, high: Option<f64>, text: &dyn Fn(f64) -> String| {
            let words = |(a, b): (f64, f64)| (format!("{} - {}", text(a), text(b)), a);
            Cell::maybe(low.zip(high).map(words))
        };
        let mut cells = vec![
            level_cell(level),
            mean(curve, point),
            between(point.low, point.high, &text),
            Cell::maybe(point.ratio_to_best.map(|value| (ratio(value), value))),
            between(point.ratio_low, point.ratio_high, &ratio),
            Cell::text(curve.shown(at).unwrap_or("-")),
            Cell::count(point.n),
        ];
        if context.style.bars {
            cells.push(bar(point.geometric_mean.unwrap_or(0.0), most, BAR_COLUMNS).into());
        }
        table.row(cells);
    }
    table
}

/// The curve of one measure; `sweep` is its number among those of the RUN, from 0.
fn levels_chart(
    context: &SectionContext<'_>,
    (sweep, view): (usize, &SweepView),
    curve: &SweepCurve,
) -> Levels {
    let unit = unit_of(curve);
    let name = curve.measure.name();
    let level = |(at, level): (usize, &fsarena_study::sweep::SweepLevel)| {
        let point = curve.points.get(at).copied().unwrap_or_default();
        Level {
            at: level.value as f64,
            label: level.text.clone(),
            value: point.geometric_mean.map(|mean| Spot {
                value: unit.convert(mean),
                tip: level_tip(curve, at, &point, &level.label),
            }),
            interval: point
                .low
                .zip(point.high)
                .map(|(low, high)| (unit.convert(low), unit.convert(high))),
            standing: standing(curve, at, &point),
        }
    };
    Levels {
        head: Head {
            id: format!("{}-s{}-{}", context.prefix, sweep + 1, id_of(curve.measure)),
            name: file_name(&[&view.workload, &view.phase, &view.option, id_of(curve.measure)]),
            title: format!("{}: {name}", sweep_title(view)),
            description: describe_curve(view, curve),
        },
        axis: unit.axis(name),
        option: view.option.clone(),
        hue: NO_HUE,
        levels: view.levels.iter().enumerate().map(level).collect(),
        flat: curve.flat,
        same: format!("the same within {}", percent(view.margin)),
        ..Levels::default()
    }
}

/// The unit that all values of a curve are shown in.
fn unit_of(curve: &SweepCurve) -> Unit {
    let most = curve.points.iter().filter_map(|point| point.geometric_mean).fold(0.0, f64::max);
    match curve.measure {
        SweepMeasure::Work | SweepMeasure::Durable => Unit::of_ns(most.round() as u64),
        SweepMeasure::Busy => Unit { name: "%", size: 0.01 },
        SweepMeasure::WrittenPerS => Unit { name: "MB/s", size: 1e6 },
        SweepMeasure::Amplification | SweepMeasure::Space => Unit { name: "", size: 1.0 },
    }
}

fn id_of(measure: SweepMeasure) -> &'static str {
    match measure {
        SweepMeasure::Work => "work",
        SweepMeasure::Durable => "durable",
        SweepMeasure::Busy => "busy",
        SweepMeasure::WrittenPerS => "rate",
        SweepMeasure::Amplification => "amplification",
        SweepMeasure::Space => "space",
    }
}

fn standing(curve: &SweepCurve, at: usize, point: &SweepPoint) -> Standing {
    match point.against_best {
        _ if curve.best == Some(at) => Standing::Best,
        Some(Verdict::Same) => Standing::Same,
        _ => Standing::Other,
    }
}

/// `ext4 4096: 150 s [148 s, 152 s], × 1.02 the best, SAME`.
fn level_tip(curve: &SweepCurve, at: usize, point: &SweepPoint, label: &str) -> String {
    let text = |value: f64| curve.measure.text(value);
    let mut tip = format!("{label}: {}", text(point.geometric_mean.unwrap_or_default()));
    if let Some((low, high)) = point.low.zip(point.high) {
        tip.push_str(&format!(" [{}, {}]", text(low), text(high)));
    }
    if curve.best == Some(at) {
        tip.push_str(", the best");
    } else if let Some(ratio) = point.ratio_to_best {
        tip.push_str(&format!(", {ratio:.2} × the best"));
        if let Some(verdict) = point.against_best {
            tip.push_str(&format!(", {}", verdict.word()));
        }
    }
    tip
}

fn describe_curve(view: &SweepView, curve: &SweepCurve) -> String {
    let value = |at: usize| {
        let mean = curve.points.get(at)?.geometric_mean?;
        Some(format!("{} at {}", curve.measure.text(mean), view.levels.get(at)?.text))
    };
    let all: Vec<String> = (0..view.levels.len()).filter_map(value).collect();
    format!("{}. Geometric means: {}.", curve.words, all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_chart::Standing;
    use fsarena_testkit::records;

    #[test]
    fn a_file_system_and_measure_has_a_chart_with_its_sentence() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let (views, drawn) = (&sample.study.sweeps, charts_of(&build(&context)));
        assert_eq!(views.len(), 2, "one a file system");
        let curves: usize = views.iter().map(|view| view.curves.len()).sum();
        assert_eq!(drawn.len(), curves);
        assert!(drawn.iter().all(|chart| chart.marks == 3), "{drawn:?}");
        assert_eq!(drawn[0].id, "r1-s1-work");
        let page = html_of(&build(&context));
        for curve in views.iter().flat_map(|view| &view.curves) {
            assert!(page.contains(&capital(&curve.words)), "{}: {page}", curve.words);
        }
        assert!(page.contains("flat within") && page.contains("not shown to be flat"), "{page}");
        // The levels of each, and a table a curve that has a best level.
        let with_best = views.iter().flat_map(|view| &view.curves).filter(|one| one.best.is_some());
        let tables = views.len() + with_best.count();
        assert_eq!(page.matches("<table class=\"sortable\">").count(), tables);
    }

    #[test]
    fn the_best_level_and_those_like_it_are_marked() {
        let sample = Sample::periodic();
        let run = sample.run();
        let (context, view) = (SectionContext::new(0, &run), &sample.study.sweeps[0]);
        let chart = levels_chart(&context, (0, view), &view.curves[0]);
        let standings: Vec<Standing> = chart.levels.iter().map(|level| level.standing).collect();
        assert_eq!(standings, [Standing::Best, Standing::Same, Standing::Other]);
        assert_eq!(chart.flat, Some((0, 1)));
        assert_eq!((chart.levels[2].at, chart.levels[2].label.as_str()), (65536.0, "65536"));
        // Of 150 s and what the blocks add, times 1.5.
        let last = chart.levels[2].value.as_ref().unwrap();
        assert!((last.value - 225.34).abs() < 0.01 && last.tip.ends_with("SLOWER"), "{last:?}");
        assert!(chart.levels.iter().all(|level| level.interval.is_some()));
    }

    #[test]
    fn what_sweeps_nothing_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert!(html_of(&build(&context)).is_empty() && charts_of(&build(&context)).is_empty());
    }
}
