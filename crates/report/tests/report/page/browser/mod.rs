//! The page in a browser, as people meet it: wide and narrow, light and dark, by mouse and by
//! keyboard, printed, and without its script.
//!
//! What the checks are worth is shown by `fsarena_testkit::browser`, where each finds a planted
//! fault.

mod odd;
pub mod samples;
mod screen;

use crate::page::sample::Sample;
use fsarena_testkit::browser::{Browser, Page, View, keep};
use samples::{HOSTILE, HOSTILE_TITLE};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// No fault.
const NONE: [&str; 0] = [];

/// A page in a directory that goes with it.
struct Written {
    file: PathBuf,
    bytes: usize,
    _dir: TempDir,
}

impl Written {
    fn new(samples: &[&Sample]) -> Self {
        let runs: Vec<_> = samples.iter().map(|sample| sample.run()).collect();
        let text = fsarena_report::page::page(&runs, "0.1.0");
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("report.html");
        fs::write(&file, &text).expect("room for a page");
        Self { file, bytes: text.len(), _dir: dir }
    }

    fn open<'b>(&self, browser: &'b Browser, view: View) -> Page<'b> {
        browser.open(&self.file, view).expect("a page that opens")
    }
}

#[test]
fn browser_finds_no_fault_in_a_rich_report() {
    let Some(browser) = Browser::for_test() else { return };
    let sample = samples::rich();
    let report = Written::new(&[&sample]);
    for (name, view) in
        [("desktop", View::DESKTOP), ("desktop-dark", View::DESKTOP.dark()), ("phone", View::PHONE)]
    {
        let page = report.open(&browser, view);
        keep(&format!("{name}.png"), &page.picture().unwrap()).unwrap();
        assert_eq!(page.too_wide().unwrap(), NONE, "{name}, folded");
        assert_eq!(page.faults().unwrap(), NONE, "{name}");
        keep(&format!("{name}-unfolded.png"), &page.picture().unwrap()).unwrap();
    }
    let dark = report.open(&browser, View::DESKTOP.dark());
    assert!(brightness(&dark) < 0.3, "dark paper");
    assert!(brightness(&report.open(&browser, View::DESKTOP)) > 0.8, "light paper");
}

/// Of what lies behind the text, from 0 to 1.
fn brightness(page: &Page<'_>) -> f64 {
    let colour = page
        .evaluate(
            "[document.body, document.documentElement]
                .map(at => getComputedStyle(at).backgroundColor.match(/[\\d.]+/g).map(Number))
                .find(parts => parts.length < 4 || parts[3] > 0).slice(0, 3)",
        )
        .expect("a script that runs");
    let parts =
        colour.as_array().expect("three parts").iter().filter_map(serde_json::Value::as_f64);
    parts.sum::<f64>() / 3.0 / 255.0
}

#[test]
fn browser_counts_a_mark_for_each_contender_and_phase() {
    let Some(browser) = Browser::for_test() else { return };
    let sample = samples::rich();
    let page = Written::new(&[&sample]).open(&browser, View::DESKTOP).charts().unwrap();
    let shown: Vec<(String, usize)> =
        page.iter().map(|chart| (chart.id.clone(), chart.marks)).collect();
    let drawn: Vec<(String, usize)> = fsarena_report::page::charts(&[sample.run()])
        .into_iter()
        .map(|(_, chart)| (chart.id, chart.marks))
        .collect();
    assert_eq!(shown, drawn, "the charts of the page are those of --assets");
    let contenders = sample.header.plan.contenders.len();
    for kind in ["time", "clocks", "latency"] {
        let of_kind: Vec<_> =
            shown.iter().filter(|(id, _)| id.ends_with(&format!("-{kind}"))).collect();
        assert_eq!(
            of_kind.len(),
            samples::phases(&sample),
            "{kind}: a chart for each phase: {shown:?}"
        );
        let marks: usize = of_kind.iter().map(|(_, marks)| marks).sum();
        let least = contenders * samples::phases(&sample);
        assert!(
            marks >= least && marks.is_multiple_of(least),
            "{kind}: {marks} marks, not {least}"
        );
    }
}

#[test]
fn browser_sorts_every_table() {
    let Some(browser) = Browser::for_test() else { return };
    let page = Written::new(&[&samples::rich()]).open(&browser, View::DESKTOP);
    page.unfold().unwrap();
    let count = "const tables = [...document.querySelectorAll('table.sortable')]
        .filter(table => table.tBodies[0].rows.length > 1);
        tables.forEach((table, at) => { table.id = 'sorted-' + at; }); tables.length";
    let tables = page.evaluate(count).unwrap().as_u64().unwrap();
    assert!(tables >= 1, "the appendix can be sorted");
    for table in 0..tables {
        assert_eq!(page.sorting_faults(&format!("#sorted-{table}")).unwrap(), NONE);
    }
    assert_eq!(page.messages().console, NONE);
}

