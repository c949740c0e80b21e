//! Verdicts in sentences: the headline, the answer to each question as somebody would say it aloud,
//! and each pair by itself, with its blocks, interval and margin.

use crate::format::count;
use crate::text::Detail;
use crate::verdict::text::{
    Claim, about, blocks, claim, figure, listed, margin, percent, ratio, ratio_and_interval,
    ratio_within, value,
};
use fsarena_model::verdict::{Metric, Rule, Verdict};
use fsarena_verdict::{Forecast, ForecastFor, PairView, QuestionView, RankRow, Verdicts};

/// The headline as one sentence.
pub(super) fn headline(verdicts: &Verdicts) -> String {
    let Some(question) = verdicts.headline.and_then(|at| verdicts.questions.get(at)) else {
        let questions = count(verdicts.questions.len(), "question");
        return format!("No headline was fixed before block 1; {questions} asked.");
    };
    let about = format!(
        "Headline, {} {} ({})",
        question.workload,
        question.phase,
        figure(question.metric, question.clock, question.changes)
    );
    format!("{about}: {}.", headline_answer(verdicts, question))
}

fn headline_answer(verdicts: &Verdicts, question: &QuestionView) -> String {
    match question.pairs.as_slice() {
        [] => nothing(question),
        [pair] => pair_sentence(verdicts, question, pair),
        pairs => among_several(verdicts, question, pairs),
    }
}

fn nothing(question: &QuestionView) -> String {
    let rows = count(question.rows.len(), "contender");
    let left = match question.left.len() {
        0 => String::new(),
        left => format!(", {left} left out"),
    };
    format!("nothing to compare, {rows} with figures{left}")
}

/// The leader (against a baseline: the best of the others) in full, of the rest how many there are.
fn among_several(verdicts: &Verdicts, question: &QuestionView, pairs: &[PairView]) -> String {
    let rows = &question.rows;
    let baseline = verdicts.baseline.as_ref();
    let first = rows.iter().find(|row| Some(&row.label) != baseline);
    let leader = match (first, baseline) {
        (Some(best), Some(_)) => {
            pairs.iter().find(|pair| pair.a == best.contender || pair.b == best.contender).cloned()
        }
        (Some(best), None) => {
            rows.iter().find_map(|next| between(question, best.contender, next.contender))
        }
        (None, _) => None,
    };
    let Some(leader) = leader else { return nothing(question) };
    let mut text = format!("{}; ", pair_sentence(verdicts, question, &leader));
    match (baseline, first) {
        (Some(baseline), _) => {
            let said = pairs.iter().map(|pair| {
                if pair.a_label == *baseline { pair.verdict.swapped() } else { pair.verdict }
            });
            let contenders = count(pairs.len(), "contender");
            text.push_str(&format!("against {baseline}, of {contenders}: {}", tally(said)));
        }
        (None, Some(best)) => {
            let all: Vec<Verdict> = rows
                .iter()
                .filter_map(|row| between(question, best.contender, row.contender))
                .map(|pair| pair.verdict)
                .collect();
            let (best, others) = (&best.label, count(all.len(), "other"));
            text.push_str(&format!("{best} against all {others}: {}", tally(all.into_iter())));
        }
        (None, None) => {}
    }
    text
}

/// `4 FASTER, 1 SAME and 2 UNDECIDED`.
fn tally(said: impl Iterator<Item = Verdict> + Clone) -> String {
    const ORDER: [Verdict; 4] =
        [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Undecided];
    let parts: Vec<String> = ORDER
        .into_iter()
        .map(|verdict| (said.clone().filter(|&one| one == verdict).count(), verdict))
        .filter(|&(n, _)| n > 0)
        .map(|(n, verdict)| format!("{n} {}", verdict.word()))
        .collect();
    listed(&parts)
}

/// With more contenders than this only what is not decided and what stands side by side is listed.
const ALL_PAIRS_UP_TO: usize = 6;

