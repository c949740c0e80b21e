//! The first screen: how long the page is, how many words come first, how many sheets it prints,
//! and what its rows and its choice of a baseline do.

use super::{NONE, Written, samples};
use fsarena_testkit::browser::{Browser, Page, View, keep};

/// A screen of a small laptop.
const SCREEN: View = View { height_px: 800, ..View::DESKTOP };
/// Screens of 800 px that a page takes before anything is unfolded.
const SCREENS: f64 = 3.0;
/// Words that the first of them has at most.
const WORDS: f64 = 400.0;
/// Sheets that are printed before the appendix.
const SHEETS: usize = 4;

fn number(page: &Page<'_>, script: &str) -> f64 {
    page.evaluate(script).unwrap().as_f64().unwrap_or_else(|| panic!("{script} is no number"))
}

/// Sheets of a print: what Chromium writes names each page plainly.
fn sheets(page: &Page<'_>) -> usize {
    let bytes = page.print().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.matches("/Type /Page").count() - text.matches("/Type /Pages").count()
}

const WORDS_OF_THE_FIRST_SCREEN: &str = "(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let words = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest('script,style,.sr,[hidden]')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.height > 0 && box.top < 800) words += node.data.split(/\\s+/).filter(w => w).length;
    }
    return words;
})()";

#[test]
fn browser_shows_the_answer_on_few_screens_and_prints_few_sheets() {
    let Some(browser) = Browser::for_test() else { return };
    for (name, sample) in [("quick", samples::quick()), ("rich", samples::rich())] {
        let report = Written::new(&[&sample]);
        let page = report.open(&browser, SCREEN);
        keep(&format!("{name}-1280.png"), &page.picture().unwrap()).unwrap();
        let tall = number(&page, "document.documentElement.scrollHeight");
        let words = number(&page, WORDS_OF_THE_FIRST_SCREEN);
        let matrix = number(&page, "document.querySelector('.matrix').getBoundingClientRect().top");
        println!("{name}: {tall} px, {words} words on the first screen, matrix at {matrix} px");
        assert!(tall <= SCREENS * 800.0, "{name}: {tall} px");
        // The labels of the rich one are words by the dozen.
        assert!(name != "quick" || words <= WORDS, "{name}: {words} words");
        assert!(matrix < 800.0, "{name}: the matrix begins at {matrix} px");
        let whole = sheets(&page);
        keep(&format!("{name}.pdf"), &page.print().unwrap()).unwrap();
        page.evaluate("document.querySelectorAll('.printed').forEach(at => at.remove())").unwrap();
        let alone = sheets(&page);
        println!("{name}: {alone} sheets, and {} of the appendix", whole - alone);
        assert!((1..=SHEETS).contains(&alone), "{name}: {alone} sheets");
        assert!(whole > alone && whole - alone <= 6, "{name}: the appendix is printed: {whole}");
        // As wide as the sheet between its margins.
        let sheet = report.open(&browser, View { width_px: 703, ..SCREEN });
        sheet.media("print", false).unwrap();
        keep(&format!("{name}-print.png"), &sheet.picture().unwrap()).unwrap();
        let phone = report.open(&browser, View::PHONE);
        keep(&format!("{name}-380.png"), &phone.picture().unwrap()).unwrap();
        assert_eq!(phone.too_wide().unwrap(), NONE, "{name}, narrow");
        // Three contenders are seen without scrolling within the matrix: signs stand for words.
        let beyond = "(() => {
            const right = (at) => at.getBoundingClientRect().right;
            const signs = [...document.querySelectorAll('.matrix .sign')].map(right);
            return Math.max(...signs) - right(document.querySelector('.matrix'));
        })()";
        // With figures of any length.
        let longest = "document.querySelectorAll('.matrix .change').forEach(
            at => { at.textContent = '+299 %'; at.classList.add('more'); });
            document.querySelectorAll('.matrix .value').forEach(
            at => { at.textContent = '0.731 ms'; })";
        phone.evaluate(longest).unwrap();
        let beyond = number(&phone, beyond);
        assert!(name != "quick" || beyond <= 0.0, "the last column is cut off by {beyond} px");
    }
}

#[test]
fn browser_unfolds_a_row_by_its_name_and_by_a_click_on_it() {
    let Some(browser) = Browser::for_test() else { return };
    let report = Written::new(&[&samples::quick()]);
    for view in [SCREEN, SCREEN.without_script()] {
        let page = report.open(&browser, view);
        let shown = "document.querySelector('tr.group + tr.unfolded + tr + tr.unfolded')
            .getBoundingClientRect().height";
        assert_eq!(number(&page, shown), 0.0);
        if view.script {
            page.click("tr.group + tr.unfolded + tr summary").unwrap();
        } else {
            // The mouse needs scripts to find its place; what opens is the same.
            let open = "document.querySelector('tr.group + tr.unfolded + tr details').open = true";
            page.evaluate(open).unwrap();
        }
        assert!(number(&page, shown) > 300.0, "charts and tables");
        // A table within a row is no wider than it has to be, and its headings stay above it.
        let sticky = "[...document.querySelectorAll('.inner thead th')]
            .filter(at => getComputedStyle(at).position === 'sticky').length";
        assert_eq!(number(&page, sticky), 0.0);
        assert_eq!(page.too_wide().unwrap(), NONE);
        if view.script {
            keep("quick-unfolded.png", &page.picture().unwrap()).unwrap();
            page.click("tr.group + tr.unfolded + tr td").unwrap();
            assert_eq!(number(&page, shown), 0.0, "closed again by a click on a cell");
        }
    }
    let phone = report.open(&browser, View::PHONE);
    phone.click("tr.group + tr.unfolded + tr summary").unwrap();
    assert_eq!(phone.too_wide().unwrap(), NONE);
    keep("quick-380-unfolded.png", &phone.picture().unwrap()).unwrap();
}

#[test]
fn browser_chooses_another_baseline() {
    let Some(browser) = Browser::for_test() else { return };
    let page = Written::new(&[&samples::quick()]).open(&browser, SCREEN);
    let row = "[...document.querySelectorAll('tr.group + tr.unfolded + tr td')]
        .map(td => [...td.querySelectorAll('.cell')].filter(at => !at.hidden)
            .map(at => at.textContent.trim()).join()).join(' | ')";
    let words = |page: &Page<'_>| page.evaluate(row).unwrap().as_str().unwrap_or("").to_owned();
    let first = words(&page);
    let choose = "(() => { const choice = document.querySelector('.choice select');
        choice.value = '1'; choice.dispatchEvent(new Event('change')); })()";
    page.evaluate(choose).unwrap();
    let second = words(&page);
    println!("{first}\n{second}");
    assert_ne!(first, second);
    let value = |text: &str, at: usize| text.split(" | ").nth(at).unwrap().contains('%');
    assert_eq!([value(&first, 0), value(&first, 1)], [false, true], "{first}");
    assert_eq!([value(&second, 0), value(&second, 1)], [true, false], "{second}");
    // Without the script there is no choice, and the one of the RUN stands.
    let report = Written::new(&[&samples::quick()]);
    let plain = report.open(&browser, SCREEN.without_script());
    assert_eq!(plain.evaluate("document.querySelector('.choice').hidden").unwrap(), true);
    assert_eq!(words(&plain), first);
}
