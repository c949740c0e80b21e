//! Strong scaling: how many times as fast more ranks or hosts are at the same work, and how far
//! that is from doing it in proportion.

use crate::context::SectionContext;
use crate::format::{Scale, three};
use crate::labels::scaling_title;
use crate::pictures::file_name;
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use crate::text::capital;
use fsarena_chart::{Axis, Head, Level, Levels, Spot, Standing};
use fsarena_model::verdict::Verdict;
use fsarena_study::{ScalingLevel, ScalingView, Study};

const LEGEND: &str = "Scaling: contenders that differ in the number of their ranks or hosts alone \
     and do the same work together, on a dataset that does not grow (strong scaling). Rates are of \
     all ranks together, geometric means over trials with 95 % intervals; speed-up is the time of \
     the fewest ÷ the time of more, by the blocks that have both, as verdicts compare (it need not \
     be the quotient of the rates); efficiency is speed-up ÷ (number ÷ the fewest), and 100 % is in \
     proportion. FASTER and SLOWER are said where the interval of the speed-up excludes 1, and \
     SAME where two one-sided tests within the margin show it; all pairs of levels of a curve are \
     one family, each curve has its own. These were not asked before block 1: what the RUN asked is \
     answered by its verdicts.";

/// Its blocks: of each curve its charts, one a phase, its table, and what is decided in words;
/// nothing where neither ranks nor hosts vary.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let views = &context.run.study.scaling;
    let is_of_one = |a: &ScalingView, b: &ScalingView| {
        (&a.workload, &a.contender, a.over) == (&b.workload, &b.contender, b.over)
    };
    let mut blocks = Vec::new();
    let mut number = 0;
    for phases in views.chunk_by(is_of_one) {
        blocks.push(Block::Heading(scaling_title(&phases[0])));
        let drawn = |(at, view): (usize, &ScalingView)| {
            (chart(context, number + at, view).draw(), caption(view))
        };
        blocks.extend(context.charts(|| phases.iter().enumerate().map(drawn).collect()));
        number += phases.len();
        blocks.push(Block::Table(table(context, phases)));
        let words = |view: &ScalingView| {
            Block::List(Some(Owner::named(view.phase.as_str())), view.words.clone())
        };
        blocks.extend(phases.iter().map(words));
    }
    if blocks.is_empty() { Section::none() } else { Section::new(blocks).legend(LEGEND) }
}

/// A row a phase and level.
fn table(context: &SectionContext<'_>, phases: &[ScalingView]) -> Table {
    let first = &phases[0];
    let columns = [
        Column::text("phase"),
        Column::figure(first.over.name()),
        Column::figure("rate"),
        Column::figure("95 % interval").optional(3),
        Column::figure("speed-up"),
        Column::figure("interval"),
        Column::figure("efficiency"),
        Column::figure("interval, %").narrow().optional(2),
        Column::text("shown").optional(1),
        Column::figure("n").optional(4),
    ];
    let mut table = Table::new(columns).caption(scaling_title(first)).sortable();
    for view in phases {
        let scale = scale(context.run.study, context, view);
        for level in &view.levels {
            table.row(row(view, level, scale));
        }
    }
    table
}

fn row(view: &ScalingView, level: &ScalingLevel, scale: Option<Scale>) -> [Cell; 10] {
    let rate = |per_s: f64| scale.map_or_else(|| three(per_s), |scale| scale.text(per_s));
    let bare = |per_s: f64| scale.map_or_else(|| three(per_s), |scale| scale.bare(per_s));
    let between = |ends: Option<(f64, f64)>, text: &dyn Fn(f64) -> String| {
        Cell::maybe(ends.map(|(low, high)| (format!("{} - {}", text(low), text(high)), low)))
    };
    let percent = |share: f64| three(share * 100.0);
    let shown = level.against_fewest.map_or("-", Verdict::word);
    [
        Cell::text(view.phase.as_str()),
        Cell::count(level.number as usize),
        Cell::maybe(level.per_s.map(|per_s| (rate(per_s), per_s))),
        between(level.per_s_low.zip(level.per_s_high), &bare),
        Cell::maybe(level.speed_up.map(|times| (three(times), times))),
        between(level.speed_up_low.zip(level.speed_up_high), &three),
        Cell::maybe(level.efficiency.map(|share| (format!("{} %", percent(share)), share))),
        between(level.efficiency_low.zip(level.efficiency_high), &percent),
        Cell::text(if level.number == view.levels[0].number { "fewest" } else { shown }),
        Cell::count(level.n),
    ]
}

