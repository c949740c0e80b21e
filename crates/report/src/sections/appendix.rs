//! Section 6, the appendix: every raw value, the experiment, the seed, the command, the method, the
//! data.

use super::speed::READING;
use crate::command::{arguments, command, experiment_file, file_name};
use crate::context::{Run, SectionContext};
use crate::format::{count, grouped, utc};
use crate::json::{SCHEMA, verdict_json};
use crate::notes::{closing_lists, sampling};
use crate::raw::raw_page;
use crate::render::html as parts;
use crate::section::{Block, Section};
use crate::text::Detail;
use crate::verdict::rule::{legend, rule_and_course};
use crate::verdict::text::margin;
use fsarena_model::run::{Clock, RunHeader};
use fsarena_model::visible;
use fsarena_study::{PhasePoints, points};
use fsarena_verdict::Verdicts;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

/// Lines of a list that are open.
const SHOWN: usize = 12;

/// The section of one RUN.
pub(crate) fn build(context: &SectionContext<'_>) -> Section {
    let run = context.run;
    let points = points(&run.header.plan, run.records);
    let many = many(&points);
    let mut blocks = vec![Block::Heading("This RUN".to_owned()), Block::Facts(facts(run))];
    blocks.extend(how_it_is_read(context));
    blocks.push(Block::Heading("Every raw value of every trial".to_owned()));
    if many == 0 {
        let text = "No trial has a timed phase that came to its end.";
        blocks.push(Block::Missing(text.to_owned()));
    } else if many > MOST_POINTS {
        blocks.push(Block::Text(format!(
            "These are {} of trials, too many for tables: they are in the CSV below.",
            count(many, "phase")
        )));
    } else {
        let summary = format!("{} of trials", count(many, "phase"));
        blocks.push(Block::Fold(summary, raw_page(context, &points)));
    }
    for (title, mut lines) in closing_lists(run.study) {
        let watchers = "What the watchers saw within trials";
        let title = if title == "Watchers" { watchers } else { title };
        let rest = lines.split_off(lines.len().min(SHOWN));
        let summary = format!("{} more", rest.len());
        blocks.extend([Block::Heading(title.to_owned()), Block::List(None, lines)]);
        if !rest.is_empty() {
            blocks.push(Block::Fold(summary, vec![Block::List(None, rest)]));
        }
    }
    blocks.extend(sampling(run.study).map(Block::Note));
    blocks.push(Block::Html(repeat(context)));
    blocks.extend((!context.run.is_watched()).then(|| Block::Html(method(context))));
    blocks.push(Block::Html(files(context, &points, many)));
    Section::new(blocks)
}

