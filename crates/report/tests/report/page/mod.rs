//! The page as a parser of HTML sees it: what is inserted stays text, references lead somewhere,
//! and RUNs of all kinds give a page that says how they stand.

mod browser;
mod documents;
mod dom;
mod periodic;
mod sample;

use dom::Dom;
use fsarena_model::record::{Notice, Outcome};
use fsarena_model::run::RunState;
use fsarena_model::verdict::{Pairs, Rule};
use fsarena_testkit::records::{big_file, contender, small_files};
use sample::Sample;

/// What a label, title or path may hold without becoming markup.
const HOSTILE: &str = "<script>alert(1)</script></script><!--\"><img src=x onerror=alert(2)>']]>\
                       \u{2028}</style></title>&lt;";

/// The page of one RUN, parsed, with what holds of every page checked.
fn parsed(sample: &Sample) -> Dom {
    parsed_together(&[sample])
}

fn parsed_together(samples: &[&Sample]) -> Dom {
    let runs: Vec<_> = samples.iter().map(|sample| sample.run()).collect();
    let text = fsarena_report::page::page(&runs, "0.1.0");
    assert_eq!(text, fsarena_report::page::page(&runs, "0.1.0"), "the same bytes each time");
    let dom = Dom::parse(&text);
    well_formed(&dom);
    dom
}

fn well_formed(dom: &Dom) {
    assert_eq!(dom.errors, Vec::<String>::new(), "no parse errors");
    let ids = dom.attributes("id");
    for (at, id) in ids.iter().enumerate() {
        assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id:?}");
        assert!(!ids[at + 1..].contains(id), "{id} stands twice");
    }
    for name in ["aria-labelledby", "aria-describedby", "data-copy", "data-save", "for"] {
        for target in dom.attributes(name) {
            for id in target.split_whitespace() {
                assert!(ids.iter().any(|one| one == id), "{name} leads to no {id}");
            }
        }
    }
    for link in dom.attributes("href") {
        let target = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads off the page"));
        assert!(ids.iter().any(|id| id == target), "nothing has the id {target}");
    }
    for name in ["src", "srcset", "action", "onerror", "onclick", "onload", "style"] {
        assert!(dom.attributes(name).is_empty(), "nothing has {name}");
    }
    for name in ["img", "link", "iframe", "object", "form"] {
        assert_eq!(dom.texts(name).len(), 0, "no {name}");
    }
    assert_eq!(dom.texts("h1").len(), 1, "one h1");
    let levels = dom.heading_levels();
    for pair in levels.windows(2) {
        assert!(pair[1] <= pair[0] + 1, "no heading level is left out: {levels:?}");
    }
    assert_eq!(dom.texts("table").len(), dom.texts("caption").len(), "every table has a caption");
    for scope in dom.attributes_of("th", "scope") {
        let scope = scope.expect("every th has a scope");
        assert!(["col", "row", "rowgroup"].contains(&scope.as_str()), "{scope}");
    }
    let regions = dom.attributes_of("svg", "role");
    assert!(regions.iter().all(|role| role.as_deref() == Some("img")), "{regions:?}");
}

