//! A RUN in every form in which it is shown, and what must not be in them.

use fsarena_crash::record::StoredCrashRun;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{InterimAnalysis, Stop};
use fsarena_model::visible;
use fsarena_report::{
    Detail, KnownNames, Run, RunLine, Style, anonymous_with, answer, answer_text, crash_csv, csv,
    json, markdown, page, run_text, runs_list, verdict_tables,
};
use serde_json::Value;

/// A RUN as it is read from a database.
#[derive(Clone, Debug)]
pub(crate) struct StoredRun {
    pub(crate) header: RunHeader,
    pub(crate) sessions: Vec<RunSession>,
    pub(crate) records: Vec<TrialRecord>,
    pub(crate) crashes: Vec<StoredCrashRun>,
    pub(crate) stop: Option<Stop>,
    pub(crate) looks: Vec<InterimAnalysis>,
}

/// How a form is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Text,
    /// What is marked up: HTML, or Markdown, which may have HTML in it.
    Markup,
    Json,
}

/// Shows it in every form and checks each: nothing hidden in it, and no text of the RUN's that is
/// taken for markup.
pub(crate) fn show(run: &StoredRun) {
    for (name, form, text) in forms(run) {
        let text = match form {
            Form::Json => {
                let shown = visible::json(&text).into_owned();
                let read = serde_json::from_str::<Value>(&shown);
                assert!(read.is_ok(), "{name}: no JSON: {read:?}");
                shown
            }
            Form::Text | Form::Markup => text,
        };
        let hidden =
            text.char_indices().find(|(_, c)| visible::is_hidden(*c) && !"\n\t".contains(*c));
        if let Some((at, c)) = hidden {
            let before: String = text[..at].chars().rev().take(60).collect();
            let before: String = before.chars().rev().collect();
            panic!("{name}: {c:?} is shown as it is, behind {before:?}");
        }
        if form == Form::Markup {
            for raw in ["<script>alert", "<script>x<", "<img src=x", "\"'><"] {
                assert!(!text.contains(raw), "{name}: {raw} is markup");
            }
        }
    }
}

fn forms(stored: &StoredRun) -> Vec<(&'static str, Form, String)> {
    let StoredRun { header, sessions, records, crashes, stop, looks } = stored;
    let crash = fsarena_study::crash(&header.plan, crashes);
    let study = fsarena_study::study(header, RunState::Interrupted, sessions, records);
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let verdicts = fsarena_verdict::verdicts(header, sessions, &scores, *stop, looks);
    let run = Run {
        id: 1,
        header,
        sessions,
        records,
        study: &study,
        verdicts: verdicts.as_ref(),
        crash: crash.as_ref(),
        article: None,
    };
    let line = line_of(header);
    let points = fsarena_study::points(&header.plan, records);
    let plain = Style::default();
    let names = ["user".to_owned()];
    let names = KnownNames { users: &names, workloads: &[] };
    let removed = anonymous_with(header, sessions, (records, crashes), names);
    let text = |name, text| (name, Form::Text, text);
    let mut all = vec![
        text("list", runs_list(std::slice::from_ref(&line), 80, plain)),
        text("csv", csv(header, &points)),
        ("markdown", Form::Markup, markdown(&run, plain)),
        ("page", Form::Markup, page::page(&[run], "0.1.0")),
        ("show", Form::Json, json::export(json::show(&run), true)),
        ("list as JSON", Form::Json, json::document("list", "runs", &[&line]).to_string()),
        ("anonymous", Form::Json, serde_json::to_string(&removed.0).expect("it was read so")),
    ];
    // A watch has tables of its own.
    if !header.plan.is_watched() {
        let full = Style { bars: true, ..plain };
        all.push(text("answer", answer_text(&answer(&run, None), None, 80, plain)));
        all.push(text("text", run_text(&run, Detail::AllPairs, true, 100, full)));
    }
    all.extend(crash.iter().map(|view| text("crash", crash_csv(view))));
    let tables = |one| verdict_tables(one, Detail::Full, 80, plain);
    all.extend(verdicts.iter().map(|one| text("verdicts", tables(one))));
    all
}

fn line_of(header: &RunHeader) -> RunLine {
    RunLine {
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
    }
}
