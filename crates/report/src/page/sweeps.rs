//! Response curves: every measure over the levels of a swept option, and where it is flat.

use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::page::pictures::{self, Unit};
use crate::sweeps::{LEGEND as SWEEP_LEGEND, sweep_title};
use fsarena_chart::Svg;
use fsarena_study::sweep::SweepPoint;
use fsarena_study::{SweepCurve, SweepView};
use maud::{Markup, html};

/// The section of one RUN; empty where nothing was swept.
pub(crate) fn section(context: &SectionContext<'_>) -> Markup {
    let views = &context.run.study.sweeps;
    if views.is_empty() {
        return html! {};
    }
    let body = html! {
        (parts::note(SWEEP_LEGEND))
        @for (at, view) in views.iter().enumerate() { (sweep(context, at, view)) }
    };
    parts::section(context, "sweeps", "Response curves", &body)
}

/// Its charts, in their order on the page.
pub(crate) fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let views = context.run.study.sweeps.iter().enumerate();
    views
        .flat_map(|(at, view)| {
            view.curves.iter().map(move |curve| pictures::levels(context, (at, view), curve).draw())
        })
        .collect()
}

fn sweep(context: &SectionContext<'_>, at: usize, view: &SweepView) -> Markup {
    html! {
        (parts::heading(&sweep_title(view)))
        div.pair {
            @for curve in &view.curves {
                @let chart = pictures::levels(context, (at, view), curve).draw();
                (parts::figure(&chart, &format!("{}.", sentence(&curve.words))))
            }
        }
        (means(view))
        (parts::fold("Intervals, ratios to the best level and what is shown",
            &html! { (intervals(view)) }))
    }
}

/// With a capital letter.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A row a level, a column a measure.
fn means(view: &SweepView) -> Table {
    let mut columns = vec![Column::figure(view.option.as_str(), "")];
    columns.extend(
        view.curves
            .iter()
            .map(|curve| Column::figure(curve.measure.name(), pictures::unit_of(curve).name)),
    );
    let slack = view.levels.iter().filter_map(|level| Some(level.slack_bytes?.median.abs()));
    let unit = Unit::of_bytes(slack.fold(0.0, f64::max).round() as u64);
    columns.push(Column::figure("slack", unit.name));
    columns.push(Column::text("contender"));
    let caption = format!("{}: geometric means over trials", sweep_title(view));
    let mut table = Table::new(caption, columns).sortable();
    for (at, level) in view.levels.iter().enumerate() {
        let mut cells = vec![Cell::figure(&level.text, level.value as f64)];
        cells.extend(view.curves.iter().map(|curve| {
            let mean = curve.points.get(at).and_then(|point| point.geometric_mean);
            let figure = mean.map(|mean| pictures::level_figure(curve, mean));
            marked(figure, curve.best == Some(at))
        }));
        cells.push(Cell::maybe(level.slack_bytes.map(|slack| {
            let sign = if slack.median < 0.0 { "-" } else { "" };
            (format!("{sign}{}", unit.text(slack.median.abs())), unit.convert(slack.median))
        })));
        cells.push(Cell::markup(parts::swatch(level.contender, &level.label)));
        table.row(cells);
    }
    table
}

/// A figure, bold where it is the best of its column.
fn marked(figure: Option<(String, f64)>, is_best: bool) -> Cell {
    match figure {
        Some((text, value)) if is_best => Cell::strong(text, value),
        figure => Cell::maybe(figure),
    }
}

/// A row a measure and level.
fn intervals(view: &SweepView) -> Table {
    let columns = vec![
        Column::text("measure"),
        Column::figure(view.option.as_str(), ""),
        Column::figure("mean", ""),
        Column::figure("95 % interval", ""),
        Column::figure("to the best", ""),
        Column::figure("interval", ""),
        Column::text("shown"),
        Column::figure("trials", ""),
    ];
    let caption = format!("{}: intervals", sweep_title(view));
    let mut table = Table::new(caption, columns).sortable();
    for curve in view.curves.iter().filter(|curve| curve.best.is_some()) {
        for (at, (level, point)) in view.levels.iter().zip(&curve.points).enumerate() {
            let head =
                [Cell::text(curve.measure.name()), Cell::figure(&level.text, level.value as f64)];
            table.row(head.into_iter().chain(point_cells(curve, at, point)).collect());
        }
    }
    table
}

fn point_cells(curve: &SweepCurve, at: usize, point: &SweepPoint) -> [Cell; 6] {
    let text = |value: f64| curve.measure.text(value);
    let ratio = |value: f64| format!("{value:.3}");
    let between = |ends: Option<(f64, f64)>, text: &dyn Fn(f64) -> String| {
        let words = |(low, high): (f64, f64)| (format!("{} – {}", text(low), text(high)), low);
        Cell::maybe(ends.map(words))
    };
    [
        Cell::maybe(point.geometric_mean.map(|mean| (text(mean), mean))),
        between(point.low.zip(point.high), &text),
        Cell::maybe(point.ratio_to_best.map(|value| (ratio(value), value))),
        between(point.ratio_low.zip(point.ratio_high), &ratio),
        curve.shown(at).map_or_else(Cell::none, Cell::text),
        Cell::figure(point.n.to_string(), point.n as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::pictures::sample::Sample;
    use fsarena_chart::Standing;
    use fsarena_testkit::records;

    #[test]
    fn a_file_system_and_measure_has_a_chart_with_its_sentence() {
        let sample = Sample::periodic();
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let (views, drawn) = (&sample.study.sweeps, charts(&context));
        assert_eq!(views.len(), 2, "one a file system");
        let curves: usize = views.iter().map(|view| view.curves.len()).sum();
        assert_eq!(drawn.len(), curves);
        assert!(drawn.iter().all(|chart| chart.marks == 3), "{drawn:?}");
        assert_eq!(drawn[0].id, "r1-s1-work");
        let page = section(&context).into_string();
        for curve in views.iter().flat_map(|view| &view.curves) {
            assert!(page.contains(&sentence(&curve.words)), "{}: {page}", curve.words);
        }
        assert!(page.contains("flat within") && page.contains("not shown to be flat"), "{page}");
        assert_eq!(page.matches("<table class=\"sortable\">").count(), 4);
    }

    #[test]
    fn the_best_level_and_those_like_it_are_marked() {
        let sample = Sample::periodic();
        let run = sample.run();
        let (context, view) = (SectionContext::new(0, &run), &sample.study.sweeps[0]);
        let chart = pictures::levels(&context, (0, view), &view.curves[0]);
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
        assert!(section(&context).into_string().is_empty() && charts(&context).is_empty());
    }
}