/// Text of the section of a RUN, spaces made one.
fn section(dom: &Dom, id: &str) -> String {
    let text = dom.text_of_id(id).unwrap_or_else(|| panic!("there is no {id}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hostile() -> Sample {
    let mut work = small_files();
    work.name = HOSTILE.to_owned();
    work.title = HOSTILE.to_owned();
    let label = |n: usize| format!("{n}{HOSTILE}");
    let contenders = vec![contender(&label(1), "ext4", 1), contender(&label(2), "xfs", 1)];
    let mut sample = Sample::planned(contenders, vec![work], 8);
    sample.header.title = HOSTILE.to_owned();
    sample.header.experiment = HOSTILE.to_owned();
    sample.header.experiment_toml =
        format!("# {HOSTILE}\nquestion = '''{}'''\n", HOSTILE.replace('\'', ""));
    sample.header.arguments =
        vec!["fsarena".to_owned(), "run".to_owned(), HOSTILE.to_owned(), "--seed=<b>".to_owned()];
    sample.header.host.hostname = HOSTILE.to_owned();
    sample.header.host.cpu_model = Some(HOSTILE.to_owned());
    sample.header.program_version = HOSTILE.to_owned();
    sample.ask(Rule::Fixed { blocks: 8 });
    sample.carry_out(|record| {
        record.notices.push(Notice {
            code: HOSTILE.to_owned(),
            text: HOSTILE.to_owned(),
            remedy: Some(HOSTILE.to_owned()),
            measure: None,
        });
        record.filesystem.mounted_options = Some(HOSTILE.to_owned());
        record.filesystem.mkfs_argv = vec![HOSTILE.to_owned()];
        record.filesystem.features.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
        record.device.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
        if record.key.sequence == 3 {
            record.outcome = Outcome::Failed {
                step: HOSTILE.to_owned(),
                error: HOSTILE.to_owned(),
                remedy: Some(HOSTILE.to_owned()),
            };
        }
    });
    sample
}

#[test]
fn what_is_inserted_stays_text() {
    let sample = hostile();
    let dom = parsed(&sample);
    let scripts = dom.scripts();
    let kinds: Vec<Option<&str>> = scripts.iter().map(|(kind, _)| kind.as_deref()).collect();
    assert_eq!(kinds, [Some("application/json"), None], "the data and our own script alone");
    assert_eq!(scripts[1].1, include_str!("../../../src/page/page.js"));
    let data: serde_json::Value = serde_json::from_str(&scripts[0].1).unwrap();
    assert_eq!(data["run"]["title"], HOSTILE);
    // What is hidden is shown as escapes, the rest as it is.
    let shown = |text: &str| fsarena_model::visible::lines(text).into_owned();
    assert_eq!(dom.texts("h1"), [shown(HOSTILE)]);
    assert_eq!(dom.texts("style").len(), 1);
    assert_eq!(dom.texts("title")[0], format!("{} – fsarena report", shown(HOSTILE)));
    let experiment = dom.text_of_id("r1-experiment").unwrap();
    assert_eq!(experiment, shown(&sample.header.experiment_toml), "the file as it is");
    assert!(section(&dom, "r1-appendix").contains("<script>alert(1)</script>"));
    assert!(dom.text_of_id("r1-csv").unwrap().contains("<script>alert(1)</script>"));
}

#[test]
fn charts_of_hostile_names_stay_text_too() {
    for (_, svg) in fsarena_report::page::charts(&[hostile().run()]) {
        assert!(!svg.inline.contains("<script"), "{}", svg.id);
        assert!(!svg.inline.contains("<img"), "{}", svg.id);
    }
}

#[test]
fn the_answer_names_who_is_faster() {
    let mut sample = Sample::small_files(&["ext4", "xfs", "btrfs"], 8);
    sample.ask(Rule::Fixed { blocks: 8 });
    sample.carry_out(|record| sample::slow_down(record, &[1.0, 1.3, 1.005]));
    let answer = section(&parsed(&sample), "r1-answer");
    assert!(answer.contains("btrfs is the same within 5 % as ext4; xfs takes 1.29"), "{answer}");
    assert!(answer.contains("the headline"), "{answer}");
    assert!(answer.contains("Everything that was asked is decided."), "{answer}");
}

#[test]
fn against_a_baseline_it_is_named_once() {
    let mut sample = Sample::small_files(&["ext4", "xfs", "btrfs"], 8);
    sample.ask(Rule::Fixed { blocks: 8 });
    sample.header.plan.verdict.as_mut().unwrap().pairs = Pairs::Baseline { contender: 0 };
    sample.carry_out(|record| sample::slow_down(record, &[1.0, 0.5, 1.2]));
    let answer = section(&parsed(&sample), "r1-answer");
    assert!(answer.contains("xfs is "), "{answer}");
    assert!(answer.contains("] as fast as ext4; btrfs takes 1.2"), "{answer}");
    assert!(answer.contains("] as long."), "{answer}");
}

#[test]
fn what_is_undecided_says_what_deciding_would_cost() {
    let mut sample = Sample::small_files(&["ext4", "xfs"], 8);
    sample.ask(Rule::Fixed { blocks: 8 });
    sample.carry_out(|record| {
        let by = if record.key.block % 2 == 0 { 1.25 } else { 0.95 };
        sample::slow_down(record, &[by, 1.0]);
    });
    let answer = section(&parsed(&sample), "r1-answer");
    assert!(answer.contains(" the time of ") && answer.contains(", undecided."), "{answer}");
    assert!(answer.contains("undecided. By the forecast"), "{answer}");
    assert!(answer.contains("Undecided, and what deciding would cost"), "{answer}");
}

#[test]
fn a_run_without_finished_trials_says_so() {
    let mut sample = Sample::small_files(&["ext4", "xfs"], 4);
    sample.ask(Rule::Fixed { blocks: 4 });
    sample.state = RunState::Interrupted;
    sample.study_again();
    let dom = parsed(&sample);
    let run = section(&dom, "r1");
    assert!(run.contains("This RUN was interrupted: there are no figures."), "{run}");
    assert!(section(&dom, "r1-answer").contains("no contender has figures."));
    assert!(section(&dom, "r1-appendix").contains("No trial has a timed phase"));
}

#[test]
fn one_contender_has_nothing_to_compare_with() {
    let mut sample = Sample::small_files(&["ext4"], 4);
    sample.ask(Rule::Fixed { blocks: 4 });
    sample.carry_out(|_| {});
    let answer = section(&parsed(&sample), "r1-answer");
    assert!(answer.contains("ext4 alone has figures, median 1"), "{answer}");
}

#[test]
fn a_run_without_questions_gives_medians_and_says_so() {
    let mut sample = Sample::small_files(&["ext4", "xfs"], 3);
    sample.carry_out(|record| sample::slow_down(record, &[2.0, 1.0]));
    let answer = section(&parsed(&sample), "r1-answer");
    assert!(answer.contains("planned without questions"), "{answer}");
    assert!(answer.contains("xfs 1.02 s and ext4 2.02 s."), "{answer}");
    let mut none = Sample::small_files(&["ext4"], 1);
    none.study_again();
    let answer = section(&parsed(&none), "r1-answer");
    assert!(answer.contains("no trial of this RUN came to its end"), "{answer}");
}

#[test]
fn a_run_in_which_all_failed_lists_why() {
    let mut sample = Sample::small_files(&["ext4", "xfs"], 2);
    sample.ask(Rule::Fixed { blocks: 2 });
    sample.carry_out(|record| {
        record.phases.clear();
        record.outcome = Outcome::Failed {
            step: "mount".to_owned(),
            error: "wrong fs type".to_owned(),
            remedy: Some("load the module".to_owned()),
        };
    });
    let dom = parsed(&sample);
    assert!(section(&dom, "r1-answer").contains("no contender has figures."));
    let appendix = section(&dom, "r1-appendix");
    assert!(appendix.contains("mount (trials"), "{appendix}");
    assert!(appendix.contains("wrong fs type; load the module"), "{appendix}");
}

#[test]
fn sixty_contenders_with_long_names_are_folded() {
    let labels: Vec<String> = (0..60).map(|n| format!("{n}{}", "x".repeat(198))).collect();
    let contenders = labels.iter().map(|label| contender(label, "ext4", 1));
    let mut sample = Sample::planned(contenders.collect(), vec![big_file()], 4);
    sample.ask(Rule::Fixed { blocks: 4 });
    sample.carry_out(|record| {
        let by: Vec<f64> = (0..60).map(|n| f64::from(n).mul_add(0.1, 1.0)).collect();
        sample::slow_down(record, &by);
    });
    let dom = parsed(&sample);
    let answer = section(&dom, "r1-answer");
    assert!(answer.contains("more"), "{answer}");
    let folded = dom.texts("details");
    assert!(folded.iter().any(|text| text.contains("1770 pairs in words")), "pairs are folded");
}

#[test]
fn several_runs_share_a_page() {
    let mut one = Sample::small_files(&["ext4", "xfs"], 4);
    one.ask(Rule::Fixed { blocks: 4 });
    one.carry_out(|_| {});
    let mut two = Sample::planned(vec![contender("a", "ext4", 1)], vec![big_file()], 2);
    two.carry_out(|_| {});
    let dom = parsed_together(&[&one, &two]);
    assert_eq!(dom.texts("h1"), ["2 RUNs"]);
    assert_eq!(dom.texts("h2").len(), 2);
    assert_eq!(dom.scripts().len(), 3);
    assert!(section(&dom, "r2-answer").contains("write of big-file"));
}

#[test]
fn no_run_at_all_is_a_page() {
    let dom = parsed_together(&[]);
    assert_eq!(dom.texts("h1"), ["0 RUNs"]);
}

/// The promise: under 3 MB for 200 trials, here of 6 contenders, 9 phases a trial.
#[test]
fn two_hundred_trials_fit_three_megabytes() {
    let contenders = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"];
    let contenders = contenders.iter().map(|label| contender(label, label, 1)).collect();
    let mut work = small_files();
    let phases = work.phases.clone();
    for round in ["again", "once-more"] {
        work.phases.extend(phases.iter().cloned().map(|mut phase| {
            phase.name = format!("{}-{round}", phase.name);
            phase
        }));
    }
    let mut sample = Sample::planned(contenders, vec![work], 34);
    sample.ask(Rule::Fixed { blocks: 34 });
    sample.carry_out(|record| sample::slow_down(record, &[1.0, 1.1, 1.01, 1.3, 1.02, 2.0]));
    let text = fsarena_report::page::page(&[sample.run()], "0.1.0");
    assert!(text.len() < 3_000_000, "{} bytes for 204 trials of 9 phases", text.len());
    let dom = Dom::parse(&text);
    let csv = dom.text_of_id("r1-csv").unwrap();
    assert_eq!(csv.trim().lines().count(), 1 + 204 * 9, "every phase of every trial");
    let rows = dom.texts("tr").len();
    assert!(rows > 204 * 9, "{rows} rows, the raw values among them");
}
