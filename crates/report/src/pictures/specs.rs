//! What the charts are told: numbers, labels, notes.

use super::sample::Sample;
use super::*;
use crate::context::SectionContext;
use crate::sections::series::traces;
use fsarena_model::record::{CacheState, Drained, MemoryRecord};
use fsarena_model::verdict::Rule;
use fsarena_testkit::records;
use std::collections::BTreeSet;

const THREE: [&str; 3] = ["ext4", "xfs", "tmpfs"];

fn points(sample: &Sample) -> Vec<fsarena_study::PhasePoints> {
    fsarena_study::points(&sample.header.plan, &sample.records)
}

#[test]
fn bars_have_medians_and_every_raw_value() {
    let sample = Sample::with_labels(&THREE, vec![records::small_files()], 3);
    let run = sample.run();
    let bars = times(&SectionContext::new(0, &run), &sample.study.tables[0], &points(&sample));
    assert_eq!(bars.head.id, "r1-w1-p1-time");
    assert_eq!(bars.axis.title, "time to durable, s (less is better)");
    let values: Vec<f64> = bars.bars.iter().map(|bar| bar.value.as_ref().unwrap().value).collect();
    // The middle one of three blocks.
    assert_eq!(values, [1.01, 1.11, 1.21]);
    let raw: Vec<f64> = bars.bars[1].points.iter().map(|spot| spot.value).collect();
    assert_eq!(raw, [1.10, 1.11, 1.12]);
    assert!(bars.bars[1].points[2].tip.starts_with("xfs, block 3: 1.12"), "{:?}", bars.bars[1]);
    assert!(bars.bars.iter().all(|bar| bar.interval.is_none() && bar.note.is_empty()));
    assert!(bars.head.description.contains("least ext4 1.01 s, most tmpfs 1.21 s"));
}

#[test]
fn intervals_and_words_are_those_of_the_verdicts() {
    let sample =
        Sample::asking(&THREE, vec![records::small_files()], 8, Some(Rule::Fixed { blocks: 8 }));
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let bars = times(&context, &sample.study.tables[0], &points(&sample));
    let question = &sample.verdicts.as_ref().unwrap().questions[0];
    for bar in &bars.bars {
        let rank = question.rows.iter().find(|rank| rank.label == bar.key.label).unwrap();
        let (low, high) = bar.interval.unwrap();
        let ranked = (rank.median_low.unwrap() / 1e9, rank.median_high.unwrap() / 1e9);
        assert_eq!((low, high), ranked);
        let word = rank.against_reference.map_or("reference", |verdict| verdict.word());
        assert_eq!(bar.note, word);
    }
}

#[test]
fn who_has_no_figure_says_why() {
    let sample = Sample::with_labels(&THREE, vec![records::small_files(), records::big_file()], 2)
        .without(1, 1, "no room for a file of 100 MiB on this device, however small it is");
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let last = sample.study.tables.last().unwrap();
    let bars = times(&context, last, &points(&sample));
    assert_eq!(bars.head.id, "r1-w2-p1-time");
    let absent = bars.bars.iter().find(|bar| bar.value.is_none()).unwrap();
    assert_eq!((absent.key.label.as_str(), absent.key.hue), ("xfs", 1));
    assert!(absent.note.starts_with("not run: no room for a file"), "{}", absent.note);
    assert!(absent.note.ends_with('…') && absent.note.chars().count() <= 44, "{}", absent.note);
    let whole = why_absent(context.run.study, last, &last.absent[0]);
    assert!(whole.ends_with("however small it is"), "{whole}");
}

#[test]
fn partial_trials_are_counted_and_not_drawn() {
    let sample =
        Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 3).partial(0, 0);
    let run = sample.run();
    let bars = times(&SectionContext::new(0, &run), &sample.study.tables[0], &points(&sample));
    assert_eq!((bars.bars[0].points.len(), bars.bars[1].points.len()), (2, 3));
    assert_eq!(bars.bars[0].note, "1 partial, 2 of 3 trials");
}

#[test]
fn warm_by_nature_is_said_beside_the_bar() {
    let mut sample = Sample::with_labels(&["ext4", "tmpfs"], vec![records::small_files()], 2);
    for record in sample.records.iter_mut().filter(|record| record.filesystem.name == "tmpfs") {
        for phase in &mut record.phases {
            phase.cache.state = CacheState::WarmByNature;
            phase.clocks.drained = Drained::NoDevice;
        }
    }
    let sample = sample.again();
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let bars = times(&context, &sample.study.tables[0], &points(&sample));
    assert_eq!(bars.bars[1].note, "warm by nature");
    assert_eq!(bars.bars[1].points.len(), 2, "raw values are found by their state of the cache");
    let stacks = clocks(&context, &sample.study.tables[0]);
    assert_eq!(stacks.stacks[1].note, "no device");
    assert_eq!((stacks.stacks[0].segments.len(), stacks.stacks[1].segments.len()), (3, 2));
}