/// The unit in which the rates of a phase are written everywhere.
fn scale(study: &Study, context: &SectionContext<'_>, view: &ScalingView) -> Option<Scale> {
    let style = context.style.rate.unwrap_or(study.rate_style);
    let mut tables = study.tables.iter();
    let own = tables.find(|one| (&one.workload, &one.phase) == (&view.workload, &view.phase))?;
    Some(Scale::for_table(own, style))
}

fn caption(view: &ScalingView) -> String {
    let words: Vec<String> = view.words.iter().map(|one| format!("{}.", capital(one))).collect();
    words.join(" ")
}

/// The curve of a phase with the line of what would be in proportion; `number` is its place among
/// those of the RUN, from 0.
fn chart(context: &SectionContext<'_>, number: usize, view: &ScalingView) -> Levels {
    let over = view.over.name();
    let fewest = view.levels[0].number;
    let level = |level: &ScalingLevel| Level {
        at: f64::from(level.number),
        label: level.number.to_string(),
        value: level.speed_up.map(|value| Spot { value, tip: tip(view, level) }),
        interval: level.speed_up_low.zip(level.speed_up_high),
        standing: Standing::Other,
    };
    let shown = |level: &ScalingLevel| {
        level.speed_up.map(|value| format!("{} with {}", three(value), level.number))
    };
    let values: Vec<String> = view.levels.iter().filter_map(shown).collect();
    Levels {
        head: Head {
            id: format!("{}-scaling-{}", context.prefix, number + 1),
            name: file_name(&[&view.workload, &view.phase, over, "scaling"]),
            title: format!("{}, {}: speed-up", scaling_title(view), view.phase),
            description: format!("{} Speed-up: {}.", caption(view), values.join(", ")),
        },
        axis: Axis::linear(
            format!("{}: speed-up over {} (more is better)", view.phase, view.over.count(fewest)),
            "×",
        ),
        option: over.to_owned(),
        hue: view.levels[0].contender,
        levels: view.levels.iter().map(level).collect(),
        others: "speed-up".to_owned(),
        proportional: Some((1.0 / f64::from(fewest), "ideal: in proportion".to_owned())),
        ..Levels::default()
    }
}

/// `directory ranks=4: 3.10 times as fast [2.80, 3.40], efficiency 77.5 %, FASTER`.
fn tip(view: &ScalingView, level: &ScalingLevel) -> String {
    let label = &level.label;
    if level.number == view.levels[0].number {
        return format!("{label}: what the others are compared with");
    }
    let mut tip = format!("{label}: {} times as fast", three(level.speed_up.unwrap_or_default()));
    if let Some((low, high)) = level.speed_up_low.zip(level.speed_up_high) {
        tip.push_str(&format!(" [{}, {}]", three(low), three(high)));
    }
    if let Some(efficiency) = level.efficiency {
        tip.push_str(&format!(", efficiency {} %", three(efficiency * 100.0)));
    }
    if let Some(verdict) = level.against_fewest {
        tip.push_str(&format!(", {}", verdict.word()));
    }
    tip
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_testkit::records::{self, in_ranks, scaled};

    #[test]
    fn a_phase_has_a_chart_with_its_intervals_and_the_ideal() {
        let (header, trials) =
            scaled(in_ranks(&[2, 4, 8]), 6, |contender, _| [1.0, 1.9, 2.0][contender]);
        let sample = Sample::new(header, trials);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let section = build(&context);
        let drawn = charts_of(&section);
        assert_eq!(drawn.len(), sample.study.scaling.len());
        assert!(drawn.len() > 1 && drawn.iter().all(|chart| chart.marks == 3), "{drawn:?}");
        assert_eq!((drawn[0].id.as_str(), drawn[1].id.as_str()), ("r1-scaling-1", "r1-scaling-2"));
        let view = &sample.study.scaling[0];
        let page = html_of(&section);
        assert!(page.contains(&caption(view)), "{page}");
        let chart = chart(&context, 0, view);
        assert_eq!(chart.proportional, Some((0.5, "ideal: in proportion".to_owned())));
        let level = &chart.levels[1];
        let (low, high) = level.interval.unwrap();
        assert!(low < 1.9 && 1.9 < high && level.at == 4.0, "{level:?}");
        let tip = &level.value.as_ref().unwrap().tip;
        assert!(tip.starts_with("directory ranks=4: 1.9") && tip.ends_with("%, FASTER"), "{tip}");
        assert_eq!(chart.levels[0].interval, None);
    }

    #[test]
    fn a_run_of_one_number_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 2);
        let run = sample.run();
        assert!(html_of(&build(&SectionContext::new(0, &run))).is_empty());
    }
}
