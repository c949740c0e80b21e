//! From what the judge found to views.

use crate::data::PairAtLook;
use crate::judge::{Judge, Pair, QuestionState};
use crate::parallel;
use crate::points::{Class, Point, Points};
use crate::suite::suite;
use crate::view::{
    Excluded, Forecast, ForecastFor, IntervalBy, PairView, QuestionView, RankRow, RerunBlock,
    Verdicts,
};
use crate::{along, effect, factors, watchers};
use fsarena_model::record::TimeBase;
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::{InterimAnalysis, METHOD_VERSION, Pairs, Stop, StopWhy, Verdict};
use fsarena_stats::forecast::{self, Outlook};
use fsarena_stats::{
    Interval, geometric_mean, letters, median, median_order_statistics, paired, standard_deviation,
    tiers,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Share of misses of intervals that no verdict rests on.
const SHOWN_ALPHA: f64 = 0.05;

/// Views of all questions.
pub(super) fn verdicts(
    plan: &RunPlan,
    judge: &Judge<'_>,
    stop: Option<Stop>,
    looks: &[InterimAnalysis],
) -> Verdicts {
    let ask = judge.ask();
    let baseline = match ask.pairs {
        Pairs::All => None,
        Pairs::Baseline { contender } => Some(contender),
    };
    let reference = baseline.or_else(|| first_compared(judge));
    let asked = judge.asked().iter().collect();
    let questions =
        parallel::map(asked, |asked| question(plan, judge, asked, (baseline, reference)));
    let told = |looks: &[InterimAnalysis]| -> Vec<(u32, Vec<_>)> {
        looks.iter().map(|look| (look.blocks, look.decided.clone())).collect()
    };
    let blocks = |list: &[(u32, String)]| -> Vec<RerunBlock> {
        list.iter().map(|(at, why)| RerunBlock { block: at + 1, why: why.clone() }).collect()
    };
    Verdicts {
        method: ask.method,
        computed_by: METHOD_VERSION,
        rule: ask.rule,
        margin: ask.margin,
        baseline: baseline.map(|at| plan.contenders[at].label.clone()),
        reference: reference.map(|at| plan.contenders[at].label.clone()),
        scope: None,
        budget_ns: ask.budget_ns,
        blocks_done: judge.block(),
        blocks_counted: judge.counted(),
        most_blocks: judge.most_blocks(),
        rerun: blocks(judge.rerun()),
        not_rerun: blocks(judge.not_rerun()),
        stop,
        headline: ask.headline,
        suite: suite(plan, judge, reference),
        along: along::rankings(plan, &questions),
        questions,
        // Looks of another version of the method were other looks.
        agrees_with_stored_looks: (!looks.is_empty() && ask.method == METHOD_VERSION)
            .then(|| told(looks) == told(judge.looks().get(..looks.len()).unwrap_or_default())),
    }
}

/// Of all contenders the first that is compared with as many others as any: whoever stands alone
/// (warm beside cold ones) is no reference for them.
fn first_compared(judge: &Judge<'_>) -> Option<usize> {
    let mut partners: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in judge.asked().iter().flat_map(|asked| &asked.pairs) {
        *partners.entry(pair.a).or_default() += 1;
        *partners.entry(pair.b).or_default() += 1;
    }
    partners
        .into_iter()
        .min_by_key(|&(contender, count)| (Reverse(count), contender))
        .map(|it| it.0)
}

fn question(
    plan: &RunPlan,
    judge: &Judge<'_>,
    asked: &QuestionState<'_>,
    (baseline, reference): (Option<usize>, Option<usize>),
) -> QuestionView {
    let question = asked.question;
    let workload = &plan.workloads[question.workload];
    let counted = counted(judge, asked);
    let order = ranking(&counted, plan.contenders.len());
    let labels: Vec<String> = plan.contenders.iter().map(|c| c.label.clone()).collect();
    let pairs: Vec<PairView> = sorted(asked, &order, baseline)
        .map(|pair| pair_view(plan, judge, asked, &counted, pair))
        .collect();
    let reference = reference.filter(|at| order.contains(at)).or(order.iter().min().copied());
    let mut rows: Vec<RankRow> =
        order.iter().map(|&at| row(plan, &counted, at, reference, &pairs)).collect();
    if baseline.is_none() {
        mark(&mut rows, &pairs);
    }
    let watch = watched(&counted, &labels);
    for row in &mut rows {
        row.outliers = watch.outliers.iter().filter(|o| o.contender == row.contender).count();
    }
    QuestionView {
        workload: workload.name.clone(),
        workload_title: workload.title.clone(),
        phase: question.phase.clone(),
        metric: question.metric,
        clock: question.clock,
        changes: workload
            .phases
            .iter()
            .find(|phase| phase.name == question.phase)
            .is_none_or(|phase| phase.op.changes() || !phase.op.is_of_engine()),
        looks: judge.looks().iter().map(|look| look.blocks).collect(),
        left: left(plan, asked, &order),
        factors: factors::analyze(plan, question, &counted),
        rows,
        pairs,
        watch,
    }
}

/// What the watchers see among values that may be compared.
fn watched(points: &Points, labels: &[String]) -> watchers::Watch {
    let classes: BTreeSet<Class> = points.all.iter().map(|point| point.class).collect();
    let mut look = watchers::Watch::default();
    for class in classes {
        let all = points.all.iter().copied().filter(|point| point.class == class).collect();
        let own = watchers::watch(&Points { all, ..Points::default() }, labels);
        look.findings.extend(own.findings);
        look.outliers.extend(own.outliers);
    }
    look
}

/// The values of blocks that count.
fn counted(judge: &Judge<'_>, asked: &QuestionState<'_>) -> Points {
    let mut points = asked.points.clone();
    points.all.retain(|point| judge.is_counted(point.block));
    points
}

/// Contenders with a value, those of one time base after those of another.
fn ranking(points: &Points, contenders: usize) -> Vec<usize> {
    let bases: BTreeSet<TimeBase> = points.all.iter().map(|point| point.class.time_base).collect();
    let mut order = Vec::new();
    for base in bases {
        let ranked = ranking_in(&of_base(points, base), contenders);
        order.extend(ranked.into_iter().filter(|at| !order.contains(at)).collect::<Vec<_>>());
    }
    order
}

/// The values that are counted in `base`.
fn of_base(points: &Points, base: TimeBase) -> Points {
    let all = points.all.iter().copied().filter(|point| point.class.time_base == base).collect();
    Points { all, ..Points::default() }
}

/// Contenders with a value, the least median first. Cold before warm.
fn ranking_in(points: &Points, contenders: usize) -> Vec<usize> {
    let middle = |contender: usize| {
        let own: Vec<f64> = points.of_contender(contender).map(|point| point.read).collect();
        median(&own).ok()
    };
    let cold = |contender: usize| points.of_contender(contender).any(|point| point.class.cold);
    let present = (0..contenders).filter_map(|c| Some((!cold(c), middle(c)?, c)));
    let mut order: Vec<(bool, f64, usize)> = present.collect();
    order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    order.into_iter().map(|(_, _, contender)| contender).collect()
}

/// The pairs in the order of the ranking, each turned so that its better one is `a`; a baseline is
/// always `b`.
fn sorted<'j>(
    asked: &'j QuestionState<'_>,
    order: &[usize],
    baseline: Option<usize>,
) -> impl Iterator<Item = (Pair, &'j Pair)> {
    let place = |contender: usize| order.iter().position(|&at| at == contender);
    let rank = |contender: usize| place(contender).unwrap_or(usize::MAX);
    let mut pairs: Vec<(Pair, &Pair)> = asked
        .pairs
        .iter()
        .map(|pair| {
            let turn = baseline.is_none() && rank(pair.a) > rank(pair.b);
            (if turn { pair.turned() } else { pair.clone() }, pair)
        })
        .collect();
    pairs.sort_by_key(|(pair, _)| (rank(pair.a), rank(pair.b), pair.a, pair.b));
    pairs.into_iter()
}

