//! Where rankings cross along the levels of a workload's parameter, in a sentence or two.

use fsarena_verdict::{PairAlong, RankingAlong, Verdicts};

/// Crossings that are told one by one.
const TOLD: usize = 2;

/// `Over bs the ranking crosses in random-io randread: xfs is faster than ext4 up to bs=64 KiB,
/// slower from 256 KiB on. …`; nothing where no parameter varies.
pub(super) fn crossings_sentence(verdicts: &Verdicts) -> Option<String> {
    let first = verdicts.along.first()?;
    let all = || {
        let pair = |ranking| move |pair| (ranking, pair);
        verdicts.along.iter().flat_map(move |ranking| ranking.pairs.iter().map(pair(ranking)))
    };
    let crossing: Vec<(&RankingAlong, &PairAlong)> = all().filter(|(_, one)| one.crosses).collect();
    let count = all().count();
    if crossing.is_empty() {
        let parameter = first.parameter.key();
        return (count > 0).then(|| {
            match verdicts
                .along
                .iter()
                .all(|one| one.parameter == first.parameter && one.workload == first.workload)
            {
                true => {
                    format!("Over {parameter} in {} no ranking is shown to cross.", first.workload)
                }
                false => "Over the levels of parameters no ranking is shown to cross.".to_owned(),
            }
        });
    }
    let told: Vec<String> =
        crossing.iter().take(TOLD).map(|&(ranking, pair)| one_crossing(ranking, pair)).collect();
    let more = match crossing.len() - told.len() {
        0 => String::new(),
        1 => " Another ranking crosses too.".to_owned(),
        more => format!(" {more} more rankings cross."),
    };
    Some(format!("{}{more}", told.join(" ")))
}

fn one_crossing(ranking: &RankingAlong, pair: &PairAlong) -> String {
    let others = match ranking.others.as_str() {
        "" => String::new(),
        others => format!(" with {others}"),
    };
    format!(
        "Over {} the ranking crosses in {} {}{others}: {}.",
        ranking.parameter.key(),
        ranking.workload,
        ranking.phase,
        pair.words
    )
}
