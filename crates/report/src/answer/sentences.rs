//! Who is faster at what and by how much, in one or two sentences; what is not known yet, and what
//! knowing it would cost. Figures first in words that need no statistics: "22-28 % less time".

use super::course::used;
use super::model::{Answer, AnswerCell, AnswerRow, Mark, Undecided};
use crate::format::count;
use crate::verdict::text::{about, listed, margin, ratio, some_of};
use fsarena_model::verdict::{Metric, Rule};

/// With more contenders than this against the baseline they are not told one by one.
const EACH_UP_TO: usize = 3;
/// Rows that a sentence names of one kind.
const NAMED: usize = 2;
/// From this ratio on, and below its inverse, a factor is easier to read than a percentage.
const FACTOR_FROM: f64 = 10.0;
/// Ranges that reach beyond this are written as factors.
const RANGE_IN_FACTORS_FROM: f64 = 2.5;
const HOUR_NS: u64 = 3_600_000_000_000;
/// A forecast beyond this is no plan.
const FAR_NS: u64 = 24 * HOUR_NS;

/// What a ratio to the baseline is in percent: `-22 %`, `+92 %`; far from 1 a factor, `12 ×`.
pub(crate) fn change(value: f64) -> String {
    if value >= FACTOR_FROM {
        return format!("{} ×", ratio(value).trim_end_matches(".0"));
    }
    let percent = (value - 1.0) * 100.0;
    match percent.abs() {
        whole if whole >= 99.5 && percent < 0.0 => format!("{percent:+.1} %"),
        small if small < 0.95 => format!("{percent:+.1} %"),
        _ => format!("{percent:+.0} %"),
    }
    .replace("-0.0 %", "0 %")
    .replace("+0.0 %", "0 %")
}

/// How far a decided cell is from the baseline, by its interval: `22-28 % less time`, `2.1-2.5
/// times the time`.
pub(crate) fn change_range(metric: Metric, cell: &AnswerCell) -> String {
    let (Some(low), Some(high)) = (cell.low.or(cell.ratio), cell.high.or(cell.ratio)) else {
        return String::new();
    };
    let (least, most) = match cell.mark {
        Mark::Faster => (1.0 - high, 1.0 - low),
        _ => (low - 1.0, high - 1.0),
    };
    let words = &metric.row().words;
    match cell.mark {
        Mark::Slower if high >= RANGE_IN_FACTORS_FROM => {
            let range = joined(&ratio(low), &ratio(high));
            format!("{range} times {}", words.amount)
        }
        // What is almost all is not rounded to all.
        Mark::Faster => format!("{} % {}", percents(least, most, 99.5), words.less),
        _ => format!("{} % {}", percents(least, most, f64::INFINITY), words.more),
    }
}

/// `22-28`, `22` where both are the same; with a decimal below 1 and above `exact`.
fn percents(least: f64, most: f64, exact: f64) -> String {
    let text = |share: f64| match share * 100.0 {
        percent if percent < 0.95 => format!("{:.1}", percent.max(0.1)),
        percent if percent > exact => format!("{percent:.1}"),
        percent => format!("{percent:.0}"),
    };
    joined(&text(least), &text(most))
}

fn joined(low: &str, high: &str) -> String {
    if low == high { low.to_owned() } else { format!("{low}-{high}") }
}

/// Who is faster at what, and by how much.
pub(super) fn sentences(answer: &Answer) -> Vec<String> {
    let Some(baseline) = answer.columns.first() else {
        return vec!["There is no answer: no trial came to its end.".to_owned()];
    };
    if answer.columns.len() == 1 {
        return vec![format!(
            "{} alone has figures: nothing is compared. These are medians and ranges.",
            baseline.label
        )];
    }
    if !answer.is_judged {
        return vec![
            "Nothing was asked before block 1, so these are medians: whether a difference between \
             them is real is not known."
                .to_owned(),
        ];
    }
    let rivals: Vec<ComparedContender<'_>> = (1..answer.columns.len())
        .map(|column| ComparedContender::new(answer, column))
        .filter(|rival| rival.compared > 0)
        .collect();
    if rivals.is_empty() {
        return vec![format!("Nothing can be compared with {}.", baseline.label)];
    }
    if rivals.len() > EACH_UP_TO {
        return together(&baseline.label, &rivals);
    }
    let margin = answer.margin.map(margin).unwrap_or_default();
    let open: Vec<String> = rivals
        .iter()
        .filter(|rival| rival.unknown == rival.compared)
        .map(|rival| rival.label.to_owned())
        .collect();
    let mut all: Vec<String> =
        rivals.iter().filter_map(|rival| rival.sentence(&baseline.label, &margin)).collect();
    if !open.is_empty() {
        let (who, differs) = (listed(&open), if open.len() == 1 { "differs" } else { "differ" });
        all.push(format!("Whether {who} {differs} from {} is not known yet.", baseline.label));
    }
    all
}

