//! RUNs that were made to do harm: every number of a header, of records and of crash runs is set to
//! values that nobody wrote, and every text to what moves a cursor or turns the order of letters.
//! What `header_rules` lets through is shown in every form, without a panic, in time, and with
//! nothing hidden in it.

use fsarena_model::crash::CrashNotRun;
use fsarena_model::header_rules;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Rule;
use fsarena_model::visible;
use fsarena_model::work::Workload;
use fsarena_report::{
    Detail, KnownNames, Run, RunLine, Style, anonymous_with, answer, answer_text, crash_csv, csv,
    json, markdown, page, run_text, runs_list, verdict_tables,
};
use fsarena_testkit::crash::{self, StoredCrashRun};
use fsarena_testkit::records::{self, contender};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

/// Longest time for one RUN in all forms, on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A RUN as it is read from a database.
#[derive(Clone)]
struct Stored {
    header: RunHeader,
    records: Vec<TrialRecord>,
    crashes: Vec<StoredCrashRun>,
}

/// Work of every kind of record.
fn workloads() -> Vec<Workload> {
    vec![records::small_files(), records::periodic(), records::real_work(), records::fio_job()]
}

/// Two contenders on this work, with crash runs.
fn stored(workloads: Vec<Workload>) -> Stored {
    let mut contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    contenders[1].levels.memory_bytes = Some(64 << 20);
    let last = workloads.len() - 1;
    let mut header = records::header(contenders, workloads, 2);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 2 }));
    let reason = "it is too small".to_owned();
    header.plan.not_run.push(NotRun { contender: 1, workload: Some(last), reason });
    let mut crash = crash::plan();
    crash.not_run.push(CrashNotRun { contender: 1, reason: "why".to_owned() });
    crash.workload_notes.push("a note".to_owned());
    header.plan.crash = Some(crash);
    let count = header.plan.schedule.len() as u32;
    let records = (0..count).map(|at| records::record(&header, at)).collect();
    let traits = crash::Traits { loss_s: 40, damaged: 3, is_promised: true, ..Default::default() };
    let slots = header.plan.crash_slots().into_iter();
    let mut crashes: Vec<_> = slots.map(|slot| crash::run(&header, slot, traits)).collect();
    let last = crashes.pop().unwrap();
    crashes.push(crash::failed(last.slot, "the guest ended"));
    Stored { header, records, crashes }
}

/// All forms in which a RUN is shown, each with whether it is a document of JSON.
fn shown(stored: &Stored) -> Vec<(&'static str, String)> {
    let Stored { header, records, crashes } = stored;
    let sessions = [records::session("b", 0)];
    let users = ["user".to_owned()];
    let names = KnownNames { users: &users, ..KnownNames::default() };
    let removed = anonymous_with(header, &sessions, (records, crashes), names);
    let crash = fsarena_study::crash(&header.plan, crashes);
    let study = fsarena_study::study(header, RunState::Interrupted, &sessions, records);
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let verdicts = fsarena_verdict::verdicts(header, &sessions, &scores, None, &[]);
    let run = Run {
        id: 1,
        header,
        sessions: &sessions,
        records,
        study: &study,
        verdicts: verdicts.as_ref(),
        crash: crash.as_ref(),
        article: None,
    };
    let line = RunLine {
        id: 1,
        uid: header.uid.clone(),
        experiment: header.experiment.clone(),
        title: header.title.clone(),
        has_own_title: true,
        created_unix_ns: header.created_unix_ns,
        state: RunState::Interrupted,
        note: Some(header.title.clone()),
        host: header.host.hostname.clone(),
        trials_done: 1,
        trials_planned: 2,
        crash_runs_done: 0,
    };
    let points = fsarena_study::points(&header.plan, records);
    let plain = Style::default();
    let documents = [json::show(&run), json::document("list", "runs", &[&line])];
    let mut all = vec![
        ("list", runs_list(std::slice::from_ref(&line), 80, plain)),
        ("answer", answer_text(&answer(&run, None), None, 80, plain)),
        ("text", run_text(&run, Detail::AllPairs, true, 100, Style { bars: true, ..plain })),
        ("markdown", markdown(&run, plain)),
        ("csv", csv(header, &points)),
        ("page", page::page(&[run], "0.1.0")),
        ("anonymous", serde_json::to_string(&removed.0).unwrap()),
    ];
    all.extend(crash.iter().map(|view| ("crash csv", crash_csv(view))));
    all.extend(
        verdicts.iter().map(|one| ("verdicts", verdict_tables(one, Detail::Full, 80, plain))),
    );
    for document in &documents {
        all.push(("json", json::export(document.clone(), true)));
    }
    all
}