/// Which RUN this is.
fn facts(run: &Run<'_>) -> Vec<(String, String)> {
    let study = run.study;
    let mut facts: Vec<(&str, String)> = vec![
        ("Experiment", study.experiment.clone()),
        ("Title", study.title.clone()),
        ("Started", utc(study.created_unix_ns)),
        ("State", study.state.name().to_owned()),
        ("Trials", format!("{} of {}", study.trials_recorded, study.trials_planned)),
    ];
    if study.sessions > 1 {
        let pieces = count(study.sessions, "piece");
        facts.push(("Done in", format!("{pieces}, {}", count(study.boots, "boot"))));
    }
    if (study.scale - 1.0).abs() > 1e-12 {
        facts.push(("Datasets", format!("scaled by {}", study.scale)));
    }
    facts.push(("Machine", study.machine.clone()));
    facts.extend(study.devices.iter().map(|line| ("Device", line.clone())));
    let own = format!("fsarena {}", run.header.program_version);
    match run.measured_by() {
        Some(_) if run.is_watched() => facts.push(("Watched by", own)),
        None => facts.push(("Measured by", own)),
        Some(program) => {
            facts.extend([("Measured by", program.to_owned()), ("Brought in by", own)]);
        }
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// All legends, once: of the charts behind the rows, of the verdicts, and by which rule these were
/// taken.
fn how_it_is_read(context: &SectionContext<'_>) -> Vec<Block> {
    if context.run.is_watched() {
        return Vec::new();
    }
    // What another program measured has neither clocks nor counters of ours.
    let own = |(name, _): &&(&str, &str)| {
        context.run.measured_by().is_none() || matches!(*name, "Times" | "Latency")
    };
    let charts = READING.iter().filter(own).map(|(name, words)| format!("{name}: {words}"));
    let mut blocks =
        vec![Block::Heading("How this is read".to_owned()), Block::List(None, charts.collect())];
    if let Some(verdicts) = context.run.verdicts.filter(|all| !all.questions.is_empty()) {
        blocks.push(Block::Text(legend(verdicts, Detail::AllPairs)));
        blocks.push(Block::Heading("By which rule".to_owned()));
        blocks.push(Block::Text(rule_and_course(verdicts)));
    }
    blocks
}

/// The data as files.
fn files(context: &SectionContext<'_>, points: &[PhasePoints], many: usize) -> Markup {
    let run = context.run;
    let name = format!("fsarena-{}", run.header.uid.get(..8).unwrap_or(&run.header.uid));
    let (csv, json) = (format!("{}-csv", context.prefix), format!("{}-json", context.prefix));
    let is_large = many > MOST_POINTS;
    let command = format!("fsarena export {} --format json", run.header.uid);
    html! {
        (parts::heading("The data"))
        p {
            "This page contains " (count(many, "phase")) " of trials as CSV, one row each, units "
            "in the names of columns"
            @if is_large {
                ". JSON is left out, for it would be most of the page: "
            } @else {
                ", and header" @if is_small(points) { ", verdicts and the same values" }
                @else { " and verdicts" } " as JSON (the element " code { (json) }
                @if run.verdicts.is_some_and(|all| pairs(all) > MOST_PAIRS) {
                    ", without the pairs, which are too many"
                }
                "). Records as they were stored, time series among them: "
            }
            code { (command) } "."
        }
        div.tools {
            span data-save=(csv) data-type="text/csv" data-name={ (name) ".csv" }
                data-words="Save the CSV" {}
            @if !is_large {
                span data-save=(json) data-type="application/json" data-name={ (name) ".json" }
                    data-words="Save the JSON" {}
            }
        }
        div.screen {
            (parts::fold(
                &format!("CSV, {} rows", grouped(many as u64)),
                // The first line break after <pre> is none.
                &html! {
                    pre.tall id=(csv) tabindex="0" role="region" aria-label="CSV" {
                        "\n" (crate::csv(run.header, points))
                    }
                }
            ))
        }
        @if !is_large {
            script type="application/json" id=(json) { (PreEscaped(json_for_page(run, points))) }
        }
    }
}

/// Phases of trials beyond which the page has the CSV alone: tables and JSON would be most of it,
/// and no browser sorts them in no time.
const MOST_POINTS: usize = 5_000;

/// Beyond this JSON is without the points, which are in the CSV: with names for every value they
/// would be the largest part of the page.
const MOST_IN_JSON: usize = 1_000;

/// Pairs, over all questions, beyond which JSON has the rankings alone: of 60 contenders there are
/// 1,770 a question.
const MOST_PAIRS: usize = 1_000;

/// Header, verdicts and points as JSON for a `<script>` element: what a parser of HTML could take
/// for anything but text is written as escapes of JSON.
fn json_for_page(run: &Run<'_>, points: &[PhasePoints]) -> String {
    let mut verdicts = run.verdicts.map(verdict_json);
    if run.verdicts.is_some_and(|all| pairs(all) > MOST_PAIRS) {
        let questions = verdicts.as_mut().and_then(|all| all["questions"].as_array_mut());
        for question in questions.into_iter().flatten() {
            question["pairs"] = Value::Null;
        }
    }
    let document = json!({
        "schema": SCHEMA,
        "kind": "report",
        "run": run.header,
        "sessions": run.sessions,
        "verdicts": verdicts,
        "points": is_small(points).then_some(points),
    });
    for_script(&document.to_string())
}

/// Phases of trials.
fn many(points: &[PhasePoints]) -> usize {
    points.iter().map(|phase| phase.points.len()).sum()
}

/// Whether JSON has the points.
fn is_small(points: &[PhasePoints]) -> bool {
    many(points) <= MOST_IN_JSON
}

/// Pairs over all questions.
fn pairs(verdicts: &Verdicts) -> usize {
    verdicts.questions.iter().map(|question| question.pairs.len()).sum()
}

/// JSON whose strings hold nothing that ends a `<script>`, begins a comment, or ends a line of
/// JavaScript. Outside its strings none of these characters occurs.
fn for_script(json: &str) -> String {
    let json = visible::json(json);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// What was measured, from when to when, and by which rule differences are called real.
fn method(context: &SectionContext<'_>) -> Markup {
    let compared = context.run.header.plan.compared_clock;
    let elsewhere = context.run.measured_by();
    let body = html! {
        @match elsewhere {
            Some(program) => (brought_in(program)),
            None => { (trial()) (clocks(compared)) (cold()) }
        }
        @if let Some(verdicts) = context.run.verdicts {
            (rule_of_verdicts(verdicts.margin, elsewhere.is_some()))
        }
        p.note {
            "At length: " code { "fsarena doc method" } " and " code { "fsarena doc verdict" } "."
        }
    };
    html! { (parts::heading("The method in one page")) (body) }
}

/// Of values that another program measured.
fn brought_in(program: &str) -> Markup {
    html! {
        p {
            strong { "Measured by " (program) } ", brought in by fsarena. Nothing of this method "
            "but the arithmetic of the verdict holds: how the contenders were made, in which order "
            "they ran, what the times mean and whether caches were cold is not known here. The "
            "question was chosen after the data."
        }
    }
}

fn trial() -> Markup {
    html! {
        p {
            strong { "A trial" } " is one workload on one contender, from a reset state: mkfs with "
            "its options written out, mount, what is not timed, then the timed phases, then the "
            "unmount. Where devices are images, one that was fully written serves all contenders "
            "of a device level that do not discard, so each mkfs gets the same sectors. The "
            "options and features in effect are read back."
        }
        p {
            strong { "A block" } " runs every contender that is still needed once, in fresh random "
            "order from the stored seed. What drifts slowly is in both of a pair and cancels. The "
            "trial is what is repeated: ops within a phase are no repetitions."
        }
    }
}

fn clocks(compared: Clock) -> Markup {
    html! {
        p { strong { "Three clocks" } " start together:" }
        ul {
            li { em { "returned" } ": the calls came back. This is what " code { "time cp" }
                " measures." }
            li { em { "durable" } ": what was written is behind a flush of the device. That is the "
                "end of " code { "syncfs" } ", and a flush of ours where a file system may write "
                "behind its own; in a directory and by a FUSE server it is " code { "syncfs" }
                " alone." }
            li { em { "drained" } ": durable, and the time that freezing the file system took, so "
                "that journal and log are written back; or, where it cannot be frozen, until the "
                "device's own cache was written and it was idle for 200 ms, which are not "
                "counted." }
        }
        p { "This RUN compares up to " em { (compared.name()) } ", where a question names no other "
            "clock." }
        p {
            strong { "Device bytes" } " of a phase end with the next unmount: what an unmount "
            "writes belongs to the phase. Write amplification is these bytes ÷ the bytes that the "
            "work wrote. " strong { "CPU" } " is of the whole machine up to durable; under 100 "
            "clock ticks there is no figure. " strong { "Latencies" } " are of every op, in "
            "buckets of under 1 % width, over all trials together."
        }
    }
}

fn cold() -> Markup {
    html! {
        p {
            strong { "Cold" } " needs two proofs. Before the mount no page of the device, its "
            "image or a source on another file system that the phase reads is in the page cache. "
            "And the device then delivered what the phase needed. Otherwise the phase is "
            "called warm, whatever was asked for. Cold and warm are never compared. It means cold "
            "for this kernel: a cache in the disk or in the host of a virtual machine is not seen."
        }
    }
}

fn rule_of_verdicts(within: f64, is_brought_in: bool) -> Markup {
    html! {
        p {
            strong { "Verdicts." } " In each block the logarithm of the ratio of two contenders is "
            "taken. The ratio is the typical one of the blocks (Hodges-Lehmann); its interval is "
            "Student's below 12 blocks, and that of exact signed ranks from 12 on."
            @if !is_brought_in {
                " Questions, rule, margin, headline and seed are stored before block 1."
            }
        }
        ul {
            li { strong { "FASTER" } ": the interval lies below 1; " strong { "SLOWER" }
                ": above 1. Of every metric less is better." }
            li { strong { "SAME" } ": the whole interval lies within " (margin(within)) "." }
            li { strong { "UNDECIDED" } ": none of these is shown. It is never called “no "
                "difference”." }
        }
        p {
            "Who looks more than once at 5 % is wrong far more often than in 5 %. Where "
            "interim analyses follow 4, 6, 8, 12 blocks and so on, the level of each is set so "
            "that all of them together stay below 5 %. Among all pairs of a question Holm's "
            "procedure holds the chance of one wrong difference, and that of one wrong SAME, at "
            "the level of the look. Over several questions nothing is corrected"
            @if is_brought_in { ", and none of them was fixed beforehand." }
            @else { ": the headline, fixed beforehand, is the one to quote." }
        }
        p {
            "SAME is refused where two contenders spread in different shapes; there, and from "
            "fewer than 6 blocks, FASTER and SLOWER need mean, typical and median ratio on one "
            "side. Values that stand out are marked and kept."
            @if !is_brought_in {
                " A block is run again only for a reason that is visible without its scores: too "
                "much of the processors taken by the hypervisor, or by other programs around one "
                "contender."
            }
        }
    }
}

/// Experiment, seed and command.
fn repeat(context: &SectionContext<'_>) -> Markup {
    let header = context.run.header;
    let id = format!("{}-command", context.prefix);
    let file = format!("{}-experiment", context.prefix);
    let line = command(header);
    let elsewhere = context.run.measured_by();
    html! {
        (parts::heading("Doing it again"))
        @match elsewhere {
            Some(_) if context.run.is_watched() => p { "The command that watched:" },
            None => p { "The one command" (before(header)) ":" },
            Some(program) => p {
                "How " (program) " was called is in its own files. The command that brought them "
                "in:"
            },
        }
        pre tabindex="0" role="region" aria-label="The command" { code id=(id) { (line) } }
        div.tools { span data-copy=(id) {} }
        @if elsewhere.is_none() { (seed(header)) }
        @if line.contains('~') {
            (parts::note(
                "Names of home directories were taken out and stand as ~; put in your own."
            ))
        }
        @if elsewhere.is_none() { (experiment(header, &file)) }
    }
}

/// Its file, to be saved or copied.
fn experiment(header: &RunHeader, file: &str) -> Markup {
    html! {
        p {
            "The experiment"
            @if let Some(file) = experiment_file(header) {
                ", to be saved as " code { (file) }
            }
            ":"
        }
        pre.tall tabindex="0" role="region" aria-label="The experiment file" {
            code id=(file) { (header.experiment_toml) }
        }
        div.tools {
            @let name = file_name(header);
            span data-copy=(file) {}
            span data-save=(file) data-type="text/plain" data-name=(name)
                data-words="Save the file" {}
        }
    }
}

fn before(header: &RunHeader) -> &'static str {
    if experiment_file(header).is_some() {
        ", with the experiment below saved in the same directory"
    } else {
        ""
    }
}

/// The number that the seed was made of, where it was stated.
fn number(header: &RunHeader) -> Option<String> {
    let given = arguments(header);
    let after = given.iter().position(|one| one == "--seed").and_then(|at| given.get(at + 1));
    let joined = given.iter().find_map(|one| one.strip_prefix("--seed="));
    let stated = after.map(String::as_str).or(joined).map(str::to_owned);
    stated.or_else(|| {
        let table = header.experiment_toml.parse::<toml::Table>().ok()?;
        let seed = table.get("run")?.get("seed")?.as_integer()?;
        Some(seed.to_string())
    })
}

fn seed(header: &RunHeader) -> Markup {
    let seed = String::from(header.plan.seed);
    html! {
        @match number(header) {
            Some(number) => p {
                "The seed is " strong { (number) } ": the same order of trials, the same "
                "permutations and the same contents on every machine. As it is stored: "
                code { (seed) } "."
            },
            None => p {
                "No seed was stated, so one was drawn: " code { (seed) } ". The same command draws "
                "another one, and with it another order of the trials; "
                code { "--seed" } " states one."
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{contender, header, small_files};
    use proptest::prelude::*;

    #[test]
    fn nothing_ends_the_script() {
        let hostile = "</script><!--<script>&amp;]]>\u{2028}\u{2029}";
        let json = for_script(&json!({ hostile: hostile }).to_string());
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read[hostile], hostile);
    }

    proptest! {
        #[test]
        fn it_reads_back_the_same(text in "\\PC{0,80}|[<>&\u{2028}\u{2029}\"\\\\]{0,20}") {
            let json = for_script(&json!([text]).to_string());
            let is_left = json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(!is_left, "{}", json);
            let read: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read, json!([text]));
        }
    }

    fn given(arguments: &[&str]) -> RunHeader {
        let mut header = header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        header.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
        header
    }

    #[test]
    fn a_file_is_to_be_saved_first() {
        assert_eq!(before(&given(&["fsarena", "run", "sample"])), "");
        let header = given(&["fsarena", "run", "mine"]);
        assert_eq!(before(&header), ", with the experiment below saved in the same directory");
        assert_eq!(number(&header), None);
    }

    #[test]
    fn a_seed_in_the_file_is_one() {
        let mut header = given(&["fsarena", "run", "mine.toml"]);
        header.experiment_toml = "name = \"a\"\n[run]\nseed = 2003\n".to_owned();
        assert_eq!(number(&header).as_deref(), Some("2003"));
        assert_eq!(number(&given(&["fsarena", "run", "a", "--seed=12"])).as_deref(), Some("12"));
    }
}
