//! Curves over the levels of a workload's parameter: the rate of every contender at each level,
//! what the verdicts say there, and where rankings cross.

use crate::context::SectionContext;
use crate::format::Scale;
use crate::pictures::{file_name, key};
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use crate::text::capital;
use crate::verdict::text::figure;
use fsarena_chart::{Axis, Head, LevelCurve, LevelCurves, LevelPoint, Spot};
use fsarena_model::run::RateStyle;
use fsarena_model::verdict::Verdict;
use fsarena_study::{ParameterCurves, ParameterPoint, RateUnit};
use fsarena_verdict::{PairAlong, RankingAlong};

/// Pairs that have a column of verdicts each, and pairs whose sentences are all said.
const MOST_COLUMNS: usize = 3;
const MOST_SENTENCES: usize = 6;

const LEGEND: &str = "Over levels: the same workload with one of its parameters at several levels. \
     Rates are geometric means over trials with 95 % intervals (t of the logarithms), of every \
     level by itself: another level is other work, and levels are not compared with each other. \
     FASTER and SLOWER are the verdicts of this RUN at that level, each a question of its own. A \
     ranking crosses where the verdicts decide for the one contender at some levels and for the \
     other at others; nothing is said of what lies between two levels.";

/// Its blocks: of each line of levels its charts, one a phase, a table, and where rankings cross;
/// nothing where no parameter varies.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let views = &context.run.study.parameters;
    let is_of_one = |a: &ParameterCurves, b: &ParameterCurves| {
        (&a.workload, a.parameter, &a.others) == (&b.workload, b.parameter, &b.others)
    };
    let mut blocks = Vec::new();
    let mut number = 0;
    for phases in views.chunk_by(is_of_one) {
        blocks.push(Block::Heading(title(&phases[0])));
        let drawn = |(at, view): (usize, &ParameterCurves)| {
            (chart(context, number + at, view).draw(), caption(context, view))
        };
        blocks.extend(context.charts(|| phases.iter().enumerate().map(drawn).collect()));
        number += phases.len();
        blocks.push(Block::Table(table(context, phases)));
        for view in phases {
            for ranking in rankings(context, view) {
                let owner = Owner::named(asked(context, ranking));
                blocks.push(Block::List(Some(owner), sentences(ranking)));
            }
        }
    }
    if blocks.is_empty() { Section::none() } else { Section::new(blocks).legend(LEGEND) }
}

/// `random-io over bs, iodepth=16`.
fn title(view: &ParameterCurves) -> String {
    let ParameterCurves { workload, parameter, others, .. } = view;
    let others = if others.is_empty() { String::new() } else { format!(", {others}") };
    format!("{workload} over {}{others}", parameter.key())
}

/// What was asked of a phase along its levels.
fn rankings<'c>(context: &'c SectionContext<'_>, view: &ParameterCurves) -> Vec<&'c RankingAlong> {
    let all = context.run.verdicts.map_or(&[][..], |verdicts| &verdicts.along);
    let is_own = |one: &&RankingAlong| {
        (&one.workload, &one.phase, one.parameter, &one.others)
            == (&view.workload, &view.phase, view.parameter, &view.others)
    };
    all.iter().filter(is_own).collect()
}

/// The phase, with the figure where that is not the length of its work.
fn asked(context: &SectionContext<'_>, ranking: &RankingAlong) -> String {
    let is_plain = ranking.metric.is_length() && ranking.clock == context.run.study.compared_clock;
    match is_plain {
        true => ranking.phase.clone(),
        false => {
            format!("{}, {}", ranking.phase, figure(ranking.metric, ranking.clock, true))
        }
    }
}

/// What the verdicts say along the levels; of many pairs, where rankings cross.
fn sentences(ranking: &RankingAlong) -> Vec<String> {
    if ranking.pairs.len() <= MOST_SENTENCES {
        return ranking.pairs.iter().map(|pair| pair.words.clone()).collect();
    }
    let crossing = ranking.pairs.iter().filter(|pair| pair.crosses);
    let mut all: Vec<String> = crossing.map(|pair| pair.words.clone()).collect();
    let others = ranking.pairs.len() - all.len();
    all.push(format!("the rankings of {others} other pairs are not shown to cross"));
    all
}