/// A contender against the baseline, over all rows.
struct ComparedContender<'a> {
    label: &'a str,
    /// Rows in which the two are compared.
    compared: usize,
    unknown: usize,
    same: usize,
    /// The same within the margin, and yet shown to differ.
    differing: Vec<(&'a AnswerRow, &'a AnswerCell)>,
    /// The largest difference first.
    faster: Vec<(&'a AnswerRow, &'a AnswerCell)>,
    slower: Vec<(&'a AnswerRow, &'a AnswerCell)>,
    /// What differs by the machine, and is in neither of these.
    by_machine: Vec<(&'a AnswerRow, &'a AnswerCell)>,
}

impl<'a> ComparedContender<'a> {
    fn new(answer: &'a Answer, column: usize) -> Self {
        let cells: Vec<(&AnswerRow, &AnswerCell)> =
            answer.rows.iter().map(|row| (row, &row.cells[column])).collect();
        let number = |mark: Mark| cells.iter().filter(|(_, cell)| cell.mark == mark).count();
        let largest_first = |mark: Mark| {
            let is_it = |cell: &AnswerCell| cell.mark == mark && cell.machine_effect.is_none();
            let mut found: Vec<(&AnswerRow, &AnswerCell)> =
                cells.iter().copied().filter(|(_, cell)| is_it(cell)).collect();
            found.sort_by(|a, b| distance(b.1).total_cmp(&distance(a.1)));
            found
        };
        let (unknown, same) = (number(Mark::Unknown), number(Mark::Same));
        let (faster, slower) = (largest_first(Mark::Faster), largest_first(Mark::Slower));
        let by_machine: Vec<(&AnswerRow, &AnswerCell)> =
            cells.iter().copied().filter(|(_, cell)| cell.machine_effect.is_some()).collect();
        let compared = unknown + same + faster.len() + slower.len() + by_machine.len();
        let label = &answer.columns[column].label;
        let differing = cells.into_iter().filter(|(_, cell)| cell.differs).collect();
        Self { label, compared, unknown, same, differing, faster, slower, by_machine }
    }

    /// Where it is the farthest from the baseline, on one side.
    fn first(&self, mark: Mark) -> Option<&(&'a AnswerRow, &'a AnswerCell)> {
        match mark {
            Mark::Faster => self.faster.first(),
            Mark::Slower => self.slower.first(),
            _ => None,
        }
    }

    /// `: fsync write-fsync 1.02 times, within ±5 %`, of what is the same and differs.
    fn differing(&self, margin: &str) -> String {
        let shown: Vec<String> = self
            .differing
            .iter()
            .take(NAMED)
            .filter_map(|(row, cell)| {
                let times = ratio(cell.ratio?);
                Some(format!("{} {times} times", name(row)))
            })
            .collect();
        match shown.is_empty() {
            true => format!(" (within {margin})"),
            false => format!(" ({}, within {margin})", shown.join(", ")),
        }
    }

    /// `xfs is faster than ext4 in 2 of 12: small-files delete (22-28 % less time), …; slower in 1:
    /// …; the same in 3.` `None` where nothing is known.
    fn sentence(&self, baseline: &str, margin: &str) -> Option<String> {
        let (faster, slower) = (named(&self.faster), named(&self.slower));
        let parts = [
            ("faster", "than", self.faster.len(), faster),
            ("slower", "than", self.slower.len(), slower),
            ("as fast", "as", self.same, self.differing(margin)),
        ];
        let mut text = String::new();
        for (word, than, number, names) in parts.into_iter().filter(|(_, _, number, _)| *number > 0)
        {
            let part = match text.is_empty() {
                true => format!(
                    "{} is {word} {than} {baseline} in {number} of {}{names}",
                    self.label, self.compared
                ),
                false => format!("; {word} in {number}{names}"),
            };
            text.push_str(&part);
        }
        if !self.by_machine.is_empty() {
            let names: Vec<String> = self.by_machine.iter().map(|(row, _)| name(row)).collect();
            let number = names.len();
            let part = match text.is_empty() {
                true => format!(
                    "{} differs from {baseline} in {number} of {} by",
                    self.label, self.compared
                ),
                false => format!("; in {number} it differs by"),
            };
            let names = some_of(&names, NAMED);
            text.push_str(&format!("{part} the machine, not by the file system: {names}"));
        }
        if text.is_empty() {
            return None;
        }
        Some(format!("{text}."))
    }
}

