//! The answer for a purpose in words: one sentence, with figures that are those of phases.

use super::decide::{Cell, Decision, Matrix, PairStanding};
use crate::format::count;
use crate::verdict::text::{listed, ratio};

/// What the RUN says besides the pairs.
pub(super) struct AdviceContext<'a> {
    /// What is the same, such as `±5 %`.
    pub margin: &'a str,
    /// From blocks, at least and at most, to `6 to 32 more blocks (9 min to 48 min)`.
    pub more: &'a dyn Fn(u64, u64) -> String,
}

/// The sentence, without the purpose and a full stop.
pub(super) fn sentence(matrix: &Matrix, decision: &Decision, around: &AdviceContext<'_>) -> String {
    match decision {
        Decision::Sure(best) => sure(matrix, best, around.margin),
        Decision::Same => format!(
            "{}, all the same within {} in {}, sure",
            listed(&matrix.labels),
            around.margin,
            phases(matrix.phases.len())
        ),
        Decision::NoSingle => format!("no single answer: {}", by_phase(matrix)),
        Decision::Undecided(open) => undecided(matrix, open, around),
    }
}

/// `the phase that decides`, `all 4 phases`.
fn phases(number: usize) -> String {
    match number {
        1 => "the phase that decides".to_owned(),
        number => format!("all {number} phases"),
    }
}

/// `xfs, sure: ext4 takes 1.20 to 1.90 times as long in 3 of 4 phases and is the same in 1`.
fn sure(matrix: &Matrix, best: &[usize], margin: &str) -> String {
    let label = |&one: &usize| matrix.labels[one].clone();
    let (first, same) = best.split_first().map_or((0, &[][..]), |(first, same)| (*first, same));
    let mut parts: Vec<String> = matrix
        .others(first)
        .filter(|other| !same.contains(other))
        .map(|other| takes_longer(matrix, other, first, margin))
        .collect();
    if !same.is_empty() {
        let (same, is) = (same.iter().map(label).collect::<Vec<_>>(), be(same.len()));
        parts.push(format!("{} {is} the same within {margin} in every phase", listed(&same)));
    }
    format!("{}, sure: {}", matrix.labels[first], parts.join("; "))
}

