//! What the differences are due to, in one sentence, where several factors vary.

use fsarena_model::factor::{DEVICE, FS};
use fsarena_verdict::Verdicts;
use fsarena_verdict::factors::FactorRow;
use std::collections::BTreeMap;

/// `The differences are due to the device by 74 to 99 % and to the file system by 1 to 26 %, …`;
/// nothing where fewer than two factors have a share.
pub(super) fn shares_sentence(verdicts: &Verdicts) -> Option<String> {
    let views = verdicts.questions.iter().filter_map(|question| question.factors.as_ref());
    sentence(&views.map(|view| view.factors.as_slice()).collect::<Vec<_>>())
}

/// The sentence of the factors of each question.
fn sentence(questions: &[&[FactorRow]]) -> Option<String> {
    let mut ranges: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let mut shown = 0;
    for factors in questions {
        let shares: Vec<(String, f64)> =
            factors.iter().filter_map(|row| Some((words(row), row.share?))).collect();
        shown += usize::from(!shares.is_empty());
        for (name, share) in shares {
            let range = ranges.entry(name).or_insert((share, share));
            *range = (range.0.min(share), range.1.max(share));
        }
    }
    if ranges.len() < 2 {
        return None;
    }
    let mut ranges: Vec<_> = ranges.into_iter().collect();
    ranges.sort_by(|(_, one), (_, other)| other.1.total_cmp(&one.1));
    let parts: Vec<String> = ranges
        .iter()
        .map(|(name, (low, high))| format!("to {name} by {}", percents(*low, *high)))
        .collect();
    let (last, first) = parts.split_last()?;
    let asked = match shown {
        1 => "of the one question where a difference is shown".to_owned(),
        count => format!("from question to question ({count} with a difference shown)"),
    };
    Some(format!(
        "The differences are due {} and {last}, {asked}; other levels would change these shares of \
         variance.",
        first.join(", ")
    ))
}

fn words(row: &FactorRow) -> String {
    let name = match row.name.as_str() {
        DEVICE => "the device",
        FS => "the file system",
        other => other,
    };
    match &row.within {
        Some(within) => format!("{name} within {within}"),
        None => name.to_owned(),
    }
}

fn percents(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|share| format!("{:.0}", 100.0 * share));
    if low == high { format!("{low} %") } else { format!("{low} to {high} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, share: Option<f64>) -> FactorRow {
        FactorRow {
            name: name.to_owned(),
            within: (name == "mount data").then(|| "fs = ext4".to_owned()),
            spread: 2.0,
            spread_low: None,
            spread_high: None,
            levels: Vec::new(),
            share,
            interacts: false,
            by_other: Vec::new(),
        }
    }

    #[test]
    fn the_strongest_factor_is_named_first() {
        let copy = [factor("fs", Some(0.014)), factor("device", Some(0.986))];
        let delete = [factor("device", Some(0.743)), factor("fs", Some(0.257))];
        let undecided = [factor("device", None), factor("fs", None)];
        assert_eq!(
            sentence(&[&copy, &undecided, &delete]).unwrap(),
            "The differences are due to the device by 74 to 99 % and to the file system by 1 to 26 \
             %, from question to question (2 with a difference shown); other levels would change \
             these shares of variance."
        );
        let nested = [factor("device", Some(0.6)), factor("mount data", Some(0.4))];
        let said = sentence(&[&nested]).unwrap();
        assert!(said.contains("to mount data within fs = ext4 by 40 %, of the one"), "{said}");
        assert_eq!(sentence(&[&undecided, &[factor("fs", Some(1.0))]]), None);
    }

    #[test]
    fn a_range_is_one_figure_where_both_ends_are_the_same() {
        assert_eq!(percents(0.743, 0.986), "74 to 99 %");
        assert_eq!(percents(0.99, 0.991), "99 %");
    }
}
