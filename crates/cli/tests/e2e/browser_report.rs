//! The page that a run leaves, in a browser.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_testkit::browser::{Browser, View, keep};
use std::fs;

/// Two contenders would need root; one of them in a directory has everything that a page of a run
/// without rights can have.
#[test]
fn browser_opens_the_report_of_a_run() {
    let Some(browser) = Browser::for_test() else { return };
    let env = TestEnv::new();
    let target = env.make_dir("target <b>&amp;");
    let small = ["--workload", "tiny-files", "--scale", "0.02"];
    env.run_once(&[&["--on", &target], &small[..]].concat()).good();
    let file = env.path("copy of the report.html");
    env.run(&["report", "-o", &file.display().to_string()]).good();
    for view in [View::DESKTOP, View::PHONE.dark()] {
        let page = browser.open(&file, view).unwrap();
        assert_eq!(page.faults().unwrap(), [""; 0], "{view:?}");
        assert!(!page.charts().unwrap().is_empty());
        let text = page.text().unwrap();
        assert!(text.contains("tiny-files") && text.contains("The answer"), "{text}");
        keep(&format!("of-a-run-{}.png", view.width_px), &page.picture().unwrap()).unwrap();
    }
    let left = fs::read_dir(env.dir()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".html"));
    assert_eq!(left.count(), 2, "the one that run has written, and ours");
    assert_nothing_left(&env);
}