/// What is said of a pair, in one sentence without a full stop.
pub(super) fn pair_sentence(
    verdicts: &Verdicts,
    question: &QuestionView,
    pair: &PairView,
) -> String {
    let (low, high) = pair.interval().unzip();
    let mut text = claim(&Claim {
        a: &pair.a_label,
        b: &pair.b_label,
        verdict: pair.verdict,
        metric: question.metric,
        margin: verdicts.margin,
        ratio: pair.ratio,
        low,
        high,
    });
    if pair.ratio.is_some() && (low.is_none() || high.is_none()) {
        text.push_str(" (no interval)");
    }
    text.push_str(if pair.ratio.is_some() { ", " } else { ": " });
    text.push_str(&counted(pair));
    if is_early(verdicts, pair) {
        text.push_str(" (early stop)");
    }
    if pair.verdict != Verdict::Same {
        text.push_str(&format!(", margin {}", margin(verdicts.margin)));
    }
    for part in additions(pair) {
        text.push_str("; ");
        text.push_str(&part);
    }
    text
}

/// Whether the pair was decided before the last look that there could have been.
pub(super) fn is_early(verdicts: &Verdicts, pair: &PairView) -> bool {
    match verdicts.rule {
        Rule::Looks { cap } => pair.verdict != Verdict::Undecided && pair.at_blocks < cap,
        Rule::Fixed { .. } | Rule::Fit { .. } => false,
    }
}

/// `8 blocks`, or `7 of 8 blocks` where one of them lacks a value.
fn counted(pair: &PairView) -> String {
    let n = pair.n as u64;
    let all = u64::from(pair.at_blocks);
    if n >= all { blocks(n) } else { format!("{n} of {}", blocks(all)) }
}

/// What has to be said with verdict, ratio, blocks and margin.
fn additions(pair: &PairView) -> Vec<String> {
    let mut parts = Vec::new();
    if pair.shapes_differ {
        parts.push(shapes(pair));
    }
    let undecided = pair.verdict == Verdict::Undecided;
    let within = pair.same_within.filter(|_| undecided && !pair.shapes_differ);
    parts.extend(within.map(|within| format!("same within {}", margin(within))));
    parts.extend(pair.why.clone());
    if pair.verdict == Verdict::Same && pair.difference.is_some() {
        parts.push("a difference is shown, and it is within the margin".to_owned());
    }
    parts.extend(pair.machine_effect.map(|effect| effect.words(&pair.a_label, &pair.b_label)));
    if undecided && pair.no_difference_in_sight && pair.why.is_none() {
        parts.push("no difference in sight".to_owned());
    }
    parts.extend(pair.forecast.filter(|_| undecided).map(|forecast| still_needed(&forecast)));
    parts
}

/// The ratios that answer different questions where the two spread in different shapes.
fn shapes(pair: &PairView) -> String {
    let one =
        |name: &str, value: Option<f64>| value.map(|value| format!("{name} {}", ratio(value)));
    let ratios: Vec<String> = [
        one("geometric means", pair.mean_ratio),
        one("Hodges-Lehmann", pair.hl_ratio),
        one("medians", pair.median_ratio),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("shapes differ (first ÷ second: {}), so SAME is refused", ratios.join(", "))
}

/// `about 14 blocks (6 min) more to show SAME`.
fn still_needed(forecast: &Forecast) -> String {
    let what = match forecast.of {
        ForecastFor::Same => "SAME",
        ForecastFor::Difference => "a difference of this size",
    };
    if forecast.more_blocks == 0 {
        return format!("by the forecast the next look shows {what}");
    }
    format!("{} to show {what}", needed(forecast))
}

/// What it would still take: `about 14 blocks (6 min) more`, `6 to 40 blocks (3 min to 20 min)
/// more`.
pub(crate) fn needed(forecast: &Forecast) -> String {
    let (time, most_time) = (about(forecast.seconds), about(forecast.most_seconds));
    if forecast.most_more_blocks == forecast.more_blocks {
        return format!("about {} ({time}) more", blocks(forecast.more_blocks));
    }
    let most = blocks(forecast.most_more_blocks);
    format!("{} to {most} ({time} to {most_time}) more", forecast.more_blocks)
}

/// The pairs to be listed, and how many are left out.
pub(super) fn listed_pairs<'a>(
    verdicts: &Verdicts,
    question: &'a QuestionView,
    detail: Detail,
) -> (Vec<&'a PairView>, usize) {
    let few = question.rows.len() <= ALL_PAIRS_UP_TO;
    if detail == Detail::AllPairs || few || verdicts.baseline.is_some() {
        return (question.pairs.iter().collect(), 0);
    }
    let place = |contender| question.rows.iter().position(|row| row.contender == contender);
    let are_neighbours = |pair: &PairView| match (place(pair.a), place(pair.b)) {
        (Some(a), Some(b)) => a.abs_diff(b) == 1,
        _ => false,
    };
    let shown = |pair: &&PairView| pair.verdict == Verdict::Undecided || are_neighbours(pair);
    let listed: Vec<&PairView> = question.pairs.iter().filter(shown).collect();
    let left_out = question.pairs.len() - listed.len();
    (listed, left_out)
}

