//! RUNs that are not as one would wish: the page is honest, and it is whole.

use super::{NONE, Written, samples};
use fsarena_testkit::browser::{Browser, View, keep};

/// A page of 200 trials goes by mail.
const BYTES_MAX: usize = 3_000_000;

#[test]
fn two_hundred_trials_go_by_mail() {
    let sample = samples::two_hundred_trials();
    assert_eq!(sample.run().records.len(), 200);
    let bytes = Written::new(&[&sample]).bytes;
    println!("{bytes} bytes");
    assert!(bytes < BYTES_MAX, "{bytes} bytes of {BYTES_MAX}");
}

#[test]
fn browser_finds_no_fault_in_odd_reports() {
    let Some(browser) = Browser::for_test() else { return };
    for (name, sample) in [
        ("no-trials", samples::without_trials()),
        ("one-contender", samples::one_contender()),
        ("uneven", samples::uneven()),
    ] {
        let report = Written::new(&[&sample]);
        assert_eq!(report.open(&browser, View::DESKTOP).faults().unwrap(), NONE, "{name}");
        let phone = report.open(&browser, View::PHONE);
        assert_eq!(phone.faults_at_once().unwrap(), NONE, "{name}, narrow");
        let picture = report.open(&browser, View::PHONE).picture().unwrap();
        keep(&format!("{name}.png"), &picture).unwrap();
    }
}

#[test]
fn browser_finds_no_fault_in_reports_of_cycles_watches_and_scaling() {
    let Some(browser) = Browser::for_test() else { return };
    for (name, sample) in [
        ("periodic", samples::periodic()),
        ("watched", samples::watched()),
        ("scaling", samples::scaling()),
    ] {
        let report = Written::new(&[&sample]);
        println!("{name}: {} bytes", report.bytes);
        for (how, view) in
            [("", View::DESKTOP), ("-dark", View::DESKTOP.dark()), ("-phone", View::PHONE)]
        {
            let page = report.open(&browser, view);
            keep(&format!("{name}{how}.png"), &page.picture().unwrap()).unwrap();
            assert_eq!(page.faults_at_once().unwrap(), NONE, "{name}{how}");
        }
        let page = report.open(&browser, View::DESKTOP);
        page.unfold().unwrap();
        let count = "const tables = [...document.querySelectorAll('table.sortable')]
            .filter(table => table.tBodies[0].rows.length > 1);
            tables.forEach((table, at) => { table.id = 'sorted-' + at; }); tables.length";
        for table in 0..page.evaluate(count).unwrap().as_u64().unwrap() {
            let found = page.sorting_faults(&format!("#sorted-{table}")).unwrap();
            assert_eq!(found, NONE, "{name}, table {table}");
        }
        let shown: usize = page.charts().unwrap().iter().map(|chart| chart.marks).sum();
        let drawn = fsarena_report::page::charts(&[sample.run()]);
        assert_eq!(shown, drawn.iter().map(|(_, chart)| chart.marks).sum::<usize>(), "{name}");
    }
}

#[test]
fn browser_finds_no_fault_in_a_report_of_sixty_contenders() {
    let Some(browser) = Browser::for_test() else { return };
    let sample = samples::sixty_contenders();
    let page = Written::new(&[&sample]).open(&browser, View::PHONE);
    assert_eq!(page.faults_at_once().unwrap(), NONE);
    keep("sixty-contenders.png", &page.picture().unwrap()).unwrap();
    let time = page.charts().unwrap().into_iter().filter(|chart| chart.id.ends_with("-time"));
    assert_eq!(time.map(|chart| chart.marks).sum::<usize>(), 60 * samples::phases(&sample));
}

#[test]
fn browser_finds_no_fault_in_a_report_of_two_runs() {
    let Some(browser) = Browser::for_test() else { return };
    let (one, other) = (samples::one_contender(), samples::uneven());
    let page = Written::new(&[&one, &other]).open(&browser, View::DESKTOP);
    assert_eq!(page.faults().unwrap(), NONE);
    let doubled = "[...document.querySelectorAll('[id]')].map(at => at.id)
        .filter((id, at, all) => all.indexOf(id) !== at)";
    assert_eq!(page.evaluate(doubled).unwrap(), serde_json::json!([]), "ids of two places");
}
