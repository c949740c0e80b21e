//! Section 3, then and now: an article's table and chart next to this machine's. Only for
//! experiments that repeat an article.

use crate::article::{OwnRun, ThenAndNow, ThenAndNowView, compared, findings_table};
use crate::context::{Repeats, SectionContext};
use crate::format::digits;
use crate::pictures::{file_name, key};
use crate::section::{Block, Section};
use fsarena_chart::{Axis, Group, Groups, HUES, Head, Key, NO_HUE, Part, Spot};
use fsarena_reference::RULE;
use std::collections::BTreeMap;

const CHART: &str = "Each value as a ratio to the best of its own time: hatched as published, \
                     filled on this machine, by returned as the articles measured. What has the \
                     same name then and now has the same colour.";

/// The section of one RUN; empty where its experiment repeats no article.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let Some(repeats) = context.run.article else { return Section::none() };
    let view = view(context, repeats);
    let Repeats { article, notes, .. } = repeats;
    let list = |all: &[String]| Block::List(None, all.to_vec());
    let fold = |summary: &str, blocks| Block::Fold(summary.to_owned(), blocks);
    let mut blocks = vec![Block::Text(article.title.to_owned())];
    if !article.comments.is_empty() {
        blocks.push(fold("What the article measured, and on what", vec![list(&article.comments)]));
    }
    blocks.push(Block::Text(format!("This machine: {}.", context.run.study.machine)));
    blocks.push(Block::Note(
        "Hardware, kernels and file systems are not those of the article: absolute rates and \
         times of then and of now are not compared. What can be set side by side is how far \
         the contenders lay apart, as ratios within each."
            .to_owned(),
    ));
    blocks.push(match chart(context, article.year, &view) {
        Some(chart) => Block::Chart(chart.draw(), CHART.to_owned()),
        None => Block::Missing(none(&view).to_owned()),
    });
    let left_out = view.left_out();
    if !left_out.is_empty() {
        let summary = "In the tables, but in no ratio: not measured as the others";
        blocks.push(fold(summary, vec![list(&left_out)]));
    }
    blocks.extend(view.printed);
    blocks.extend(view.ours.into_iter().map(Block::Table));
    let missing: Vec<String> = view.missing.iter().map(|one| one.line(str::to_owned)).collect();
    if !missing.is_empty() {
        blocks.push(fold("Without a figure, and why", vec![list(&missing)]));
    }
    let others = view.others;
    if !others.is_empty() {
        let summary =
            format!("The other tables of {}, and what is computed from them", article.year);
        blocks.push(fold(&summary, others));
    }
    blocks.push(Block::Note(view.legend));
    if !notes.is_empty() {
        blocks.push(Block::Heading("Ours, otherwise than the article".to_owned()));
        blocks.push(list(notes));
    }
    if !view.inference.is_empty() {
        blocks.push(Block::Heading(
            "What this suggests for the question that it left open: inference, not measurement"
                .to_owned(),
        ));
        blocks.push(list(&view.inference));
    }
    if !article.findings.is_empty() {
        let table = Block::Table(findings_table(article));
        let rule = Block::Note(RULE.to_owned());
        blocks.push(fold("What becomes of its conclusions", vec![rule, table]));
    }
    Section::new(blocks)
}

/// Why there is no chart.
fn none(view: &ThenAndNowView) -> &'static str {
    if view.tests.iter().all(|test| test.left_out.is_empty()) {
        "None of its tests has a figure of this machine yet."
    } else {
        "None of its tests has a figure of this machine that was measured as asked in all trials."
    }
}

/// The article and what repeats it, side by side.
pub(crate) fn view(context: &SectionContext<'_>, repeats: Repeats<'_>) -> ThenAndNowView {
    let Repeats { article, phases, notes } = repeats;
    let run = context.run;
    let own = OwnRun { header: run.header, records: run.records, study: run.study, notes };
    compared(article, phases, own)
}

/// Both as ratios to the best of each, one group a test that we repeat: the article's values
/// hatched, ours filled; nothing where no test has a figure of ours.
pub(crate) fn chart(
    context: &SectionContext<'_>,
    year: u16,
    view: &ThenAndNowView,
) -> Option<Groups> {
    let repeated = view.tests.iter().filter(|test| !test.now.is_empty());
    let hues = published_hues(context, view);
    let groups: Vec<Group> = repeated.map(|test| group(year, test, &hues)).collect();
    let more = view.tests.first()?.more_is_better;
    if groups.is_empty() {
        return None;
    }
    let title = match view.tests.iter().all(|test| test.unit == "s") {
        _ if more => "rate ÷ best rate of its own time (1 is the best)",
        true => "time ÷ shortest time of its own time (1 is the best, less is better)",
        false => "value ÷ least value of its own time (1 is the best, less is better)",
    };
    Some(Groups {
        head: Head {
            id: format!("{}-then", context.prefix),
            name: file_name(&[&format!("{year}-then-and-now")]),
            title: format!("{year} and this machine, as ratios to the best of each"),
            description: describe_ratios(year, view),
        },
        axis: Axis::linear(title, ""),
        groups,
    })
}