/// The first contender had its memory limited in half of its trials alone: two rows, and the
/// ranking's one row is of neither.
#[test]
fn a_row_of_one_kind_has_its_own_median_and_no_word_of_another() {
    let rule = Some(Rule::Fixed { blocks: 8 });
    let mut sample = Sample::asking(&["ext4", "xfs"], vec![records::small_files()], 8, rule);
    let first = sample.header.plan.contenders[0].id();
    let limited = MemoryRecord::Limited {
        limit_bytes: 1 << 28,
        by: "cgroup".to_owned(),
        peak_bytes: None,
        syncs: 0,
    };
    for record in sample.records.iter_mut().filter(|record| record.key.contender == first) {
        for phase in record.phases.iter_mut().filter(|_| record.key.block % 2 == 0) {
            phase.memory = limited.clone();
            phase.clocks.durable_ns = Some(3_000_000_000);
        }
    }
    let sample = sample.again();
    let run = sample.run();
    let table = &sample.study.tables[0];
    let bars = times(&SectionContext::new(0, &run), table, &points(&sample));
    let own: Vec<_> = table.rows.iter().zip(&bars.bars).filter(|(r, _)| r.contender == 0).collect();
    assert_eq!(own.len(), 2, "{:?}", table.rows);
    for (row, bar) in own {
        let median_s = row.compared.unwrap().median_ns as f64 / 1e9;
        assert_eq!(bar.value.as_ref().unwrap().value, median_s);
        assert_eq!(bar.interval, None, "the ranking's interval is of both");
        assert!(!bar.note.contains("reference") && !bar.note.contains("ER"), "{}", bar.note);
    }
}

#[test]
fn what_must_not_be_overlooked_stands_first_and_is_not_cut() {
    let rule = Some(Rule::Fixed { blocks: 4 });
    let mut sample = Sample::asking(&["ext4", "xfs"], vec![records::small_files()], 4, rule);
    for record in sample.records.iter_mut().filter(|record| record.filesystem.name == "xfs") {
        for phase in &mut record.phases {
            phase.cache.state = CacheState::WarmByNature;
        }
    }
    let sample = sample.again();
    let run = sample.run();
    let chart = times(&SectionContext::new(0, &run), &sample.study.tables[0], &points(&sample));
    assert!(chart.bars[1].note.starts_with("warm by nature"), "{}", chart.bars[1].note);
    let mut chart = chart;
    chart.bars[1].note = "WRONG CONTENTS, WARM, cold was asked for, UNDECIDED".to_owned();
    let drawn = chart.draw().inline;
    for words in ["WRONG", "CONTENTS", "cold was", "asked for", "UNDECIDED"] {
        let whole = drawn.split("<text").any(|text| text.contains(words) && !text.contains('…'));
        assert!(whole, "{words}: {drawn}");
    }
}

#[test]
fn clocks_follow_each_other() {
    let sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 1);
    let run = sample.run();
    let stacks = clocks(&SectionContext::new(0, &run), &sample.study.tables[0]);
    let segments = &stacks.stacks[0].segments;
    let ends: Vec<(f64, f64)> = segments.iter().map(|segment| (segment.from, segment.to)).collect();
    assert_eq!(ends, [(0.0, 0.5), (0.5, 1.0), (1.0, 1.25)]);
    assert_eq!(stacks.names[segments[2].name], "until drained");
    assert!(segments[1].tip.starts_with("ext4: durable after 1.00"), "{}", segments[1].tip);
}

#[test]
fn what_did_not_drain_says_so() {
    let mut sample = Sample::with_labels(&["ext4"], vec![records::small_files()], 2);
    let reason = "the device was busy for 60 s".to_owned();
    sample.records[0].phases[0].clocks.drained = Drained::NotDrained { reason };
    let sample = sample.again();
    let run = sample.run();
    let stacks = clocks(&SectionContext::new(0, &run), &sample.study.tables[0]);
    let note = &stacks.stacks[0].note;
    assert_eq!(note, "not drained in 1 trial: the device was busy for 60 s");
}

#[test]
fn load_and_bytes_stand_by_phase() {
    let sample = Sample::with_labels(&THREE, vec![records::small_files()], 1);
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let tables = &sample.study.tables;
    let load = cpu(&context, tables).unwrap();
    assert_eq!(load.head.id, "r1-w1-cpu");
    let labels: Vec<&str> = load.groups.iter().map(|group| group.label.as_str()).collect();
    assert_eq!(labels, ["create", "read-random", "delete"]);
    assert_eq!(load.groups[0].parts[2].value.as_ref().unwrap().value, 25.0);
    let written = written(&context, tables).unwrap();
    // Three times 5,000 files of 256 B up to the unmount.
    let value = written.groups[0].parts[0].value.as_ref().unwrap().value;
    assert_eq!(value * 1_048_576.0, 3.0 * 5000.0 * 256.0);
    assert!(written.axis.title.ends_with("MiB"), "{}", written.axis.title);
}

