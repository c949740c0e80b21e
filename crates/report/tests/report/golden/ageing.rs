//! The tables of ages, over hand-made records.

use super::{plain, run_of};
use fsarena_model::run::RunState;
use fsarena_report::json::show;
use fsarena_report::{Detail, markdown, run_text};
use fsarena_study::study;
use fsarena_testkit::records::{aged, in_ages};

/// What is said of ages, in text of this width, and as Markdown.
fn shown(ages: &[&str], blocks: u32, width: usize) -> (String, String) {
    let known = [1.0, 1.4, 2.0, 2.0];
    let contenders = in_ages(&["ext4", "xfs"], ages);
    let (header, records) = aged(contenders, blocks, |contender, phase| match phase {
        "delete" => 1.0,
        _ => 1.0 / known[contender],
    });
    let study = study(&header, RunState::Done, &[], &records);
    let run = run_of(&header, &records, &study, None);
    let text = run_text(&run, Detail::Full, false, width, plain());
    let first = text.find("filled").unwrap();
    let from = text[..first].rfind("\n\n").unwrap();
    let markdown = markdown(&run, plain());
    let begin = markdown.find("## Fresh and aged").unwrap();
    let end = markdown[begin..].find("## Notes").map_or(markdown.len(), |end| begin + end);
    let document = show(&run);
    assert!(document["study"]["ages"].as_array().is_some_and(|ages| !ages.is_empty()));
    (text[from..].to_owned(), markdown[begin..end].to_owned())
}

#[test]
fn ages_and_ratios_to_fresh() {
    let (wide, markdown) = shown(&["fresh", "80%"], 8, 120);
    insta::assert_snapshot!(wide);
    insta::assert_snapshot!(markdown);
}

#[test]
fn ages_alone_in_a_narrow_terminal() {
    let (narrow, _) = shown(&["50%", "80%:churn=4"], 1, 80);
    insta::assert_snapshot!(narrow);
}
