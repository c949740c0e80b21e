//! An article's tests beside ours: who was first then, who is first now, and by how much.

use super::phrases::{Phrases, Ranked};
use crate::article::ThenAndNow;
use crate::context::SectionContext;
use crate::section::{Block, Section};
use crate::sections::then::{chart, view};
use crate::verdict::text::ratio;

/// Words of labels that many contenders have.
const NO_NAMES: [&str; 5] = ["data", "freebsd", "hdd", "linux", "ssd"];

pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let Some(repeats) = context.run.article else { return Section::none() };
    let view = view(context, repeats);
    let year = repeats.article.year;
    let mut blocks = vec![Block::Text(phrases.then_not_now(year))];
    let sentences: Vec<String> =
        view.tests.iter().filter_map(|test| sentence(year, test, phrases)).collect();
    if sentences.is_empty() {
        blocks.push(Block::Missing(phrases.no_rows(year)));
    } else if let Some(chart) = chart(context, year, &view) {
        blocks.push(Block::Chart(chart, phrases.then_chart(year)));
    }
    blocks.push(Block::List(None, sentences));
    let findings = &repeats.article.findings;
    if !findings.is_empty() {
        blocks.push(Block::Heading(phrases.conclusions().to_owned()));
        let said = findings.iter().map(|finding| phrases.conclusion(finding));
        blocks.push(Block::List(None, said.collect()));
    }
    Section::new(blocks)
}

/// One test; nothing where one of the times has no value.
fn sentence(year: u16, test: &ThenAndNow, phrases: &dyn Phrases) -> Option<String> {
    let then: Vec<(&str, f64)> =
        test.then.iter().map(|(label, value)| (label.as_str(), *value)).collect();
    let now: Vec<(&str, f64)> =
        test.now.iter().map(|(_, label, value)| (label.as_str(), *value)).collect();
    let (best, now_best) = (place(&then, test.more_is_better)?, place(&now, test.more_is_better)?);
    let is_here = now.iter().any(|(now, _)| share_a_name(best.best, now));
    let is_same = is_here.then(|| share_a_name(best.best, now_best.best));
    Some(phrases.then(year, &test.title, &best, &now_best, is_same))
}

/// `ext3 (Linux)` of an article is our `ext3`, and `Ordered, SSD` our `ext4 data=ordered`.
fn share_a_name(then: &str, now: &str) -> bool {
    let words = |label: &str| -> Vec<String> {
        let all = label.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        all.filter(|word| !word.is_empty() && !NO_NAMES.contains(&word.as_str())).collect()
    };
    let now = words(now);
    words(then).iter().any(|word| now.contains(word))
}

/// Who is first of those with a value above zero.
fn place<'v>(values: &[(&'v str, f64)], more_is_better: bool) -> Option<Ranked<'v>> {
    let mut usable: Vec<(&str, f64)> =
        values.iter().copied().filter(|(_, value)| value.is_finite() && *value > 0.0).collect();
    usable.sort_by(|a, b| a.1.total_cmp(&b.1));
    if more_is_better {
        usable.reverse();
    }
    let (&(best, first), &(_, last)) = (usable.first()?, usable.last()?);
    let behind = if more_is_better { first / last } else { last / first };
    let spread = (usable.len() > 1).then(|| ratio(behind));
    Some(Ranked { best, spread, count: usable.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_highest_rate_or_the_shortest_time() {
        let values = [("ext3", 2.0), ("xfs", 5.0), ("jfs", 0.0), ("ufs", f64::NAN)];
        let rate = place(&values, true).unwrap();
        assert_eq!((rate.best, rate.spread.as_deref(), rate.count), ("xfs", Some("2.50"), 2));
        assert_eq!(place(&values, false).unwrap().best, "ext3");
        assert_eq!(place(&values[..1], true).unwrap().spread, None);
        assert!(place(&values[2..], true).is_none());
    }

    #[test]
    fn names_of_then_and_now_are_the_same_file_system() {
        assert!(share_a_name("ext3 (Linux)", "ext3:data=ordered"));
        assert!(share_a_name("Writeback, SSD", "ext4 data=writeback"));
        assert!(!share_a_name("Writeback, SSD", "ext4 data=ordered"));
        assert!(!share_a_name("ext3 (Linux)", "ext4 (Linux)"));
    }
}
