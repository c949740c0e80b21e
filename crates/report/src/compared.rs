//! What a comparison came to, for scripts and exit codes: a row for each pair of contenders, or for
//! both sides of one, and what was asked and has no figures. Nothing is decided here.

use crate::format::count;
use crate::render;
use crate::table::{Cell, Column, Table};
use crate::verdict::text::listed;
use fsarena_model::verdict::Verdict;
use fsarena_verdict::compare::{Forest, ForestPair, QuestionName, SideRow, Sides};
use fsarena_verdict::{PairView, Verdicts};
use serde::Serialize;
use std::collections::BTreeSet;

/// Columns of the CSV.
const HEADS: [&str; 13] = [
    "workload",
    "phase",
    "metric",
    "clock",
    "contender",
    "compared_with",
    "verdict",
    "ratio",
    "low",
    "high",
    "level",
    "units",
    "missing_because",
];
/// Questions that are named one by one in a sentence.
const NAMED: usize = 2;

/// One comparison that has figures on both sides.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedRow {
    /// What was asked.
    pub question: QuestionName,
    /// Label of the contender.
    pub contender: String,
    /// Label of the one it is compared with; `before`, where that is itself.
    pub compared_with: String,
    pub verdict: Verdict,
    /// Value of the first ÷ value of the second.
    pub ratio: Option<f64>,
    /// The interval that the verdict rests on, with its level.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub level: Option<f64>,
    /// Blocks, machines, boots or RUNs behind it.
    pub units: usize,
    /// Whether the machine is to blame: more time, equal CPU time, others beside it.
    pub by_machine: bool,
}

/// What was asked and has no figures on one side.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    pub workload: String,
    pub phase: String,
    /// Label of the contender; of two, `a with b`.
    pub contender: String,
    /// Why there are none.
    pub why: String,
}

/// What a comparison came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Compared {
    pub rows: Vec<ComparedRow>,
    pub missing: Vec<Missing>,
}

impl Compared {
    /// The verdicts of one RUN. Contenders without figures are named once a question, also those
    /// that no pair was asked of, unless one pair alone was asked for.
    #[must_use]
    pub fn of_run(verdicts: &Verdicts, is_one_pair: bool) -> Self {
        let mut found = Self::default();
        for question in &verdicts.questions {
            let (workload, phase) = (question.workload.clone(), question.phase.clone());
            let name =
                QuestionName { workload, phase, metric: question.metric, clock: question.clock };
            let is_asked = |label: &str| {
                let mut pairs = question.pairs.iter();
                !is_one_pair || pairs.any(|pair| pair.a_label == label || pair.b_label == label)
            };
            for left in question.left.iter().filter(|left| is_asked(&left.label)) {
                found.missing.push(missing(&name, left.label.clone(), left.why.clone()));
            }
            let is_known = |label: &str| question.left.iter().any(|left| left.label == label);
            for pair in &question.pairs {
                if pair.ratio.is_some() {
                    found.rows.push(row_of_pair(&name, pair));
                } else if !is_known(&pair.a_label) && !is_known(&pair.b_label) {
                    let why = pair.why.as_deref().unwrap_or("no block has values of both");
                    let both = format!("{} with {}", pair.a_label, pair.b_label);
                    found.missing.push(missing(&name, both, why.to_owned()));
                }
            }
        }
        found
    }

    /// The same pairs in several RUNs; `labels` are the contenders that were asked for, some of
    /// which may be in no pair at all.
    #[must_use]
    pub fn of_runs(forest: &Forest, labels: &BTreeSet<&str>) -> Self {
        let mut found = Self::default();
        for question in &forest.questions {
            let (workload, phase) = (question.workload.clone(), question.phase.clone());
            let name =
                QuestionName { workload, phase, metric: question.metric, clock: question.clock };
            for pair in &question.pairs {
                if pair.ratio.is_some() {
                    found.rows.push(row_of_runs(&name, pair));
                    continue;
                }
                let why = pair.without.iter().map(|one| format!("RUN {}: {}", one.run, one.why));
                let both = format!("{} with {}", pair.a_label, pair.b_label);
                let why = why.collect::<Vec<_>>().join("; ");
                found.missing.push(missing(&name, both, why));
            }
            let has_pair = |label: &str| {
                question.pairs.iter().any(|pair| pair.a_label == label || pair.b_label == label)
            };
            for label in labels.iter().filter(|label| !has_pair(label)) {
                let why = "no RUN has figures".to_owned();
                found.missing.push(missing(&name, (*label).to_owned(), why));
            }
        }
        found
    }