/// Paths to all numbers, one for each shape that is not in `seen`: of a list those of the first and
/// the last element.
fn paths(value: &Value, seen: &mut BTreeSet<String>) -> Vec<Vec<String>> {
    fn walk(value: &Value, at: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
        if value.is_number() {
            all.push(at.clone());
        }
        let mut into = |key: String, value: &Value| {
            at.push(key);
            walk(value, at, all);
            at.pop();
        };
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| into(key.clone(), value)),
            Value::Array(list) => {
                for index in BTreeSet::from([0, list.len().saturating_sub(1)]) {
                    if let Some(value) = list.get(index) {
                        into(index.to_string(), value);
                    }
                }
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    walk(value, &mut Vec::new(), &mut all);
    all.retain(|path| {
        let shape: Vec<&str> =
            path.iter().map(|key| if key.parse::<usize>().is_ok() { "*" } else { key }).collect();
        seen.insert(shape.join("."))
    });
    all
}

fn at<'a>(value: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(value, |value, key| match value {
        Value::Array(list) => &mut list[key.parse::<usize>().unwrap()],
        other => &mut other[key.as_str()],
    })
}

/// Shows a RUN in another thread: `Err` where that panics or does not end.
fn survives(stored: Stored) -> Result<(), &'static str> {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let all = shown(&stored);
        let _ = done.send(all.len());
    });
    match ended.recv_timeout(LIMIT) {
        Ok(_) => thread.join().map_err(|_| "panics"),
        Err(mpsc::RecvTimeoutError::Timeout) => Err("does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("panics"),
    }
}

fn hostile(number: &Value) -> Vec<Value> {
    let mut all: Vec<Value> =
        [u64::MAX, u64::from(u32::MAX), 1_000_000, 0].map(Value::from).to_vec();
    all.push(json!(-1));
    if number.is_f64() {
        all.extend([json!(-1e308), json!(1e308), json!(5e-324)]);
    }
    all
}

/// Sets every number of `document` to every hostile value, and shows what comes of it; numbers of
/// which one of the same shape is in `seen` are left out. How many RUNs were shown.
fn every_number(
    document: &Value,
    seen: &mut BTreeSet<String>,
    stored: impl Fn(Value) -> Option<Stored>,
) -> usize {
    let mut failures = Vec::new();
    let mut tried = 0;
    for path in paths(document, seen) {
        let own = at(&mut document.clone(), &path).clone();
        let mut is_largest_shown = false;
        for value in hostile(&own) {
            // Where the largest number is let through, large ones say no more.
            if is_largest_shown && value.as_u64().is_some_and(|value| value > 0) {
                continue;
            }
            let mut changed = document.clone();
            *at(&mut changed, &path) = value.clone();
            let Some(stored) = stored(changed) else { continue };
            tried += 1;
            is_largest_shown |= value.as_u64() == Some(u64::MAX);
            if let Err(how) = survives(stored) {
                failures.push(format!("{} = {value}: {how}", path.join(".")));
            }
        }
    }
    assert!(failures.is_empty(), "of {tried}: {failures:#?}");
    tried
}

/// Either the header is refused, or everything can be shown.
#[test]
fn numbers_of_a_header() {
    let sound = stored(vec![records::small_files(), records::periodic()]);
    header_rules::check(&sound.header).unwrap();
    let document = serde_json::to_value(&sound.header).unwrap();
    let tried = every_number(&document, &mut BTreeSet::new(), |changed| {
        let header: RunHeader = serde_json::from_value(changed).ok()?;
        header_rules::check(&header).ok()?;
        // The store refuses records and crash runs of other trials than those of the plan.
        let known: BTreeSet<_> = header.plan.crash_slots().into_iter().collect();
        let crashes = sound.crashes.iter().filter(|one| known.contains(&one.slot));
        let crashes = crashes.cloned().collect();
        Some(Stored { header, crashes, ..sound.clone() })
    });
    assert!(tried > 30, "only {tried}");
}