#[test]
fn browser_shows_tips_by_mouse_and_by_keyboard() {
    let Some(browser) = Browser::for_test() else { return };
    let page = Written::new(&[&samples::rich()]).open(&browser, View::DESKTOP);
    let tip = || {
        let found = page.evaluate("tip.hidden ? '' : tip.textContent").unwrap();
        found.as_str().unwrap_or_default().to_owned()
    };
    page.unfold().unwrap();
    let mark = "svg.chart .mark[data-tip]";
    let words = page.evaluate(&format!("document.querySelector('{mark}').dataset.tip")).unwrap();
    assert_eq!(tip(), "");
    page.hover(mark).unwrap();
    assert_eq!(tip(), words.as_str().unwrap());
    page.hover("h1").unwrap();
    assert_eq!(tip(), "");
    page.evaluate(&format!("document.querySelector('{mark}').focus()")).unwrap();
    assert_eq!(tip(), words.as_str().unwrap());
    page.press("ArrowDown").unwrap();
    assert!(!tip().is_empty() && tip() != words.as_str().unwrap(), "the next one: {}", tip());
    page.press("Escape").unwrap();
    assert_eq!(tip(), "");
    // As it lies in the window: a tip that hangs out of it would make the page wide.
    let phone = Written::new(&[&samples::rich()]).open(&browser, View::PHONE);
    phone.unfold().unwrap();
    phone.hover(mark).unwrap();
    assert_eq!(phone.too_wide().unwrap(), NONE);
}

#[test]
fn browser_goes_through_the_report_by_keyboard() {
    let Some(browser) = Browser::for_test() else { return };
    let page = Written::new(&[&samples::rich()]).open(&browser, View::DESKTOP);
    let folded = page.tab_way(2000).unwrap();
    assert!((10..60).contains(&folded.len()), "few stops before anything is open: {folded:?}");
    page.unfold().unwrap();
    let way = page.tab_way(2000).unwrap();
    assert!(way.len() < 2000, "there is an end");
    for place in ["select", "figure g", "table button", "summary"] {
        assert!(way.iter().any(|stop| stop.contains(place)), "no {place} in {way:?}");
    }
    let skip = "document.querySelector('a.skip').focus()";
    page.evaluate(skip).unwrap();
    page.press("Enter").unwrap();
    assert_eq!(page.evaluate("location.hash").unwrap(), "#main");
}

#[test]
fn browser_shows_the_same_without_the_script() {
    let Some(browser) = Browser::for_test() else { return };
    let sample = samples::rich();
    let report = Written::new(&[&sample]);
    let with = report.open(&browser, View::DESKTOP);
    // What the script adds: its tip and its buttons for copying and saving.
    with.evaluate(
        "document.querySelectorAll('#tip, [data-copy] button, [data-save] button')
            .forEach(added => added.remove())",
    )
    .unwrap();
    let page = report.open(&browser, View::DESKTOP.without_script());
    let (with, without) = (with.text().unwrap(), page.text().unwrap());
    assert_eq!(with, without);
    for contender in &sample.header.plan.contenders {
        assert!(without.contains(&contender.label), "{}", contender.label);
    }
    assert!(without.contains(HOSTILE_TITLE));
    assert_eq!(page.evaluate("document.querySelectorAll('button').length").unwrap(), 0);
    assert_eq!(page.messages(), fsarena_testkit::browser::PageMessages::default());
    keep("without-script.png", &page.picture().unwrap()).unwrap();
}

#[test]
fn browser_prints_what_is_open_and_the_appendix() {
    let Some(browser) = Browser::for_test() else { return };
    let report = Written::new(&[&samples::rich()]);
    for view in [View::DESKTOP, View::DESKTOP.without_script(), View::DESKTOP.dark()] {
        let page = report.open(&browser, view);
        page.evaluate("document.querySelector('#r1-fairness details').open = true").unwrap();
        page.media("print", view.dark).unwrap();
        if view.script {
            page.evaluate("dispatchEvent(new Event('beforeprint'))").unwrap();
        }
        let tall = |id: &str| {
            let script = format!(
                "document.querySelector('#{id} details.part').getBoundingClientRect().height"
            );
            page.evaluate(&script).unwrap().as_f64().unwrap()
        };
        assert!(tall("r1-fairness") > 500.0, "{view:?}: what was opened is printed");
        assert!(tall("r1-appendix") > 500.0, "{view:?}: and the appendix");
        assert_eq!(tall("r1-series"), 0.0, "{view:?}: and nothing that is closed");
        assert!(brightness(&page) > 0.9, "{view:?}: ink on white paper");
    }
}

#[test]
fn browser_takes_names_for_text() {
    let Some(browser) = Browser::for_test() else { return };
    let page = Written::new(&[&samples::rich()]).open(&browser, View::DESKTOP);
    assert_eq!(page.evaluate("typeof window.hacked").unwrap(), "undefined");
    let scripts = "[...document.scripts].filter(at => at.type !== 'application/json').length";
    assert_eq!(page.evaluate(scripts).unwrap(), 1, "our own");
    let text = page.text().unwrap();
    assert!(text.contains(HOSTILE) && text.contains(HOSTILE_TITLE));
    assert_eq!(page.messages(), fsarena_testkit::browser::PageMessages::default());
}
