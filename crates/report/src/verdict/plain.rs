//! The answer to a question as somebody would say it aloud: ratios with their intervals, and what
//! is not decided; blocks and margin stand beside it.

use super::pairs::{between, interval};
use super::question::reference;
use crate::verdict::text::{listed, percent, ratio_and_interval, ratio_within, value};
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_verdict::{PairView, QuestionView, RankRow, Verdicts};

/// Others of one kind are named up to this many.
const NAMED: usize = 5;

/// The answer in one sentence with its full stop, without line breaks.
pub(super) fn sentence(verdicts: &Verdicts, question: &QuestionView) -> String {
    let Some(reference) = reference(verdicts, question) else {
        return "no contender has figures.".to_owned();
    };
    let others = question.rows.iter().filter(|row| row.contender != reference.contender);
    let is_baseline = Some(&reference.label) == verdicts.baseline.as_ref();
    let pairs: Vec<PairView> = others
        .filter_map(|row| match is_baseline {
            true => between(question, row.contender, reference.contender),
            false => between(question, reference.contender, row.contender),
        })
        .collect();
    let left_out = not_compared(question, reference, &pairs);
    if pairs.is_empty() {
        let median = value(question.metric, reference.median);
        return match question.rows.len() {
            1 => format!("{} alone has figures, median {median}.", reference.label),
            n => format!("no two of the {n} contenders with figures may be compared."),
        };
    }
    let sentences = Sentences { verdicts, metric: question.metric };
    let parts = if is_baseline { sentences.against(&pairs) } else { sentences.leader(&pairs) };
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
                parts.push(format!("{more} more {}", many(verdict)));
            }
        }
        parts
    }

    /// The best against all others, each of them named.
    fn leader(&self, pairs: &[PairView]) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for verdict in ORDER {
            let of: Vec<&PairView> = pairs.iter().filter(|pair| pair.verdict == verdict).collect();
            let Some(first) = of.first() else { continue };
            let mut items: Vec<String> = Vec::new();
            for (at, pair) in of.iter().take(NAMED).enumerate() {
                let (figures, other) = (self.figures(pair), &pair.b_label);
                items.push(match verdict {
                    Verdict::Same if at == 0 => self.is(pair, other),
                    Verdict::Same => other.clone(),
                    // Sentences the other way round: the ratio is that of the tables.
                    Verdict::Undecided => self.open_claim(&pair.turned(), true),
                    Verdict::Faster | Verdict::Slower if at == 0 => self.is(pair, other),
                    Verdict::Faster | Verdict::Slower => {
                        format!("{figures}{} {other}", self.than(verdict))
                    }
                });
            }
            if let Some(more) = of.len().checked_sub(NAMED).filter(|more| *more > 0) {
                items.push(format!("{more} more"));
            }
            let who = if parts.is_empty() { first.a_label.as_str() } else { "it" };
            let items = listed(&items);
            parts.push(match verdict {
                Verdict::Undecided => format!("{items}, undecided"),
                _ => format!("{who} {items}"),
            });
        }
        parts
    }

    /// `is 1.31 times [1.24, 1.38] as fast as ext4`; without the last two words where the other is
    /// not named.
    fn is(&self, pair: &PairView, other: &str) -> String {
        let (before, than) = (self.verb(pair.verdict), self.than(pair.verdict));
        let end = |of: &str| if other.is_empty() { String::new() } else { format!(" {of}{other}") };
        match pair.verdict {
            Verdict::Same => {
                let within = percent(self.verdicts.margin);
                format!("is the same within {within}{}", end("as "))
            }
            Verdict::Undecided => format!("{}, undecided", self.open_claim(pair, false)),
            Verdict::Faster | Verdict::Slower => {
                let than = if other.is_empty() { bare(than) } else { than };
                format!("{before} {}{than}{}", self.figures(pair), end(""))
            }
        }
    }

    /// `1.31 times [1.24, 1.38]`: of the time turned round where it is FASTER.
    fn figures(&self, pair: &PairView) -> String {
        let (low, high) = interval(pair);
        let (ratio, interval) = match (pair.verdict, self.metric) {
            (Verdict::Faster, Metric::Time) => {
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
        let (low, high) = interval(pair);
        let (ratio, interval) = ratio_and_interval(Some(ratio), low, high);
        let interval = interval.unwrap_or_else(|| "(no interval)".to_owned());
        let (verb, of) = match self.metric {
            Metric::Time => ("takes", "the time of"),
            Metric::Cpu => ("needs", "the processor time of"),
            Metric::Written => ("writes", "the bytes of"),
            Metric::P99 => ("has", "the p99 latency of"),
        };
        format!("{who}{verb} {ratio} times {interval} {of} {}", pair.b_label)
    }

    fn verb(&self, verdict: Verdict) -> &'static str {
        match (self.metric, verdict) {
            (Metric::Time, Verdict::Faster) => "is",
            (Metric::Time, _) => "takes",
            (Metric::Cpu, _) => "needs",
            (Metric::Written, _) => "writes",
            (Metric::P99, _) => "has",
        }
    }

    fn than(&self, verdict: Verdict) -> &'static str {
        match (self.metric, verdict) {
            (Metric::Time, Verdict::Faster) => " as fast as",
            (Metric::Time, _) => " as long as",
            (Metric::Cpu, _) => " the processor time of",
            (Metric::Written, _) => " as many bytes as",
            (Metric::P99, _) => " the p99 latency of",
        }
    }
}

/// In which kinds of answers are said.
const ORDER: [Verdict; 4] = [Verdict::Faster, Verdict::Same, Verdict::Slower, Verdict::Undecided];

/// Without the word that leads to the other's name.
fn bare(than: &'static str) -> &'static str {
    than.strip_suffix(" as").or_else(|| than.strip_suffix(" of")).unwrap_or(than)
}

fn many(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "are FASTER",
        Verdict::Same => "are SAME",
        Verdict::Slower => "are SLOWER",
        Verdict::Undecided => "are UNDECIDED",
    }
}