impl Pair {
    /// The same pair the other way round.
    fn turned(&self) -> Self {
        let look = self.at_look.as_ref().map(PairAtLook::turned);
        Self { a: self.b, b: self.a, is_open: self.is_open, at_look: look }
    }
}

impl PairAtLook {
    fn turned(&self) -> Self {
        let turn = |interval: &Interval| Interval {
            low: -interval.high,
            high: -interval.low,
            level: interval.level,
        };
        let mut turned = self.clone();
        turned.verdict = self.verdict.swapped();
        turned.point = self.point.map(|point| -point);
        turned.found.interval = self.found.interval.as_ref().map(turn);
        turned.found.same = self.found.same.as_ref().map(turn);
        turned
    }
}

fn pair_view(
    plan: &RunPlan,
    judge: &Judge<'_>,
    asked: &QuestionState<'_>,
    points: &Points,
    (pair, stored): (Pair, &Pair),
) -> PairView {
    let look = pair.at_look.as_ref();
    // What was decided stands as of its look, also where later blocks have both again.
    let until = look.map_or(u32::MAX, |look| look.ended);
    let both = points.common(pair.a, pair.b, &|block| block < until);
    let logs: Vec<f64> = both.iter().map(|(a, b)| (a.value / b.value).ln()).collect();
    let sample = paired::PairSample { logs: &logs, floor_sd: 0.0, pooled: None };
    let interval = look.and_then(|look| look.found.interval);
    let same = look.and_then(|look| look.found.same);
    let verdict = look.map_or(Verdict::Undecided, |look| look.verdict);
    let of = |value: fn(&(&Point, &Point)) -> f64| {
        median(&both.iter().map(value).collect::<Vec<f64>>()).ok()
    };
    let medians = [of(|(a, _)| a.value), of(|(_, b)| b.value)];
    let point = look.and_then(|look| look.point).or_else(|| sample.point());
    let outlook = stored.at_look.as_ref().filter(|_| stored.is_open).and_then(|look| {
        let elapsed_ns = of(|(a, _)| a.elapsed_ns as f64)? + of(|(_, b)| b.elapsed_ns as f64)?;
        Some((outlook(judge, asked, look, &sample)?, elapsed_ns / 1e9))
    });
    let is_of_time = asked.question.metric.is_length();
    PairView {
        a: pair.a,
        b: pair.b,
        a_label: plan.contenders[pair.a].label.clone(),
        b_label: plan.contenders[pair.b].label.clone(),
        verdict,
        difference: look
            .and_then(|look| look.found.difference)
            .map(|shown| crate::data::verdict(Some(shown))),
        n: look.map_or(logs.len(), |look| look.n),
        at_blocks: look.map_or(0, |look| look.blocks),
        interval_by: look.map_or(IntervalBy::StudentT, |look| look.interval_by),
        ratio: point.map(f64::exp),
        low: interval.map(|interval| interval.low.exp()),
        high: interval.map(|interval| interval.high.exp()),
        level: interval.map(|interval| interval.level),
        same_low: same.map(|interval| interval.low.exp()),
        same_high: same.map(|interval| interval.high.exp()),
        same_level: same.map(|interval| interval.level),
        mean_ratio: sample.mean().map(f64::exp),
        hl_ratio: sample.hodges_lehmann().map(f64::exp),
        median_ratio: medians[0].zip(medians[1]).map(|(a, b)| a / b),
        shapes_differ: look.is_some_and(|look| look.shapes_differ),
        same_within: look
            .filter(|look| !look.shapes_differ)
            .and_then(|look| look.found.same.as_ref().and_then(forecast::same_within)),
        forecast: outlook.and_then(|(outlook, seconds)| forecast_of(judge, outlook, seconds)),
        no_difference_in_sight: outlook
            .is_some_and(|(outlook, _)| !matches!(outlook, Outlook::Difference(..))),
        machine_effect: point
            .filter(|_| is_of_time && matches!(verdict, Verdict::Faster | Verdict::Slower))
            .and_then(|point| effect::machine_effect(&both, point)),
        why: why(judge, asked, &pair, logs.len()),
    }
}

