//! The table of scaling over ranks and hosts, over hand-made records.

use super::{plain, run_of};
use fsarena_model::contender::Contender;
use fsarena_model::run::RunState;
use fsarena_report::json::show;
use fsarena_report::{Detail, markdown, run_text};
use fsarena_study::study;
use fsarena_testkit::records::{in_ranks, on_hosts, scaled};

/// What is said of scaling, in text of this width, and as Markdown.
fn shown(contenders: Vec<Contender>, blocks: u32, width: usize) -> (String, String) {
    let known = [1.0, 1.9, 3.1, 3.1];
    let (header, records) = scaled(contenders, blocks, |contender, phase| match phase {
        "delete" => 1.0,
        _ => known[contender],
    });
    let study = study(&header, RunState::Done, &[], &records);
    let run = run_of(&header, &records, &study, None);
    let text = run_text(&run, Detail::Full, false, width, plain());
    let from = text.find("small-files: directory over").unwrap();
    let markdown = markdown(&run, plain());
    let begin = markdown.find("## Scaling").unwrap();
    let end = markdown[begin..].find("## Notes").map_or(markdown.len(), |end| begin + end);
    let document = show(&run);
    assert_eq!(document["study"]["scaling"].as_array().map(Vec::len), Some(3), "{document}");
    (text[from..].to_owned(), markdown[begin..end].to_owned())
}

#[test]
fn ranks_have_speed_up_and_efficiency() {
    let (wide, markdown) = shown(in_ranks(&[1, 2, 4, 8]), 8, 120);
    insta::assert_snapshot!(wide);
    insta::assert_snapshot!(markdown);
}

#[test]
fn hosts_of_one_block_in_a_narrow_terminal() {
    let (narrow, _) = shown(on_hosts(&[1, 2]), 1, 80);
    insta::assert_snapshot!(narrow);
}
