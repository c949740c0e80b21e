//! The table over levels of a parameter, and where rankings cross, over hand-made records.

use super::{plain, run_of};
use fsarena_model::run::RunState;
use fsarena_model::score::TrialScore;
use fsarena_report::json::show;
use fsarena_report::{Detail, answer, answer_text, markdown, run_text};
use fsarena_study::study;
use fsarena_testkit::records::over_block_sizes;
use fsarena_verdict::verdicts;

/// Text from the section on, Markdown of the section, and the answer of a RUN in which xfs takes so
/// many times as long as ext4 at each level.
fn shown(times: [f64; 3], width: usize) -> [String; 3] {
    let (header, records) =
        over_block_sizes(8, |contender, level| if contender == 1 { times[level] } else { 1.0 });
    let study = study(&header, RunState::Done, &[], &records);
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let verdicts = verdicts(&header, &[], &scores, None, &[]).unwrap();
    let run = run_of(&header, &records, &study, Some(&verdicts));
    let document = show(&run);
    assert_eq!(document["study"]["parameters"].as_array().map(Vec::len), Some(1), "{document}");
    let text = run_text(&run, Detail::Full, false, width, plain());
    let from = text.find("database over bs").unwrap();
    let end = text[from..].find("Headline").map_or(text.len(), |end| from + end);
    let markdown = markdown(&run, plain());
    let begin = markdown.find("## Over levels").unwrap();
    let stop = markdown[begin..].find("## Notes").map_or(markdown.len(), |end| begin + end);
    let first = answer_text(&answer(&run, None), None, width, plain());
    [text[from..end].to_owned(), markdown[begin..stop].to_owned(), first]
}

#[test]
fn a_ranking_that_crosses_is_told_with_its_levels() {
    let [text, markdown, answer] = shown([0.8, 1.03, 1.5], 120);
    insta::assert_snapshot!(text);
    insta::assert_snapshot!(markdown);
    insta::assert_snapshot!(answer);
}

#[test]
fn a_ranking_that_does_not_cross_is_told_so() {
    let [text, _, answer] = shown([0.8, 0.7, 0.9], 80);
    insta::assert_snapshot!(text);
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("Over bs in database no ranking is shown to cross."), "{answer}");
}
