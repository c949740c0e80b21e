//! What stands next to the charts of speed.

use super::*;
use crate::pictures::sample::{Sample, charts_of, html_of};
use crate::sections::answer;
use fsarena_model::verdict::Rule;
use fsarena_testkit::records;

fn text(sample: &Sample) -> String {
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    html_of(&answer::build(&context)) + &html_of(&build(&context))
}

#[test]
fn every_phase_has_its_title_its_figures_and_its_charts() {
    let work = vec![records::small_files(), records::big_file()];
    let sample = Sample::with_labels(&["ext4", "xfs"], work, 2);
    let page = text(&sample);
    for table in &sample.study.tables {
        let title = maud::html! { (phase_title(table)) }.into_string();
        assert!(page.contains(&title), "{title}");
    }
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let charts = charts_of(&answer::build(&context));
    assert!(charts.len() > 6, "{}", charts.len());
    for chart in charts.into_iter().chain(charts_of(&build(&context))) {
        assert!(page.contains(&format!("fig-{}\"", chart.id)), "{}", chart.id);
    }
    // 5,000 files in 1.005 s; 100 MiB in as long.
    assert!(page.contains(">4,975 files/s<") && page.contains(">99.5 MiB/s<"), "{page}");
}

#[test]
fn captions_say_where_intervals_come_from() {
    let caption = |sample: &Sample| {
        let run = sample.run();
        times_caption(&SectionContext::new(0, &run), &sample.study.tables[0])
    };
    let plain = caption(&Sample::with_labels(&["ext4", "xfs"], vec![records::big_file()], 3));
    assert!(plain.ends_with("no question was asked about these times."), "{plain}");
    let rule = Some(Rule::Fixed { blocks: 6 });
    let asked = caption(&Sample::asking(&["ext4", "xfs"], vec![records::big_file()], 6, rule));
    assert!(asked.contains("level 96.9 %, over 6 blocks that count"), "{asked}");
    assert!(asked.ends_with("the verdict against ext4."), "{asked}");
    let one = Some(Rule::Fixed { blocks: 1 });
    let alone = caption(&Sample::asking(&["ext4", "xfs"], vec![records::big_file()], 1, one));
    assert!(alone.contains("a single value has none"), "{alone}");
}

#[test]
fn contenders_of_different_workloads_stand_with_their_reason() {
    let work = vec![records::small_files(), records::big_file()];
    let sample = Sample::with_labels(&["ext4", "xfs"], work, 2).without(0, 1, "no room <for> it");
    let page = text(&sample);
    assert!(page.contains("ext4: not run: no room &lt;for&gt; it"), "{page}");
}

#[test]
fn one_contender_alone_has_no_heat_map_and_no_ratio() {
    let page = text(&Sample::with_labels(&["ext4"], vec![records::big_file()], 2));
    assert!(!page.contains("fig-r1-heat") && !page.contains(">ratio<"), "{page}");
    assert!(page.contains("fig-r1-w1-p1-time"));
}

#[test]
fn nothing_measured_says_so_and_names_the_phases() {
    let page =
        text(&Sample::with_labels(&["ext4", "xfs"], vec![records::big_file()], 2).unmeasured());
    assert!(page.contains("there are no figures") && page.contains("xfs: no trial yet"), "{page}");
    assert!(page.contains("No trial has a reading of space"));
    assert!(!page.contains("fig-r1-w1-p1-clocks"));
}

#[test]
fn long_labels_and_markup_stay_text() {
    let label = format!("<script>alert(1)</script>{}", "x".repeat(175));
    let page = text(&Sample::with_labels(&[&label, "xfs"], vec![records::big_file()], 2));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn crash_is_said_to_be_not_run() {
    let page = text(&Sample::with_labels(&["ext4"], vec![records::big_file()], 1));
    assert!(page.contains("Not run: no power was cut in this RUN."));
}