fn caption(context: &SectionContext<'_>, view: &ParameterCurves) -> String {
    let all = rankings(context, view).into_iter().filter(|one| one.metric.is_length());
    // A label is not written with a capital.
    let is_label = |one: &str| view.curves.iter().any(|curve| one.starts_with(&curve.label));
    let words = all.flat_map(sentences).map(|one| match is_label(&one) {
        true => format!("{one}."),
        false => format!("{}.", capital(&one)),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The unit of all rates of a view.
fn scale(context: &SectionContext<'_>, view: &ParameterCurves) -> Scale {
    let style = context.style.rate.unwrap_or(context.run.study.rate_style);
    let points = view.curves.iter().flat_map(|curve| &curve.points);
    let mut rates = points.filter_map(|point| point.per_s);
    match view.unit {
        RateUnit::Files => Scale::Files,
        RateUnit::Dirs => Scale::Dirs,
        RateUnit::Ops => Scale::Iops,
        RateUnit::Time => Scale::Mb,
        RateUnit::Bytes if style == RateStyle::Article2003 => Scale::ArticleKb,
        RateUnit::Bytes if rates.all(|per_s| per_s >= 1_048_576.0) => Scale::Mib,
        RateUnit::Bytes => Scale::Kib,
    }
}

/// A row a phase and level: the rate of each contender, and the verdicts of up to three pairs.
fn table(context: &SectionContext<'_>, phases: &[ParameterCurves]) -> Table {
    let first = &phases[0];
    let contenders = contenders(phases);
    let pairs = pairs(context, phases);
    let mut columns = vec![Column::text("phase"), Column::figure(first.parameter.key())];
    columns.extend(contenders.iter().map(|(_, label)| Column::figure(label.as_str()).narrow()));
    columns.extend(pairs.iter().map(|pair| {
        Column::text(format!("{} against {}", pair.a_label, pair.b_label)).narrow().optional(1)
    }));
    columns.extend(contenders.iter().map(|(_, label)| {
        Column::figure(format!("95 % interval of {label}")).narrow().optional(2)
    }));
    columns.push(Column::figure("n").optional(3));
    let mut table = Table::new(columns).caption(title(first)).sortable();
    for view in phases {
        let scale = scale(context, view);
        for (at, level) in view.levels.iter().enumerate() {
            let point = |contender: usize| {
                let curve = view.curves.iter().find(|curve| curve.contender == contender);
                curve.and_then(|curve| curve.points.get(at)).copied().unwrap_or_default()
            };
            let points: Vec<ParameterPoint> =
                contenders.iter().map(|&(contender, _)| point(contender)).collect();
            let rate = |point: &ParameterPoint| {
                Cell::maybe(point.per_s.map(|per_s| (scale.text(per_s), per_s)))
            };
            let interval = |point: &ParameterPoint| {
                let ends = point.per_s_low.zip(point.per_s_high);
                Cell::maybe(ends.map(|(low, high)| {
                    (format!("{} - {}", scale.bare(low), scale.bare(high)), low)
                }))
            };
            let own = rankings(context, view);
            let own: Vec<&PairAlong> =
                own.first().map(|one| &one.pairs).into_iter().flatten().collect();
            let shown = |pair: &&PairAlong| {
                let known = own.iter().find(|one| (one.a, one.b) == (pair.a, pair.b));
                let verdict = known.and_then(|one| one.levels.get(at)?.verdict);
                Cell::text(verdict.map_or("-", Verdict::word))
            };
            let mut cells = vec![
                Cell::text(view.phase.as_str()),
                Cell::figure(level.text.as_str(), level.value as f64),
            ];
            cells.extend(points.iter().map(rate));
            cells.extend(pairs.iter().map(shown));
            cells.extend(points.iter().map(interval));
            cells.push(Cell::count(points.iter().map(|point| point.n).min().unwrap_or(0)));
            table.row(cells);
        }
    }
    table
}

/// Contenders with a figure in any of the phases, with their labels.
fn contenders(phases: &[ParameterCurves]) -> Vec<(usize, String)> {
    let curves = phases.iter().flat_map(|view| &view.curves);
    let mut all: Vec<(usize, String)> =
        curves.map(|curve| (curve.contender, curve.label.clone())).collect();
    all.sort();
    all.dedup();
    all
}

/// The pairs of the first question of the phases, where they are few.
fn pairs<'c>(context: &'c SectionContext<'_>, phases: &[ParameterCurves]) -> Vec<&'c PairAlong> {
    let all = phases.iter().filter_map(|view| rankings(context, view).first().copied());
    let pairs = all.map(|one| one.pairs.iter().collect::<Vec<_>>()).max_by_key(Vec::len);
    pairs.filter(|pairs| pairs.len() <= MOST_COLUMNS).unwrap_or_default()
}

/// The curves of a phase; `number` is its place among those of the RUN, from 0.
fn chart(context: &SectionContext<'_>, number: usize, view: &ParameterCurves) -> LevelCurves {
    let scale = scale(context, view);
    let curve = |curve: &fsarena_study::ParameterCurve| LevelCurve {
        key: key(curve.contender, curve.label.as_str()),
        points: curve
            .points
            .iter()
            .zip(&view.levels)
            .map(|(point, level)| LevelPoint {
                value: point.per_s.map(|per_s| Spot {
                    value: scale.value(per_s),
                    tip: tip(&curve.label, &level.text, point, scale),
                }),
                interval: point
                    .per_s_low
                    .zip(point.per_s_high)
                    .map(|(low, high)| (scale.value(low), scale.value(high))),
            })
            .collect(),
    };
    let title = title(view);
    LevelCurves {
        head: Head {
            id: format!("{}-parameter-{}", context.prefix, number + 1),
            name: file_name(&[&view.workload, &view.phase, view.parameter.key(), &view.others]),
            title: format!("{title}, {}", view.phase),
            description: description(context, view, scale),
        },
        axis: Axis::linear(format!("{}, {} (more is better)", view.phase, scale.name()), ""),
        parameter: view.parameter.key().to_owned(),
        levels: view.levels.iter().map(|one| (one.value as f64, one.text.clone())).collect(),
        curves: view.curves.iter().map(curve).collect(),
    }
}

/// `xfs at 64 KiB: 312 MiB/s [301, 324], 8 trials`.
fn tip(label: &str, level: &str, point: &ParameterPoint, scale: Scale) -> String {
    let mut tip = format!("{label} at {level}: {}", scale.text(point.per_s.unwrap_or_default()));
    if let Some((low, high)) = point.per_s_low.zip(point.per_s_high) {
        tip.push_str(&format!(" [{}, {}]", scale.bare(low), scale.bare(high)));
    }
    format!("{tip}, {}", crate::format::count(point.n, "trial"))
}

fn description(context: &SectionContext<'_>, view: &ParameterCurves, scale: Scale) -> String {
    let curve = |curve: &fsarena_study::ParameterCurve| {
        let value = |(point, level): (&ParameterPoint, &fsarena_study::ParameterLevelView)| {
            Some(format!("{} at {}", scale.text(point.per_s?), level.text))
        };
        let values: Vec<String> = curve.points.iter().zip(&view.levels).filter_map(value).collect();
        format!("{}: {}.", curve.label, values.join(", "))
    };
    let curves: Vec<String> = view.curves.iter().map(curve).collect();
    format!("{} {}", caption(context, view), curves.join(" ")).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_testkit::records::{self, over_block_sizes};

    #[test]
    fn a_phase_has_a_chart_with_every_contender_and_what_crosses() {
        let times = [0.8, 1.0, 1.5];
        let (header, trials) =
            over_block_sizes(8, |contender, level| if contender == 1 { times[level] } else { 1.0 });
        let sample = Sample::new(header, trials);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        let section = build(&context);
        let drawn = charts_of(&section);
        assert_eq!((drawn.len(), drawn[0].marks), (1, 6), "two contenders at three levels");
        assert_eq!(drawn[0].id, "r1-parameter-1");
        let page = html_of(&section);
        assert!(page.contains("xfs is faster than ext4 at bs=4 KiB, slower at 1 MiB"), "{page}");
        let chart = chart(&context, 0, &sample.study.parameters[0]);
        let at: Vec<f64> = chart.levels.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [4096.0, 65536.0, 1_048_576.0]);
        let point = &chart.curves[1].points[0];
        let (low, high) = point.interval.unwrap();
        let spot = point.value.as_ref().unwrap();
        assert!(low < spot.value && spot.value < high);
        assert!(spot.tip.starts_with("xfs at 4 KiB: ") && spot.tip.ends_with(", 8 trials"));
    }

    /// Levels come from a database that may be anybody's.
    #[test]
    fn any_levels_are_drawn() {
        for values in [[0, 0, 0], [0, 1, u64::MAX], [u64::MAX, 5, 5]] {
            let (mut header, trials) = over_block_sizes(2, |_, _| 1.0);
            for (workload, value) in header.plan.workloads.iter_mut().zip(values) {
                workload.levels.as_mut().unwrap().levels[0].value = value;
            }
            let sample = Sample::new(header, trials);
            let run = sample.run();
            let drawn = charts_of(&build(&SectionContext::new(0, &run))).len();
            assert_eq!(drawn, 1, "{values:?}");
        }
    }

    #[test]
    fn a_run_without_levels_has_no_such_section() {
        let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 2);
        let run = sample.run();
        assert!(html_of(&build(&SectionContext::new(0, &run))).is_empty());
    }
}