/// The pair of these two contenders, with `a` as its first.
pub(crate) fn between(question: &QuestionView, a: usize, b: usize) -> Option<PairView> {
    let is_it = |pair: &&PairView| (pair.a, pair.b) == (a, b) || (pair.a, pair.b) == (b, a);
    let pair = question.pairs.iter().find(is_it)?;
    Some(if pair.a == a { pair.clone() } else { pair.turned() })
}

/// What is said of a pair; an undecided one is told in the direction of the ranking's ratios: what
/// divides is the better one, or the baseline.
pub(crate) fn pair_as_ranked(
    verdicts: &Verdicts,
    question: &QuestionView,
    pair: &PairView,
) -> String {
    if pair.verdict != Verdict::Undecided || verdicts.baseline.is_some() {
        return pair_sentence(verdicts, question, pair);
    }
    pair_sentence(verdicts, question, &pair.turned())
}

/// Others of one kind are named up to this many.
const NAMED: usize = 5;

/// The answer to a question as somebody would say it aloud, in one sentence with its full stop and
/// without line breaks; blocks and margin are said next to it.
pub(crate) fn answer(verdicts: &Verdicts, question: &QuestionView) -> String {
    let Some(reference) = verdicts.reference(question) else {
        return "no contender has figures.".to_owned();
    };
    let others = question.rows.iter().filter(|row| row.contender != reference.contender);
    let pairs: Vec<PairView> =
        others.filter_map(|row| between(question, row.contender, reference.contender)).collect();
    let left_out = not_compared(question, reference, &pairs);
    if pairs.is_empty() {
        let median = value(question.metric, reference.median);
        return match question.rows.len() {
            1 => format!("{} alone has figures, median {median}.", reference.label),
            n => format!("no two of the {n} contenders with figures may be compared."),
        };
    }
    let sentences = Sentences { verdicts, metric: question.metric };
    let parts = sentences.against(&pairs);
    let not_yet = if question.looks.is_empty() { "; not looked at yet" } else { "" };
    let left_out = left_out.map(|words| format!("; {words}")).unwrap_or_default();
    format!("{}{left_out}{not_yet}.", parts.join("; "))
}

/// Those with figures that no sentence would name: `tmpfs (warm) is not compared`.
fn not_compared(
    question: &QuestionView,
    reference: &RankRow,
    pairs: &[PairView],
) -> Option<String> {
    let has_pair = |contender| pairs.iter().any(|pair| pair.a == contender || pair.b == contender);
    let left = question.rows.iter().filter(|row| row.contender != reference.contender);
    let left: Vec<&RankRow> = left.filter(|row| !has_pair(row.contender)).collect();
    let why = |row: &RankRow| match (row.cold, reference.cold) {
        (false, true) => " (warm)",
        (true, false) => " (cold)",
        _ => "",
    };
    let mut names: Vec<String> =
        left.iter().take(NAMED).map(|row| format!("{}{}", row.label, why(row))).collect();
    if left.len() > NAMED {
        names.push(format!("{} more", left.len() - NAMED));
    }
    let verb = if left.len() == 1 { "is" } else { "are" };
    (!left.is_empty()).then(|| format!("{} {verb} not compared", listed(&names)))
}