#[test]
fn numbers_of_records() {
    let (mut seen, mut tried) = (BTreeSet::new(), 0);
    for workload in workloads() {
        let sound = stored(vec![workload]);
        let key = &sound.records[0].key;
        let document = serde_json::to_value(&sound.records[0]).unwrap();
        tried += every_number(&document, &mut seen, |changed| {
            let record: TrialRecord = serde_json::from_value(changed).ok()?;
            // What the store asks of it.
            (record.key == *key).then_some(())?;
            let mut stored = sound.clone();
            stored.records[0] = record;
            Some(stored)
        });
    }
    assert!(tried > 150, "only {tried}");
}

#[test]
fn numbers_of_a_crash_run() {
    let sound = stored(vec![records::fio_job()]);
    let document = serde_json::to_value(&sound.crashes[0]).unwrap();
    let tried = every_number(&document, &mut BTreeSet::new(), |changed| {
        let crash: StoredCrashRun = serde_json::from_value(changed).ok()?;
        (crash.slot == sound.crashes[0].slot).then_some(())?;
        let mut stored = sound.clone();
        stored.crashes[0] = crash;
        Some(stored)
    });
    assert!(tried > 50, "only {tried}");
}

/// Escapes of terminals, and what turns the order of letters, is no line or is not seen.
const HIDDEN: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\r\u{8}\u{7f}\u{202e}\u{2066}\u{2069}\
                      \u{200e}\u{200f}\u{61c}\u{200b}\u{feff}";

/// Puts what is hidden at the end of every text that is no name of a variant, and of every key of a
/// map that has names of its own.
fn poisoned<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let mut document = serde_json::to_value(value).unwrap();
    for path in paths_of_all_texts(&document) {
        let mut changed = document.clone();
        let text = at(&mut changed, &path);
        *text = Value::from(format!("{}{HIDDEN}", text.as_str().unwrap()));
        if serde_json::from_value::<T>(changed.clone()).is_ok() {
            document = changed;
        }
    }
    serde_json::from_value(document).unwrap()
}

fn paths_of_all_texts(value: &Value) -> Vec<Vec<String>> {
    fn walk(value: &Value, at: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
        let mut into = |key: String, value: &Value| {
            at.push(key);
            walk(value, at, all);
            at.pop();
        };
        match value {
            Value::String(_) => all.push(at.clone()),
            Value::Object(map) => map.iter().for_each(|(key, value)| into(key.clone(), value)),
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(key, value)| into(key.to_string(), value));
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    walk(value, &mut Vec::new(), &mut all);
    all
}

#[test]
fn nothing_that_is_hidden_is_shown() {
    let sound = stored(workloads());
    let mut header = poisoned(&sound.header);
    header.uid.clone_from(&sound.header.uid);
    let labels: Vec<String> =
        header.plan.contenders.iter().map(|contender| contender.label.clone()).collect();
    assert!(labels.iter().all(|label| label.contains(HIDDEN)), "{labels:?}");
    // The names that belong to each other stay the same.
    for (from, to) in sound.header.plan.contenders.iter().zip(&mut header.plan.contenders) {
        to.levels = from.levels.clone();
    }
    let records = sound.records.iter().map(|record| {
        let mut bad = poisoned(record);
        bad.key.contender = record.key.contender.clone();
        bad
    });
    let records = records.collect::<Vec<_>>();
    assert!(records[0].key.workload.contains(HIDDEN));
    let crashes = sound.crashes.iter().map(poisoned).collect();
    let all = shown(&Stored { header, records, crashes });
    assert!(all.len() > 9, "{}", all.len());
    let escape = visible::lines("\u{202e}");
    for (name, text) in all {
        let text = match name {
            "json" | "anonymous" => {
                let shown = visible::json(&text).into_owned();
                let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                assert_eq!(read(&shown), read(&text));
                shown
            }
            _ => {
                assert!(text.contains(&*escape) || text.contains("\\\\u{202e}"), "{name}");
                text
            }
        };
        let left = text.chars().find(|c| visible::is_hidden(*c) && !"\n\t".contains(*c));
        assert_eq!(left, None, "{name}");
    }
}

/// What is ours has nothing hidden in it: the page is as its parts are.
#[test]
fn nothing_of_ours_is_changed() {
    for (name, text) in shown(&stored(workloads())) {
        assert!(!text.contains("\\u{"), "{name}: {text}");
    }
}