/// What it would take to decide a pair with these log ratios.
fn outlook(
    judge: &Judge<'_>,
    asked: &QuestionState<'_>,
    look: &PairAtLook,
    sample: &paired::PairSample<'_>,
) -> Option<Outlook> {
    let alpha = judge.last_level().among(asked.pairs.len());
    let margin_log = Some(judge.ask().margin.ln_1p()).filter(|_| !look.shapes_differ);
    forecast::outlook(sample, margin_log, alpha)
}

/// The same in blocks and time; nothing where nothing is in sight.
fn forecast_of(judge: &Judge<'_>, outlook: Outlook, block_seconds: f64) -> Option<Forecast> {
    let (of, low, high) = match outlook {
        Outlook::Difference(low, high) => (ForecastFor::Difference, low, high),
        Outlook::Same(low, high) => (ForecastFor::Same, low, high),
        Outlook::Nothing => return None,
    };
    let now = u64::from(judge.counted());
    // A float beyond u64 becomes its maximum; nothing is decided between two looks.
    let whole = |blocks: f64| {
        let blocks = (blocks.ceil() as u64).max(now + 1);
        judge.look_from(blocks).unwrap_or(blocks)
    };
    let (blocks, most_blocks) = (whole(low), whole(high));
    let (more_blocks, most_more_blocks) = (blocks - now, most_blocks - now);
    Some(Forecast {
        of,
        blocks,
        more_blocks,
        seconds: more_blocks as f64 * block_seconds,
        most_blocks,
        most_more_blocks,
        most_seconds: most_more_blocks as f64 * block_seconds,
    })
}

