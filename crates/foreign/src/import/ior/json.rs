//! IOR's JSON (`-O summaryFormat=JSON`): a document a run, with tests and their results.

use crate::import::build::{Given, ImportError, foreign};
use crate::import::ior::test::{Line, OPTION, OPTIONS, PROGRAM, Test, bad, listed, number};
use crate::seen::quoted;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Run {
    #[serde(rename = "Version", default)]
    version: String,
    #[serde(rename = "Command line", default)]
    command_line: String,
    tests: Vec<OfTest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OfTest {
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    #[serde(default)]
    options: BTreeMap<String, Value>,
    /// Of lists of results, too, in some versions.
    #[serde(default)]
    results: Vec<Value>,
}

/// Tests of all documents of a file, in their order.
pub(super) fn tests(given: &Given) -> Result<Vec<Test>, ImportError> {
    let mut runs = serde_json::Deserializer::from_str(&given.text).into_iter::<Run>();
    let mut tests = Vec::new();
    let (mut start, mut line) = (0, 1);
    while let Some(run) = runs.next() {
        let run = run.map_err(|error| {
            let line = error.line();
            foreign(given, PROGRAM, OPTION, format!("its JSON cannot be read (line {line})"))
        })?;
        let end = runs.byte_offset();
        let before = &given.text[start..end];
        let begin = start + before.len() - before.trim_start().len();
        line += given.text[start..begin].matches('\n').count();
        for (number, test) in run.tests.into_iter().enumerate() {
            let mut own = of_test(given, line, &run.command_line, test)?;
            own.version.clone_from(&run.version);
            // Tests of a run are told apart by their options and their order.
            own.work.extend((number > 0).then(|| ("test".to_owned(), (number + 1).to_string())));
            own.span = (start, end);
            own.number = number as u64;
            tests.push(own);
        }
        line += given.text[begin..end].matches('\n').count();
        start = end;
    }
    Ok(tests)
}

fn of_test(given: &Given, at: usize, line: &str, of: OfTest) -> Result<Test, ImportError> {
    let mut test = Test { at, work: OPTIONS.work(line), ..Test::default() };
    for (name, value) in &of.options {
        listed(&mut test.work, name, &text(value));
    }
    for name in ["deadlineForStonewall", "fsync", "fsyncperwrite", "randomOffset"] {
        if let Some(value) = of.parameters.get(name) {
            listed(&mut test.work, name, &text(value));
        }
    }
    let mut iterations: BTreeMap<String, u64> = BTreeMap::new();
    for result in flat(&of.results) {
        let line = line_of(result, &mut iterations).map_err(|detail| bad(given, at, detail))?;
        test.lines.extend(line.map(|line| (at, line)));
    }
    Ok(test)
}

/// Results, whether they stand in lists or not.
fn flat(results: &[Value]) -> Vec<&Value> {
    fn each(result: &Value) -> &[Value] {
        result.as_array().map_or(std::slice::from_ref(result), Vec::as_slice)
    }
    results.iter().flat_map(each).collect()
}

fn line_of(result: &Value, iterations: &mut BTreeMap<String, u64>) -> Result<Option<Line>, String> {
    let access = result["access"].as_str().ok_or("has a result without access")?;
    if access == "remove" {
        return Ok(None);
    }
    let figure = |name: &str| number(&text(&result[name]));
    let (Some(rate), Some(seconds)) = (figure("bwMiB"), figure("totalTime")) else {
        return Err(format!("has a result of {} without bwMiB and totalTime", quoted(access)));
    };
    let next = iterations.entry(access.to_owned()).or_default();
    let iteration = *next;
    *next += 1;
    let all = result.as_object().into_iter().flatten();
    let figures = all.filter(|(name, _)| *name != "access");
    Ok(Some(Line {
        access: access.to_owned(),
        iteration,
        rate,
        // Four digits are printed behind the point, and JSON drops zeros.
        seconds: (seconds.0, if seconds.0 > 0.0 { 1e-4 / seconds.0 } else { f64::INFINITY }),
        block_kib: figure("blockKiB").map(|(kib, _)| kib),
        figures: figures.map(|(name, value)| (name.clone(), text(value))).collect(),
    }))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
