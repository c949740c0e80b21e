//! From what is said of pairs in each phase to the answer for a purpose. It follows the verdicts:
//! no figure of several phases is made, and a contender is the answer only where each comparison
//! of it with every other is decided.

/// What is said of one contender against another in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PairStanding {
    Faster,
    Slower,
    Same,
    /// Not shown yet.
    Unknown,
    /// They differ by the machine, not by the file system.
    Machine,
    /// The two are not compared.
    NotCompared,
}

/// One contender against another in a phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cell {
    pub standing: PairStanding,
    /// Value ÷ the other's.
    pub ratio: Option<f64>,
    /// Blocks that deciding would still take, at least and at most; absent where none are known.
    pub more_blocks: Option<(u64, u64)>,
}

/// A phase: `cells[a][b]` is a against b.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PhaseCells {
    pub name: String,
    pub cells: Vec<Vec<Cell>>,
}

/// All that decides a purpose, of contenders that have a figure in each of its phases.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    pub labels: Vec<String>,
    pub phases: Vec<PhaseCells>,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    /// The first of them is faster than or the same as every other everywhere; the rest are the
    /// same as it everywhere.
    Sure(Vec<usize>),
    /// All pairs are the same.
    Same,
    /// Each is slower than another somewhere.
    NoSingle,
    /// These are not slower anywhere, and not all of their comparisons are decided.
    Undecided(Vec<usize>),
}

impl Matrix {
    pub(super) fn others(&self, one: usize) -> impl Iterator<Item = usize> {
        (0..self.labels.len()).filter(move |&other| other != one)
    }

    /// What is said of `a` against `b`, a phase each.
    pub(super) fn between(&self, a: usize, b: usize) -> impl Iterator<Item = (&PhaseCells, Cell)> {
        self.phases.iter().map(move |phase| (phase, phase.cells[a][b]))
    }

    fn is_always(&self, a: usize, b: usize, standing: &[PairStanding]) -> bool {
        self.between(a, b).all(|(_, cell)| standing.contains(&cell.standing))
    }

    fn is_slower_somewhere(&self, one: usize) -> bool {
        let mut others = self.others(one);
        others.any(|b| self.between(one, b).any(|(_, cell)| cell.standing == PairStanding::Slower))
    }

    /// What the verdicts say together.
    pub(super) fn decide(&self) -> Decision {
        let all = || 0..self.labels.len();
        let is_shown = |&one: &usize| {
            self.others(one)
                .all(|b| self.is_always(one, b, &[PairStanding::Faster, PairStanding::Same]))
        };
        let shown: Vec<usize> = all().filter(is_shown).collect();
        if let Some(&first) = shown.first() {
            if shown.len() == self.labels.len() {
                return Decision::Same;
            }
            let same =
                self.others(first).filter(|&b| self.is_always(first, b, &[PairStanding::Same]));
            return Decision::Sure(std::iter::once(first).chain(same).collect());
        }
        let open: Vec<usize> = all().filter(|&one| !self.is_slower_somewhere(one)).collect();
        if open.is_empty() { Decision::NoSingle } else { Decision::Undecided(open) }
    }

    /// Who is the fastest in one phase, with those that are the same as it; none where that is not
    /// shown, or all are the same.
    pub(super) fn fastest_in(&self, phase: &PhaseCells) -> Vec<usize> {
        let one = Self { labels: self.labels.clone(), phases: vec![phase.clone()] };
        match one.decide() {
            Decision::Sure(best) => best,
            _ => Vec::new(),
        }
    }
}