fn why(judge: &Judge<'_>, asked: &QuestionState<'_>, pair: &Pair, n: usize) -> Option<String> {
    let of = |list: &[usize]| list.iter().filter(|&&at| at == pair.a || at == pair.b).count();
    match &pair.at_look {
        Some(look) if look.verdict != Verdict::Undecided => None,
        Some(_) if n == 0 && of(&asked.points.not_cold) > 0 => {
            Some("cold was asked for and not proved: no value may be compared".to_owned())
        }
        Some(_) if n == 0 => Some("no block has values of both that may be compared".to_owned()),
        Some(_) if n == 1 => Some("one block says nothing about the spread".to_owned()),
        Some(_) if !pair.is_open && judge.finished() != Some(StopWhy::Cap) => {
            Some("one of them gave nothing more".to_owned())
        }
        Some(look) if look.found.is_refused && look.shapes_differ => {
            Some("its shapes differ: mean, typical and median ratio do not agree".to_owned())
        }
        Some(look) if look.found.is_refused => Some(
            "of few blocks mean, typical and median ratio have to agree, and do not".to_owned(),
        ),
        Some(look) if look.found.interval.is_none() => {
            Some("so few blocks have no interval at this level".to_owned())
        }
        Some(_) => None,
        None => Some("not looked at yet".to_owned()),
    }
}