#[test]
fn more_contenders_than_colours_have_no_groups() {
    let labels: Vec<String> = (0..60).map(|at| format!("fs{at}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let sample = Sample::with_labels(&labels, vec![records::big_file()], 1);
    let run = sample.run();
    let context = SectionContext::new(0, &run);
    let tables = &sample.study.tables;
    assert!(cpu(&context, tables).is_none() && written(&context, tables).is_none());
    let bars = times(&context, &tables[0], &points(&sample));
    assert_eq!((bars.bars.len(), bars.bars[59].key.hue), (60, 59));
}

#[test]
fn the_heat_map_has_a_cell_a_contender_and_phase() {
    let sample = Sample::with_labels(&THREE, vec![records::small_files(), records::big_file()], 2);
    let run = sample.run();
    let view = fsarena_study::heat(run.study, run.verdicts).unwrap();
    let chart = heat(&SectionContext::new(0, &run), &view);
    assert_eq!((chart.rows.len(), chart.columns.len()), (3, 4));
    assert_eq!(chart.columns[0], "small-files / create");
    let cell = &chart.cells[2][0];
    let spot = cell.ratio.as_ref().unwrap();
    // Medians of 1.200 and 1.005 blocks: (1.20 + 1.21) ÷ (1.00 + 1.01).
    assert!((spot.value - 2.41 / 2.01).abs() < 1e-9, "{spot:?}");
    assert!(
        cell.proof == fsarena_chart::Proof::None
            && spot.tip.ends_with("not asked whether it is real"),
        "{spot:?}"
    );
    assert!(chart.cells[0][0].reference && chart.legend.ends_with("above 1 is slower"));
    let one = Sample::with_labels(&["ext4"], vec![records::small_files()], 2);
    assert!(fsarena_study::heat(&one.study, None).is_none(), "one alone has no ratio");
}

#[test]
fn latencies_say_their_shares() {
    let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 2);
    let run = sample.run();
    let views = fsarena_study::curves(&sample.header.plan, &sample.records);
    let charts = latency(&SectionContext::new(0, &run), &sample.study.tables[0], &views);
    assert_eq!((charts.len(), charts[0].curves.len()), (1, 2));
    let tip = &charts[0].curves[1].tip;
    assert!(tip.starts_with("xfs: half ") && tip.ends_with("10,000 ops"), "{tip}");
    assert!(tip.contains("longest 1.05"), "{tip}");
}

#[test]
fn series_have_a_panel_a_quantity_and_a_span_a_phase() {
    let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 3);
    let run = sample.run();
    let views = fsarena_study::traces(&sample.header.plan, &sample.records);
    let chart = traces(&SectionContext::new(0, &run), &views[1]);
    assert_eq!(chart.head.id, "r1-w1-c2-series");
    let spans: Vec<&str> = chart.spans.iter().map(|span| span.label.as_str()).collect();
    assert_eq!(spans, ["create", "read-random", "delete"]);
    let titles: Vec<&str> = chart.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!((titles.len(), titles[1]), (6, "written to the device, MB/s"));
    let of = |panel: usize| &chart.panels[panel].traces[0].points;
    let written: Vec<f64> = of(1).iter().filter_map(|point| point.1).collect();
    assert_eq!((written.len(), written[0].round()), (30, 10.0), "ten stretches a phase");
    assert!(of(4).iter().filter(|point| point.1.is_none()).count() >= 3, "missing readings");
    assert!(chart.head.description.contains("written to the device, MB/s at most 10.0"));
    for panel in &chart.panels {
        let points = &panel.traces[0].points;
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0), "{}: {points:?}", panel.title);
        assert_eq!(panel.traces[0].hue, 1);
    }
}

#[test]
fn every_chart_has_an_id_of_its_own() {
    let work = || vec![records::small_files(), records::big_file(), records::database()];
    let (a, b) = (Sample::with_labels(&THREE, work(), 2), Sample::with_labels(&THREE, work(), 2));
    let named = crate::page::charts(&[a.run(), b.run()]);
    let names: BTreeSet<&String> = named.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), named.len(), "a file each");
    let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(names.iter().all(|name| name.chars().all(fit)), "{names:?}");
    let alone: Vec<String> = crate::page::charts(&[a.run()]).into_iter().map(|one| one.0).collect();
    assert!(alone.iter().any(|name| name == "small-files-create-time"), "{alone:?}");
    let charts: Vec<_> = named.into_iter().map(|(_, chart)| chart).collect();
    let ids: BTreeSet<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids.len(), charts.len());
    for id in &ids {
        assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{id}");
    }
    assert!(ids.contains("r2-heat") && ids.contains("r1-w3-p1-write-latency"), "{ids:?}");
    assert!(charts.iter().all(|chart| chart.marks > 0), "{charts:?}");
}

#[test]
fn nothing_measured_has_no_values_and_still_a_page() {
    let sample = Sample::with_labels(&THREE, vec![records::small_files()], 2).unmeasured();
    let run = sample.run();
    for (_, chart) in crate::page::charts(&[run]) {
        assert_eq!(chart.marks, 0, "{}", chart.id);
    }
    let page = crate::page::page(&[run], "0.0.0");
    assert!(page.contains("no trial yet") && page.contains("No time series"));
}