    /// Both sides of a change; `labels` are the contenders that were asked for, some of which may
    /// have no row at all.
    #[must_use]
    pub fn of_sides(sides: &Sides, labels: &BTreeSet<&str>) -> Self {
        let mut found = Self::default();
        for question in &sides.questions {
            let (workload, phase) = (question.workload.clone(), question.phase.clone());
            let name =
                QuestionName { workload, phase, metric: question.metric, clock: question.clock };
            for row in &question.rows {
                if row.ratio.is_some() {
                    found.rows.push(row_of_side(&name, row));
                } else {
                    let why = row.why.as_deref().unwrap_or("a side has no figures");
                    found.missing.push(missing(&name, row.label.clone(), why.to_owned()));
                }
            }
            let has_row = |label: &str| question.rows.iter().any(|row| row.label == label);
            for label in labels.iter().filter(|label| !has_row(label)) {
                let why = "neither side has figures".to_owned();
                found.missing.push(missing(&name, (*label).to_owned(), why));
            }
        }
        found
    }

    /// How often this was said.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// What has no figures, in one line: `not compared: xfs in 12 questions (it failed)`.
    #[must_use]
    pub fn missing_text(&self) -> Option<String> {
        let mut groups: Vec<(&Missing, Vec<String>)> = Vec::new();
        for one in &self.missing {
            let question = format!("{}:{}", one.workload, one.phase);
            let is_alike =
                |known: &Missing| known.contender == one.contender && known.why == one.why;
            match groups.iter_mut().find(|(known, _)| is_alike(known)) {
                Some((_, questions)) => questions.push(question),
                None => groups.push((one, vec![question])),
            }
        }
        let text = |(one, questions): &(&Missing, Vec<String>)| {
            let places = match questions.len() {
                0..=NAMED => listed(questions),
                more => count(more, "question"),
            };
            format!("{} in {places} ({})", one.contender, one.why)
        };
        let texts: Vec<String> = groups.iter().map(text).collect();
        (!texts.is_empty()).then(|| format!("not compared: {}", texts.join("; ")))
    }

    /// A line a comparison, and one for each that has no figures: its verdict is empty.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut table = Table::new(HEADS.map(Column::text));
        for row in &self.rows {
            table.row(row.cells().map(Cell::exact));
        }
        for one in &self.missing {
            let mut cells = HEADS.map(|_| String::new());
            cells[0].clone_from(&one.workload);
            cells[1].clone_from(&one.phase);
            cells[4].clone_from(&one.contender);
            cells[12].clone_from(&one.why);
            table.row(cells.map(Cell::exact));
        }
        render::csv(&table)
    }
}

impl ComparedRow {
    /// Its fields, in the order of [`HEADS`].
    fn cells(&self) -> [String; HEADS.len()] {
        let QuestionName { workload, phase, metric, clock } = &self.question;
        let number = |value: Option<f64>| value.map(|own| format!("{own:.6}")).unwrap_or_default();
        [
            workload.clone(),
            phase.clone(),
            metric.name().to_owned(),
            clock.name().to_owned(),
            self.contender.clone(),
            self.compared_with.clone(),
            self.verdict.word().to_owned(),
            number(self.ratio),
            number(self.low),
            number(self.high),
            number(self.level),
            self.units.to_string(),
            String::new(),
        ]
    }
}

fn missing(question: &QuestionName, contender: String, why: String) -> Missing {
    let (workload, phase) = (question.workload.clone(), question.phase.clone());
    Missing { workload, phase, contender, why }
}