fn be(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn takes_longer(matrix: &Matrix, other: usize, best: usize, margin: &str) -> String {
    let cells = matrix.between(other, best).map(|(_, cell)| cell);
    let cells: Vec<Cell> = cells.filter(|cell| cell.standing == PairStanding::Slower).collect();
    let mut ratios: Vec<f64> = cells.iter().filter_map(|cell| cell.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let (of, slower) = (matrix.phases.len(), cells.len());
    let range = match (ratios.first(), ratios.last()) {
        (Some(&least), Some(&most)) if ratio(least) != ratio(most) => {
            format!("{} to {} times as long", ratio(least), ratio(most))
        }
        (Some(&one), _) => format!("{} times as long", ratio(one)),
        _ => "longer".to_owned(),
    };
    let same = match of - slower {
        0 => String::new(),
        same => format!(" and is the same within {margin} in {same}"),
    };
    let number = match of {
        1 => String::new(),
        of => format!(" in {slower} of {of} phases"),
    };
    format!("{} takes {range}{number}{same}", matrix.labels[other])
}

/// `xfs is the fastest in create, ext4 in read; not known yet in delete`.
fn by_phase(matrix: &Matrix) -> String {
    let mut groups: Vec<(Vec<usize>, Vec<String>)> = Vec::new();
    for phase in &matrix.phases {
        let best = matrix.fastest_in(phase);
        match groups.iter_mut().find(|(known, _)| *known == best) {
            Some((_, names)) => names.push(phase.name.clone()),
            None => groups.push((best, vec![phase.name.clone()])),
        }
    }
    let (open, known): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(best, _)| best.is_empty());
    let mut parts: Vec<String> = Vec::new();
    for (at, (best, names)) in known.iter().enumerate() {
        let labels: Vec<String> = best.iter().map(|&one| matrix.labels[one].clone()).collect();
        let verb = match at {
            0 => format!(" {} fastest", be(labels.len())),
            _ => String::new(),
        };
        parts.push(format!("{}{verb} in {}", listed(&labels), listed(names)));
    }
    if parts.is_empty() {
        parts.push("each is slower than another in some phase".to_owned());
    }
    let open = open.first().map(|(_, names)| format!("; no fastest shown in {}", listed(names)));
    format!("{}{}", parts.join(", "), open.unwrap_or_default())
}

/// `undecided between ext4 and xfs (btrfs is out: slower in add); 2 of 8 comparisons are not known.
/// 6 to 32 more blocks (9 min to 48 min) would probably decide them`.
fn undecided(matrix: &Matrix, open: &[usize], around: &AdviceContext<'_>) -> String {
    let labels: Vec<String> = open.iter().map(|&one| matrix.labels[one].clone()).collect();
    let out: Vec<String> =
        matrix.labels.iter().filter(|label| !labels.contains(label)).cloned().collect();
    let out = match out.is_empty() {
        true => String::new(),
        false => format!(" ({} {} slower somewhere)", listed(&out), be(out.len())),
    };
    let first = match labels.as_slice() {
        [one] => format!("undecided: {one} is slower nowhere, and not shown to be fastest{out}"),
        _ => format!("undecided between {}{out}", listed(&labels)),
    };
    let cells: Vec<Cell> = pairs_of(matrix, open);
    let number =
        |standing: PairStanding| cells.iter().filter(|cell| cell.standing == standing).count();
    let mut parts = vec![first];
    let unknown = number(PairStanding::Unknown);
    if unknown > 0 {
        let are = be(unknown);
        parts
            .push(format!("{unknown} of {} {are} not known yet", count(cells.len(), "comparison")));
        parts.push(how_long(&cells, around));
    }
    if number(PairStanding::Machine) > 0 {
        let number = count(number(PairStanding::Machine), "difference");
        parts.push(format!("{number} by the machine, not by the file system"));
    }
    if number(PairStanding::NotCompared) > 0 {
        parts.push(format!("{} not made", count(number(PairStanding::NotCompared), "comparison")));
    }
    parts.join("; ")
}

/// The comparisons of these contenders, each pair once a phase.
fn pairs_of(matrix: &Matrix, open: &[usize]) -> Vec<Cell> {
    let is_new = |one: usize, other: usize| !open.contains(&other) || one < other;
    let pairs = open.iter().flat_map(|&one| matrix.others(one).map(move |other| (one, other)));
    let pairs = pairs.filter(|&(one, other)| is_new(one, other));
    pairs.flat_map(|(one, other)| matrix.between(one, other).map(|(_, cell)| cell)).collect()
}

fn how_long(cells: &[Cell], around: &AdviceContext<'_>) -> String {
    let unknown: Vec<Option<(u64, u64)>> = cells
        .iter()
        .filter(|cell| cell.standing == PairStanding::Unknown)
        .map(|cell| cell.more_blocks)
        .collect();
    let known: Vec<(u64, u64)> = unknown.iter().filter_map(|more| *more).collect();
    let none = match unknown.len() - known.len() {
        0 => String::new(),
        none => format!("; for {none} no end is in sight"),
    };
    let least = known.iter().map(|(least, _)| *least).max();
    let most = known.iter().map(|(_, most)| *most).max();
    let Some((least, most)) = least.zip(most) else {
        return "no end is in sight".to_owned();
    };
    let which = match (none.is_empty(), known.len()) {
        (true, 1) => "it".to_owned(),
        (true, _) => "them".to_owned(),
        (false, number) => format!("{number} of them"),
    };
    format!("{} would probably decide {which}{none}", (around.more)(least, most))
}

#[cfg(test)]
mod tests {
    use super::super::decide::PhaseCells;
    use super::*;

    /// One contender against another, and the ratio.
    type Pair = (usize, usize, PairStanding, f64);

    /// Of phases with what is said of their pairs; the reverse of each goes without saying.
    fn matrix(labels: &[&str], phases: &[(&str, &[Pair])]) -> Matrix {
        let cell = |standing, ratio| Cell {
            standing,
            ratio: Some(ratio),
            more_blocks: (standing == PairStanding::Unknown && ratio > 0.5).then_some((6, 32)),
        };
        let phase = |&(name, pairs): &(&str, &[Pair])| {
            let mut cells = vec![vec![cell(PairStanding::Same, 1.0); labels.len()]; labels.len()];
            for &(a, b, standing, ratio) in pairs {
                cells[a][b] = cell(standing, ratio);
                let turned = match standing {
                    PairStanding::Faster => PairStanding::Slower,
                    PairStanding::Slower => PairStanding::Faster,
                    other => other,
                };
                cells[b][a] = Cell { ratio: Some(1.0 / ratio), ..cell(standing, ratio) };
                cells[b][a].standing = turned;
            }
            PhaseCells { name: name.to_owned(), cells }
        };
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        Matrix { labels, phases: phases.iter().map(phase).collect() }
    }

    fn says(matrix: &Matrix) -> String {
        let more = |least: u64, most: u64| format!("{least} to {most} more blocks");
        sentence(matrix, &matrix.decide(), &AdviceContext { margin: "±5 %", more: &more })
    }

    #[test]
    fn who_wins_everywhere_is_sure() {
        let won = matrix(
            &["ext4", "xfs"],
            &[
                ("add", &[(1, 0, PairStanding::Faster, 0.5)]),
                ("mark", &[]),
                ("delete", &[(1, 0, PairStanding::Faster, 0.8)]),
            ],
        );
        assert_eq!(
            says(&won),
            "xfs, sure: ext4 takes 1.25 to 2.00 times as long in 2 of 3 phases and is the same \
             within ±5 % in 1"
        );
        let one = matrix(&["ext4", "xfs"], &[("add", &[(0, 1, PairStanding::Faster, 0.5)])]);
        assert_eq!(says(&one), "ext4, sure: xfs takes 2.00 times as long");
    }

    #[test]
    fn two_that_are_the_same_share_the_answer() {
        let shared = matrix(
            &["ext4", "xfs", "btrfs"],
            &[("add", &[(0, 2, PairStanding::Faster, 0.5), (1, 2, PairStanding::Faster, 0.5)])],
        );
        assert_eq!(
            says(&shared),
            "ext4, sure: btrfs takes 2.00 times as long; xfs is the same within ±5 % in every phase"
        );
        let same = matrix(&["ext4", "xfs"], &[("add", &[]), ("delete", &[])]);
        assert_eq!(says(&same), "ext4 and xfs, all the same within ±5 % in all 2 phases, sure");
    }

    #[test]
    fn phases_that_disagree_are_told() {
        let split = matrix(
            &["ext4", "xfs"],
            &[
                ("create", &[(1, 0, PairStanding::Faster, 0.5)]),
                ("read", &[(0, 1, PairStanding::Faster, 0.5)]),
                ("stat", &[(0, 1, PairStanding::Unknown, 0.9)]),
            ],
        );
        assert_eq!(
            says(&split),
            "no single answer: xfs is fastest in create, ext4 in read; no fastest shown in stat"
        );
    }

    #[test]
    fn what_is_open_is_told_with_its_time() {
        let open = matrix(
            &["ext4", "xfs", "btrfs"],
            &[
                ("commit", &[(0, 2, PairStanding::Faster, 0.5), (1, 2, PairStanding::Faster, 0.5)]),
                ("scan", &[(0, 1, PairStanding::Unknown, 0.9)]),
            ],
        );
        assert_eq!(
            says(&open),
            "undecided between ext4 and xfs (btrfs is slower somewhere); 1 of 6 comparisons is not \
             known yet; 6 to 32 more blocks would probably decide it"
        );
        let endless = matrix(&["ext4", "xfs"], &[("scan", &[(0, 1, PairStanding::Unknown, 0.4)])]);
        assert_eq!(
            says(&endless),
            "undecided between ext4 and xfs; 1 of 1 comparison is not known yet; no end is in sight"
        );
        let machine = matrix(&["ext4", "xfs"], &[("scan", &[(0, 1, PairStanding::Machine, 0.4)])]);
        assert!(says(&machine).ends_with("1 difference by the machine, not by the file system"));
        let apart =
            matrix(&["ext4", "xfs"], &[("scan", &[(0, 1, PairStanding::NotCompared, 0.4)])]);
        assert!(says(&apart).ends_with("1 comparison not made"), "{}", says(&apart));
    }

    #[test]
    fn one_that_is_slower_nowhere_is_not_yet_the_answer() {
        let near = matrix(
            &["ext4", "xfs"],
            &[
                ("commit", &[(1, 0, PairStanding::Faster, 0.5)]),
                ("scan", &[(0, 1, PairStanding::Unknown, 0.9)]),
            ],
        );
        assert_eq!(near.decide(), Decision::Undecided(vec![1]));
        assert!(says(&near).starts_with(
            "undecided: xfs is slower nowhere, and not shown to be fastest (ext4 is slower \
             somewhere); 1 of 2 comparisons is not known yet;"
        ));
    }
}