fn name(row: &AnswerRow) -> String {
    format!("{} {}", row.workload, row.phase)
}

/// How far a cell is from the baseline.
fn distance(cell: &AnswerCell) -> f64 {
    cell.ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

/// `: small-files delete (22-28 % less time), big-file read (…) and 3 more`.
fn named(rows: &[(&AnswerRow, &AnswerCell)]) -> String {
    let shown = rows
        .iter()
        .take(NAMED)
        .map(|(row, cell)| format!("{} ({})", name(row), change_range(row.metric, cell)));
    let shown: Vec<String> = shown.collect();
    let more = match rows.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(": {}{more}", shown.join(", "))
}

/// Many contenders at once: how many are what, and the two ends.
fn together(baseline: &str, rivals: &[ComparedContender<'_>]) -> Vec<String> {
    let sum =
        |number: fn(&ComparedContender<'_>) -> usize| rivals.iter().map(number).sum::<usize>();
    let compared = sum(|rival| rival.compared);
    let numbers = [
        (sum(|rival| rival.faster.len()), "faster"),
        (sum(|rival| rival.slower.len()), "slower"),
        (sum(|rival| rival.same), "the same"),
        (sum(|rival| rival.by_machine.len()), "different by the machine"),
        (sum(|rival| rival.unknown), "not known yet"),
    ];
    let numbers: Vec<String> = numbers
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let (comparisons, others) = (count(compared, "comparison"), rivals.len());
    let first = match sum(|rival| rival.unknown) == compared {
        true => format!(
            "Whether any of the {others} others differs from {baseline} is not known yet \
             ({comparisons})."
        ),
        false => format!(
            "The {others} others against {baseline}, in {comparisons}: {}.",
            listed(&numbers)
        ),
    };
    let farthest = |mark: Mark| {
        let all = rivals.iter().filter_map(|rival| Some((rival.label, *rival.first(mark)?)));
        let (label, (row, cell)) =
            all.max_by(|a, b| distance(a.1.1).total_cmp(&distance(b.1.1)))?;
        let range = change_range(row.metric, cell);
        Some(format!("{label} in {} ({range})", name(row)))
    };
    let fastest = farthest(Mark::Faster).map(|who| format!("best: {who}"));
    let slowest = farthest(Mark::Slower).map(|who| format!("worst: {who}"));
    let ends: Vec<String> = fastest.into_iter().chain(slowest).collect();
    let second = (!ends.is_empty()).then(|| crate::text::capital(&format!("{}.", ends.join("; "))));
    std::iter::once(first).chain(second).collect()
}

/// What is not known yet, and what knowing it would cost.
pub(super) fn undecided(answer: &Answer) -> Undecided {
    let cells = || answer.rows.iter().flat_map(|row| &row.cells);
    let unknown = cells().filter(|cell| cell.mark == Mark::Unknown).count();
    let asked = unknown + cells().filter(|cell| cell.mark.is_decided()).count();
    let mut open = Undecided { asked, unknown, ..Undecided::default() };
    if asked == 0 {
        return open;
    }
    if unknown == 0 {
        open.sentence = match asked {
            1 => "The comparison is decided.".to_owned(),
            _ => format!("All {} are decided.", count(asked, "comparison")),
        };
        return open;
    }
    let block_ns = block_ns(answer);
    let time = |blocks: u64| block_ns.map(|ns| (blocks as f64 * ns) as u64);
    let reach = within_reach(cells(), answer, time);
    open.within_reach = reach.len();
    open.more_blocks = reach.iter().filter_map(|cell| cell.more_blocks).max();
    let most = reach.iter().filter_map(|cell| cell.most_more_blocks).max();
    open.most_more_blocks = most.filter(|&blocks| time(blocks).is_none_or(|ns| ns <= FAR_NS));
    open.more_ns = open.more_blocks.and_then(time);
    open.most_more_ns = open.most_more_blocks.and_then(time);
    let nothing_in_sight = |cell: &&AnswerCell| {
        cell.mark == Mark::Unknown && cell.no_difference_in_sight && cell.more_blocks.is_none()
    };
    open.no_difference_in_sight = cells().filter(nothing_in_sight).count();
    let of = |blocks: Option<u64>| options(answer, blocks?, blocks.and_then(time));
    open.options = of(open.most_more_blocks).or_else(|| of(open.more_blocks));
    open.sentence = cost(answer, &open);
    open
}

/// Those that a RUN of a length that somebody would start decides: up to an hour, or ten times as
/// long as this one; where there are none, the one that takes least, up to a day.
fn within_reach<'a>(
    cells: impl Iterator<Item = &'a AnswerCell>,
    answer: &Answer,
    time: impl Fn(u64) -> Option<u64>,
) -> Vec<&'a AnswerCell> {
    let elapsed_ns = answer.head.elapsed_ns.unwrap_or(0);
    let limit_ns = elapsed_ns.saturating_mul(10).clamp(HOUR_NS, FAR_NS);
    let ends_within = |blocks: Option<u64>, limit_ns: u64| {
        blocks.is_some_and(|blocks| time(blocks).is_none_or(|ns| ns <= limit_ns))
    };
    let open: Vec<&AnswerCell> =
        cells.filter(|cell| ends_within(cell.more_blocks, FAR_NS)).collect();
    let is_near = |cell: &&AnswerCell| ends_within(cell.most_more_blocks, limit_ns);
    let near: Vec<&AnswerCell> = open.iter().copied().filter(is_near).collect();
    match near.is_empty() {
        true => open.into_iter().min_by_key(|cell| cell.more_blocks).into_iter().collect(),
        false => near,
    }
}

/// Mean length of a block, ns.
fn block_ns(answer: &Answer) -> Option<f64> {
    let blocks = answer.head.course.blocks;
    (blocks > 0).then(|| answer.head.elapsed_ns.map(|ns| ns as f64 / f64::from(blocks)))?
}

/// `Not known yet: 14 of 14. 6 to 32 more blocks (9 min to 48 min) would probably decide 7 of them:
/// --runs 40; for 7 no difference is in sight.`
fn cost(answer: &Answer, open: &Undecided) -> String {
    let first = format!("Not known yet: {} of {}", open.unknown, open.asked);
    let none = open.no_difference_in_sight;
    let Some(blocks) = open.more_blocks else {
        let why = match (answer.head.course.blocks, none) {
            (0, _) | (_, 0) => String::new(),
            (_, none) if none == open.unknown => "; no difference is in sight".to_owned(),
            (_, none) => format!("; for {none} of them no difference is in sight"),
        };
        return format!("{first}{why}.");
    };
    let which = match open.unknown - open.within_reach {
        0 if open.unknown == 1 => "it".to_owned(),
        0 => "them".to_owned(),
        _ => format!("{} of them", open.within_reach),
    };
    let more = more_blocks(blocks, open);
    let options = open.options.iter().map(|options| format!(": {options}")).collect::<String>();
    let none = match none {
        0 => String::new(),
        none => format!("; for {none} no difference is in sight"),
    };
    format!("{first}. {more} would probably decide {which}{options}{none}.")
}

/// `6 to 32 more blocks (9 min to 48 min)`.
fn more_blocks(least: u64, open: &Undecided) -> String {
    let time = |ns: u64| about(ns as f64 / 1e9);
    let plural = |blocks: u64| if blocks == 1 { "block" } else { "blocks" };
    let in_brackets = |text: Option<String>| text.map_or_else(String::new, |t| format!(" ({t})"));
    let least_time = open.more_ns.map(time);
    match open.most_more_blocks {
        None => {
            let time = least_time.map(|time| format!("{time} or longer"));
            format!("{least} or more {}{}", plural(2), in_brackets(time))
        }
        Some(most) if most <= least => {
            let time = least_time.map(|time| format!("about {time}"));
            format!("About {least} more {}{}", plural(least), in_brackets(time))
        }
        Some(most) => {
            let range = least_time.zip(open.most_more_ns.map(time));
            let time = range.map(|(least, most)| format!("{least} to {most}"));
            format!("{least} to {most} more {}{}", plural(most), in_brackets(time))
        }
    }
}

/// The same of so many blocks of this RUN, at least and at most.
pub(crate) fn more_of(answer: &Answer, least: u64, most: u64) -> String {
    let block_ns = block_ns(answer);
    let time = |blocks: u64| block_ns.map(|ns| (blocks as f64 * ns) as u64);
    let most = Some(most).filter(|&blocks| time(blocks).is_none_or(|ns| ns <= FAR_NS));
    let open = Undecided {
        more_ns: time(least),
        most_more_blocks: most,
        most_more_ns: most.and_then(time),
        ..Undecided::default()
    };
    more_blocks(least, &open)
}

/// What a new RUN needs to have so many blocks more.
fn options(answer: &Answer, more_blocks: u64, more_ns: Option<u64>) -> Option<String> {
    let course = &answer.head.course;
    let blocks = u64::from(course.blocks) + more_blocks;
    let budget = answer.head.budget_ns.zip(answer.head.elapsed_ns).zip(more_ns);
    let budget = budget.map(|((_, elapsed_ns), more_ns)| {
        format!("--budget {}", round_budget((elapsed_ns + more_ns) as f64 / 60e9))
    });
    match (course.rule?, budget) {
        (Rule::Fixed { .. }, _) | (Rule::Fit { .. }, None) => Some(format!("--runs {blocks}")),
        (Rule::Fit { least, most }, Some(budget)) => {
            let runs = (blocks > u64::from(most)).then(|| format!("--runs {least}..{blocks}"));
            let all: Vec<String> = [Some(budget), runs].into_iter().flatten().collect();
            Some(all.join(" "))
        }
        (Rule::Looks { cap }, budget) => {
            let caps = fsarena_model::verdict::CAPS;
            let next = caps.into_iter().find(|&known| u64::from(known) >= blocks)?;
            let cap = (next > cap).then(|| format!("--cap {next}"));
            let all: Vec<String> = cap.into_iter().chain(budget).collect();
            (!all.is_empty()).then(|| all.join(" "))
        }
    }
}

/// `10m`, `2h`: the next round time.
fn round_budget(minutes: f64) -> String {
    const MINUTES: [u32; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45];
    match MINUTES.into_iter().find(|&round| f64::from(round) >= minutes) {
        Some(round) => format!("{round}m"),
        None => format!("{}h", (minutes / 60.0).ceil()),
    }
}

/// `9 blocks in 3m52`.
pub(super) fn blocks_and_time(answer: &Answer) -> String {
    let blocks = blocks_or_crash_runs(answer);
    match answer.head.elapsed_ns {
        Some(ns) => format!("{blocks} in {}", used(ns)),
        None => blocks,
    }
}

/// `9 blocks`; `20 crash runs` where there are no trials.
pub(crate) fn blocks_or_crash_runs(answer: &Answer) -> String {
    match answer.head.course.crash_runs {
        Some(done) => count(done, "crash run"),
        None => count(answer.head.course.blocks as usize, "block"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(mark: Mark, [ratio, low, high]: [f64; 3]) -> AnswerCell {
        AnswerCell {
            contender: 1,
            mark,
            median: None,
            min: None,
            max: None,
            n: 8,
            ratio: Some(ratio),
            low: Some(low),
            high: Some(high),
            differs: false,
            more_blocks: None,
            most_more_blocks: None,
            no_difference_in_sight: false,
            machine_effect: None,
            absent: None,
            why: None,
            states: Vec::new(),
        }
    }

    #[test]
    fn changes() {
        for (ratio, text) in [
            (0.78, "-22 %"),
            (1.92, "+92 %"),
            (5.66, "+466 %"),
            (12.34, "12.3 ×"),
            (130.0, "130 ×"),
            (0.004, "-99.6 %"),
            (1.004, "+0.4 %"),
            (1.0, "0 %"),
            (0.9999, "0 %"),
        ] {
            assert_eq!(change(ratio), text, "{ratio}");
        }
    }

    #[test]
    fn ranges_in_words() {
        let text = |mark, figures| change_range(Metric::Time, &cell(mark, figures));
        assert_eq!(text(Mark::Faster, [0.75, 0.72, 0.78]), "22-28 % less time");
        assert_eq!(text(Mark::Slower, [1.2, 1.12, 1.3]), "12-30 % more time");
        assert_eq!(text(Mark::Slower, [5.6, 5.2, 6.1]), "5.20-6.10 times the time");
        assert_eq!(text(Mark::Faster, [0.75, 0.7501, 0.7499]), "25 % less time");
        assert_eq!(text(Mark::Faster, [0.97, 0.94, 0.9968]), "0.3-6 % less time");
        let written = change_range(Metric::Written, &cell(Mark::Faster, [0.5, 0.45, 0.55]));
        assert_eq!(written, "45-55 % fewer bytes");
    }

    #[test]
    fn budgets_are_round() {
        assert_eq!([0.4, 9.2, 10.0, 31.0].map(round_budget), ["1m", "10m", "10m", "45m"]);
        assert_eq!([46.0, 61.0].map(round_budget), ["1h", "2h"]);
    }
}