fn group(year: u16, test: &ThenAndNow, hues: &BTreeMap<&str, usize>) -> Group {
    let (then_best, now_best) = test.best();
    let part = |key: Key, hatched: bool, value: f64, best: Option<f64>| {
        let spot = |best: f64| {
            let (own, unit, ratio) = (digits(value), &test.unit, value / best);
            Spot { value: ratio, tip: format!("{own} {unit}, {ratio:.2} × the best of its time") }
        };
        let value = best.filter(|_| value > 0.0).map(spot);
        Part { key, hatched, value }
    };
    let then = test.then.iter().map(|(label, value)| {
        let hue = hues.get(label.as_str()).copied().unwrap_or(NO_HUE);
        let key = Key { label: format!("{label}, {year}"), hue };
        part(key, true, *value, then_best)
    });
    let now = test.now.iter().map(|(contender, label, value)| {
        part(key(*contender, label.as_str()), false, *value, now_best)
    });
    Group { label: test.title.clone(), parts: then.chain(now).collect() }
}

/// The colours of what the article compared, the same in all tests: that of ours with the same name
/// (`ext3 (Linux)` and `ext3`); else one that nothing else has; none where these are used up.
fn published_hues<'v>(
    context: &SectionContext<'_>,
    view: &'v ThenAndNowView,
) -> BTreeMap<&'v str, usize> {
    let ours = &context.run.header.plan.contenders;
    let mut free = ours.len()..HUES;
    let mut hues = BTreeMap::new();
    for (label, _) in view.tests.iter().flat_map(|test| &test.then) {
        let name = label.split(" (").next().unwrap_or(label);
        let own = ours.iter().position(|contender| contender.label == name);
        let hue = || own.or_else(|| free.next()).unwrap_or(NO_HUE);
        hues.entry(label.as_str()).or_insert_with(hue);
    }
    hues
}

fn describe_ratios(year: u16, view: &ThenAndNowView) -> String {
    let spread = |values: Vec<f64>| {
        let most = values.iter().copied().fold(f64::NAN, f64::max);
        let least = values.iter().copied().fold(f64::NAN, f64::min);
        if least > 0.0 { format!("{:.1}", most / least) } else { "unknown".to_owned() }
    };
    let of = |test: &ThenAndNow| {
        let then = spread(test.then.iter().map(|(_, value)| *value).collect());
        let now = spread(test.now.iter().map(|(_, _, value)| *value).collect());
        format!("{}: {then} then, {now} now", test.title)
    };
    let repeated = view.tests.iter().filter(|test| !test.now.is_empty());
    let tests: Vec<String> = repeated.map(of).collect();
    format!(
        "How many times the largest value of {year} and of this machine is the least: {}.",
        tests.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::article::OwnPhase;
    use crate::pictures::sample::{Sample, charts_of, html_of};
    use fsarena_testkit::records;

    #[test]
    fn values_are_ratios_to_the_best_of_their_time() {
        let sample = Sample::with_labels(&["ext3", "xfs"], vec![records::small_files()], 1);
        let article = fsarena_reference::study(2003).expect("is known");
        let phases = [OwnPhase {
            title: "write 5000 files of 256 B".to_owned(),
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
        }];
        let notes = ["4 GiB of disk".to_owned()];
        let repeats = Repeats { article: &article, phases: &phases, notes: &notes };
        let run = sample.repeating(Some(repeats));
        let context = SectionContext::new(0, &run);
        let views = view(&context, repeats);
        let chart = chart(&context, 2003, &views).unwrap();
        assert_eq!((chart.head.id.as_str(), chart.groups.len()), ("r1-then", 1));
        let parts = &chart.groups[0].parts;
        let best = parts.iter().filter(|part| part.value.as_ref().unwrap().value == 1.0);
        // One of 2003; both of ours returned after half a second.
        assert_eq!(best.map(|part| part.hatched).collect::<Vec<_>>(), [true, false, false]);
        let ext3 = &parts[0];
        assert_eq!((ext3.key.label.as_str(), ext3.hatched), ("ext3 (Linux), 2003", true));
        assert_eq!(ext3.key.hue, 0, "ext3 then and now are of one colour");
        assert!(ext3.value.as_ref().unwrap().tip.starts_with("127 KB/s, "), "{ext3:?}");
        assert!(parts.iter().filter(|part| part.hatched).count() == 8);
        // A colour stands for one thing: what both have, and nothing else.
        for (at, part) in parts.iter().enumerate() {
            let name = |part: &Part| part.key.label.split([' ', ',']).next().unwrap().to_owned();
            for other in &parts[..at] {
                let is_same = name(part) == name(other);
                assert_eq!(part.key.hue == other.key.hue, is_same, "{part:?} {other:?}");
            }
        }
        let page = html_of(&build(&context));
        assert!(page.contains("4 GiB of disk") && page.contains("127.03 / 95.83"), "{page}");
    }

    #[test]
    fn what_repeats_nothing_has_no_such_section() {
        let sample = Sample::with_labels(&["ext3"], vec![records::small_files()], 1);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(html_of(&build(&context)), "");
        assert!(charts_of(&build(&context)).is_empty());
    }

    #[test]
    fn an_article_without_figures_of_ours_stands_alone() {
        let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 1).unmeasured();
        let article = fsarena_reference::study(2010).expect("is known");
        let run = sample.repeating(Some(Repeats { article: &article, phases: &[], notes: &[] }));
        let context = SectionContext::new(0, &run);
        assert!(charts_of(&build(&context)).is_empty());
        let page = html_of(&build(&context));
        assert!(page.contains("None of its tests has a figure"), "{page}");
        assert!(page.contains("Flac copied"), "the printed table is there");
    }
}
