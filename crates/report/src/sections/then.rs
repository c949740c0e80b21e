//! Section 3, then and now: an article's table and chart beside this machine's. Only for
//! experiments that repeat an article.

use crate::article::{Beside, OwnRun, PlainTable, beside};
use crate::context::Repeats;
use crate::context::SectionContext;
use crate::pictures;
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use fsarena_chart::Svg;
use fsarena_reference::Holds;
use maud::{Markup, html};

/// The section of one RUN; empty where its experiment repeats no article.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let Some(repeats) = context.run.article else { return Section::none() };
    let beside = views(context, repeats);
    let article = repeats.article;
    let chart = pictures::then_and_now(context, article.year, &beside);
    let left_out = beside.left_out();
    let body = html! {
        p { (article.title) }
        @if !article.comments.is_empty() {
            (parts::fold("What the article measured, and on what", &parts::list(&article.comments)))
        }
        p { "This machine: " (context.run.study.machine) "." }
        (parts::note(
            "Hardware, kernels and file systems are not those of the article: absolute rates and \
             times of then and of now are not compared. What can be set side by side is how far \
             the contenders lay apart, as ratios within each."
        ))
        @match &chart {
            Some(chart) => (parts::figure(&chart.draw(), CHART)),
            None => (parts::missing(none(&beside))),
        }
        @if !left_out.is_empty() {
            (parts::fold("In the tables, but in no ratio: not measured as the others",
                &parts::list(&left_out)))
        }
        (tables(article.year, &beside))
        (parts::note(&beside.legend))
        @if !repeats.notes.is_empty() {
            (parts::heading("Ours, otherwise than the article"))
            (parts::list(repeats.notes))
        }
        @if !beside.inference.is_empty() {
            (parts::heading(
                "What this suggests for the question that it left open: inference, not measurement"
            ))
            (parts::list(&beside.inference))
        }
        (findings(repeats))
    };
    Section::new(vec![Block::Page(body, charts(context))])
}

/// Why there is no chart.
fn none(beside: &Beside) -> &'static str {
    if beside.tests.iter().all(|test| test.left_out.is_empty()) {
        "None of its tests has a figure of this machine yet."
    } else {
        "None of its tests has a figure of this machine that was measured as asked in all trials."
    }
}

/// Its charts.
fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let Some(repeats) = context.run.article else { return Vec::new() };
    let beside = views(context, repeats);
    let chart = pictures::then_and_now(context, repeats.article.year, &beside);
    chart.map(|chart| chart.draw()).into_iter().collect()
}

const CHART: &str = "Each value as a ratio to the best of its own time: hatched as published, \
                     filled on this machine, by returned as the articles measured. What has the \
                     same name then and now has the same colour.";

fn views(context: &SectionContext<'_>, repeats: Repeats<'_>) -> Beside {
    let Repeats { article, phases, notes } = repeats;
    let run = context.run;
    let own = OwnRun { header: run.header, records: run.records, study: run.study, notes };
    beside(article, phases, own)
}

/// The first table of the article with ours below it; what else it printed is folded.
fn tables(year: u16, beside: &Beside) -> Markup {
    let (first, others) = match beside.printed.as_slice() {
        [] => (None, &[][..]),
        [first, others @ ..] => (Some(first), others),
    };
    html! {
        @if let Some(first) = first { (plain(&format!("{year}: {}", first.title), first)) }
        @for own in &beside.ours { (plain(&format!("This machine: {}", own.title), own)) }
        @if !others.is_empty() {
            (parts::fold(
                &format!("The other tables of {year}, and what is computed from them"),
                &html! { @for table in others { (plain(&table.title, table)) } }
            ))
        }
    }
}

fn plain(caption: &str, plain: &PlainTable) -> Markup {
    let mut columns = vec![Column::text("")];
    columns.extend(plain.columns.iter().map(|head| Column::figure(head.as_str())));
    let mut table = Table::new(columns).caption(caption);
    for (head, cells) in &plain.rows {
        table.row(std::iter::once(head).chain(cells).map(|text| Cell::text(text.as_str())));
    }
    html! {
        (table)
        @for mark in &plain.footnotes { (parts::note(mark)) }
    }
}

/// What becomes of the article's conclusions under its own numbers.
fn findings(repeats: Repeats<'_>) -> Markup {
    let findings = &repeats.article.findings;
    let columns =
        vec![Column::text("what it concludes"), Column::text("holds?"), Column::text("why")];
    let mut table = Table::new(columns).caption("Its conclusions, held against its own numbers");
    for found in findings {
        let word = match found.holds {
            Holds::Holds => "holds",
            Holds::Falls => "FALLS",
            Holds::CannotBeTold => "cannot be told",
        };
        table.row(vec![Cell::text(found.claim), Cell::text(word), Cell::text(&found.why)]);
    }
    if table.is_empty() {
        return html! {};
    }
    parts::fold("What becomes of its conclusions", &html! { (table) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::article::OwnPhase;
    use crate::pictures::sample::{Sample, html_of};
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
        let views = views(&context, repeats);
        let chart = pictures::then_and_now(&context, 2003, &views).unwrap();
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
        let page = html_of(&build(&context));
        assert!(page.contains("4 GiB of disk") && page.contains("127.03 / 95.83"), "{page}");
    }

    #[test]
    fn what_repeats_nothing_has_no_such_section() {
        let sample = Sample::with_labels(&["ext3"], vec![records::small_files()], 1);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(html_of(&build(&context)), "");
        assert!(charts(&context).is_empty());
    }

    #[test]
    fn an_article_without_figures_of_ours_stands_alone() {
        let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 1).unmeasured();
        let article = fsarena_reference::study(2010).expect("is known");
        let run = sample.repeating(Some(Repeats { article: &article, phases: &[], notes: &[] }));
        let context = SectionContext::new(0, &run);
        assert!(charts(&context).is_empty());
        let page = html_of(&build(&context));
        assert!(page.contains("None of its tests has a figure"), "{page}");
        assert!(page.contains("Flac copied"), "the printed table is there");
    }
}
