//! RUNs of a periodic application and of a device that was watched: their sections and sentences.

use crate::page::browser::samples;
use crate::page::{HOSTILE, parsed, section};

#[test]
fn a_periodic_run_has_its_sections_in_order() {
    let dom = parsed(&samples::periodic());
    let titles = dom.texts("h3");
    let expected = [
        "The answer",
        "All ratios, space and crash safety",
        "Response curves",
        "Cycles",
        "Where the bytes went",
        "Then and now",
        "The fairness ledger",
        "Time series",
        "Appendix: every value, how this is read, how to do it again",
    ];
    assert_eq!(titles, expected);
}

#[test]
fn sentences_of_curves_cycles_and_accounts_stand_beside_their_charts() {
    let dom = parsed(&samples::periodic());
    let curves = section(&dom, "r1-sweeps");
    assert!(curves.contains("periodic / cycle: block_size of ext4"), "{curves}");
    assert!(curves.contains("Work time: least at 2048"), "{curves}");
    assert!(curves.contains("; flat within 5 % over all levels."), "{curves}");
    assert!(curves.contains("not shown to be flat; shown to be more at"), "{curves}");
    let cycles = section(&dom, "r1-cycles");
    assert!(cycles.contains("second load in cycle 3"), "{cycles}");
    assert!(cycles.contains("under the second load a cycle worked"), "{cycles}");
    let bytes = section(&dom, "r1-bytes");
    assert!(bytes.contains("one account lost 1,234 events of the trace"), "{bytes}");
    assert!(bytes.contains("rounding as written") && bytes.contains("rounding as allocated"));
    let then = section(&dom, "r1-then");
    assert!(then.contains("65536/8192") && then.contains("This machine: "), "{then}");
    assert!(then.contains("inference, not measurement"), "{then}");
}

#[test]
fn cycles_are_marked_on_the_time_series() {
    let charts = fsarena_report::page::charts(&[samples::periodic().run()]);
    let series: Vec<_> = charts
        .iter()
        .map(|(_, chart)| chart)
        .filter(|chart| chart.id.ends_with("-series"))
        .collect();
    assert!(!series.is_empty());
    for chart in series {
        for name in ["cycle 1", "cycle 2", "cycle 3, disturbed"] {
            assert!(chart.inline.contains(&format!("<title>{name}</title>")), "{name}: {chart:?}");
        }
    }
}

#[test]
fn hostile_labels_of_levels_stay_text() {
    let mut sample = samples::periodic();
    for contender in &mut sample.header.plan.contenders {
        contender.label = format!("{HOSTILE}{}", contender.label);
    }
    sample.study_again();
    let dom = parsed(&sample);
    assert_eq!(dom.scripts().len(), 2, "the data and our own script");
    for name in ["r1-sweeps", "r1-cycles", "r1-bytes"] {
        assert!(section(&dom, name).contains("<script>alert(1)</script>"), "{name}");
    }
    for (_, svg) in fsarena_report::page::charts(&[sample.run()]) {
        assert!(!svg.inline.contains("<script") && !svg.inline.contains("<img"), "{}", svg.id);
    }
}

#[test]
fn a_watched_run_has_what_was_seen_and_no_answer() {
    let sample = samples::watched();
    let dom = parsed(&sample);
    let titles = dom.texts("h3");
    assert_eq!(titles[..3], ["What was seen", "The fairness ledger", "Time series"]);
    let seen = section(&dom, "r1-watched");
    assert!(seen.contains("Watched and not measured"), "{seen}");
    assert!(seen.contains("In all: read"), "{seen}");
    assert!(seen.contains("write MB/s") && seen.contains("queue depth"), "{seen}");
    let charts = fsarena_report::page::charts(&[sample.run()]);
    assert_eq!(charts.len(), 1, "its series");
    assert!(charts[0].1.marks >= 3, "{}", charts[0].1.inline);
}

#[test]
fn a_sweep_with_cycles_and_accounts_goes_by_mail() {
    let sample = samples::periodic();
    let text = fsarena_report::page::page(&[sample.run()], "0.1.0");
    println!("{} bytes", text.len());
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
}