/// What sentences are made with.
struct Sentences<'v> {
    verdicts: &'v Verdicts,
    metric: Metric,
}

impl Sentences<'_> {
    /// All others against the baseline, which is named once.
    fn against(&self, pairs: &[PairView]) -> Vec<String> {
        let mut parts = Vec::new();
        for verdict in ORDER {
            let of: Vec<&PairView> = pairs.iter().filter(|pair| pair.verdict == verdict).collect();
            for pair in of.iter().take(NAMED) {
                let baseline = if parts.is_empty() { pair.b_label.as_str() } else { "" };
                parts.push(format!("{} {}", pair.a_label, self.is(pair, baseline)));
            }
            if let Some(more) = of.len().checked_sub(NAMED).filter(|more| *more > 0) {
                parts.push(format!("{more} more are {}", verdict.word()));
            }
        }
        parts
    }

    /// `is 1.31 times [1.24, 1.38] as fast as ext4`; without the last two words where the other is
    /// not named.
    fn is(&self, pair: &PairView, other: &str) -> String {
        let (before, than) = self.verb_and_than(pair.verdict);
        let end = |of: &str| if other.is_empty() { String::new() } else { format!(" {of}{other}") };
        match pair.verdict {
            Verdict::Same => {
                let within = percent(self.verdicts.margin);
                format!("is the same within {within}{}", end("as "))
            }
            Verdict::Undecided => format!("{}, undecided", self.open_claim(pair, false)),
            Verdict::Faster | Verdict::Slower => {
                let than = if other.is_empty() { bare(than) } else { than };
                format!("{before}{} {than}{}", self.figures(pair), end(""))
            }
        }
    }

    /// `1.31 times [1.24, 1.38]`: of the time turned round where it is FASTER.
    fn figures(&self, pair: &PairView) -> String {
        let (low, high) = pair.interval().unzip();
        let (ratio, interval) = match (pair.verdict, self.metric) {
            (Verdict::Faster, metric) if metric.is_length() => {
                let turned = |value: Option<f64>| value.map(f64::recip);
                ratio_and_interval(turned(pair.ratio), turned(high), turned(low))
            }
            (Verdict::Same, _) => ratio_within(self.verdicts.margin, pair.ratio, low, high),
            _ => ratio_and_interval(pair.ratio, low, high),
        };
        let interval = interval.map(|interval| format!(" {interval}")).unwrap_or_default();
        format!("{ratio} times{interval}")
    }

    /// What is known of an undecided pair: `xfs takes 1.03 times [0.98, 1.09] the time of ext4`;
    /// the first name only `with_name`, the second one only where it is to be named.
    fn open_claim(&self, pair: &PairView, with_name: bool) -> String {
        let who = if with_name { format!("{} ", pair.a_label) } else { String::new() };
        let Some(ratio) = pair.ratio else {
            return format!("{who}has no ratio to {}", pair.b_label);
        };
        let (low, high) = pair.interval().unzip();
        let (ratio, interval) = ratio_and_interval(Some(ratio), low, high);
        let interval = interval.unwrap_or_else(|| "(no interval)".to_owned());
        let (verb, _) = self.verb_and_than(Verdict::Undecided);
        let of = self.metric.row().words.of;
        format!("{who}{verb}{ratio} times {interval} {of} {}", pair.b_label)
    }

    /// What is before and behind the figures.
    fn verb_and_than(&self, verdict: Verdict) -> (&'static str, &'static str) {
        let words = &self.metric.row().words;
        match verdict {
            Verdict::Faster if self.metric.is_length() => ("is ", "as fast as"),
            _ => (words.verb, words.than),
        }
    }
}

/// In which kinds of answers are said.
const ORDER: [Verdict; 4] = [Verdict::Faster, Verdict::Same, Verdict::Slower, Verdict::Undecided];

/// Without the word that leads to the other's name.
fn bare(than: &'static str) -> &'static str {
    than.strip_suffix(" as").or_else(|| than.strip_suffix(" of")).unwrap_or(than)
}
