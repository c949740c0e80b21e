//! Pages with one fault each: every check finds its own and nothing else, and a page without a
//! fault has none. The tests of other crates rely on it.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use fsarena_testkit::browser::{AXE, AXE_SHA256, AXE_VERSION, Browser, View};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A page without a fault; `planted` goes in at its end.
fn page(dir: &TempDir, name: &str, planted: &str) -> PathBuf {
    let file = dir.path().join(name);
    let whole = GOOD.replace("<!-- planted -->", planted);
    fs::write(&file, whole).unwrap();
    file
}

const GOOD: &str = r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px sans-serif; color: #222; background: #fff; margin: 8px }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111 } }
@media print { details::details-content { content-visibility: visible; display: block } }
.scrolls { overflow-x: auto } svg { max-width: 100% } .far { width: 900px }
</style></head><body><main><h1>A page</h1>
<details><summary>More</summary><p>Folded words</p></details>
<div class="scrolls" tabindex="0" role="region" aria-label="Wide"><p class="far">wide</p></div>
<figure id="fig-c1"><svg class="chart" role="img" aria-labelledby="c1-t" data-marks="2"
 viewBox="0 0 100 20"><title id="c1-t">Bars</title><desc>Two bars</desc>
<rect class="mark" width="50" height="8"/><rect class="mark" y="10" width="70" height="8"/></svg>
</figure>
<img alt="a dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">
<table id="t" class="sortable"><thead><tr><th><button>what</button></th>
<th><button>s</button></th></tr></thead><tbody>
<tr><td>block 10</td><td data-value="9">9.0</td></tr>
<tr><td>block 2</td><td>–</td></tr>
<tr><td>ext4</td><td data-value="10.5">10.5</td></tr></tbody></table>
<script>
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => head.addEventListener('click', () => {
    const up = head.getAttribute('aria-sort') !== 'ascending' || window.never;
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const key = row => row.cells[at].dataset.value ?? row.cells[at].textContent;
    const collator = new Intl.Collator('en', { numeric: !window.asText });
    const rows = [...table.tBodies[0].rows].sort((a, b) => key(a) === '–' ? 1 : key(b) === '–' ? -1
      : (up ? 1 : -1) * collator.compare(key(a), key(b)));
    table.tBodies[0].append(...rows);
  }));
}
</script>
<!-- planted -->
</main></body></html>
"##;

fn faults(browser: &Browser, file: &std::path::Path, view: View) -> Vec<String> {
    browser.open(file, view).unwrap().faults().unwrap()
}

#[test]
fn the_copy_of_axe_is_the_published_one() {
    let sum: String = Sha256::digest(AXE).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sum, AXE_SHA256);
    assert!(AXE.starts_with(&format!("/*! axe v{AXE_VERSION}\n")));
}

#[test]
fn browser_finds_no_fault_in_a_page_without_one() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = page(&dir, "good, #1.html", "");
    for view in [View::DESKTOP, View::DESKTOP.dark(), View::PHONE, View::PHONE.dark()] {
        assert_eq!(faults(&browser, &file, view), [""; 0], "{view:?}");
    }
    let open = browser.open(&file, View::PHONE).unwrap();
    assert_eq!(open.sorting_faults("#t").unwrap(), [""; 0]);
    let way = open.tab_way(50).unwrap();
    assert_eq!(way, ["main summary 0", "main div 1", "table button 2", "table button 3"]);
}

/// A fault, what shows it, and the view in which it shows.
const PLANTED: &[(&str, &str, &str)] = &[
    ("error", "<script>console.error('so', 3)</script>", "console: error: so 3"),
    ("exception", "<script>nothing.there()</script>", "console: exception: ReferenceError"),
    ("late", "<script>setTimeout(() => nothing.there())</script>", "console: exception: Refer"),
    ("image", "<img alt='x' src='http://example.org/x.png'>", "fetched: http://example.org/x.png"),
    ("style", "<link rel='stylesheet' href='x.css'>", "fetched: file://"),
    ("font", "<style>@import 'https://example.org/a.css';</style>", "fetched: https://example.org"),
    ("wide", "<div style='width: 600px'>x</div>", "wide: 6"),
    ("far", "<meta name='viewport' content='width=980'>", "wide: 980"),
    ("pale", "<p style='color: #aaa; background: #fff'>pale</p>", "axe: color-contrast (serious)"),
    ("folded", "<details><summary>s</summary><img src='data:,'></details>", "axe: image-alt"),
    ("nameless", "<button></button>", "axe: button-name (critical)"),
    (
        "marks",
        "<svg class='chart' id='c2' role='img' aria-labelledby='c2-t' data-marks='2'>\
         <title id='c2-t'>Bars</title><desc>d</desc><rect class='mark'/></svg>",
        "chart c2: 1 marks, told Some(2)",
    ),
    (
        "mute",
        "<svg class='chart' id='c3' role='img' aria-labelledby='c3-t' data-marks='0'>\
         <title id='c3-t'>Bars</title></svg>",
        "chart c3: no description",
    ),
];