fn row(
    plan: &RunPlan,
    points: &Points,
    contender: usize,
    reference: Option<usize>,
    pairs: &[PairView],
) -> RankRow {
    let base = points.of_contender(contender).map(|point| point.class.time_base).min();
    let points = &of_base(points, base.unwrap_or_default());
    let values: Vec<f64> = points.of_contender(contender).map(|point| point.read).collect();
    let counting: Vec<f64> = points.of_contender(contender).map(|point| point.value).collect();
    let logs: Vec<f64> = counting.iter().map(|value| value.ln()).collect();
    let of_median = median_order_statistics(&values, SHOWN_ALPHA).ok();
    let interval = of_median.and_then(|estimate| match estimate.bounds {
        fsarena_stats::Bounds::Attained(interval) => Some(interval),
        fsarena_stats::Bounds::Unattainable { widest, .. } => widest,
    });
    let interval = interval.filter(|_| values.len() > 1);
    let against = reference.filter(|&at| at != contender).and_then(|at| {
        let is_it = |pair: &&PairView| (pair.a, pair.b) == (contender, at);
        let is_turned = |pair: &&PairView| (pair.a, pair.b) == (at, contender);
        let turned = || pairs.iter().find(is_turned).map(PairView::turned);
        pairs.iter().find(is_it).cloned().or_else(turned)
    });
    RankRow {
        contender,
        label: plan.contenders[contender].label.clone(),
        cold: points.of_contender(contender).any(|point| point.class.cold),
        n: values.len(),
        median: median(&values).unwrap_or(0.0),
        median_low: interval.map(|interval| interval.low),
        median_high: interval.map(|interval| interval.high),
        median_level: interval.map(|interval| interval.level),
        geometric_mean: geometric_mean(&counting).unwrap_or(0.0),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(0.0, f64::max),
        cv: standard_deviation(&logs).ok().flatten(),
        ratio: match &against {
            None => (reference == Some(contender)).then_some(1.0),
            Some(pair) => pair.ratio,
        },
        ratio_n: against.as_ref().map(|pair| pair.n),
        ratio_low: against.as_ref().and_then(|pair| pair.low),
        ratio_high: against.as_ref().and_then(|pair| pair.high),
        against_reference: against.map(|pair| pair.verdict),
        letters: String::new(),
        tier: None,
        outliers: 0,
    }
}

/// Letters and tiers of rows that are sorted; none for who is compared with no other.
fn mark(rows: &mut [RankRow], pairs: &[PairView]) {
    let is_compared =
        |row: &&mut RankRow| pairs.iter().any(|p| [p.a, p.b].contains(&row.contender));
    let mut rows: Vec<&mut RankRow> = rows.iter_mut().filter(is_compared).collect();
    let verdict = |a: usize, b: usize| {
        let (a, b) = (rows[a].contender, rows[b].contender);
        let is_it = |pair: &&PairView| [(a, b), (b, a)].contains(&(pair.a, pair.b));
        pairs.iter().find(is_it).map(|pair| pair.verdict)
    };
    let table = |wanted: fn(Option<Verdict>) -> bool| -> Vec<Vec<bool>> {
        let row = |a| (0..rows.len()).map(|b| a != b && wanted(verdict(a, b))).collect();
        (0..rows.len()).map(row).collect()
    };
    // Cold and warm are never compared, and share no letter.
    let differ = table(|verdict| matches!(verdict, None | Some(Verdict::Faster | Verdict::Slower)));
    let same = table(|verdict| verdict == Some(Verdict::Same));
    let (letters, tiers) = (letters::letters(&differ), tiers(&same));
    for ((row, letters), tier) in rows.iter_mut().zip(letters).zip(tiers) {
        row.letters = letters;
        row.tier = tier.and_then(|number| u32::try_from(number).ok());
    }
}

/// Contenders of the plan that have no value.
fn left(plan: &RunPlan, asked: &QuestionState<'_>, order: &[usize]) -> Vec<Excluded> {
    let why = |contender: usize| {
        let left_out = plan.not_run.iter().find(|one| {
            one.contender == contender
                && one.workload.is_none_or(|work| work == asked.question.workload)
        });
        if let Some(left_out) = left_out {
            return left_out.reason.clone();
        }
        if asked.points.not_cold.contains(&contender) {
            return "cold was asked for and not proved".to_owned();
        }
        if asked.points.not_warm.contains(&contender) {
            return "warm was asked for, and it was not warm".to_owned();
        }
        if asked.points.no_device_time.contains(&contender) {
            return "no device time: it asked nothing of the disk".to_owned();
        }
        if asked.points.bad_contents.contains(&contender) {
            return "its contents were wrong when read again".to_owned();
        }
        "no trial gave this figure".to_owned()
    };
    let missing = (0..plan.contenders.len()).filter(|at| !order.contains(at));
    missing
        .map(|contender| Excluded {
            contender,
            label: plan.contenders[contender].label.clone(),
            why: why(contender),
        })
        .collect()
}
