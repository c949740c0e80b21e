//! The whole rule, as a RUN applies it to simulated blocks.

use fsarena_stats::blocks::{contender_spreads, spread_of_difference};
use fsarena_stats::{
    Decision, Family, Level, LookInput, Looks, POOLED_BELOW, POOLED_FROM, PairSample,
};

/// Share of misses where one looks once.
pub const FIXED_ALPHA: f64 = 0.05;

/// Rows of block × contender.
pub type Rows = [Vec<f64>];

/// Every pair of `contenders`, the first before the second.
pub fn all_pairs(contenders: usize) -> Vec<(usize, usize)> {
    (0..contenders).flat_map(|a| (a + 1..contenders).map(move |b| (a, b))).collect()
}

/// Every other of `contenders` with the first.
pub fn against_first(contenders: usize) -> Vec<(usize, usize)> {
    (1..contenders).map(|other| (other, 0)).collect()
}

/// One look.
pub fn once(blocks: usize) -> Vec<(usize, Level)> {
    vec![(blocks, Level::Once(FIXED_ALPHA))]
}

/// The looks of a plan with a level each, the last one where a budget ended the RUN among them:
/// that spends what is left.
pub fn schedule(cap: u32, stopped_after: Option<u32>) -> Vec<(usize, Level)> {
    let looks = Looks::with_cap(cap).unwrap();
    let last = stopped_after.unwrap_or(cap);
    let due = looks.at().iter().copied().filter(|&look| look <= last);
    let mut all: Vec<(usize, Level)> =
        due.map(|blocks| (blocks as usize, looks.level_at(blocks))).collect();
    if last < cap {
        all.push((last as usize, looks.level_at_end(last)));
    }
    all
}

/// What is said of every one of `pairs` in the end, in their order.
pub fn verdicts(
    rows: &Rows,
    pairs: &[(usize, usize)],
    schedule: &[(usize, Level)],
    margin: f64,
) -> Vec<Option<Decision>> {
    let contenders = rows[0].len();
    let mut family = Family { asked: pairs.len(), differences: 0, sames: 0 };
    let mut said = vec![None; pairs.len()];
    for &(blocks, level) in schedule {
        let rows = &rows[..blocks];
        let open: Vec<usize> = (0..pairs.len()).filter(|&pair| said[pair].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..contenders).map(column).collect();
        let logs: Vec<Vec<f64>> = open
            .iter()
            .map(|&pair| {
                let (a, b) = pairs[pair];
                columns[a].iter().zip(&columns[b]).map(|(a, b)| a - b).collect()
            })
            .collect();
        let is_pooled = (POOLED_FROM..POOLED_BELOW).contains(&blocks);
        let spreads = is_pooled.then(|| contender_spreads(rows)).flatten();
        let looks: Vec<LookInput<'_>> = open
            .iter()
            .zip(&logs)
            .map(|(&pair, logs)| {
                let (a, b) = pairs[pair];
                let pooled = spreads.as_ref().map(|all| spread_of_difference(all[a], all[b]));
                let sample = PairSample { logs, floor_sd: 0.0, pooled };
                LookInput::new(sample, &columns[a], &columns[b])
            })
            .collect();
        let found = family.analyse(&looks, level, margin.ln_1p());
        for (pair, found) in open.into_iter().zip(found) {
            said[pair] = found.decision;
        }
    }
    said
}

/// Whether a verdict is a difference.
pub fn is_difference(said: Option<Decision>) -> bool {
    matches!(said, Some(Decision::Less | Decision::More))
}