#[test]
fn browser_finds_each_planted_fault() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    for (name, planted, shows) in PLANTED {
        let file = page(&dir, &format!("{name}.html"), planted);
        let found = faults(&browser, &file, View::PHONE);
        assert!(found.iter().any(|fault| fault.starts_with(shows)), "{name}: {found:#?}");
        // What was not there is said by the log too.
        let others = found.iter().filter(|fault| !fault.starts_with(shows));
        let others: Vec<_> = others.filter(|fault| !fault.starts_with("console: log: ")).collect();
        assert!(others.is_empty(), "{name}: {others:#?}");
    }
}

#[test]
fn browser_finds_a_table_that_is_not_sorted() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    let found = |name: &str, planted: &str| {
        let file = page(&dir, name, planted);
        browser.open(&file, View::DESKTOP).unwrap().sorting_faults("#t").unwrap()
    };
    let as_text = found("as-text.html", "<script>window.asText = true</script>");
    assert!(as_text.iter().any(|fault| fault.contains("`9` stands behind `10.5`")), "{as_text:#?}");
    let once = found("once.html", "<script>window.never = true</script>");
    assert!(once.iter().any(|fault| fault.contains("not descending")), "{once:#?}");
    let lost = "<script>document.querySelector('th').addEventListener('click', () =>
        document.querySelector('#t tbody').rows[0].remove())</script>";
    let lost = found("lost.html", lost);
    assert!(lost.iter().any(|fault| fault.contains("lost or doubled")), "{lost:#?}");
}

#[test]
fn browser_tells_screen_dark_print_and_script_apart() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    let planted = "<p id='p'>by hand</p><script>document.getElementById('p').textContent = \
                   'by script'</script>";
    let file = page(&dir, "media.html", planted);
    let paper = |view: View| {
        let open = browser.open(&file, view).unwrap();
        let colour = open.evaluate("getComputedStyle(document.body).backgroundColor").unwrap();
        colour.as_str().unwrap().to_owned()
    };
    assert_eq!(paper(View::DESKTOP), "rgb(255, 255, 255)");
    assert_eq!(paper(View::DESKTOP.dark()), "rgb(17, 17, 17)");
    let open = browser.open(&file, View::DESKTOP).unwrap();
    assert!(open.text().unwrap().contains("by script"));
    assert!(!open.folded().unwrap()[0].shown);
    open.media("print", false).unwrap();
    assert!(open.folded().unwrap()[0].shown, "the style sheet opens it in print");
    assert!(open.print().unwrap().starts_with(b"%PDF-"));
    let open = browser.open(&file, View::DESKTOP.without_script()).unwrap();
    let text = open.text().unwrap();
    assert!(text.contains("by hand") && text.contains("Folded words"), "{text}");
}

#[test]
fn browser_follows_the_keyboard_and_the_mouse() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    let trap = "<div style='height: 3000px'></div><button id='b' onclick='this.textContent = 1'>0\
                </button><button onblur='b.focus()'>2</button>";
    let open = browser.open(&page(&dir, "trap.html", trap), View::DESKTOP).unwrap();
    open.click("#b").unwrap();
    assert_eq!(open.evaluate("b.textContent").unwrap(), "1", "far below the window");
    let error = open.tab_way(50).unwrap_err().to_string();
    assert!(error.contains("a trap for the keyboard"), "{error}");
    open.hover("#b").unwrap();
    assert_eq!(open.evaluate("b.matches(':hover')").unwrap(), true);
    assert!(open.click("#not-there").is_err());
}

#[test]
fn browser_says_what_went_wrong() {
    let Some(browser) = Browser::for_test() else { return };
    let dir = tempfile::tempdir().unwrap();
    let missing = browser.open(&dir.path().join("none.html"), View::DESKTOP).unwrap_err();
    assert!(missing.to_string().contains("ERR_FILE_NOT_FOUND"), "{missing}");
    let open = browser.open(&page(&dir, "a.html", ""), View::DESKTOP).unwrap();
    let thrown = open.evaluate("nothing.there()").unwrap_err().to_string();
    assert!(thrown.contains("ReferenceError: nothing is not defined"), "{thrown}");
    let picture = open.picture().unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}
