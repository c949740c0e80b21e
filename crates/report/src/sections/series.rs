//! Section 5, time series: of one trial a workload and contender, across its phases.

use crate::context::SectionContext;
use crate::format::grouped;
use crate::pictures;
use crate::render::html as parts;
use crate::section::{Block, Section};
use fsarena_chart::Svg;
use fsarena_model::units::Nanos;
use fsarena_study::TrialTrace;
use maud::{Markup, html};

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let traces = views(context);
    let body = html! {
        @if traces.is_empty() {
            (parts::missing(why_none(context)))
        } @else {
            (parts::note(&describe_sampling(context)))
            @for (shown, others) in of_workloads(&traces) { (workload(context, shown, others)) }
        }
    };
    Section::new(vec![Block::Page(body, charts(context))])
}

/// Most charts of a RUN, so that a page of many contenders can still be mailed.
const MOST_CHARTS: usize = 24;

/// Its charts, in their order on the page.
fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let traces = views(context);
    let shown = of_workloads(&traces).flat_map(|(shown, _)| shown);
    shown.map(|trace| pictures::traces(context, trace).draw()).collect()
}

/// What is drawn of each workload, and what is not: each has an equal part of the charts.
fn of_workloads(traces: &[TrialTrace]) -> impl Iterator<Item = (&[TrialTrace], &[TrialTrace])> {
    let workloads = || traces.chunk_by(|a, b| a.workload == b.workload);
    let each = (MOST_CHARTS / workloads().count().max(1)).max(1);
    workloads().map(move |own| own.split_at(each.min(own.len())))
}

/// Series with at least one value, those of a workload together.
fn views(context: &SectionContext<'_>) -> Vec<TrialTrace> {
    let run = context.run;
    let mut traces = fsarena_study::traces(&run.header.plan, run.records);
    traces.retain(|trace| {
        let mut lines = trace.phases.iter().flat_map(|phase| &phase.lines);
        lines.any(|line| line.points.iter().any(|(_, value)| value.is_some()))
    });
    traces
}

fn why_none(context: &SectionContext<'_>) -> &'static str {
    let run = context.run;
    if run.header.plan.sample_period_ns == 0 {
        "No time series: the RUN was planned without one (its sample period is 0)."
    } else if run.records.is_empty() {
        "No time series: no trial has a record."
    } else {
        "No time series: no trial has phases long enough for two samples."
    }
}

fn describe_sampling(context: &SectionContext<'_>) -> String {
    let run = context.run;
    let period = Nanos(run.header.plan.sample_period_ns);
    let cost = run.study.sampler.map_or_else(String::new, |total| {
        format!(" Sampling took {:.2} % of one CPU core.", total.share * 100.0)
    });
    let what = if context.is_watched() {
        format!("A sample every {period}.")
    } else {
        format!(
            "One trial a workload and contender, sampled every {period}; phases follow each other \
             with the time between them left out."
        )
    };
    format!(
        "{what} Rates are of the stretch that ends at a point; of long \
         series the least and the largest value of each stretch are drawn. MB are 10^6 bytes, MiB \
         are 2^20.{cost}"
    )
}

fn workload(context: &SectionContext<'_>, shown: &[TrialTrace], left_out: &[TrialTrace]) -> Markup {
    let Some((first, others)) = shown.split_first() else { return html! {} };
    html! {
        (parts::heading(&first.workload))
        (trial(context, first))
        @for other in others {
            (parts::fold(&format!("{} on {}", other.workload, other.label), &trial(context, other)))
        }
        @if !left_out.is_empty() {
            (parts::note(&format!(
                "Not drawn, to keep the page small: {} series of further contenders. They are in the \
                 database.",
                grouped(left_out.len() as u64)
            )))
        }
    }
}

fn trial(context: &SectionContext<'_>, trace: &TrialTrace) -> Markup {
    parts::figure(&pictures::traces(context, trace).draw(), &caption(trace))
}

fn caption(trace: &TrialTrace) -> String {
    format!(
        "{} on {}: trial {} (block {}), {}.",
        trace.workload, trace.label, trace.trial, trace.block, trace.chosen
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::sample::{Sample, html_of};
    use fsarena_testkit::records;

    #[test]
    fn the_first_of_a_workload_is_open_and_the_others_are_folded() {
        let work = vec![records::small_files(), records::big_file()];
        let sample = Sample::with_labels(&["ext4", "xfs", "btrfs"], work, 2);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(charts(&context).len(), 6);
        let page = html_of(&build(&context));
        assert_eq!(page.matches("<details").count(), 4);
        let trace = &views(&context)[1];
        assert!(caption(trace).starts_with("small-files on xfs: trial "), "{}", caption(trace));
        assert!(caption(trace).contains(&trace.chosen), "it says why this trial");
    }

    #[test]
    fn many_contenders_share_the_charts_and_the_rest_is_counted() {
        let labels: Vec<String> = (0..20).map(|at| format!("fs{at}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let work = vec![records::small_files(), records::big_file()];
        let sample = Sample::with_labels(&labels, work, 1);
        let run = sample.run();
        let context = SectionContext::new(0, &run);
        assert_eq!(charts(&context).len(), MOST_CHARTS);
        let page = html_of(&build(&context));
        assert_eq!(page.matches("8 series of further contenders").count(), 2, "{page}");
    }

    #[test]
    fn no_series_says_why() {
        let mut sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 1);
        for phase in &mut sample.records[0].phases {
            phase.series = None;
        }
        let mut sample = sample.again();
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("long enough"));
        assert!(views(&SectionContext::new(0, &sample.run())).is_empty());
        sample.header.plan.sample_period_ns = 0;
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("planned without one"));
        let sample = sample.unmeasured();
        let mut with_period = sample.header.clone();
        with_period.plan.sample_period_ns = 1;
        let sample = Sample::new(with_period, Vec::new());
        assert!(why_none(&SectionContext::new(0, &sample.run())).contains("no trial has a record"));
    }
}