fn row_of_pair(question: &QuestionName, pair: &PairView) -> ComparedRow {
    let is_same = pair.verdict == Verdict::Same;
    let own = (pair.low, pair.high, pair.level);
    let same = (pair.same_low, pair.same_high, pair.same_level);
    let (low, high, level) = if is_same { same } else { own };
    ComparedRow {
        question: question.clone(),
        contender: pair.a_label.clone(),
        compared_with: pair.b_label.clone(),
        verdict: pair.verdict,
        ratio: pair.ratio,
        low,
        high,
        level,
        units: pair.n,
        by_machine: pair.verdict == Verdict::Slower && pair.machine_effect.is_some(),
    }
}

fn row_of_runs(question: &QuestionName, pair: &ForestPair) -> ComparedRow {
    let is_same = pair.verdict == Verdict::Same;
    let own = (pair.low, pair.high, pair.level);
    let same = (pair.same_low, pair.same_high, pair.same_level);
    let (low, high, level) = if is_same { same } else { own };
    ComparedRow {
        question: question.clone(),
        contender: pair.a_label.clone(),
        compared_with: pair.b_label.clone(),
        verdict: pair.verdict,
        ratio: pair.ratio,
        low,
        high,
        level,
        units: pair.rows.len(),
        by_machine: false,
    }
}

fn row_of_side(question: &QuestionName, row: &SideRow) -> ComparedRow {
    let is_same = row.verdict == Verdict::Same;
    let own = (row.low, row.high, row.level);
    let same = (row.same_low, row.same_high, row.same_level);
    let (low, high, level) = if is_same { same } else { own };
    ComparedRow {
        question: question.clone(),
        contender: row.label.clone(),
        compared_with: "before".to_owned(),
        verdict: row.verdict,
        ratio: row.ratio,
        low,
        high,
        level,
        units: row.before.len() + row.after.len(),
        by_machine: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::clock::Clock;
    use fsarena_model::verdict::Metric;

    fn question(phase: &str) -> QuestionName {
        let (workload, phase) = ("small-files".to_owned(), phase.to_owned());
        QuestionName { workload, phase, metric: Metric::Time, clock: Clock::Durable }
    }

    fn without(contender: &str, phases: &[&str], why: &str) -> Vec<Missing> {
        let one = |phase: &&str| missing(&question(phase), contender.to_owned(), why.to_owned());
        phases.iter().map(one).collect()
    }

    #[test]
    fn what_is_missing_is_one_line() {
        let none = Compared::default();
        assert_eq!(none.missing_text(), None);
        let mut missing = without("xfs", &["create", "read", "delete"], "no trial was done");
        missing.extend(without("btrfs", &["create"], "it failed"));
        let some = Compared { missing, rows: Vec::new() };
        assert_eq!(
            some.missing_text().unwrap(),
            "not compared: xfs in 3 questions (no trial was done); btrfs in small-files:create (it \
             failed)"
        );
    }

    #[test]
    fn csv_has_a_line_for_what_was_compared_and_for_what_was_not() {
        let pair = ForestPair {
            a_label: "xfs, \"new\"".to_owned(),
            b_label: "ext4".to_owned(),
            verdict: Verdict::Same,
            ratio: Some(1.01),
            low: Some(0.9),
            high: Some(1.1),
            level: Some(0.95),
            same_low: Some(0.98),
            same_high: Some(1.03),
            same_level: Some(0.9),
            ..ForestPair::default()
        };
        let all = Compared {
            rows: vec![row_of_runs(&question("create"), &pair)],
            missing: without("btrfs", &["read"], "it failed"),
        };
        let csv = all.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], HEADS.join(","));
        let same = "\"xfs, \"\"new\"\"\",ext4,SAME,1.010000,0.980000,1.030000,0.900000,0,";
        assert_eq!(lines[1], format!("small-files,create,time,durable,{same}"));
        assert_eq!(lines[2..], ["small-files,read,,,btrfs,,,,,,,,it failed"]);
    }
}
